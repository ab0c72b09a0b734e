"""A long report as steps: each a command whose output is kept, so that an interrupted report goes on where it was."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from course_utils.reporting.errors import CourseError
from course_utils.reporting.files import write_file

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
    """

    name: str
    says: str
    command: tuple[str, ...]
    answers: tuple[int, ...] = (0,)
    output: str = ""

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
        answered: whether the code is one of its answers.
    """

    code: int
    seconds: float
    answered: bool

    @classmethod
    def read(cls, row: object) -> StepEnd:
        """Read what `write_state` wrote of one step.

        Raises:
            ValueError: when it is something else.
        """
        if not isinstance(row, dict) or set(row) != set(cls.__dataclass_fields__):
            raise ValueError(f"{row!r} is not how a step ended")
        ended = cls(**row)
        if not isinstance(ended.code, int) or not isinstance(ended.answered, bool):
            raise ValueError(f"{row!r} is not how a step ended")
        return cls(ended.code, float(ended.seconds), ended.answered)


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
    """Run one step; what it prints goes into its file, what it warns of beside it.

    Args:
        step: the step.
        folder: the report's folder.
        at: the folder to run in; the current one when None.

    Raises:
        OSError: when the folder cannot be written.
    """
    start = time.monotonic()
    environment = {name: value for name, value in os.environ.items() if name not in UNSET}
    with (folder / step.file).open("wb") as output, (folder / step.errors_file).open("wb") as errors:
        code = subprocess.run(
            [word.replace(HERE, str(folder)) for word in step.command],
            cwd=at,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            check=False,
        ).returncode
    return StepEnd(code, round(time.monotonic() - start, 1), code in step.answers)
