"""Find what each student handed in: nbgrader's tree, a folder of notebooks or of folders, a learning platform's zip.

`collect` finds the files, `read_all` reads and parses each of them once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from course_utils.grading.assignment import Assignment
from course_utils.grading.reading.handed_in import (
    CannotReadError,
    CollectError,
    HandedIn,
    Listing,
    list_path,
    list_zip_inside,
)
from course_utils.grading.reading.owners import (
    OwnedFile,
    Owner,
    feedback_folder,
    is_notebook,
    is_zip,
    make_ids,
    owner_of,
)
from course_utils.grading.reading.submission import Submission, count_known_cells, read_submission
from course_utils.grading.result import Reason
from course_utils.sandbox.limits import Limits

_WRAPPERS = ("submitted", "submissions")
_EXERCISE = re.compile(r"\d\d_")
MOST_CANDIDATES = 20
LONGEST_TIMESTAMP_BYTES = 100


@dataclass(frozen=True)
class Collected:
    """What one student handed in, or why there is nothing.

    Args:
        student: the student's id.
        filename: the notebook's name as the student gave it; empty when there is none.
        file: the notebook; None when there is none.
        reason: missing or unreadable when there is no notebook.
        problem: one sentence for the student when there is no notebook.
        notes: what was noticed, one sentence each.
        handed_in: the text of nbgrader's timestamp.txt beside the notebook; empty when there is none.
        feedback_folder: the folder in which Moodle takes a feedback file for the student; empty elsewhere.
    """

    student: str
    filename: str = ""
    file: HandedIn | None = None
    reason: Reason | None = None
    problem: str = ""
    notes: tuple[str, ...] = ()
    handed_in: str = ""
    feedback_folder: str = ""


@dataclass(frozen=True)
class _Candidate:
    file: HandedIn
    owned: OwnedFile


def collect(path: Path, assignment: Assignment, limits: Limits) -> tuple[Collected, ...]:
    """Find what each student handed in.

    Args:
        path: a folder, a zip or a notebook.
        assignment: the exercise.
        limits: `submission_bytes` bounds what is read of one file.

    Returns:
        One for each student, in the order of their ids.

    Raises:
        CollectError: when the folder or zip cannot be taken as a whole; one sentence.
    """
    listing = list_path(path)
    # a Mac packs the folder "class" into class.zip as class/...
    several = sum(_is_work(file.parts[-1]) for file in listing.files) > 1
    packed = (path.stem,) if several and not path.is_dir() else ()
    listing = _without_wrapper(listing, (*_WRAPPERS, assignment.name, *packed))
    by_owner: dict[Owner, list[_Candidate]] = {}
    for folder in listing.folders:
        owned = owner_of((*folder, ""), assignment.name)
        if owned is not None:
            by_owner.setdefault(owned.owner, [])
    for file in _of_assignment(listing.files, assignment.name):
        owned = owner_of(file.parts, assignment.name)
        if owned is None and file.refused and "." not in file.parts[0]:
            owned = OwnedFile(Owner(file.parts[0]), file.parts[0])  # a link in place of a student's folder
        if owned is not None:
            by_owner.setdefault(owned.owner, []).append(_Candidate(file, owned))
    ids = make_ids(by_owner)
    rows = [
        replace(_row(ids[owner], owner, candidates, assignment, limits), feedback_folder=feedback_folder(owner))
        for owner, candidates in by_owner.items()
    ]
    return tuple(sorted(rows, key=lambda row: row.student))


def _without_wrapper(listing: Listing, names: Sequence[str]) -> Listing:
    """Leave out a folder that holds all students, such as the one that a zip program puts around them.

    Args:
        listing: what is there.
        names: names that such a folder has.
    """
    tops = {file.parts[0] for file in listing.files} | {folder[0] for folder in listing.folders}
    if len(tops) != 1 or any(len(file.parts) == 1 for file in listing.files):
        return listing
    (top,) = tops
    inner = {folder[1] for folder in listing.folders if len(folder) > 1}
    with_work = {file.parts[1] for file in listing.files if len(file.parts) > 2 and _is_work(file.parts[-1])}
    is_student = owner_of((top, ""), "") != _plain(top) or any(map(_EXERCISE.match, inner))
    holds_students = len(with_work) > 1 and not any(len(file.parts) == 2 for file in listing.files)
    if top not in names and (is_student or not holds_students):
        return listing
    files = tuple(replace(file, parts=file.parts[1:]) for file in listing.files)
    return _without_wrapper(Listing(files, tuple(folder[1:] for folder in listing.folders if len(folder) > 1)), names)


def _is_work(filename: str) -> bool:
    return is_notebook(filename) or is_zip(filename)


def _plain(folder: str) -> OwnedFile:
    """Return the owner of a folder that no learning platform named."""
    return OwnedFile(Owner(folder), "")


def _of_assignment(files: Sequence[HandedIn], assignment: str) -> list[HandedIn]:
    """Leave out what is another exercise's in nbgrader's tree, STUDENT/ASSIGNMENT/FILE."""
    in_tree = {file.parts[0] for file in files if len(file.parts) > 2 and file.parts[1] == assignment}
    return [
        file
        for file in files
        if len(file.parts) < 3
        or file.parts[1] == assignment
        or not (file.parts[0] in in_tree or _EXERCISE.match(file.parts[1]))
    ]


def _row(
    student: str, owner: Owner, candidates: Sequence[_Candidate], assignment: Assignment, limits: Limits
) -> Collected:
    """Choose the notebook of one student."""
    notes = []
    plain_id = make_ids([owner])[owner]
    if student != plain_id:
        notes.append(f"somebody else is called {plain_id} too, so the id is {student}")
    if any(candidate.owned.late for candidate in candidates):
        notes.append("the learning platform marks it as late")
    opened, refusals = _open_zips(candidates, limits)
    refusals += [f"{one.file.parts[-1]} {one.file.refused}" for one in opened if one.file.refused]
    notebooks = [one for one in opened if is_notebook(one.file.parts[-1]) and not one.file.refused]
    if not notebooks:
        if refusals:
            return Collected(student, "", None, Reason.UNREADABLE, "; ".join(refusals[:3]), tuple(notes))
        others = sorted({one.owned.filename for one in opened})
        problem = "nothing was handed in"
        if others:
            problem = f"no notebook was handed in, only {', '.join(others[:3])}; hand in the .ipynb file"
        return Collected(student, "", None, Reason.MISSING, _printable(problem), tuple(notes))
    chosen, why = _choose(notebooks, assignment, limits)
    notes += [_printable(f"{len(notebooks)} notebooks were handed in; {why}")] if why else []
    notes += [_printable(refusal) for refusal in refusals[:3]]
    handed_in = _read_timestamp(opened, chosen)
    return Collected(student, chosen.owned.filename, chosen.file, notes=tuple(notes), handed_in=handed_in)


def _open_zips(candidates: Sequence[_Candidate], limits: Limits) -> tuple[list[_Candidate], list[str]]:
    """List the files inside a student's own zips, one level deep, beside the others."""
    opened: list[_Candidate] = []
    refusals: list[str] = []
    for candidate in candidates:
        if not is_zip(candidate.file.parts[-1]) or candidate.file.refused:
            opened.append(candidate)
            continue
        try:
            inside = list_zip_inside(candidate.file, limits.submission_bytes)
        except CannotReadError as error:
            refusals.append(str(error))
            continue
        opened += [_Candidate(file, replace(candidate.owned, filename=file.parts[-1])) for file in inside.files]
    return opened, refusals


