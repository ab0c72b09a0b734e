"""A preprocessor of nbgrader: a release leaves out what explains a solution.

nbgrader_config.py switches it on, so that plain `nbgrader generate_assignment` does the same as `course release`.
"""

from __future__ import annotations

from typing import Any

from nbgrader.preprocessors import NbGraderPreprocessor

from course_utils.exercises.notebook import is_explanation


class LeaveOutExplanations(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no types
    """Takes the cells tagged solution-only out of a notebook."""

    def preprocess(self, notebook: Any, resources: Any) -> tuple[Any, Any]:
        """Return the notebook without them."""
        notebook.cells = [cell for cell in notebook.cells if not is_explanation(cell)]
        return notebook, resources
