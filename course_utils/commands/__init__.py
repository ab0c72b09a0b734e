"""The commands behind `course`, one module each; each has SUMMARY, add_arguments(parser) and run(arguments)."""

from __future__ import annotations


class UsageError(Exception):
    """Something the user asked for cannot be done; the message is one sentence that says what to do. Exit code 2."""


def require_torch() -> None:
    """Load torch, or say in one sentence that it is not there.

    Raises:
        UsageError: when torch is missing or does not load.
    """
    try:
        import torch  # noqa: F401
    except (ImportError, OSError) as error:
        first_line = (str(error).splitlines() or ["no reason given"])[0]
        raise UsageError(f"torch does not load ({first_line}); run `make lab`, which installs it") from error
