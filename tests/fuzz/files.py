"""Data files with random damage: the rows that reference readers find, or a refusal."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import math
import re
import warnings
import zlib
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from fuzz.cases import ACCEPTED, REFUSED, said_in_a_line
from hard_streams import dense
from hypothesis import strategies as st
from naive import svmlight as naive_svmlight
from naive.table_encoder import Encoder
from sklearn.datasets import load_svmlight_file

import kernbrook as kb
from kernbrook.errors import DataFileWarning
from kernbrook.streams.booleans import BOOLEANS
from kernbrook.streams.bytes import DataFile
from kernbrook.streams.csv import WholeRows, find_separator
from kernbrook.streams.records import MISSING, is_number

# -- text, and what damages it ---------------------------------------------------------------------

NUMBERS = [
    *(b"nan", b"inf", b"-inf", b"1e999", b"1e-999", b"0x10", b"1_0", b"+1", b"--1", b"1.", b".5"),
    *(b"-0", b"00501", b"9007199254740993", b"-9007199254740993", b"1e5", b"1E+5", b"1d5", b""),
    *(b"\xd9\xa3", b"\xef\xbc\x91", b"1 ", b" 1", b"1,5", b"infinity", b"NA", b"?", b"None"),
    *(b"0.1234567890123456789012345", b"1" * 400, b"1e308", b"5e-324", b"true"),
]
ENDS = [b"\n", b"\r", b"\r\n", b"\n\n", b"\x0b", b"\x0c", b"\x1c", b"\x85", b"\xe2\x80\xa8", b"\0"]
SVMLIGHT = [
    *(*NUMBERS, *ENDS, b"# 1"),
    *(b": 1: :1 1:2:3 0:1 -1:1 2147483647:1 2147483648:1 #".split()),
    *(b"99999999999999999999:1", b"qid:3", b"qid:", b"1:1", b"3:2", b"5:1 4:1", b"\xff", b"\xa0"),
    *(b"\xef\xbb\xbf", b"\t", b"  ", b"a", b"1,2"),
]
CSV = [
    *(*NUMBERS, *ENDS),
    *(b",", b",,", b'"', b'""', b'"a"', b'"1"', b'"a,b"', b'"a\nb"', b"'", b";", b"\t", b"\xff"),
    *(b"label", b"x" * 1001, b"\xef\xbb\xbf", b"#", b"\xc3\xa9", b"\\", b'"\r"', b" "),
]


TABLE = [
    *(*NUMBERS, *ENDS, *(b'"" "" "a" "x;y" \' \\ \xff \xc3\xa9'.split()), b" x ", b"2024-02-30"),
    *(b"{", b"}", b"[1]", b"null", b"true", b"NaN", b'"\\ud800"', b'"\\u0000"', b"1e400", b"%"),
    *(b"2024-01-31T12:00:00Z", b";", b"|", b'{"size": 1}', b'"note"', b"1" * 5000, b"[" * 3000),
]
SEPARATORS = b" :,\n\r\t"
BLOCKS = 7, 64, 1 << 20  # bytes read at a time
ENDING = st.sampled_from(["\n", ""])


@st.composite
def damaged(draw: Any, data: bytes, tokens: list[bytes], most: int) -> bytes:
    """Bytes, changed here and there: cut, copied, flipped, and odd tokens put in.

    A token takes the place of what stands between two separators, or is put in anywhere.
    """
    for _ in range(draw(st.integers(0, most))):
        a = draw(st.integers(0, len(data)))
        b = min(len(data), a + draw(st.integers(1, 29)))
        how, token = draw(st.integers(0, 6)), draw(st.sampled_from(tokens))
        if how == 0:
            data = data[:a] + data[b:]
        elif how == 1:
            data = data[:b] + data[a:]
        elif how == 2 and a < len(data):
            data = data[:a] + bytes([data[a] ^ (1 << draw(st.integers(0, 7)))]) + data[a + 1 :]
        elif how == 3 and draw(st.integers(0, 4)) == 4:
            data = data[:a]
        elif how == 4:
            data = data[:a] + token + data[a:]
        else:
            b = a
            while b < len(data) and data[b] not in SEPARATORS:
                b += 1
            a = 1 + max(data.rfind(bytes([mark]), 0, a) for mark in SEPARATORS)
            data = data[:a] + token + data[b:]
    return data


def lines_of(draw: Any, row: Any, most: int) -> list[str]:
    return draw(st.lists(row, min_size=1, max_size=most))


def number(digits: int) -> Any:
    return st.floats(-9, 9).map(lambda value: f"{value:.{digits}g}")


@st.composite
def svmlight_text(draw: Any) -> bytes:
    label = draw(st.sampled_from([["1", "-1", "+1"], ["0", "1", "2"], ["0.5", "-2.5", "1"]]))
    value = st.sampled_from(["1", "0", "-2.5"]) | number(6)
    pairs = st.dictionaries(st.integers(1, 8), value).map(
        lambda row: [f"{i}:{row[i]}" for i in sorted(row)]
    )
    row = st.tuples(st.sampled_from(label), pairs).map(lambda one: " ".join([one[0], *one[1]]))
    return ("\n".join(lines_of(draw, row, 29)) + draw(ENDING)).encode()


@st.composite
def csv_text(draw: Any) -> bytes:
    d = draw(st.integers(1, 4))
    label = draw(st.sampled_from([["0", "1"], ["yes", "no"], ["1.5", "-2"], ["a b", "1"]]))
    row = st.tuples(*[number(5)] * d, st.sampled_from(label)).map(",".join)
    header = [",".join([*(f"f{j}" for j in range(d)), "label"])]
    lines = header * draw(st.integers(0, 4).map(bool)) + lines_of(draw, row, 24)
    return ("\n".join(lines) + draw(ENDING)).encode()


def write(draw: Any, path: Path, text: Any, tokens: list[bytes], most: int = 4) -> Path:
    """A file with some text, damaged."""
    path.write_bytes(draw(damaged(draw(text), tokens, most)))
    return path


# -- files of numbers ------------------------------------------------------------------------------

WIDEST = 10_000  # columns that a reference reader is asked for


def read(path: Path, block: int, rows: int) -> tuple[Any, Any, Any] | None:
    """The stream, and its rows read whole, dense where narrow; None where it is refused.

    Chunks of any size must make up the same.
    """
    with warnings.catch_warnings(), said_in_a_line() as refused:
        warnings.simplefilter("ignore", DataFileWarning)
        with patch("kernbrook.streams.bytes.BLOCK_BYTES", block):
            stream = kb.open_stream(path)
            X, y = stream.read()
            pieces = list(stream.chunks(rows))
    if refused:
        return None
    assert stream.n_rows in (None, len(y))
    assert X.shape == (len(y), stream.n_features)
    assert [len(labels) for _, labels in pieces[:-1]] == [rows] * (len(pieces) - 1)
    np.testing.assert_array_equal(np.concatenate([labels for _, labels in pieces]), y)
    if stream.n_features <= WIDEST:
        X = dense(X)
        np.testing.assert_array_equal(np.concatenate([dense(part) for part, _ in pieces]), X)
    return stream, X, y


def plain_lines(data: bytes) -> bytes:
    lines = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return re.sub(b"^(\xef\xbb\xbf)+", b"", lines, flags=re.MULTILINE)


def how(draw: Any) -> tuple[int, int]:
    """How a file is read: bytes at a time, rows of a chunk."""
    return draw(st.sampled_from(BLOCKS)), draw(st.integers(1, 8))


def svmlight(draw: Any, folder: Path) -> str:
    return check_svmlight(write(draw, folder / "data.svm", svmlight_text(), SVMLIGHT), *how(draw))


def check_svmlight(path: Path, block: int, rows: int) -> str:
    """As scikit-learn and a naive parser read it."""
    found = read(path, block, rows)
    if found is None:
        return REFUSED
    _, X, y = found
    data = path.read_bytes()
    labels, wanted_rows = naive_svmlight.parse(plain_lines(data).decode("latin-1"))
    np.testing.assert_array_equal(y, labels)
    assert X.shape[1] == max((row[-1][0] + 1 for row in wanted_rows if row), default=0)
    if X.shape[1] <= WIDEST:
        wanted = np.zeros(X.shape)
        for t, row in enumerate(wanted_rows):
            for j, value in row:
                wanted[t, j] = value
        np.testing.assert_array_equal(X, wanted)
        try:
            theirs, their_labels = load_svmlight_file(io.BytesIO(data), zero_based=False)
        except Exception:  # of any kind: it takes neither a BOM nor a lone CR
            return ACCEPTED
        if b"\r" not in data:
            np.testing.assert_array_equal(y, their_labels)
            np.testing.assert_array_equal(X[:, : theirs.shape[1]], theirs.toarray())
    return ACCEPTED


def csv_file(draw: Any, folder: Path) -> str:
    return check_csv(write(draw, folder / "data.csv", csv_text(), CSV), *how(draw))


def whole_rows(path: Path, lines: bytes, mark: str) -> str:
    whole = WholeRows(path, mark).of([(1, lines)])
    return b"".join(block for _, block in whole).decode().replace("\r", "\n")


def check_csv(path: Path, block: int, rows: int) -> str:
    """As pandas and Python's own reader have it."""
    import pandas

    found = read(path, block, rows)
    if found is None:
        return REFUSED
    _, X, y = found
    mark = find_separator(DataFile(path))
    text = whole_rows(path, plain_lines(path.read_bytes()), mark)
    lines = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=mark) if row]
    names = [name.strip() for name in lines[0]]
    headed = len(lines) > len(y)
    cells = [[cell.strip() for cell in row] for row in lines[headed:]]
    assert len(cells) == len(y)
    assert {len(row) for row in cells} == {X.shape[1] + 1}
    place = names.index("label") if headed and "label" in names else X.shape[1]
    labels = [row.pop(place) for row in cells]
    assert not any(cell in MISSING for row in cells for cell in row)
    np.testing.assert_array_equal(X, np.array(cells, dtype=float).reshape(X.shape))
    check_labels(y, labels)
    theirs = pandas.read_csv(
        io.StringIO(text), header=None, dtype=str, keep_default_na=False, skip_blank_lines=True,
        sep=mark, skiprows=1 + len(text) - len(text.lstrip("\n")) if headed else 0,
    )  # fmt: skip
    blank = sum(not cells for cells in theirs.apply(lambda row: "".join(row).strip(), axis=1))
    assert len(theirs) - blank == len(y), (len(theirs), blank, len(y))
    return ACCEPTED


