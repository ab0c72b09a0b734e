"""The smallest size at which a callable goes wrong: double until it fails, then halve the gap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class SizeSearch:
    """What a search over sizes found.

    Args:
        passed: the largest size below `failed` that was right, or None where no smaller one was.
        failed: the smallest size that was wrong, or None where all were right.
        tried: how many sizes were tried.
    """

    passed: int | None
    failed: int | None
    tried: int


def doubled(smallest: int, largest: int) -> tuple[int, ...]:
    """List sizes from the smallest to the largest, each twice the one before; the largest is among them."""
    sizes = []
    size = max(1, smallest)
    while size < largest:
        sizes.append(size)
        size *= 2
    return (*sizes, largest) if largest >= 1 else ()


def smallest_failing(fails: Callable[[int], bool | None], sizes: tuple[int, ...]) -> SizeSearch:
    """Find the smallest failing size, taking it that whatever fails at one size fails at all larger ones.

    Args:
        fails: says whether a size is wrong; None where it cannot be tried.
        sizes: rising sizes to try first.

    Returns:
        The search's result; between a right and a wrong size, the gap is halved until they are neighbours.
    """
    passed: int | None = None
    failed: int | None = None
    tried = 0
    for size in sizes:
        verdict = fails(size)
        tried += 1
        if verdict is None:
            continue
        if verdict:
            failed = size
            break
        passed = size
    if failed is None:
        return SizeSearch(passed, None, tried)
    low = passed if passed is not None else failed - 1
    while failed - low > 1:
        middle = (low + failed) // 2
        verdict = fails(middle)
        tried += 1
        if verdict is None:
            break
        low, failed = (low, middle) if verdict else (middle, failed)
        passed = low
    return SizeSearch(passed, failed, tried)
