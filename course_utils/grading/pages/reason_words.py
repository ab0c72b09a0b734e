"""What a reason means, in plain words, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass

from course_utils.grading.result import Reason, SubmissionResult


@dataclass(frozen=True)
class ReasonText:
    """What a reason means to a reader.

    Args:
        label: two or three words.
        meaning: one sentence about what happened.
        next_step: one sentence about what to do; empty when there is nothing to do.
    """

    label: str
    meaning: str
    next_step: str = ""


WORDS = {
    Reason.OK: ReasonText("all passed", "Every check passed."),
    Reason.WRONG: ReasonText(
        "a check failed",
        "The code ran, and at least one check did not pass.",
        "Compare yours with what was expected, then run the check cell again in the notebook.",
    ),
    Reason.RAISED: ReasonText(
        "an error",
        "An error came where an answer was expected.",
        "Look at the line that is named; restart the kernel and run all cells to see the same error in the notebook.",
    ),
    Reason.TIMEOUT: ReasonText(
        "too slow",
        "The code ran past its time limit and was stopped.",
        "Look for a loop that never ends, or for work that grows faster than its input.",
    ),
    Reason.CRASHED: ReasonText(
        "process ended",
        "The code ended its own process, with exit(), os._exit() or a crash in compiled code.",
        "Restart the kernel and run all cells; the cell at which the kernel dies is the one to repair.",
    ),
    Reason.MEMORY: ReasonText(
        "too much memory",
        "The code took more memory than a submission may have and was stopped.",
        "Look for a tensor or a list that is larger than it has to be.",
    ),
    Reason.OUTPUT: ReasonText(
        "too much output",
        "The code printed or returned more than a submission may and was stopped.",
        "Remove printing inside loops, and return only what the task asks for.",
    ),
    Reason.UNREADABLE: ReasonText(
        "could not be read",
        "The file that was handed in is not a notebook that can be read, so nothing was graded.",
        "Open it in JupyterLab, save it there, and hand it in again.",
    ),
    Reason.RENAMED: ReasonText(
        "renamed",
        "The notebook had another name; its cells were this exercise's, so it was graded.",
        "Hand in under the exercise's own name next time.",
    ),
    Reason.DUPLICATE: ReasonText(
        "a cell twice",
        "A cell was in the notebook several times; the last copy counted.",
        "Keep one copy of each cell.",
    ),
    Reason.MISSING: ReasonText(
        "missing",
        "Nothing was found to grade: no notebook was handed in, or the cell of a task is not in it.",
        "Start from the exercise's notebook again, paste your code into its cells, and hand it in.",
    ),
    Reason.UNWRITTEN: ReasonText(
        "not written yet",
        "The cell of this task is as it was handed out.",
        "Write the function in the task's own cell, run its check, save the notebook, and hand it in again.",
    ),
    Reason.WAITING: ReasonText(
        "waits for a person",
        "A person reads this answer; there are no points for it yet.",
        "There is nothing to do.",
    ),
    Reason.TAMPERED: ReasonText(
        "tampered with",
        "What measures inside the process was changed by the code that was to be measured, so the task earns nothing.",
        "Leave the functions of torch and of the course as they are; ask your instructor if you did not mean to.",
    ),
    Reason.SANDBOX: ReasonText(
        "not run",
        "The sandbox could not be started, so nothing is known about this submission.",
        "There is nothing to do for the student; the instructor has to grade it again.",
    ),
}


# what to do about a cell that did not run, by the class of its exception
_SYNTAX = (
    "Python could not read the cell, so nothing of it ran. Look at the line that is named, and at the brackets, quotes "
    "and colons just before it; then run the cell again."
)
ERROR_ADVICE = {
    "SyntaxError": _SYNTAX,
    "IndentationError": _SYNTAX,
    "TabError": _SYNTAX,
    "NameError": "Check the spelling, and that the name is defined above; then restart the kernel and run all cells.",
    "ModuleNotFoundError": "Only the course's environment is there when the notebook is graded; use what it has.",
}


def points_text(points: float) -> str:
    """Return points with at most two decimals and no empty ones."""
    return f"{points:.2f}".rstrip("0").rstrip(".")


def total_text(result: SubmissionResult) -> str:
    """Return what a submission earned, or that it has no grade; a grade of 0 and no grade are not the same."""
    if not result.graded:
        return f"not graded ({WORDS[result.reason].label})"
    return f"{points_text(result.points)} of {points_text(result.max_points)} points"
