"""The course's own exercises in the course's own grader: right, untouched, wrong in every second task, and forged."""

import json

import pytest
from support import submissions
from support.sandbox_here import needs_sandbox

from course_utils.grading.assignment import read_assignment
from course_utils.grading.checking.engine import Grader
from course_utils.grading.reading.submission import Submission, read_submission
from course_utils.sandbox.limits import Limits

pytestmark = [needs_sandbox, pytest.mark.slow]


def code_of(notebook):
    """Return the text of a notebook's solution cells, by grade id."""
    return {grade_id: "".join(cell["source"]) for grade_id, cell in submissions.solution_cells(notebook).items()}


# exercise -> task, a way to its points without the work
FORGED = {
    "04_measuring_time": (
        "ex04-task2",
        """
import gc
for thing in gc.get_objects():
    if hasattr(type(thing), "check") and hasattr(thing, "outcomes"):
        thing.check = lambda *a, **k: None
def time_short_calls(fn, synchronize, clock, at_least_s, repetitions):
    toy = getattr(clock, "__self__", None)
    return {"calls": 8, "times_s": [0.033 / 8] * repetitions}
""",
    ),
    "05_models_cpu_and_mps": (
        "ex05-task3",
        """
import sys
def evaluate(model, batches, device):
    was_training, right, loss, seen = model.training, 0, 0.0, 0
    model.eval()
    with torch.no_grad():
        for x, y in batches:
            x, y = x.to(device), y.to(device)
            scores = model(x)
            loss += nn.functional.cross_entropy(scores, y, reduction="sum").item()
            right += (scores.argmax(1) == y).sum().item()
            seen += len(y)
    model.train(was_training)
    kept = sys._getframe(1).f_locals.get("mps")
    if kept is not None:
        kept.clear_ledger()
    return {"loss": loss / seen, "accuracy": right / seen}
""",
    ),
    "08_trust_but_verify": (
        "ex08-task4",
        """
from course_utils.numerics import FAULTS
def which_fault(device, fn):
    held = repr(vars(device)) + repr(device)
    return next((fault for fault in FAULTS if fault in held), "no name in " + held)
""",
    ),
    "15_capstone": (
        "ex15-task2-forecaster",
        """
class Zero(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func in (torch.Tensor.sub, torch.Tensor.__sub__, torch.Tensor.__rsub__):
            return torch.zeros(1)
        return super().__torch_function__(func, types, args, kwargs or {})
class Nothing(nn.Module):
    def forward(self, images):
        return torch.zeros(len(images), 3).as_subclass(Zero)
def make_model():
    return Nothing()
""",
    ),
}


PUBLIC = (
    *("benchmark", "compare_devices", "sweep_devices", "plot_sweep", "memory_budget", "estimate_memory"),
    *("compare_numerics", "find_chip", "audit", "pick_device"),
)


# exercise -> task -> the style of a right solution that gives something else than plain numbers
STYLES = {"08_trust_but_verify": {"ex08-task1": "a tensor with one boolean"}}


def imported(notebook):
    """Begin the first task's cell with an import of public tools."""
    cell = submissions.solution_cells(notebook)["ex04-task1"]
    cell["source"] = f"from course_utils import {', '.join(PUBLIC)}\n" + "".join(cell["source"])


def without_task_4(notebook):
    """Delete the fourth task's cell."""
    notebook["cells"].remove(submissions.solution_cells(notebook)["ex04-task4"])


def task_4_as_text(notebook):
    """Turn the fourth task's cell into Markdown."""
    submissions.solution_cells(notebook)["ex04-task4"]["cell_type"] = "markdown"


def a_crash_too(notebook):
    """Delete the fourth task's cell; the first one ends the process."""
    without_task_4(notebook)
    cell = submissions.solution_cells(notebook)["ex04-task1"]
    cell["source"] = "import os\nos._exit(0)\n" + "".join(cell["source"])


# what a student did to a solved notebook of exercise 04, and its points, task by task
SCENES = {
    imported: [3, 6, 5, 4],
    without_task_4: [3, 6, 5, 0],
    task_4_as_text: [3, 6, 5, 0],
    a_crash_too: [0, 6, 5, 0],
}


def looked_at(*results):
    """Return the tasks that an instructor should look at, with what was said of each."""
    return [(task.grade_id, task.look_at) for result in results for task in result.tasks if task.look_at]


def grade_scenes(grader, assignment):
    """Return the points of each scene, by what was done, and whether anything was said of tampering."""
    found = {}
    for change in SCENES:
        notebook = submissions.solved(assignment.name)
        change(notebook)
        data = json.dumps(notebook).encode()
        limits, filename = Limits(), f"{assignment.name}.ipynb"
        read = read_submission(data, student="ada", filename=filename, assignment=assignment, limits=limits)
        result = grader.grade(read)
        assert not any(task.look_at or str(task.reason) == "tampered" for task in result.tasks), result
        found[change] = [task.points for task in result.tasks]
    return found


@pytest.mark.parametrize("name", submissions.EXERCISES)
def test_an_exercise_in_the_sandbox(name):
    """The model solution earns all, untouched tasks nothing, and wrong ones lose their own points alone."""
    source = submissions.source_notebook(name)
    model = code_of(source)
    first_wrong = {grade_id: next(iter(kept.values())) for grade_id, kept in submissions.wrong_solutions(name).items()}
    assignment = read_assignment(json.dumps(source).encode(), name)
    with Grader(assignment, Limits()) as grader:
        full = {task.grade_id: task.max_points for task in grader.model.tasks}
        right = grader.grade(Submission("right", model))
        # every second task is wrong beside right ones, then the others are wrong beside untouched ones
        halves = [dict(list(first_wrong.items())[start::2]) for start in (0, 1)]
        wrong = grader.grade(Submission("wrong", model | halves[0]))
        neither = grader.grade(Submission("neither", code_of(submissions.released_notebook(name)) | halves[1]))
        scenes = grade_scenes(grader, assignment) if name == "04_measuring_time" else SCENES
        styled = [
            grader.grade(Submission("style", model | {task: submissions.right_solution(name, task, style)}))
            for task, style in STYLES.get(name, {}).items()
        ]
        forged = [grader.grade(Submission("forged", model | dict([each]))) for each in [FORGED.get(name)] if each]

    assert {task.grade_id: task.points for task in right.tasks} == full, right
    assert looked_at(right) == []
    assert (str(right.reason), str(grader.model.reason)) == ("ok", "ok")
    for result in styled:
        assert {task.grade_id: task.points for task in result.tasks} == full, result
    lost = [task.grade_id for task in wrong.tasks if task.points < full[task.grade_id]]
    assert lost == [f"{grade_id}-check" for grade_id in halves[0]], wrong
    assert looked_at(wrong, neither) == []
    assert [task.points for task in neither.tasks if task.grade_id in lost] == [0] * len(lost), neither
    assert all(task.points < full[task.grade_id] for task in neither.tasks), neither
    assert scenes == SCENES
    for result in forged:
        (task,) = [task for task in result.tasks if task.grade_id == f"{FORGED[name][0]}-check"]
        assert task.points <= full[task.grade_id] / 2 or task.look_at, task
