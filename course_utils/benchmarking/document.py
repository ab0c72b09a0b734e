"""One document for a run of `course bench`: what was measured, on which machine, how; to keep and to share.

Nothing in it names a person or a path.
"""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from course_utils.benchmarking.measurement import Comparison, Timing
from course_utils.devices.machine import ask, this_machine
from course_utils.devices.probe import probe_devices

KIND = "course bench"
SCHEMA_VERSION = 1


class DocumentError(ValueError):
    """A text is not a document of `course bench`; the message is one sentence."""


@dataclass(frozen=True)
class BenchDocument:
    """A run of `course bench`.

    Args:
        machine: what measured, by name: "chip", "cores", "ram_bytes", "system", "build", "torch_version", "python",
            "threads", "power_source", "thermal_state" and "probes" (what was found of each kind of device, such as
            {"mps": "usable"}); a value is None where it is unknown.
        settings: how it was measured, by name of the command's options.
        comparisons: what was measured.
        interrupted: whether Ctrl-C ended the run early.
    """

    machine: Mapping[str, Any]
    settings: Mapping[str, Any]
    comparisons: tuple[Comparison, ...]
    interrupted: bool = False

    @property
    def name(self) -> str:
        """The machine in a few words, for a chart."""
        return f"{self.machine.get('chip') or self.machine.get('system')}, torch {self.machine.get('torch_version')}"

    def to_json(self) -> str:
        """Write the document as JSON; `read_document` reads it back."""
        return json.dumps(
            {
                "kind": KIND,
                "schema_version": SCHEMA_VERSION,
                "machine": dict(self.machine),
                "settings": dict(self.settings),
                "interrupted": self.interrupted,
                "comparisons": [comparison.to_dict() for comparison in self.comparisons],
            },
            indent=2,
            ensure_ascii=False,
        )


def describe_machine() -> dict[str, Any]:
    """Return what is worth knowing of this machine beside a time; imports torch."""
    import torch

    found = asdict(this_machine())
    return found | {
        "cores": os.cpu_count(),
        "ram_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "python": platform.python_version(),
        "threads": torch.get_num_threads(),
        "probes": {found.device: found.state for found in probe_devices().probes},
        "power_source": power_source(ask("pmset", "-g", "batt")) if platform.system() == "Darwin" else None,
        "thermal_state": thermal_state(ask("pmset", "-g", "therm")) if platform.system() == "Darwin" else None,
    }


def power_source(answer: str | None) -> str | None:
    """Return "AC Power" or "Battery Power" from what `pmset -g batt` prints; None where it does not say."""
    first = (answer or "").partition("\n")[0]
    return next((source for source in ("AC Power", "Battery Power") if source in first), None)


def thermal_state(answer: str | None) -> str | None:
    """Return whether macOS slows the CPU, from what `pmset -g therm` prints; None where it does not say."""
    if answer is None:
        return None
    limits = [line.split("=")[1].strip() for line in answer.splitlines() if "CPU_Speed_Limit" in line and "=" in line]
    if not limits:
        return "no limit recorded"
    return "no limit" if limits[0] == "100" else f"CPU limited to {limits[0]} %"


def read_document(text: str) -> BenchDocument:
    """Read a document that `BenchDocument.to_json` wrote.

    Raises:
        DocumentError: when it is not one, or of a newer schema.
    """
    try:
        data = json.loads(text, object_pairs_hook=_each_name_once)
    except json.JSONDecodeError as error:
        raise DocumentError(f"it is not JSON (line {error.lineno}: {error.msg})") from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, thousands of brackets
        raise DocumentError(f"it is no JSON that can be read: {error}") from error
    if not isinstance(data, dict) or data.get("kind") != KIND:
        raise DocumentError("it was not written by `course bench --save` or `course bench --json`")
    version = data.get("schema_version")
    if type(version) is not int or not 1 <= version <= SCHEMA_VERSION:
        raise DocumentError(f"its schema version is {version}, and this course reads up to {SCHEMA_VERSION}; update it")
    try:
        return BenchDocument(
            machine=dict(data["machine"]),
            settings=dict(data["settings"]),
            comparisons=tuple(_read_comparison(row) for row in data["comparisons"]),
            interrupted=bool(data["interrupted"]),
        )
    except KeyError as error:
        raise DocumentError(f"it lacks {error}; save it again") from error
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise DocumentError(f"it holds a value that makes no sense: {error}") from error


def _each_name_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; a name that stands there twice would hide its first value."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise DocumentError(f"one object in it has two values of one name, among {', '.join(sorted(found))}"[:200])
    return found


_TIMING_FIELDS = tuple(Timing.__dataclass_fields__)
_TEXTS = ("label", "device", "torch_version", "chip")
_COUNTS = ("calls_per_reading", "warmup_calls", "threads")
_UNKNOWN_AS_NONE = ("chip", "flop", "peak_flops")


def _read_comparison(row: Mapping[str, Any]) -> Comparison:
    timings: Sequence[Mapping[str, Any]] = row["timings"]
    return Comparison(
        label=str(row["label"]),
        timings=tuple(map(_read_timing, timings)),
        missing=tuple((str(each["device"]), str(each["reason"])) for each in row["missing"]),
    )


def _read_timing(row: Mapping[str, Any]) -> Timing:
    fields = {name: row[name] for name in _TIMING_FIELDS}
    if not isinstance(fields["times_s"], list):
        raise ValueError("times_s is no list")
    for name, value in fields.items():
        if value is None and name in _UNKNOWN_AS_NONE:
            continue
        kinds = (str,) if name in _TEXTS else (int,) if name in _COUNTS else (int, float)
        for each in value if name == "times_s" else [value]:
            if not isinstance(each, kinds) or isinstance(each, bool):
                raise ValueError(f"{name} is {each!r}")
            if isinstance(each, int | float) and not (math.isfinite(each) and each >= 0):
                raise ValueError(f"{name} is {each}")
    return Timing(**fields | {"times_s": tuple(map(float, fields["times_s"]))})