def _choose(notebooks: list[_Candidate], assignment: Assignment, limits: Limits) -> tuple[_Candidate, str]:
    """Choose the notebook that counts, and say why where there are several."""
    if len(notebooks) == 1:
        return notebooks[0], ""
    fitting = [one for one in notebooks if one.owned.filename == f"{assignment.name}.ipynb"]
    why = "has the exercise's name"
    if not fitting:
        counts = [_known_cells(one, assignment, limits) for one in notebooks[:MOST_CANDIDATES]]
        fitting = [one for one, count in zip(notebooks, counts, strict=False) if count and count == max(counts)]
        why = "has the exercise's cells"
    newest = max(fitting or notebooks, key=lambda one: (one.owned.again, one.file.modified_s, one.file.parts))
    if len(fitting) != 1:
        why = f"is the newest of {len(fitting)} that fit" if fitting else "is the newest"
    return newest, f"{'/'.join(newest.file.parts[1:]) or newest.file.parts[0]} counts, which {why}"


def _known_cells(candidate: _Candidate, assignment: Assignment, limits: Limits) -> int:
    try:
        data = candidate.file.read(limits.submission_bytes)
    except CannotReadError:
        return 0
    return count_known_cells(data, assignment, limits)


def _read_timestamp(candidates: Sequence[_Candidate], chosen: _Candidate) -> str:
    """Read nbgrader's timestamp.txt beside a notebook; the student could write it, so it is a claim."""
    place = (*chosen.file.parts[:-1], "timestamp.txt")
    for candidate in candidates:
        if candidate.file.parts == place:
            with suppress(CannotReadError, UnicodeDecodeError):
                return candidate.file.read(LONGEST_TIMESTAMP_BYTES).decode().strip()
    return ""


def _printable(text: str) -> str:
    """Return a sentence with students' file names in it so that it cannot steer a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)[:400]


def read_all(
    rows: Sequence[Collected],
    assignment: Assignment,
    limits: Limits,
    keep: Callable[[str, bytes], None] | None = None,
) -> tuple[Submission, ...]:
    """Read and parse what was collected, each file once.

    Args:
        rows: one for each student.
        assignment: the exercise.
        limits: `submission_bytes` bounds what is read of one file.
        keep: gets each student's id and file as it was handed in.

    Returns:
        One submission for each row.
    """
    return tuple(_read(row, assignment, limits, keep) for row in rows)


def _read(
    row: Collected, assignment: Assignment, limits: Limits, keep: Callable[[str, bytes], None] | None
) -> Submission:
    reason, problem = row.reason, row.problem
    if row.file is not None:
        try:
            data = row.file.read(limits.submission_bytes)
        except CannotReadError as error:
            reason, problem = Reason.UNREADABLE, str(error)
        else:
            if keep is not None:
                keep(row.student, data)
            found = read_submission(
                data, student=row.student, filename=row.filename, assignment=assignment, limits=limits
            )
            notes = row.notes + found.notes
            return replace(found, notes=notes, handed_in=row.handed_in, feedback_folder=row.feedback_folder)
    return Submission(
        row.student, {}, assignment.student_ids, row.notes, reason, problem, row.handed_in, row.feedback_folder
    )


__all__ = ["CollectError", "Collected", "collect", "read_all"]
