"""torch's pool of threads in forks."""

from __future__ import annotations

import functools
import os
import sys


def renew() -> None:
    """Let torch replace its pool of threads, where it is loaded."""
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(torch.get_num_threads())


@functools.cache
def renew_in_forks() -> None:
    """Have each fork of this process replace torch's pool of threads while the fork has one thread.

    A fork takes no threads along, so torch replaces the pool at its first use in a fork. Two threads that use it first
    at the same time break that: the second finds no pool, and the process is aborted ("Invalid thread pool!" in
    ParallelOpenMP.cpp, torch 2.14.1). Autograd starts eight threads at the first backward after `torch.compile`, and
    each of them uses the pool at once; one in ten runs of a right solution of exercise 12 ended so on a busy machine.
    """
    os.register_at_fork(after_in_child=renew)
