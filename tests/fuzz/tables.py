"""Tables, changed at random: the rows that a reader of one row at a time finds, or a refusal."""

from __future__ import annotations

import csv
import io
import json
import math
import warnings
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from fuzz.cases import ACCEPTED, REFUSED, changed, one_of, said_in_a_line
from fuzz.files import BLOCKS, ENDS, NUMBERS, plain_lines
from naive.table_encoder import Encoder

import kernbrook as kb
from kernbrook.errors import DataFileWarning
from kernbrook.streams.csv import csv_lines
from kernbrook.streams.records import MISSING, is_number

NAMES = ["size", "kind", "when", "note"]
TOKENS = [
    *NUMBERS,
    *ENDS,
    *(b'" "" "a" "x;y" \' \\ \xff \xc3\xa9'.split()),
    *(b" x ", b"2024-02-30", b"{"),
    *(b"}", b"[1]", b"null", b"true", b"NaN", b'"\\ud800"', b'"\\u0000"', b"2024-01-31T12:00:00Z"),
    *(b";", b"|", b"1e400", b'{"size": 1}', b'"note"', b"%", b"1" * 5000, b"[" * 3000),
]


def json_lines(rng: np.random.Generator, folder: Path) -> str:
    """As Python's own reader and the naive encoder have it."""
    lines = []
    for row in rows(rng):
        left = {k: v for k, v in row.items() if v is not None or rng.random() < 0.5}
        lines.append(json.dumps({**left, "label": row["label"]}))
    lines[0] = json.dumps(dict.fromkeys(NAMES) | json.loads(lines[0]))
    path = folder / "data.jsonl"
    path.write_bytes(changed(rng, "\n".join(lines).encode(), TOKENS, int(rng.integers(0, 4))))
    found = read(rng, path, (1 << 20,))
    if found is None:
        return REFUSED
    text = plain_lines(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    return check(found, [json.loads(line) for line in text.split(b"\n") if line.strip()])


def semicolons(rng: np.random.Generator, folder: Path) -> str:
    """As Python's own reader and the naive encoder have it."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=";", lineterminator="\n")
    writer.writerow([*NAMES, "label"])
    writer.writerows(row.values() for row in rows(rng))
    path = folder / "data.csv"
    path.write_bytes(changed(rng, out.getvalue().encode(), TOKENS, int(rng.integers(0, 4))))
    found = read(rng, path, BLOCKS, sep=";")
    if found is None:
        return REFUSED
    lines = plain_lines(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    text = csv_lines(path, 1, lines, ";").decode()
    header, *cells = [
        row for row in csv.reader(io.StringIO(text, newline=""), delimiter=";") if row
    ]
    names = [name.strip() for name in header]
    wanted = []
    for row in cells:
        values = [value.strip() for value in row]
        wanted.append({k: None if v in MISSING else v for k, v in zip(names, values, strict=True)})
    return check(found, wanted)


def rows(rng: np.random.Generator) -> list[dict[str, Any]]:
    made = []
    for _ in range(int(rng.integers(1, 25))):
        day = np.datetime64("2023-12-01") + np.timedelta64(int(rng.integers(0, 900)), "D")
        row = {
            "size": round(float(rng.normal()), 4),
            "kind": one_of(rng, ["x", "y", "z z", "7"]),
            "when": f"{day}" + one_of(rng, ["", "T10:30:00", " 23:59:59.5", "T00:00:00Z"]),
            "note": int(rng.integers(9)),
        }
        made.append(
            {k: None if rng.random() < 0.2 else v for k, v in row.items()}
            | {"label": one_of(rng, ["yes", "no"])}
        )
    return made


def read(rng: np.random.Generator, path: Path, blocks: Any, **options: Any) -> Any:
    """The stream and its rows, chunks of any size the same; None where it is refused."""
    levels = one_of(rng, [["x", "y"], 3])
    missing = one_of(rng, ["mean", "last", "indicator"])
    with warnings.catch_warnings(), said_in_a_line() as refused:
        warnings.simplefilter("ignore", DataFileWarning)
        with patch("kernbrook.streams.bytes.BLOCK_BYTES", one_of(rng, blocks)):
            encoder = kb.TableEncoder({"kind": levels}, {"when": ["days", "hour"]}, missing=missing)
            stream = kb.open_stream(path, encoder=encoder, label="label", **options)
            X, y = stream.read()
            parts = list(stream.chunks(int(rng.integers(1, 9))))
    if refused:
        return None
    assert stream.n_rows == len(y)
    np.testing.assert_array_equal(np.vstack([part for part, _ in parts]), X)
    np.testing.assert_array_equal(np.concatenate([labels for _, labels in parts]), y)
    return stream, X, y


def check(found: Any, wanted: list[dict[str, Any]]) -> str:
    stream, X, y = found
    encoder = stream.encoder
    twin = Encoder(encoder.columns_, encoder.categorical, encoder.dates, encoder.missing)
    assert len(wanted) == len(y)
    labels = [as_text(row["label"]) for row in wanted]
    if y.dtype.kind == "U":
        assert y.tolist() == labels
        assert not all(map(is_number, labels))
    else:
        np.testing.assert_array_equal(y, np.array(labels, dtype=float))
    expected = [
        twin.learn({name: value_of(name, row.get(name)) for name in encoder.columns_})
        for row in wanted
    ]
    np.testing.assert_allclose(X, expected, rtol=1e-9, atol=1e-9)
    return ACCEPTED


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
