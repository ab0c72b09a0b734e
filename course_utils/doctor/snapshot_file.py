"""Read a snapshot from a file that somebody else's machine wrote: every field checked, every refusal one sentence."""

from __future__ import annotations

import json
import types
import typing
from pathlib import Path
from typing import Any, Literal

from course_utils.doctor.snapshot import FORMAT, KIND, Snapshot, Variable
from course_utils.reporting.near_names import suggest

LARGEST_FILE_BYTES = 1_000_000


class SnapshotError(ValueError):
    """A file or text that is not a snapshot; the message is one sentence."""


def _fits(value: object, kind: Any) -> bool:
    """Return whether a JSON value has the type of a field."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):  # X | None is the one or the other, by what X is
        return any(_fits(value, part) for part in parts)
    if origin is Literal:
        return isinstance(value, str) and value in parts
    if origin is tuple:
        return isinstance(value, list) and all(_fits(item, parts[0]) for item in value)
    if kind is Variable:
        hints = typing.get_type_hints(Variable)
        return isinstance(value, dict) and all(_fits(value.get(name), part) for name, part in hints.items())
    # text holds nothing that a terminal would obey: a snapshot comes from somebody else's machine
    printable = not isinstance(value, str) or value.isprintable()
    return isinstance(value, kind) and printable and not (kind is int and isinstance(value, bool))


def _wanted(kind: Any) -> str:
    """Return a field's type in words."""
    parts = [part for part in typing.get_args(kind) if part is not types.NoneType]
    part = parts[0] if parts else kind
    if typing.get_origin(part) is Literal:
        return "one of " + ", ".join(map(repr, typing.get_args(part)))
    names = {str: "printable text on one line", int: "a whole number", bool: "true or false"}
    return names.get(part, "a list")


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
        raise SnapshotError(f"its format is {number}, this course reads up to {FORMAT}; update the course")
    kinds = typing.get_type_hints(Snapshot)
    values: dict[str, Any] = {}
    for name, value in data.items():
        if name in ("kind", "format"):
            continue
        if name not in kinds:
            raise SnapshotError(f"it has a field {name!r} that format {FORMAT} does not know; {suggest(name, kinds)}")
        if not _fits(value, kinds[name]):
            raise SnapshotError(f"its field {name!r} is {_short(value)}; it has to be {_wanted(kinds[name])} or null")
        values[name] = value
    for name in ("shell_exports", "openmp", "package_indexes"):
        if values.get(name) is not None:
            values[name] = tuple(values[name])
    if values.get("variables") is not None:
        values["variables"] = tuple(
            Variable(item["name"], item["value"], item.get("before_torch")) for item in values["variables"]
        )
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
    try:
        if not path.is_file():
            raise SnapshotError(f"{path} is not a file; give the file that `course doctor --save FILE` wrote")
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE_BYTES + 1)
        if len(content) > LARGEST_FILE_BYTES:
            raise SnapshotError(f"{path} is larger than {LARGEST_FILE_BYTES} bytes, so it is not a snapshot")
        return from_json(content.decode("utf-8-sig"))
    except OSError as error:
        raise SnapshotError(f"{path} cannot be read ({error.strerror}); check the name and the permissions") from error
    except UnicodeDecodeError as error:
        raise SnapshotError(f"{path} is not text; give the file that `course doctor --save FILE` wrote") from error
    except SnapshotError as error:
        if str(error).startswith(str(path)):
            raise
        raise SnapshotError(f"{path} cannot be used: {error}") from error
