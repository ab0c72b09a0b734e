"""A clock over what the checks' side does with an answer: reading it, and comparing it with what was expected.

Answers are bounded in size, so a small one is quick to read and to compare, and costs no clock. While a large one is
looked at, a timer can end that with an exception in the thread that does it; so the check fails, and no other. It works
in any thread, a Dask worker's too, and between two steps of Python: one call of torch or of C is not interrupted.
"""

from __future__ import annotations

import ctypes
import threading

# a smaller answer takes milliseconds, whatever is in it
LARGE_BYTES = 2**16
SHORTEST_S = 1.0
# of a task's time, for one answer: what is left is for the other checks
SHARE = 0.25


class AnswerTooSlowError(TimeoutError):
    """Reading or comparing an answer took longer than its task may take."""

    def __init__(self) -> None:
        super().__init__("reading or comparing your answer took longer than the task may take")


class AnswerClock:
    """Ends the work of the thread that started it when its time is over."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._thread = 0
        self._raised = False

    @property
    def running(self) -> bool:
        """Whether it was started and not stopped."""
        return self._timer is not None

    def start(self, seconds: float) -> None:
        """Allow this much wall time until `stop`."""
        self.stop()
        self._thread = threading.get_ident()
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True
        self._timer.start()

    def stop(self) -> None:
        """Allow all time; an exception that was sent and has not arrived is taken back."""
        if self._timer is None:
            return
        with self._lock:
            self._timer.cancel()
            self._timer = None
            if self._raised:
                _raise_in(self._thread, None)
                self._raised = False

    def _end(self) -> None:
        with self._lock:
            if self._timer is threading.current_thread():
                self._raised = True
                _raise_in(self._thread, AnswerTooSlowError)


def _raise_in(thread: int, kind: type[Exception] | None) -> None:
    """Have a thread raise an exception at its next step, or take back one that it has not raised yet."""
    what = None if kind is None else ctypes.py_object(kind)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), what)
