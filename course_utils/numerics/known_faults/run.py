"""Ask this machine for the publicly reported silent faults of MPS."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

import torch

from course_utils import emulation
from course_utils.data.known_faults import KnownFault, all_known_faults
from course_utils.devices.machine import this_machine
from course_utils.devices.probe import pick_device
from course_utils.numerics.known_faults.asking import FaultAnswer, FaultState
from course_utils.numerics.known_faults.isolation import ask_apart
from course_utils.numerics.known_faults.report import KnownFaultsReport

# draws come first, since some faults show only in the first draws of a process; what a device reports late comes last,
# so that no other reproducer gets its error
PLACES = {"random numbers": 0, "out of bounds": 2}


def ask_known_faults(
    device: str | torch.device | None = None,
    *,
    large: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> KnownFaultsReport:
    """Ask a device for every publicly reported silent fault of MPS, each in a process that may end.

    Takes less than a minute. `course compare --known` is the same.

    Args:
        device: where to ask; by default the picked device, which is MPS where it works.
        large: whether to ask also for the faults whose tensors take more than 2 GiB.
        progress: called with the number of answers so far and of all questions.

    Raises:
        ValueError: when the device is unknown or does not work here, with the reason.

    Example:
        >>> report = ask_known_faults()
        >>> [answer.issue for answer in report.present]
    """
    asked_device = _device_to_ask(device)
    faults = all_known_faults()
    reasons = {fault.id: reason for fault in faults if (reason := _reason_not_to_ask(fault, large=large)) is not None}
    ordered = sorted(faults, key=lambda fault: PLACES.get(fault.kind, 1))
    questions = [fault.id for fault in ordered if fault.id not in reasons]
    start = time.perf_counter()
    answers = {
        answer.issue: answer for answer in _counted(ask_apart(questions, str(asked_device)), questions, progress)
    }
    seconds = time.perf_counter() - start
    answers |= {issue: FaultAnswer(issue, FaultState.NOT_ASKED, reason) for issue, reason in reasons.items()}
    return KnownFaultsReport(
        device=str(asked_device),
        machine=str(this_machine()),
        answers=tuple(answers[fault.id] for fault in faults),
        seconds=seconds,
        warnings=tuple(_warnings(asked_device)),
    )


def _device_to_ask(device: str | torch.device | None) -> torch.device:
    """Return the device; the emulated MPS computes on the CPU, so there the CPU is asked."""
    picked = pick_device(device)
    return torch.device("cpu") if picked.type == "mps" and emulation.is_active() else picked


def _reason_not_to_ask(fault: KnownFault, *, large: bool) -> str | None:
    if fault.not_asked is not None:
        return fault.not_asked
    if fault.needs_gib is not None and not large:
        return f"it takes about {fault.needs_gib} GiB of memory; --large asks for it"
    return None


def _counted(
    answers: Iterator[FaultAnswer], questions: Sequence[str], progress: Callable[[int, int], None] | None
) -> Iterator[FaultAnswer]:
    for number, answer in enumerate(answers, 1):
        if progress is not None:
            progress(number, len(questions))
        yield answer


def _warnings(device: torch.device) -> Iterator[str]:
    if emulation.is_active():
        yield "the emulated MPS device computes on the CPU and was not asked"
    if device.type != "mps":
        name = "the CPU" if device.type == "cpu" else device.type
        yield f"this asked {name}, which says nothing about MPS: run it on a Mac with an Apple chip"
