"""What a comparison can find, in the order in which it is looked for."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

# kind -> what it means; reports list findings in this order
KINDS = {
    "refused": "the device raised an error",
    "not comparable": "the callable draws random numbers, which differ between devices by design",
    "not repeatable": "the device gives two answers to the same question",
    "structure": "other outputs than the reference's",
    "shape": "another shape than the reference's",
    "dtype": "another dtype than on the CPU",
    "overflow": "the right answer is larger than the dtype's largest number",
    "non-finite": "NaN or infinity where the reference is finite, or the reverse",
    "error": "further from the reference than rounding explains",
    "integers": "an integer or a bool that is not the reference's",
    "integers through float": "integers are rounded as if they had passed through a float",
    "forgets an in-place write": "leaving out an in-place write on the CPU gives the device's answer",
    "leaks future tokens": "an earlier output depends on a later token",
    "wrong for other values": "right for the given values, wrong for others of the same shape",
    "wrong for special values": "right for the given values, wrong for NaN, infinities, ties, large or no numbers",
    "wrong at a size": "right at the given size, wrong at a smaller one",
    "wrong above a size": "right for small inputs, wrong from a size on",
    "ignores strides": "right for contiguous inputs, wrong for the same values in other strides",
    "ignores the storage offset": "right at the start of its memory, wrong for the same values at an offset",
    "drops a term of a reduction": "a sum leaves out a term",
    "gradient": "the output is right and a gradient is wrong",
    "optimizer step": "parameters after one optimizer step are wrong",
}


@dataclass(frozen=True)
class NumericsFinding:
    """One thing that is wrong.

    Args:
        kind: one of `KINDS`.
        sentence: what was found, with the numbers.
        dtype: the dtype the device computed in, such as "float16".
        case: which inputs, such as "as given" or "transposed".
        where: the output, such as "output[0]"; "" where it concerns no single one.
        index: the place of the worst number in it.
        on_device: the device's number there.
        expected: the reference's number there.
        bound: how far apart they may be.
    """

    kind: str
    sentence: str
    dtype: str
    case: str
    where: str = ""
    index: tuple[int, ...] | None = None
    on_device: float | None = None
    expected: float | None = None
    bound: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind is {self.kind!r}; there are {', '.join(KINDS)}")

    def __str__(self) -> str:
        return f"{self.kind} ({self.dtype}, {self.case}): {self.sentence}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return asdict(self)


def in_order(findings: list[NumericsFinding]) -> tuple[NumericsFinding, ...]:
    """Sort findings by kind, in the order of `KINDS`, and drop repeated sentences."""
    place = {kind: number for number, kind in enumerate(KINDS)}
    return tuple(sorted(dict.fromkeys(findings), key=lambda finding: place[finding.kind]))
