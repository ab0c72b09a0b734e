"""A submission is read kindly: what is the student's is found, and what cannot be read gets one sentence."""

import json
import random

import pytest
from support import submissions, two_tasks
from support.two_tasks import NAME, SOLVED, STARTERS, cell, notebook, submitted, submitted_bytes

from course_utils.grading.assignment import read_assignment
from course_utils.grading.reading.submission import count_cells, read_submission, starter_of
from course_utils.grading.result import Reason
from course_utils.sandbox.limits import Limits

ASSIGNMENT = two_tasks.assignment()


def read(data, filename=f"{NAME}.ipynb", limits=None, assignment=ASSIGNMENT):
    """Read a file, or a notebook, as the student sam's."""
    content = data if isinstance(data, bytes) else json.dumps(data).encode()
    return read_submission(content, student="sam", filename=filename, assignment=assignment, limits=limits or Limits())


def without_metadata(made):
    """Strip what marks the cells as nbgrader's."""
    for each in made["cells"]:
        each["metadata"] = {}
    return made


def test_plain_submission():
    """The cells of an untouched form are taken by their ids, with nothing to note."""
    found = read(submitted(SOLVED))

    assert found.code == SOLVED
    assert (found.student, found.missing, found.notes, found.reason, found.problem) == ("sam", (), (), None, "")


@pytest.mark.parametrize("name", submissions.EXERCISES)
def test_the_courses_own_exercises(name):
    """In each of the course's exercises the starter is recognised, and all cells of a released notebook are found."""
    source = json.dumps(submissions.source_notebook(name)).encode()
    exercise = read_assignment(source, name)
    found = read(submissions.released_notebook(name), f"{name}.ipynb", assignment=exercise)

    assert tuple(found.code) == exercise.student_ids
    assert (found.reason, found.untouched) == (None, exercise.student_ids)
    assert found.notes == ("the notebook is as it was handed out; nothing was written in it",)
    for part in exercise.parts:
        if part.grade_id in found.code:
            assert starter_of(part.source) == found.code[part.grade_id]


@pytest.mark.parametrize(
    ("encoded", "note"),
    [
        (b"\xef\xbb\xbf" + submitted_bytes(SOLVED), None),
        (submitted_bytes(SOLVED).decode().encode("utf-16"), "UTF-16"),
        (submitted_bytes(SOLVED).decode().encode("utf-16-be"), "UTF-16-BE"),
        (submitted_bytes(SOLVED).decode().encode("utf-32"), "UTF-32"),
        (submitted_bytes(SOLVED).replace(b"{}", b'{"author": "Ren\xe9"}', 1), "not UTF-8"),
        (b"\xef\xbb\xbf" + submitted_bytes(SOLVED).replace(b"{}", b'{"author": "Ren\xe9"}', 1), "read as Latin-1"),
        (submitted_bytes(SOLVED).replace(b"{}", b'{"n": NaN, "i": ' + b"9" * 5000 + b"}", 1), None),
        (submitted_bytes(SOLVED).replace(b"{}", b'{"tab": "\t"}', 1), None),
        (submitted_bytes(SOLVED).replace(b"{}", b'{"a": 1, "a": 2}', 1), None),
        (submitted_bytes(SOLVED).replace(b"\n", b"\r\n"), None),
    ],
)
def test_encodings_and_numbers(encoded, note):
    """A byte-order mark, UTF-16, Latin-1, NaN, a huge number or a raw tab cost nobody points."""
    found = read(encoded)

    assert found.code == SOLVED
    assert note in found.notes[0] if note else found.notes == ()


@pytest.mark.parametrize(
    "change",
    [
        {"nbformat_minor": 4},
        {"nbformat_minor": 99},
        {"nbformat": 5, "nbformat_minor": 0},
        {"nbformat": "four"},
        {"metadata": {"kernelspec": {"name": "conda-env-dl"}}},
        {"metadata": None},
    ],
)
def test_formats_and_kernels(change):
    """The number of the format and the kernel do not matter."""
    assert read(submitted(SOLVED) | change).code == SOLVED


def test_cell_ids_do_not_matter():
    """Format 4.4 with ids and format 4.5 without, and ids that repeat, are read."""
    made = submitted(SOLVED) | {"nbformat_minor": 4}
    for each in made["cells"]:
        each["id"] = "same"

    assert read(made).code == SOLVED


def test_nbformat_3():
    """Format 3 kept cells in worksheets and called a code cell's source its input."""
    cells = [{**each, "input": each["source"].splitlines(keepends=True)} for each in submitted(SOLVED)["cells"]]
    for each in cells:
        del each["source"]
    old = {"nbformat": 3, "worksheets": [{"cells": cells[:2]}, {}, {"cells": cells[2:]}]}

    assert read(old).code == SOLVED


