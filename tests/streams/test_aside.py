"""Columns of a table that are shown and not learned."""

import csv
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kernbrook as kb
from kernbrook.errors import DataFileError, InputError, UnknownNameError
from kernbrook.estimators.table_model import TableModel, open_like
from kernbrook.evaluation.raw_rows import RawRows

NOTES = ["", "NA", "nan", "1", 'a "b", c', " spaces ", "\u00e9" * 2000, "a\tb", "#", "-"] * 3


def as_csv(rows):
    text = io.StringIO()
    csv.writer(text).writerows([rows[0].keys(), *(row.values() for row in rows)])
    return text.getvalue()


def aside(stream):
    """What these columns say, row by row."""
    raw = RawRows(stream.records())
    rows = (raw.row(i + 1) for i in range(stream.n_rows))
    return [[row[name] for name in stream.aside] for row in rows]


WRITTEN = {
    "rows.csv": lambda rows, path: path.write_text(as_csv(rows), newline=""),
    "rows.jsonl": lambda rows, path: path.write_text("\n".join(map(json.dumps, rows))),
    "rows.parquet": lambda rows, path: pq.write_table(pa.Table.from_pylist(rows), path),
}


@pytest.mark.parametrize("block_bytes", [7, 1 << 20])
@pytest.mark.parametrize("name", WRITTEN)
def test_any_text_stands_aside(tmp_path, monkeypatch, block_bytes, name):
    """Features and labels are those of the file without the columns."""
    rng = np.random.default_rng(0)
    names = ["note", "w", "h", "photo", "label"]
    rows = [[n, *rng.normal(size=2), f"{i}.png", "ab"[i % 2]] for i, n in enumerate(NOTES)]
    monkeypatch.setattr("kernbrook.streams.bytes.BLOCK_BYTES", block_bytes)
    WRITTEN[name]([dict(zip(names, row, strict=True)) for row in rows], tmp_path / name)
    stream = open_like(None, tmp_path / name, aside=["photo", "note"])
    X, y = stream.read()
    np.testing.assert_array_equal(X, [row[1:3] for row in rows])
    assert y.tolist() == [row[4] for row in rows]
    assert (stream.feature_names, stream.label_name, stream.n_features) == (["w", "h"], "label", 2)
    for _ in range(2):
        assert aside(stream) == [[row[3], row[0]] for row in rows]


def test_numbers_and_gaps_stand_aside():
    table = pa.table({"x": [1.0, 2.0], "id": [7, None], "note": [None, "b"], "when": [1.5, 2.0]})
    stream = open_like(None, table, aside=["id", "note", "when"])
    assert aside(stream) == [[7, None, 1.5], [None, "b", 2.0]]


def test_beside_encoded_columns(write):
    path = write("rows.csv", "photo,w,kind,label\na.png,1,u,x\nb.png,3,v,y\n")
    encoder = kb.TableEncoder({"kind": ["u", "v"]})
    stream = open_like(None, path, encoder=encoder, aside=["photo"])
    assert stream.read()[0].tolist() == [[1, 1, 0, 0], [3, 0, 1, 0]]
    assert aside(stream) == [["a.png"], ["b.png"]]
    assert stream.label_name == "label"


def test_what_is_refused(write):
    path = write("rows.csv", "photo,w,h\na.png,1,2\nb.png,x,4\n")
    for aside, error, said in [
        (["photos"], UnknownNameError, "unknown column 'photos'"),
        (["photo"], DataFileError, "line 3: column 'w': expected a number, found 'x'"),
        (["photo", "w", "h"], DataFileError, "no column is left to learn from"),
        ([], DataFileError, "2 columns to declare"),
    ]:
        with pytest.raises(error, match=said):
            open_like(None, path, aside=aside)
    for other in ("wdbc", write("rows.svm", "1 1:2\n")):
        with pytest.raises(InputError, match=r"column 'photo': .* is no table"):
            open_like(None, other, aside=["photo"])


def test_the_model_knows_them(write):
    """Other data of the model's may have the columns or not."""
    path = write("rows.csv", "photo,w,h\na.png,1,2\nb.png,3,4\n")
    source = TableModel._of_stream(None, open_like(None, str(path), aside=["photo"]))
    assert (source.encoder_.columns_, source.aside_) == (["w", "h"], ["photo"])
    bare = write("bare.csv", "w,h\n1,2\n3,4\n")
    for data in (path, bare):
        assert open_like(source, str(data)).read()[0].tolist() == [[1, 2], [3, 4]]
    more = write("more.csv", "note,photo,w,h\nx,a.png,1,2\ny,b.png,3,4\n")
    with pytest.raises(DataFileError, match="unknown 'note'"):
        open_like(source, str(more))
    stream = open_like(source, str(more), aside=["note"])
    assert stream.aside == ["note", "photo"]
    assert stream.read()[0].tolist() == [[1, 2], [3, 4]]
    by_width = TableModel._around(None)
    assert open_like(by_width, str(path), aside=["photo"]).n_features == 2
