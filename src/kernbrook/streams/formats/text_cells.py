"""Rows and values of CSV, where quotes stand in other ways than CSV files have them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from kernbrook.errors import DataFileError
from kernbrook.streams.files import limits
from kernbrook.streams.files.text_files import count_lines

Refused = Callable[[DataFileError], None]

UNENDED = "a quoted value of the row that begins here does not end"
_ODD = (
    "an odd number of quotes; a value with a quote in it stands in quotes, and the quote in it is "
    "written twice"
)
_WITHIN = {False: r'(?:[^"]|"")*+', True: r'(?:[^"\\]|\\.|"")*+'}  # quotes, by "escapes"
_TWO_WAYS = (
    "a backslash before a quote, which can be read in several ways; write a quote in a value twice"
)


def whole_rows(
    path: Path, blocks: Iterable[tuple[int, bytes]], separator: str
) -> Iterator[tuple[int, bytes]]:
    r"""Blocks of lines, each row in one: a line that ends in a quoted value ends with a CR there.

    Empty lines follow such a row, as many as it takes for the lines after it to keep their numbers.

    Raises
    ------
    DataFileError
        A quoted value does not end.

    Examples
    --------
    >>> list(whole_rows(Path("t.csv"), [(1, b'1,"a\n'), (2, b'b"\n2,c\n')], ","))
    [(1, b'1,"a\rb"\n\n2,c\n')]
    """
    held = b""
    for first, lines in blocks:
        first -= count_lines(held)
        block, held = _joined(path, first, lines := held + lines, separator)
        if len(held) > limits.LONGEST_CELL:
            block, held = _joined(path, first, lines, separator, is_last=True)
        if block:
            yield first, block
        first += count_lines(block)
        if len(held) > limits.LONGEST_CELL:
            raise DataFileError(path, f"{UNENDED} within {limits.LONGEST_CELL:,} bytes", first)
    if held:
        block, held = _joined(path, first, held, separator, is_last=True)
        if held:
            raise DataFileError(path, UNENDED, first + count_lines(block))
        yield first, block


def _joined(
    path: Path, first: int, block: bytes, separator: str, is_last: bool = False
) -> tuple[bytes, bytes]:
    """The rows of a block that are whole, and the lines from one on that goes on after the block.

    is_last : whether a row that may go on, or may not, ends
    """
    if b'"' not in block or (not _quote_after(b"\\", block) and _all_end(block)):
        return block, b""
    lines, rows, begun = block.split(b"\n"), list[bytes](), 0
    ways: list[bool] = []  # with and without backslashes before quotes, where a row goes on
    for i, line in enumerate(lines):
        goes_on, odd = bool(ways), line.count(b'"') % 2 == 1
        if not (goes_on or odd or b'\\"' in line):
            rows.append(line)
            continue
        begun = begun if goes_on else i
        line = b'"' + line if goes_on else line
        left = {way: is_open(line, separator, way) for way in ways or (False, True)}
        ways = [way for way, is_so in left.items() if is_so]
        if False in left.values():
            ended = [_ends(lines[i + 1 :], separator, way) for way in ways]
            if True in ended:
                raise DataFileError(path, _TWO_WAYS, first + begun)
            if None in ended and not is_last:
                break
            ways = []
        elif not ways and (goes_on or odd):
            raise DataFileError(path, UNENDED, first + begun)
        if not ways:
            rows += [b"\r".join(lines[begun : i + 1]), *[b""] * (i - begun)]
    if not ways:
        return b"\n".join(rows), b""
    return b"".join(row + b"\n" for row in rows), b"\n".join(lines[begun:])


def _ends(lines: Sequence[bytes], separator: str, escapes: bool) -> bool | None:
    """Whether a quoted value that goes on in these lines ends as it should; None if it does not."""
    left = (is_open(b'"' + line, separator, escapes) for line in lines)
    return next((is_so is False for is_so in left if not is_so), None)


def is_open(line: bytes, separator: str, escapes: bool = False) -> bool | None:
    """Whether a line ends within a quoted value; None where something stands beside one.

    Examples
    --------
    >>> [is_open(line, ",") for line in (b'1,"a', b'1,"a"', b'1,"a" b')]
    [True, False, None]
    """
    cell, place = _cell_or_begin(separator, escapes), 0
    while (found := cell.match(line, place)) is not None:
        if found["mark"] != separator.encode():
            return found["mark"] is None
        place = found.end()
    return None


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
        The quotes of a line are odd, or it can be read in several ways.

    Examples
    --------
    >>> csv_lines(Path("t.csv"), 1, b'1, "a"\n2,"5\\" pipe"\n', ",")
    b'"1","a"\n"2","5"" pipe"\n'
    """
    if b'"' not in block:
        return block
    odd = any(_quote_after(mark, block) for mark in (b"\\", b" ", b"\t"))
    if not odd and _all_end(block):
        return block
    lines = block.split(b"\n")
    for i, line in enumerate(lines):
        try:
            if odd and (b'\\"' in line or _blank_before_quote(separator).search(line)):
                lines[i] = line = _rewritten(path, first + i, line, separator)
            if line.count(b'"') % 2:
                raise DataFileError(path, _ODD, first + i)
        except DataFileError as error:
            if refused is None:
                raise
            refused(error)
            lines[i] = b""
    return b"\n".join(lines)


def _quote_after(mark: bytes, block: bytes) -> bool:
    """Whether a quote comes right after a mark; one byte alone is found quickly."""
    return mark in block and mark + b'"' in block


def _all_end(block: bytes) -> bool:
    """Whether each line has an even number of quotes."""
    text = np.frombuffer(block, np.uint8)
    marks = text[(text == ord('"')) | (text == ord("\n"))]
    ends = np.flatnonzero(marks == ord("\n"))
    quotes = ends - np.arange(len(ends))  # before each
    return not (quotes % 2).any() and (len(marks) - len(ends)) % 2 == 0


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
    within = rf'"({_WITHIN[escapes]})"'
    bare = rf'([^{mark}"]*+)' if strict else rf'(?!{blanks}")([^{mark}]*+)'
    return re.compile(rf"(?:{blanks}{within}{blanks}|{bare})({mark}|$)", re.DOTALL)


@lru_cache
def _cell_or_begin(separator: str, escapes: bool) -> re.Pattern[bytes]:
    """A value and the mark behind it; or the begin of a quoted one, and no mark."""
    blanks, mark = _blanks(separator), re.escape(separator)
    bare = rf'[^{mark}"]*+' if escapes else rf'(?!{blanks}")[^{mark}]*+'
    ended = rf'{blanks}"{_WITHIN[escapes]}(?:"{blanks}|(?P<open>\Z))'
    cell = rf"(?:{ended}|{bare})(?(open)|(?P<mark>{mark}|\Z))"
    return re.compile(cell.encode(), re.DOTALL)


@lru_cache
def _blank_before_quote(separator: str) -> re.Pattern[bytes]:
    blanks = _blanks(separator).replace("*+", "++")
    return re.compile(rf'(?:^|{re.escape(separator)}){blanks}"'.encode())


def _blanks(separator: str) -> str:
    return {" ": r"\t*+", "\t": " *+"}.get(separator, r"[ \t]*+")
