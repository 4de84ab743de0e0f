"""What the pages of a Parquet column unpack to, before pyarrow takes that memory for them.

The size in a file's footer is not what pyarrow goes by: each page says its own, in the compact
protocol of Thrift.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, BinaryIO

_INTEGER, _TEXT, _STRUCT = 5, 8, 12  # kinds of fields
_BYTES = {1: 0, 2: 0, 3: 1, 7: 8}  # of others; true and false are kinds
_UNPACKED, _PACKED = 2, 3  # fields of the header of a page


def unpacked(opened: BinaryIO, chunk: Any) -> list[int]:
    """Bytes of each page of a chunk, of which pyarrow has the metadata; a dictionary is the first.

    Raises
    ------
    IndexError, KeyError, ValueError, OverflowError, OSError, RecursionError
        It is damaged.
    """
    start, found = chunk.data_page_offset, list[int]()
    if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < start:
        start = chunk.dictionary_page_offset
    if chunk.num_values == 0:  # of a group without rows; pyarrow reads no page
        return []
    end = opened.seek(0, os.SEEK_END)
    opened.seek(start)
    while opened.tell() < start + chunk.total_compressed_size:
        sizes = dict[int, int]()
        for number, kind in _fields(opened):
            if kind == _INTEGER:
                sizes[number] = _signed(opened)
            else:
                _skip(opened, kind)
        if not 0 <= sizes[_PACKED] <= end - opened.tell():
            raise ValueError("a page that is not in the file")
        opened.seek(sizes[_PACKED], os.SEEK_CUR)
        found.append(sizes[_UNPACKED])
    return found


def _fields(opened: BinaryIO) -> Iterator[tuple[int, int]]:
    """Numbers and kinds of the fields of a struct; who asks for the next has read this one."""
    number = 0
    while head := opened.read(1)[0]:
        number = number + (head >> 4) if head >> 4 else _signed(opened)
        yield number, head & 15


def _skip(opened: BinaryIO, kind: int) -> None:
    if kind == _STRUCT:
        for _, inner in _fields(opened):
            _skip(opened, inner)
    elif kind in (4, _INTEGER, 6):
        _signed(opened)
    else:
        opened.seek(_whole(opened) if kind == _TEXT else _BYTES[kind], os.SEEK_CUR)


def _whole(opened: BinaryIO) -> int:
    number = shift = 0
    while (byte := opened.read(1)[0]) > 127:
        number |= (byte & 127) << shift
        shift += 7
        if shift > 63:
            raise ValueError("a number of over 64 bits")
    return number | byte << shift


def _signed(opened: BinaryIO) -> int:
    number = _whole(opened)
    return number >> 1 ^ -(number & 1)
