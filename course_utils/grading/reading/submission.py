"""Take from a submitted notebook what is the student's: the code of the solution cells, by grade id.

Everything else in the file is the instructor's and is taken from the instructor's notebook, so it does not matter what
became of it here: tags, metadata, kernels, edited, moved or deleted checks, outputs. What the student added elsewhere,
the tasks' code may use: `own_cells` finds it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

from course_utils.exercises.markers import Marker, replace_regions
from course_utils.exercises.notebook import Cell
from course_utils.grading.assignment import Assignment, Kind, Part, bound_names, defined_names
from course_utils.grading.reading.cell_effects import readable_text
from course_utils.grading.reading.notebook_bytes import NotANotebookError, read_submitted_cells
from course_utils.grading.reading.own_cells import find_own_code
from course_utils.grading.result import Reason, weightiest
from course_utils.sandbox.limits import Limits

# what `nbgrader generate_assignment` leaves of a solution; the stub is nbgrader_config.py's
STUB = "# YOUR CODE HERE"
_CONFLICT = re.compile(r"^(?:<{7}|={7}|>{7})(?=[ \n]|$)", re.MULTILINE)
# cells: what a person writes; parsing takes seconds a megabyte
MOST_PARSED = 50
MOST_LISTED = 5


@dataclass(frozen=True)
class Submission:
    """What one student handed in, read and parsed once.

    Args:
        student: the student's id.
        code: grade id -> the text of the student's cell, for the cells that were found, in the exercise's order.
        missing: grade ids of the exercise's cells that were not found.
        notes: what was noticed, one sentence each.
        reason: unreadable or missing when there is nothing to grade; renamed or duplicate when it is graded
            all the same; None when all is in order.
        problem: one sentence for the student when there is nothing to grade; else empty.
        handed_in: the text of nbgrader's timestamp.txt beside the notebook; empty when there is none.
        submitted_s: when it was handed in, as a learning platform's zip has it, seconds since 1970; 0 where not known.
        feedback_folder: the folder in which Moodle takes a feedback file for the student; empty elsewhere.
        canvas_id: Canvas's number of the student; empty elsewhere.
        untouched: grade ids of the cells that are as they were handed out.
        own: grade id of a part of the exercise -> pairs of label and code of the student's own that run before it.
    """

    student: str
    code: dict[str, str]
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    reason: Reason | None = None
    problem: str = ""
    handed_in: str = ""
    submitted_s: float = 0.0
    feedback_folder: str = ""
    canvas_id: str = ""
    untouched: tuple[str, ...] = ()
    own: dict[str, list[list[str]]] = field(default_factory=dict)

    @property
    def work_digest(self) -> str:
        """The hash of the student's work: what was noticed beside it, such as the file's name, does not count."""
        work = {name: self.graded_content()[name] for name in ("code", "missing", "own")}
        return hashlib.sha256(json.dumps(work, sort_keys=True).encode()).hexdigest()

    def graded_content(self) -> dict[str, Any]:
        """Return all that decides the result, as plain data; whose submission it is does not."""
        return {
            "code": self.code,
            "missing": list(self.missing),
            "notes": list(self.notes),
            "reason": self.reason,
            "problem": self.problem,
            "untouched": list(self.untouched),
            "own": self.own,
        }

    def to_json(self) -> str:
        """Return what a worker needs, as one line of JSON."""
        return json.dumps({"student": self.student, **self.graded_content()})


def submission_from(text: str) -> Submission:
    """Read what `Submission.to_json` wrote."""
    content = json.loads(text)
    reason = content.pop("reason")
    for name in ("missing", "notes", "untouched"):
        content[name] = tuple(content[name])
    return Submission(reason=None if reason is None else Reason(reason), **content)


@dataclass(frozen=True)
class _Choice:
    """The cell that counts for one grade id; None when no cell of code fits."""

    cell: Cell | None
    notes: tuple[str, ...] = ()
    duplicate: bool = False


def read_submission(data: bytes, *, student: str, filename: str, assignment: Assignment, limits: Limits) -> Submission:
    """Take from a submitted notebook what is the student's. Never raises, whatever the bytes are.

    Args:
        data: the submitted file.
        student: the student's id.
        filename: the file's name, without what a learning platform put before it.
        assignment: the exercise.
        limits: `submission_bytes` is the size above which nothing is read.

    Returns:
        The student's code, or why there is none.
    """
    try:
        cells, notes = read_submitted_cells(data, limit_bytes=limits.submission_bytes)
    except NotANotebookError as error:
        return Submission(student, {}, assignment.student_ids, (), Reason.UNREADABLE, str(error))
    parts = [part for part in assignment.parts if part.kind is Kind.STUDENT]
    choices = {part.grade_id: _choose(part, cells, assignment) for part in parts}
    code = {grade_id: choice.cell.source for grade_id, choice in choices.items() if choice.cell is not None}
    missing = tuple(grade_id for grade_id in choices if grade_id not in code)
    if not code:
        problem = _why_nothing(cells, choices, filename, assignment)
        return Submission(student, {}, missing, notes, Reason.MISSING, problem)
    notes += tuple(note for choice in choices.values() for note in choice.notes)
    chosen = {grade_id: choice.cell for grade_id, choice in choices.items() if choice.cell is not None}
    written = {cell.number for part in parts for cell in cells if _is_of(cell, part) and _is_changed(cell, part)}
    own, own_notes = find_own_code(cells, assignment, chosen, written)
    notes += tuple(_conflict_notes(choices)) + own_notes
    reasons = [Reason.DUPLICATE] if any(choice.duplicate for choice in choices.values()) else []
    if PurePosixPath(filename).name != f"{assignment.name}.ipynb":
        reasons.append(Reason.RENAMED)
        notes = (f"the file is called {_printable(filename)}; its cells are those of {assignment.name}", *notes)
    untouched = tuple(
        part.grade_id
        for part in parts
        if (cell := choices[part.grade_id].cell) is not None and not _is_changed(cell, part)
    )
    if len(untouched) == len(code):
        notes = ("the notebook is as it was handed out; nothing was written in it", *notes)
    reason = weightiest(reasons) if reasons else None
    return Submission(student, code, missing, notes, reason, untouched=untouched, own=own)


def _is_of(cell: Cell, part: Part) -> bool:
    return cell.kind == "code" and cell.grade_id == part.grade_id


def starter_of(source: str) -> str:
    """Return what students were given of a solution cell: nbgrader's stub in place of the solution."""
    return replace_regions(source, {Marker.SOLUTION: STUB})