# -- compressed files ------------------------------------------------------------------------------


def unpacked_zst(data: bytes) -> bytes:
    return pa.CompressedInputStream(pa.BufferReader(data), "zstd").read()


PACKERS: dict[str, Any] = {
    ".gz": (partial(gzip.compress, mtime=0), gzip.decompress),
    ".bz2": (bz2.compress, bz2.decompress),
    ".xz": (lzma.compress, lzma.decompress),
    ".zst": (partial(pa.compress, codec="zstd", asbytes=True), unpacked_zst),
}
BROKEN = OSError, EOFError, zlib.error, lzma.LZMAError, ValueError


def compressed(draw: Any, folder: Path) -> str:
    """As the same text without compression, where Python's own reader unpacks it; or refused."""
    kind, text = draw(st.sampled_from([(".svm", svmlight_text()), (".csv", csv_text())]))
    suffix, (pack, _) = draw(st.sampled_from(list(PACKERS.items())))
    parts = [pack(draw(text)) for _ in range(draw(st.sampled_from([1, 1, 1, 1, 2])))]  # members
    data = draw(damaged(b"".join(parts), [b"\0", parts[0][:10], b"x"], 2))
    path = folder / f"data{kind}{draw(st.sampled_from([suffix, suffix, suffix, '.gz', '']))}"
    path.write_bytes(data)
    found = read(path, *how(draw))
    if found is None:
        return REFUSED
    for _, unpack in PACKERS.values():
        try:
            plain = unpack(data)
            break
        except BROKEN:
            continue
    else:
        plain = data  # no longer compressed at all
    path = folder / f"plain{kind}"
    path.write_bytes(plain)
    same = read(path, *how(draw))
    assert same is not None
    np.testing.assert_array_equal(found[1], same[1])
    np.testing.assert_array_equal(found[2], same[2])
    return ACCEPTED


