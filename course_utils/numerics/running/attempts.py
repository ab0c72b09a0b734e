"""Running something that may raise, without losing what it raised."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from course_utils.numerics.tensors.leaves import OutputLeaf, flatten
from course_utils.reporting.error_text import first_line


@dataclass(frozen=True)
class Refusal:
    """What a callable raised instead of answering.

    Args:
        error: the exception.
    """

    error: Exception

    def __str__(self) -> str:
        return first_line(self.error)


Answer = tuple[OutputLeaf, ...]


def attempt(call: Callable[[], Any]) -> Answer | Refusal:
    """Call a user's callable and return its flat outputs, or what it raised.

    This is the one place that catches whatever a callable may raise; who asked has to report the refusal: a device
    that raises is a finding, a CPU that raises leaves a question not asked.
    """
    try:
        return flatten(call())
    except Exception as error:
        return Refusal(error)
