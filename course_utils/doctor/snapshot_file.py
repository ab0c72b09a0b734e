"""Read a snapshot from a file that somebody else's machine wrote: every field checked, every refusal one sentence."""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from pathlib import Path
from typing import Any, Literal

from course_utils.doctor.snapshot import FORMAT, KIND, Snapshot
from course_utils.reporting.near_names import suggest

LARGEST_FILE_BYTES = 1_000_000
LONGEST_TEXT = 2000  # `describe` cuts its texts at 600 characters
LARGEST_NUMBER = 2**63 - 1


class SnapshotError(ValueError):
    """A file or text that is not a snapshot; the message is one sentence."""


def _fits(value: object, kind: Any) -> bool:
    """Return whether a JSON value has the type of a field."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):  # X | None is the one or the other, by what X is
        return any(_fits(value, part) for part in parts)
    if origin is tuple:
        return isinstance(value, list) and all(_fits(item, parts[0]) for item in value)
    return isinstance(value, str) and value in parts if origin is Literal else _fits_plain(value, kind)


def _fits_plain(value: object, kind: Any) -> bool:
    """Return whether a JSON value has a type without parameters."""
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        return isinstance(value, dict) and all(_fits(value.get(name), part) for name, part in hints.items())
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_NUMBER
    if kind is str:
        # text holds nothing that a terminal would obey: a snapshot comes from somebody else's machine
        return isinstance(value, str) and value.isprintable() and len(value) <= LONGEST_TEXT
    return isinstance(value, kind)


def _wanted(kind: Any) -> str:
    """Return a field's type in words."""
    parts = [part for part in typing.get_args(kind) if part is not types.NoneType]
    part = parts[0] if parts else kind
    if typing.get_origin(part) is Literal:
        return "one of " + ", ".join(map(repr, typing.get_args(part)))
    names = {
        str: f"printable text on one line, at most {LONGEST_TEXT} characters",
        int: "a whole number from 0 to 2**63",
        bool: "true or false",
    }
    return names.get(part, "a list")


def _made(value: Any, kind: Any) -> Any:
    """Return a JSON value that fits as the value of a field: lists as tuples, objects as dataclasses."""
    parts = [part for part in typing.get_args(kind) if part is not types.NoneType]
    if isinstance(value, list):
        item = typing.get_args(parts[0])[0]
        return tuple(_made(one, item) for one in value)
    if dataclasses.is_dataclass(kind) and isinstance(value, dict):
        known = {field.name: value.get(field.name) for field in dataclasses.fields(kind)}
        return typing.cast(Any, kind)(**known)
    return value


def from_json(text: str) -> Snapshot:
    """Return the snapshot that `Snapshot.to_json` wrote; what it does not say is unknown.

    Raises:
        SnapshotError: when the text is not a snapshot, or one of a newer course; one sentence.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SnapshotError("it is not JSON; a snapshot is what `course doctor --save FILE` writes") from error
    if not isinstance(data, dict) or data.get("kind") != KIND:
        raise SnapshotError(
            f'it is JSON but not a snapshot: its "kind" is not "{KIND}"; write one with `course doctor --save FILE`'
        )
    number = data.get("format")
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise SnapshotError(f"its format is {number!r}, not a number from 1 to {FORMAT}; save the snapshot again")
    if number > FORMAT:
        raise SnapshotError(f"its format is {_short(number)}, this course reads up to {FORMAT}; update the course")
    kinds = typing.get_type_hints(Snapshot)
    values: dict[str, Any] = {}
    for name, value in data.items():
        if name in ("kind", "format"):
            continue
        if name not in kinds:
            near = suggest(name, kinds)
            raise SnapshotError(f"it has a field {_short(name)} that format {FORMAT} does not know; {near}")
        if not _fits(value, kinds[name]):
            raise SnapshotError(f"its field {name!r} is {_short(value)}; it has to be {_wanted(kinds[name])} or null")
        values[name] = _made(value, kinds[name])
    return Snapshot(**values)


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= 40 else text[:37] + "..."


def read_snapshot(path: Path | str) -> Snapshot:
    """Return the snapshot that a file holds.

    Raises:
        SnapshotError: when it cannot be read or is not a snapshot; one sentence that names the file.
    """
    path = Path(path)
    if not path.is_file():
        raise SnapshotError(f"{path} is not a file; give the file that `course doctor --save FILE` wrote")
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE_BYTES + 1)
    except OSError as error:
        raise SnapshotError(f"{path} cannot be read ({error.strerror}); check the name and the permissions") from error
    if len(content) > LARGEST_FILE_BYTES:
        raise SnapshotError(f"{path} is larger than {LARGEST_FILE_BYTES} bytes, so it is not a snapshot")
    try:
        return from_json(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise SnapshotError(f"{path} is not text; give the file that `course doctor --save FILE` wrote") from error
    except SnapshotError as error:
        raise SnapshotError(f"{path} cannot be used: {error}") from error