def test_source_as_list():
    """A source may be a list of lines, with Windows line ends in it."""
    made = submitted()
    made["cells"][1]["source"] = ["def double(x):\r\n", "    return 2 * x"]

    assert read(made).code["double"] == SOLVED["double"]


def test_renamed():
    """A notebook with another name and the exercise's cells is graded, with the reason and a note."""
    found = read(submitted(SOLVED), filename="01_small (1).ipynb")

    assert (found.code, found.reason) == (SOLVED, Reason.RENAMED)
    assert "01_small (1).ipynb" in found.notes[0]


def test_unrelated_notebook():
    """A notebook of something else is missing, and the sentence asks for the right one."""
    found = read(notebook(cell("print(1)")), filename="homework.ipynb")

    assert (found.code, found.reason) == ({}, Reason.MISSING)
    assert found.problem == "homework.ipynb has none of the cells of 01_small; is it the right one?"


def test_no_cells():
    """A notebook without cells is missing."""
    found = read(notebook())

    assert found.reason is Reason.MISSING
    assert found.problem == "the notebook has no cells; hand in the notebook of 01_small"
    assert found.missing == ("double", "halve")


def test_checks_and_further_cells_do_not_matter():
    """Edited, deleted, doubled and tagged checks, and further cells, change nothing of what is taken."""
    made = submitted(SOLVED)
    setup, double, double_check, halve, halve_check = made["cells"]
    double_check["source"] = "print('passed')"
    double_check["metadata"]["tags"] = ["skip-execution"]
    made["cells"] = [halve_check, cell("1 +"), setup, halve, double_check, double_check, double, cell("", "unknown")]

    assert read(made) == read(submitted(SOLVED))


@pytest.mark.parametrize("order", [("new", "starter"), ("starter", "new"), ("old", "new"), ("old", "new", "starter")])
def test_copies_of_a_cell(order):
    """Of several copies the last that was changed counts, whatever starters stand around it."""
    texts = {"old": "def double(x):\n    return 0", "new": SOLVED["double"], "starter": STARTERS["double"] + "  \n"}
    made = submitted(SOLVED)
    made["cells"][1:2] = [cell(texts[which], "double") for which in order]
    found = read(made)

    assert (found.code, found.reason) == (SOLVED, Reason.DUPLICATE)
    assert f"cell {order.index('new') + 2} counts, the last that was changed" in found.notes[0]


def test_copies_that_are_all_starters():
    """Copies that nobody changed are no reason to fail: the last counts, and the note does not call it changed."""
    made = submitted()
    made["cells"].append(cell(STARTERS["double"], "double"))
    found = read(made)

    assert found.code == STARTERS
    assert found.untouched == ("double", "halve")
    assert "none was changed" in found.notes[1]


def test_renamed_and_doubled():
    """Of two reasons the weightier one is stated; both are noted."""
    made = submitted(SOLVED)
    made["cells"].append(cell(SOLVED["halve"], "halve"))
    found = read(made, filename="mine.ipynb")

    assert found.reason is Reason.DUPLICATE
    assert len(found.notes) == 2


def test_stripped_metadata():
    """Without any metadata the cells are found by what they define, and that is noted."""
    found = read(without_metadata(submitted(SOLVED)))

    assert (found.code, found.missing) == (SOLVED, ())
    assert "cell 2, which defines the same, was taken for it" in found.notes[0]


@pytest.mark.parametrize(
    "scratch",
    [
        "from functools import lru_cache\nold = double\ndouble = lru_cache(old)",
        "double = 3",
        "double = lambda x: 0",
        "for double in range(3): pass",
        "import math as double",
        "with open('x') as double: pass",
    ],
)
def test_the_cell_with_the_definition_counts(scratch):
    """Where the metadata is lost, a later cell that only binds the name is not taken for the task's."""
    made = submitted(SOLVED)
    made["cells"].append(cell(scratch))
    found = read(without_metadata(made))

    assert found.code == SOLVED


def test_an_assigned_function_counts_where_nothing_else_does():
    """A student who wrote the function as a lambda, in a cell that lost its id, is found by the name."""
    code = {"double": "double = lambda x: 2 * x", "halve": SOLVED["halve"]}

    assert read(without_metadata(submitted(code))).code == code


def test_stripped_metadata_and_kept_cell_ids():
    """Without metadata a cell's own id finds it, even where its code does not parse."""
    made = without_metadata(submitted(SOLVED | {"halve": "def halve(x) return"}))
    for each, name in zip(made["cells"], ("setup", "double", "double-check", "halve", "halve-check"), strict=True):
        each["id"] = name

    assert read(made).code == SOLVED | {"halve": "def halve(x) return"}


