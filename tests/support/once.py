"""What tests of several modules read and none changes: the first worker that wants it makes it, the others wait."""

from __future__ import annotations

import fcntl
import os
import shutil


def made_once(tmp_path_factory, name, make):
    """Return a folder of this run that one call of `make` has filled, the same in every worker.

    Args:
        tmp_path_factory: pytest's.
        name: the folder's name, and what it is for.
        make: a function that fills an empty folder, whose path it gets; when it raises, the next one tries again.
    """
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base  # a worker's folder lies in the run's
    folder, done = shared / name, shared / f"{name}.done"
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            done.touch()
    return folder
