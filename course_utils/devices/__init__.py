"""Which device computes here, on which chip, and under which environment variables."""
