"""What a comparison found: in words, as a table for notebooks, as plain data; raw tensors kept."""

from __future__ import annotations

import html
from dataclasses import asdict, dataclass, field
from typing import Any

from course_utils.devices.machine import Machine
from course_utils.numerics.report.asked import AskedQuestions, NotAsked
from course_utils.numerics.report.findings import NumericsFinding
from course_utils.numerics.tensors.inputs import Inputs
from course_utils.numerics.tensors.leaves import OutputLeaf
from course_utils.reporting.results import TextResult
from course_utils.reporting.tables import html_table, text_table
from course_utils.reporting.wrapped import wrapped


@dataclass(frozen=True)
class NumericsCase:
    """One question that was put to the device and to the reference.

    Args:
        name: such as "as given" or "transposed inputs".
        dtype: the dtype the device computed in.
        verdict: "agrees", "undecided" or "fault".
        worst: the largest error over what is allowed there; at most 1 where they agree.
        rule: what decided.
        visible: the smallest error that would have been seen in half of the numbers, as a part of their usual size;
            None where nothing rounds or the answer is wrong.
        not_compared: how many numbers rounding decides.
        inputs: what went in, on the CPU.
        on_device: what came out of the device; empty where it is large and agrees.
        expected: the reference's answer; empty with `on_device`.
    """

    name: str
    dtype: str
    verdict: str
    worst: float
    rule: str
    visible: float | None
    not_compared: int
    inputs: Inputs = field(repr=False)
    on_device: tuple[OutputLeaf, ...] = field(repr=False)
    expected: tuple[OutputLeaf, ...] = field(repr=False)

    @property
    def agrees(self) -> bool:
        """True where no fault was seen."""
        return self.verdict != "fault"


@dataclass(frozen=True, repr=False)
class NumericsReport(TextResult):  # repr without the raw tensors, which would fill pages
    """A callable on a device, compared with a reference on the CPU.

    Args:
        label: what was compared.
        device: where it ran.
        findings: what is wrong, in the order in which it is looked for.
        undecided: answers that are further off than usual, and not so far that they are wrong.
        cases: every question that was asked, with the raw tensors.
        references: the dtype of the reference, for each dtype.
        asked: what was asked, for each dtype.
        not_asked: what was not, and why.
        machine: torch, macOS build and chip.
        reproducer: code that shows the first finding on its smallest inputs; "" where nothing was found.
        warnings: reasons to trust the result less.
    """

    label: str
    device: str
    findings: tuple[NumericsFinding, ...]
    undecided: tuple[NumericsFinding, ...]
    cases: tuple[NumericsCase, ...]
    references: dict[str, str]
    asked: tuple[AskedQuestions, ...]
    not_asked: tuple[NotAsked, ...]
    machine: Machine
    reproducer: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def clean(self) -> bool:
        """True when nothing was found."""
        return not self.findings

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of the findings, each once, in order."""
        return tuple(dict.fromkeys(finding.kind for finding in self.findings))

    def rows(self) -> list[list[str]]:
        """Return the cases as text, the heading first."""
        rows = [["dtype", "case", "error / allowed", "would be seen", "verdict"]]
        for case in self.cases:
            visible = "" if case.visible is None else f"{case.visible:.1g}"
            rows.append([case.dtype, case.name, f"{case.worst:.3g}", visible, case.verdict])
        return rows

    @property
    def verdict(self) -> str:
        """The result in one sentence."""
        start = f"{self.label} on {self.device}:"
        if not self.clean:
            return f"{start} {', '.join(self.kinds)}"
        unsure = f", {len(self.undecided)} undecided" if self.undecided else ""
        return f"{start} agrees with the reference in {len(self.cases) - len(self.undecided)} cases{unsure}"

    def rules(self) -> list[str]:
        """Return for each dtype what judged, and the smallest error that would have been seen."""
        lines = []
        for dtype, reference in self.references.items():
            cases = [case for case in self.cases if case.dtype == dtype]
            counted: dict[str, int] = {}
            for case in cases:
                counted[case.rule] = counted.get(case.rule, 0) + 1
            judged = "; ".join(f"{rule} ({count})" for rule, count in counted.items())
            text = f"{dtype}, against {reference} on the CPU; judged by: {judged or 'nothing'}"
            seen = [case.visible for case in cases if case.visible is not None]
            if seen:
                text += (
                    f"; in an average number an error of {min(seen):.1g} to {max(seen):.1g} of the numbers' usual size "
                    "would have been seen"
                )
            left_out = max((case.not_compared for case in cases), default=0)
            text += f"; up to {left_out} numbers are decided by rounding and were not compared" if left_out else ""
            lines.append(text)
        return lines

    def notes(self) -> list[str]:
        """Return what belongs to the numbers: warnings, the rules, what was asked and what was not, the machine."""
        left_out = [f"not asked: {entry}" for entry in self.not_asked] or ["not asked: nothing was left out"]
        return [*self.warnings, *self.rules(), str(self.machine), *map(str, self.asked), *left_out]

    def __str__(self) -> str:
        lines = [wrapped(self.verdict), *(wrapped(str(finding), "  * ") for finding in self.findings)]
        lines += [wrapped(f"undecided: {finding}", "  ? ") for finding in self.undecided]
        if self.cases:
            lines += text_table(self.rows())
        if self.reproducer:
            lines += ["", "# the smallest reproducer", self.reproducer.rstrip(), ""]
        lines += [wrapped(note, "  ! ") for note in self.notes()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        found = "".join(f"<li>{html.escape(str(finding))}</li>" for finding in (*self.findings, *self.undecided))
        text = f"<p>{html.escape(self.verdict)}</p>" + (f"<ul>{found}</ul>" if found else "")
        cases = html_table("What was compared", self.rows())
        text += f"<details><summary>What was compared: {len(self.cases)} cases</summary>{cases}</details>"
        text += f"<ul>{''.join(f'<li>{html.escape(note)}</li>' for note in self.notes())}</ul>"
        if self.reproducer:
            code = html.escape(self.reproducer)
            text += f"<details><summary>The smallest reproducer</summary><pre>{code}</pre></details>"
        return text

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON, without the tensors."""
        return {
            "label": self.label,
            "device": self.device,
            "clean": self.clean,
            "findings": [finding.to_dict() for finding in self.findings],
            "undecided": [finding.to_dict() for finding in self.undecided],
            "cases": [
                {
                    "dtype": case.dtype,
                    "case": case.name,
                    "worst": case.worst,
                    "agrees": case.agrees,
                    "verdict": case.verdict,
                    "rule": case.rule,
                    "visible": case.visible,
                    "not_compared": case.not_compared,
                }
                for case in self.cases
            ],
            "rules": self.rules(),
            "asked": [asked.to_dict() for asked in self.asked],
            "not_asked": [asdict(entry) for entry in self.not_asked],
            "machine": asdict(self.machine),
            "warnings": list(self.warnings),
            "reproducer": self.reproducer,
        }
