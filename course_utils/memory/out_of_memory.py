"""Read torch's out-of-memory messages of MPS: what each number is, what it means, what helps."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any, Literal

from course_utils.devices.environment_variables import DEFAULT_RATIOS, HIGH_WATERMARK, WHERE_TO_SET
from course_utils.memory.working_set import ram_for
from course_utils.reporting.results import TableResult
from course_utils.reporting.tables import text_table
from course_utils.reporting.units import GIB, format_bytes, parse_size

_SIZE = r"(\d+(?:\.\d+)?\s*(?:bytes|[KMGT]i?B))"
# torch 1.13-2.14: "private pool" before storage was shared (2.12), GB before 2.6 and GiB since; long logs wrap lines
_FULL = re.compile(
    rf"MPS\s+allocated:\s*{_SIZE},\s*other\s+allocations:\s*{_SIZE},\s*max\s+allowed:\s*{_SIZE}\s*\)?"
    rf"(?:.*?Tried\s+to\s+allocate\s*{_SIZE}(?:\s+on\s+(private|shared)\s+pool)?)?",
    re.IGNORECASE | re.DOTALL,
)
_BUFFER = re.compile(rf"Invalid\s+buffer\s+size:\s*{_SIZE}", re.IGNORECASE)
EXAMPLE = "'MPS backend out of memory (MPS allocated: ..., other allocations: ..., max allowed: ...)'"

LESS = (
    "use a smaller batch, float16 or bfloat16, or train fewer parameters; `course memory FILE.py:make_model` says how "
    "much each saves"
)
CACHE = "drop references to old results (a list of losses that were never .item()), then torch.mps.empty_cache()"
SHAPES = (
    "pad inputs to a few lengths: MPS keeps a compiled graph for each shape, and before torch 2.13 empty_cache does "
    "not free it (pytorch #132596, #181485)"
)
NO_GUARD = (
    f"leave {HIGH_WATERMARK} alone: 0.0 removes the limit, not the shortage, and can freeze the Mac (pytorch #96814); "
    f"if you must change it, {WHERE_TO_SET}"
)


@dataclass(frozen=True, repr=False)
class OutOfMemory(TableResult):
    """What an out-of-memory message of MPS says, in bytes.

    Args:
        kind: "limit" (all allocations together are too much) or "buffer" (one tensor is too large for Metal).
        requested_bytes: what torch tried to allocate, or None where the message was cut off.
        allocated_bytes: what torch's tensors hold on the device; None for a "buffer" message, like the next two.
        other_bytes: the rest that Metal counts on the device.
        max_allowed_bytes: torch's hard limit.
        pool: "private" or "shared", as the message names it, or None.
        findings: sentences that say what the numbers mean.
        advice: what helps, best first.
    """

    kind: Literal["limit", "buffer"]
    requested_bytes: int | None
    allocated_bytes: int | None = None
    other_bytes: int | None = None
    max_allowed_bytes: int | None = None
    pool: str | None = None
    findings: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()

    @property
    def total_bytes(self) -> int | None:
        """Allocated, other and requested together; None for a "buffer" message."""
        if self.allocated_bytes is None or self.other_bytes is None:
            return None
        return self.allocated_bytes + self.other_bytes + (self.requested_bytes or 0)

    @property
    def capacity_bytes(self) -> int | None:
        """The recommended working set, which is the capacity to plan with: the limit divided by 1.7."""
        return (
            None if self.max_allowed_bytes is None else round(self.max_allowed_bytes / DEFAULT_RATIOS[HIGH_WATERMARK])
        )

    def rows(self) -> list[list[str]]:
        """Return the table as text, the heading first."""
        named = (
            ("MPS allocated", self.allocated_bytes, "tensors that torch holds on the device"),
            ("other allocations", self.other_bytes, "graphs, temporaries and whatever else Metal counts there"),
            ("tried to allocate", self.requested_bytes, "the request that failed"),
            ("together", self.total_bytes, "has to stay below max allowed"),
            ("max allowed", self.max_allowed_bytes, "torch's hard limit: 1.7 times the recommended working set"),
            ("capacity", self.capacity_bytes, "the recommended working set: plan with this"),
        )
        rows = [[name, format_bytes(n_bytes), what] for name, n_bytes, what in named if n_bytes is not None]
        return [["number", "size", "what it is"], *rows]

    def __str__(self) -> str:
        lines = [*text_table(self.rows(), indent=""), *self.findings]
        return "\n".join([*lines, "What helps:", *(f"  - {line}" for line in self.advice)])

    def title(self) -> str:
        """Return what was explained."""
        return "An out-of-memory message of MPS"

    def notes(self) -> list[str]:
        """Return what the numbers mean, and what helps."""
        return [*self.findings, *self.advice]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON, with the sum and the capacity."""
        return asdict(self) | {"total_bytes": self.total_bytes, "capacity_bytes": self.capacity_bytes}


