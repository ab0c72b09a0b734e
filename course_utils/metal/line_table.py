"""From an address in a program to the line of its source: the line table of DWARF 4 (section 6.2 of its standard)."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

_COPY, _ADVANCE_PC, _ADVANCE_LINE, _SET_FILE, _SET_COLUMN, _CONST_ADD_PC, _FIXED_ADVANCE = 1, 2, 3, 4, 5, 8, 9
_END_SEQUENCE, _SET_ADDRESS, _DEFINE_FILE = 1, 2, 3


@dataclass(frozen=True)
class LineTable:
    """Rows in the order of addresses; a row holds up to the next.

    Args:
        addresses: where each row begins.
        places: (file, line) of each row; line 0 where a sequence ended.
    """

    addresses: tuple[int, ...]
    places: tuple[tuple[str, int], ...]

    def place(self, address: int) -> tuple[str, int] | None:
        """Return file and line of an address; None where the table knows none."""
        i = bisect_right(self.addresses, address) - 1
        return self.places[i] if i >= 0 and self.places[i][1] else None


class _Bytes:
    """A place in bytes that moves on as numbers are read."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data = data
        self.at = at

    def unpack(self, form: str) -> int:
        (value,) = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return int(value)

    def leb(self, *, signed: bool = False) -> int:
        value = shift = 0
        while True:
            byte = self.unpack("<B")
            value |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                break
        return value - (1 << shift) if signed and byte & 0x40 else value

    def text(self) -> str:
        end = self.data.index(b"\0", self.at)
        found = self.data[self.at : end].decode("utf-8", "replace")
        self.at = end + 1
        return found


def read_line_table(section: bytes) -> LineTable:
    """Read `.debug_line`.

    Raises:
        ValueError: for another version than 2 to 4, which the compiler was not asked for.
    """
    rows: list[tuple[int, str, int]] = []
    at = 0
    while at < len(section):
        (length,) = struct.unpack_from("<I", section, at)
        rows += _unit(section[at + 4 : at + 4 + length])
        at += 4 + length
    # where one sequence ends at the address at which another begins, the beginning counts
    rows.sort(key=lambda row: (row[0], row[2] != 0))
    return LineTable(tuple(row[0] for row in rows), tuple((row[1], row[2]) for row in rows))


def _unit(data: bytes) -> Iterator[tuple[int, str, int]]:
    source = _Bytes(data, 0)
    version, header_length = source.unpack("<H"), source.unpack("<I")
    program_at = source.at + header_length
    if not 2 <= version <= 4:
        raise ValueError(f"the line table has version {version}, not 2 to 4")
    shortest = source.unpack("<B")
    if version == 4:
        source.unpack("<B")  # operations in an instruction: 1 but on VLIW machines
    source.unpack("<B")  # whether rows are statements at first
    line_base, line_range, opcode_base = source.unpack("<b"), source.unpack("<B"), source.unpack("<B")
    lengths = [source.unpack("<B") for _ in range(opcode_base - 1)]
    while source.text():  # folders
        pass
    files = [""]
    while name := source.text():
        files.append(name)
        for _ in range(3):
            source.leb()
    source.at = program_at
    return _rows(source, files, _Steps(shortest, line_base, line_range), lengths)


@dataclass(frozen=True)
class _Steps:
    """How far the instructions of one unit step."""

    shortest: int
    line_base: int
    line_range: int


def _rows(  # noqa: PLR0912  (one branch for each operation of the standard)
    source: _Bytes, files: list[str], steps: _Steps, lengths: list[int]
) -> Iterator[tuple[int, str, int]]:
    shortest, line_base, line_range = steps.shortest, steps.line_base, steps.line_range
    opcode_base = len(lengths) + 1
    address, file, line = 0, 1, 1
    while source.at < len(source.data):
        opcode = source.unpack("<B")
        if opcode >= opcode_base:
            step = opcode - opcode_base
            address += step // line_range * shortest
            line += line_base + step % line_range
            yield address, files[file], line
        elif opcode == 0:
            size = source.leb()
            end = source.at + size
            extended = source.unpack("<B")
            if extended == _END_SEQUENCE:
                yield address, files[file], 0
                address, file, line = 0, 1, 1
            elif extended == _SET_ADDRESS:
                address = source.unpack("<Q")
            elif extended == _DEFINE_FILE:
                files.append(source.text())
            source.at = end
        elif opcode == _COPY:
            yield address, files[file], line
        elif opcode == _ADVANCE_PC:
            address += source.leb() * shortest
        elif opcode == _ADVANCE_LINE:
            line += source.leb(signed=True)
        elif opcode == _SET_FILE:
            file = source.leb()
        elif opcode == _CONST_ADD_PC:
            address += (255 - opcode_base) // line_range * shortest
        elif opcode == _FIXED_ADVANCE:
            address += source.unpack("<H")
        else:
            for _ in range(lengths[opcode - 1]):
                source.leb()
