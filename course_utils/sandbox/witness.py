"""Reports student code that looks for what measures it: frames above its own, objects that the collector knows.

Python tells an audit hook of such a look (PEP 578), and a hook cannot be taken away. Each report goes at once into a
pipe whose other end the checks hold, so nothing that runs later can take it back. It costs no points: a person looks,
and only at tasks that are measured in the student's process. Looks count before something is measured, too: the object
that answers for the process could be found then.
"""

from __future__ import annotations

import linecache
import os
import sys
from _thread import get_ident
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import write
from types import FrameType
from typing import Any

LOOKS = frozenset({"sys._getframe", "sys._current_frames", "gc.get_objects", "gc.get_referrers", "gc.get_referents"})
# called with the frames of what measures
SPIES = frozenset({"sys.settrace", "sys.setprofile"})
# fields that lead to frames, and those that make another function of one
FIELDS = {
    "object.__getattr__": frozenset({"tb_frame", "gi_frame", "cr_frame", "ag_frame", "f_back"}),
    "object.__setattr__": frozenset({"__code__", "__defaults__", "__kwdefaults__"}),
}
# events after which a function may have other parts than before: told once, and nothing that a person should look at
TOUCHES = frozenset(
    {("object.__setattr__", name) for name in FIELDS["object.__setattr__"]} | {("object.__getattr__", "__kwdefaults__")}
)
TOUCHED = "the parts of a function were touched"
# modules through which code gets at frames, and the functions of others that hand one on; the rest of these only print
_GO_BETWEENS = frozenset({"inspect"})
_HANDS_ON = frozenset({("logging", "<lambda>"), ("logging", "currentframe"), ("traceback", "walk_stack")})
LONGEST_REPORT = 200


class Witness:
    """Watches while a helper measures student code.

    Args:
        report_fd: the writing end of the pipe.
    """

    def __init__(self, report_fd: int) -> None:
        self._report_fd = report_fd
        self._watching = self._touched = False
        self._busy: set[int] = set()
        self._given: set[str] = set()
        self._reads: list[int] = []
        with suppress(OSError):
            os.set_blocking(report_fd, False)
        sys.addaudithook(self._hear)

    @contextmanager
    def watching(self, own_code: str) -> Iterator[None]:
        """Report looks inside this block.

        Args:
            own_code: the name of the file of the code that measures, which nobody else knows.
        """
        self._given.add(own_code)
        self._watching = True
        try:
            yield
        finally:
            self._watching = False
            self._given.discard(own_code)

    def report(self, text: str) -> None:
        """Tell the checks one sentence, at once; what the pipe has no room for comes after others and is left out."""
        with suppress(OSError):  # closed: the checks see that
            write(self._report_fd, f"{text[:LONGEST_REPORT]}\n".encode("utf-8", "replace"))

    def tell_reads(self, counted: int, seen: int) -> None:
        """Note how many reads the device counted in a measured call, and how many the second witness saw."""
        before = self._reads or [0, 0]
        self._reads = [before[0] + counted, before[1] + seen]

    def take_reads(self) -> list[int]:
        """Return both sums since the last time; empty where nothing counts reads."""
        reads, self._reads = self._reads, []
        return reads

    @contextmanager
    def given_code(self, given: bool) -> Iterator[None]:
        """Note that the cell of this block is the exercise's own, when it is."""
        before = set(linecache.cache)
        yield
        if given:
            self._given |= set(linecache.cache) - before

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in FIELDS:
            if not self._touched and (event, arguments[1]) in TOUCHES and not self._is_given(sys._getframe(1)):
                self._touched = True
                self.report(TOUCHED)
            if arguments[1] not in FIELDS[event]:
                return
        elif event not in LOOKS and event not in SPIES and not (self._watching and event.startswith("ctypes.")):
            return
        thread = get_ident()
        if thread in self._busy:
            return
        self._busy.add(thread)
        try:
            frame: FrameType | None = sys._getframe(1)
            while frame is not None and _is_go_between(frame):
                frame = frame.f_back
            if frame is not None and self._is_students(frame.f_code.co_filename):
                what = arguments[1] if event in FIELDS else event
                where = f"line {frame.f_lineno} of {frame.f_code.co_name}"[-LONGEST_REPORT // 2 :]
                when = "while it was measured" if self._watching else "before it was measured"
                self.report(f"{where} looked at {what} {when}")
        finally:
            self._busy.discard(thread)

    def _is_given(self, frame: FrameType) -> bool:
        return frame.f_code.co_filename in self._given

    def _is_students(self, file: str) -> bool:
        """Return whether code is of a cell, or made from text, and not of the exercise's own cells."""
        typed = "ipykernel" in file or (file.startswith("<") and not file.startswith("<frozen"))
        return typed and file not in self._given


def _is_go_between(frame: FrameType) -> bool:
    module = frame.f_globals.get("__name__")
    return module in _GO_BETWEENS or (module, frame.f_code.co_name) in _HANDS_ON