def explain_out_of_memory(text: str) -> OutOfMemory:
    """Explain a pasted out-of-memory message of MPS; text around it does not matter.

    Args:
        text: the message, or a whole traceback that holds it.

    Raises:
        ValueError: when the text holds no such message; one sentence.
    """
    if found := _FULL.search(text):
        allocated, other, limit, requested = (None if g is None else parse_size(g) for g in found.groups()[:4])
        assert allocated is not None  # the pattern makes the first three groups mandatory
        assert other is not None
        assert limit is not None
        return _explain_limit(allocated, other, limit, requested, found[5] and found[5].lower())
    if found := _BUFFER.search(text):
        return _explain_buffer(parse_size(found[1]))
    if "CUDA out of memory" in text:
        raise ValueError("this is a message of CUDA, not of MPS; its numbers are those of an NVIDIA GPU's own memory")
    raise ValueError(f"this text holds no out-of-memory message of MPS; paste the line with {EXAMPLE}")


def _explain_limit(allocated: int, other: int, limit: int, requested: int | None, pool: str | None) -> OutOfMemory:
    total = allocated + other + (requested or 0)
    capacity = limit / DEFAULT_RATIOS[HIGH_WATERMARK]
    findings = [
        f"{format_bytes(total)} together {'exceed' if total > limit else 'do not exceed'} the limit of "
        f"{format_bytes(limit)}; comfortable would be {format_bytes(capacity)}."
    ]
    ram = ram_for(capacity)
    if ram is not None:
        above = " and more than its RAM, so it swaps before torch stops" if limit > ram * GIB else ""
        findings.append(f"The limit is that of a Mac with {ram} GB: 1.7 times its recommended working set{above}.")
    if total <= limit and allocated + other == 0:
        findings.append(
            "Nothing was allocated and still the first request failed: no shortage, the device cannot allocate "
            "at all (virtual Macs and CI runners do this, actions/runner-images #9918)."
        )
        return OutOfMemory(
            "limit",
            requested,
            allocated,
            other,
            limit,
            pool,
            tuple(findings),
            ("use the CPU on this machine; `course doctor` says whether MPS computes here",),
        )
    if total <= limit:
        findings.append("The sum is below the limit: memory is fragmented, or the numbers were rounded.")
    if other > allocated:
        findings.append(
            f"Other allocations dominate ({format_bytes(other)} against {format_bytes(allocated)} of tensors): a "
            "smaller model alone will not help much."
        )
        advice: tuple[str, ...] = (
            SHAPES,
            "restart the kernel, and close other programs that use the GPU",
            CACHE,
            LESS,
            NO_GUARD,
        )
    else:
        findings.append(f"Tensors dominate: {format_bytes(allocated)} of {format_bytes(allocated + other)}.")
        advice = (LESS, CACHE, SHAPES, NO_GUARD)
    return OutOfMemory("limit", requested, allocated, other, limit, pool, tuple(findings), advice)


def _explain_buffer(requested: int) -> OutOfMemory:
    return OutOfMemory(
        "buffer",
        requested,
        findings=(
            f"One tensor of {format_bytes(requested)} is larger than the largest buffer that Metal makes on this Mac "
            "(maxBufferLength), however much memory is free.",
        ),
        advice=(
            "find the operation that makes it, often attention over a long sequence or a product that broadcasts, and "
            "do it in slices",
            "halve it with float16 or bfloat16",
            "use a smaller batch, a shorter sequence or a smaller image",
        ),
    )
