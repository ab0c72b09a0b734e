"""What a comparison found: in words, as a table for notebooks, as plain data; raw tensors kept."""

from __future__ import annotations

import html
from dataclasses import asdict, dataclass, field
from typing import Any

from course_utils.devices.machine import Machine
from course_utils.numerics.reference.tolerance import ToleranceRule
from course_utils.numerics.report.findings import NumericsFinding
from course_utils.numerics.tensors.inputs import Inputs
from course_utils.numerics.tensors.leaves import OutputLeaf
from course_utils.reporting.results import TextResult
from course_utils.reporting.tables import html_table, text_table


@dataclass(frozen=True)
class NumericsCase:
    """One question that was put to the device and to the reference.

    Args:
        name: such as "as given" or "transposed inputs".
        dtype: the dtype the device computed in.
        agrees: whether the answers agree.
        worst: the largest error over what is allowed there; at most 1 where they agree.
        inputs: what went in, on the CPU.
        on_device: what came out of the device.
        expected: the reference's answer.
    """

    name: str
    dtype: str
    agrees: bool
    worst: float
    inputs: Inputs = field(repr=False)
    on_device: tuple[OutputLeaf, ...] = field(repr=False)
    expected: tuple[OutputLeaf, ...] = field(repr=False)


@dataclass(frozen=True, repr=False)
class NumericsReport(TextResult):  # repr without the raw tensors, which would fill pages
    """A callable on a device, compared with a reference on the CPU.

    Args:
        label: what was compared.
        device: where it ran.
        findings: what is wrong, in the order in which it is looked for.
        cases: every question that was asked, with the raw tensors.
        tolerances: the rule of each dtype.
        machine: torch, macOS build and chip.
        reproducer: code that shows the first finding on its smallest inputs; "" where nothing was found.
        warnings: reasons to trust the result less.
    """

    label: str
    device: str
    findings: tuple[NumericsFinding, ...]
    cases: tuple[NumericsCase, ...]
    tolerances: tuple[ToleranceRule, ...]
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
        """Return the cases as text, the heading first: dtype, case, worst error over what is allowed, verdict."""
        rows = [["dtype", "case", "error / allowed", "verdict"]]
        for case in self.cases:
            rows.append([case.dtype, case.name, f"{case.worst:.3g}", "agrees" if case.agrees else "differs"])
        return rows

    @property
    def verdict(self) -> str:
        """The result in one sentence."""
        if self.clean:
            return f"{self.label} on {self.device}: agrees with the reference in {len(self.cases)} cases"
        return f"{self.label} on {self.device}: {', '.join(self.kinds)}"

    def notes(self) -> list[str]:
        """Return what belongs to the numbers: warnings, tolerances, the machine."""
        return [*self.warnings, *(f"tolerance in {tolerance}" for tolerance in self.tolerances), str(self.machine)]

    def __str__(self) -> str:
        lines = [self.verdict, *(f"  * {finding}" for finding in self.findings)]
        if self.cases:
            lines += text_table(self.rows())
        lines += [f"  ! {note}" for note in self.notes()]
        if self.reproducer:
            lines += ["", "# the smallest reproducer", self.reproducer.rstrip()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        found = "".join(f"<li>{html.escape(str(finding))}</li>" for finding in self.findings)
        text = f"<p>{html.escape(self.verdict)}</p>" + (f"<ul>{found}</ul>" if found else "")
        text += html_table("What was compared", self.rows(), self.notes()) if self.cases else ""
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
            "cases": [
                {"dtype": case.dtype, "case": case.name, "worst": case.worst, "agrees": case.agrees}
                for case in self.cases
            ],
            "tolerances": [str(tolerance) for tolerance in self.tolerances],
            "machine": asdict(self.machine),
            "warnings": list(self.warnings),
            "reproducer": self.reproducer,
        }
