"""Rows of a table that cannot be read: left out where that is wanted, counted, five named."""

import numpy as np
import pyarrow as pa
import pytest

import kernbrook as kb
from kernbrook.errors import DataFileError, DataFileWarning, InputError, UndeclaredColumnsError
from kernbrook.estimators.table_model import TableModel
from kernbrook.evaluation import open_like
from kernbrook.streams import open_stream
from kernbrook.streams.tables.stream import BadRows

ROWS = ["1,2,x", "many,2,y", "3", "4,5,y", "", "5,6,7,8", '6",7,x', "7,8,x", "8,inf,x", "9,,y"]
GOOD = [[1, 2], [4, 5], [7, 8]]
TOLD = [
    "line 3: column 'a': expected a number, found 'many'",
    "line 4: expected 3 values, found 1",
    "line 7: expected 3 values, found 4",
    "line 8: an odd number of quotes; a value with a quote in it stands in quotes, and the quote "
    "in it is written twice",
    "line 10: column 'b': 'inf' is not finite",
]


@pytest.mark.parametrize("block_bytes", [1 << 20, 9])
@pytest.mark.parametrize("kept", [True, False])
def test_rows_of_csv(write, monkeypatch, assert_chunks_agree, block_bytes, kept):
    monkeypatch.setattr("kernbrook.streams.bytes.BLOCK_BYTES", block_bytes)
    if not kept:
        monkeypatch.setattr("kernbrook.streams.tables.stream._KEPT_BYTES", 0)
    path = write("t.csv", "a,b,label\n" + "\n".join([*ROWS, *["1,2,x"] * 6]) + "\n")
    stream = open_stream(path, on_bad_rows="skip")
    X, y = stream.read()
    assert X.tolist() == [*GOOD, *[[1, 2]] * 6]
    assert y[:3].tolist() == ["x", "y", "x"]
    assert_chunks_agree(stream, (1, 2))
    assert stream.bad_rows.places == [1, 2, 4, 5, 7, 8]
    told = [one.removeprefix(f"{path}, ") for one in stream.bad_rows.told]
    assert sorted(told) == sorted(TOLD)
    assert stream.bad_rows.lines()[0] == "6 rows left out:"
    with pytest.raises(DataFileError, match=r"line [348]: "):
        open_stream(path)


def test_bytes_that_are_no_text(write):
    path = write("t.csv", b"a,label\n1,x\n\xff,x\n2,y\n3,y\n")
    stream = open_stream(path, on_bad_rows="skip")
    assert stream.read()[0].tolist() == [[1], [2], [3]]
    assert "line 3: expected UTF-8 text" in stream.bad_rows.told[0]


def test_json_lines(write):
    lines = ['{"a": 1, "b": "x"}', "{oops", "5", '{"a": "many", "b": "y"}', '{"a": 2, "b": "y"}']
    path = write("t.jsonl", "\n".join([*lines, *['{"a": 3, "b": "x"}'] * 4]))
    stream = open_stream(path, on_bad_rows="skip")
    assert stream.read()[0].ravel().tolist() == [1, 2, 3, 3, 3, 3]
    assert stream.bad_rows.places == [1, 2, 3]
    assert [one.split(": ")[0][-6:] for one in stream.bad_rows.told] == [
        "line 2",
        "line 3",
        "line 4",
    ]


def test_a_list_is_no_table_of_bad_rows(write):
    with pytest.raises(DataFileError, match="no object with a name"):
        open_stream(write("t.jsonl", '[{"a": 1}]\n'), on_bad_rows="skip")


