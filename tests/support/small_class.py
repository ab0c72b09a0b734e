"""A class that hands in the exercise of two tasks, and waiting for what a grader does."""

import time
from pathlib import Path

from support import two_tasks
from support.two_tasks import SOLVED, submitted_bytes

ASSIGNMENT = two_tasks.assignment()


def hand_in(root, **codes):
    """Write one notebook for each student: a code for the cell `double`, or all cells, or bytes."""
    root.mkdir(exist_ok=True)
    for student, code in codes.items():
        content = code
        if not isinstance(code, bytes):
            content = submitted_bytes(code if isinstance(code, dict) else SOLVED | {"double": code})
        (root / f"{student}.ipynb").write_bytes(content)
    return root


def wait_for(path, process):
    """Wait until a process has written a file, and read it."""
    while not path.exists():
        assert process.poll() is None, f"it ended with {process.returncode} before"
        time.sleep(0.01)
    return path.read_text()


def has_ended(pid):
    """Wait until a process has ended, at most ten seconds; multiprocessing's own tracker ends after its parent."""
    for _ in range(1000):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state in "ZX":
            return True
        time.sleep(0.01)
    return False