# -- tables ----------------------------------------------------------------------------------------

NAMES = ["size", "kind", "when", "note"]
DAYS = st.dates(date(2023, 12, 1), date(2026, 5, 1))
HOURS = st.sampled_from(["", "T10:30:00", " 23:59:59.5", "T00:00:00Z"])
ROW = st.fixed_dictionaries(
    {
        "size": st.none() | st.floats(-9, 9).map(lambda value: round(value, 4)),
        "kind": st.none() | st.sampled_from(["x", "y", "z z", "7"]),
        "when": st.none() | st.tuples(DAYS.map(str), HOURS).map("".join),
        "note": st.none() | st.integers(0, 8),
        "label": st.sampled_from(["yes", "no"]),
    }
)
ROWS = st.lists(ROW, min_size=1, max_size=24)


def json_lines(draw: Any, folder: Path) -> str:
    """As Python's own reader and the naive encoder have it."""
    lines = []
    for row in draw(ROWS):
        gaps = draw(st.booleans()) or not lines  # null, or no key; the first line has all keys
        lines.append(json.dumps({k: v for k, v in row.items() if v is not None or gaps}))
    path = folder / "data.jsonl"
    path.write_bytes(draw(damaged("\n".join(lines).encode(), TABLE, 3)))
    found = read_table(draw, path, (1 << 20,))
    if found is None:
        return REFUSED
    text = plain_lines(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    return check_table(found, [json.loads(line) for line in text.split(b"\n") if line.strip()])


def semicolons(draw: Any, folder: Path) -> str:
    """As Python's own reader and the naive encoder have it."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=";", lineterminator="\n")
    writer.writerow(names := [*NAMES, "label"])
    writer.writerows([row[name] for name in names] for row in draw(ROWS))
    path = folder / "data.csv"
    path.write_bytes(draw(damaged(out.getvalue().encode(), TABLE, 3)))
    found = read_table(draw, path, BLOCKS, sep=";")
    if found is None:
        return REFUSED
    lines = plain_lines(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    text = whole_rows(path, lines, ";")
    header, *rows = filter(None, csv.reader(io.StringIO(text, newline=""), delimiter=";"))
    names = [name.strip() for name in header]
    wanted = []
    for row in rows:
        values = [value.strip() for value in row]
        wanted.append({k: None if v in MISSING else v for k, v in zip(names, values, strict=True)})
    return check_table(found, wanted)


def read_table(draw: Any, path: Path, blocks: Any, **options: Any) -> Any:
    """The stream and its rows, chunks of any size the same; None where it is refused."""
    levels = draw(st.sampled_from([["x", "y"], 3]))
    missing = draw(st.sampled_from(["mean", "last", "indicator"]))
    with warnings.catch_warnings(), said_in_a_line() as refused:
        warnings.simplefilter("ignore", DataFileWarning)
        with patch("kernbrook.streams.bytes.BLOCK_BYTES", draw(st.sampled_from(blocks))):
            encoder = kb.TableEncoder({"kind": levels}, {"when": ["days", "hour"]}, missing=missing)
            stream = kb.open_stream(path, encoder=encoder, label="label", **options)
            X, y = stream.read()
            parts = list(stream.chunks(draw(st.integers(1, 8))))
    if refused:
        return None
    assert stream.n_rows == len(y)
    np.testing.assert_array_equal(np.vstack([part for part, _ in parts]), X)
    np.testing.assert_array_equal(np.concatenate([labels for _, labels in parts]), y)
    return stream, X, y


def check_table(found: Any, wanted: list[dict[str, Any]]) -> str:
    stream, X, y = found
    encoder = stream.encoder
    twin = Encoder(encoder.columns_, encoder.categorical, encoder.dates, encoder.missing)
    assert len(wanted) == len(y)
    check_labels(y, [as_text(row.get("label")) for row in wanted])
    expected = [
        twin.learn({name: value_of(name, row.get(name)) for name in encoder.columns_})
        for row in wanted
    ]
    np.testing.assert_allclose(X, expected, rtol=1e-9, atol=1e-9)
    return ACCEPTED


def check_labels(y: Any, texts: list[str]) -> None:
    """As text, or as numbers where all are and none is as 007; None or NaN where missing."""
    labels = [None if text in MISSING else text for text in texts]
    if y.dtype.kind in "UOb":
        found = [label if label is None else str(label) for label in y.tolist()]
        assert found in (labels, [BOOLEANS.get(label) for label in labels])
        of_numbers = all(map(is_number, filter(None, labels)))
        assert not of_numbers or any(re.match("[+-]?0[0-9]", label or "") for label in labels)
    else:
        np.testing.assert_array_equal(y, np.array(labels, dtype=float))


def value_of(name: str, value: Any) -> Any:
    """What the naive encoder takes."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if name == "kind":
        return None if as_text(value) in MISSING else as_text(value)
    text = value.strip() if isinstance(value, str) else value
    return None if isinstance(text, str) and text in MISSING else text


def as_text(value: Any) -> str:
    if isinstance(value, float) and abs(value) < 2**53 and value.is_integer():
        return str(int(value))
    return str(value).strip()
