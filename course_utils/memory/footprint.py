"""What an estimate is: the parts of a model's memory, and what is alive at the peak."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from course_utils.reporting.results import TableResult
from course_utils.reporting.units import format_bytes

# a part smaller than this share of the peak is not worth a sentence
WORTH_A_NOTE = 0.01
PHASES = ("forward pass", "backward pass", "optimizer step")


@dataclass(frozen=True)
class BatchPeaks:
    """The peak of each phase at one batch size, traced, in bytes.

    Args:
        batch: examples in one step.
        phases_bytes: pairs (phase, peak); phases that did not run are absent.
    """

    batch: int
    phases_bytes: tuple[tuple[str, int], ...]

    @property
    def peak_bytes(self) -> int:
        """The largest of the phases' peaks."""
        return max(n_bytes for _, n_bytes in self.phases_bytes)


@dataclass(frozen=True, repr=False)
class MemoryEstimate(TableResult):
    """The memory that a model needs for one step, from a trace that allocated nothing.

    Args:
        label: the model's name.
        mode: "train" or "eval".
        dtype: the floating-point dtype of the parameters, such as "float32".
        device: whose way through attention was traced, "mps" or "cpu".
        optimizer: its name, or "none".
        keeps_output: whether the training loop keeps the output in a variable.
        accumulate_steps: batches whose gradients are summed before the optimizer steps.
        input_shapes: the inputs as text, such as "8x3x224x224 float32".
        batch: examples in one step, or None where inputs have no common batch dimension.
        n_parameters: number of parameters.
        n_trainable: how many of them are not frozen.
        parameters_bytes: the weights.
        buffers_bytes: what modules keep besides weights, such as running statistics.
        inputs_bytes: the inputs.
        gradients_bytes: all gradients, when the backward pass ends.
        optimizer_bytes: the optimizer's state.
        activations_bytes: what the forward pass saved for the backward pass, when it ends; each storage once,
            without weights, buffers and inputs.
        output_bytes: the model's output. At the peak it is a part of its own only where nothing saved it.
        kv_cache_bytes: keys and values that a decoder keeps for the tokens so far.
        at_peak_bytes: pairs (part, bytes) at the peak; their sum is `peak_bytes`. "workspace" is what no part claims:
            intermediate results and temporaries.
        peaks_by_batch: the traced peaks, one for each batch size tried; the first is this estimate's.
        largest_tensor_bytes: the largest single tensor.
        torch_version: the torch that traced.
        warnings: reasons not to trust the numbers.
    """

    label: str
    mode: str
    dtype: str
    device: str
    optimizer: str
    keeps_output: bool
    accumulate_steps: int
    input_shapes: tuple[str, ...]
    batch: int | None
    n_parameters: int
    n_trainable: int
    parameters_bytes: int
    buffers_bytes: int
    inputs_bytes: int
    gradients_bytes: int
    optimizer_bytes: int
    activations_bytes: int
    output_bytes: int
    kv_cache_bytes: int
    at_peak_bytes: tuple[tuple[str, int], ...]
    peaks_by_batch: tuple[BatchPeaks, ...]
    largest_tensor_bytes: int
    torch_version: str
    warnings: tuple[str, ...] = ()

    @property
    def peak_bytes(self) -> int:
        """All that is alive at the peak."""
        return sum(n_bytes for _, n_bytes in self.at_peak_bytes)

    @property
    def peak_phase(self) -> str:
        """The phase in which the peak falls: "forward pass", "backward pass" or "optimizer step"."""
        return max(self.peaks_by_batch[0].phases_bytes, key=lambda phase: phase[1])[0]

    @property
    def workspace_bytes(self) -> int:
        """What is alive at the peak and belongs to no other part."""
        return dict(self.at_peak_bytes)["workspace"]

    def title(self) -> str:
        """Return one sentence: what, and how much at the peak."""
        what = f"training with {self.optimizer}" if self.mode == "train" else "evaluation"
        if self.mode == "train" and self.accumulate_steps > 1:
            what += f", gradients of {self.accumulate_steps} batches summed"
        return (
            f"{self.label}, {what}, {self.dtype}, inputs {', '.join(self.input_shapes)}: "
            f"peak {format_bytes(self.peak_bytes)}, in the {self.peak_phase}"
        )

    def rows(self) -> list[list[str]]:
        """Return the table as text, the heading first: part, its largest size, its share of the peak."""
        at_peak = dict(self.at_peak_bytes)
        parts = (
            ("parameters", self.parameters_bytes),
            ("buffers", self.buffers_bytes),
            ("inputs", self.inputs_bytes),
            ("gradients", self.gradients_bytes),
            ("optimizer state", self.optimizer_bytes),
            ("activations", self.activations_bytes),
            ("output", self.output_bytes if at_peak["output"] else 0),
            ("KV cache", self.kv_cache_bytes),
            ("workspace", self.workspace_bytes),
        )
        rows = [["part", "at its largest", "at the peak"]]
        rows += [
            [name, format_bytes(n_bytes), format_bytes(at_peak[name])]
            for name, n_bytes in parts
            if n_bytes or at_peak[name]
        ]
        return [*rows, ["peak", "", format_bytes(self.peak_bytes)]]

    def notes(self) -> list[str]:
        """Return what the numbers leave out, and what the loop itself keeps alive."""
        notes = [
            "counted: tensors that torch allocates; not counted: compiled graphs and kernels, Python, other programs"
        ]
        kept_bytes = dict(self.at_peak_bytes)["output"]
        if kept_bytes >= WORTH_A_NOTE * self.peak_bytes:
            notes.append(
                f"the loop keeps the output ({format_bytes(kept_bytes)}) alive at the peak: `del` it before backward() "
                "or compute the loss in a function that returns nothing else (keeps_output=False)"
            )
        return notes

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON, with the peak."""
        return asdict(self) | {
            "at_peak_bytes": dict(self.at_peak_bytes),
            "peaks_by_batch": [{"batch": p.batch, "phases_bytes": dict(p.phases_bytes)} for p in self.peaks_by_batch],
            "peak_bytes": self.peak_bytes,
            "peak_phase": self.peak_phase,
        }
