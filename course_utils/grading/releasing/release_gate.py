"""Find what is wrong with an exercise before students get it, one sentence for each problem, with the cell.

Everything here judges what it is given: an instructor's notebook, the notebook made from it, two runs. Who makes and
runs them is in `release` and `release_runs`.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from course_utils.exercises.markers import Marker, all_regions, find_marker_faults, find_regions, hidden_lines
from course_utils.exercises.notebook import EXPLANATION, Cell, grading_of, id_of, is_explanation, source_of
from course_utils.exercises.runner import PracticeResult
from course_utils.grading.releasing.hidden_text import explanation_lines, shown_text, telling_lines, texts_in

Notebook = dict[str, Any]

_AUTOTEST = re.compile(r"^\s*#.*\bAUTOTEST\b", re.MULTILINE)


@dataclass(frozen=True)
class ReleaseProblem:
    """One reason not to release an exercise.

    Args:
        exercise: the exercise's name.
        cell: the cell's id.
        problem: what is wrong, and what to do.
    """

    exercise: str
    cell: str
    problem: str

    def __str__(self) -> str:
        return f"{self.exercise}, {self.cell}: {self.problem}"


def examine_source(name: str, notebook: Notebook) -> tuple[ReleaseProblem, ...]:
    """Read an instructor's notebook, without running it.

    Args:
        name: the exercise's name.
        notebook: the notebook's JSON, nbformat 4, hidden tests included.

    Returns:
        What is wrong, in the order of the cells; ids first.
    """
    cells = notebook["cells"]
    ids = Counter(_id_of(cell) for cell in cells)
    problems = [
        (cell_id, f"this id is there {times} times; every grade_id has to be there once")
        for cell_id, times in ids.items()
        if times > 1
    ]
    for cell in cells:
        problems += [(_id_of(cell), problem) for problem in _cell_problems(cell)]
        if is_explanation(cell) and (cell["cell_type"] != "markdown" or grading_of(cell)):
            problem = f"it is tagged {EXPLANATION} and is more than text; tag text cells alone, a release lacks them"
            problems.append((_id_of(cell), problem))
    if not any(grading_of(cell).get("grade") for cell in cells):
        problems.append(("the notebook", "no cell gives points; mark one as an autograded test"))
    return tuple(ReleaseProblem(name, cell_id, problem) for cell_id, problem in problems)


def _cell_problems(cell: Notebook) -> Iterator[str]:
    grading, source = grading_of(cell), source_of(cell)
    yield from find_marker_faults(source)
    if cell["cell_type"] == "code" and _AUTOTEST.search(source):
        yield (
            "it has an AUTOTEST line, which compares a tensor as printed, with four digits and most of a large one "
            "left out; write a task.check instead"
        )
    if not grading.get("grade"):
        return
    points = grading.get("points")
    if isinstance(points, bool) or not isinstance(points, int | float):
        yield "it is graded and has no points; give it some in nbgrader's cell toolbar"
    elif not points > 0:
        yield f"it is graded and worth {points:g} points; it has to be above 0"
    if cell["cell_type"] != "code" or grading.get("solution"):
        return  # a person reads it
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        yield f"it does not parse (line {error.lineno}: {error.msg})"
        return
    yield from _task_problems(tree, points)
    if not any(".check(" in region.text for region in find_regions(source, Marker.HIDDEN_TESTS)):
        yield "it has no hidden check, so the answers could be written down; put one between hidden-test markers"
    hidden = hidden_lines(source)
    for statement in tree.body:
        lines = set(range(statement.lineno, (statement.end_lineno or statement.lineno) + 1))
        if lines & hidden and not lines <= hidden:
            yield f"the statement in line {statement.lineno} is hidden in part; hide whole statements, in column 0"
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield f"it defines the class {node.name}; move it to a locked tools cell, checks run in another process"
        if isinstance(node, ast.FunctionDef) and "in_student_process" in map(ast.unparse, node.decorator_list):
            yield f"it marks {node.name} to run beside the student's code; move it to a locked tools cell"


def _task_problems(tree: ast.Module, points: object) -> Iterator[str]:
    tasks = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Task"
    ]
    if len(tasks) != 1:
        yield f"it makes {len(tasks)} tasks; a check cell makes one Task(name, points=...)"
    for task in tasks[:1]:
        given = next((keyword.value for keyword in task.keywords if keyword.arg == "points"), None)
        if not isinstance(given, ast.Constant):
            yield "the points of its Task are not written as a number; write Task(name, points=5)"
        elif points is not None and given.value != points:
            yield f"its Task has {given.value!r} points and nbgrader's metadata says {points}; make them equal"
    last = tree.body[-1] if tree.body else None
    scores = (
        isinstance(last, ast.Expr)
        and isinstance(last.value, ast.Call)
        and isinstance(last.value.func, ast.Attribute)
        and last.value.func.attr == "score"
    )
    if not scores:
        yield "it does not end with task.score(); nbgrader gives full points to a check cell without a value"


def examine_release(name: str, source: Notebook, released: Notebook) -> tuple[ReleaseProblem, ...]:
    """Look for hidden tests, solutions and what explains them in what students would get.

    Args:
        name: the exercise's name.
        source: the instructor's notebook.
        released: the notebook made from it.

    Returns:
        One finding for each cell whose hidden tests or solution can be read in the release.
    """
    public = "\n".join(texts_in(released))
    meant = shown_text(source)
    findings = []
    for cell in source["cells"]:
        for region in all_regions(source_of(cell)):
            leaked = [line for line in telling_lines(region.text) if line in public and line not in meant]
            if leaked:
                what = region.marker.name.lower().replace("_", " ").removesuffix("s")
                findings.append(ReleaseProblem(name, _id_of(cell), f"its {what} would be released: {leaked[0]!r}"))
    leaked = [line for line in explanation_lines(source) if line in public]
    if leaked:
        findings.append(ReleaseProblem(name, "the notebook", f"an explanation would be released: {leaked[0]!r}"))
    for cell in released["cells"]:
        left = [text for marker in Marker for text in (marker.begin, marker.end) if text in source_of(cell)]
        if left:
            findings.append(
                ReleaseProblem(name, _id_of(cell), f"the marker {left[0]!r} would be released; pair the markers")
            )
    return tuple(findings)


def judge_starters(name: str, cells: Sequence[Cell], result: PracticeResult) -> tuple[ReleaseProblem, ...]:
    """Judge a run of the hidden and visible checks with the untouched starters: none may pass."""
    findings = _silent(name, result, "with the untouched starter")
    for grade_id, task in _verdicts(cells, result):
        passed = [outcome.title for outcome in task.outcomes if outcome.passed]
        if passed:
            problem = f"the untouched starter passes {_quoted(passed)}; check something that it cannot do"
            findings.append(ReleaseProblem(name, grade_id, problem))
    return tuple(findings)


def judge_reference(name: str, cells: Sequence[Cell], result: PracticeResult) -> tuple[ReleaseProblem, ...]:
    """Judge a run of all checks with the instructor's solution: full points, no error, nothing on stderr."""
    findings = _silent(name, result, "with the reference solution")
    worth = {cell.grade_id: cell.points for cell in cells if cell.graded}
    ids = {cell.number: cell.grade_id or f"cell {cell.number}" for cell in cells}
    for number, error in result.errors:
        findings.append(ReleaseProblem(name, ids[number], f"it raises with the reference solution: {error}"))
    for grade_id, task in _verdicts(cells, result):
        failed = [outcome.title for outcome in task.outcomes if not outcome.passed]
        if failed or task.points != worth[grade_id]:
            problem = f"the reference solution gets {task.points:g} of {worth[grade_id]:g} points"
            findings.append(
                ReleaseProblem(name, grade_id, problem + (f"; it does not pass {_quoted(failed)}" if failed else ""))
            )
    for number, text in result.stderr:
        if ids[number] in worth:
            first = text.strip().splitlines()[0][:120]
            problem = f"it writes to stderr with the reference solution ({first}), for which nbgrader gives 0 points"
            findings.append(ReleaseProblem(name, ids[number], problem))
    return tuple(findings)


def _silent(name: str, result: PracticeResult, when: str) -> list[ReleaseProblem]:
    found = [ReleaseProblem(name, grade_id, f"it gives no verdict {when}") for grade_id in result.unchecked]
    return found + ([ReleaseProblem(name, "the notebook", f"{when}: {result.stopped}")] if result.stopped else [])


def _verdicts(cells: Sequence[Cell], result: PracticeResult) -> Iterator[tuple[str, Any]]:
    """Pair each check cell that gave a verdict with it; a cell gives one."""
    ids = [str(cell.grade_id) for cell in cells if cell.graded and cell.kind == "code"]
    return zip((grade_id for grade_id in ids if grade_id not in result.unchecked), result.tasks, strict=False)


def _quoted(titles: Sequence[str]) -> str:
    return ", ".join(repr(title) for title in titles)


def _id_of(cell: Notebook) -> str:
    return id_of(cell) or "a cell without an id"
