"""The value of a check cell: a number for nbgrader, a table for a notebook, a sentence for an ungraded task."""

from __future__ import annotations

import html
import sys
from typing import Any

from course_utils.exercises.outcome import Outcome, Report
from course_utils.reporting.tables import html_breakable

# a mark and a word each, so that no colour has to say it; the bars are from the Okabe-Ito palette and have a contrast
# of at least 3 to 1 on JupyterLab's light page and on its dark one
PASSED, NOT_YET = ("✓", "passed", "#009E73"), ("✗", "not yet", "#D55E00")
CELL = 'style="text-align: left; vertical-align: top"'


class Score(float):
    """The points that a task earned.

    It is a float whose text is the number, which nbgrader reads as partial credit; a notebook shows the outcomes of
    the checks as a table. An ungraded task's text is how many checks passed.
    """

    report: Report
    graded: bool

    def __new__(cls, report: Report, *, graded: bool = True) -> Score:
        """Make the value of a task's check cell.

        Args:
            report: the task after its checks.
            graded: whether it is worth points.
        """
        score = super().__new__(cls, report.points)
        score.report, score.graded = report, graded
        return score

    def __repr__(self) -> str:
        return float.__repr__(self) if self.graded else self.summary()

    __str__ = __repr__

    def __reduce__(self) -> tuple[Any, ...]:
        return float, (float(self),)

    def summary(self) -> str:
        """Return how many checks passed, such as "2 of 3 checks passed"."""
        outcomes = self.report.outcomes
        return f"{sum(outcome.passed for outcome in outcomes)} of {len(outcomes)} checks passed"

    def _repr_html_(self) -> str:
        """Write the outcomes as a table that a screen reader can read, in the page's own colours."""
        name = self.report.task if not self.graded else f"Task {self.report.task}"
        outcomes = self.report.outcomes
        # where everything passed there is nothing to compare
        words = ("check", "result") if self.report.passed else ("check", "result", "yours", "expected")
        head = "".join(f'<th scope="col" {CELL}>{word}</th>' for word in words)
        rows = "".join(_row(outcome, compared=not self.report.passed) for outcome in outcomes)
        caption = f'<caption style="text-align: left"><strong>{html.escape(name)}</strong>: {self.summary()}</caption>'
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _row(outcome: Outcome, *, compared: bool) -> str:
    mark, word, colour = PASSED if outcome.passed else NOT_YET
    bar = CELL[:-1] + f'; white-space: nowrap; border-left: 4px solid {colour}; padding-left: 8px"'
    shown = "".join(
        f'<td {CELL}><code style="white-space: pre-wrap">{html_breakable(text)}</code></td>' if text else "<td></td>"
        for text in ((outcome.yours, outcome.expected) if compared else ())
    )
    return (
        f'<tr><th scope="row" {CELL}>{html_breakable(outcome.title)}</th>'
        f'<td {bar}><span aria-hidden="true">{mark}</span> {word}</td>{shown}</tr>'
    )


def in_kernel() -> bool:
    """Return whether a notebook's front end shows what a cell gives: an IPython shell with a Jupyter kernel."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None
