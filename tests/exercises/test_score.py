"""The value of a check cell: a number to nbgrader, a table to a notebook, nothing shown twice."""

import json
import pickle
from xml.etree import ElementTree

import pytest
import torch
from IPython.core.formatters import DisplayFormatter

from course_utils.exercises import task as tasks
from course_utils.exercises.task import Task

formats = DisplayFormatter().format


def checked(points=None):
    """Return a task with a check that passed, two that did not, and one that raised in a student's cell."""
    task = Task("4.1 <Median> & spread", points=points)
    student = {}
    exec(compile("def third(values):\n    return values[3]\n", "<ipython-input-7-student>", "exec"), student)
    task.check("twice two", yours=lambda: 4, expected=4)
    task.check("<b>bold</b>", yours=lambda: "<script>alert(1)</script>", expected="a & b")
    task.check(
        "a tensor",
        yours=lambda: torch.tensor([[1.0, 9.0], [8.0, 4.0]]),
        expected=torch.tensor([[1.0, 2.0], [3.0, 4.0]]),
    )
    task.check("the third", yours=lambda: student["third"]([1]), expected=1)
    return task


@pytest.fixture
def kernel(monkeypatch):
    """Pretend to run in a Jupyter kernel."""
    monkeypatch.setattr(tasks, "in_kernel", lambda: True)


def test_a_graded_score_is_a_number_to_nbgrader(kernel):
    """text/plain is what `float` reads: nbgrader's partial credit."""
    score = checked(points=8).score()
    data, _ = formats(score)

    assert float(data["text/plain"]) == score == 2.0
    assert isinstance(score, float)
    assert json.dumps(score) == "2.0"
    assert pickle.loads(pickle.dumps(score)) == 2.0


def test_an_ungraded_score_is_a_sentence(kernel):
    """A task of a lesson says how many checks passed, and never looks like points."""
    data, _ = formats(checked().score())

    assert data["text/plain"] == "1 of 4 checks passed"
    assert "1 of 4 checks passed" in data["text/html"]


def test_a_kernel_shows_the_table_alone(kernel, capsys):
    """Nothing is printed where the table shows it."""
    checked(points=8).score()

    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(("points", "lines"), [(8, 1), (None, 0)])
def test_a_terminal_has_the_text(points, lines, capsys):
    """Without a kernel each outcome is printed once, and a graded task's sum below it."""
    score = checked(points=points).score()
    out = capsys.readouterr().out

    assert out.count("twice two") == 1
    assert out.count("checks passed") == lines
    assert "checks passed" not in repr(score) or points is None


@pytest.mark.parametrize("points", [8, None])
def test_the_table(kernel, points):
    """Well formed, escaped; a caption, headings with a scope, a mark and a word in each row; yours beside expected."""
    html = formats(checked(points=points).score())[0]["text/html"]
    table = ElementTree.fromstring(html)
    heads = [(cell.get("scope"), cell.text) for cell in table.findall("thead/tr/th")]
    rows = table.findall("tbody/tr")

    assert table.find("caption") is not None
    assert heads == [("col", word) for word in ("check", "result", "yours", "expected")]
    assert [row.find("th").get("scope") for row in rows] == ["row"] * 4
    assert ["".join(row.findall("td")[0].itertext()) for row in rows] == ["✓ passed"] + ["✗ not yet"] * 3
    yours = ["".join(row.findall("td")[1].itertext()) for row in rows]
    assert yours[0] == ""
    assert "9 at (0, 1)" in yours[2]
    assert "line 2" in yours[3]
    assert table.find(".//script") is None
    assert table.find(".//b") is None


def test_dots_are_not_written_yet():
    """`answer = ...`, as a lesson stores it, is work to do and no wrong answer."""
    task = Task("a turn")
    task.check("the answer", yours=lambda: ..., expected=4)

    assert task.outcomes[0].failure is tasks.Failure.NOT_WRITTEN


def test_the_first_place_that_differs():
    """Of several wrong numbers the first is shown, and how many there are."""
    mine, right = torch.arange(6.0).reshape(2, 3), torch.arange(6.0).reshape(2, 3)
    mine[1, 0], mine[1, 2] = 3.5, 99.0
    difference = tasks.find_difference(mine, right)

    assert difference[0].startswith("3.5 at (1, 0)")
    assert "2" in difference[0].split(")")[1]
    assert difference[1] == "3 there"


def test_a_table_of_passed_checks_compares_nothing(kernel):
    """Where every check passed there are no empty columns."""
    task = Task("a turn")
    task.check("twice two", yours=lambda: 4, expected=4)
    table = ElementTree.fromstring(formats(task.score())[0]["text/html"])

    assert [cell.text for cell in table.findall("thead/tr/th")] == ["check", "result"]
    assert len(table.findall("tbody/tr/td")) == 1
