"""What a Mac offers: RAM, the part of it that Metal recommends for the GPU, and the limit at which torch stops."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass

from course_utils.devices import chips
from course_utils.devices.machine import sysctl, this_chip
from course_utils.memory.watermarks import Watermarks
from course_utils.memory.working_set import recommended_bytes, recommended_share
from course_utils.reporting.near_names import suggest
from course_utils.reporting.results import TableResult
from course_utils.reporting.units import GIB, MIB, format_bytes

PUBLISHED = "the smaller published share of RAM (course_utils/data/working_set.json)"
# developer.apple.com, Metal, MTLDevice.recommendedMaxWorkingSetSize
APPLES_WORDS = (
    "in Apple's words, the recommended working set is \"an approximation of how much memory, in bytes, this GPU device "
    'can allocate without affecting its runtime performance"; Metal does not enforce it'
)
WIRED_LIMIT = "iogpu.wired_limit_mb"
# what macOS and its programs need beside the GPU, by the reports that raise the limit (instructlab #308)
LEFT_FOR_MACOS_GIB = 4


@dataclass(frozen=True, repr=False)
class MemoryBudget(TableResult):
    """The memory of one Mac, in bytes.

    Args:
        name: the Mac in words.
        ram_bytes: unified memory, shared by the CPU, the GPU and every program.
        recommended_bytes: Metal's recommended working set; beyond it the system compresses and swaps.
        soft_limit_bytes: where torch starts to give cached memory back and to send work to the GPU earlier: 1.4 times
            the recommended working set by default; None where that is switched off.
        hard_limit_bytes: where torch refuses to allocate: 1.7 times the recommended working set by default, so usually
            above the RAM; None where the limit is switched off.
        source: how the recommended working set is known.
        warnings: what is wrong or dangerous about them.
    """

    name: str
    ram_bytes: int
    recommended_bytes: int
    soft_limit_bytes: int | None
    hard_limit_bytes: int | None
    source: str
    warnings: tuple[str, ...] = ()

    def rows(self) -> list[list[str]]:
        """Return the table as text, the heading first."""
        soft, hard = (
            "none" if limit is None else format_bytes(limit) for limit in (self.soft_limit_bytes, self.hard_limit_bytes)
        )
        return [
            ["limit", "size", "what happens there"],
            ["recommended working set", format_bytes(self.recommended_bytes), "beyond it the system starts to page"],
            ["RAM", format_bytes(self.ram_bytes), "all programs together"],
            ["torch's soft limit", soft, "torch gives cached memory back and sends work to the GPU earlier"],
            ["torch's hard limit", hard, "torch raises 'MPS backend out of memory'"],
        ]

    def title(self) -> str:
        """Return the Mac in words."""
        return self.name

    def notes(self) -> list[str]:
        """Return how the recommended working set is known, and what it is."""
        return [f"recommended: {self.source}", APPLES_WORDS]


def memory_budget(
    chip: str | None = None, ram_gb: float | None = None, *, wired_limit_mb: int | None = None
) -> MemoryBudget:
    """Return what a Mac offers: this one, or one described by its chip and RAM.

    Args:
        chip: a chip's name, such as "M4" or "M1 Pro".
        ram_gb: unified memory as sold, GB (2**30 bytes each); by default the most that the chip is sold with.
        wired_limit_mb: the described Mac's `iogpu.wired_limit_mb`, MiB, which replaces the recommended working set
            until the next restart; 0 and None stand for the default. Not for this Mac, which is read.

    Returns:
        The budget. Without arguments on a Mac, the recommended working set is read from Metal
        (`torch.mps.recommended_max_memory`, torch 2.5 and newer) and the watermarks from the environment as torch
        reads them; elsewhere it is the smaller published share of RAM.

    Raises:
        ValueError: for an unknown chip (with the nearest names), or RAM or a limit that makes no sense.
    """
    if chip is None and ram_gb is None:
        if wired_limit_mb is not None:
            raise ValueError(f"wired_limit_mb is {wired_limit_mb}, but no Mac is described; give ram_gb too")
        return _this_machine()
    return describe_budget(chip, ram_gb, wired_limit_mb=wired_limit_mb)


def describe_budget(
    chip: str | None = None,
    ram_gb: float | None = None,
    *,
    wired_limit_mb: int | None = None,
    environ: Mapping[str, str] | None = None,
) -> MemoryBudget:
    """Return the budget of a described Mac; nothing here reads the machine.

    Args:
        chip: a chip's name, or None for any.
        ram_gb: unified memory as sold, GB.
        wired_limit_mb: as for `memory_budget`.
        environ: the environment that torch reads its watermarks from; by default they are unset.

    Raises:
        ValueError: for an unknown chip, or RAM or a limit that makes no sense.
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
    share = recommended_share(ram_gb)
    recommended, source = recommended_bytes(ram_gb), f"{share.numerator}/{share.denominator} of RAM, {PUBLISHED}"
    if wired_limit_mb:
        if not 0 < wired_limit_mb * MIB <= ram_gb * GIB:
            raise ValueError(
                f"wired_limit_mb is {wired_limit_mb}; it has to be above 0 and at most the RAM, {ram_gb * 1024:g} MiB"
            )
        recommended, source = wired_limit_mb * MIB, f"{WIRED_LIMIT} is {wired_limit_mb}"
    return _budget(
        f"a Mac with {'an Apple chip' if found is None else found.name} and {ram_gb:g} GB",
        ram_bytes=int(ram_gb * GIB),
        recommended=recommended,
        watermarks=Watermarks.of(environ or {}),
        source=source,
        warnings=(*warnings, *_warn_of_wired_limit(wired_limit_mb, int(ram_gb * GIB))),
    )


