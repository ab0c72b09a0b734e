"""Checks and student apart: the grader keeps them in two processes, so they may only exchange plain data."""

import ast
import copy
import functools
import types
import warnings

import pytest
import torch
from support import submissions
from support.found import found

from course_utils.exercises import task as checks
from course_utils.grading.assignment import Kind, bound_names, read_assignment

PLAIN = (type(None), bool, int, float, str, bytes, torch.dtype, torch.device)
MARK = "in_student_process"
PROXIES = {}  # the function that a check calls -> the student's own


def assignment(name):
    """Read an exercise as its instructor wrote it."""
    return read_assignment((submissions.ROOT / "solutions" / name / f"{name}.ipynb").read_bytes(), name)


def marked_functions(source):
    """Return the names of the functions that a cell marks to run beside the student's code."""
    return {
        node.name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef) and MARK in {ast.unparse(mark) for mark in node.decorator_list}
    }


@pytest.mark.parametrize("name", submissions.EXERCISES)
def test_check_cells_define_no_class_and_no_marked_helper(name):
    """What has to exist in both processes stands in a locked tools cell, never in a check cell."""
    for part in found(assignment(name).checks):
        classes = [node.name for node in ast.walk(ast.parse(part.source)) if isinstance(node, ast.ClassDef)]
        assert classes == [], f"{part.grade_id} defines {', '.join(classes)}; move it to a locked tools cell"
        marked = sorted(marked_functions(part.source))
        assert marked == [], f"{part.grade_id} marks {', '.join(marked)}; move it to a locked tools cell"


@pytest.mark.parametrize("name", submissions.EXERCISES)
def test_tools_are_locked(name):
    """A cell that defines a class or a marked helper is locked, so that every student has the same."""
    for cell in found(submissions.source_notebook(name)["cells"]):
        source = "".join(cell["source"])
        grading = submissions.grading_of(cell)
        if cell["cell_type"] == "code" and not grading.get("solution"):
            classes = any(isinstance(node, ast.ClassDef) for node in ast.walk(ast.parse(source)))
            if classes or marked_functions(source):
                assert grading.get("locked"), f"{name}, {cell['id']}: make it read-only, it is needed by checks"


def require_plain(value, where):
    """Fail when a value could not travel from one process to the other as data."""
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        for item in value:
            require_plain(item, where)
        return
    if isinstance(value, torch.Tensor):
        assert not value.requires_grad, f"{where} returns a tensor with a gradient history"
        return
    assert isinstance(value, PLAIN), f"{where} returns a {type(value).__name__}"


def as_handed_over(function):
    """Return a function as the student's process has it: its own, or one that calls back where the check is."""
    if isinstance(function, types.MethodType):  # its object stays where it is

        def call_back(*arguments, **options):
            return function(*arguments, **options)

        return call_back
    return PROXIES.get(function, function)


def at_a_distance(function, name):
    """Call a function as the grader does: with copies, and only plain results come back."""

    @functools.wraps(function)
    def call(*arguments, **options):
        # a plain function is called back and stays itself, a student's is meant as such; all else arrives as a copy
        known = [as_handed_over(argument) if callable(argument) else argument for argument in arguments]
        result = function(*copy.deepcopy(known), **copy.deepcopy(options))
        require_plain(result, name)
        return result

    PROXIES[call] = function
    return call


@pytest.mark.parametrize("name", submissions.EXERCISES)
def test_solutions_pass_at_a_distance(name, capsys):
    """With the student's functions reached only through copies and plain results, the solution passes every check."""
    exercise = assignment(name)
    student, outside = {"__name__": "student"}, {"__name__": "outside"}
    checks.reports.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's own, which a notebook would print
        for part in exercise.parts:
            if part.kind in (Kind.STUDENT, Kind.TOOLS):
                exec(part.source, student)
            if part.kind is Kind.STUDENT:
                for function in bound_names(part.source):
                    outside[function] = at_a_distance(student[function], function)
            if part.kind is Kind.TOOLS:
                exec(part.source, outside)
                for function in marked_functions(part.source):
                    outside[function] = at_a_distance(student[function], function)
            if part.kind is Kind.CHECK:
                exec(part.source, outside)

    failed = [outcome for report in checks.reports for outcome in report.outcomes if not outcome.passed]
    assert failed == []
    assert len(checks.reports) == len(exercise.checks)
    checks.reports.clear()
