"""The doctor's report: what works here, what does not, and what to do; for a terminal, a notebook, and a program."""

from __future__ import annotations

import html
import json
from dataclasses import asdict, dataclass
from typing import Any

from course_utils.doctor.diagnose import diagnose
from course_utils.doctor.findings import SEVERITIES, Diagnosis
from course_utils.doctor.requirements import course_bounds, known
from course_utils.doctor.rules.conditions import is_mac, macos_text
from course_utils.doctor.snapshot import NONE, Snapshot
from course_utils.reporting.results import TextResult
from course_utils.reporting.tables import html_hanging, html_table, text_table
from course_utils.reporting.wrapped import wrapped


@dataclass(frozen=True, repr=False)
class DoctorReport(TextResult):
    """A snapshot with its findings.

    Args:
        snapshot: the machine.
        findings: what `diagnose` found, the root cause first.
    """

    snapshot: Snapshot
    findings: tuple[Diagnosis, ...]

    @classmethod
    def of(cls, snapshot: Snapshot) -> DoctorReport:
        """Diagnose a snapshot and report on it."""
        return cls(snapshot, diagnose(snapshot))

    @property
    def mps_usable(self) -> bool:
        """True only where a computation on MPS gave the CPU's answer."""
        return is_mac(self.snapshot) and self.snapshot.mps_state == "usable"

    @property
    def all_well(self) -> bool:
        """True where MPS is usable and there is neither an error nor a warning."""
        return self.mps_usable and all(finding.severity == "note" for finding in self.findings)

    @property
    def headline(self) -> tuple[str, ...]:
        """What this machine is, what works and what does not, one line each."""
        return tuple(f"{mark:<15}{text}" if mark else text for mark, text in self._headline())

    def _headline(self) -> list[tuple[str, str]]:
        """Return the lines of the headline, each with what it begins with."""
        works, fails = _devices(self.snapshot)
        lines = [("", f"This is {_machine(self.snapshot)}.")]
        lines += [("Works:", "; ".join(works))] if works else []
        lines += [("Does not work:", "; ".join(fails))] if fails else []
        return lines if works or fails else [*lines, ("", "Nothing is known of torch and its devices.")]

    def _verdict(self) -> str:
        return f"MPS is {'usable' if self.mps_usable else 'not usable'} here; {self._summary()}."

    def to_json(self) -> str:
        """Return the report as JSON: verdict, findings, snapshot."""
        return json.dumps(
            {
                "mps_usable": self.mps_usable,
                "all_well": self.all_well,
                "headline": list(self.headline),
                "findings": [asdict(finding) for finding in self.findings],
                "snapshot": json.loads(self.snapshot.to_json()),
            },
            indent=2,
        )

    def _summary(self) -> str:
        counts = [(sum(f.severity == severity for f in self.findings), severity) for severity in SEVERITIES]
        words = ", ".join(f"{number} {severity}{'s' if number > 1 else ''}" for number, severity in counts if number)
        return words or "nothing to do"

    def _details(self) -> list[tuple[str, str]]:
        """The values that a helper looks at first."""
        snapshot = self.snapshot
        rows = [("field", "value")]
        packages = (("torch", snapshot.torch), ("torchvision", snapshot.torchvision), ("numpy", snapshot.numpy))
        rows.append(("packages", ", ".join(f"{name} {_word(version, 'missing')}" for name, version in packages)))
        rows.append(("python", f"{_word(snapshot.python)} ({_word(snapshot.machine)}) at {_word(snapshot.prefix)}"))
        memory = "unknown" if snapshot.memory_bytes is None else f"{(snapshot.memory_bytes + 2**29) // 2**30} GiB"
        rows.append(("memory", memory))
        variables = "unknown"
        if snapshot.variables is not None:
            variables = ", ".join(f"{v.name}={v.value}" for v in snapshot.variables) or "none that matter is set"
        rows.append(("variables", variables))
        return rows

    def __str__(self) -> str:
        lines = [wrapped(text, f"{mark:<15}" if mark else "") for mark, text in self._headline()]
        mark = "[ok]" if self.all_well else "[!]" if self.mps_usable else "[x]"
        lines += [wrapped(self._verdict(), f"{mark} "), ""]
        for finding in self.findings:
            lines += [str(finding), ""]
        return "\n".join([*lines, *text_table(self._details()[1:])])

    def _repr_html_(self) -> str:
        lines = [(html.escape(mark), html.escape(text)) for mark, text in self._headline()]
        head = "".join(html_hanging(mark, text) if mark else f"<p>{text}</p>" for mark, text in lines)
        items = "".join(f"<li>{finding._repr_html_()}</li>" for finding in self.findings)
        verdict = f"<p><b>{html.escape(self._verdict())}</b></p>"
        return head + verdict + (f"<ol>{items}</ol>" if items else "") + html_table("This machine", self._details())


def _word(value: Any, none: str = NONE) -> str:
    """Return a value of a snapshot: unknown, not there, or itself."""
    if value is None:
        return "unknown"
    return none if value == NONE else str(value)


def _machine(snapshot: Snapshot) -> str:
    """Return the system and the processor in words."""
    if snapshot.system is None:
        return "a machine of unknown system"
    chip = snapshot.chip or "processor unknown"
    if is_mac(snapshot):
        model = f"{snapshot.model}, " if snapshot.model else ""
        return f"{macos_text(snapshot)} on a Mac ({model}{chip}, Python for {_word(snapshot.machine)})"
    version = f"{snapshot.os_version}, " if snapshot.os_version else ""
    container = "" if snapshot.container in (None, NONE) else f", in a container ({snapshot.container})"
    return f"{snapshot.system} ({version}{_word(snapshot.machine)}, {chip}{container})"


def _devices(snapshot: Snapshot) -> tuple[list[str], list[str]]:
    """Return which devices work and which do not, each with its reason."""
    works, fails = [], []
    if snapshot.torch_import == "ok":
        torch = known(snapshot.torch)
        enough = torch is not None and torch.at_least(course_bounds().torch_from)
        works.append(f"the CPU, with torch {_word(snapshot.torch)}" + (": every lesson runs on it" if enough else ""))
    elif snapshot.torch_import is not None or snapshot.torch == NONE:
        fails.append("torch, and with it every device: " + (snapshot.torch_error or "it is not installed"))
    if is_mac(snapshot):
        if snapshot.mps_state == "usable":
            works.append(f"MPS: {snapshot.mps_reason or 'it computes'}")
        elif snapshot.mps_state is not None:
            fails.append(f"MPS, {snapshot.mps_state}: {snapshot.mps_reason or 'see below'}")
        elif snapshot.mps_available is False:
            fails.append("MPS: torch says that it is not available")
        return works, fails
    if snapshot.system is not None:
        fails.append("MPS: it exists only on macOS with an Apple chip")
    if snapshot.cuda_state == "usable":
        works.append(f"CUDA{f' ({snapshot.gpu})' if snapshot.gpu else ''}: {snapshot.cuda_reason or 'it computes'}")
    elif snapshot.cuda_state is not None:
        fails.append(f"CUDA: {snapshot.cuda_reason or snapshot.cuda_state}")
    return works, fails
