"""Our estimate against what torch really allocates in training loops on the CPU, as ratios.

    python benchmarks/memory_agreement.py [--json] [--batch 8]

The loops are written as people write them: the output kept in a variable, the loss computed in a function that keeps
nothing, gradients summed over batches. The estimate traces one step and allocates nothing; the measurement runs the
loop and adds up the profiler's memory records. A ratio of 1.00 means agreement. Bytes do not depend on how busy the
machine is. The models are the course's workloads, and a language model whose logits outweigh everything else.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import nn
from tqdm import tqdm

from course_utils import estimate_memory, load_workload, workload_names
from course_utils.memory.measured import measure_cpu_peak
from course_utils.memory.settings import OptimizerFactory
from course_utils.reporting.tables import text_table
from course_utils.reporting.units import format_bytes, format_duration

OPTIMIZERS: dict[str, OptimizerFactory] = {
    "sgd-momentum": lambda parameters: torch.optim.SGD(parameters, lr=1e-4, momentum=0.9),
    "adamw": torch.optim.AdamW,
}
ACCUMULATED = 2
# encoders need no more to be measured; images keep their size
SHORT = {"bert_base": 32, "distilbert": 32}
TOKENS = 128
Batches = list[tuple[torch.Tensor, torch.Tensor]]
Loop = Callable[[nn.Module, Batches, torch.optim.Optimizer], None]
Parts = tuple[nn.Module, torch.Tensor, torch.Tensor]


def output_in_a_variable(model: nn.Module, batches: Batches, optimizer: torch.optim.Optimizer) -> None:
    """Train as most tutorials do."""
    for inputs, targets in batches:
        optimizer.zero_grad()
        logits = model(inputs)
        loss = nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.flatten())
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    optimizer.zero_grad()


def loss_in_a_function(model: nn.Module, batches: Batches, optimizer: torch.optim.Optimizer) -> None:
    """Train with a function that returns the loss alone."""

    def loss_of(inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        logits = model(inputs)
        return nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.flatten())

    for inputs, targets in batches:
        loss_of(inputs, targets).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        optimizer.zero_grad()


def gradients_summed(model: nn.Module, batches: Batches, optimizer: torch.optim.Optimizer) -> None:
    """Train with gradients summed over some batches."""
    for number, (inputs, targets) in enumerate(batches, start=1):
        logits = model(inputs)
        loss = nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.flatten())
        (loss / ACCUMULATED).backward()  # type: ignore[no-untyped-call]
        if number % ACCUMULATED == 0:
            optimizer.step()
            optimizer.zero_grad()


LOOPS: dict[Loop, dict[str, Any]] = {
    output_in_a_variable: {},
    loss_in_a_function: {"keeps_output": False},
    gradients_summed: {"accumulate_steps": ACCUMULATED},
}


class LanguageModel(nn.Module):
    """A small transformer with a large vocabulary: its logits outweigh its activations.

    Args:
        vocabulary: number of tokens known.
        width: embedding width.
    """

    def __init__(self, vocabulary: int, width: int = 64) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.positions = nn.Parameter(torch.zeros(TOKENS, width))
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return logits, (B, T, vocabulary), of token numbers, int64, (B, T)."""
        hidden = self.embedding(tokens) + self.positions[: tokens.shape[1]]
        logits: torch.Tensor = self.head(self.layers(hidden))
        return logits


@dataclass(frozen=True)
class Agreement:
    """One training loop, estimated and measured.

    Args:
        label: the workload.
        loop: how the loop is written.
        optimizer: the optimizer.
        estimated_bytes: the estimated peak.
        measured_bytes: the measured peak: what was alive before, and the profiler's peak above it.
        estimate_s: how long the estimate took, seconds; four batch sizes.
    """

    label: str
    loop: str
    optimizer: str
    estimated_bytes: int
    measured_bytes: int
    estimate_s: float

    @property
    def ratio(self) -> float:
        """The estimate over the measurement."""
        return self.estimated_bytes / self.measured_bytes


def measured_loop_peak(loop: Loop, parts: Parts, optimizer: torch.optim.Optimizer) -> int:
    """Measure the peak of a loop in the middle of training, in bytes, weights and state included."""
    model, inputs, targets = parts
    model.train()
    batches = [(inputs, targets)] * ACCUMULATED
    loop(model, batches, optimizer)  # the optimizer's state exists from here on
    alive = [*model.parameters(), *model.buffers(), inputs, targets]
    alive += [t for state in optimizer.state.values() for t in state.values() if isinstance(t, torch.Tensor)]
    return sum(tensor.nbytes for tensor in alive) + measure_cpu_peak(lambda: loop(model, batches, optimizer))


def compare(label: str, parts: Parts, loop: Loop, optimizer: str) -> Agreement:
    """Estimate and measure one loop.

    Args:
        label: the model's name.
        parts: the model, its inputs and its targets.
        loop: one of `LOOPS`.
        optimizer: one of `OPTIMIZERS`.
    """
    start = time.perf_counter()
    estimate = estimate_memory(parts[0], parts[1], optimizer=optimizer, device="cpu", **LOOPS[loop])
    took_s = time.perf_counter() - start
    measured = measured_loop_peak(loop, parts, OPTIMIZERS[optimizer](list(parts[0].parameters())))
    return Agreement(label, loop.__name__.replace("_", " "), optimizer, estimate.peak_bytes, measured, took_s)


def language_model(batch: int, vocabulary: int = 20_000) -> Parts:
    """Make the language model with inputs and targets."""
    inputs, targets = torch.randint(vocabulary, (2, batch, TOKENS))
    return LanguageModel(vocabulary), inputs, targets


def cases(batch: int) -> list[tuple[str, Callable[[], Parts], Loop, str]]:
    """List what is compared: the language model and each workload in each loop, with the optimizers in turn."""
    workloads = [
        load_workload(name, "train", batch=batch, size=SHORT.get(name)) for name in workload_names() if name != "matmul"
    ]
    models: list[tuple[str, Callable[[], Parts]]] = [
        (f"language model, batch {batch}", lambda: language_model(batch)),
        *((workload.label, workload.build) for workload in workloads),
    ]
    pairs = [(label, build, loop) for label, build in models for loop in LOOPS]
    return [(*pair, list(OPTIMIZERS)[number % 2]) for number, pair in enumerate(pairs)]


def main(arguments: list[str] | None = None) -> int:
    """Estimate, measure and print."""
    parser = argparse.ArgumentParser(description="Compare estimated memory peaks with measured ones, as ratios.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument("--batch", type=int, default=8, metavar="N", help="examples in one step (default: 8)")
    options = parser.parse_args(arguments)
    if options.batch < 1:
        parser.error(f"--batch is {options.batch}; it has to be 1 or more")
    quiet = options.json or not sys.stderr.isatty()
    results = [
        compare(label, build(), loop, optimizer)
        for label, build, loop, optimizer in tqdm(cases(options.batch), disable=quiet, leave=False)
    ]
    if options.json:
        print(json.dumps([asdict(result) | {"ratio": result.ratio} for result in results], indent=2))
        return 0
    rows = [["workload", "loop", "optimizer", "estimated", "measured", "ratio", "estimate took"]]
    rows += [
        [
            result.label,
            result.loop,
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