def test_written_into_a_new_cell():
    """Code in a new cell, with the exercise's cell left as handed out, is what the student meant."""
    made = submitted()
    made["cells"].append(cell("%matplotlib inline\n" + SOLVED["double"]))
    found = read(made)

    assert found.code == {"double": "%matplotlib inline\n" + SOLVED["double"], "halve": STARTERS["halve"]}
    assert "double is still as it was handed out; cell 6" in found.notes[0]


def test_helper_below_its_use():
    """A name that only a cell below its task binds is pointed out: a run from top to bottom does not have it yet."""
    made = submitted({"double": "def double(x):\n    return times(x, 2)"})
    made["cells"].append(cell("def times(a, b):\n    return a * b\nunused = 1"))
    (note,) = read(made).notes

    assert note.startswith("cell 6 binds times below the task that uses it")


USES_TIMES = "def double(x):\n    return times(x, 2)"
TIMES = "def times(a, b):\n    return a * b"


@pytest.mark.parametrize(
    ("place", "source", "kept"),
    [
        (1, TIMES, True),
        (0, "from operator import *", True),
        (1, "unused = 1", False),
        (1, "%time print(3)\n" + TIMES, True),
        (1, "from operator import mul\ntimes = mul", True),
        (1, "def (", False),
    ],
)
def test_own_cells_above_a_task(place, source, kept):
    """A cell of the student's own runs where it stands when it binds what the tasks' code uses."""
    made = submitted({"double": USES_TIMES})
    made["cells"].insert(place, cell(source))
    found = read(made)

    assert [code for pairs in found.own.values() for _, code in pairs] == ([source] if kept else [])
    assert found.notes == ()


def test_what_an_own_cell_uses_is_kept_too():
    """Cells that kept cells need are kept, in the order of the notebook."""
    made = submitted({"double": USES_TIMES})
    made["cells"][1:1] = [cell("factor = 1"), cell("def times(a, b):\n    return a * b * factor"), cell("other = 2")]

    assert [label for pairs in read(made).own.values() for label, _ in pairs] == ["cell 2", "cell 3"]


def test_a_split_cell_runs_in_order():
    """Both halves of a cell that was split run, the first one before the second."""
    made = submitted({"double": USES_TIMES})
    made["cells"].insert(1, {**made["cells"][1], "source": TIMES})
    found = read(made)

    assert found.code["double"] == USES_TIMES
    assert found.own == {"double": [["cell 2", TIMES]]}


@pytest.mark.parametrize("kind", ["markdown", "raw"])
def test_cell_turned_into_text(kind):
    """A solution cell that is no code cell any more is missing, and the note says how to repair it."""
    made = submitted(SOLVED)
    made["cells"][1]["cell_type"] = kind
    found = read(made)

    assert (found.code, found.missing) == ({"halve": SOLVED["halve"]}, ("double",))
    assert f"cell 2 (double) is a {kind} cell" in found.notes[0]


def test_deleted_cell():
    """A solution cell that was deleted is missing; the others are taken."""
    made = submitted(SOLVED)
    del made["cells"][1]
    found = read(made)

    assert (tuple(found.code), found.missing, found.reason) == (("halve",), ("double",), None)
    assert found.notes == ("double is not in the notebook",)


def test_conflict_marks_in_a_cell():
    """Merge-conflict marks inside a cell leave the others alone; the note has the cell and the line."""
    broken = "def double(x):\n<<<<<<< local\n    return 2 * x\n=======\n    return x\n>>>>>>> remote"
    found = read(submitted(SOLVED | {"double": broken}))

    assert found.code == SOLVED | {"double": broken}
    assert "line 2 of cell 2 (double) is a merge-conflict mark (<<<<<<<)" in found.notes[0]


def test_conflict_marks_in_the_file():
    """Merge-conflict marks in the file make it unreadable; the sentence has the line."""
    lines = json.dumps(submitted(SOLVED), indent=1).splitlines()
    lines[2:2] = ["<<<<<<< HEAD", "======="]
    found = read("\n".join(lines).encode())

    assert found.reason is Reason.UNREADABLE
    assert found.problem.startswith("line 3 of the file is a merge-conflict mark (<<<<<<<)")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"\0" * 100, "nothing but zeros"),
        (b"PK\x03\x04rest", "is a zip"),
        (b"%PDF-1.7", "is a PDF"),
        (b"<!DOCTYPE html>", "is a web page"),
        (b"import torch\n", "is a script"),
        (submitted_bytes()[:300], "ends in line 1 in the middle"),
        (b'{"cells": [}', "line 1 of the file is not JSON"),
        (b"[]", "no list of cells"),
        (b'{"cells": 3}', "no list of cells"),
        (b'{"cells": ' + b"[" * 100_000, "nested too deep"),
        (b"\xff\xfe{\x00\x00\xd8x\x00", "broken at byte"),
    ],
)
def test_unreadable(data, words):
    """What is no notebook is unreadable, and one sentence says what it is and what to do."""
    found = read(data)

    assert (found.reason, found.code) == (Reason.UNREADABLE, {})
    assert words in found.problem
    assert "hand in" in found.problem
    assert "\n" not in found.problem


