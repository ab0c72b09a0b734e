"""How often the numerics checker is wrong, in both directions: honest kernels called faulty, planted faults missed.

    python benchmarks/numerics_accuracy.py [--half tuning|judged] [--dtype float32] [--every 10] [--json]

Honest callables run on honest devices (the CPU with other threads, other attention, other orders of adding,
functions a few last places off), planted faults on the CPU with one operator changed. Callables and faults are split
into two halves by name: thresholds are chosen on the first ("tuning") and judged on the second. A whole run takes
hours on two cores; `--every 10` takes a tenth of it. No part of the tests, which hold a selection.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs as a script

from benchmarks.numerics_zoo.callables import CALLABLES, ZooCallable
from benchmarks.numerics_zoo.devices import HONEST_DEVICES
from benchmarks.numerics_zoo.faults import FAULTS, ZooFault
from course_utils.numerics import NumericsReport, compare_numerics
from course_utils.reporting.tables import text_table

DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
# bars of the two error rates: honest runs called a fault, undecided ones; faults found, named rightly
BARS = {"float32": 0.98, "float16": 0.92, "bfloat16": 0.80}
# right answers that a dtype cannot hold, and what no device computes or can compare, say nothing of the device
_NOT_ABOUT_THE_DEVICE = ("overflow", "not comparable")


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


@dataclass(frozen=True)
class FaultRun:
    """One planted fault."""

    fault: str
    dtype: str
    kinds: tuple[str, ...]
    right_name: bool
    undecided: bool
    cpu_s: float


def half_of(name: str) -> str:
    """Return in which half a name is, the same on every machine."""
    return "tuning" if zlib.crc32(name.encode()) % 2 else "judged"


def honest_runs(dtypes: list[str], half: str | None, every: int, seeds: int) -> Iterator[HonestRun]:
    """Compare honest callables on honest devices, sizes as given."""
    wanted = [c for c in CALLABLES if half in (None, half_of(c.name))][::every]
    cases = [(c, d, t, s) for c in wanted for t in dtypes for d in HONEST_DEVICES for s in range(seeds)]
    for zoo, device, dtype, seed in tqdm(cases, desc="honest", file=sys.stderr):
        if dtype != "float32" and not zoo.half:
            continue
        started = time.process_time()
        report = _compare(zoo, device, dtype, seed)
        if report is None:
            continue
        kinds = tuple(f.kind for f in report.findings if f.kind not in _NOT_ABOUT_THE_DEVICE)
        if kinds == ("refused",) and "so does the CPU" in report.findings[0].sentence:
            continue
        undecided = bool(report.undecided)
        yield HonestRun(zoo.name, device.name, dtype, seed, kinds, undecided, time.process_time() - started)


def _compare(zoo: ZooCallable, device: object, dtype: str, seed: int) -> NumericsReport | None:
    fn, inputs = zoo.make(1000 * seed)
    try:
        return compare_numerics(fn, inputs, device=device, dtypes=[DTYPES[dtype]], largest_elements=0)  # type: ignore[arg-type]
    except ValueError:  # the CPU has no kernel for it in any dtype
        return None


def fault_runs(dtypes: list[str], half: str | None, every: int) -> Iterator[FaultRun]:
    """Compare with planted faults, sizes beyond the given ones too."""
    wanted = [f for f in FAULTS if half in (None, half_of(f.name))][::every]
    for fault, dtype in tqdm([(f, t) for f in wanted for t in dtypes], desc="faults", file=sys.stderr):
        if not (fault.single if dtype == "float32" else fault.half):
            continue
        yield _plant(fault, dtype)


def _plant(fault: ZooFault, dtype: str) -> FaultRun:
    fn, inputs = fault.made()
    started = time.process_time()
    report = compare_numerics(fn, inputs, device=fault.device(), dtypes=[DTYPES[dtype]])
    right = bool(report.kinds) and set(report.kinds) <= set(fault.kinds)
    undecided = bool(report.undecided)
    return FaultRun(fault.name, dtype, report.kinds, right, undecided, time.process_time() - started)


def table(honest: list[HonestRun], faults: list[FaultRun]) -> list[list[str]]:
    """Return both error rates for each dtype, beside the bars."""
    rows = [["dtype", "honest runs", "called a fault", "undecided", "faults", "found", "bar", "right name of found"]]
    for dtype in DTYPES:
        runs, planted = [r for r in honest if r.dtype == dtype], [r for r in faults if r.dtype == dtype]
        if not runs and not planted:
            continue
        blamed, unsure = sum(bool(r.kinds) for r in runs), sum(r.undecided and not r.kinds for r in runs)
        found, named = sum(bool(r.kinds) for r in planted), sum(r.right_name for r in planted)
        rows.append(
            [
                dtype,
                str(len(runs)),
                f"{blamed} (bar 0)",
                f"{unsure / max(1, len(runs)):.1%} (bar 1%)",
                str(len(planted)),
                f"{found / max(1, len(planted)):.1%}",
                f"{BARS[dtype]:.0%}",
                f"{named / max(1, found):.1%} (bar 90%)",
            ]
        )
    return rows


def main(arguments: list[str] | None = None) -> int:
    """Run, print the table and what was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=("tuning", "judged"), help="only this half (default: both)")
    parser.add_argument("--dtype", action="append", choices=list(DTYPES), help="repeatable (default: all)")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every N-th callable and fault")
    parser.add_argument("--seeds", type=int, default=2, help="seeds of each honest run (default: 2)")
    parser.add_argument("--only", choices=("honest", "faults"), help="one of the two sides")
    parser.add_argument("--json", action="store_true", help="print every run as JSON")
    chosen = parser.parse_args(arguments)
    dtypes = chosen.dtype or list(DTYPES)
    honest = [] if chosen.only == "faults" else list(honest_runs(dtypes, chosen.half, chosen.every, chosen.seeds))
    faults = [] if chosen.only == "honest" else list(fault_runs(dtypes, chosen.half, chosen.every))
    if chosen.json:
        print(json.dumps({"honest": [asdict(r) for r in honest], "faults": [asdict(r) for r in faults]}, indent=2))
        return 0
    print("\n".join(text_table(table(honest, faults))))
    for run in honest:
        if run.kinds or run.undecided:
            kinds = ", ".join(run.kinds) or "undecided"
            print(f"  honest, {kinds}: {run.callable} on {run.device}, {run.dtype}, seed {run.seed}")
    for planted in faults:
        if not planted.right_name:
            print(f"  planted, {', '.join(planted.kinds) or 'not found'}: {planted.fault}, {planted.dtype}")
    spent = sum(run.cpu_s for run in honest) + sum(planted.cpu_s for planted in faults)
    print(f"  {spent:.0f} s of processor time, torch {torch.__version__}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
