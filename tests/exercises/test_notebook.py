"""Reading notebooks: kind to honest files, one sentence for the others."""

import json

import pytest

from course_utils.exercises.notebook import UnreadableNotebookError, read_cells


def write(tmp_path, content, **options):
    path = tmp_path / "n.ipynb"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8", **options)
    return path


CELL = {"cell_type": "code", "source": ["a = 1\n", "a"], "metadata": {"nbgrader": {"grade_id": "t", "grade": True}}}


def test_cells_are_read(tmp_path):
    """Source lines are joined and nbgrader's facts are read."""
    (cell,) = read_cells(write(tmp_path, {"cells": [CELL], "nbformat": 4}))

    assert (cell.number, cell.kind, cell.source, cell.grade_id, cell.graded) == (1, "code", "a = 1\na", "t", True)


def test_byte_order_mark_is_fine(tmp_path):
    """A file saved with a byte order mark is an honest file."""
    path = tmp_path / "n.ipynb"
    path.write_text(json.dumps({"cells": [CELL]}), encoding="utf-8-sig")

    assert len(read_cells(path)) == 1


@pytest.mark.parametrize("cell", [{}, 7, None, {"metadata": None}, {"metadata": {"nbgrader": "x"}, "source": 3}])
def test_odd_cells_do_not_crash(tmp_path, cell):
    """A cell with missing or odd fields is read as far as it goes."""
    (read,) = read_cells(write(tmp_path, {"cells": [cell]}))

    assert not read.graded


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("", "line 1 is not JSON"),
        ('{"cells": [\n<<<<<<< HEAD\n', "line 2 is not JSON .merge-conflict marks"),
        ("[1, 2]", "no list of cells"),
        ('{"cells": 3}', "no list of cells"),
        ("null", "no list of cells"),
    ],
)
def test_what_is_no_notebook_says_why(tmp_path, content, word):
    """A file that is no notebook is refused with the reason and the line."""
    with pytest.raises(UnreadableNotebookError, match=word):
        read_cells(write(tmp_path, content))


def test_not_utf8_says_where(tmp_path):
    """A Latin-1 file is refused with the byte and what to do."""
    path = tmp_path / "n.ipynb"
    path.write_bytes('{"cells": ["é"]}'.encode("latin-1"))
    with pytest.raises(UnreadableNotebookError, match=r"byte 12.*JupyterLab"):
        read_cells(path)


def test_missing_file(tmp_path):
    """A file that is not there is one sentence too."""
    with pytest.raises(UnreadableNotebookError, match="cannot be read"):
        read_cells(tmp_path / "no.ipynb")
