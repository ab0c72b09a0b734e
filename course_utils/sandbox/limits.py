"""How much a submission may take."""

from __future__ import annotations

from dataclasses import dataclass

from course_utils.exercises.hand_in import LARGEST_BYTES


@dataclass(frozen=True)
class Limits:
    """The limits of one submission.

    Args:
        task_s: wall time of one task, seconds.
        submission_s: wall time of the whole submission, seconds.
        memory_bytes: memory of the student's process and all that it starts, beyond the loaded libraries.
        output_bytes: what the student's code may print in one task; more ends the task.
        kept_output_bytes: how much of it is kept for the feedback.
        value_bytes: size of one returned value on its way to the checks.
        text_bytes: how much of that may be lists, numbers and text, which take many times their size in memory.
        value_depth: how deep a returned value may be nested.
        file_bytes: size of one file, and of each of the student's private folders.
        processes: how many processes the student's code may have at once.
        submission_bytes: size of a submitted notebook; a larger one is not read.
    """

    task_s: float = 60.0
    submission_s: float = 300.0
    memory_bytes: int = 4 * 1024**3
    output_bytes: int = 1024**2
    kept_output_bytes: int = 64 * 1024
    value_bytes: int = 64 * 1024**2
    text_bytes: int = 8 * 1024**2
    value_depth: int = 64
    file_bytes: int = 64 * 1024**2
    processes: int = 64
    submission_bytes: int = LARGEST_BYTES

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value <= 0:
                raise ValueError(f"the limit {name} is {value:g}; it has to be above 0")
