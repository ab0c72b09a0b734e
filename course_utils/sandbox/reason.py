"""Why a student's process ended, decided where it happened and carried from there."""

from __future__ import annotations

from enum import StrEnum


class Ending(StrEnum):
    """Why a student's process ended, was ended, or never began."""

    TIMEOUT = "timeout"  # it ran past its wall time or its processor time
    CRASHED = "crashed"  # it ended by itself, or started too many processes
    FAULT = "fault"  # a signal ended it that says that something went wrong below Python, perhaps in a library
    MEMORY = "memory"  # it took more memory than allowed
    OUTPUT = "output"  # it printed or returned more than allowed
    FORGED = "tampered"  # what came over its socket was not written by the course's code
    NOT_STARTED = "sandbox"  # it could not be shut in, so nothing is known about its code
