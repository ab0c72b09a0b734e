"""Sizes and durations as people read them: three significant digits and the unit that suits."""

from __future__ import annotations

import re

MIB, GIB = 2**20, 2**30
_UNITS = (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))
# torch writes GB and, from torch 2.6 on, GiB; both divide by 1024 (an 8 GB Mac reports 9.07 GB, which is 1.7 times
# two thirds of 8 * 2**30 bytes: lllyasviel/Fooocus #980, Comfy-Org/ComfyUI #8984)
_SIZE = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>bytes|[KMGT]i?B)", re.IGNORECASE)
_POWER = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def format_bytes(n_bytes: float) -> str:
    """Write a size with three significant digits and the binary unit that suits it."""
    for unit, size in _UNITS:
        if abs(n_bytes) >= 0.9995 * size:
            return f"{_three_digits(n_bytes / size)} {unit}"
    return f"{n_bytes:.0f} bytes"


def format_sizes(*n_bytes: int) -> tuple[str, ...]:
    """Write sizes that are compared in one sentence: where two different ones would read alike, all are in bytes.

    >>> format_sizes(20 * 2**20 + 1, 20 * 2**20)
    ('20,971,521 bytes', '20,971,520 bytes')
    """
    texts = tuple(format_bytes(size) for size in n_bytes)
    if len(set(texts)) == len(set(n_bytes)):
        return texts
    return tuple(f"{size:,} bytes" for size in n_bytes)


def format_duration(seconds: float) -> str:
    """Write a duration with three significant digits and the unit that suits it."""
    if seconds == 0:
        return "0 s"
    for unit, size_s in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= 0.9995 * size_s:
            return f"{_three_digits(seconds / size_s)} {unit}"
    return f"{_three_digits(seconds / 1e-9)} ns"


def _three_digits(value: float) -> str:
    decimals = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
    return f"{value:,.{decimals}f}"


def parse_size(text: str) -> int:
    """Read a size as torch writes it, such as "9.07 GB", "292.50 MiB" or "256 bytes"; GB means GiB.

    Raises:
        ValueError: when the text holds no size.
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is not a size; write it as torch does, for example '9.07 GB' or '256 bytes'")
    return round(float(found["number"]) * _POWER.get(found["unit"][0].lower(), 1))
