"""Which objects are in the places that measure, told by their addresses: a quick question between forks of one process.

An address names an object only as long as that lives. So the template, of which submissions are forks, keeps all of
them alive for good (`pin`), in a way that no code of Python can find. The text of this module is sent to a student's
process, too, and runs there in names of its own (`whole`).
"""

from __future__ import annotations

import ctypes
import sys
import types
from collections.abc import Iterable, Sequence
from typing import Any

# how deep functions in the closures of functions are followed
MOST_NESTED = 3
# whose classes cannot be changed from Python
UNCHANGING = ("builtins", "time")
FUNCTION, BUILTIN, UNWRAPPED, ACCESSORS, CLASS, OTHER = range(6)


def names_below(prefixes: Sequence[str]) -> list[str]:
    """Return the names of the loaded modules that are named, or lie below a named one."""
    dotted = tuple(f"{prefix}." for prefix in prefixes)
    return sorted(name for name in sys.modules if name in prefixes or name.startswith(dotted))


def pin(prefixes: Sequence[str]) -> None:
    """Keep what `whole` looks at alive for good: no other object ever gets its address, in this process and its forks.

    Args:
        prefixes: names of modules and packages.
    """
    for thing in objects_in(names_below(prefixes), parts=True)[0]:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


# the address of an object, whatever its class answers; unlike `id` it raises no audit event, which costs time
address = object.__hash__


def whole(modules: Sequence[str], *, parts: bool) -> int:
    """Return one number for all objects in the places that measure; another one when any of them is another.

    Args:
        modules: names of modules; those that were loaded later make no difference.
        parts: look at the parts of functions, too. Each reading of one raises an audit event, as setting one does.
    """
    objects, names = objects_in(modules, parts=parts)
    return (tuple([address(thing) for thing in objects]), tuple(names)).__hash__()


def objects_in(modules: Sequence[str], *, parts: bool) -> tuple[list[Any], list[tuple[str, ...]]]:
    """Return functions, with their parts if asked, and classes of modules, and which names each class has."""
    objects: list[Any] = []
    names: list[tuple[str, ...]] = []
    functions: list[Any] = []
    classes: set[int] = set()
    kinds: dict[type, int] = {}
    packages = {name.partition(".")[0] for name in modules}.difference(UNCHANGING)

    def look_at(things: Iterable[Any], *, top: bool) -> None:
        for thing in things:
            kind = type(thing)
            way = kinds.get(kind)
            if way is None:
                way = kinds[kind] = kind_of(kind)
            if way == FUNCTION:
                functions.append(thing)
            elif way == OTHER:
                continue
            elif way == BUILTIN:
                objects.append(thing)
            elif way == UNWRAPPED:
                look_at((thing.__func__,), top=top)
            elif way == ACCESSORS:
                look_at((thing.fget, thing.fset), top=top)
            elif top:
                objects.append(thing)
                if thing.__module__.partition(".")[0] in packages and address(thing) not in classes:
                    classes.add(address(thing))
                    members = type.__dict__["__dict__"].__get__(thing)
                    names.append(tuple(members))
                    look_at(list(members.values()), top=False)

    for name in modules:
        module = sys.modules.get(name)
        objects.append(module)
        look_at(list(vars(module).values()) if module is not None else (), top=True)
    seen: set[Any] = set()
    for _ in range(MOST_NESTED + 1):
        level, functions = functions, []
        for function in level:
            objects.append(function)
            if function in seen:
                continue
            seen.add(function)
            if parts:
                objects += (function.__code__, function.__defaults__)
                objects += (function.__kwdefaults__ or {}).values()
            for cell in function.__closure__ or ():
                try:
                    look_at((cell.cell_contents,), top=False)
                except ValueError:  # nothing in it yet
                    objects.append(None)
    return objects, names


def kind_of(kind: type) -> int:
    """Return how an object of this type is looked at."""
    if issubclass(kind, types.FunctionType):
        return FUNCTION
    if issubclass(kind, types.BuiltinFunctionType):
        return BUILTIN
    if issubclass(kind, staticmethod | classmethod):
        return UNWRAPPED
    if issubclass(kind, property):
        return ACCESSORS
    return CLASS if issubclass(kind, type) else OTHER
