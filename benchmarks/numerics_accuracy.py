"""How often the numerics checker is wrong, in both directions: honest kernels called faulty, planted faults missed.

    python benchmarks/numerics_accuracy.py [--half tuning|judged] [--dtype float32] [--minutes 30] [--folder DIR]

Honest callables run on honest devices (the CPU with other threads, other attention, other orders of adding,
functions a few last places off), planted faults on the CPU with one operator changed. Callables and faults are split
into two halves by name: thresholds are chosen on the first ("tuning") and judged on the second.

A whole run takes hours on two cores, so it goes in pieces: each callable and each fault is one file in a folder, and
what is there already is not run again. Stop it, or let `--minutes` stop it, and call it again. Pieces come in an order
that mixes all kinds, the judged half first, so that any part of them is a fair sample. No part of the tests, which hold
a selection.

Faults of the CPU itself are counted apart, not hidden, where plain torch shows them without the checker: oneDNN leaves
gradients of bfloat16 convolutions unwritten (`ZooCallable.meets_onednn_fault`; a run counts so only where the same
question is clean without oneDNN), and some kernels answer wrongly for expanded tensors (`contradicts_itself`).
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs as a script

from benchmarks.numerics_zoo.callables import CALLABLES, ZooCallable
from benchmarks.numerics_zoo.devices import HONEST_DEVICES
from benchmarks.numerics_zoo.faults import FAULTS, ZooFault
from course_utils.numerics import NumericsReport, compare_numerics
from course_utils.numerics.reference.expected import shared_references
from course_utils.numerics.running.kernels import without_onednn
from course_utils.numerics.running.runners import run_on_cpu
from course_utils.numerics.tensors.inputs import cast_inputs, contiguous
from course_utils.numerics.tensors.layouts import EXPANDED, with_layout
from course_utils.numerics.tensors.leaves import flatten
from course_utils.reporting.tables import text_table

DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
# how many of the triggered faults have to be found
BARS = {"float32": 0.98, "float16": 0.92, "bfloat16": 0.80}
# right answers that a dtype cannot hold, and what no device computes or can compare, say nothing of the device
_NOT_ABOUT_THE_DEVICE = ("overflow", "not comparable")
_OF_STRIDES = {"ignores strides", "not repeatable"}
# kinds whose sentence tells the reader what to do
_WITH_A_CURE = ("ignores strides", "ignores the storage offset", "wrong above a size", "forgets an in-place write")


@dataclass(frozen=True)
class HonestRun:
    """One honest callable on one honest device."""

    callable: str
    device: str
    dtype: str
    seed: int
    kinds: tuple[str, ...]
    undecided: bool
    cpu_s: float
    cpu_fault: bool = False

    @property
    def is_wrong(self) -> bool:
        """True where an honest device was not called clean."""
        return bool(self.kinds) or self.undecided

    def __str__(self) -> str:
        kinds = ", ".join(self.kinds) or "undecided"
        who = "the CPU's own fault" if self.cpu_fault else "honest"
        return f"{who}, {kinds}: {self.callable} on {self.device}, {self.dtype}, seed {self.seed}"


@dataclass(frozen=True)
class FaultRun:
    """One planted fault."""

    fault: str
    dtype: str
    kinds: tuple[str, ...]
    right_name: bool
    undecided: bool
    cpu_s: float

    @property
    def is_wrong(self) -> bool:
        """True where the fault was not found under its name."""
        return not self.right_name

    @property
    def wrong_cure(self) -> bool:
        """True where the reader is told to do what does not help."""
        return not self.right_name and any(kind in _WITH_A_CURE for kind in self.kinds)

    def __str__(self) -> str:
        unsure = "undecided" if self.undecided else "not found"
        return f"planted, {', '.join(self.kinds) or unsure}: {self.fault}, {self.dtype}"


def half_of(name: str) -> str:
    """Return in which half a name is, the same on every machine."""
    return "tuning" if zlib.crc32(name.encode()) % 2 else "judged"


def honest_runs(zoo: ZooCallable, dtype: str, seed: int) -> list[HonestRun]:
    """Compare one honest callable on all honest devices, sizes as given; they share the references."""
    with shared_references():
        return list(_honest_runs(zoo, dtype, seed))


def _honest_runs(zoo: ZooCallable, dtype: str, seed: int) -> Iterator[HonestRun]:
    for device in HONEST_DEVICES:
        started = time.process_time()
        report = _compare(zoo, device, dtype, seed)
        if report is None:
            continue
        kinds = tuple(f.kind for f in report.findings if f.kind not in _NOT_ABOUT_THE_DEVICE)
        if kinds == ("refused",) and "so does the CPU" in report.findings[0].sentence:
            continue
        undecided = bool(report.undecided)
        cpu_s = time.process_time() - started
        its_own = bool(kinds) and (
            (device.onednn and zoo.meets_onednn_fault(dtype) and _clean_without_onednn(zoo, dtype, seed))
            or (set(kinds) <= _OF_STRIDES and contradicts_itself(zoo, dtype, seed))
        )
        yield HonestRun(zoo.name, device.name, dtype, seed, kinds, undecided, cpu_s, its_own)


def contradicts_itself(zoo: ZooCallable, dtype: str, seed: int) -> bool:
    """Return whether the CPU answers otherwise by over 1 % when one element stands for many, all values the same.

    `torch.median` of an expanded tensor gives what its memory held before, `torch.linalg.det` NaN (torch 2.14.1).
    """
    fn, inputs = zoo.make(1000 * seed)
    for layout in EXPANDED:
        new = with_layout(cast_inputs(inputs, DTYPES[dtype]), layout)
        if new is None:
            continue
        pairs = zip(flatten(run_on_cpu(fn, new)), flatten(run_on_cpu(fn, contiguous(new))), strict=True)
        for one, other in ((a.tensor, b.tensor) for a, b in pairs if b.is_number_with_rounding):
            usual = float(other.abs().nan_to_num(0, 0, 0).double().square().mean().sqrt())
            if not torch.allclose(one, other, rtol=0.01, atol=0.01 * usual, equal_nan=True):
                return True
    return False


def _clean_without_onednn(zoo: ZooCallable, dtype: str, seed: int) -> bool:
    with without_onednn():
        report = _compare(zoo, "cpu", dtype, seed)
    return report is not None and not report.findings


def _compare(zoo: ZooCallable, device: object, dtype: str, seed: int) -> NumericsReport | None:
    fn, inputs = zoo.make(1000 * seed)
    try:
        return compare_numerics(fn, inputs, device=device, dtypes=[DTYPES[dtype]], largest_elements=0)  # type: ignore[arg-type]
    except ValueError:  # the CPU has no kernel for it in any dtype
        return None


def fault_runs(fault: ZooFault, dtype: str) -> list[FaultRun]:
    """Compare with one planted fault, sizes beyond the given ones too."""
    fn, inputs = fault.made()
    started = time.process_time()
    report = compare_numerics(fn, inputs, device=fault.device(), dtypes=[DTYPES[dtype]])
    right = bool(report.kinds) and set(report.kinds) <= set(fault.kinds)
    undecided = bool(report.undecided)
    return [FaultRun(fault.name, dtype, report.kinds, right, undecided, time.process_time() - started)]


@dataclass(frozen=True)
class Piece:
    """What is run and saved at once.

    Args:
        name: of its file.
        of: the callable or the fault, which decides the half.
        run: runs it.
    """

    name: str
    of: str
    run: Callable[[], Iterable[HonestRun | FaultRun]]


def pieces(dtypes: list[str], half: str | None, seeds: int, only: str | None) -> list[Piece]:
    """List all pieces, mixed by the hash of their names."""
    wanted: list[Piece] = []
    for dtype in dtypes:
        if only != "faults":
            for zoo in (c for c in CALLABLES if half in (None, half_of(c.name)) and (dtype == "float32" or c.half)):
                wanted += [
                    Piece(
                        f"honest {zoo.name} {dtype} {seed}", zoo.name, functools.partial(honest_runs, zoo, dtype, seed)
                    )
                    for seed in range(seeds)
                ]
        if only != "honest":
            for fault in (f for f in FAULTS if half in (None, half_of(f.name))):
                if fault.single if dtype == "float32" else fault.half:
                    run = functools.partial(fault_runs, fault, dtype)
                    wanted.append(Piece(f"fault {fault.name} {dtype}", fault.name, run))
    return sorted(wanted, key=lambda piece: (half_of(piece.of) == "tuning", zlib.crc32(piece.name.encode())))


def version() -> str:
    """Return a digest of the checker's code and of torch's release: pieces of other versions are told apart."""
    digest = hashlib.sha256(torch.__version__.encode())
    root = Path(__file__).resolve().parents[1] / "course_utils" / "numerics"
    for path in sorted(root.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def run_piece(piece: Piece, folder: Path, now: str, *, may_run: bool) -> dict[str, Any] | None:
    """Read what a piece gave before, or run it; None where it is not there and may not run."""
    file = folder / f"{hashlib.sha256(piece.name.encode()).hexdigest()[:20]}.json"
    if file.exists():
        saved: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return saved
    if not may_run:
        return None
    runs = list(piece.run())
    data = {"piece": piece.name, "version": now, "runs": [asdict(run) for run in runs]}
    file.write_text(json.dumps(data), encoding="utf-8")
    return data


def read_runs(saved: Iterable[dict[str, Any]]) -> tuple[list[HonestRun], list[FaultRun]]:
    """Return honest runs and planted faults of saved pieces."""
    honest: list[HonestRun] = []
    faults: list[FaultRun] = []
    for data in saved:
        for run in data["runs"]:
            run["kinds"] = tuple(run["kinds"])
            if "fault" in run:
                faults.append(FaultRun(**run))
            else:
                honest.append(HonestRun(**run))
    return honest, faults


def table(honest: list[HonestRun], faults: list[FaultRun]) -> list[list[str]]:
    """Return both error rates for each dtype, beside the bars."""
    heading = [
        "dtype",
        "honest runs",
        "called a fault",
        "undecided",
        "the CPU's own",
        "faults",
        "found",
        "bar",
        "right name of found",
    ]
    rows = [[*heading, "wrong cure"]]
    for dtype in DTYPES:
        runs, planted = [r for r in honest if r.dtype == dtype], [r for r in faults if r.dtype == dtype]
        if not runs and not planted:
            continue
        blamed = sum(bool(r.kinds) and not r.cpu_fault for r in runs)
        unsure, its_own = sum(r.undecided and not r.kinds for r in runs), sum(r.cpu_fault for r in runs)
        found, named = sum(bool(r.kinds) for r in planted), sum(r.right_name for r in planted)
        rows.append(
            [
                dtype,
                str(len(runs)),
                f"{blamed} (bar 0)",
                f"{unsure} = {unsure / max(1, len(runs)):.1%} (bar 1%)",
                str(its_own),
                str(len(planted)),
                f"{found} = {found / max(1, len(planted)):.1%}",
                f"{BARS[dtype]:.0%}",
                f"{named / max(1, found):.1%} (bar 90%)",
                f"{sum(run.wrong_cure for run in planted)} (bar 0)",
            ]
        )
    return rows


def main(arguments: list[str] | None = None) -> int:
    """Run what is not saved yet, print the table and what was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=("tuning", "judged"), help="only this half (default: both)")
    parser.add_argument("--dtype", action="append", choices=list(DTYPES), help="repeatable (default: all)")
    parser.add_argument("--seeds", type=int, default=1, help="seeds of each honest run (default: 1)")
    parser.add_argument("--only", choices=("honest", "faults"), help="one of the two sides")
    parser.add_argument("--minutes", type=float, help="stop after so many (default: when all pieces are there)")
    parser.add_argument(
        "--folder",
        type=Path,
        default=Path(tempfile.gettempdir()) / "numerics_accuracy",
        help="where pieces are saved (default: numerics_accuracy in the folder for temporary files)",
    )
    parser.add_argument("--json", action="store_true", help="print every run as JSON")
    chosen = parser.parse_args(arguments)
    chosen.folder.mkdir(parents=True, exist_ok=True)
    wanted = pieces(chosen.dtype or list(DTYPES), chosen.half, chosen.seeds, chosen.only)
    end = time.monotonic() + 60 * chosen.minutes if chosen.minutes else float("inf")
    saved: list[dict[str, Any]] = []
    now = version()
    for piece in wanted:
        data = run_piece(piece, chosen.folder, now, may_run=time.monotonic() < end)
        if data is None:
            continue
        saved.append(data)
        if sys.stderr.isatty():
            print(f"\r\033[K{len(saved)} of {len(wanted)}  {piece.name[:60]}", end="", file=sys.stderr, flush=True)
    honest, faults = read_runs(saved)
    if chosen.json:
        print(json.dumps({"honest": [asdict(r) for r in honest], "faults": [asdict(r) for r in faults]}, indent=2))
        return 0
    print("\n".join(text_table(table(honest, faults))))
    runs: list[HonestRun | FaultRun] = [*honest, *faults]
    for run in runs:
        if run.is_wrong:
            print(f"  {run}")
    versions = {data["version"] for data in saved}
    print(f"  {len(saved)} of {len(wanted)} pieces, of {len(versions)} versions of the code, torch {torch.__version__}")
    print(f"  {sum(run.cpu_s for run in runs):.0f} s of processor time")
    return 0


if __name__ == "__main__":
    sys.exit(main())
