"""An exercise as its instructor wrote it, taken apart: what is the student's, what runs beside it, what checks it."""

from __future__ import annotations

import ast
import hashlib
import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

from course_utils.exercises.markers import hidden_lines
from course_utils.exercises.notebook import Cell, parse_notebook, read_cell

_AUTOTEST = re.compile(r"^### (?:HASHED )?AUTOTEST", re.MULTILINE)
_HINT = re.compile(r"<details>\s*<summary>Hint 1</summary>(.*?)</details>", re.DOTALL)


class Kind(StrEnum):
    """What a code cell of an exercise is."""

    STUDENT = "student"  # the student writes it; runs in the student's process
    TOOLS = "tools"  # given, not graded: imports, data, helpers; runs in both processes
    CHECK = "check"  # gives points; never enters the student's process
    MANUAL = "manual"  # written by the student and read by a person; not run


@dataclass(frozen=True)
class Part:
    """One code cell of the instructor's notebook.

    Args:
        kind: what it is.
        grade_id: nbgrader's id, or the cell's own id where nbgrader has none.
        source: its text; for a check with the hidden tests in it.
        points: what it is worth.
        hint: the first hint of its task, as plain text.
    """

    kind: Kind
    grade_id: str
    source: str
    points: float = 0.0
    hint: str = ""

    @cached_property
    def title(self) -> str:
        """The task's name, as its check cell gives it to `Task`, such as "4.1 Median and spread"; else the grade id."""
        try:
            calls = [node for node in ast.walk(ast.parse(self.source)) if isinstance(node, ast.Call)]
        except SyntaxError:
            return self.grade_id
        for call in calls:
            if isinstance(call.func, ast.Name) and call.func.id == "Task" and call.args:
                name = call.args[0]
                if isinstance(name, ast.Constant) and isinstance(name.value, str):
                    return name.value
        return self.grade_id

    @property
    def hidden_lines(self) -> frozenset[int]:
        """The line numbers, from 1, between the marks of hidden tests, marks included."""
        return hidden_lines(self.source)


@dataclass(frozen=True)
class Assignment:
    """One exercise as its instructor wrote it.

    Args:
        name: the exercise's name, such as "04_measuring_time".
        parts: its code cells, in order.
        source: the notebook file that it was read from.
        notebook: what stands in that file, parsed.
    """

    name: str
    parts: tuple[Part, ...]
    source: bytes = field(default=b"", repr=False, compare=False)
    notebook: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def checks(self) -> tuple[Part, ...]:
        """The cells that give points, in order."""
        return tuple(part for part in self.parts if part.kind is Kind.CHECK)

    @property
    def student_ids(self) -> tuple[str, ...]:
        """The grade ids of the cells that students write, in order."""
        return tuple(part.grade_id for part in self.parts if part.kind is Kind.STUDENT)

    @cached_property
    def read_by_people(self) -> dict[str, float]:
        """The points of the cells that a person grades alone, written answers and task cells, by grade id."""
        cells = [read_cell(number, cell) for number, cell in enumerate(self.notebook.get("cells", ()), start=1)]
        return {
            cell.grade_id: cell.points
            for cell in cells
            if cell.grade_id and (cell.graded or cell.task) and not cell.checked
        }

    def ids_for(self, check: Part) -> tuple[str, ...]:
        """Return the student's cells that stand between the check before and this one."""
        place = self.parts.index(check)
        earlier = [n for n in range(place) if self.parts[n].kind is Kind.CHECK]
        first = earlier[-1] + 1 if earlier else 0
        return tuple(part.grade_id for part in self.parts[first:place] if part.kind is Kind.STUDENT)

    @cached_property
    def digest(self) -> str:
        """The content hash of everything that can change a grade: code, checks, points, in order."""
        rows = [[part.kind, part.grade_id, part.source, part.points] for part in self.parts]
        return hashlib.sha256(json.dumps([self.name, rows]).encode()).hexdigest()


