"""Our estimate against what torch really allocates in a training step on the CPU, as ratios.

    python benchmarks/memory_agreement.py [--json] [--batch 4]

The estimate traces the step and allocates nothing; the measurement runs it and adds up the profiler's memory records.
A ratio of 1.00 means agreement. Bytes do not depend on how busy the machine is.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass

import torch
from torch import nn
from tqdm import tqdm

from course_utils import estimate_memory, load_workload, workload_names
from course_utils.benchmarking.workloads import Workload
from course_utils.memory.measured import measure_cpu_peak
from course_utils.memory.tracing import MakeOptimizer
from course_utils.reporting.tables import text_table
from course_utils.reporting.units import format_bytes, format_duration

OPTIMIZERS: dict[str, MakeOptimizer] = {
    "sgd-momentum": lambda parameters: torch.optim.SGD(parameters, lr=1e-4, momentum=0.9),
    "adamw": torch.optim.AdamW,
}


@dataclass(frozen=True)
class Agreement:
    """One training step, estimated and measured.

    Args:
        label: the workload.
        optimizer: the optimizer.
        estimated_bytes: the estimated peak.
        measured_bytes: the measured peak: what was alive before, and the profiler's peak above it.
        estimate_s: how long the estimate took, seconds; three batch sizes.
    """

    label: str
    optimizer: str
    estimated_bytes: int
    measured_bytes: int
    estimate_s: float

    @property
    def ratio(self) -> float:
        """The estimate over the measurement."""
        return self.estimated_bytes / self.measured_bytes


def measured_step_peak(
    model: nn.Module, inputs: torch.Tensor, targets: torch.Tensor, optimizer: torch.optim.Optimizer
) -> int:
    """Measure the peak of a training step in the middle of training, in bytes, weights and state included."""
    model.train()

    def step() -> None:
        loss = nn.functional.cross_entropy(model(inputs), targets)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()

    step()  # the optimizer's state exists from here on
    optimizer.zero_grad(set_to_none=True)
    alive = [*model.parameters(), *model.buffers(), inputs, targets]
    alive += [t for state in optimizer.state.values() for t in state.values() if isinstance(t, torch.Tensor)]
    return sum(tensor.nbytes for tensor in alive) + measure_cpu_peak(step)


def compare(workload: Workload, optimizer: str) -> Agreement:
    """Estimate and measure one workload."""
    model, inputs, targets = workload.build()
    start = time.perf_counter()
    estimate = estimate_memory(model, inputs, optimizer=optimizer, device="cpu")
    took_s = time.perf_counter() - start
    measured = measured_step_peak(model, inputs, targets, OPTIMIZERS[optimizer](list(model.parameters())))
    return Agreement(workload.label, optimizer, estimate.peak_bytes, measured, took_s)


def main(arguments: list[str] | None = None) -> int:
    """Estimate, measure and print."""
    parser = argparse.ArgumentParser(description="Compare estimated memory peaks with measured ones, as ratios.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument("--batch", type=int, default=4, metavar="N", help="examples in one step (default: 4)")
    options = parser.parse_args(arguments)
    if options.batch < 1:
        parser.error(f"--batch is {options.batch}; it has to be 1 or more")
    names = [name for name in workload_names() if name != "matmul"]
    cases = [
        (load_workload(name, "train", batch=options.batch), optimizer) for name in names for optimizer in OPTIMIZERS
    ]
    quiet = options.json or not sys.stderr.isatty()
    results = [compare(workload, optimizer) for workload, optimizer in tqdm(cases, disable=quiet, leave=False)]
    if options.json:
        print(json.dumps([asdict(result) | {"ratio": result.ratio} for result in results], indent=2))
        return 0
    rows = [["workload", "optimizer", "estimated", "measured", "ratio", "estimate took"]]
    rows += [
        [
            result.label,
            result.optimizer,
            format_bytes(result.estimated_bytes),
            format_bytes(result.measured_bytes),
            f"{result.ratio:.3f}",
            format_duration(result.estimate_s),
        ]
        for result in results
    ]
    print(f"torch {torch.__version__}, cpu, {torch.get_num_threads()} threads")
    print("\n".join(text_table(rows, indent="")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