def _budget(
    name: str,
    *,
    ram_bytes: int,
    recommended: int,
    watermarks: Watermarks,
    source: str,
    warnings: tuple[str, ...] = (),
) -> MemoryBudget:
    soft, hard = watermarks.limits_bytes(recommended)
    return MemoryBudget(name, ram_bytes, recommended, soft, hard, source, (*warnings, *watermarks.warnings))


def _warn_of_wired_limit(wired_limit_mb: int | None, ram_bytes: int) -> tuple[str, ...]:
    """Return whether the GPU may take what macOS needs; nothing where the limit is the default."""
    if not wired_limit_mb or ram_bytes - wired_limit_mb * MIB >= LEFT_FOR_MACOS_GIB * GIB:
        return ()
    left = format_bytes(ram_bytes - wired_limit_mb * MIB)
    return (
        f"{WIRED_LIMIT} is {wired_limit_mb}, which leaves {left} for macOS: it can freeze or restart; leave "
        f"{LEFT_FOR_MACOS_GIB} to 8 GiB, or go back with `sudo sysctl {WIRED_LIMIT}=0`",
    )


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
    watermarks = Watermarks.of(os.environ)
    if platform.system() == "Darwin":
        import torch

        if torch.backends.mps.is_available():
            wired = sysctl(WIRED_LIMIT)
            wired_limit_mb = int(wired) if wired is not None and wired.isdigit() else 0
            by_hand = f"; {WIRED_LIMIT} is {wired_limit_mb}" if wired_limit_mb else ""
            return _budget(
                f"this Mac ({this_chip() or 'no Apple chip'}, {format_bytes(ram_bytes)})",
                ram_bytes=ram_bytes,
                recommended=torch.mps.recommended_max_memory(),
                watermarks=watermarks,
                source=f"read from Metal on this Mac (torch.mps.recommended_max_memory){by_hand}",
                warnings=_warn_of_wired_limit(wired_limit_mb, ram_bytes),
            )
    budget = describe_budget(ram_gb=ram_bytes / GIB)
    return _budget(
        f"a Mac with this machine's RAM, {format_bytes(ram_bytes)}",
        ram_bytes=ram_bytes,
        recommended=budget.recommended_bytes,
        watermarks=watermarks,
        source=budget.source,
        warnings=("this machine offers no Metal; the numbers are those of a Mac with as much RAM",),
    )
