"""A line is named so that its reader finds it: by its file, or by the number beside the notebook's cell."""

import sys
from types import SimpleNamespace

import pytest

from course_utils.emulation.location import Location
from course_utils.exercises.cell_line import cell_line
from course_utils.reporting.code_place import cell_of, code_place

CELL = "/tmp/ipykernel_12/345.py"


@pytest.fixture
def notebook(monkeypatch):
    """Make this process one whose notebook shows [7] beside a cell, as ipykernel tells it."""
    names = {CELL: ("Cell", "In[7]")}
    shell = SimpleNamespace(kernel=object(), compile=SimpleNamespace(format_code_name=names.get))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))


def test_a_file_is_named(notebook):
    """Outside of cells the file's name and the line say where."""
    assert code_place("/home/ada/train.py", 12) == "train.py:12"
    assert cell_of("/home/ada/train.py") == ""


def test_a_cell_is_named_by_the_number_beside_it(notebook):
    """The ledger, the audit and the checks all say the number that the notebook shows."""
    assert code_place(CELL, 3) == str(Location(CELL, 3, "<module>")) == "cell [7], line 3"
    with pytest.raises(ZeroDivisionError) as caught:
        exec(compile("x = 1\ny = 1 / 0", CELL, "exec"), {})
    assert cell_line(caught.value).startswith("cell [7], line 2")


@pytest.mark.parametrize("name", ["<ipython-input-1-abc>", r"C:\Temp\ipykernel_12\345.py", CELL])
def test_a_cell_without_a_number_is_a_cell(name):
    """Where nothing shows a number beside a cell, its hidden file's name is not shown either."""
    assert code_place(name, 3) == "a cell, line 3"