def count_cells(data: bytes, assignment: Assignment, limits: Limits) -> tuple[int, int]:
    """Count the cells of a file that carry one of the exercise's ids, and the student's in which something was written.

    Returns:
        Both numbers; 0 for what is not a notebook.
    """
    try:
        cells, _ = read_submitted_cells(data, limit_bytes=limits.submission_bytes)
    except NotANotebookError:
        return 0, 0
    known = {part.grade_id for part in assignment.parts}
    parts = [part for part in assignment.parts if part.kind is Kind.STUDENT]
    choices = [(part, _choose(part, cells, assignment).cell) for part in parts]
    written = sum(cell is not None and _is_changed(cell, part) for part, cell in choices)
    return sum(cell.grade_id in known or cell.cell_id in known for cell in cells), written


def _choose(part: Part, cells: Sequence[Cell], assignment: Assignment) -> _Choice:
    """Choose the cell that counts: by grade id, then by cell id, then by what it defines; the last changed copy.

    A copy above the task's check comes before one below it, which a run from top to bottom does not have yet.
    """
    marked = [cell for cell in cells if cell.grade_id == part.grade_id]
    copies = [cell for cell in marked if cell.kind == "code"]
    changed = [cell for cell in copies if _is_changed(cell, part)]
    check = check_number(part, cells, assignment)
    if changed:
        return _last(part, copies, _last_above(changed, check), check)
    unmarked = _find_unmarked(part, cells, assignment)
    if unmarked is not None and (_is_changed(unmarked, part) or not copies):
        how = "is still as it was handed out" if copies else "is not there or lost its id"
        note = f"{part.grade_id} {how}; cell {unmarked.number}, which defines the same, was taken for it"
        return _Choice(unmarked, (note,))
    if copies:
        return _last(part, copies, copies[-1], check)
    if marked:
        last = marked[-1]
        note = f"cell {last.number} ({part.grade_id}) is a {_printable(last.kind)} cell, so its code does not run"
        return _Choice(None, (f"{note}; make it a code cell again",))
    return _Choice(None, (f"{part.grade_id} is not in the notebook",))


def check_number(part: Part, cells: Sequence[Cell], assignment: Assignment) -> int | None:
    """Return the number of the submitted cell that checks a part; None where the notebook has none."""
    checks = {check.grade_id for check in assignment.checks if part.grade_id in assignment.ids_for(check)}
    return next((cell.number for cell in cells if cell.grade_id in checks or cell.cell_id in checks), None)


