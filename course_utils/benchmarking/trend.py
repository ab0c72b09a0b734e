"""Whether readings moved one way while they were taken, as a chip's do that heats up."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

FEWEST = 9
# the first and the last third have to lie this far apart to matter
LARGEST_DRIFT = 0.05
# standard deviations of the rank correlation; readings without a trend exceed it once in 400 times
SIGNIFICANT = 3.0


def drift(times_s: Sequence[float]) -> tuple[float, float] | None:
    """Return the medians of the first and of the last third of readings that moved steadily, or None.

    Args:
        times_s: the readings in the order taken.

    Returns:
        None where there are too few readings, where they moved by less than `LARGEST_DRIFT`, or where chance explains
        their order (Spearman's rank correlation with the position, whose standard deviation is 1 / sqrt(n - 1)).
    """
    n = len(times_s)
    if n < FEWEST:
        return None
    before, after = statistics.median(times_s[: n // 3]), statistics.median(times_s[-(n // 3) :])
    if min(before, after) == 0 or max(before, after) / min(before, after) <= 1 + LARGEST_DRIFT:
        return None
    strength = abs(_correlation(range(n), _ranks(times_s))) * math.sqrt(n - 1)
    # nine readings in perfect order reach 2.83
    return (before, after) if strength >= min(SIGNIFICANT, 0.95 * math.sqrt(n - 1)) else None


def _ranks(values: Sequence[float]) -> list[float]:
    """Return the rank of each value; equal values share the mean of theirs."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end < len(order) and values[order[end]] == values[order[start]]:
            end += 1
        for position in order[start:end]:
            ranks[position] = (start + end - 1) / 2
        start = end
    return ranks


def _correlation(left: Sequence[float], right: Sequence[float]) -> float:
    """Return Pearson's correlation, 0 where one side does not vary."""
    try:
        return statistics.correlation(left, right)
    except statistics.StatisticsError:
        return 0.0
