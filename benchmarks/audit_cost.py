"""The cost of an audit beside one plain training step on the CPU, as ratios.

    python benchmarks/audit_cost.py [--json] [--rounds 5] [--batch 8]

Both do the same work: the same model, batch, cross entropy and SGD with momentum, in turns, in one process. The audit
copies the model first, which is part of its cost. No part of the tests: a wall time proves nothing on a shared machine.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from dataclasses import asdict, dataclass

import torch
from torch import nn
from tqdm import tqdm

from course_utils import audit, load_workload
from course_utils.reporting.tables import text_table
from course_utils.reporting.units import format_duration

WORKLOADS = ("resnet50", "bert_base")


@dataclass(frozen=True)
class Cost:
    """One model, stepped and audited.

    Args:
        label: the model and its batch.
        step_s: median of the plain training steps on the CPU, seconds.
        audit_s: median of the audits, seconds.
        rounds: how many of each.
    """

    label: str
    step_s: float
    audit_s: float
    rounds: int

    @property
    def ratio(self) -> float:
        """The audit over the step."""
        return self.audit_s / self.step_s


def measure(name: str, batch: int, rounds: int) -> Cost:
    """Measure a workload's step and its audit, in turns, after one of each that does not count."""
    workload = load_workload(name, "train", batch=batch)
    model, inputs, targets = workload.build()
    step, step_inputs = workload.on("cpu")

    def loss(output: torch.Tensor) -> torch.Tensor:
        return nn.functional.cross_entropy(output, targets)

    def one_audit() -> None:
        found = audit(
            model, inputs, loss=loss, optimizer=lambda parameters: torch.optim.SGD(parameters, lr=1e-4, momentum=0.9)
        )
        if not found.clean:
            raise RuntimeError(f"the audit of {name} was expected to be clean:\n{found}")

    times: dict[str, list[float]] = {"step": [], "audit": []}
    for number in range(rounds + 1):
        # who begins alternates, so that a machine that warms up or slows down favours neither
        for who in ("step", "audit") if number % 2 == 0 else ("audit", "step"):
            start = time.perf_counter()
            if who == "step":
                step(*step_inputs)
            else:
                one_audit()
            if number > 0:
                times[who].append(time.perf_counter() - start)
    return Cost(workload.label, statistics.median(times["step"]), statistics.median(times["audit"]), rounds)


def main(arguments: list[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Compare an audit's cost with a plain training step's.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument("--rounds", type=int, default=5, help="how often each is measured (default: 5)")
    parser.add_argument("--batch", type=int, default=8, help="examples in one step (default: 8)")
    options = parser.parse_args(arguments)
    for name in ("rounds", "batch"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} is {getattr(options, name)}; it has to be 1 or more")
    quiet = options.json or not sys.stderr.isatty()
    costs = [measure(name, options.batch, options.rounds) for name in tqdm(WORKLOADS, disable=quiet, leave=False)]
    if options.json:
        print(json.dumps([asdict(cost) | {"ratio": cost.ratio} for cost in costs], indent=2))
        return 0
    rows = [["model", "step", "audit", "ratio"]]
    rows += [
        [cost.label, format_duration(cost.step_s), format_duration(cost.audit_s), f"{cost.ratio:.2f}"] for cost in costs
    ]
    print(f"torch {torch.__version__}, cpu, {torch.get_num_threads()} threads, {options.rounds} rounds")
    print("\n".join(text_table(rows, indent="")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
