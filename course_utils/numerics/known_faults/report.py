"""What a device answered: text for a terminal, HTML for a notebook, plain values for JSON."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from course_utils.data.known_faults import KnownFault, known_fault
from course_utils.numerics.known_faults.asking import FaultAnswer, FaultState
from course_utils.reporting.results import TextResult
from course_utils.reporting.tables import LEFT
from course_utils.reporting.wrapped import wrapped

SCHEMA = 1
# heading, and what it means
HEADINGS: dict[FaultState, str] = {
    FaultState.PRESENT: "Present here",
    FaultState.ENDED: "Ended the process that asked",
    FaultState.NO_ANSWER: "Gave no answer in time",
    FaultState.RAISES: "Raises an error, so that it is not silent here",
    FaultState.NOT_ASKED: "Not asked",
    FaultState.RIGHT: "Right: repaired, or never wrong on this machine",
}
# shown with everything that is known about them; the others take a line each
IN_FULL = (FaultState.PRESENT, FaultState.ENDED, FaultState.NO_ANSWER)


@dataclass(frozen=True, repr=False)
class KnownFaultsReport(TextResult):
    """Which publicly reported silent faults of MPS this machine has.

    Args:
        device: what was asked, such as "mps".
        machine: torch, system and chip, in words.
        answers: one for each fault of the data.
        seconds: wall time of the asking, s.
        warnings: what limits the result, such as that the CPU was asked.
    """

    device: str
    machine: str
    answers: tuple[FaultAnswer, ...]
    seconds: float
    warnings: tuple[str, ...] = ()

    def of(self, state: FaultState) -> tuple[FaultAnswer, ...]:
        """Return the answers of one state, in the order of the data: the newest report first."""
        return tuple(answer for answer in self.answers if answer.state is state)

    @property
    def present(self) -> tuple[FaultAnswer, ...]:
        """The faults that this device has."""
        return self.of(FaultState.PRESENT)

    @property
    def clean(self) -> bool:
        """Whether none of the faults that could be asked for is present, and nothing ended or hung."""
        return not any(answer.state in IN_FULL for answer in self.answers)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, every answer with all that is known about its fault."""
        faults = [answer.to_dict() | dataclasses.asdict(known_fault(answer.issue)) for answer in self.answers]
        return {
            "schema": SCHEMA,
            "device": self.device,
            "machine": self.machine,
            "seconds": round(self.seconds, 3),
            "counts": {state.value: len(self.of(state)) for state in HEADINGS},
            "warnings": list(self.warnings),
            "faults": faults,
        }

    def _title(self) -> str:
        return f"{len(self.answers)} silent faults that were reported for MPS, asked on {self.device}: {self.machine}"

    def _summary(self) -> str:
        counts = [f"{len(self.of(state))} {state.value}" for state in HEADINGS if self.of(state)]
        return f"{', '.join(counts)}; {self.seconds:.0f} s"

    def __str__(self) -> str:
        lines = [wrapped(self._title()), wrapped(self._summary())]
        lines += [wrapped(f"warning: {warning}") for warning in self.warnings]
        for state, heading in HEADINGS.items():
            answers = self.of(state)
            if answers:
                lines += ["", f"{heading} ({len(answers)}):"]
            for answer in answers:
                fault = known_fault(answer.issue)
                lines += _in_full(fault, answer) if state in IN_FULL else [_in_a_line(fault, answer)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        parts = [f"<p><b>{html.escape(self._title())}</b><br>{html.escape(self._summary())}</p>"]
        parts += [f"<p>warning: {html.escape(warning)}</p>" for warning in self.warnings]
        for state, heading in HEADINGS.items():
            answers = self.of(state)
            if answers:
                opened = " open" if state in IN_FULL else ""
                parts.append(f"<details{opened}><summary>{html.escape(heading)} ({len(answers)})</summary>")
                parts.append(_table(answers) + "</details>")
        return "".join(parts)


def _in_full(fault: KnownFault, answer: FaultAnswer) -> list[str]:
    rows = (
        ("measured", answer.detail),
        ("reported", f"{fault.trigger}; {fault.symptom}"),
        ("releases", f"{fault.releases} ({fault.machines})"),
        ("do", fault.way_around),
        ("link", fault.link),
    )
    return [wrapped(f"{fault.id}: {fault.title}", "  "), *(wrapped(text, f"    {name:<10}") for name, text in rows)]


def _in_a_line(fault: KnownFault, answer: FaultAnswer) -> str:
    return wrapped(f"{fault.id}: {fault.title} ({_remark(fault, answer)})", "  * ")


def _remark(fault: KnownFault, answer: FaultAnswer) -> str:
    """Return what a line says about a fault: the reason or error, or the state of its repair."""
    if answer.state is not FaultState.RIGHT:
        return answer.detail
    return fault.repaired + ("; shows only now and then" if fault.now_and_then else "")


def _table(answers: Sequence[FaultAnswer]) -> str:
    head = "".join(f'<th scope="col" {LEFT}>{name}</th>' for name in ("issue", "fault", "here", "releases", "do"))
    rows = []
    for answer in answers:
        fault = known_fault(answer.issue)
        cells = [fault.title, _remark(fault, answer), fault.releases, fault.way_around]
        link = f'<a href="{html.escape(fault.link)}">{html.escape(fault.id)}</a>'
        shown = [link, *map(html.escape, cells)]
        rows.append("<tr>" + "".join(f"<td {LEFT}>{cell}</td>" for cell in shown) + "</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
