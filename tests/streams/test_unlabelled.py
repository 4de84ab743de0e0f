"""CSV files without a label column."""

import bz2
import gzip

import numpy as np
import pytest

from kernbrook.errors import DataFileError
from kernbrook.streams import open_stream
from kernbrook.streams.csv_header import read_header
from kernbrook.streams.unlabelled import UnlabelledCsv


def test_every_column_is_a_feature(write, assert_chunks_agree):
    X = np.random.default_rng(0).normal(size=(150, 3))
    X[:, 1] = np.arange(150)
    for last in (1, 2):  # whole numbers, or not
        Z = X[:, [0, 3 - last, last]]
        text = "a,label,b\n" + "".join(",".join(map(repr, row)) + "\n" for row in Z.tolist())
        stream = UnlabelledCsv(write("rows.csv", text))
        assert (stream.name, stream.n_features, stream.n_rows) == ("rows", 3, 150)
        read, y = stream.read()
        np.testing.assert_array_equal(read, Z)
        assert read.flags.c_contiguous
        assert y.tolist() == [0] * 150
        assert_chunks_agree(stream)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n3,x\n4,5\n", r"rows.csv, line 3: column 'b': expected a number, found 'x'"),
        ("a,b\n1,2\n3,1_0\n", r"line 3: column 'b': expected a number, found '1_0'"),
        ("a,b\n1,2\n3,\u0663\n", r"line 3: column 'b': expected a number, found '\u0663'"),
        ("a,b\n1,x\n3,infinity\n", r"line 2: column 'b': expected a number, found 'x'"),
        ("a,b\n1,2\n3,infinity\n", r"line 3: column 'b': 'infinity' is not finite"),
        ("a,b\n1,2\nx,3\n", r"rows.csv, line 3: column 'a': expected a number, found 'x'"),
        ("a,b\n1,2\n3,\n", r"line 3: column 'b': missing value"),
        ("a,b\n1,2\n3\n", r"line 3: expected 2 values, found 1"),
        ("a,a\n1,2\n", r"two columns are called 'a'"),
    ],
)
def test_what_is_refused(write, text, message):
    with pytest.raises(DataFileError, match=message):
        UnlabelledCsv(write("rows.csv", text))


def test_names_in_the_header(write):
    named = read_header(write("a.csv", '\n\n a ,"b, c",\u00e7\n1,2,3\n'))
    assert named.names == ["a", "b, c", "\u00e7"]
    assert read_header(write("b.csv", "\ufeffa,b")).names == ["a", "b"]
    assert read_header(write("d.csv", "1.5,2,3\n4,5,6\n")).names == ["x1", "x2", "x3"]


def test_one_column(write):
    assert UnlabelledCsv(write("a.csv", "a\n1\n2\n")).read()[0].tolist() == [[1], [2]]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *(("a.csv", text) for text in ("\n\n\n", "\ufeff", "\ufeff\n\r\n", "\r\r")),
        ("a.csv.gz", gzip.compress(b"", mtime=0)),
        ("a.csv.bz2", bz2.compress(b"")),
    ],
)
def test_a_file_without_a_line(write, name, content):
    path = write(name, content)
    for read in (read_header, UnlabelledCsv, open_stream):
        with pytest.raises(DataFileError, match=r": the file has no line$"):
            read(path)
