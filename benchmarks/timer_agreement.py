"""Our median against torch.utils.benchmark's, on the same five workloads in one run, as ratios.

    python benchmarks/timer_agreement.py [--json] [--rounds 3]

Both measure the same set-up object, in turns, with the same number of threads. A ratio of 1.00 means agreement; noise
of a busy machine shows in both. No part of the tests: a wall time proves nothing on a shared machine.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from dataclasses import asdict, dataclass

import torch
from torch.utils import benchmark as torch_benchmark
from tqdm import tqdm

from course_utils import benchmark, load_workload, pick_device
from course_utils.benchmarking.workloads import Workload
from course_utils.reporting.tables import text_table
from course_utils.reporting.units import format_duration

WORKLOADS = (
    load_workload("matmul", size=512),
    load_workload("mobilenet_v3", "forward"),
    load_workload("resnet18", "forward"),
    load_workload("resnet18", "train"),
    load_workload("distilbert", "forward"),
)
MEASURED_S = 2.0


@dataclass(frozen=True)
class Agreement:
    """One workload, measured both ways.

    Args:
        label: the workload.
        ours_s: our median of the rounds' medians, seconds.
        torch_s: torch's, seconds.
        ours_wall_s: wall time that ours took in all rounds, warm-up included, seconds.
        torch_wall_s: wall time that torch's took, seconds.
    """

    label: str
    ours_s: float
    torch_s: float
    ours_wall_s: float
    torch_wall_s: float

    @property
    def ratio(self) -> float:
        """Our median over torch's."""
        return self.ours_s / self.torch_s


def measure(workload: Workload, device: torch.device, rounds: int) -> Agreement:
    """Measure one workload both ways, in turns."""
    fn, inputs = workload.on(device)
    timer = torch_benchmark.Timer(
        "fn(*inputs)", globals={"fn": fn, "inputs": inputs}, num_threads=torch.get_num_threads()
    )
    medians: dict[str, list[float]] = {"ours": [], "torch": []}
    walls = {"ours": 0.0, "torch": 0.0}
    for number in range(rounds):
        # who begins alternates, so that a machine that warms up or slows down favours neither
        for who in ("ours", "torch") if number % 2 == 0 else ("torch", "ours"):
            start = time.perf_counter()
            if who == "ours":
                timing = benchmark(fn, inputs=inputs, device=device, min_time_s=MEASURED_S, max_time_s=2 * MEASURED_S)
                medians[who].append(timing.median_s)
            else:
                medians[who].append(timer.blocked_autorange(min_run_time=MEASURED_S).median)
            walls[who] += time.perf_counter() - start
    return Agreement(
        label=workload.label,
        ours_s=statistics.median(medians["ours"]),
        torch_s=statistics.median(medians["torch"]),
        ours_wall_s=walls["ours"],
        torch_wall_s=walls["torch"],
    )


def main(arguments: list[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Compare our timer with torch's, as ratios.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument("--rounds", type=int, default=3, help="how often both measure each workload (default: 3)")
    options = parser.parse_args(arguments)
    if options.rounds < 1:
        parser.error(f"--rounds is {options.rounds}; it has to be 1 or more")
    device = pick_device()
    quiet = options.json or not sys.stderr.isatty()
    results = [measure(workload, device, options.rounds) for workload in tqdm(WORKLOADS, disable=quiet, leave=False)]
    if options.json:
        print(json.dumps([asdict(result) | {"ratio": result.ratio} for result in results], indent=2))
        return 0
    rows = [["workload", "ours", "torch", "ratio", "wall, ours", "wall, torch"]]
    rows += [
        [
            result.label,
            format_duration(result.ours_s),
            format_duration(result.torch_s),
            f"{result.ratio:.3f}",
            format_duration(result.ours_wall_s),
            format_duration(result.torch_wall_s),
        ]
        for result in results
    ]
    print(f"torch {torch.__version__}, {device}, {torch.get_num_threads()} threads, {options.rounds} rounds")
    print("\n".join(text_table(rows, indent="")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
