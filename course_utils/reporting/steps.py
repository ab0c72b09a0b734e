"""A long report as steps: each a command whose output is kept, so that an interrupted report goes on where it was."""

from __future__ import annotations

import datetime
import json
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from course_utils.reporting.errors import CourseError
from course_utils.reporting.files import write_file
from course_utils.reporting.keeper import run_kept

STATE = "state.json"
HERE = "{folder}"  # in a step's words: the report's folder
# a missing operator has to raise in a report, not to run on the CPU in silence
UNSET = ("PYTORCH_ENABLE_MPS_FALLBACK",)


class StateError(CourseError):
    """What is kept of earlier steps cannot be read."""


@dataclass(frozen=True)
class Step:
    """One command of a report.

    Args:
        name: how the user calls it, such as "tests".
        says: what its result says, a short phrase.
        command: the words of the command; "{folder}" in them is the report's folder.
        answers: exit codes with which it has answered; any other means that it failed.
        output: the file that takes what it prints, in the report's folder; empty for the step's name and ".txt".
        limit_s: how long it may take, seconds; then it is stopped, and what it has written by then is kept.
    """

    name: str
    says: str
    command: tuple[str, ...]
    answers: tuple[int, ...] = (0,)
    output: str = ""
    limit_s: float = 1800.0

    @property
    def file(self) -> str:
        """The name of the file with what it printed."""
        return self.output or f"{self.name}.txt"

    @property
    def errors_file(self) -> str:
        """The name of the file with what it printed on standard error."""
        return f"{self.name}.stderr.txt"


@dataclass(frozen=True)
class StepEnd:
    """How a step ended.

    Args:
        code: its exit code.
        seconds: how long it took.
        answered: whether the code is one of its answers, and it ended by itself.
        date: the day on which it ended, YYYY-MM-DD.
        timed_out: whether it was stopped at its time limit.
    """

    code: int
    seconds: float
    answered: bool
    date: str
    timed_out: bool = False

    @classmethod
    def read(cls, row: object) -> StepEnd:
        """Read what `write_state` wrote of one step.

        Raises:
            ValueError: when it is something else.
        """
        if not isinstance(row, dict) or set(row) != set(cls.__dataclass_fields__):
            raise ValueError(f"{row!r} is not how a step ended")
        ended = cls(**row)
        switches = (ended.answered, ended.timed_out)
        if not isinstance(ended.code, int) or not all(isinstance(switch, bool) for switch in switches):
            raise ValueError(f"{row!r} is not how a step ended")
        datetime.date.fromisoformat(ended.date)
        return replace(ended, seconds=float(ended.seconds))

    @property
    def words(self) -> str:
        """How it ended, in words."""
        if self.timed_out:
            return "stopped at its time limit"
        return "answered" if self.answered else f"failed (exit code {self.code})"


def read_state(folder: Path) -> dict[str, StepEnd]:
    """Return how steps of an earlier run ended; nothing where there was none.

    Raises:
        StateError: when the file is not what `write_state` wrote; says what to do.
    """
    path = folder / STATE
    if not path.exists():
        return {}
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(rows, dict):
            raise ValueError(f"it holds {type(rows).__name__}, not steps")
        return {name: StepEnd.read(row) for name, row in rows.items()}
    except (OSError, ValueError, TypeError) as error:
        raise StateError(
            f"{path} cannot be used ({getattr(error, 'strerror', None) or error}); remove it, and all steps run again"
        ) from error


def write_state(folder: Path, ended: Mapping[str, StepEnd]) -> None:
    """Keep how the steps ended.

    Raises:
        OSError: when the folder cannot be written.
    """
    write_file(folder / STATE, json.dumps({name: asdict(end) for name, end in ended.items()}, indent=2) + "\n")


def run_step(step: Step, folder: Path, *, at: Path | None = None) -> StepEnd:
    """Run one step; what it prints goes into its file, what it warns of beside it, and nothing of it stays alive.

    Args:
        step: the step.
        folder: the report's folder.
        at: the folder to run in; the current one when None.

    Raises:
        OSError: when the folder cannot be written, or no process can be started.
    """
    start = time.monotonic()
    with (folder / step.file).open("wb") as output, (folder / step.errors_file).open("wb") as errors:
        kept = run_kept(
            [word.replace(HERE, str(folder)) for word in step.command],
            at=at,
            environment={name: value for name, value in os.environ.items() if name not in UNSET},
            output=output,
            errors=errors,
            limit_s=step.limit_s,
        )
    answered = kept.code in step.answers and not kept.timed_out
    seconds = round(time.monotonic() - start, 1)
    return StepEnd(kept.code, seconds, answered, datetime.date.today().isoformat(), kept.timed_out)
