"""Read from the code which rooms the course has, and which room uses which; nothing is imported for it.

A room is a top-level module or package of course_utils, the lessons (notebooks/), the exercises (solutions/), or the
outside. A room uses another if one of its files imports it, anywhere in the file, or names it in a string of its own,
as `python -m course_utils.exercises.cell_runner` and package data are named.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

PACKAGE = "course_utils"
LESSONS, EXERCISES = "lessons", "exercises"
NAMED = re.compile(rf"{PACKAGE}(\.\w+)+")
# the packages outside that say most about a room
OUTSIDE = ("torch", "torchvision", "matplotlib", "nbgrader", "jupyterlab")


@dataclass(frozen=True)
class Room:
    """One room.

    Args:
        name: such as "devices"; LESSONS and EXERCISES for the notebooks.
        files: how many modules, data files or notebooks it has.
        uses: the rooms that it uses.
        outside: packages of OUTSIDE that it imports.
    """

    name: str
    files: int
    uses: frozenset[str]
    outside: frozenset[str]


@dataclass(frozen=True)
class House:
    """All rooms.

    Args:
        rooms: by name, in alphabetical order.
        passed_on: (package, room): the package's `__getattr__` loads a public name of the room on first use. The
            package does not need the room: it only lends the name.
    """

    rooms: Mapping[str, Room]
    passed_on: frozenset[tuple[str, str]]


@dataclass
class _Found:
    """What was seen so far in the files of one room."""

    files: int = 0
    names: set[str] = field(default_factory=set)  # dotted names that were imported
    lent: set[str] = field(default_factory=set)  # dotted names that only __getattr__ loads


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the dotted names that a piece of code imports, and the modules that its strings name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and NAMED.fullmatch(node.value):
            yield node.value


def is_lending(statement: ast.stmt) -> bool:
    """Tell whether a statement of a package's __init__ lends names: its __getattr__, or imports for type checkers."""
    if isinstance(statement, ast.FunctionDef):
        return statement.name == "__getattr__"
    return isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING"


def read_module(text: str, *, is_init: bool) -> tuple[set[str], set[str]]:
    """Read one file.

    Returns:
        The dotted names that it imports, and those that it only lends.
    """
    names: set[str] = set()
    lent: set[str] = set()
    for statement in ast.parse(text).body:
        (lent if is_init and is_lending(statement) else names).update(imported(statement))
    return names, lent


def code_of_notebook(text: str) -> str:
    """Join the code cells of a notebook; cells with IPython's own syntax are left out."""
    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code" and not re.search(r"^\s*[%!]", source, re.MULTILINE):
            parts.append(source)
    return "\n\n".join(parts)


def public_homes(init: str) -> dict[str, str]:
    """Read course_utils' table of public names: name -> the module that holds it."""
    for statement in ast.parse(init).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "_HOME":
            return dict(ast.literal_eval(statement.value))
    raise ValueError(f"{PACKAGE}/__init__.py has no table _HOME of its public names")


def room_of(name: str, rooms: frozenset[str], homes: Mapping[str, str]) -> str | None:
    """Say which room a dotted name leads to.

    Args:
        name: such as "course_utils.devices.probe.probe_mps", or "course_utils.probe_mps", which _HOME leads on.
        rooms: the names of all rooms.
        homes: the table of public names.

    Returns:
        The room; None for what is outside, and for the package's own attributes such as its version.
    """
    parts = name.split(".")
    if parts[0] != PACKAGE or len(parts) == 1:
        return None
    target = homes.get(parts[1], parts[1])
    return target if target in rooms else None


def read_house(root: Path) -> House:
    """Read all rooms of the course.

    Args:
        root: the course's root, with course_utils/, notebooks/ and solutions/.
    """
    package = root / PACKAGE
    found: dict[str, _Found] = {}
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).parts[0].removesuffix(".py")
        if name != "__init__":
            _note(found, name, path.read_text(encoding="utf-8"), is_init=path.name == "__init__.py")
    for path in sorted(package.glob("*/*.json")):
        found[path.parent.name].files += 1
    for name, folder in ((LESSONS, "notebooks"), (EXERCISES, "solutions")):
        for path in sorted((root / folder).rglob("*.ipynb")):
            if ".ipynb_checkpoints" not in path.parts:
                _note(found, name, code_of_notebook(path.read_text(encoding="utf-8")), is_init=False)
    homes = public_homes((package / "__init__.py").read_text(encoding="utf-8"))
    names = frozenset(found)
    rooms = {}
    passed_on = set()
    for name, seen in sorted(found.items()):
        uses = {room_of(each, names, homes) for each in seen.names} - {None, name}
        lent = {room_of(each, names, homes) for each in seen.lent} - {None, name}
        passed_on |= {(name, room) for room in lent if room is not None}
        outside = {each.split(".")[0] for each in seen.names} & set(OUTSIDE)
        rooms[name] = Room(name, seen.files, frozenset(room for room in uses if room), frozenset(outside))
    return House(rooms, frozenset(passed_on))


def _note(found: dict[str, _Found], name: str, code: str, *, is_init: bool) -> None:
    seen = found.setdefault(name, _Found())
    names, lent = read_module(code, is_init=is_init)
    seen.files += 1
    seen.names |= names
    seen.lent |= lent
