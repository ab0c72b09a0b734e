"""What checks hold in place of the student's functions: calling one asks the student's process."""

from __future__ import annotations

import builtins
import inspect
import marshal
import secrets
import sys
import time
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from course_utils.grading.checking import beside
from course_utils.grading.checking.answer_clock import LARGE_BYTES, SHARE, SHORTEST_S, AnswerClock
from course_utils.sandbox.connection import FORGED, Connection, StudentGone
from course_utils.sandbox.described import DescribingWriter, HeldInStudentProcess, NamedInStudentProcess
from course_utils.sandbox.frames import Frame
from course_utils.sandbox.limits import Limits
from course_utils.sandbox.reason import Ending
from course_utils.sandbox.values import LONGEST_REPR, Opaque, Reader, ValueNotPlainError, Writer

# what is sent is shorter then
WITHOUT_DOCSTRINGS = 2


@cache
def beside_code() -> tuple[str, bytes]:
    """Return what runs a marked helper, compiled under a name that nobody else knows; it goes over with each call."""
    name = f"<measuring {secrets.token_hex(8)}>"
    return name, marshal.dumps(compile(inspect.getsource(beside), name, "exec", optimize=WITHOUT_DOCSTRINGS))


@cache
def computing_code(source: str) -> bytes:
    """Return what computes in the student's process, compiled."""
    return marshal.dumps(compile(source, "<measuring>", "exec", optimize=WITHOUT_DOCSTRINGS))


class StudentClient:
    """Asks questions of one student's process and reads the answers as values.

    Args:
        connection: the connection to it.
        limits: how deep values may be nested.
        given: the names of the exercise's given cells on this side.
        clock: runs while a large answer is read and compared, until the next question or until it is stopped.
    """

    def __init__(
        self, connection: Connection, limits: Limits, given: Mapping[str, Any], clock: AnswerClock | None = None
    ) -> None:
        self.connection = connection
        self.limits = limits
        self.given = given
        self.clock = clock or AnswerClock()
        self._reads: list[int] = []

    def take_reads(self) -> list[int]:
        """Return the reads that a device counted, and those that a second witness saw, since the last time."""
        reads, self._reads = self._reads, []
        return reads

    def _ask(self, content: dict[str, Any], blobs: list[bytes], *, compared: bool = True) -> Frame:
        self.clock.stop()
        frame = self.connection.ask(content, blobs)
        told = frame.content.get("reads")
        if type(told) is list and [type(each) for each in told] == [int, int]:
            self._reads = [before + more for before, more in zip(self._reads or [0, 0], told, strict=True)]
        if compared and frame.size_bytes > LARGE_BYTES:
            left_s = self.connection.deadline - time.monotonic()
            self.clock.start(max(SHORTEST_S, min(left_s, self.limits.task_s * SHARE)))
        return frame

    def run(self, source: str, names: list[str], *, given: bool) -> dict[str, Any]:
        """Run a cell; return which names are there, and its error or None."""
        content = self._ask({"run": source, "names": names, "given": given}, []).content
        kinds, error = content.get("names"), content.get("error")
        return {"names": kinds if isinstance(kinds, dict) else {}, "error": None if error is None else _raised(error)}

    def call(
        self, name: str | StudentObject, arguments: tuple[Any, ...], named: dict[str, Any], *, marked: bool = False
    ) -> Any:
        """Call a function, by its name or by what stands for it; return its value, or raise what it raised.

        Args:
            name: its name, or what stands for it.
            arguments: its arguments.
            named: its named arguments.
            marked: whether it is a marked helper, which runs beside the student's code and not among it.
        """
        callbacks: list[Callable[..., Any]] = []
        writer = DescribingWriter(self.limits.value_depth, self.given, callbacks)
        called = {"named": name} if isinstance(name, str) else writer.write(name)
        content = {"call": called, "arguments": writer.write(list(arguments)), "named": writer.write(named)}
        if marked:
            content["beside"] = writer.write(list(beside_code()))
        frame = self._ask(content, writer.blobs)
        while "callback" in frame.content:
            frame = self._ask(*self._call_back(frame, callbacks))
        return self._value(frame)

    def get(self, held: StudentObject, name: str) -> Any:
        """Return an attribute of an object that is held there."""
        content = {"get": {"kept": object.__getattribute__(held, "number")}, "name": name}
        return self._value(self._ask(content, []))

    def set(self, held: StudentObject, name: str, value: Any) -> None:
        """Set an attribute of an object that is held there."""
        writer = DescribingWriter(self.limits.value_depth, self.given, [])
        kept = {"kept": object.__getattribute__(held, "number")}
        self._value(self._ask({"set": kept, "name": name, "argument": writer.write(value)}, writer.blobs))

    def value(self, name: str) -> Any:
        """Return the value of a name."""
        return self._value(self._ask({"value": name}, []))

    def compute(self, source: str, argument: Any) -> Any:
        """Run a function `compute` of this side over there, in names of its own."""
        writer = Writer(self.limits.value_depth)
        content = {"compute": writer.write(computing_code(source)), "argument": writer.write(argument)}
        return self._value(self._ask(content, writer.blobs, compared=False))

    def _value(self, frame: Frame) -> Any:
        content = frame.content
        if "raised" in content:
            raise _raised(content["raised"])
        if "too_deep" in content:
            raise ValueError(str(content["too_deep"])[:200])
        return _AnswerReader(frame.blobs, self).read(content.get("result"))

    def _call_back(self, frame: Frame, callbacks: list[Callable[..., Any]]) -> tuple[dict[str, Any], list[bytes]]:
        """Call a function of the checks with plain values that the student's code chose."""
        reader = Reader(frame.blobs, self.limits.value_depth)
        writer = Writer(self.limits.value_depth)
        try:
            place = frame.content["callback"]
            if type(place) is not int or not 0 <= place < len(callbacks):
                raise ValueNotPlainError("no such function")
            arguments, named = reader.read(frame.content.get("arguments")), reader.read(frame.content.get("named"))
            return {"result": writer.write(callbacks[place](*arguments, **named))}, writer.blobs
        except Exception as error:  # the student's code sees it as the function's own error
            return {"raised": [_builtin(type(error)).__name__, str(error)]}, []


