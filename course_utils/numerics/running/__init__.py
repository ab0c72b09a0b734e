"""Where a callable runs: torch devices and devices with a planted fault."""
