"""Read what a program that was just linked holds: sections, symbols and bytes (ELF, 64 bits, little-endian)."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property

LARGEST_BYTES = 64 * 1024**2  # of memory that a program may claim by itself; Metal has constants and 32 KiB a group
_PT_LOAD, _SHT_SYMTAB = 1, 2


@dataclass(frozen=True)
class Section:
    """One section: its name, address in memory, offset in the file and size."""

    name: str
    kind: int
    address: int
    offset: int
    size: int
    link: int


class Program:
    """A linked program.

    Args:
        data: the bytes of the file.

    Raises:
        ValueError: when it is no 64-bit little-endian ELF file.
    """

    def __init__(self, data: bytes) -> None:
        if data[:6] != b"\x7fELF\x02\x01":
            raise ValueError("the compiler's output is no 64-bit ELF program")
        self.data = data
        self._header = struct.unpack_from("<HHIQQQIHHHHHH", data, 16)

    @cached_property
    def sections(self) -> dict[str, Section]:
        """Sections by name."""
        offset, entry, count, names = self._header[5], self._header[10], self._header[11], self._header[12]
        rows = [struct.unpack_from("<IIQQQQIIQQ", self.data, offset + i * entry) for i in range(count)]
        found = (Section(self._text(rows[names][4] + row[0]), row[1], row[3], row[4], row[5], row[6]) for row in rows)
        return {section.name: section for section in found}

    def _text(self, offset: int) -> str:
        return self.data[offset : self.data.index(b"\0", offset)].decode("utf-8", "replace")

    @property
    def claimed_bytes(self) -> int:
        """Memory that the program claims when it starts."""
        offset, entry, count = self._header[4], self._header[8], self._header[9]
        rows = (struct.unpack_from("<IIQQQQQQ", self.data, offset + i * entry) for i in range(count))
        return sum(row[6] for row in rows if row[0] == _PT_LOAD)

    def symbol(self, name: str) -> int:
        """Return the address of a symbol.

        Raises:
            KeyError: when there is none of this name.
        """
        table, names = self.sections[".symtab"], self.sections[".strtab"]
        for at in range(table.offset, table.offset + table.size, 24):
            name_at, _, _, _, address, _ = struct.unpack_from("<IBBHQQ", self.data, at)
            if self._text(names.offset + name_at) == name:
                return int(address)
        raise KeyError(name)

    def read(self, address: int, size: int) -> bytes:
        """Return initialised bytes at an address.

        Raises:
            KeyError: when no section with content holds them.
        """
        for section in self.sections.values():
            if section.kind != 8 and section.address and section.address <= address < section.address + section.size:
                start = section.offset + address - section.address
                return self.data[start : start + size]
        raise KeyError(hex(address))

    def content(self, name: str) -> bytes:
        """Return the bytes of a section; none where there is no such section."""
        section = self.sections.get(name)
        return self.data[section.offset : section.offset + section.size] if section else b""
