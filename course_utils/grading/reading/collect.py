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
from course_utils.grading.reading.submission import Submission, count_cells, read_submission
from course_utils.grading.result import NOT_GRADED, Reason
from course_utils.sandbox.limits import Limits

_WRAPPERS = ("submitted", "submissions")
_EXERCISE = re.compile(r"\d\d_")
MOST_CANDIDATES = 20
NOBODY = Owner("")
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
        submitted_s: when it was handed in, as a learning platform's zip has it, seconds since 1970; 0 where not known.
        owner: the student as the source names them.
        several: whether another notebook of the student was left out that the student has worked on too, or that has
            the exercise's name.
    """

    student: str
    filename: str = ""
    file: HandedIn | None = None
    reason: Reason | None = None
    problem: str = ""
    notes: tuple[str, ...] = ()
    handed_in: str = ""
    submitted_s: float = 0.0
    owner: Owner = NOBODY
    several: bool = False


@dataclass(frozen=True)
class _Candidate:
    file: HandedIn
    owned: OwnedFile
    time_s: float  # of the file that the platform got, also where that is a zip


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
            by_owner.setdefault(owned.owner, []).append(_Candidate(file, owned, file.modified_s))
    hidden: dict[Owner, list[str]] = {}
    for parts in listing.hidden:
        owned = owner_of(parts, assignment.name) if len(parts) > 1 else None
        if owned is not None:
            hidden.setdefault(owned.owner, []).append(parts[-1])
    ids = make_ids(by_owner)
    rows = [
        replace(_row(ids[owner], candidates, assignment, limits, hidden.get(owner, ())), owner=owner)
        for owner, candidates in by_owner.items()
    ]
    if path.is_dir():  # when a file was unpacked is not when it was handed in
        rows = [replace(row, submitted_s=0.0) for row in rows]
    rows = [_with_name_note(row) for row in rows]
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
    folders, hidden = (
        tuple(parts[1:] for parts in paths if len(parts) > 1) for paths in (listing.folders, listing.hidden)
    )
    return _without_wrapper(Listing(files, folders, hidden), names)


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


def _with_name_note(row: Collected) -> Collected:
    plain_id = make_ids([row.owner])[row.owner]
    if row.student == plain_id:
        return row
    return replace(row, notes=(f"somebody else is called {plain_id} too, so the id is {row.student}", *row.notes))


def _row(
    student: str, candidates: Sequence[_Candidate], assignment: Assignment, limits: Limits, hidden: Sequence[str]
) -> Collected:
    """Choose the notebook of one student."""
    notes = []
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
        elif hidden:
            problem = f"only hidden files were handed in ({', '.join(hidden[:3])}); hand in the .ipynb file itself"
            if any(name.endswith(".icloud") for name in hidden):
                problem += ", which iCloud has to download first"
        return Collected(student, "", None, Reason.MISSING, _printable(problem), tuple(notes))
    chosen, why, several = _choose(notebooks, assignment, limits)
    notes += [_printable(f"{len(notebooks)} notebooks were handed in; {why}")] if why else []
    notes += [_printable(refusal) for refusal in refusals[:3]]
    handed_in = _read_timestamp(opened, chosen)
    return Collected(
        student,
        chosen.owned.filename,
        chosen.file,
        notes=tuple(notes),
        handed_in=handed_in,
        submitted_s=chosen.time_s,
        several=several,
    )


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
        opened += [
            _Candidate(file, replace(candidate.owned, filename=file.parts[-1]), candidate.time_s)
            for file in inside.files
        ]
    return opened, refusals


def _choose(notebooks: list[_Candidate], assignment: Assignment, limits: Limits) -> tuple[_Candidate, str, bool]:
    """Choose the notebook that counts where there are several.

    One in which something was written comes before an untouched copy, what was handed in later before what was handed
    in earlier, then the exercise's name, then the most cells that were written, then the newest.

    Returns:
        The notebook, why it counts (empty where there is one alone), and whether another could have been meant.
    """
    if len(notebooks) == 1:
        return notebooks[0], "", False
    looked_at = [(one, _look_at(one, assignment, limits)) for one in notebooks[:MOST_CANDIDATES]]
    most_cells = max(look.known for _, look in looked_at)
    named = {one.file.parts for one, _ in looked_at if one.owned.filename == f"{assignment.name}.ipynb"}

    def rank(pair: tuple[_Candidate, _Look]) -> tuple[object, ...]:
        one, look = pair
        fits = look.known == most_cells > 0
        name = one.file.parts in named
        return (
            look.written > 0,
            one.owned.again,
            name,
            fits,
            look.written,
            one.file.modified_s,
            one.file.parts,
        )

    chosen, look = max(looked_at, key=rank)
    others = [pair for pair in looked_at if pair[0] is not chosen]
    written = [one for one, other in others if other.written]
    several = bool(look.written and (written or (named and chosen.file.parts not in named)))
    if chosen.file.parts in named and len(named) == 1:
        why = "has the exercise's name"
    elif look.written and not written:
        why = "is the only one in which something was written"
    elif look.known and not any(other.known for _, other in others):
        why = "has the exercise's cells"
    else:
        fitting = sum(other.known > 0 for _, other in looked_at)
        why = f"is the newest of {fitting} that fit" if fitting > 1 else "is the newest"
    name = "/".join(chosen.file.parts[1:]) or chosen.file.parts[0]
    return chosen, f"{name} counts, which {why}", several


@dataclass(frozen=True)
class _Look:
    """How many of the exercise's cells a file has, and in how many something was written."""

    known: int = 0
    written: int = 0


def _look_at(candidate: _Candidate, assignment: Assignment, limits: Limits) -> _Look:
    try:
        data = candidate.file.read(limits.submission_bytes)
    except CannotReadError:
        return _Look()
    return _Look(*count_cells(data, assignment, limits))


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
    reason, problem, code = row.reason, row.problem, Submission(row.student, {}, assignment.student_ids)
    if row.file is not None:
        try:
            data = row.file.read(limits.submission_bytes)
        except CannotReadError as error:
            reason, problem = Reason.UNREADABLE, str(error)
        else:
            if keep is not None:
                keep(row.student, data)
            code = read_submission(
                data, student=row.student, filename=row.filename, assignment=assignment, limits=limits
            )
            reason, problem = code.reason, code.problem
            if row.several and reason not in NOT_GRADED:
                reason = Reason.DUPLICATE
    return replace(
        code,
        notes=row.notes + code.notes,
        reason=reason,
        problem=problem,
        handed_in=row.handed_in,
        submitted_s=row.submitted_s,
        feedback_folder=feedback_folder(row.owner),
        canvas_id=row.owner.number if row.owner.lasting else "",
    )


__all__ = ["CollectError", "Collected", "collect", "read_all"]