class StudentObject(HeldInStudentProcess):
    """An object that student code made and that is not plain: it stays there, and the checks ask for what they need.

    It is equal to nothing but itself, is no number and no list, and what it answers is plain again.

    Args:
        number: its place among the objects held in the student's process.
        text: its type's name and the start of its text.
        client: asks that process.
        plain: the plain value that it means, such as that of an IntEnum or a named tuple; None when there is none.
    """

    def __init__(self, number: int, text: str, client: StudentClient, plain: Any = None) -> None:
        object.__setattr__(self, "plain", plain)
        object.__setattr__(self, "number", number)
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "client", client)

    def __getattribute__(self, name: str) -> Any:
        """Ask for an attribute; names with two underscores in front are this side's own."""
        if name.startswith("__"):
            return object.__getattribute__(self, name)
        return object.__getattribute__(self, "client").get(self, name)

    def __plain_value__(self) -> Any:
        """Return the plain value that it means, or itself."""
        plain = object.__getattribute__(self, "plain")
        return self if plain is None else plain

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute there."""
        object.__getattribute__(self, "client").set(self, name, value)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call it there."""
        return object.__getattribute__(self, "client").call(self, arguments, named)

    def __getitem__(self, key: Any) -> Any:
        """Ask for an item."""
        return object.__getattribute__(self, "client").get(self, "__getitem__")(key)

    def __len__(self) -> int:
        """Ask for its length."""
        length: int = object.__getattribute__(self, "client").get(self, "__len__")()
        return length

    def __bool__(self) -> bool:
        """Return True: the object is there, and its process is not asked."""
        return True

    def __repr__(self) -> str:
        return str(object.__getattribute__(self, "text"))


class _AnswerReader(Reader):
    """Reads answers: plain values, and stand-ins for what stayed there."""

    def __init__(self, blobs: list[bytes], client: StudentClient) -> None:
        super().__init__(blobs, client.limits.value_depth)
        self.client = client

    def read_kind(self, kind: str, content: Any, level: int) -> Any:
        """Return a value of a named kind."""
        if kind != "kept":
            return super().read_kind(kind, content, level)
        number, type_name, text, *meaning = content
        if type(number) is not int or len(meaning) > 1:
            raise ValueNotPlainError("a malformed value: no such object")
        shown = repr(Opaque(str(type_name)[:LONGEST_REPR], str(text)[:LONGEST_REPR]))
        plain = self.read(meaning[0], level + 1) if meaning else None
        return StudentObject(number, shown, self.client, plain)


class StudentFunction(NamedInStudentProcess):
    """A function or class of the student.

    Args:
        known_as: its name in the student's process.
        client: returns the client of that process; it changes when a process is replaced.
    """

    def __init__(self, known_as: str, client: Callable[[], StudentClient]) -> None:
        super().__init__(known_as)
        self._client = client

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call it there."""
        return self._client().call(self.known_as, arguments, named)

    def __getattr__(self, name: str) -> Any:
        """Ask for an attribute, such as one of a class or of a callable object."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._client().value(self.known_as), name)

    def __repr__(self) -> str:
        return f"the student's {self.known_as}"


class MarkedHelper(StudentFunction):
    """A marked helper of the exercise, which measures beside the student's code."""

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call it there."""
        return self._client().call(self.known_as, arguments, named, marked=True)


class BrokenFunction(StudentFunction):
    """A function that is not there, because its cell raised or does not define it.

    Args:
        known_as: its name.
        client: returns the client, for helpers that name it.
        error: raised at each call.
    """

    def __init__(self, known_as: str, client: Callable[[], StudentClient], error: Exception) -> None:
        super().__init__(known_as, client)
        self.error = error

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Raise."""
        raise self.error

    def __getattr__(self, name: str) -> Any:
        """Raise."""
        raise AttributeError(name) if name.startswith("__") else self.error


def _builtin(kind: type[BaseException]) -> type[Exception]:
    """Return the nearest exception that every Python has."""
    for parent in kind.__mro__:
        if parent.__module__ == "builtins" and issubclass(parent, Exception):
            return parent
    return RuntimeError


def _raised(described: Any) -> Exception:
    """Make the exception that the student's code raised, of a class that this side has."""
    if type(described) is not dict or type(described.get("classes")) is not list:
        raise StudentGone(Ending.FORGED, FORGED)
    classes, text = described["classes"], str(described.get("text", ""))[:2000]
    names = [name for name in classes if isinstance(name, str) and name.isidentifier()] if classes else []
    kinds = (getattr(builtins, name, None) for name in names)
    parent = next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Exception)), RuntimeError)
    torch = sys.modules.get("torch")
    if torch is not None and torch.OutOfMemoryError.__name__ in names:
        parent = torch.OutOfMemoryError
    name = names[0][:80] if names else "Exception"
    # some built-in classes take more than a text, or quote it
    made = type(name, (parent,), {"__init__": lambda self: None, "__str__": lambda self: text, "__module__": "student"})
    error: Exception = made()
    error.cell_line = str(described.get("line", ""))[:LONGEST_REPR]  # type: ignore[attr-defined]  # for `Task`
    if isinstance(error, OSError) and type(described.get("errno")) is int:
        error.errno = described["errno"]
    return error