def test_arff(write):
    head = "@relation r\n@attribute a real\n@attribute k {u,v}\n@attribute y {p,q}\n@data\n"
    rows = ["1,u,p", "2,w,p", "% no row", "3,u", "4,v,q", "{0 1}", "many,u,p", "5,u,?"]
    stream = open_stream(
        write("t.arff", head + "\n".join([*rows, *["6,u,p"] * 5])), on_bad_rows="skip"
    )
    X, y = stream.read()
    assert X[:, 0].tolist() == [1, 4, 5, 6, 6, 6, 6, 6]
    assert y[:3].tolist() == ["p", "q", None]
    assert stream.bad_rows.places == [1, 2, 4, 5]
    told = "\n".join(stream.bad_rows.told)
    assert "line 7: column 'k': expected one of its levels, found 'w'" in told


def test_frames(tmp_path):
    from pyarrow.parquet import write_table

    table = pa.table({"a": ["1", "many", "3", "4"], "label": [1, 2, 3, 2**60 + 1]})
    write_table(table, tmp_path / "t.parquet")
    for data, where in ((table, "row 1, counted from 0"), (tmp_path / "t.parquet", "row 2")):
        stream = open_stream(data, on_bad_rows="skip")
        assert stream.read()[0].ravel().tolist() == [1, 3]
        told = "\n".join(stream.bad_rows.told)
        assert f"{where}: column 'a': expected a number, found 'many'" in told
        assert "column 'label': a 64-bit float does not hold" in told


@pytest.mark.parametrize(
    ("missing", "lags"),
    [("mean", [1, 3]), ("last", None), ("indicator", [1, 3]), ("error", None)],
)
def test_a_row_that_is_left_out_has_taught_nothing(missing, lags):
    """What is filled, lags and counts of levels are those of the table without the rows."""
    rng = np.random.default_rng(0)
    n = 2500
    columns = {
        "a": rng.normal(size=n).astype(str), "k": rng.choice(["u", "v", "w"], n).tolist(),
        "y": rng.normal(size=n),
    }  # fmt: skip
    if missing != "error":
        columns["a"][rng.random(n) < 0.2] = "NA"
    bad = rng.random(n) < 0.01
    columns["a"][bad] = "oops"
    table = pa.table(columns)
    encoder = kb.TableEncoder({"k": ["u", "v"]}, missing=missing, lags=lags)
    stream = open_stream(table, label="y", encoder=encoder, on_bad_rows="skip")
    alone = open_stream(table.filter(pa.array(~bad)), label="y", encoder=encoder)
    np.testing.assert_array_equal(stream.read()[0], alone.read()[0])
    assert stream.encoder.described() == alone.encoder.described()
    assert stream.bad_rows.places == np.flatnonzero(bad).tolist()
    for mine, theirs in zip(stream.level_counts, alone.level_counts, strict=True):
        assert mine.counts.tolist() == theirs.counts.tolist()


def test_more_bad_rows_than_others_are_an_error(write):
    path = write("t.csv", "a,b,label\n" + "u,1,x\nv,2,y\n" * 600)
    with pytest.raises(DataFileError, match="line 2: column 'a': expected a number, found 'u'"):
        open_stream(path, on_bad_rows="skip")
    path = write("t.csv", "a,b,label\n" + "u,p,x\nv,q,y\n" * 600)
    with pytest.raises(UndeclaredColumnsError, match="2 columns to declare"):
        open_stream(path, on_bad_rows="skip")
    with pytest.raises(DataFileError, match=r"line 3: column 'a': .*categorical \(--categorical a"):
        open_stream(write("few.csv", "a,label\n1\nu,1\n"), on_bad_rows="skip")
    with pytest.raises(
        DataFileError, match=r"no row of data; .*line 2: expected 2 values, found 1"
    ):
        open_stream(write("few.csv", "a,label\n1\n"), on_bad_rows="skip")


