"""What readers measured on their machines, as times to draw hollow beside one's own; none where measured/ is empty."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course_utils.benchmarking.compare import compare_devices
from course_utils.benchmarking.document import BenchDocument, DocumentError, read_document
from course_utils.benchmarking.measurement import Timing
from course_utils.benchmarking.plots import plot_comparison
from course_utils.benchmarking.workloads import WorkloadMode, load_workload
from course_utils.data.published import Published
from course_utils.exercises.course import find_course_root

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOLDER = "measured"


@dataclass(frozen=True)
class SharedTime(Published):
    """A time that a reader measured with `course bench --sweep`, and shared."""

    @property
    def credit(self) -> str:
        """One line for a chart: chip, torch, file."""
        return f"{self.chip}, {self.date}: {self.source}"


def shared_times(
    name: str, mode: WorkloadMode = "forward", *, size: int | None = None, folder: Path | None = None
) -> tuple[SharedTime, ...]:
    """Return what readers measured of one workload, for `published=` of a figure.

    Args:
        name: a workload's name, such as "matmul".
        mode: "forward" or "train".
        size: only this size: the side of a matrix, else the batch; all when None.
        folder: where the documents are; measured/ of the course when None.

    Returns:
        One time for each machine, device and size; none outside a course, or where nobody has shared anything.

    Raises:
        DocumentError: when a file there is not a document of `course bench`; the message names it.
        ValueError: for an unknown workload.
    """
    work = load_workload(name, mode)
    label = re.escape(work.title) + (r" (\d+)x\1" if name == "matmul" else rf", {mode}, batch (\d+)")
    found = []
    for path in _files(folder):
        document = _read(path)
        for comparison in document.comparisons:
            match = re.fullmatch(label, comparison.label)
            if match is None or size not in (None, int(match[1])):
                continue
            for timing in comparison.timings:
                found.append(_time(document, path, timing, size=int(match[1])))
    return tuple(found)


def plot_shared(
    name: str, mode: WorkloadMode = "forward", *, size: int | None = None, folder: Path | None = None, **options: Any
) -> Figure | None:
    """Measure one workload here and draw it beside what readers measured, which is hollow.

    Args:
        name: a workload's name, such as "resnet18".
        mode: "forward" or "train".
        size: the side of a matrix, else the batch; the workload's own when None.
        folder: where the documents are; measured/ of the course when None.
        options: as for `benchmark`.

    Returns:
        The figure, whose sentence is printed; None where nobody shared this workload, and then nothing is measured.
    """
    sized = {} if size is None else {"size" if name == "matmul" else "batch": size}
    work = load_workload(name, mode, **sized)
    others = shared_times(name, mode, size=work.size if name == "matmul" else work.batch, folder=folder)
    if not others:
        return None
    return plot_comparison(compare_devices(work, **options), published=others)


def _files(folder: Path | None) -> list[Path]:
    try:
        place = folder or find_course_root() / FOLDER
    except FileNotFoundError:  # a lesson that was opened alone
        return []
    return sorted(place.glob("*.json"))


def _read(path: Path) -> BenchDocument:
    try:
        return read_document(path.read_text(encoding="utf-8"))
    except (DocumentError, UnicodeDecodeError) as error:
        raise DocumentError(f"{path} is not a document of `course bench`: {error}") from error


def _time(document: BenchDocument, path: Path, timing: Timing, *, size: int) -> SharedTime:
    machine = document.machine
    torch = str(machine.get("torch_version"))
    return SharedTime(
        key=FOLDER,
        what=timing.label,
        device=timing.device.partition(":")[0],
        seconds=timing.median_s,
        chip=str(machine.get("chip") or f"{machine.get('cores')} CPU cores, {machine.get('system')}"),
        torch_version=torch,
        date=f"torch {torch}, by a reader",
        size=size,
        source=f"{FOLDER}/{path.name}",
        method="course bench: warmed up, waiting at both ends, the median of several readings",
    )
