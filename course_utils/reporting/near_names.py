"""The known names that a mistyped one is most like, for "did you mean" in an error."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

# below this similarity (difflib's ratio, 0 to 1) names look unrelated; typing errors score 0.7 and more
SIMILAR = 0.4
LISTED = 8


def near_names(wanted: str, known: Iterable[str], *, most: int = 3, similar: float = SIMILAR) -> list[str]:
    """Return the known names most like `wanted`, the nearest first; the case of letters does not count.

    Args:
        wanted: what somebody wrote.
        known: the names that exist.
        most: return at most this many.
        similar: the least similarity, from 0 to 1.
    """
    spelled: dict[str, list[str]] = {}
    for name in known:
        spelled.setdefault(name.lower(), []).append(name)
    close = difflib.get_close_matches(wanted.lower(), spelled, n=most, cutoff=similar)
    return [name for key in close for name in spelled[key]][:most]


def suggest(wanted: str, known: Iterable[str]) -> str:
    """Return the end of a sentence about an unknown name: the nearest names, or what there is.

    Args:
        wanted: what somebody wrote.
        known: the names that exist, in the order to list them.

    Returns:
        Text without a full stop, for example:

        >>> suggest("resnet81", ["resnet18", "matmul"])
        'the nearest: resnet18'
        >>> suggest("xyz", ["resnet18", "matmul"])
        'known: resnet18, matmul'
        >>> suggest("xyz", [])
        'there is none'
    """
    names = list(dict.fromkeys(known))
    if not names:
        return "there is none"
    near = near_names(wanted, names)
    if near:
        return f"the nearest: {', '.join(near)}"
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"known: {', '.join(names[:LISTED])}{more}"
