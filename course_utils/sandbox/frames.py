"""Frames between the checks and the student's process: one JSON object and raw bytes, each of a stated size.

    8 bytes   length of the JSON, length of all blobs together (big endian)
    JSON      {"blobs": [lengths], ...}
    blobs     raw bytes, one after the other

Nothing else ever crosses: no pickle, no code objects. The reader names the most that it takes.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from typing import Any

HEADER = struct.Struct(">II")


class _Encoder(json.JSONEncoder):
    """Writes frames, whatever code around it makes of the class that others use."""

    def default(self, o: Any) -> Any:
        """Refuse what JSON does not know."""
        raise TypeError(f"a {type(o).__name__} is no part of a frame")


_write_json, _read_json = _Encoder().encode, json.JSONDecoder().decode


class FrameError(ValueError):
    """The bytes cannot be taken as a frame."""


class TooLongError(FrameError):
    """The frame is larger than allowed; the message has both sizes."""


class MalformedFrameError(FrameError):
    """The bytes are not a frame; the message says why."""


@dataclass(frozen=True)
class Frame:
    """One message.

    Args:
        content: a JSON object.
        blobs: raw bytes that it refers to by their place.
        size_bytes: how long it was when it came, 0 for one that is to be sent.
    """

    content: dict[str, Any]
    blobs: list[bytes] = field(default_factory=list)
    size_bytes: int = field(default=0, compare=False)

    def to_bytes(self) -> bytes:
        """Return the frame as it goes over a socket."""
        content = self.content | {"blobs": [len(blob) for blob in self.blobs]}
        text = _write_json(content).encode("utf-8", "surrogatepass")
        return b"".join([HEADER.pack(len(text), sum(map(len, self.blobs))), text, *self.blobs])


class FrameReader:
    """Collects bytes until a frame is whole.

    Args:
        most_bytes: the largest frame that is taken.
        most_text_bytes: how much of it may be JSON, which takes many times its size when it is read.
    """

    def __init__(self, most_bytes: int, most_text_bytes: int | None = None) -> None:
        self.most_bytes = most_bytes
        self.most_text_bytes = most_bytes if most_text_bytes is None else most_text_bytes
        self._bytes = bytearray()

    def feed(self, data: bytes) -> Frame | None:
        """Add bytes; return the frame when it is whole.

        Raises:
            TooLongError: when the frame is too large; its sizes are checked before anything is kept.
            MalformedFrameError: when it is not a frame.
        """
        self._bytes += data
        if len(self._bytes) < HEADER.size:
            return None
        text_bytes, blob_bytes = HEADER.unpack_from(self._bytes)
        if text_bytes + blob_bytes > self.most_bytes:
            raise TooLongError(f"a value of {text_bytes + blob_bytes:,} bytes; at most {self.most_bytes:,} are taken")
        if text_bytes > self.most_text_bytes:
            raise TooLongError(f"{text_bytes:,} bytes of lists and text; at most {self.most_text_bytes:,} are taken")
        whole = HEADER.size + text_bytes + blob_bytes
        if len(self._bytes) < whole:
            return None
        frame = _read(bytes(self._bytes[HEADER.size : whole]), text_bytes)
        del self._bytes[:whole]
        return frame


def _read(data: bytes, text_bytes: int) -> Frame:
    try:
        content = _read_json(data[:text_bytes].decode("utf-8", "surrogatepass"))
        lengths = content.pop("blobs")
        if not all(type(length) is int and length >= 0 for length in lengths):
            raise ValueError("a blob's length is not a number")
        if sum(lengths) != len(data) - text_bytes:
            raise ValueError("the blobs' lengths do not add up")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise MalformedFrameError(f"not a frame: {error}") from error
    blobs, start = [], text_bytes
    for length in lengths:
        blobs.append(data[start : start + length])
        start += length
    return Frame(content, blobs, len(data))
