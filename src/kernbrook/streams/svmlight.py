"""Streams from svmlight (libsvm) files: ``label index:value index:value ... # comment``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import DataFileError, InputError
from kernbrook.streams import limits
from kernbrook.streams.bytes import DataFile, count_lines, line_blocks, stem
from kernbrook.streams.stream import EXACT, Features, Labels, Piece, Stream, all_whole

MAX_WIDTH = 2**31 - 1
_SLAB_ROWS = 4096
_SLAB_CELLS = 1 << 19
_NUMBER = re.compile(rb"[-+0-9.eE]+")
_INTEGER_LABEL = re.compile(
    rb"^[ \t\v\f\r]*+([-+]?+(?=[0-9])0*+([0-9]*+))(?=[\s#]|\Z)", re.MULTILINE
)  # ++ and *+ give nothing back: else many digits would be tried in all their parts


class _Lines(NamedTuple):
    """The rows of one block of text, CSR with indices from 0."""

    labels: NDArray[np.float64]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.float64]
    widest: int


class SvmlightStream(Stream):
    """A svmlight file, plain or compressed.

    It is read once when opened, and again by each pass, in bounded memory. The first reading checks
    every line and finds what may not change between chunks: the width, whether all labels are
    integers (then y is int64, else float64), and whether more than half of the entries are written
    out (then X is dense, else CSR).

    Indices count from 1 and ascend within a line. Blank lines, comments and ``qid:`` tokens are
    skipped. Numbers are rounded correctly, as `float` does.

    n_features : d, up to 2^31 - 1; None for the greatest index in the file, up to 2^24
    """

    def __init__(self, file: DataFile, n_features: int | None = None):
        if n_features is not None and n_features > MAX_WIDTH:
            raise InputError(f"n_features must be at most {MAX_WIDTH}, got {n_features}")
        self._file, self.name = file, stem(file.path)
        rows = entries = widest = 0
        integral = True
        for lines in self._parsed(n_features):
            rows += len(lines.labels)
            entries += len(lines.values)
            widest = max(widest, lines.widest)
            integral = integral and all_whole(lines.labels)
        if rows == 0:
            raise DataFileError(self._file.path, "the file has no data line")
        if n_features is None and widest == 0:
            problem = "no line has a feature; give n_features (--n-features) to read it"
            raise DataFileError(self._file.path, problem)
        self.n_rows = rows
        self.n_features = widest if n_features is None else n_features
        self._label_type: type[Any] = np.int64 if integral else np.float64
        self._dense = entries > rows * self.n_features / 2

    def _parsed(self, width: int | None) -> Iterator[_Lines]:
        for first, block in line_blocks(self._file):
            yield parse_block(self._file.path, first, block, width)

    def _pieces(self) -> Iterator[Piece]:
        # Rows become dense a slab at a time: a few lines may stand for many cells.
        slab = max(1, min(_SLAB_ROWS, _SLAB_CELLS // self.n_features)) if self._dense else None
        rows = 0
        for lines in self._parsed(self.n_features):
            rows += len(lines.labels)
            labels = self._labels(lines.labels)
            step = slab or max(1, len(labels))
            for start in range(0, len(labels), step):
                stop = min(start + step, len(labels))
                yield self._features(lines, start, stop), labels[start:stop]
        if rows != self.n_rows:
            raise self._changed()

    def _labels(self, labels: NDArray[np.float64]) -> Labels:
        if self._label_type is np.int64 and not all_whole(labels):
            raise self._changed()
        return labels.astype(self._label_type)

    def _features(self, lines: _Lines, start: int, stop: int) -> Features:
        from scipy.sparse import csr_array

        first, last = lines.indptr[start], lines.indptr[stop]
        indptr = (lines.indptr[start : stop + 1] - first).astype(np.int32)
        parts = lines.values[first:last], lines.indices[first:last], indptr
        X = csr_array(parts, shape=(stop - start, self.n_features))
        return X.toarray() if self._dense else X

    def _changed(self) -> DataFileError:
        return DataFileError(self._file.path, "the file was changed after it was opened")


def parse_block(path: Path, first: int, block: bytes, width: int | None = None) -> _Lines:
    """Parse a block of whole lines, the first of which has a number.

    width : the greatest index allowed; None where the file is to say how wide it is
    """
    from kernbrook.numerics import svmlight_parser as parser

    text = np.frombuffer(block, dtype=np.uint8)
    max_rows = count_lines(block) + 1
    max_pairs = min(int(np.count_nonzero(text == ord(":"))), len(block) // 4 + 1)  # " 1:2"
    labels = np.empty(max_rows)
    indptr = np.empty(max_rows + 1, dtype=np.int64)
    indices = np.empty(max_pairs, dtype=np.int32)
    values = np.empty(max_pairs)
    slow_start = np.empty(max_rows + max_pairs, dtype=np.int64)
    slow_target = np.empty(max_rows + max_pairs, dtype=np.int64)
    state = np.zeros(parser.N_STATE, dtype=np.int64)
    most = limits.GREATEST_INDEX if width is None else width
    code = parser.parse_lines(
        text, most, labels, indptr, indices, values, slow_start, slow_target, state
    )
    slow = int(state[parser.SLOW])
    rows, pairs = int(state[parser.ROWS]), int(state[parser.PAIRS])
    inexact = None
    if (slow_target[:slow] < 0).any() or (np.abs(labels[:rows]) >= EXACT).any():
        inexact = _inexact_label(block[: int(state[parser.STOPPED_AT])] if code else block)
    for start, target in zip(slow_start[:slow].tolist(), slow_target[:slow].tolist(), strict=True):
        if inexact is not None and start > inexact.start(1):
            break
        number = _finite(path, first, block, start)
        if target < 0:
            labels[-1 - target] = number
        else:
            values[target] = number
    if inexact is not None:
        problem = (
            f"a 64-bit float does not hold the label {_shown(inexact[1])}: write numbers with a "
            "decimal point, and number classes anew"
        )
        raise DataFileError(path, problem, _line(first, block, inexact.start(1)))
    if code != parser.DONE:
        start = int(state[parser.STOPPED_AT])
        index, previous = int(state[parser.INDEX]), int(state[parser.PREVIOUS])
        token = block[start : start + 200].split(None, 1)[0]
        beyond = f", beyond the {width} features expected"
        if width is None:
            beyond = f"; with an index above {most}, give n_features (--n-features)"
        problem = {
            parser.BAD_LABEL: _label_problem(token),
            parser.BAD_PAIR: f"expected index:value, found {_shown(token)}",
            parser.BAD_VALUE: _value_problem(token),
            parser.INDEX_ZERO: f"found {_shown(token)}, but the format counts features from 1",
            parser.INDEX_ORDER: f"indices must ascend within a line; {index} follows {previous}",
        }.get(code, f"found {_shown(token)}{beyond}")
        raise DataFileError(path, problem, _line(first, block, start))
    widest = int(state[parser.WIDEST])
    return _Lines(labels[:rows], indptr[: rows + 1], indices[:pairs], values[:pairs], widest)


def _finite(path: Path, first: int, block: bytes, start: int) -> float:
    match = _NUMBER.match(block, start)
    assert match is not None
    number = float(match[0])
    if not math.isfinite(number):
        problem = f"{_shown(match[0])} is too large for a 64-bit float"
        raise DataFileError(path, problem, _line(first, block, start))
    return number


def _inexact_label(block: bytes) -> re.Match[bytes] | None:
    """The first label that is an integer and becomes another one as a float."""
    for label in _INTEGER_LABEL.finditer(block):
        number = float(label[1])
        if math.isfinite(number) and int(label[2] or b"0") != abs(number):
            return label
    return None


def _line(first: int, block: bytes, start: int) -> int:
    return first + block.count(b"\n", 0, start)


def _shown(token: bytes) -> str:
    text = ascii(token.decode("latin-1"))
    return text if len(text) <= 40 else f"{text[:37]}...'"


def _is_non_finite(token: bytes) -> bool:
    return token.lower().lstrip(b"+-") in (b"nan", b"inf", b"infinity")


def _label_problem(token: bytes) -> str:
    if _is_non_finite(token):
        return f"the label {_shown(token)} is not finite"
    if b":" in token:
        return f"no label before {_shown(token)}"
    hint = "; the name of a CSV file ends with .csv" if b"," in token else ""
    return f"expected a label (a number), found {_shown(token)}{hint}"


def _value_problem(token: bytes) -> str:
    value = token.partition(b":")[2]
    if _is_non_finite(value):
        return f"the value of {_shown(token)} is not finite"
    return f"expected a number after the colon, found {_shown(token)}"
