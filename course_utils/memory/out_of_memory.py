"""Explain what people paste when memory ran out or a program ended: each number, the cause, what helps."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from course_utils.devices.environment_variables import DEFAULT_RATIOS, HIGH_WATERMARK, WHERE_TO_SET
from course_utils.memory.known_texts import KnownText, TextKind, find_known_text
from course_utils.memory.pasted import clean, find
from course_utils.memory.working_set import ram_for
from course_utils.reporting.results import TableResult
from course_utils.reporting.tables import text_table
from course_utils.reporting.units import GIB, format_bytes, parse_size

_SIZE = r"(\d+(?:\.\d+)? (?:bytes|[kmgt]i?b))"
_REQUEST = rf"(?:.*?tried to allocate {_SIZE}(?: on (private|shared) pool)?)?"
# torch 1.13-2.14: "private pool" before storage was shared (2.12), GB before 2.6 and GiB since; without a limit the
# last number is missing (aten/src/ATen/mps/MPSAllocator.mm)
_FULL = rf"mps allocated: {_SIZE}, other allocations: {_SIZE}(?:, max allowed: ({_SIZE}|unlimited))? \)?{_REQUEST}"
# torch 1.12 and early 1.13
_OLDER = rf"currently allocated: {_SIZE}, max allowed: ({_SIZE}|unlimited) \)?{_REQUEST}"
_BUFFER = rf"invalid buffer size: {_SIZE}"
EXAMPLE = "'MPS backend out of memory (MPS allocated: ..., other allocations: ..., max allowed: ...)'"
# torch refuses before the sum of its allocations passes the limit; the numbers are rounded to 0.01 of their unit
CONTRADICTION = 1.05

LESS = (
    "use a smaller batch, float16 or bfloat16, or train fewer parameters; `course memory FILE.py:make_model` says how "
    "much each saves"
)
CACHE = (
    "drop references to old results (a list of losses that were never detached), then torch.mps.empty_cache(), which "
    "gives freed blocks back in every release"
)
SHAPES = (
    "pad inputs to a few lengths, and use torch 2.14 or newer: before it, freed blocks could not be split or joined "
    "for another length (pytorch #188045); MPS also keeps a compiled graph for each shape, which empty_cache has freed "
    "since 2.13 (pytorch #132596, #181485)"
)
RESTART = "restart the kernel, and close other programs that use the GPU"
NO_GUARD = (
    f"leave {HIGH_WATERMARK} alone: 0.0 removes the limit, not the shortage, and torch itself warns of system failure; "
    f"if you must change it, {WHERE_TO_SET}"
)


@dataclass(frozen=True, repr=False)
class MemoryMessage(TableResult):
    """What a pasted text says; sizes in bytes.

    Args:
        kind: "limit" (all allocations together are more than torch allows), "no limit" (torch's limit is switched off
            and Metal had no more), "buffer" (one tensor is too large for Metal), or one of `KnownText`.
        headline: what happened, in words.
        requested_bytes: what was to be allocated, or None where the text does not say.
        allocated_bytes: what torch's tensors hold on the device.
        other_bytes: the rest that Metal counts on the device.
        max_allowed_bytes: torch's hard limit.
        pool: "private" or "shared", as the text names it, or None.
        findings: sentences that say what the numbers or words mean.
        advice: what helps, best first.
        ends_process: whether the process is gone when the text appears.
        sources: public reports of the same text.
    """

    kind: TextKind
    headline: str
    requested_bytes: int | None = None
    allocated_bytes: int | None = None
    other_bytes: int | None = None
    max_allowed_bytes: int | None = None
    pool: str | None = None
    findings: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    ends_process: bool = False
    sources: tuple[str, ...] = ()

    @property
    def total_bytes(self) -> int | None:
        """Allocated, other and requested together; None where the text does not give what is allocated."""
        if self.allocated_bytes is None:
            return None
        return self.allocated_bytes + (self.other_bytes or 0) + (self.requested_bytes or 0)

    @property
    def capacity_bytes(self) -> int | None:
        """The recommended working set, which is the capacity to plan with: the limit divided by 1.7."""
        if self.max_allowed_bytes is None:
            return None
        return round(self.max_allowed_bytes / DEFAULT_RATIOS[HIGH_WATERMARK])

    def title(self) -> str:
        """Return what happened."""
        return self.headline

    def rows(self) -> list[list[str]]:
        """Return the numbers as text, the heading first."""
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

    def notes(self) -> list[str]:
        """Return what the text means, and what helps."""
        return [*self.findings, *self.advice, *([f"reports: {', '.join(self.sources)}"] if self.sources else [])]

    def __str__(self) -> str:
        rows = self.rows()
        lines = [self.headline + ".", *(text_table(rows, indent="") if len(rows) > 1 else []), *self.findings]
        lines += ["What helps:", *(f"  - {line}" for line in self.advice)]
        return "\n".join([*lines, *([f"Reports: {', '.join(self.sources)}"] if self.sources else [])])

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON, with the sum and the capacity."""
        return asdict(self) | {"total_bytes": self.total_bytes, "capacity_bytes": self.capacity_bytes}


