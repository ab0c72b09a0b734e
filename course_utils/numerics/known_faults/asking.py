"""Ask a device one reproducer after the other, and tell apart what can come of it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from enum import Enum
from typing import Any

import torch

from course_utils.numerics.known_faults.judging import difference
from course_utils.numerics.known_faults.reproducer import Reproducer
from course_utils.reporting.error_text import first_line


class FaultState(Enum):
    """What came of asking for a fault."""

    PRESENT = "present"
    RIGHT = "right"
    RAISES = "raises"
    ENDED = "ended its process"
    NO_ANSWER = "no answer in time"
    NOT_ASKED = "not asked"


@dataclass(frozen=True)
class FaultAnswer:
    """What a device answered to one reproducer.

    Args:
        issue: the fault's id, such as "pytorch#195163".
        state: what came of it.
        detail: how the result differs, the error's first line, the signal, or why it was not asked; empty where the
            result is right.
    """

    issue: str
    state: FaultState
    detail: str = ""

    def to_dict(self) -> dict[str, str]:
        """Return plain values for JSON."""
        return {"issue": self.issue, "state": self.state.value, "detail": self.detail}

    @classmethod
    def from_dict(cls, values: dict[str, str]) -> FaultAnswer:
        """Read what `to_dict` wrote."""
        return cls(values["issue"], FaultState(values["state"]), values["detail"])


def judge_values(reproducer: Reproducer, got: Any, right: Any) -> FaultAnswer:
    """Compare what a device returned with what is right."""
    found = difference(got, right, reproducer.tolerance)
    return FaultAnswer(reproducer.issue, FaultState.RIGHT if found is None else FaultState.PRESENT, found or "")


def ask(reproducer: Reproducer, device: torch.device, *, small: bool = False) -> FaultAnswer:
    """Ask a device one reproducer in this process; an error that it raises is an answer."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # beta operators, missing operators: said by the answer itself
        right = reproducer.expected(small=small)
        try:
            return judge_values(reproducer, reproducer.observe(device, small=small), right)
        except Exception as error:  # whatever torch raises for an operator, a dtype or a size
            return FaultAnswer(reproducer.issue, FaultState.RAISES, first_line(error))
