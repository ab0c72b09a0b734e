"""The code that a student wrote outside the cells of the tasks, and where it runs: as in a run from top to bottom.

Imports added to a given cell, helpers and imports in cells of the student's own, and the other halves of a cell that
was split are kept for the tasks below them. A cell is kept when it binds a name that the tasks' code uses, so that a
long experiment beside the tasks takes no time when they are graded.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from course_utils.exercises.markers import Marker, replace_regions
from course_utils.exercises.notebook import Cell
from course_utils.grading.assignment import Assignment, Kind, Part

# characters, and cells: what a person writes; parsing takes seconds a megabyte
LONGEST_PARSED, MOST_CELLS = 10_000, 50
MOST_NOTES = 5
# %time and !ls are IPython's, and Python cannot parse them
_COMMAND = re.compile(r"^([ \t]*)[%!].*$", re.MULTILINE)
_WORD = re.compile(r"\w+")
ALL_NAMES = "*"


@dataclass(frozen=True)
class OwnCode:
    """Code of the student's own that runs before a part of the exercise.

    Args:
        place: the place of that part in the exercise; the number of parts for code below all of them.
        label: what messages call it, such as "cell 7".
        source: the code.
        names: the names that it binds.
    """

    place: int
    label: str
    source: str
    names: frozenset[str]


def find_own_code(
    cells: Sequence[Cell], assignment: Assignment, chosen: Mapping[str, Cell], changed: Collection[int]
) -> tuple[dict[str, list[list[str]]], tuple[str, ...]]:
    """Find the student's own code and where it runs.

    Args:
        cells: the submitted cells.
        assignment: the exercise.
        chosen: grade id -> the cell that counts.
        changed: the numbers of cells of tasks in which the student wrote something.

    Returns:
        Grade id of a part -> pairs of label and code that run before it, in order; and notes, one sentence each.
    """
    own = list(_locate(cells, assignment, chosen, changed))
    used = {word for cell in chosen.values() for word in _WORD.findall(cell.source[:LONGEST_PARSED])}
    kept: list[OwnCode] = []
    # from below, since what a kept cell uses has to be kept, too
    for code in reversed(own):
        if len(kept) < MOST_CELLS and (ALL_NAMES in code.names or code.names & used):
            kept.append(code)
            used.update(_WORD.findall(code.source[:LONGEST_PARSED]))
    found: dict[str, list[list[str]]] = {}
    for code in reversed(kept):
        if code.place < len(assignment.parts):
            found.setdefault(assignment.parts[code.place].grade_id, []).append([code.label, code.source])
    return found, tuple(_notes_below(kept, assignment, chosen))[:MOST_NOTES]


def _locate(
    cells: Sequence[Cell], assignment: Assignment, chosen: Mapping[str, Cell], changed: Collection[int]
) -> list[OwnCode]:
    places = {part.grade_id: place for place, part in enumerate(assignment.parts)}
    taken = {cell.number: grade_id for grade_id, cell in chosen.items()}
    found: list[OwnCode] = []
    here = 0
    seen: set[int] = set()
    for cell in cells:
        known = taken.get(cell.number) or next((one for one in (cell.grade_id, cell.cell_id) if one in places), None)
        if known is None:
            place, source = here, cell.source
        else:
            part = assignment.parts[places[known]]
            here = max(here, places[known] + 1)
            seen.add(places[known])
            if part.kind is Kind.STUDENT:
                check = _place_of_check(assignment, places[known])
                # a copy below the task's check runs below it
                place = check + 1 if check in seen else places[known]
                source = cell.source if _is_other_copy(cell, taken, changed) else ""
            else:
                place, source = _place_of_additions(part, places[known]), added_code(cell.source, part)
        if cell.kind == "code" and source.strip():
            found.append(OwnCode(place, f"cell {cell.number}", source, bound_or_starred(source)))
    return found


def _place_of_check(assignment: Assignment, place: int) -> int:
    """Return the place of the check below a part; the number of parts where there is none."""
    parts = list(enumerate(assignment.parts))
    return next((number for number, part in parts[place:] if part.kind is Kind.CHECK), len(parts))


def _is_other_copy(cell: Cell, taken: Mapping[int, str], changed: Collection[int]) -> bool:
    return cell.number not in taken and cell.number in changed


def _place_of_additions(part: Part, place: int) -> int:
    """Return where code runs that was added to a cell of the exercise: a check's before it, others' after it."""
    return place if part.kind is Kind.CHECK else place + 1


def added_code(source: str, part: Part) -> str:
    """Return the statements of a student's version of a given or check cell that the exercise's does not have.

    Of a check cell only imports and definitions: what else was changed in a check has no meaning outside it.
    """
    given = replace_regions(part.source, {Marker.HIDDEN_TESTS: ""})
    if source.strip() == given.strip() or len(source) > LONGEST_PARSED:
        return ""
    tree, known = _parse(source), _parse(given)
    if tree is None or known is None:
        return ""
    there = {ast.dump(node) for node in known.body}
    added = [node for node in tree.body if ast.dump(node) not in there]
    if part.kind is Kind.CHECK:
        kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
        added = [node for node in added if isinstance(node, kinds)]
    return "\n".join(ast.unparse(node) for node in added)


def _notes_below(kept: Sequence[OwnCode], assignment: Assignment, chosen: Mapping[str, Cell]) -> list[str]:
    """Return notes about names that a task uses and only a cell below its check binds."""
    notes = []
    for check in assignment.checks:
        place = assignment.parts.index(check)
        ids = assignment.ids_for(check)
        used = {word for one in ids if one in chosen for word in _WORD.findall(chosen[one].source[:LONGEST_PARSED])}
        above = [code.names for code in kept if code.place <= place]
        above += [bound_or_starred(cell.source) for cell in chosen.values()]
        above += [bound_or_starred(part.source) for part in assignment.parts if part.kind is Kind.TOOLS]
        there = frozenset().union(*above)
        for code in kept:
            names = sorted(code.names & used - there)
            if code.place > place and names:
                listed = ", ".join(names[:MOST_NOTES])
                notes.append(
                    f"{code.label} binds {listed} below the task that uses it, so a run from top to bottom does not "
                    "have it yet; move it above"
                )
    return list(dict.fromkeys(notes))


@lru_cache(maxsize=256)
def bound_or_starred(source: str) -> frozenset[str]:
    """Return the names that code binds at its top level, "*" for a star import; none when it does not parse."""
    tree = _parse(source) if len(source) <= LONGEST_PARSED else None
    names: set[str] = set()
    for node in tree.body if tree is not None else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        else:
            stored = (leaf for leaf in ast.walk(node) if isinstance(leaf, ast.Name) and isinstance(leaf.ctx, ast.Store))
            names |= {leaf.id for leaf in stored}
    return frozenset(names)


def _parse(source: str) -> ast.Module | None:
    with warnings.catch_warnings():
        # Python warns of "\\d" in a student's string; that is the student's business
        warnings.simplefilter("ignore")
        try:
            return ast.parse(_COMMAND.sub(r"\1pass", source))
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # NUL bytes, a thousand brackets
            return None