def explain_out_of_memory(text: str) -> MemoryMessage:
    """Explain a pasted text about memory, or about a program that ended; text around it does not matter.

    Args:
        text: the message, or a whole traceback or terminal that holds it.

    Raises:
        ValueError: when the text holds none that is known, or one of CUDA; one sentence.
    """
    cleaned = clean(text)
    if found := find(_FULL, cleaned):
        allocated, other, limit, _, requested, pool = found.groups()
        return _explain_allocator(allocated, other, limit, requested, pool)
    if found := find(_OLDER, cleaned):
        allocated, limit, _, requested, pool = found.groups()
        return _explain_allocator(allocated, None, limit, requested, pool)
    if found := find(_BUFFER, cleaned):
        return _explain_buffer(parse_size(found[1]))
    if find("mps backend out of memory", cleaned):
        cut = "The numbers are cut off: paste the whole message to learn what they mean."
        return MemoryMessage("limit", "MPS ran out of memory", findings=(cut,), advice=(LESS, CACHE, SHAPES, NO_GUARD))
    if find("cuda out of memory", cleaned):
        raise ValueError("this is a message of CUDA, not of MPS; its numbers are those of an NVIDIA GPU's own memory")
    known = find_known_text(cleaned)
    if known is None:
        raise ValueError(
            "this text holds no out-of-memory message of MPS, and no other text that is known here; paste the line "
            f"with {EXAMPLE}, or the last lines of the terminal"
        )
    return _explain_known(*known)


def _explain_allocator(
    allocated: str, other: str | None, limit: str | None, requested: str | None, pool: str | None
) -> MemoryMessage:
    """Explain the numbers of torch's allocator, given as text; `other` is missing in old releases."""
    message = MemoryMessage(
        "limit",
        "MPS ran out of memory",
        requested_bytes=None if requested is None else parse_size(requested),
        allocated_bytes=parse_size(allocated),
        other_bytes=None if other is None else parse_size(other),
        pool=pool,
    )
    if limit is None or limit == "unlimited":
        return replace(
            message,
            kind="no limit",
            headline="MPS ran out of memory without a limit",
            findings=(
                f"No limit is given: {HIGH_WATERMARK} was 0, so torch set none, and Metal itself had no more memory.",
                "Without a limit macOS compresses and swaps, can freeze, and may end the process without a message.",
            ),
            advice=(f"unset {HIGH_WATERMARK}, so that torch raises an error in time", LESS, CACHE),
        )
    message = replace(message, max_allowed_bytes=parse_size(limit))
    findings, advice = _judge_numbers(message)
    return replace(message, findings=findings, advice=advice)


def _judge_numbers(message: MemoryMessage) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what the numbers of a message with a limit mean, and what helps."""
    limit, total, capacity = message.max_allowed_bytes or 0, message.total_bytes or 0, message.capacity_bytes or 0
    held = total - (message.requested_bytes or 0)
    findings = [
        f"{format_bytes(total)} together {'exceed' if total > limit else 'do not exceed'} the limit of "
        f"{format_bytes(limit)}; comfortable would be {format_bytes(capacity)}."
    ]
    ram = ram_for(capacity) if capacity else None
    if ram is not None:
        above = " and more than its RAM, so it swaps before torch stops" if limit > ram * GIB else ""
        findings.append(f"The limit is that of a Mac with {ram} GB: 1.7 times its recommended working set{above}.")
    if held > CONTRADICTION * limit:
        findings.append(
            f"The numbers contradict each other: {format_bytes(held)} are allocated and only {format_bytes(limit)} are "
            "allowed, which torch does not let happen, unless torch.mps.set_per_process_memory_fraction lowered the "
            "limit during the run; check that the text is whole and of one run."
        )
    if held == 0 and total <= limit:
        findings.append(
            "Nothing was allocated and still the first request failed: no shortage, the device cannot allocate "
            "at all (virtual Macs and CI runners do this, actions/runner-images #9918)."
        )
        return tuple(findings), ("use the CPU on this machine; `course doctor` says whether MPS computes here",)
    if total <= limit:
        findings.append("The sum is below the limit: memory is fragmented, or the numbers were rounded.")
    allocated, other = message.allocated_bytes or 0, message.other_bytes
    if other is None:
        findings.append("This old form of the message does not say what else Metal holds on the device.")
        return tuple(findings), (LESS, CACHE, SHAPES, NO_GUARD)
    if other > allocated:
        findings.append(
            f"Other allocations dominate ({format_bytes(other)} against {format_bytes(allocated)} of tensors): a "
            "smaller model alone will not help much."
        )
        return tuple(findings), (SHAPES, RESTART, CACHE, LESS, NO_GUARD)
    findings.append(f"Tensors dominate: {format_bytes(allocated)} of {format_bytes(allocated + other)}.")
    return tuple(findings), (LESS, CACHE, SHAPES, NO_GUARD)


def _explain_buffer(requested: int) -> MemoryMessage:
    return MemoryMessage(
        "buffer",
        "One tensor is too large for Metal",
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


def _explain_known(known: KnownText, size: str | None) -> MemoryMessage:
    requested = None
    if size is not None:
        requested = parse_size(size) if not size.replace(".", "").isdigit() else int(float(size))
    return MemoryMessage(
        known.kind,
        known.title,
        requested,
        findings=(known.cause,),
        advice=known.advice,
        ends_process=known.ends_process,
        sources=known.sources,
    )
