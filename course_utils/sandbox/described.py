"""What checks may hand to a student's function beyond plain values: modules, functions by name, callbacks.

One direction only, from the checks to the student's process: the reader here lives in the student's process and obeys
the writer. Objects travel as the name of their class and their attributes; functions as the name they can be imported
by, or, where they have none, as a number by which the student's code calls back.
"""

from __future__ import annotations

import importlib
import sys
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from course_utils.exercises.task import plain_value
from course_utils.sandbox.values import Reader, ValueNotPlainError, Writer

# builtin functions do not say where they can be imported from, so these are searched
_FUNCTION_HOMES = ("torch", "torch.nn.functional", "torch.linalg", "torch.fft", "math", "operator", "builtins")
# a class or function from one of these packages is there in the student's process too
_SHARED_PACKAGES = ("torch", "torchvision", "numpy", "math", "operator", "builtins", "collections", "course_utils")


# kinds of dict that say nothing more than a dict
_PLAIN_CONTAINERS = (OrderedDict, defaultdict, Counter)


class NamedInStudentProcess:
    """A thing that lives in the student's process under a name; the base of the stand-ins that checks hold.

    Args:
        known_as: its name there.
    """

    def __init__(self, known_as: str) -> None:
        self.known_as = known_as


class HeldInStudentProcess:
    """An object that the student's process holds for the checks; the base of the stand-in that they have.

    Args:
        number: its place among the objects held there.
    """

    def __init__(self, number: int) -> None:
        self.number = number


class KeepingWriter(Writer):
    """Writes values of student code; what is not plain stays in the process, under a number.

    Args:
        depth: how deep a value may be nested.
        kept: the objects that are held, by their numbers.
    """

    def __init__(self, depth: int, kept: list[Any]) -> None:
        super().__init__(depth)
        self.kept = kept

    def write_opaque(self, value: Any) -> Any:
        """Keep the value; write its number, its type's name, the start of its text, and what plain value it means."""
        plain = plain_value(value)
        if type(value) in _PLAIN_CONTAINERS:
            return self.write(plain)
        self.kept.append(value)
        meaning = [] if plain is value else [self.write(plain)]
        return {"kept": [len(self.kept) - 1, *super().write_opaque(value)["opaque"], *meaning]}


class DescribingWriter(Writer):
    """Writes arguments.

    Args:
        depth: how deep a value may be nested.
        given: the names that the exercise's given cells bind, in both processes.
        callbacks: collects the functions that the student's code may call back, by their place.
    """

    def __init__(self, depth: int, given: Mapping[str, Any], callbacks: list[Callable[..., Any]]) -> None:
        super().__init__(depth)
        self.given = given
        self.callbacks = callbacks

    def write_opaque(self, value: Any) -> Any:  # noqa: PLR0911
        """Describe what is not plain.

        Raises:
            ValueNotPlainError: when it cannot be described; the message says what to do.
        """
        if isinstance(value, NamedInStudentProcess):
            return {"named": value.known_as}
        if isinstance(value, HeldInStudentProcess):
            return {"kept": object.__getattribute__(value, "number")}
        if type(value) is OrderedDict:
            return {"ordered": self.write(list(value.items()))}
        torch = sys.modules.get("torch")
        if torch is not None and type(value) is torch.Generator:
            return {"generator": self.write(value.get_state())}
        place = self._find_place(value)
        if place is not None:
            return place
        home = self._find_place(type(value))
        if home is not None and hasattr(value, "__dict__"):
            return {"object": [home, self.write(vars(value))]}
        if callable(value):
            self.callbacks.append(value)
            return {"callback": len(self.callbacks) - 1}
        raise ValueNotPlainError(
            f"a check hands a {type(value).__name__} to the student's code; define its class in a given cell, or use "
            "a helper marked @in_student_process"
        )

    def _find_place(self, value: Any) -> dict[str, Any] | None:
        """Return the name by which both processes find a class or function, or None."""
        homes = (str(getattr(value, "__module__", "")), *_FUNCTION_HOMES)
        # torch.sin calls itself _VariableFunctionsClass.sin
        for name in (getattr(value, "__qualname__", None), getattr(value, "__name__", None)):
            if not isinstance(name, str):
                continue
            if self.given.get(name) is value:
                return {"named": name}
            for home in homes:
                if home.split(".")[0] in _SHARED_PACKAGES and _look_up(home, name) is value:
                    return {"imported": [home, name]}
        return None


class DescribedReader(Reader):
    """Reads arguments, in the student's process.

    Args:
        blobs: the raw bytes that came with them.
        depth: how deep a value may be nested.
        namespace: the names of the student's notebook.
        kept: the objects that this process holds for the checks.
        call_back: calls a function of the checks, by its place.
    """

    def __init__(
        self,
        blobs: list[bytes],
        depth: int,
        *,
        namespace: Mapping[str, Any],
        kept: Sequence[Any],
        call_back: Callable[..., Any],
    ) -> None:
        super().__init__(blobs, depth)
        self.namespace = namespace
        self.kept = kept
        self.call_back = call_back

    def read_kind(self, kind: str, content: Any, level: int) -> Any:  # noqa: PLR0911
        """Return a value of a named kind."""
        if kind == "named":
            return self.namespace[content]
        if kind == "kept":
            return self.kept[content]
        if kind == "imported":
            return _look_up(*content)
        if kind == "ordered":
            return OrderedDict(self.read(content, level))
        if kind == "generator":
            import torch

            generator = torch.Generator()
            generator.set_state(self.read(content, level))
            return generator
        if kind == "callback":
            return lambda *arguments, **named: self.call_back(content, arguments, named)
        if kind == "object":
            home, attributes = content
            kind_of = self.read(home, level)
            value = kind_of.__new__(kind_of)
            value.__dict__.update(self.read(attributes, level))
            return value
        return super().read_kind(kind, content, level)

    def arrange(self, plain: Any, strides: Any) -> Any:
        """Return the tensor with the strides it had: a transposed argument arrives transposed."""
        import torch

        if list(plain.stride()) == strides or 0 in strides:
            return plain
        return torch.empty_strided(plain.shape, strides, dtype=plain.dtype).copy_(plain)


def _look_up(home: str, name: str) -> Any:
    try:
        found: Any = importlib.import_module(home)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError):
        return None
    return found
