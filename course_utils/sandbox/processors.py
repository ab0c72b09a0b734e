"""Which processors a process runs on (Linux; elsewhere the system alone decides)."""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import suppress


def own_processors() -> tuple[int, ...]:
    """Return the numbers of the processors that this process may use; empty where the system does not say."""
    return tuple(sorted(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else ()


def stay_on(processors: Collection[int]) -> None:
    """Run on these processors from now on, and so whatever this process starts.

    Args:
        processors: their numbers; none changes nothing.
    """
    if processors:
        with suppress(OSError):  # they are gone meanwhile: then any will do
            os.sched_setaffinity(0, processors)
