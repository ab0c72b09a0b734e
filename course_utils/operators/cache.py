"""Keep parsed verdicts on disk: reading torch's yaml takes several times longer, the more so without libyaml.

The cache is a convenience: what cannot be read or written is ignored.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import json
import os
import platform
from pathlib import Path

from course_utils.operators import rules
from course_utils.operators.hand_registered import HandRegistered
from course_utils.operators.rules import RULES, VerdictLetters
from course_utils.reporting.files import write_file


def cache_folder() -> Path | None:
    """Return the user's cache folder for this course, which XDG_CACHE_HOME moves; None for a user without a home."""
    base = os.environ.get("XDG_CACHE_HOME")
    if base:
        return Path(base) / "course_utils"
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if platform.system() == "Darwin":
        return home / "Library" / "Caches" / "course_utils"
    return home / ".cache" / "course_utils"


def file_name(torch_version: str, size_bytes: int, modified_ns: int, hand: HandRegistered) -> str:
    """Return the cache file's name for one yaml: another torch, yaml, rules or hand lists get another file.

    Args:
        torch_version: such as "2.14.1".
        size_bytes: the yaml's size.
        modified_ns: the yaml's time of modification, nanoseconds.
        hand: what the release registers by hand.
    """
    lists = [sorted(hand.cpu_fallback), sorted(hand.refuses_mixed_devices), sorted(hand.python_registration)]
    # the rules' own text stands for their version: nobody has to remember to raise a number
    key = json.dumps([inspect.getsource(rules), torch_version, size_bytes, modified_ns, lists])
    return f"operators-{torch_version}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.json"


def load(path: Path) -> VerdictLetters | None:
    """Read verdicts from a cache file; None when there is none or it is not one."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        verdicts = VerdictLetters(
            letters=data["letters"],
            delegates=data["delegates"],
            sparse_keys={name: tuple(keys) for name, keys in data["sparse_keys"].items()},
        )
        sound = bool(verdicts.letters) and set(verdicts.letters.values()) <= RULES.keys()
        sound = sound and set(verdicts.delegates) <= set(verdicts.letters)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    return verdicts if sound else None


def store(path: Path, verdicts: VerdictLetters) -> None:
    """Write verdicts to a cache file, whole or not at all; a folder that cannot be written is no error."""
    text = json.dumps(
        {
            "letters": dict(verdicts.letters),
            "delegates": dict(verdicts.delegates),
            "sparse_keys": {name: list(keys) for name, keys in verdicts.sparse_keys.items()},
        }
    )
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, text)  # another process may be reading