def read_assignment(data: bytes, name: str) -> Assignment:
    """Take an instructor's notebook apart.

    Args:
        data: the notebook file, nbformat 4, hidden tests included.
        name: the exercise's name.

    Raises:
        ValueError: when it is not a notebook, has no check or only the template of one, or repeats a grade id; the
            message says which.
    """
    notebook = parse_notebook(data, f"the instructor's notebook of {name}")
    cells = [read_cell(number, cell) for number, cell in enumerate(notebook["cells"], start=1)]
    hints = _find_hints(cells)
    parts = tuple(_read_part(cell, hints) for cell in cells if cell.kind == "code")
    ids = [part.grade_id for part in parts]
    repeated = sorted({grade_id for grade_id in ids if ids.count(grade_id) > 1})
    if repeated:
        raise ValueError(f"exercise {name} has {repeated[0]!r} twice; every grade_id has to be there once")
    if not any(part.kind is Kind.CHECK for part in parts):
        raise ValueError(f"exercise {name} has no cell that gives points, so there is nothing to grade")
    for part in parts:
        if part.kind is Kind.CHECK and _AUTOTEST.search(part.source):
            raise ValueError(
                f"the check cell {part.grade_id} of {name} is a template (### AUTOTEST), which checks nothing as it "
                "stands; write the check out"
            )
    return Assignment(name, parts, data, notebook)


def _read_part(cell: Cell, hints: dict[str, str]) -> Part:
    grade_id = cell.grade_id or cell.cell_id
    if cell.graded and cell.solution:
        return Part(Kind.MANUAL, grade_id, "", cell.points)
    if cell.graded:
        return Part(Kind.CHECK, grade_id, cell.source, cell.points, hints.get(grade_id.removesuffix("-check"), ""))
    return Part(Kind.STUDENT if cell.solution else Kind.TOOLS, grade_id, cell.source)


def _find_hints(cells: Sequence[Cell]) -> dict[str, str]:
    """Return the first folded hint of each task's text, by the task's id."""
    found: dict[str, str] = {}
    for cell in cells:
        hint = _HINT.search(cell.source) if cell.kind == "markdown" else None
        if hint is not None:
            found[cell.cell_id.removesuffix("-text")] = html.unescape(hint.group(1)).strip()
    return found


def _longer_names(node: ast.Attribute) -> set[str]:
    """Return "a.b" for `a.b.c`, the name in which something is looked up; nothing for shorter names."""
    names: list[str] = []
    rest: ast.expr = node.value
    while isinstance(rest, ast.Attribute):
        names.append(rest.attr)
        rest = rest.value
    return {".".join([rest.id, *reversed(names)])} if isinstance(rest, ast.Name) and names else set()


def modules_of(assignment: Assignment) -> tuple[str, ...]:
    """List what the given cells and the model solution need, to be loaded once: modules, and names in modules.

    What they import, and what they reach through it by a longer name, such as torch.optim in `torch.optim.SGD(...)`.
    """
    found: set[str] = {"course_utils.exercises.task"}
    for part in assignment.parts:
        if part.kind not in (Kind.TOOLS, Kind.STUDENT):
            continue
        for node in ast.walk(ast.parse(part.source)):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module)
                found |= {f"{node.module}.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.Attribute):
                found |= _longer_names(node)
    return tuple(sorted(found))


def bound_names(source: str) -> frozenset[str]:
    """Return the names that a cell binds at its top level; none when it does not parse."""
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return frozenset()
    names: set[str] = set()
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
            continue
        names |= {leaf.id for leaf in ast.walk(node) if isinstance(leaf, ast.Name) and isinstance(leaf.ctx, ast.Store)}
    return frozenset(names)


def defined_names(source: str) -> frozenset[str]:
    """Return the names of the functions and classes at a cell's top level; none when it does not parse."""
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return frozenset()
    return frozenset(
        node.name for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    )
