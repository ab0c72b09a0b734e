"""The result of an audit: frozen, prints as a table, and carries its own warnings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from course_utils.auditing.findings import AuditFinding, Phase, SeenOperator
from course_utils.reporting.results import TableResult


@dataclass(frozen=True, repr=False)
class Audit(TableResult):
    """What one step of a model will meet on MPS.

    Args:
        model: the model's class name.
        mode: "train" or "eval".
        phases: the phases that were followed to their end.
        findings: what will or may go wrong; empty for a clean model.
        operators: every operator that reached the device, most frequent first.
        torch_release: the release that the verdicts are about, such as "2.14.1".
        source: where the verdicts come from, in words.
        warnings: what this audit did not see or could not know.
    """

    model: str
    mode: str
    phases: tuple[Phase, ...]
    findings: tuple[AuditFinding, ...]
    operators: tuple[SeenOperator, ...]
    torch_release: str
    source: str
    warnings: tuple[str, ...] = ()

    @property
    def clean(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    def counts(self) -> Mapping[str, int]:
        """Count the calls by verdict."""
        found: Counter[str] = Counter()
        for operator in self.operators:
            found[operator.verdict] += operator.count
        return dict(found.most_common())

    def title(self) -> str:
        """Return the result in one sentence."""
        found = "clean" if self.clean else f"{len(self.findings)} finding{'s' if len(self.findings) > 1 else ''}"
        calls = ", ".join(f"{count} {verdict.replace('_', ' ')}" for verdict, count in self.counts().items())
        return (
            f"audit of {self.model}, {self.mode} ({', '.join(self.phases) or 'no phase'}), "
            f"MPS of torch {self.torch_release}: {found}; {len(self.operators)} operators, calls: {calls or 'none'}"
        )

    def rows(self) -> list[list[str]]:
        """Return the findings as text, the heading first."""
        rows = [["#", "kind", "what", "phase", "times", "where"]]
        for number, finding in enumerate(self.findings, 1):
            times = str(finding.count) if finding.places else ""
            rows.append([str(number), finding.kind, finding.what, finding.phase, times, finding.where()])
        return rows

    def notes(self) -> list[str]:
        """Return a sentence for each finding, and where the verdicts come from."""
        sentences = [f"{number}. {finding.sentence()}" for number, finding in enumerate(self.findings, 1)]
        return [*sentences, f"verdicts: {self.source}"]

    def to_dict(self) -> dict[str, Any]:
        """Return everything in plain lists and dictionaries, for JSON."""
        return {
            "model": self.model,
            "mode": self.mode,
            "clean": self.clean,
            "phases": list(self.phases),
            "findings": [asdict(finding) | {"count": finding.count} for finding in self.findings],
            "operators": [asdict(operator) for operator in self.operators],
            "counts": dict(self.counts()),
            "torch_release": self.torch_release,
            "source": self.source,
            "warnings": list(self.warnings),
        }
