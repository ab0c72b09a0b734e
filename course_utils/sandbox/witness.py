"""Reports student code that looks for what measures it: frames above its own, objects that the collector knows.

Python tells an audit hook of such a look (PEP 578), and a hook cannot be taken away. Each report goes at once into a
pipe whose other end the checks hold, so nothing that runs later can take it back. It costs no points: a person looks.
"""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

LOOKS = frozenset(
    {"sys._getframe", "sys._current_frames", "gc.get_objects", "gc.get_referrers", "gc.get_referents", "sys.settrace"}
)
FRAME_FIELDS = frozenset({"tb_frame", "gi_frame", "cr_frame", "ag_frame", "f_back"})
# modules through which code looks at frames
_GO_BETWEENS = frozenset({"inspect", "traceback"})
LONGEST_REPORT = 200


class Witness:
    """Watches while a helper measures student code.

    Args:
        report_fd: the writing end of the pipe.
    """

    def __init__(self, report_fd: int) -> None:
        self._report_fd = report_fd
        self._watching = False
        self._busy = False
        self._given: set[str] = set()
        sys.addaudithook(self._hear)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Report looks inside this block."""
        self._watching = True
        try:
            yield
        finally:
            self._watching = False

    @contextmanager
    def given_code(self, given: bool) -> Iterator[None]:
        """Note that the cell of this block is the exercise's own, when it is."""
        before = set(linecache.cache)
        yield
        if given:
            self._given |= set(linecache.cache) - before

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._watching or self._busy:
            return
        if event == "object.__getattr__":
            if arguments[1] not in FRAME_FIELDS:
                return
        elif event not in LOOKS:
            return
        self._busy = True
        try:
            frame: FrameType | None = sys._getframe(1)
            while frame is not None and frame.f_globals.get("__name__") in _GO_BETWEENS:
                frame = frame.f_back
            if frame is not None and self._is_students(frame.f_code.co_filename):
                what = arguments[1] if event == "object.__getattr__" else event
                text = f"line {frame.f_lineno} of {frame.f_code.co_name} looked at {what} while it was measured\n"
                os.write(self._report_fd, text[-LONGEST_REPORT:].encode("utf-8", "replace"))
        except OSError:  # closed: the checks see that
            pass
        finally:
            self._busy = False

    def _is_students(self, file: str) -> bool:
        """Return whether code is of a cell, or made from text, and not of the exercise's own cells."""
        typed = "ipykernel" in file or (file.startswith("<") and not file.startswith("<frozen"))
        return typed and file not in self._given