def _last_above(cells: Sequence[Cell], check: int | None) -> Cell:
    """Return the last cell above a check, or the last one where none is."""
    above = [cell for cell in cells if check is None or cell.number < check]
    return (above or cells)[-1]


def _last(part: Part, copies: Sequence[Cell], counts: Cell, check: int | None) -> _Choice:
    if len(copies) == 1:
        return _Choice(counts)
    numbers = [str(cell.number) for cell in copies]
    listed = f"{', '.join(numbers[:-1][:MOST_LISTED])}{', ...' * (len(numbers) > MOST_LISTED + 1)} and {numbers[-1]}"
    which = "the last that was changed" if _is_changed(counts, part) else "and none was changed"
    which += " above its check" if check is not None and counts.number < check < copies[-1].number else ""
    note = f"{part.grade_id} is there {len(copies)} times (cells {listed}); cell {counts.number} counts, {which}"
    return _Choice(counts, (note,), duplicate=True)


def _is_changed(cell: Cell, part: Part) -> bool:
    """Return whether the student wrote something: the cell is neither empty nor as it was handed out."""
    return _squeeze(cell.source) not in ("", _squeeze(starter_of(part.source)))


def _squeeze(source: str) -> str:
    return "\n".join(line.rstrip() for line in source.strip().splitlines() if line.strip())


def _find_unmarked(part: Part, cells: Sequence[Cell], assignment: Assignment) -> Cell | None:
    """Find a cell that lost its nbgrader id, or was written anew, and defines what the solution defines."""
    known = {other.grade_id for other in assignment.parts}
    given = {_squeeze(other.source) for other in assignment.parts if other.kind is not Kind.STUDENT}
    free = [cell for cell in cells if cell.kind == "code" and cell.grade_id not in known][-MOST_PARSED:]
    same_id = [cell for cell in free if cell.cell_id == part.grade_id]
    if same_id:
        return same_id[-1]
    wanted, written_names = bound_names(part.source), defined_names(part.source)
    fitting = [
        cell
        for cell in free
        if wanted
        and cell.cell_id not in known
        and wanted <= _defines(cell.source)
        and _squeeze(cell.source) not in given
    ]
    changed = [cell for cell in fitting if _is_changed(cell, part)] or fitting
    # a cell with the `def` comes before one that binds the name later, such as move = lru_cache(move)
    defining = [cell for cell in changed if written_names <= _defines_by_statement(cell.source)] or changed
    return _last_above(defining, check_number(part, cells, assignment)) if defining else None


@lru_cache(maxsize=64)
def _defines(source: str) -> frozenset[str]:
    """Return the names that a student's cell binds; none when it does not parse, or is too long to be typed."""
    return _names_in(source, bound_names)


@lru_cache(maxsize=64)
def _defines_by_statement(source: str) -> frozenset[str]:
    """Return the names of the functions and classes that a student's cell defines; none when it does not parse."""
    return _names_in(source, defined_names)


def _names_in(source: str, find: Callable[[str], frozenset[str]]) -> frozenset[str]:
    return find(readable_text(source))


def _conflict_notes(choices: dict[str, _Choice]) -> list[str]:
    notes = []
    for grade_id, choice in choices.items():
        mark = _CONFLICT.search(choice.cell.source) if choice.cell is not None else None
        if choice.cell is not None and mark is not None:
            line = choice.cell.source.count("\n", 0, mark.start()) + 1
            note = f"line {line} of cell {choice.cell.number} ({grade_id}) is a merge-conflict mark ({mark.group()})"
            notes.append(f"{note}; keep one version of what stands between the marks")
    return notes


def _why_nothing(cells: Sequence[Cell], choices: dict[str, _Choice], filename: str, assignment: Assignment) -> str:
    handed_in = "the notebook" if filename == f"{assignment.name}.ipynb" else _printable(filename)
    if not cells:
        return f"{handed_in} has no cells; hand in the notebook of {assignment.name}"
    known = {part.grade_id for part in assignment.parts}
    if not any(cell.grade_id in known or cell.cell_id in known for cell in cells):
        return f"{handed_in} has none of the cells of {assignment.name}; is it the right one?"
    return "; ".join(note for choice in choices.values() for note in choice.notes)


def _printable(text: str) -> str:
    """Return a student's text so that it cannot steer a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)[:100]
