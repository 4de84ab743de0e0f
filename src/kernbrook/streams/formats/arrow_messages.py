"""What the messages of an Arrow file or stream unpack to, before pyarrow takes that memory."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

FILE_MARK = b"ARROW1"  # at the beginning and the end of a file; a stream has none
_CONTINUES = b"\xff\xff\xff\xff"
_DICTIONARY, _ROWS = 2, 3  # kinds of messages
_PACKED_OF_OLD = b"ARROW:experimental_compression"


def in_stream(opened: BinaryIO) -> Iterator[tuple[str, int]]:
    """What the messages of a stream hold, in words, and their bytes when unpacked.

    Raises
    ------
    EOFError
        The last message is whole, but the mark after it is not there.
    struct.error, ValueError, OverflowError, OSError
        They are damaged, or cut within one.
    """
    first, end = 1, opened.seek(0, os.SEEK_END)
    opened.seek(0)
    while begun := opened.read(4):
        size = _length(opened, begun)
        if size == 0:
            return
        message, start = _Table.root(opened.read(size)), opened.tell()
        if (found := _held(opened, message, start, first)) is not None:
            first += found.rows
            yield found.part, found.size
        body = message.value(3, "<q")
        if not 0 <= body <= end - start:
            raise ValueError("cut")
        opened.seek(start + body)
    raise EOFError


def in_file(opened: BinaryIO) -> Iterator[tuple[str, int]]:
    """The same of an Arrow file, at whose end an index of the messages stands."""
    opened.seek(-4 - len(FILE_MARK), os.SEEK_END)
    (size,) = struct.unpack("<i", opened.read(4))
    opened.seek(-4 - len(FILE_MARK) - size, os.SEEK_END)
    index, first = _Table.root(opened.read(size)), 1
    for blocks in (index.numbers(2, 3), index.numbers(3, 3)):  # of dictionaries, of rows
        for place, length, _ in blocks.tolist():
            opened.seek(place)
            message = _Table.root(opened.read(_length(opened, opened.read(4))))
            start = place + (length & 0xFFFFFFFF)  # the rest of it is no number
            if (found := _held(opened, message, start, first)) is not None:
                first += found.rows
                yield found.part, found.size


class _Held(NamedTuple):
    """Records of a message, in words, their number and bytes."""

    part: str
    rows: int
    size: int


def _length(opened: BinaryIO, begun: bytes) -> int:
    """Of a message that begins so: of old there was no mark before it."""
    (size,) = struct.unpack("<i", opened.read(4) if begun == _CONTINUES else begun)
    if size < 0:
        raise ValueError("a message of less than nothing")
    return int(size)


def _held(opened: BinaryIO, message: _Table, start: int, first: int) -> _Held | None:
    """What a message holds whose body starts there; None where it is a schema."""
    kind = message.value(1, "<B")
    if kind == _DICTIONARY:
        return _Held("a dictionary", 0, _size(opened, message.table(2).table(1), start))
    if kind != _ROWS:
        return None
    records = message.table(2)
    rows = records.value(0, "<q")
    return _Held(f"rows {first:,} to {first + rows - 1:,}", rows, _size(opened, records, start))


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

    def numbers(self, number: int, each: int) -> NDArray[np.int64]:
        """A list of structs of so many numbers of 64 bits each."""
        if not self.field(number):
            return np.zeros((0, each), np.int64)
        place = self.pointed(number)
        many = self.number(place, "<I")
        return np.frombuffer(self.data, "<i8", each * many, place + 4).reshape(-1, each)


def _size(opened: BinaryIO, records: _Table, start: int) -> int:
    """Bytes of the buffers of records whose body starts there."""
    buffers = records.numbers(2, 2)
    sizes = buffers[:, 1].tolist()
    if records.field(3) or _PACKED_OF_OLD in records.data:
        for i, (place, size) in enumerate(buffers.tolist()):
            if size > 0:  # packed, and before that how much it unpacks to, or -1
                opened.seek(start + place)
                (unpacked,) = struct.unpack("<q", opened.read(8))
                sizes[i] = max(size, unpacked)
    return sum(sizes)
