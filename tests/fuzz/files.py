"""Data files, changed at random: the rows that reference readers find, or a refusal."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import re
import warnings
import zlib
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from fuzz.cases import ACCEPTED, REFUSED, changed, one_of, said_in_a_line
from hard_streams import dense
from naive import svmlight as naive_svmlight
from sklearn.datasets import load_svmlight_file

import kernbrook as kb
from kernbrook.errors import DataFileWarning
from kernbrook.streams.csv import csv_lines, find_separator, whole_rows
from kernbrook.streams.records import MISSING, is_number

NUMBERS = [
    *(b"nan", b"inf", b"-inf", b"1e999", b"1e-999", b"0x10", b"1_0", b"+1", b"--1", b"1.", b".5"),
    *(b"-0", b"00501", b"9007199254740993", b"-9007199254740993", b"1e5", b"1E+5", b"1d5", b""),
    *(b"\xd9\xa3", b"\xef\xbc\x91", b"1 ", b" 1", b"1,5", b"infinity", b"NA", b"?", b"None"),
    *(b"0.1234567890123456789012345", b"1" * 400, b"1e308", b"5e-324", b"true"),
]
ENDS = [b"\n", b"\r", b"\r\n", b"\n\n", b"\x0b", b"\x0c", b"\x1c", b"\x85", b"\xe2\x80\xa8", b"\0"]
SVMLIGHT = [
    *NUMBERS,
    *ENDS,
    *(b": 1: :1 1:2:3 0:1 -1:1 2147483647:1 2147483648:1 #".split()),
    b"# 1",
    *(b"99999999999999999999:1", b"qid:3", b"qid:", b"1:1", b"3:2", b"5:1 4:1", b"\xff", b"\xa0"),
    *(b"\xef\xbb\xbf", b"\t", b"  ", b"a", b"1,2"),
]
CSV = [
    *NUMBERS,
    *ENDS,
    *(b",", b",,", b'"', b'""', b'"a"', b'"1"', b'"a,b"', b'"a\nb"', b"'", b";", b"\t", b"\xff"),
    *(b"label", b"x" * 1001, b"\xef\xbb\xbf", b"#", b"\xc3\xa9", b"\\", b'"\r"', b" "),
]


def unpacked_zst(data: bytes) -> bytes:
    return pa.CompressedInputStream(pa.BufferReader(data), "zstd").read()


PACKERS: dict[str, Any] = {
    ".gz": (partial(gzip.compress, mtime=0), gzip.decompress),
    ".bz2": (bz2.compress, bz2.decompress),
    ".xz": (lzma.compress, lzma.decompress),
    ".zst": (partial(pa.compress, codec="zstd", asbytes=True), unpacked_zst),
}
BROKEN = OSError, EOFError, zlib.error, lzma.LZMAError, ValueError
BLOCKS = 7, 64, 1 << 20  # bytes read at a time
WIDEST = 10_000  # columns that a reference reader is asked for


def svmlight_text(rng: np.random.Generator) -> bytes:
    labels = one_of(rng, [["1", "-1", "+1"], ["0", "1", "2"], ["0.5", "-2.5", "1"]])
    lines = []
    for _ in range(int(rng.integers(1, 30))):
        indices = np.flatnonzero(rng.random(8) < 0.5) + 1
        label = one_of(rng, labels)
        pairs = (f"{i}:{one_of(rng, ['1', '0', '-2.5', f'{rng.normal():.6g}'])}" for i in indices)
        lines.append(" ".join([label, *pairs]))
    return ("\n".join(lines) + one_of(rng, ["\n", ""])).encode()


def csv_text(rng: np.random.Generator) -> bytes:
    d = int(rng.integers(1, 5))
    labels = one_of(rng, [["0", "1"], ["yes", "no"], ["1.5", "-2"], ["a b", "1"]])
    lines = [] if rng.random() < 0.2 else [",".join([*(f"f{j}" for j in range(d)), "label"])]
    for _ in range(int(rng.integers(1, 25))):
        lines.append(",".join([*(f"{v:.5g}" for v in rng.normal(size=d)), one_of(rng, labels)]))
    return ("\n".join(lines) + one_of(rng, ["\n", ""])).encode()


def written(rng: np.random.Generator, path: Path, data: bytes, tokens: list[bytes]) -> Path:
    """A file with some text, changed here and there."""
    path.write_bytes(changed(rng, data, tokens, int(rng.integers(0, 5))))
    return path


def read(rng: np.random.Generator, path: Path) -> tuple[Any, Any, Any] | None:
    """The stream, and its rows read whole, dense where narrow; None where it is refused.

    Chunks of any size must make up the same.
    """
    size, rows = one_of(rng, BLOCKS), int(rng.integers(1, 9))
    with warnings.catch_warnings(), said_in_a_line() as refused:
        warnings.simplefilter("ignore", DataFileWarning)
        with patch("kernbrook.streams.bytes.BLOCK_BYTES", size):
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


def svmlight(rng: np.random.Generator, folder: Path) -> str:
    """Changed at random."""
    return check_svmlight(rng, written(rng, folder / "data.svm", svmlight_text(rng), SVMLIGHT))


def check_svmlight(rng: np.random.Generator, path: Path) -> str:
    """As scikit-learn and a naive parser read it."""
    found = read(rng, path)
    if found is None:
        return REFUSED
    _, X, y = found
    data = path.read_bytes()
    labels, rows = naive_svmlight.parse(plain_lines(data).decode("latin-1"))
    np.testing.assert_array_equal(y, labels)
    assert X.shape[1] == max((row[-1][0] + 1 for row in rows if row), default=0)
    if X.shape[1] <= WIDEST:
        wanted = np.zeros(X.shape)
        for t, row in enumerate(rows):
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


def csv_file(rng: np.random.Generator, folder: Path) -> str:
    """Changed at random."""
    return check_csv(rng, written(rng, folder / "data.csv", csv_text(rng), CSV))


def check_csv(rng: np.random.Generator, path: Path) -> str:
    """As pandas and Python's own reader have it."""
    import pandas

    found = read(rng, path)
    if found is None:
        return REFUSED
    _, X, y = found
    mark = find_separator(path)
    whole = whole_rows(path, [(1, plain_lines(path.read_bytes()))], mark)
    block = b"".join(block for _, block in whole)
    text = csv_lines(path, 1, block, mark).decode("utf-8").replace("\r", "\n")
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=mark) if row]
    header = rows[0]
    if len(rows) > len(y):
        rows = rows[1:]
    assert len(rows) == len(y)
    assert {len(row) for row in rows} == {X.shape[1] + 1}
    names = [name.strip() for name in header]
    place = names.index("label") if rows[0] is not header and "label" in names else X.shape[1]
    cells = [[cell.strip() for cell in row] for row in rows]
    labels = [row.pop(place) for row in cells]
    assert not any(cell in MISSING for row in [labels, *cells] for cell in row)
    np.testing.assert_array_equal(X, np.array(cells, dtype=float).reshape(X.shape))
    if y.dtype.kind == "U":
        assert y.tolist() == labels
        assert not all(map(is_number, labels))
    else:
        np.testing.assert_array_equal(y, np.array(labels, dtype=float))
    theirs = pandas.read_csv(
        io.StringIO(text), header=None, dtype=str, keep_default_na=False, skip_blank_lines=True,
        sep=mark, skiprows=0 if rows[0] is header else 1 + len(text) - len(text.lstrip("\n")),
    )  # fmt: skip
    blank = sum(not cells for cells in theirs.apply(lambda row: "".join(row).strip(), axis=1))
    assert len(theirs) - blank == len(y), (len(theirs), blank, len(y))
    return ACCEPTED


def compressed(rng: np.random.Generator, folder: Path) -> str:
    """As the same text without compression, where Python's own reader unpacks it; or refused."""
    kind, make = one_of(rng, [(".svm", svmlight_text), (".csv", csv_text)])
    suffix, (pack, _) = one_of(rng, list(PACKERS.items()))
    data = pack(make(rng))
    if rng.random() < 0.2:
        data += pack(make(rng))  # two members, one after the other
    data = changed(rng, data, [b"\0", data[:10], b"x"], int(rng.integers(0, 3)))
    path = folder / f"data{kind}{one_of(rng, [suffix, suffix, suffix, '.gz', ''])}"
    path.write_bytes(data)
    found = read(rng, path)
    if found is None:
        return REFUSED
    for _, unpack in PACKERS.values():
        try:
            text = unpack(data)
            break
        except BROKEN:
            continue
    else:
        text = data  # no longer compressed at all
    plain = folder / f"plain{kind}"
    plain.write_bytes(text)
    same = read(rng, plain)
    assert same is not None
    np.testing.assert_array_equal(found[1], same[1])
    np.testing.assert_array_equal(found[2], same[2])
    return ACCEPTED
