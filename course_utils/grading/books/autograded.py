"""Write the notebook that formgrader shows beside a student's scores: autograded/STUDENT/EXERCISE/EXERCISE.ipynb.

It is the instructor's notebook with the student's code in it and the verdicts below each check. People mail and sync
that folder, so hidden tests and the model solution stay out of it, and so does whatever a browser could run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from course_utils.exercises.markers import Marker, replace_regions
from course_utils.exercises.notebook import grading_of, source_of
from course_utils.grading.assignment import Assignment
from course_utils.grading.pages.reason_words import WORDS, points_text
from course_utils.grading.pages.visible_text import clip, clip_start, visible
from course_utils.grading.result import Reason, SubmissionResult, TaskResult
from course_utils.grading.result_files import folder_name, write_below

HIDDEN_NOTE = "# hidden checks ran here; formgrader shows their titles and verdicts only"

# what stands in the place of what is for instructors only
_PRIVATE = {
    Marker.HIDDEN_TESTS: HIDDEN_NOTE,
    Marker.SOLUTION: "# the model solution is not shown here",
    Marker.MARK_SCHEME: "",
}
_LONGEST_CODE = 100_000
_LONGEST_TEXT = 600
_LONGEST_PRINTED = 4000


def write_autograded(root: Path, assignment: Assignment, code: Mapping[str, str], result: SubmissionResult) -> Path:
    """Write what formgrader shows of one submission; no link is followed on the way.

    Args:
        root: the course's root, which has the folder autograded/.
        assignment: the exercise.
        code: the student's text of each cell that students write, by grade_id; empty where nothing could be read.
        result: what the submission earned.

    Returns:
        The notebook. It is where formgrader looks for it, unless no folder can be called as the student is.

    Raises:
        UnsafePathError: when a folder on the way is a link.
    """
    name = result.assignment
    content = autograded_notebook(assignment, code, result)
    data = (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")
    return write_below(root, ("autograded", folder_name(result.student), name, f"{name}.ipynb"), data)


def autograded_notebook(assignment: Assignment, code: Mapping[str, str], result: SubmissionResult) -> dict[str, Any]:
    """Return the notebook that `write_autograded` writes."""
    content = assignment.notebook
    cells = [_shown_cell(cell, code, result) for cell in content["cells"]]
    metadata = content.get("metadata", {})
    kept = {key: metadata[key] for key in ("kernelspec", "language_info") if key in metadata}
    return {"cells": cells, "metadata": kept, "nbformat": 4, "nbformat_minor": content.get("nbformat_minor", 5)}


def _shown_cell(cell: dict[str, Any], code: Mapping[str, str], result: SubmissionResult) -> dict[str, Any]:
    grading = grading_of(cell)
    source = _shown_source(source_of(cell))
    kept = {key: cell[key] for key in ("id", "attachments") if key in cell}
    metadata = {"nbgrader": grading} if grading else {}
    grade_id = str(grading.get("grade_id", ""))
    if cell["cell_type"] != "code":
        if grading.get("solution"):
            source = _fenced(clip(code.get(grade_id, "(nothing handed in)"), _LONGEST_CODE))
        return kept | {"cell_type": cell["cell_type"], "metadata": metadata, "source": source}
    if grading.get("solution"):
        source = clip(code.get(grade_id, "# this cell was not in what was handed in"), _LONGEST_CODE)
    outputs = []
    if grading.get("grade") and not grading.get("solution"):
        outputs = [{"output_type": "stream", "name": "stdout", "text": verdicts(grade_id, result)}]
    return kept | {
        "cell_type": "code",
        "execution_count": None,
        "metadata": metadata,
        "outputs": outputs,
        "source": source,
    }


@lru_cache(maxsize=512)
def _shown_source(source: str) -> str:
    """Return a cell of the instructor's as everybody may see it; it is the same for the whole class."""
    return replace_regions(source, _PRIVATE)


def _fenced(text: str) -> str:
    """Put a student's text into a block of code: as Markdown, formgrader would run the HTML in it."""
    longest = run = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def verdicts(grade_id: str, result: SubmissionResult) -> str:
    """Return the verdicts of one check cell as text; of hidden checks the titles only."""
    if not result.graded:
        words = WORDS[result.reason]
        return "\n".join(("Not graded.", words.meaning, *(clip(note, _LONGEST_TEXT) for note in result.notes[:10]), ""))
    task = next((task for task in result.tasks if task.grade_id == grade_id), None)
    if task is None:
        return "This cell was not graded: it is not in the notebook that the submission was graded with.\n"
    return "\n".join((*_task_lines(task), ""))


def _task_lines(task: TaskResult) -> list[str]:
    words = WORDS[task.reason]
    lines = [f"{points_text(task.counted_points)} of {points_text(task.max_points)} points: {words.label}"]
    if task.by_hand:
        lines.append(f"  {task.by_hand}")
    if task.reason is not Reason.OK:
        lines.append(clip(task.message, _LONGEST_TEXT) or words.meaning)
    for check in task.checks[:100]:
        marks = ", ".join(
            word
            for word, said in (("hidden", check.hidden), ("measured in the student's process", check.measured_inside))
            if said
        )
        verdict = "passed    " if check.passed else "not passed"
        lines.append(f"  {verdict}  {clip(check.title, 160)}" + (f" ({marks})" if marks else ""))
        if not check.passed and not check.hidden:
            lines.append(f"              yours:    {clip(check.yours, _LONGEST_TEXT)}")
            lines.append(f"              expected: {clip(check.expected, _LONGEST_TEXT)}")
    if task.printed:
        lines += ["What the code printed (the end of it):", visible(clip_start(task.printed, _LONGEST_PRINTED))]
    return lines
