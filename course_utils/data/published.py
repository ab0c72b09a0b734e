"""Measurements that others published, each with its source, chip, torch, date and what is known of its method."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from course_utils.data.read import read_json


@dataclass(frozen=True)
class Published:
    """One published time.

    Args:
        key: groups the times of one measurement, such as "resnet50-batches-m1".
        what: what was measured, in words.
        device: "cpu" or "mps".
        seconds: the published time of one call.
        chip: the chip, as published.
        torch_version: as published; "not stated" where it was not.
        date: when it was published, as far as known.
        size: the value on a size axis, or None.
        source: where it is published.
        method: what is known of how it was measured: warm-up, waiting, number of runs.
    """

    key: str
    what: str
    device: str
    seconds: float
    chip: str
    torch_version: str
    date: str
    size: int | None
    source: str
    method: str

    @property
    def credit(self) -> str:
        """One line for a chart: chip, torch, date, source."""
        return f"{self.chip}, torch {self.torch_version}, {self.date}: {self.source}"


@cache
def _all_published() -> tuple[Published, ...]:
    found = []
    for entry in read_json("published.json")["measurements"]:
        shared = {name: entry[name] for name in ("key", "what", "chip", "torch_version", "date", "source", "method")}
        found += [
            Published(device=device, seconds=seconds, size=size, **shared) for device, size, seconds in entry["times"]
        ]
    return tuple(found)


def published_times(key: str) -> tuple[Published, ...]:
    """Return the published times of one measurement.

    Raises:
        ValueError: when nothing is published under this key; the message lists the keys.
    """
    found = tuple(entry for entry in _all_published() if entry.key == key)
    if not found:
        keys = sorted({entry.key for entry in _all_published()})
        raise ValueError(f"nothing is published under {key!r}; known: {', '.join(keys)}")
    return found