def test_dates_of_one_format_but_for_some(write):
    """The format is that of the rows that are dates; what is none is left out."""
    rows = ["31.01.2024,x", "soon,y", "01.02.2024,y", "2,3,4", "13.02.2024,x", "32.13.2024,x"]
    path = write("t.csv", "when,label\n" + "\n".join(rows) + "\n")
    encoder = kb.TableEncoder(dates={"when": ["days"]})
    with pytest.warns(DataFileWarning, match="its dates are read as %d"):
        stream = open_stream(path, encoder=encoder, on_bad_rows="skip")
    assert (stream.read()[0].ravel() - 19753).tolist() == [0, 1, 13]
    assert stream.bad_rows.places == [1, 3, 5]
    path = write("two.csv", "when,label\n31.01.2024,x\nsoon,y\n2024-02-01,y\n")
    with pytest.raises(DataFileError, match=r"line 4: .*as in the rows before"):
        open_stream(path, encoder=encoder, on_bad_rows="skip")


def test_what_auto_takes_is_of_the_rows_that_can_be_read(write):
    path = write("t.csv", "k,b,label\n" + "u,1,x\nv,2,y\n" * 4 + "u,3,4,5\nv,many,x\n")
    with pytest.warns(DataFileWarning, match="'k' is taken as levels: 'u', 'v'"):
        stream = open_stream(
            path, encoder=kb.TableEncoder({"auto": "auto", "b": 1}, missing="mean"),
            on_bad_rows="skip",
        )  # fmt: skip
    assert stream.bad_rows.places == [8]


def test_new_rows_for_a_model():
    source = TableModel._of_stream(None, open_stream(pa.table({"a": [1.0, 2.0], "y": [0, 1]})))
    new = pa.table({"a": ["1", "many", "2"]})
    with pytest.raises(InputError, match="row 1, counted from 0: column 'a': expected a number"):
        open_like(source, new)
    stream = open_like(source, new, on_bad_rows="skip")
    assert stream.read()[0].ravel().tolist() == [1, 2]
    assert stream.bad_rows.before(0, 2) == [0, 1]


def test_what_is_refused(write):
    with pytest.raises(InputError, match="on_bad_rows: expected error or skip, got 'drop'"):
        open_stream(pa.table({"a": [1], "b": [1]}), on_bad_rows="drop")
    for other in ("wdbc", (np.eye(2), [0, 1]), write("t.svm", "1 1:1\n")):
        with pytest.raises(InputError, match="on_bad_rows: rows of a table are left out"):
            open_stream(other, on_bad_rows="skip")


def test_which_were_left_out_before_which():
    bad = BadRows([0, 1, 5, 9])
    assert bad.before(0, 6) == [2, 0, 0, 1, 0, 0]
    assert bad.before(3, 3) == [1, 0, 0]
    assert BadRows().before(0, 2) == [0, 0]
    assert BadRows().lines() == []
    many = BadRows()
    for i in range(9):
        many.add(i, f"row {i}")
    assert many.lines() == ["9 rows left out:", *(f"  row {i}" for i in range(5)), "  ..."]


def test_dates_of_a_format_that_is_declared(write):
    path = write("t.csv", "when,label\n24.12.2025,x\nsoon,x\n25.12.2025,y\n26.12.2025,y\n")
    declared = kb.TableEncoder(dates={"when": ["days", "%d.%m.%Y"]})
    stream = open_stream(path, encoder=declared, on_bad_rows="skip")
    assert stream.n_rows == 3
    told = "line 3: column 'when': expected a date as %d.%m.%Y, found 'soon'"
    assert told in stream.bad_rows.told[0]


def test_a_row_of_the_header_is_no_bad_row(write):
    with pytest.warns(DataFileWarning, match="taken as data"):
        stream = open_stream(write("t.csv", "1,x\n2,y\nmany,x\n3,x\n"), on_bad_rows="skip")
    assert stream.read()[0].ravel().tolist() == [1, 2, 3]


def test_an_odd_quote_where_a_header_is_looked_for(write):
    path = write("t.csv", 'k,label\nu,x\nv"w,x\nu,y\nv,y\nu,x\nv,y\n')
    stream = open_stream(path, encoder=kb.TableEncoder({"k": ["u", "v"]}), on_bad_rows="skip")
    assert (stream.n_rows, stream.bad_rows.places) == (5, [1])