def test_too_large():
    """A file above the limit is not parsed; the sentence has both sizes."""
    found = read(submitted_bytes() + b" " * 2_000_000, limits=Limits(submission_bytes=1_000_000))

    assert found.reason is Reason.UNREADABLE
    assert found.problem.startswith("the file has 1.91 MiB, and more than 977 KiB are not read")


@pytest.mark.parametrize("source", ["x = '\0'", "x = '\ud800'", "(" * 10_000, "-" * 10_000 + "1", "'\\d'", "%time 1"])
def test_odd_sources(source):
    """NUL bytes, lone surrogates and thousands of brackets in cells are taken as they are."""
    made = submitted({"double": source})
    made["cells"].append(cell(source))

    assert read(made).code["double"] == source


@pytest.mark.parametrize(
    ("inner", "words"),
    [(b"[]," * 1_000_001, "more parts"), (b'"",' * 2_000_001, "more parts"), (b"{}," * 10_001, "cells, more than")],
)
def test_more_than_a_notebook_has(inner, words):
    """Millions of tiny parts, which would take gigabytes once read, are refused."""
    found = read(b'{"cells": [' + inner + b"0]}")

    assert found.reason is Reason.UNREADABLE
    assert words in found.problem


def test_many_copies():
    """Thousands of copies of a cell make no long note."""
    made = submitted(SOLVED)
    made["cells"] += [cell(SOLVED["double"], "double")] * 1000
    (note,) = read(made).notes

    assert "(cells 2, 6, 7, 8, 9, ... and 1005); cell 2 counts, the last that was changed above its check" in note


def test_file_name_cannot_steer_a_terminal():
    """Control characters of a file's name do not reach the note."""
    (note,) = read(submitted(SOLVED), filename="\x1b[2Jx.ipynb").notes

    assert note.isprintable()


def test_cells_are_counted():
    """The cells with one of the exercise's ids are counted, and the student's in which something was written."""
    assert count_cells(submitted_bytes(), ASSIGNMENT, Limits()) == (5, 0)
    assert count_cells(submitted_bytes({"double": "def double(x): return 2 * x"}), ASSIGNMENT, Limits()) == (5, 1)
    assert count_cells(b"{}", ASSIGNMENT, Limits()) == (0, 0)


FRAGMENTS = [
    b'"',
    b"{",
    b"]",
    b"\0",
    b"\xff",
    b"null",
    b"1e999",
    b'"\\ud800"',
    b"[" * 50,
    b"\xef\xbb\xbf",
    b"<<<<<<< a\n",
]


def mutate(data, rng):
    """Cut, repeat, overwrite or insert at a few random places."""
    for _ in range(rng.randint(1, 6)):
        start = rng.randrange(len(data) + 1)
        end = min(len(data), start + rng.choice([1, 2, 40, 400]))
        piece = rng.choice([b"", data[start:end] * 2, rng.randbytes(end - start), rng.choice(FRAGMENTS)])
        data = data[:start] + piece + data[end:]
    return data


def test_no_bytes_raise():
    """Whatever the bytes are, the reader answers with code of the exercise's cells or with a reason and a sentence."""
    rng = random.Random(20)
    for _ in range(2000):
        base = submitted_bytes(SOLVED)
        found = read(mutate(rng.choice([base, base.decode().encode("utf-16")]), rng))
        assert set(found.code) | set(found.missing) == {"double", "halve"}
        assert bool(found.problem) == (not found.code)
        assert found.code or found.reason in (Reason.UNREADABLE, Reason.MISSING)


def random_json(rng, depth=0):
    """Make any JSON value, out of the words that notebooks are made of."""
    words = [
        "cells",
        "worksheets",
        "source",
        "input",
        "metadata",
        "nbgrader",
        "grade_id",
        "cell_type",
        "code",
        "double",
    ]
    kind = rng.randrange(6 if depth < 7 else 3)
    if kind < 3:
        return rng.choice([None, True, 7, float("nan"), -1e300, "", SOLVED["double"], *words])
    if kind == 3:
        return [random_json(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {rng.choice(words): random_json(rng, depth + 1) for _ in range(rng.randrange(6))}


def test_no_json_raises():
    """Whatever stands where a notebook has its cells, metadata and sources, the reader answers."""
    rng = random.Random(21)
    for _ in range(2000):
        found = read({"cells": [random_json(rng, 2) for _ in range(3)]})
        assert bool(found.problem) == (not found.code)
