"""What the messages of an Arrow stream unpack to, before pyarrow takes that memory for them."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

import numpy as np

_CONTINUES = b"\xff\xff\xff\xff"
_DICTIONARY, _ROWS = 2, 3  # kinds of messages
_PACKED_OF_OLD = b"ARROW:experimental_compression"


def unpacked(opened: BinaryIO, begin: int) -> Iterator[tuple[str, int]]:
    """What the messages from a place on hold, in words, and their bytes when unpacked.

    Raises
    ------
    EOFError
        The last message is whole, but the mark after it is not there.
    struct.error, ValueError, OverflowError, OSError
        They are damaged, or cut within one.
    """
    first, end = 1, opened.seek(0, os.SEEK_END)
    opened.seek(begin)
    while begun := opened.read(4):
        length = opened.read(4) if begun == _CONTINUES else begun  # of old there was no mark
        (size,) = struct.unpack("<i", length)
        if size == 0:
            return
        data = opened.read(max(size, 0))
        message, start = _Table.root(data), opened.tell()
        kind, body, held = message.value(1, "<B"), message.value(3, "<q"), message.table(2)
        records = held.table(1) if kind == _DICTIONARY else held
        if kind == _ROWS:
            last = first + records.value(0, "<q") - 1
            yield f"rows {first:,} to {last:,}", _size(opened, records, start)
            first = last + 1
        elif kind == _DICTIONARY:
            yield "a dictionary", _size(opened, records, start)
        if not 0 <= body <= end - start:
            raise ValueError("cut")
        opened.seek(start + body)
    raise EOFError


class _Table(NamedTuple):
    """A table of FlatBuffers: numbered fields, each of which may be left out."""

    data: bytes
    place: int

    @classmethod
    def root(cls, data: bytes) -> _Table:
        return cls(data, *struct.unpack_from("<I", data))

    def number(self, place: int, form: str) -> int:
        return int(struct.unpack_from(form, self.data, place)[0])

    def field(self, number: int) -> int:
        """Where a field is; 0 where it is left out."""
        fields = self.place - self.number(self.place, "<i")
        at = 4 + 2 * number
        there = self.number(fields + at, "<H") if at < self.number(fields, "<H") else 0
        return self.place + there if there else 0

    def value(self, number: int, form: str) -> int:
        return self.number(self.field(number), form) if self.field(number) else 0

    def pointed(self, number: int) -> int:
        """Where what a field points to is."""
        return self.field(number) + self.number(self.field(number), "<I")

    def table(self, number: int) -> _Table:
        return _Table(self.data, self.pointed(number))


def _size(opened: BinaryIO, records: _Table, start: int) -> int:
    """Bytes of the buffers of records whose body starts there."""
    if not records.field(2):
        return 0
    place = records.pointed(2)
    many = records.number(place, "<I")
    buffers = np.frombuffer(records.data, "<i8", 2 * many, place + 4).reshape(-1, 2)
    sizes = buffers[:, 1].tolist()
    if records.field(3) or _PACKED_OF_OLD in records.data:
        for i, (place, size) in enumerate(buffers.tolist()):
            if size > 0:  # packed, and before that how much it unpacks to, or -1
                opened.seek(start + place)
                (unpacked,) = struct.unpack("<q", opened.read(8))
                sizes[i] = max(size, unpacked)
    return sum(sizes)
