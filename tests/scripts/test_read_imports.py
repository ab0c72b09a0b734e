"""Reading who uses whom: every kind of import counts, and names that are only passed on do not."""

import json

import pytest

from scripts.read_imports import code_of_notebook, public_homes, read_house, read_module

HOMES = '_HOME = {"benchmark": "timing"}\n'


@pytest.fixture
def course(tmp_path):
    """Write a small course; call it with file names and texts."""

    def write(files, cells=()):
        for name, text in ({"course_utils/__init__.py": HOMES} | files).items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (tmp_path / "notebooks").mkdir()
        (tmp_path / "solutions").mkdir()
        notebook = {"cells": [{"cell_type": "code", "source": cell} for cell in cells]}
        (tmp_path / "notebooks" / "00_a.ipynb").write_text(json.dumps(notebook))
        (tmp_path / "solutions" / "ex.ipynb").write_text(json.dumps({"cells": []}))
        return read_house(tmp_path)

    return write


@pytest.mark.parametrize(
    "code",
    [
        "from course_utils.below import thing",
        "from course_utils import below",
        "import course_utils.below",
        "def f():\n    from course_utils.below import thing",
        "if TYPE_CHECKING:\n    from course_utils.below import Thing",
        "def f():\n    return resources.files('course_utils.below')",
        "command = [sys.executable, '-m', 'course_utils.below']",
    ],
)
def test_every_way_to_use_a_room_counts(course, code):
    """Imports anywhere in a file, package data and programs started by name are uses."""
    house = course({"course_utils/above.py": code, "course_utils/below.py": ""})

    assert house.rooms["above"].uses == {"below"}


def test_words_are_no_uses(course):
    """A room that a docstring or a message mentions is not used."""
    code = '"""As course_utils.below says."""\nprint("see course_utils.below")'
    house = course({"course_utils/above.py": code, "course_utils/below.py": ""})

    assert house.rooms["above"].uses == set()


def test_public_names_lead_to_their_room(course):
    """A notebook that takes a name from course_utils uses the module that holds it; magic cells do not disturb."""
    house = course(
        {"course_utils/benchmarking/timer.py": "import torch"},
        cells=["%matplotlib inline", "from course_utils import benchmark"],
    )

    assert house.rooms["lessons"].uses == {"timing"}
    assert house.rooms["timing"].outside == {"torch"}


def test_a_lent_name_is_no_use(course):
    """What a package's __getattr__ loads, or imports for type checkers alone, is passed on and not used."""
    lending = (
        "if TYPE_CHECKING:\n    from course_utils.upper import name\n"
        "def __getattr__(name):\n    from course_utils.upper import name\n    return name\n"
    )
    house = course({"course_utils/lower/__init__.py": lending, "course_utils/upper.py": "import course_utils.lower"})

    assert house.rooms["lower"].uses == set()
    assert house.rooms["upper"].uses == {"lower"}
    assert house.passed_on == {("lower", "upper")}


def test_lending_is_for_packages_only():
    """In an ordinary module, an import for type checkers is knowledge of the other room."""
    names, lent = read_module("if TYPE_CHECKING:\n    from course_utils.a import b", is_init=False)

    assert (names, lent) == ({"course_utils.a.b"}, set())


def test_files_are_counted(course):
    """A room's files are its modules and its data."""
    house = course({"course_utils/data/__init__.py": "", "course_utils/data/chips.json": "{}", "course_utils/a.py": ""})

    assert {name: room.files for name, room in house.rooms.items()} == {"a": 1, "data": 2, "exercises": 1, "lessons": 1}


def test_no_table_of_names_is_an_error():
    """Without the table of public names, nothing is guessed."""
    with pytest.raises(ValueError, match="_HOME"):
        public_homes("x = 1")


def test_code_of_a_notebook_leaves_text_out():
    """Only code cells are read."""
    cells = [{"cell_type": "markdown", "source": "import torch"}, {"cell_type": "code", "source": ["a = 1\n", "b = 2"]}]

    assert code_of_notebook(json.dumps({"cells": cells})) == "a = 1\nb = 2"
