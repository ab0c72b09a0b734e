"""What checks hold in place of the student's functions: calling one asks the student's process."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from typing import Any

from course_utils.grading.isolation.connection import INTRUSION, Connection, StudentGone
from course_utils.grading.isolation.described import DescribingWriter, NamedInStudentProcess
from course_utils.grading.isolation.frames import Frame
from course_utils.grading.isolation.values import Reader, ValueNotPlainError, Writer
from course_utils.grading.limits import Limits
from course_utils.grading.result import Reason


class Line:
    """Asks questions of one student's process and reads the answers as values.

    Args:
        connection: the line itself.
        limits: how deep values may be nested.
        given: the names of the exercise's given cells on this side.
    """

    def __init__(self, connection: Connection, limits: Limits, given: Mapping[str, Any]) -> None:
        self.connection = connection
        self.limits = limits
        self.given = given

    def run(self, source: str, names: list[str], *, given: bool) -> dict[str, Any]:
        """Run a cell; return which names are there, and its error or None."""
        content = self.connection.ask({"run": source, "names": names, "given": given}, []).content
        kinds, error = content.get("names"), content.get("error")
        return {"names": kinds if isinstance(kinds, dict) else {}, "error": None if error is None else _raised(error)}

    def call(self, name: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Call a function by its name; return its value, or raise what it raised."""
        callbacks: list[Callable[..., Any]] = []
        writer = DescribingWriter(self.limits.value_depth, self.given, callbacks)
        content = {"call": name, "arguments": writer.write(list(arguments)), "named": writer.write(named)}
        frame = self.connection.ask(content, writer.blobs)
        while "callback" in frame.content:
            frame = self.connection.ask(*self._call_back(frame, callbacks))
        return self._value(frame)

    def value(self, name: str) -> Any:
        """Return the value of a name."""
        return self._value(self.connection.ask({"value": name}, []))

    def compute(self, source: str, argument: Any) -> Any:
        """Run a function `compute` of this side over there, in names of its own."""
        writer = Writer(self.limits.value_depth)
        written = writer.write(argument)
        return self._value(self.connection.ask({"compute": source, "argument": written}, writer.blobs))

    def _value(self, frame: Frame) -> Any:
        content = frame.content
        if "raised" in content:
            raise _raised(content["raised"])
        if "too_deep" in content:
            raise ValueError(str(content["too_deep"])[:200])
        return Reader(frame.blobs, self.limits.value_depth).read(content.get("result"))

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


class StudentFunction(NamedInStudentProcess):
    """A function of the student, or a marked helper beside it.

    Args:
        name: its name in the student's process.
        line: finds the line to that process; it changes when a process is replaced.
    """

    def __init__(self, name: str, line: Callable[[], Line]) -> None:
        super().__init__(name)
        self._line = line

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call it there."""
        return self._line().call(self.name, arguments, named)

    def __repr__(self) -> str:
        return f"the student's {self.name}"


class BrokenFunction(StudentFunction):
    """A function that is not there, because its cell raised or does not define it.

    Args:
        name: its name.
        line: finds the line, for helpers that name it.
        error: raised at each call.
    """

    def __init__(self, name: str, line: Callable[[], Line], error: Exception) -> None:
        super().__init__(name, line)
        self.error = error

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Raise."""
        raise self.error


def _builtin(kind: type[BaseException]) -> type[Exception]:
    """Return the nearest exception that every Python has."""
    for parent in kind.__mro__:
        if parent.__module__ == "builtins" and issubclass(parent, Exception):
            return parent
    return RuntimeError


def _raised(described: Any) -> Exception:
    """Make the exception that the student's code raised, of a class that this side has."""
    if type(described) is not dict or type(described.get("classes")) is not list:
        raise StudentGone(Reason.TAMPERED, INTRUSION)
    classes, text = described["classes"], str(described.get("text", ""))[:2000]
    names = [name for name in classes if isinstance(name, str) and name.isidentifier()] if classes else []
    kinds = (getattr(builtins, name, None) for name in names)
    parent = next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Exception)), RuntimeError)
    name = names[0][:80] if names else "Exception"
    # some built-in classes take more than a text, or quote it
    made = type(name, (parent,), {"__init__": lambda self: None, "__str__": lambda self: text, "__module__": "student"})
    error: Exception = made()
    return error
