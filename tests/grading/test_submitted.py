"""What came as a zip lies in submitted/ afterwards, byte for byte, so that nbgrader's own commands find it."""

import zipfile

from support import two_tasks
from support.two_tasks import NAME, submitted_bytes

from course_utils.grading.reading.collect import collect, read_all
from course_utils.grading.reading.submitted import SubmittedFolder
from course_utils.sandbox.limits import Limits

ASSIGNMENT = two_tasks.assignment()
LIMITS = Limits(submission_bytes=100_000)


def collected(path, files):
    """Pack files and collect them."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return collect(path, ASSIGNMENT, LIMITS)


def put_into_submitted(root, rows):
    """Read what was collected, with a copy of each file in submitted/."""
    folder = SubmittedFolder(root, NAME)
    read_all(rows, ASSIGNMENT, LIMITS, folder.keep)
    return folder


def test_bytes_are_copied_under_nbgrader_s_names(tmp_path):
    """A renamed notebook and a broken one are copied as they are; who handed in a text file only has none."""
    work = submitted_bytes(two_tasks.SOLVED)
    files = {
        "Ada L_1_assignsubmission_file_/mine.ipynb": work,
        "Bob_2_assignsubmission_file_/x.ipynb": b"{oops",
        "Cy_3_assignsubmission_file_/notes.txt": b"hello",
    }
    folder = put_into_submitted(tmp_path, collected(tmp_path / "m.zip", files))

    found = {str(path.relative_to(tmp_path / "submitted")): path.read_bytes() for path in tmp_path.rglob("*.ipynb")}
    assert found == {f"Ada L/{NAME}/{NAME}.ipynb": work, f"Bob/{NAME}/{NAME}.ipynb": b"{oops"}
    assert (folder.written, folder.failure) == (2, "")


def test_what_is_too_large_is_not_copied(tmp_path):
    """A file above the limit is left where it is."""
    rows = collected(tmp_path / "m.zip", {"Ada_1_assignsubmission_file_/a.ipynb": b" " * (LIMITS.submission_bytes + 1)})

    assert put_into_submitted(tmp_path, rows).written == 0
    assert not list(tmp_path.rglob("*.ipynb"))


def test_link_in_the_way_is_not_followed(tmp_path):
    """A link in place of a student's folder is refused, and nothing is written behind it."""
    rows = collected(tmp_path / "m.zip", {"Ada_1_assignsubmission_file_/a.ipynb": b"{}"})
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "submitted").mkdir()
    (tmp_path / "submitted" / "Ada").symlink_to(tmp_path / "elsewhere")

    assert "'Ada' below" in put_into_submitted(tmp_path, rows).failure
    assert not list((tmp_path / "elsewhere").iterdir())
