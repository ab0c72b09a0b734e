"""What was asked of the device, and what was not and why: the end of every report."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class NotAsked:
    """A question that was not put, or has no answer.

    Args:
        question: such as "gradients" or "size 16".
        reason: why.
        dtype: in which dtype.
    """

    question: str
    reason: str
    dtype: str

    def __str__(self) -> str:
        return f"{self.question} ({self.dtype}): {self.reason}"


@dataclass(frozen=True)
class AskedQuestions:
    """What was asked in one dtype.

    Args:
        dtype: the dtype.
        layouts: of inputs and parameters, beside contiguous ones.
        sizes: for each dimension, the sizes tried.
        values: beside the given ones.
        calls: how often the device was called.
        operators: how many operators were looked at on their own.
        gradients: whether gradients were compared.
    """

    dtype: str
    layouts: tuple[str, ...] = ()
    sizes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    values: tuple[str, ...] = ()
    calls: int = 0
    operators: int = 0
    gradients: bool = False

    def __str__(self) -> str:
        sizes = "; ".join(f"{dim} {', '.join(map(str, tried))}" for dim, tried in self.sizes.items())
        parts = [
            f"values: {', '.join(('as given', *self.values))}",
            f"layouts: {', '.join(('contiguous', *self.layouts))}",
            f"sizes: {sizes or 'as given'}",
            f"gradients: {'yes' if self.gradients else 'no'}",
            f"operators alone: {self.operators}",
            f"calls: {self.calls}",
        ]
        return f"asked in {self.dtype}: " + " | ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return asdict(self)
