"""Whether a document of `course bench` can stand beside others in measured/: plausible, complete, and of nobody.

Pure: a document in, reasons out. `scripts/measured.py` reads the files and builds the page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, get_args

from course_utils.benchmarking.document import BenchDocument
from course_utils.benchmarking.measurement import FEW_READINGS, PEAK_TOLERANCE, VERY_WIDE_SPREAD, Timing
from course_utils.data.versions import exactly
from course_utils.devices.chips import certain_bound_flops, find_chip
from course_utils.devices.machine import DeviceState
from course_utils.doctor.requirements import course_bounds

# what has to be known of a machine, whatever it is
REQUIRED = ("system", "torch_version", "python", "cores", "ram_bytes", "probes")
# above the core count of every Apple GPU (80 in the M3 Ultra, Apple's specifications)
MOST_GPU_CORES = 128
# beyond every machine that torch runs on: four processors of 192 cores with two threads each, and 64 TiB
MOST = {"cores": 2**11, "ram_bytes": 2**46}
# what `course bench` writes of a machine and of its own settings; whatever else stands there may name somebody
MACHINE = (*REQUIRED, "build", "chip", "threads", "power_source", "thermal_state")
SETTINGS = ("only", "mode", "batch", "sweep", "max_time_s")
# above one core of every processor, its matrix unit included
FASTER_THAN_ANY_CORE_FLOPS = 4e12
_PRODUCT = re.compile(r"Matrix product (\d+)x\1")
# what a page shows as it is: no sign of Markdown or HTML
_PLAIN = re.compile(r"[\w .,:;+/()%'=-]*")
_RELEASE = re.compile(r"\d+\.\d+\.\d+(\+cpu|\+cu\d+)?")
# a path from the root or a home on, an address
_PRIVATE = re.compile(r"(?<![\w.])[/\\][\w.-]+[/\\][\w.-]|@|(?<!\w)~[/\\]|[A-Za-z]:\\")


def file_name(document: BenchDocument) -> str:
    """Return the name that a document has in measured/, from its chip, memory and torch."""
    machine = document.machine
    ram_gib = round(float(machine.get("ram_bytes") or 0) / 2**30)
    words = f"{machine.get('chip') or machine.get('system')} {ram_gib}gb torch {machine.get('torch_version')}"
    return re.sub(r"[^a-z0-9.]+", "_", words.lower().partition("+")[0]).strip("_") + ".json"


def objections(document: BenchDocument, name: str) -> tuple[str, ...]:
    """Return the reasons to refuse a document, one sentence each; none when it is fit.

    Args:
        document: what was measured.
        name: the name of its file.
    """
    return tuple(_objections(document, name))


def added(given: Any, written: Any) -> Iterator[str]:
    """Return the names in a file that `course bench` does not write, each once for each place.

    Args:
        given: what the file holds, read as JSON.
        written: what `BenchDocument.to_json` writes of the same document, read as JSON.
    """
    if isinstance(given, dict) and isinstance(written, dict):
        yield from (str(key) for key in given if key not in written)
        for key in given.keys() & written.keys():
            yield from added(given[key], written[key])
    elif isinstance(given, list) and isinstance(written, list):
        for one, other in zip(given, written, strict=False):
            yield from added(one, other)


def _objections(document: BenchDocument, name: str) -> Iterator[str]:
    machine = document.machine
    malformed = list(_form(document))
    yield from malformed
    yield from private(json.loads(document.to_json()))
    if malformed:
        return
    lacking = [key for key in REQUIRED if machine.get(key) in (None, "", {})]
    if lacking:
        yield f"the machine's {', '.join(lacking)} are unknown; save it again with this course's `course bench`"
        return
    if name != file_name(document):
        yield f"the file is called {name}; by its content it has to be {file_name(document)}"
    if document.interrupted:
        yield "the run was stopped before its end; run it again to the end"
    if not document.comparisons:
        yield "it holds no measurement"
    yield from _release(str(machine["torch_version"]))
    yield from _python(str(machine["python"]))
    yield from _battery(document)
    timings = [timing for comparison in document.comparisons for timing in comparison.timings]
    yield from _devices(document, timings)
    for timing in timings:
        yield from _timing(timing, document)


def _form(document: BenchDocument) -> Iterator[str]:
    """Return what `course bench` does not write: other names, values of another kind, text that is markup."""
    for part, known in ((document.machine, MACHINE), (document.settings, SETTINGS)):
        yield from (f"{key!r} is nothing that `course bench` writes; take it out" for key in part if key not in known)
    for key, most in MOST.items():
        value = document.machine.get(key)
        if value is not None and (type(value) is not int or not 0 < value <= most):
            yield f"the machine's {key} is {value!r}, which no machine has"
    for key in ("system", "torch_version", "python", "build", "chip", "power_source", "thermal_state"):
        value = document.machine.get(key)
        if not isinstance(value, str | None):
            yield f"the machine's {key} is {value!r}, which is no text"
    probes = document.machine.get("probes")
    if probes and not (isinstance(probes, dict) and all(found in get_args(DeviceState) for found in probes.values())):
        yield f"the machine's probes are {probes!r}, which no probe finds"
    labels = [comparison.label for comparison in document.comparisons]
    yield from (f"{label} stands in it twice" for label in sorted({one for one in labels if labels.count(one) > 1}))
    shown = [*_texts(dict(document.machine)), *labels]
    for comparison in document.comparisons:
        devices = [timing.device for timing in comparison.timings]
        shown += devices
        if not devices:
            yield f"{comparison.label} holds no time"
        if len({*devices}) < len(devices):
            yield f"{comparison.label} has two times of one device"
        if any(timing.label != comparison.label for timing in comparison.timings):
            yield f"{comparison.label} holds a time of something else"
    yield from (
        f"{text!r} has signs that a page would not show as text" for text in shown if not _PLAIN.fullmatch(text)
    )


def _release(version: str) -> Iterator[str]:
    bounds = course_bounds()
    if not _RELEASE.fullmatch(version):
        yield f"torch {version} is not a release, so nobody else can have the same one"
    elif not exactly(version).at_least(bounds.torch_from) or exactly(version).at_least(bounds.torch_below):
        yield f"torch {version} is not among those that this course runs with ({bounds.torch_requirement})"


def _python(version: str) -> Iterator[str]:
    bounds, line = course_bounds(), re.match(r"\d+\.\d+(?=\.\d)", version)
    if line is None or not bounds.suits_python(exactly(line[0])):
        known = f"{bounds.python_from} to {bounds.python_to}"
        yield f"Python {version} is not among those that this course runs with ({known})"


def copied(document: BenchDocument, other: BenchDocument) -> tuple[str, ...]:
    """Return which times of a document have the very readings that stand in another one.

    A clock shows nanoseconds, so no two runs have the same readings one after the other.
    """
    theirs = {timing.times_s for comparison in other.comparisons for timing in comparison.timings}
    return tuple(
        f"{timing.label} on {timing.device}"
        for comparison in document.comparisons
        for timing in comparison.timings
        if len(timing.times_s) > 1 and timing.times_s in theirs
    )


def private(given: Any) -> Iterator[str]:
    """Return the reasons to refuse texts, wherever in a file's JSON, that may name a person or a place on a disk."""
    found = dict.fromkeys(text for text in _texts(given) if _PRIVATE.search(text))
    yield from (f"{text!r} looks like a path or an address; nothing that names a person" for text in found)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


