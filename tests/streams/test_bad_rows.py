"""Rows that cannot be read, left out where that is wanted, and counted; values that are missing."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kernbrook as kb
from kernbrook.errors import DataFileError, DataFileWarning, InputError, UndeclaredColumnsError
from kernbrook.streams import open_stream
from kernbrook.streams.records import MISSING

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


@pytest.mark.parametrize(("block_bytes", "kept"), [(1 << 20, True), (9, True), (9, False)])
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
    told = [one.removeprefix(f"{path}, ") for one in stream.bad_rows.problems]
    assert sorted(told) == sorted(TOLD)
    assert stream.bad_rows.lines()[0] == "6 rows left out:"
    with pytest.raises(DataFileError, match=r"line [348]: "):
        open_stream(path)


def test_bytes_that_are_no_text(write):
    path = write("t.csv", b"a,label\n1,x\n\xff,x\n2,y\n3,y\n")
    stream = open_stream(path, on_bad_rows="skip")
    assert stream.read()[0].tolist() == [[1], [2], [3]]
    assert "line 3: expected UTF-8 text" in stream.bad_rows.problems[0]


def test_json_lines(write):
    lines = ['{"a": 1, "b": "x"}', "{oops", "5", '{"a": "many", "b": "y"}', '{"a": 2, "b": "y"}']
    path = write("t.jsonl", "\n".join([*lines, *['{"a": 3, "b": "x"}'] * 4]))
    stream = open_stream(path, on_bad_rows="skip")
    assert stream.read()[0].ravel().tolist() == [1, 2, 3, 3, 3, 3]
    assert stream.bad_rows.places == [1, 2, 3]
    told = [one.split(": ")[0][-6:] for one in stream.bad_rows.problems]
    assert told == ["line 2", "line 3", "line 4"]


@pytest.mark.parametrize("block_bytes", [1 << 20, 8])  # all rows of a block may be left out
def test_arff(write, monkeypatch, block_bytes):
    monkeypatch.setattr("kernbrook.streams.bytes.BLOCK_BYTES", block_bytes)
    head = "@relation r\n@attribute a real\n@attribute k {u,v}\n@attribute y {p,q}\n@data\n"
    rows = ["1,u,p", "2,w,p", "% no row", "3,u", "4,v,q", "{0 1}", "many,u,p", "5,u,?"]
    path = write("t.arff", head + "\n".join([*rows, *["6,u,p"] * 5]))
    stream = open_stream(path, on_bad_rows="skip")
    X, y = stream.read()
    assert X[:, 0].tolist() == [1, 4, 5, 6, 6, 6, 6, 6]
    assert y[:3].tolist() == ["p", "q", None]
    assert stream.bad_rows.places == [1, 2, 4, 5]
    told = "\n".join(stream.bad_rows.problems)
    assert "line 7: column 'k': expected one of its levels, found 'w'" in told


def test_frames(tmp_path):
    from pyarrow.parquet import write_table

    table = pa.table({"a": ["1", "many", "3", "4"], "label": [1, 2, 3, 2**60 + 1]})
    write_table(table, tmp_path / "t.parquet")
    for data, where in ((table, "row 1, counted from 0"), (tmp_path / "t.parquet", "row 2")):
        stream = open_stream(data, on_bad_rows="skip")
        assert stream.read()[0].ravel().tolist() == [1, 3]
        told = "\n".join(stream.bad_rows.problems)
        assert f"{where}: column 'a': expected a number, found 'many'" in told
        assert "column 'label': a 64-bit float does not hold" in told


@pytest.mark.parametrize(
    ("missing", "lags"),
    [("mean", [1, 3]), ("last", None), ("error", None)],
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
    with pytest.raises(DataFileError, match=r"no row of data; .*line 2: expected 2 values, found"):
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


def test_what_is_refused(write):
    with pytest.raises(InputError, match="on_bad_rows: expected error or skip, got 'drop'"):
        open_stream(pa.table({"a": [1], "b": [1]}), on_bad_rows="drop")
    for other in ("wdbc", (np.eye(2), [0, 1]), write("t.svm", "1 1:1\n")):
        with pytest.raises(InputError, match="on_bad_rows: rows of a table are left out"):
            open_stream(other, on_bad_rows="skip")


def test_a_row_of_the_header_is_no_bad_row(write):
    with pytest.warns(DataFileWarning, match="taken as data"):
        stream = open_stream(write("t.csv", "1,x\n2,y\nmany,x\n3,x\n"), on_bad_rows="skip")
    assert stream.read()[0].ravel().tolist() == [1, 2, 3]


def test_an_odd_quote_where_a_header_is_looked_for(write):
    path = write("t.csv", 'k,label\nu,x\nv"w,x\nu,y\nv,y\nu,x\nv,y\n')
    stream = open_stream(path, encoder=kb.TableEncoder({"k": ["u", "v"]}), on_bad_rows="skip")
    assert (stream.n_rows, stream.bad_rows.places) == (5, [1])


# -- missing values: one rule for text of every format ---------------------------------------------


MEAN = kb.TableEncoder({"k": ["a", "b"]}, missing="mean")
GAPS = [*MISSING, " NA ", "\u00a0NA\u00a0", "\tnull", "  "]
NO_GAPS = ["none", "na", "nan(1)", "-", "NaNs", "0", "missing", "NIL"]


def as_table(rows):
    columns = list(zip(*rows, strict=True))
    return pa.table(
        {name: pa.array(c) for name, c in zip(["n", "k", "label"], columns, strict=True)}
    )


def in_every_format(write, rows):
    """Each source for rows of text n, k, label."""
    cells = [[f'"{cell}"' for cell in row] for row in rows]
    yield write("t.csv", "n,k,label\n" + "".join(",".join(row) + "\n" for row in rows))
    yield write("q.csv", "n,k,label\n" + "".join(",".join(row) + "\n" for row in cells))
    yield write("t.tsv", "n;k;label\n" + "".join(";".join(row) + "\n" for row in rows))
    names = ("n", "k", "label")
    lines = [json.dumps(dict(zip(names, row, strict=True))) for row in rows]
    yield write("t.jsonl", "\n".join(lines))
    table = as_table(rows)
    pq.write_table(table, path := write("t.parquet", ""))
    yield path
    yield table
    yield table.to_pandas()
    yield table.set_column(1, "k", table["k"].dictionary_encode())


def test_the_rule_is_that_of_pandas_and_more():
    from pandas._libs.parsers import STR_NA_VALUES

    assert set(MISSING) >= STR_NA_VALUES
    assert {"?", ".", r"\N", "NAN", "+nan"} <= set(MISSING)
    assert not {"none", "na", "-", "0"} & set(MISSING)


def test_gaps_are_gaps_in_every_format(write):
    rows, n = [["1", "a", "x"], ["3", "b", "y"]], len(GAPS)
    for source in in_every_format(write, [*rows, *([gap, gap, "x"] for gap in GAPS)]):
        X, y = open_stream(source, encoder=MEAN).read()
        assert X.tolist() == [[1, 1, 0, 0], [3, 0, 1, 0], *[[2, 0.5, 0.5, 0]] * n]
        assert y.tolist() == ["x", "y", *["x"] * n]
    for source in in_every_format(write, [*rows, *(["3", "b", gap] for gap in GAPS)]):
        stream = open_stream(source, encoder=MEAN)
        assert (stream.read()[1].tolist(), stream.n_unlabelled) == (["x", "y", *[None] * n], n)


@pytest.mark.parametrize("gap", ["", "NA", " nan "])
def test_a_gap_is_an_error_where_it_is_not_filled(write, gap):
    for source in in_every_format(write, [["1", "a", "x"], ["3", "b", "y"], [gap, gap, "x"]]):
        for label in ("label", "n"):  # text beside numbers, or not
            hashed = kb.TableEncoder({name: 2 for name in ("n", "k", "label") if name != label})
            with pytest.raises((DataFileError, InputError), match="missing value; missing"):
                open_stream(source, label=label, encoder=hashed)


def test_other_text_is_a_level_in_every_format(write):
    n = len(NO_GAPS)
    encoder = kb.TableEncoder({"k": NO_GAPS}, missing="mean")
    for source in in_every_format(write, [["1", text, text] for text in NO_GAPS]):
        X, y = open_stream(source, encoder=encoder).read()
        np.testing.assert_array_equal(X[:, 1:], np.eye(n, n + 1))
        assert y.tolist() == NO_GAPS
    for source in in_every_format(write, [["1", "a", "x"], ["nan(1)", "b", "y"]]):
        with pytest.raises((DataFileError, InputError), match=r"a number, found 'nan\(1\)'"):
            open_stream(source, encoder=MEAN)


@pytest.mark.parametrize("gap", ["None", "", "?", "NA", "nan"])
def test_a_declared_level_is_a_level_in_every_format(write, gap):
    encoder = kb.TableEncoder({"k": [gap, "Gas"]}, missing="mean")
    rows = [["1", gap, "x"], ["2", "Gas", "y"], [gap, f" {gap} ", "x"], ["1", "null", "y"]]
    for source in in_every_format(write, rows):
        X = open_stream(source, encoder=encoder).read()[0]
        assert X[:3].tolist() == [[1, 1, 0, 0], [2, 0, 1, 0], [1.5, 1, 0, 0]]
        np.testing.assert_allclose(X[3], [1, 2 / 3, 1 / 3, 0])


def test_a_gap_does_not_depend_on_blanks_elsewhere(write):
    """Values were trimmed only where a blank stood somewhere in the same block."""
    rows = "\u00a0NA\u00a0,b\u00a0,x\n1,\u2003a,y\n"
    for more in ("", "2,a ,x\n"):
        X = open_stream(write("t.csv", f"n,k,label\n{rows}{more}"), encoder=MEAN).read()[0]
        assert X[:2].tolist() == [[0, 0, 1, 0], [1, 1, 0, 0]]


def test_dates(write):
    encoder = kb.TableEncoder(dates={"d": ["days"]}, missing="last")
    rows = "".join(f"{gap},y\n" for gap in GAPS)
    stream = open_stream(write("t.csv", f"d,label\n1970-01-03,x\n{rows}"), encoder=encoder)
    assert stream.read()[0].tolist() == [[2]] * (1 + len(GAPS))
