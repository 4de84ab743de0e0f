"""Missing values: one rule for text of every format, with and without an encoder."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kernbrook as kb
from kernbrook.errors import DataFileError, InputError
from kernbrook.streams import open_stream
from kernbrook.streams.records import MISSING

pandas = pytest.importorskip("pandas")

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