def _battery(document: BenchDocument) -> Iterator[str]:
    state = document.machine.get("thermal_state")
    if document.machine.get("power_source") == "Battery Power":
        yield "it was measured on battery, where macOS may slow the chip; plug the machine in and measure again"
    if isinstance(state, str) and state.startswith("CPU limited"):
        yield f"macOS was slowing the chip ({state}); let it cool down and measure again"


def _devices(document: BenchDocument, timings: list[Timing]) -> Iterator[str]:
    """Return what cannot be: a device that the probe did not find, an MPS time from a machine that has none."""
    probes = document.machine["probes"]
    for kind in sorted({timing.device.split(":")[0] for timing in timings} - {"cpu"}):
        if not isinstance(probes, dict) or probes.get(kind) != "usable":
            yield f"it holds times of {kind}, but {kind} was not usable when the machine was probed"
    on_mps = any(timing.device.startswith("mps") for timing in timings)
    if on_mps and not str(document.machine["system"]).startswith("macOS"):
        yield f"it holds times of MPS from {document.machine['system']}; an emulated device has no times"
    if on_mps and not document.machine.get("chip"):
        yield "it holds times of MPS without the chip's name"


def _timing(timing: Timing, document: BenchDocument) -> Iterator[str]:
    where = f"{timing.label} on {timing.device}"
    if timing.torch_version != document.machine["torch_version"]:
        yield f"{where} was measured with torch {timing.torch_version}, the document says otherwise"
    if timing.warmup_calls == 0 or len(timing.times_s) < FEW_READINGS:
        yield f"{where} has {len(timing.times_s)} readings; {FEW_READINGS} or more make a stable median"
    if len(timing.times_s) >= FEW_READINGS and len({*timing.times_s}) == 1:
        yield f"{where} took the same time at each reading, which no clock shows"
    if timing.median_s <= 0:
        yield f"{where} took no time at all"
        return
    if timing.iqr_s > VERY_WIDE_SPREAD * timing.median_s:
        yield (
            f"{where}: the middle half of the readings spans {timing.iqr_s / timing.median_s:.0%} of the median, more "
            f"than {VERY_WIDE_SPREAD:.0%}; close other programs and measure again"
        )
    if timing.chip != document.machine.get("chip"):
        yield f"{where} was measured on {timing.chip}, the document says otherwise"
    peak, flop = _peak(timing, document), _flop(timing)
    if peak is not None and flop and flop / timing.median_s > PEAK_TOLERANCE * peak:
        yield (
            f"{where}: {flop / timing.median_s / 1e12:.2f} TFLOP/s is above the {peak / 1e12:.2f} that this "
            "machine can do at most"
        )


def _flop(timing: Timing) -> float | None:
    """Return how many operations a call takes: for a product by its size, whatever the document says of itself."""
    product = _PRODUCT.fullmatch(timing.label)
    return timing.flop if product is None else 2.0 * int(product[1]) ** 3


def _peak(timing: Timing, document: BenchDocument) -> float | None:
    """Return what the chip certainly does not exceed, by the table and not by what the document says of itself."""
    if timing.device == "cpu":
        return float(document.machine["cores"]) * FASTER_THAN_ANY_CORE_FLOPS
    if not timing.device.startswith("mps"):
        return None
    chip = find_chip(str(document.machine.get("chip") or ""))
    published = None if chip is None else chip.peak_flops()
    most_cores = MOST_GPU_CORES if chip is None else max(chip.gpu_cores)
    return certain_bound_flops(most_cores) if published is None else published
