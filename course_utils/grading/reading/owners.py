"""Map submitted file and folder names to student ids, as nbgrader, Moodle, Canvas and people name them.

Two different people never share an id, also not on a disk that ignores case, such as a Mac's.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

# Moodle, "Download all submissions", with or without folders: NAME_NUMBER_assignsubmission_file_. The number is the
# participant's in this assignment, another one in the next.
_MOODLE = re.compile(r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_[a-z]+_?(?P<file>.*)", re.DOTALL)
# Canvas, "Download Submissions": lastfirst_LATE_USER_SUBMISSION_file-1.ipynb, where -1 counts handing in again.
_CANVAS = re.compile(r"(?P<name>[^_]+)(?P<late>_LATE)?_(?P<number>\d+)_\d+_(?P<file>.+)", re.DOTALL)
_AGAIN = re.compile(r"-(\d+)(?=\.[^.]+$)")
_NOTEBOOK = re.compile(r"\.ipynb(\.txt|\.json)?$", re.IGNORECASE)
# nbgrader's gradebook has columns of 128 characters; what tells two people of one name apart is added to an id
LONGEST_ID_BYTES = 100


@dataclass(frozen=True, order=True)
class Owner:
    """One student as the source names them.

    Args:
        name: the name, such as a folder's.
        number: what tells people of the same name apart, where the source has it.
        lasting: whether the number is the same in every assignment, so that it belongs into the id.
    """

    name: str
    number: str = ""
    lasting: bool = False


@dataclass(frozen=True)
class OwnedFile:
    """A file and the student whose it is.

    Args:
        owner: whose it is.
        filename: its name as the student gave it.
        again: how often the student handed in before this; 0 where that is not known.
        late: whether the platform marks it as late.
    """

    owner: Owner
    filename: str
    again: int = 0
    late: bool = False


def is_notebook(filename: str) -> bool:
    """Return whether a name is a notebook's; browsers add .txt or .json to it."""
    return _NOTEBOOK.search(filename) is not None


def is_zip(filename: str) -> bool:
    """Return whether a name is a zip's."""
    return filename.lower().endswith(".zip")


def owner_of(parts: tuple[str, ...], assignment: str) -> OwnedFile | None:
    """Return whose a file or an empty folder is, by the names that lead to it.

    Args:
        parts: the names of its folders and its own.
        assignment: the exercise's name.

    Returns:
        The file and its owner; None for a file beside the submissions, such as a README.
    """
    first, filename = parts[0], parts[-1]
    alone = len(parts) == 1
    moodle = _MOODLE.fullmatch(first)
    if moodle is not None:
        return OwnedFile(Owner(moodle["name"], moodle["number"]), moodle["file"] if alone else filename)
    if not alone:
        return OwnedFile(Owner(first), filename)
    canvas = _CANVAS.fullmatch(first)
    if canvas is not None:
        owner = Owner(canvas["name"], canvas["number"], lasting=True)
        again = _AGAIN.search(canvas["file"])
        times = int(again[1][:9]) if again is not None else 0
        return OwnedFile(owner, _AGAIN.sub("", canvas["file"]), times, late=canvas["late"] is not None)
    if is_zip(first) or is_notebook(first):
        stem = _NOTEBOOK.sub("", first[:-4] if is_zip(first) else first)
        rest = re.sub(rf"[ _-]*{re.escape(assignment)}[ _-]*", "", stem)
        # the file is called after the student, so the exercise's name is not to be expected in it
        return OwnedFile(Owner(rest or stem), f"{assignment}.ipynb")
    return None


def feedback_folder(owner: Owner) -> str:
    """Return the folder in which Moodle takes a feedback file for a student; empty for who is not Moodle's.

    As "Upload multiple feedback files in a zip" reads it (moodle, mod/assign/feedback/file/importziplib.php, read in
    2026): NAME_NUMBER_assignsubmission_file_, the number being the participant's.
    """
    if not owner.number or owner.lasting:
        return ""
    return f"{owner.name}_{owner.number}_assignsubmission_file_"


def make_ids(owners: Iterable[Owner]) -> dict[Owner, str]:
    """Give each owner an id that is a file name too.

    The same owner among others gets the same id, except where two would share one: then each of them gets a longer one,
    so that nobody ever has an id that was somebody else's.
    """
    ids = {owner: safe_id(f"{owner.name}_{owner.number}" if owner.lasting else owner.name) for owner in owners}
    for longer in (lambda owner: owner.number or _short_hash(owner), _short_hash):
        groups: dict[str, list[Owner]] = {}
        for owner, student in ids.items():
            groups.setdefault(_fold(student), []).append(owner)
        for group in groups.values():
            if len(group) > 1:
                ids |= {owner: _fit(f"{ids[owner]}_{longer(owner)}", owner) for owner in group}
    return ids


def safe_id(name: str) -> str:
    """Turn a name into an id that can be a file's name and cannot steer a terminal."""
    text = unicodedata.normalize("NFC", name)
    clean = "".join(letter if letter.isprintable() and letter not in '/\\:"<>|*?' else "_" for letter in text)
    clean = clean.strip(" .") or "_"
    return _fit(clean, Owner(name))


def _fit(student: str, owner: Owner) -> str:
    """Return an id of at most `LONGEST_ID_BYTES` and a hash."""
    if len(student.encode()) <= LONGEST_ID_BYTES:
        return student
    return student.encode()[:LONGEST_ID_BYTES].decode(errors="ignore") + "_" + _short_hash(owner)


def _fold(student: str) -> str:
    """Return what a disk that ignores case and the spelling of accents makes of an id."""
    return unicodedata.normalize("NFC", student.casefold())


def _short_hash(owner: Owner) -> str:
    key = f"{owner.name}\0{owner.number}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(key).hexdigest()[:8]
