"""A notebook that ran with a newer Python than the one here is told so where a cell does not parse, and only there."""

import json
import sys

import pytest
from support import two_tasks
from support.submissions import released_notebook

from course_utils.cli.check import find_doubts
from course_utils.exercises.newer_python import about_newer_python, python_of, unread_cells
from course_utils.exercises.notebook import Cell, read_cells
from course_utils.grading.reading.submission import read_submission
from course_utils.sandbox.limits import Limits

# no Python parses it: what a newer one will, nobody here can know
UNREAD = "def double(x) returns number:\n    return 2 * x"
HERE = ".".join(map(str, sys.version_info[:3]))
NEWER = f"3.{sys.version_info.minor + 1}.0"


def ran_with(version, notebook):
    """Return a notebook as a kernel of some Python leaves it."""
    return notebook | {"metadata": {"language_info": {"name": "python", "version": version}}}


@pytest.mark.parametrize(
    ("metadata", "version"),
    [
        ({"language_info": {"name": "python", "version": "3.13.0"}}, (3, 13)),
        ({"language_info": {"name": "python", "version": "3.14.0rc2+"}}, (3, 14)),
        ({"language_info": {"name": "python", "version": "3.12"}}, (3, 12)),
        ({"language_info": {"name": "julia", "version": "1.11.2"}}, None),
        ({"language_info": {"name": "python"}}, None),
        ({"language_info": {"name": "python", "version": 3.13}}, None),
        ({"language_info": {"name": "python", "version": "9" * 5000}}, None),
        ({"language_info": "python"}, None),
        ({}, None),
        (None, None),
    ],
)
def test_version_of_a_file(metadata, version):
    """The kernel's version is read where one is written, and nothing else is taken for one."""
    assert python_of({"metadata": metadata}) == version


def test_only_a_newer_python_explains_anything():
    """The same Python and an older one explain nothing, nor does a newer one where all cells parse."""
    unread = [Cell(3, "code", UNREAD, "double")]
    made = {version: ran_with(version, {}) for version in ("3.9.18", "3.11.2", "3.12.1", "4.0.0")}

    assert [bool(about_newer_python(each, unread, (3, 11))) for each in made.values()] == [False, False, True, True]
    assert about_newer_python(made["3.11.2"], unread, (3, 11)) == ""
    assert about_newer_python(made["3.12.1"], [], (3, 11)) == ""
    said = about_newer_python(made["3.12.1"], [*unread, Cell(5, "code", UNREAD)], (3, 11))
    assert all(part in said for part in ("Python 3.11", "Python 3.12", "cell 3 (double) and 1 more"))


def test_commands_of_ipython_are_no_newer_python():
    """A cell of IPython's commands parses; a cell of text is not looked at."""
    fine = [Cell(1, "code", "%matplotlib inline\nfiles = !ls\nx?\n'\\d'"), Cell(2, "code", "%%bash\nls |")]
    fine.append(Cell(3, "raw", UNREAD))

    assert list(unread_cells(fine)) == []
    assert list(unread_cells([*fine, Cell(4, "code", UNREAD)])) == [Cell(4, "code", UNREAD)]


@pytest.mark.parametrize(("version", "count"), [(NEWER, 1), (HERE, 0)])
def test_a_submission_is_told(version, count):
    """What was handed in stays whole, and has a note where a newer Python may be why a cell does not parse."""
    handed_in = ran_with(version, two_tasks.submitted(two_tasks.SOLVED | {"double": UNREAD}))
    read = read_submission(
        json.dumps(handed_in).encode(),
        student="sam",
        filename=f"{two_tasks.NAME}.ipynb",
        assignment=two_tasks.assignment(),
        limits=Limits(),
    )

    assert read.code == two_tasks.SOLVED | {"double": UNREAD}
    assert sum("(double)" in note and f"Python 3.{sys.version_info.minor + 1}" in note for note in read.notes) == count


@pytest.mark.parametrize(("version", "count"), [(NEWER, 1), (HERE, 0)])
def test_course_check_is_told(tmp_path, version, count):
    """`course check` says it too: the Python of the kernel need not be that of the command."""
    made = ran_with(version, released_notebook("04_measuring_time"))
    made["cells"].append(two_tasks.cell(UNREAD) | {"id": "own"})
    path = tmp_path / "04_measuring_time.ipynb"
    path.write_text(json.dumps(made), encoding="utf-8")

    doubts, whole = find_doubts(read_cells(path), path)

    assert whole
    assert sum(f"Python 3.{sys.version_info.minor + 1}" in doubt for doubt in doubts) == count
