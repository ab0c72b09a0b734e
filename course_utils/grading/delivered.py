"""What was delivered of a class, student by student, so that later commands can name what changed since.

graded/ASSIGNMENT/delivered/record.json holds the hash of each submission that was graded, the manual grades that the
pages and the report show, and what the learning platform said about the student.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from course_utils.grading.books.manual_grades import ManualGrade, ManualGrades
from course_utils.grading.result_files import write_below

FOLDER, FILE = "delivered", "record.json"


@dataclass(frozen=True)
class DeliveredStudent:
    """What was delivered of one student.

    Args:
        content: the hash of the student's work.
        manual: what a person had entered by then, by grade_id.
        late: when it was handed in and when it was due, one sentence; empty when it was in time or that is not known.
        canvas_id: Canvas's number of the student; empty where the class did not come from Canvas.
    """

    content: str
    manual: ManualGrades = field(default_factory=dict)
    late: str = ""
    canvas_id: str = ""


@dataclass(frozen=True)
class Delivered:
    """What was delivered of a class.

    Args:
        gradebook: the gradebook's address without its password; empty where none was written.
        moodle: whether the class came as Moodle's zip, which has neither logins nor Canvas's numbers.
        students: by their ids.
    """

    gradebook: str = ""
    moodle: bool = False
    students: Mapping[str, DeliveredStudent] = field(default_factory=dict)

    def content_changed(self, student: str, content: str) -> bool:
        """Return whether a student's submission was another one at the delivery before."""
        before = self.students.get(student)
        return before is not None and before.content != content


def load_delivered(folder: Path) -> Delivered:
    """Read the record of an exercise; an empty one where there is none that can be read."""
    try:
        content: dict[str, Any] = json.loads((folder / FOLDER / FILE).read_text(encoding="utf-8"))
        students = {name: _read_student(one) for name, one in content["students"].items()}
        return Delivered(content["gradebook"], content["moodle"], students)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Delivered()


def _read_student(content: dict[str, Any]) -> DeliveredStudent:
    manual = {cell: ManualGrade(**grade) for cell, grade in content.pop("manual").items()}
    return DeliveredStudent(manual=manual, **content)


def store_delivered(folder: Path, delivered: Delivered) -> None:
    """Write the record of an exercise."""
    data = json.dumps(asdict(delivered), indent=1).encode("utf-8", "backslashreplace")
    write_below(folder, (FOLDER, FILE), data)
