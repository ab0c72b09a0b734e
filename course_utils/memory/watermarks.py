"""torch's two limits on MPS, as factors of the recommended working set that the environment may set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from course_utils.devices.environment_variables import (
    DEFAULT_RATIOS,
    HIGH_WATERMARK,
    LARGEST_RATIO,
    LOW_WATERMARK,
    WHERE_TO_SET,
    WatermarkRatio,
    watermark_ratio,
)


@dataclass(frozen=True)
class Watermarks:
    """The limits that torch reads when its allocator starts (aten/src/ATen/mps/MPSAllocator.mm, torch 2.0 to 2.15).

    Args:
        high: where torch refuses to allocate; 0 switches the limit off.
        low: where torch starts to give cached memory back; 0 switches that off. It must not be above `high`.
    """

    high: WatermarkRatio
    low: WatermarkRatio

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Self:
        """Read both from an environment, as torch does."""
        return cls(watermark_ratio(HIGH_WATERMARK, environ), watermark_ratio(LOW_WATERMARK, environ))

    @property
    def in_order(self) -> bool:
        """Whether torch accepts both together; it refuses MPS's first use otherwise."""
        return self.low.value <= (self.high.value or LARGEST_RATIO)

    def limits_bytes(self, recommended_bytes: int) -> tuple[int | None, int | None]:
        """Return the soft and the hard limit in bytes, None where one is switched off.

        A value that torch refuses is replaced by the default, since with it no limit comes about at all.
        """
        usable = self.high.accepted and self.low.accepted and self.in_order
        ratios = [each.value if usable else DEFAULT_RATIOS[each.name] for each in (self.low, self.high)]
        soft, hard = (int(ratio * recommended_bytes) if ratio else None for ratio in ratios)
        return soft, hard

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is wrong with the values, or dangerous, one sentence each."""
        found = [*_warn_of(self.high), *_warn_of(self.low)]
        if self.high.accepted and self.low.accepted and not self.in_order:
            unset = " (its default)" if self.low.text is None else ""
            found.append(
                f"{HIGH_WATERMARK} is {self.high.value:g}, below {LOW_WATERMARK}, {self.low.value:g}{unset}: torch "
                f"refuses both with 'invalid low watermark ratio'; set the low one too, and {WHERE_TO_SET}"
            )
        return tuple(found)


def _warn_of(ratio: WatermarkRatio) -> list[str]:
    """Return what is wrong with one value; nothing where it is unset, or a number that torch accepts."""
    set_to = f"{ratio.name} is {ratio.text!r}"
    read_as = f", which torch reads as {ratio.value:g}" if ratio.misread else ""
    if not ratio.accepted:
        return [f"{set_to}{read_as}, and torch accepts a number from 0 to {LARGEST_RATIO:g}; {WHERE_TO_SET}"]
    if ratio.value == 0 and ratio.name == HIGH_WATERMARK:
        danger = "torch has no limit, and its own message warns of system failure"
        return [f"{set_to}{read_as}: {danger}; unset it and use less memory instead"]
    return [f"{set_to}{read_as}; write the number alone, and {WHERE_TO_SET}"] if ratio.misread else []
