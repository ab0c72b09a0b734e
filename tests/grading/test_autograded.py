"""The notebook for formgrader has the student's code and verdicts, and nothing that a mailed folder should not have."""

import copy
import json

import nbformat
import pytest
from support.found import found
from support.graded_results import (
    HIDDEN_EXPECTED,
    HIDDEN_YOURS,
    HOSTILE_STUDENTS,
    HOSTILE_TEXTS,
    NAME,
    SOURCE,
    WORTH,
    not_graded,
    partly,
    solved,
)
from support.submissions import check_cells, solution_cells

from course_utils.grading.assignment import read_assignment
from course_utils.grading.books.autograded import HIDDEN_NOTE, autograded_notebook, write_autograded

BOOK = read_assignment(json.dumps(SOURCE).encode(), NAME)
CODE = {grade_id: f"# code of {grade_id}\n" for grade_id in solution_cells(SOURCE)}


def edited(edit):
    """Return the instructor's notebook after an edit."""
    content = copy.deepcopy(SOURCE)
    edit(content)
    return read_assignment(json.dumps(content).encode(), NAME)


def test_it_is_a_valid_notebook_where_formgrader_looks(tmp_path):
    """The file is autograded/STUDENT/EXERCISE/EXERCISE.ipynb, and nbformat accepts it."""
    path = write_autograded(tmp_path, BOOK, CODE, partly("Grace", text="\n".join(HOSTILE_TEXTS)))

    assert path == tmp_path / "autograded" / "Grace" / NAME / f"{NAME}.ipynb"
    nbformat.validate(nbformat.read(path, as_version=4))


def test_student_s_code_is_in_its_cells():
    """Each cell that students write has the student's text, and a cell that was not handed in says so."""
    code = dict(CODE)
    missing = code.popitem()[0]

    cells = solution_cells(autograded_notebook(BOOK, code, solved()))

    assert {grade_id: cells[grade_id]["source"] for grade_id in code} == code
    assert cells[missing]["source"] == "# this cell was not in what was handed in"


def test_nothing_for_instructors_only_is_in_it():
    """Neither hidden tests nor model solutions nor what hidden checks gave are in the notebook."""
    text = json.dumps(autograded_notebook(BOOK, {}, partly()))

    hidden = "a long list with one outlier", "six readings", "BEGIN HIDDEN", "9000.0", HIDDEN_YOURS, HIDDEN_EXPECTED
    solutions = "if third - first > median / 4", "times_s.append(clock() - start)", "BEGIN SOLUTION"
    assert [said for said in (*hidden, *solutions) if said in text] == []
    # or the list above would say nothing
    source = json.dumps(SOURCE)
    assert all(said in source for said in (*hidden[:4], *solutions))


def test_visible_checks_are_in_it():
    """The visible part of a check is there, with a line in place of the hidden one."""
    cells = check_cells(autograded_notebook(BOOK, CODE, partly()))

    first = cells[next(iter(WORTH))]["source"]
    assert '"the median and the interquartile range"' in first
    assert HIDDEN_NOTE in first
    assert first.endswith("task.score()")


def test_verdicts_stand_below_each_check():
    """The output of a check has points, reason, both sides of visible checks, and titles of hidden ones."""
    cells = check_cells(autograded_notebook(BOOK, CODE, partly(text="{'median_s': 0.5}")))

    (output,) = cells[next(iter(WORTH))]["outputs"]
    lines = output["text"].split("\n")
    assert lines[0] == "1 of 3 points: a check failed"
    assert "  passed      five readings" in lines
    assert "              yours:    {'median_s': 0.5}" in lines
    assert "  not passed  one reading (hidden)" in lines
    assert "  passed      no copy was made (measured in the student's process)" in lines


def test_ungraded_says_why_in_every_check():
    """A notebook without a grade shows no verdict that could be taken for one."""
    cells = check_cells(autograded_notebook(BOOK, {}, not_graded(note="line 3 is not JSON")))

    for cell in found(cells.values()):
        assert cell["outputs"][0]["text"].startswith("Not graded.\n")
        assert "line 3 is not JSON" in cell["outputs"][0]["text"]
        assert "points" not in cell["outputs"][0]["text"]


def test_outputs_are_plain_text():
    """Nothing that a student's process gave can be HTML: every output is a stream."""
    cells = autograded_notebook(BOOK, CODE, partly(text="".join(HOSTILE_TEXTS)))["cells"]

    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    assert {output["output_type"] for output in outputs} == {"stream"}
    assert "\x1b" not in json.dumps(outputs, ensure_ascii=False)


def test_written_answers_are_shown_as_text():
    """A student's Markdown is put into a block of code, which no text of it can end."""
    answer = "<img src=x onerror=alert(1)>\n```\n<script>alert(1)</script>\n````"
    grading = {"grade": True, "solution": True, "locked": False, "task": False, "grade_id": "essay", "points": 1}
    essay = {
        "cell_type": "markdown",
        "id": "essay",
        "metadata": {"nbgrader": grading | {"schema_version": 3}},
        "source": "",
    }

    notebook = autograded_notebook(edited(lambda nb: nb["cells"].append(essay)), {"essay": answer}, solved())

    assert notebook["cells"][-1]["source"] == f"`````text\n{answer}\n`````"


def test_outputs_and_other_metadata_of_the_instructor_are_left_out():
    """Outputs and metadata, where paths of the instructor's machine can be, are not passed on."""

    def edit(notebook):
        notebook["metadata"]["papermill"] = {"input_path": "/Users/somebody/course"}
        for cell in notebook["cells"]:
            cell["metadata"]["path"] = "/Users/somebody/course"
            if cell["cell_type"] == "code":
                cell["outputs"] = [{"output_type": "stream", "name": "stderr", "text": "/Users/somebody/course"}]

    assert "/Users/" not in json.dumps(autograded_notebook(edited(edit), CODE, solved()))


def test_huge_texts_are_cut():
    """Megabytes that a student handed in, returned and printed make a notebook of less than one."""
    huge = "<\x00" * 1_000_000

    content = autograded_notebook(BOOK, dict.fromkeys(CODE, huge), partly(text=huge))

    assert len(json.dumps(content)) < 1_000_000


@pytest.mark.parametrize("student", HOSTILE_STUDENTS)
def test_any_id_stays_below_the_folder(student, tmp_path):
    """Whatever a student is called, one notebook is written, and it is below autograded/."""
    write_autograded(tmp_path, BOOK, CODE, solved(student))

    (entry,) = tmp_path.iterdir()
    (folder,) = entry.iterdir()
    assert [path.name for path in folder.rglob("*.ipynb")] == [f"{NAME}.ipynb"]


def test_no_link_is_followed(tmp_path):
    """A planted link in place of a student's folder stops the writing; what it points to is untouched."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "autograded").mkdir()
    (tmp_path / "autograded" / "ada").symlink_to(elsewhere)

    with pytest.raises(ValueError, match="is a link"):
        write_autograded(tmp_path, BOOK, CODE, solved("ada"))
    assert list(elsewhere.iterdir()) == []


def test_broken_notebook_is_named():
    """An instructor's notebook that cannot be read is said to be that."""
    with pytest.raises(ValueError, match="the instructor's notebook of 04_measuring_time is not a notebook"):
        read_assignment(b"{", NAME)
