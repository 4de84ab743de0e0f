"""The values of a line of text, where quotes stand in other ways than CSV files have them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np

from kernbrook.errors import DataFileError

Refused = Callable[[DataFileError], None]

_OPEN_QUOTE = "a quoted value does not end here; values of several lines are not read"
_TWO_WAYS = (
    "a backslash before a quote, which can be read in several ways; write a quote in a value twice"
)


def csv_lines(
    path: Path, first: int, block: bytes, separator: str, refused: Refused | None = None
) -> bytes:
    r"""Lines of CSV with quotes as pyarrow and Python read them: around values, or doubled within.

    Blanks around a quoted value are taken away. A backslash before a quote, as Spark and MySQL
    write it, is no part of the value; where the line can be read without that, it is.

    refused : called with the error for a line, which is then empty; None where it is raised

    Raises
    ------
    DataFileError
        A quoted value does not end on its line, or may be another one.

    Examples
    --------
    >>> csv_lines(Path("t.csv"), 1, b'1, "a"\n2,"5\\" pipe"\n', ",")
    b'"1","a"\n"2","5"" pipe"\n'
    """
    if b'"' not in block:
        return block
    odd = b'\\"' in block or b' "' in block or b'\t"' in block
    if not odd and _all_end(block):
        return block
    lines = block.split(b"\n")
    for i, line in enumerate(lines):
        try:
            if odd and (b'\\"' in line or _blank_before_quote(separator).search(line)):
                lines[i] = line = _rewritten(path, first + i, line, separator)
            if line.count(b'"') % 2:
                raise DataFileError(path, _OPEN_QUOTE, first + i)
        except DataFileError as error:
            if refused is None:
                raise
            refused(error)
            lines[i] = b""
    return b"\n".join(lines)


def _all_end(block: bytes) -> bool:
    """Whether each line has an even number of quotes."""
    text = np.frombuffer(block, np.uint8)
    quotes, ends = np.flatnonzero(text == ord('"')), np.flatnonzero(text == ord("\n"))
    before = np.searchsorted(quotes, ends)
    return bool((before % 2 == 0).all()) and len(quotes) % 2 == 0


def _rewritten(path: Path, number: int, line: bytes, separator: str) -> bytes:
    """A line with all values in quotes; as it is where it cannot be read that way."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        return line  # who reads on says so
    escapes = '\\"' in text
    cells = _cells(text, separator, strict=escapes, escapes=False)
    if cells is None and escapes:
        cells = _cells(text, separator, strict=True, escapes=True)
        if cells is None or any("\\\\" in cell for cell in cells):
            raise DataFileError(path, _TWO_WAYS, number)
        cells = [cell.replace('\\"', '"') for cell in cells]
    if cells is None:
        return line
    return separator.join('"' + cell.replace('"', '""') + '"' for cell in cells).encode()


def _cells(text: str, separator: str, strict: bool, escapes: bool) -> list[str] | None:
    """The values; None where something stands beside a quoted one, or where `strict` within one."""
    cell, cells, place = _cell(separator, strict, escapes), [], 0
    while (found := cell.match(text, place)) is not None:
        quoted, bare, end = found.groups()
        cells.append(bare if quoted is None else quoted.replace('""', '"'))
        if not end:
            return cells
        place = found.end()
    return None


@lru_cache
def _cell(separator: str, strict: bool, escapes: bool) -> re.Pattern[str]:
    blanks = _blanks(separator)
    mark = re.escape(separator)
    within = r'"((?:[^"\\]|\\.|"")*+)"' if escapes else r'"((?:[^"]|"")*+)"'
    bare = rf'([^{mark}"]*+)' if strict else rf'(?!{blanks}")([^{mark}]*+)'
    return re.compile(rf"(?:{blanks}{within}{blanks}|{bare})({mark}|$)", re.DOTALL)


@lru_cache
def _blank_before_quote(separator: str) -> re.Pattern[bytes]:
    blanks = _blanks(separator).replace("*+", "++")
    return re.compile(rf'(?:^|{re.escape(separator)}){blanks}"'.encode())


def _blanks(separator: str) -> str:
    return {" ": r"\t*+", "\t": " *+"}.get(separator, r"[ \t]*+")
