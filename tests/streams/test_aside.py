"""Columns of a CSV file that are shown and not learned."""

import csv
import io

import numpy as np
import pytest

from kernbrook.errors import DataFileError, InputError, UnknownNameError
from kernbrook.evaluation.sources import Source, open_like
from kernbrook.streams.csv_files import CsvStream
from kernbrook.streams.unlabelled import UnlabelledCsv


@pytest.mark.parametrize("block_bytes", [7, 1 << 20])
@pytest.mark.parametrize("slow", [False, True])
def test_any_text_stands_aside(write, monkeypatch, block_bytes, slow):
    """Features and labels are those of the file without the columns."""
    rng = np.random.default_rng(0)
    notes = ["", "NA", "nan", "1", 'a "b", c', " spaces ", "é" * 2000, "a\tb", "#", "-"] * 3
    rows = [[n, *rng.normal(size=2), f"{i}.png", "ab"[i % 2]] for i, n in enumerate(notes)]
    text = io.StringIO()
    csv.writer(text).writerows([["note", "w", "h", "photo", "kind"], *rows])
    monkeypatch.setattr("kernbrook.streams.data_files.BLOCK_BYTES", block_bytes)
    path = write("rows.csv", text.getvalue())
    if slow:
        rows_of = CsvStream._read_slowly
        monkeypatch.setattr(CsvStream, "_rows", rows_of)
    stream = CsvStream(path, aside=["photo", "note"])
    X, y = stream.read()
    np.testing.assert_array_equal(X, [row[1:3] for row in rows])
    assert y.tolist() == [row[4] for row in rows]
    assert (stream.feature_names, stream.label_name, stream.n_features) == (["w", "h"], "kind", 2)
    for _ in range(2):
        assert list(stream.rows_aside()) == [[row[3], row[0]] for row in rows]


def test_without_a_label(write):
    path = write("rows.csv", "photo,w,h\na.png,1,2\nb.png,3,4\n")
    stream = UnlabelledCsv(path, aside=["photo"])
    assert stream.read()[0].tolist() == [[1, 2], [3, 4]]
    assert list(stream.rows_aside()) == [["a.png"], ["b.png"]]
    with pytest.raises(DataFileError, match="column 'photo': expected a number"):
        UnlabelledCsv(path)


def test_what_is_refused(write):
    path = write("rows.csv", "photo,w,h\na.png,1,2\nb.png,x,4\n")
    with pytest.raises(UnknownNameError, match="unknown column 'photos'"):
        CsvStream(path, aside=["photos"])
    with pytest.raises(DataFileError, match="line 3: column 'w': expected a number, found 'x'"):
        CsvStream(path, aside=["photo"])
    with pytest.raises(DataFileError, match="no column is left to learn from"):
        CsvStream(path, aside=["photo", "w"])
    with pytest.raises(InputError, match="column 'photo': wdbc is no CSV file"):
        open_like(None, "wdbc", aside=["photo"])


def test_the_model_knows_them(write):
    """Other data of the model's may have the columns or not."""
    path = write("rows.csv", "photo,w,h\na.png,1,2\nb.png,3,4\n")
    source = Source.of_stream(open_like(None, str(path), aside=["photo"]))
    assert source == Source(2, features=["w", "h"], aside=["photo"])
    bare = write("bare.csv", "w,h\n1,2\n3,4\n")
    for data in (path, bare):
        assert open_like(source, str(data)).read()[0].tolist() == [[1, 2], [3, 4]]
    more = write("more.csv", "note,photo,w,h\nx,a.png,1,2\ny,b.png,3,4\n")
    with pytest.raises(DataFileError, match="unknown 'note'"):
        open_like(source, str(more))
    stream = open_like(source, str(more), aside=["note"])
    assert stream.aside == ["note", "photo"]
    assert stream.read()[0].tolist() == [[1, 2], [3, 4]]
    by_width = Source(2)
    assert open_like(by_width, str(path), aside=["photo"]).n_features == 2
