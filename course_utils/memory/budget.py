"""What a Mac offers: RAM, the part of it that Metal recommends for the GPU, and the limit at which torch stops."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass

from course_utils.devices import chips
from course_utils.devices.environment_variables import (
    DEFAULT_RATIOS,
    HIGH_WATERMARK,
    LARGEST_RATIO,
    WHERE_TO_SET,
    WatermarkRatio,
    watermark_ratio,
)
from course_utils.devices.machine import this_chip
from course_utils.memory.working_set import recommended_bytes, recommended_share
from course_utils.reporting.near_names import suggest
from course_utils.reporting.results import TableResult
from course_utils.reporting.units import GIB, format_bytes

PUBLISHED = "the smaller published share of RAM (course_utils/data/working_set.json)"


@dataclass(frozen=True, repr=False)
class MemoryBudget(TableResult):
    """The memory of one Mac, in bytes.

    Args:
        name: the Mac in words.
        ram_bytes: unified memory, shared by the CPU, the GPU and every program.
        recommended_bytes: Metal's recommended working set; beyond it the system compresses and swaps.
        hard_limit_bytes: where torch refuses to allocate: a factor of the recommended working set, 1.7 by default,
            so usually above the RAM; None where the limit is switched off.
        source: how the recommended working set is known.
        warnings: what is wrong or dangerous about them.
    """

    name: str
    ram_bytes: int
    recommended_bytes: int
    hard_limit_bytes: int | None
    source: str
    warnings: tuple[str, ...] = ()

    def rows(self) -> list[list[str]]:
        """Return the table as text, the heading first."""
        limit = "none" if self.hard_limit_bytes is None else format_bytes(self.hard_limit_bytes)
        return [
            ["limit", "size", "what happens there"],
            ["recommended working set", format_bytes(self.recommended_bytes), "beyond it the system starts to page"],
            ["RAM", format_bytes(self.ram_bytes), "all programs together"],
            ["torch's hard limit", limit, "torch raises 'MPS backend out of memory'"],
        ]

    def title(self) -> str:
        """Return the Mac in words."""
        return self.name

    def notes(self) -> list[str]:
        """Return how the recommended working set is known."""
        return [f"recommended: {self.source}"]


def memory_budget(chip: str | None = None, ram_gb: float | None = None) -> MemoryBudget:
    """Return what a Mac offers: this one, or one described by its chip and RAM.

    Args:
        chip: a chip's name, such as "M4" or "M1 Pro".
        ram_gb: unified memory as sold, GB (2**30 bytes each); by default the most that the chip is sold with.

    Returns:
        The budget. Without arguments on a Mac, the recommended working set is read from Metal
        (`torch.mps.recommended_max_memory`, torch 2.5 and newer); elsewhere it is the smaller published share of RAM.

    Raises:
        ValueError: for an unknown chip (with the nearest names), or RAM that makes no sense.
    """
    if chip is None and ram_gb is None:
        return _this_machine()
    return describe_budget(chip, ram_gb)


def describe_budget(
    chip: str | None = None, ram_gb: float | None = None, *, watermark: WatermarkRatio | None = None
) -> MemoryBudget:
    """Return the budget of a described Mac; nothing here reads the machine.

    Args:
        chip: a chip's name, or None for any.
        ram_gb: unified memory as sold, GB.
        watermark: torch's limit; by default 1.7.

    Raises:
        ValueError: for an unknown chip, or RAM that makes no sense.
    """
    warnings: tuple[str, ...] = ()
    found = None if chip is None else _find_chip(chip)
    if ram_gb is None:
        if found is None:
            raise ValueError("neither a chip nor its RAM is given; give ram_gb, for example 16")
        ram_gb = found.max_memory_gb
        warnings = (f"no RAM was given, so this is the largest {found.name}; yours may have less",)
    if not 0 < ram_gb < 1e6:
        raise ValueError(f"ram_gb is {ram_gb:g}; it has to be the RAM of a Mac in GB, for example 16")
    if found is not None and ram_gb > found.max_memory_gb:
        raise ValueError(
            f"ram_gb is {ram_gb:g}, but the {found.name} is sold with at most {found.max_memory_gb} GB; check both"
        )
    name = f"a Mac with {'an Apple chip' if found is None else found.name} and {ram_gb:g} GB"
    share = recommended_share(ram_gb)
    return _budget(
        name,
        ram_bytes=int(ram_gb * GIB),
        recommended=recommended_bytes(ram_gb),
        watermark=watermark or watermark_ratio(HIGH_WATERMARK, {}),
        source=f"{share.numerator}/{share.denominator} of RAM, {PUBLISHED}",
        warnings=warnings,
    )


def _budget(
    name: str,
    *,
    ram_bytes: int,
    recommended: int,
    watermark: WatermarkRatio,
    source: str,
    warnings: tuple[str, ...] = (),
) -> MemoryBudget:
    ratio = watermark.value if watermark.accepted else DEFAULT_RATIOS[watermark.name]
    limit = None if ratio == 0 else int(ratio * recommended)
    return MemoryBudget(name, ram_bytes, recommended, limit, source, (*warnings, *_warnings_of(watermark)))


def _warnings_of(watermark: WatermarkRatio) -> tuple[str, ...]:
    """Return what is wrong with a watermark, or dangerous; nothing where it is unset or a number that torch accepts."""
    set_to = f"{watermark.name} is {watermark.text!r}"
    read_as = f", which torch reads as {watermark.value:g}" if watermark.misread else ""
    if not watermark.accepted:
        return (f"{set_to}{read_as}, and torch accepts a number from 0 to {LARGEST_RATIO:g}; {WHERE_TO_SET}",)
    if watermark.value == 0:
        danger = "torch has no limit, so a model that is too large can freeze the whole Mac"
        return (f"{set_to}{read_as}: {danger}; unset it and use less memory instead",)
    return (f"{set_to}{read_as}; write the number alone, and {WHERE_TO_SET}",) if watermark.misread else ()


def _find_chip(name: str) -> chips.Chip:
    by_name = {chip.name.lower(): chip for chip in chips.all_chips()}
    wanted = " ".join(name.lower().removeprefix("apple").split())
    if wanted not in by_name:
        names = [chip.name for chip in by_name.values()]
        raise ValueError(f"no Apple chip is called {name!r} here; {suggest(wanted, names)}")
    return by_name[wanted]


def _this_machine() -> MemoryBudget:
    """Read this machine: Metal's own number on a Mac, else the share that a Mac with this RAM would recommend."""
    ram_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    watermark = watermark_ratio(HIGH_WATERMARK, os.environ)
    if platform.system() == "Darwin":
        import torch

        if torch.backends.mps.is_available():
            return _budget(
                f"this Mac ({this_chip() or 'no Apple chip'}, {format_bytes(ram_bytes)})",
                ram_bytes=ram_bytes,
                recommended=torch.mps.recommended_max_memory(),
                watermark=watermark,
                source="read from Metal on this Mac (torch.mps.recommended_max_memory)",
            )
    ram_gb = ram_bytes / GIB
    budget = describe_budget(ram_gb=ram_gb, watermark=watermark)
    return _budget(
        f"a Mac with this machine's RAM, {format_bytes(ram_bytes)}",
        ram_bytes=ram_bytes,
        recommended=budget.recommended_bytes,
        watermark=watermark,
        source=budget.source,
        warnings=("this machine offers no Metal; the numbers are those of a Mac with as much RAM",),
    )
