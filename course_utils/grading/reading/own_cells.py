"""The code that a student wrote outside the cells of the tasks, and where it runs: as in a run from top to bottom.

Imports added to a given cell, helpers and imports in cells of the student's own, and the other halves of a cell that
was split are kept for the tasks below them. A cell is kept when it binds or changes something that the tasks' code
uses, so that a long experiment beside the tasks takes no time when they are graded. Of any other its settings are kept.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from course_utils.exercises.markers import Marker, replace_regions
from course_utils.exercises.notebook import Cell
from course_utils.grading.assignment import Assignment, Kind, Part
from course_utils.grading.reading.borrowed import borrow
from course_utils.grading.reading.cell_effects import (
    ALL_NAMES,
    LONGEST_PARSED,
    Effects,
    effects_of,
    parse_cell,
    settings_of,
    text_of,
)

MOST_CELLS = 50
MOST_NOTES = 5
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class OwnCode:
    """Code of the student's own that runs before a part of the exercise.

    Args:
        place: the place of that part in the exercise; the number of parts for code below all of them.
        label: what messages call it, such as "cell 7".
        source: the code.
    """

    place: int
    label: str
    source: str

    @property
    def effects(self) -> Effects:
        """What it may leave for the code below it."""
        return effects_of(self.source)


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
    code = [cell.source for cell in chosen.values()]
    kept = _select(own, code, assignment)
    borrowed = borrow(assignment, [*code, *(one.source for one in kept)])
    kept = sorted(
        [*(OwnCode(place + 1, f"check {place}", source) for place, source in borrowed.items()), *kept],
        key=lambda one: one.place,
    )
    found: dict[str, list[list[str]]] = {}
    for one in kept:
        if one.place < len(assignment.parts):
            found.setdefault(assignment.parts[one.place].grade_id, []).append([one.label, one.source])
    return found, tuple(_notes_below(kept, assignment, chosen))[:MOST_NOTES]


def _select(own: Sequence[OwnCode], code: Sequence[str], assignment: Assignment) -> list[OwnCode]:
    """Return those of the student's own cells that matter to the tasks' code, and of the others their settings."""
    given = [part.source for part in assignment.parts if part.kind is not Kind.STUDENT]
    imports = frozenset().union(*(effects_of(source).imports for source in (*given, *code)))
    imports = imports.union(*(one.effects.imports for one in own))
    settings = {place: settings_of(one.source, imports) for place, one in enumerate(own)}
    kept = _find_what_matters(own, [*code, *settings.values()], imports)
    others = {place: replace(own[place], source=source) for place, source in settings.items() if source}
    selected = dict(list(others.items())[:MOST_CELLS]) | {place: own[place] for place in kept}
    return [selected[place] for place in sorted(selected)]


def _find_what_matters(own: Sequence[OwnCode], code: Sequence[str], imports: frozenset[str]) -> set[int]:
    """Return the places of the cells that may leave something that some code uses, or that one of these uses."""
    changing = {name for source in code for name in effects_of(source).changing}
    used = {word for source in code for word in _WORD.findall(source[:LONGEST_PARSED])}
    kept: set[int] = set()
    before = -1
    while len(kept) > before:
        before = len(kept)
        # from below, since what a kept cell uses has to be kept, too; and again, since a cell below may change it
        for place in reversed(range(len(own))):
            effects = own[place].effects
            if place not in kept and len(kept) < MOST_CELLS and _matters(effects, used, imports, changing):
                kept.add(place)
                changing |= effects.changing
                used.update(_WORD.findall(own[place].source[:LONGEST_PARSED]))
    return kept


def _matters(effects: Effects, used: Collection[str], imports: frozenset[str], changing: Collection[str]) -> bool:
    """Return whether a cell may leave something that other code uses."""
    if ALL_NAMES in effects.binds or not effects.calls.isdisjoint(changing):
        return True
    # what is called of a library shows or sets something; its settings are kept apart
    return not (effects.binds | effects.stores | (effects.uses - imports)).isdisjoint(used)


def _locate(
    cells: Sequence[Cell], assignment: Assignment, chosen: Mapping[str, Cell], changed: Collection[int]
) -> list[OwnCode]:
    places = {part.grade_id: place for place, part in enumerate(assignment.parts)}
    taken = {cell.number: grade_id for grade_id, cell in chosen.items()}
    below = _first_below(cells, taken, places)
    found: list[OwnCode] = []
    here = 0
    seen: set[int] = set()
    for cell, first in zip(cells, below, strict=True):
        known = taken.get(cell.number) or next((one for one in (cell.grade_id, cell.cell_id) if one in places), None)
        moved_up = cell.kind == "code" and first < (here if known is None else places[known])
        # a check or a given cell is the exercise's own, wherever it stands
        moved_up &= known is None or cell.number in taken
        if moved_up and (known is None or _is_used_elsewhere(cell, chosen)):
            # tasks were put into another order: this stood above a task that the exercise has before it
            found.append(OwnCode(first, f"cell {cell.number}", cell.source))
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
            found.append(OwnCode(place, f"cell {cell.number}", source))
    return found


def _is_used_elsewhere(cell: Cell, chosen: Mapping[str, Cell]) -> bool:
    """Return whether a task's cell binds a name that another task's cell has."""
    others = (other.source for other in chosen.values() if other.number != cell.number)
    return any(not effects_of(cell.source).binds.isdisjoint(_WORD.findall(other)) for other in others)


def _first_below(cells: Sequence[Cell], taken: Mapping[int, str], places: Mapping[str, int]) -> list[int]:
    """Return for each cell the first place in the exercise of a task's cell that stands below it in the notebook."""
    first, found = len(places), []
    for cell in reversed(cells):
        found.append(first)
        if cell.number in taken:
            first = min(first, places[taken[cell.number]])
    return found[::-1]


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
    if source.strip() == given.strip():
        return ""
    tree, known = parse_cell(source), parse_cell(given)
    if tree is None or known is None:
        return ""
    there = {ast.dump(node) for node in known.body}
    added = [node for node in tree.body if ast.dump(node) not in there]
    if part.kind is Kind.CHECK:
        kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
        added = [node for node in added if isinstance(node, kinds)]
    return text_of(added)


def _notes_below(kept: Sequence[OwnCode], assignment: Assignment, chosen: Mapping[str, Cell]) -> list[str]:
    """Return notes about names that a task uses and only a cell below its check binds."""
    notes = []
    for check in assignment.checks:
        place = assignment.parts.index(check)
        ids = assignment.ids_for(check)
        used = {word for one in ids if one in chosen for word in _WORD.findall(chosen[one].source[:LONGEST_PARSED])}
        above = [code.effects.binds for code in kept if code.place <= place]
        above += [effects_of(cell.source).binds for cell in chosen.values()]
        above += [effects_of(part.source).binds for part in assignment.parts if part.kind is Kind.TOOLS]
        there = frozenset().union(*above)
        for code in kept:
            names = sorted(code.effects.binds & used - there)
            if code.place > place and names:
                listed = ", ".join(names[:MOST_NOTES])
                notes.append(
                    f"{code.label} binds {listed} below the task that uses it, so a run from top to bottom does not "
                    "have it yet; move it above"
                )
    return list(dict.fromkeys(notes))
