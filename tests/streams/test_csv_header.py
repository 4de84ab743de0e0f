"""Whether the first row of a CSV file is a header: no row is lost, and guesses are said."""

import csv
import warnings

import numpy as np
import pytest

import kernbrook as kb
from kernbrook.errors import DataFileError, DataFileWarning, UnknownNameError
from kernbrook.evaluation import open_like
from kernbrook.streams import csv as csv_header
from kernbrook.streams import open_stream
from kernbrook.streams.csv import read_header

DATA = "numbers where names were expected: taken as data, the columns as x1 to x3"
NAMES = "are taken as the names of the columns, not as data"


@pytest.mark.parametrize(
    ("text", "is_data", "said"),
    [
        ("a,b,label\n1,2,3\n", False, None),
        ("1,2,3\n4,5,6\n", True, DATA),
        ("5.1,3.5,setosa\n4.9,3.0,setosa\n", True, DATA),
        ("setosa,5.1,3.5\n9,4.9,3.0\n setosa ,1,2\n", True, DATA),
        ('5.1,3.5,"a, b"\n4.9,3.0,"a, b"\n', True, DATA),
        ("5.1,,1\n4.9,3.0,0\n", True, DATA),  # the missing value is then named
        ("1,?,3\n4,5,6\n", True, DATA),
        ("nan,inf,3\n4,5,6\n", True, DATA),
        ("1,2,3", True, DATA),
        ('"1","2","3"\n"4","5","6"\n', True, DATA),
        ("2019,2020,growth\n1.5,2.5,up\n2,3,down\n", False, "numbers and a word " + NAMES),
        ("2019,2020,growth\n1.5,2.5,3\n", False, NAMES),
        ("0,1,2\n1.5,2.5,3\n", False, "0, 1, ... " + NAMES),
        (",0,1\n0,2.5,3\n", False, "0, 1, ... " + NAMES),
        ("0,1,label\n1.5,2.5,3\n", False, None),
        ("0,1,no\n1,0,no\n", True, DATA),
        ("male,5.1,no\nfemale,4,yes\nmale,1,no\n", True, DATA),
        ("39, State-gov, <=50K\n50, Self, >50K\n38, Private, <=50K\n", True, DATA),
        ('39, "State-gov", <=50K\n50, "Self", >50K\n38, "State-gov", <50K\n', True, DATA),
        ("p,x,s\ne,y,s\np,x,t\n", True, DATA),  # words alone
        ("p,p,s\ne,p,s\np,x,t\n", True, DATA),
        ("p,?,s\ne,4,s\np,x,t\n", True, DATA),
        ("y,age,name\ny,23,ann\nn,3,bob\n", False, None),
        ("y,size,name\ny,big,ann\nn,small,bob\n", False, None),
        ("id,2019,2020\n7,1.5,2.5\n8,2,3\n", False, "numbers and a word " + NAMES),
        ("id,name,2020\n7,ann,2.5\n8,bob,3\n", False, "numbers and words " + NAMES),
    ],
)
def test_what_the_first_row_is(write, text, is_data, said):
    header = read_header(write("some.csv", text))
    assert header.is_data == is_data
    assert (header.names == ["x1", "x2", "x3"]) == is_data
    assert (said or "") in header.told
    assert (said is None) == (header.told == "")


@pytest.mark.parametrize("block_bytes", [1 << 20, 7])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\n\n"])
def test_no_row_is_lost(write, monkeypatch, block_bytes, end):
    pandas = pytest.importorskip("pandas")
    monkeypatch.setattr("kernbrook.streams.bytes.BLOCK_BYTES", block_bytes)
    text = end.join(["", "5.8,2.8,virginica", "6,2.2,versicolor", "5.5,4.2,virginica", ""])
    path = write("bare.csv", text)
    expected = pandas.read_csv(path, header=None)
    with pytest.warns(DataFileWarning, match=r"bare.csv, line [23]: numbers .* taken as data, the"):
        stream = open_stream(path)
    X, y = stream.read()
    assert stream.n_rows == len(expected) == 3
    np.testing.assert_array_equal(X, expected.iloc[:, :2])
    assert y.tolist() == expected[2].tolist()


def test_the_label_of_a_file_without_a_header(write):
    path = write("bare.csv", "yes,1,2\nno,3,4\nyes,5,6\n")
    with pytest.warns(DataFileWarning):
        X, y = open_stream(path, label="x1").read()
    assert (X.tolist(), y.tolist()) == ([[1, 2], [3, 4], [5, 6]], ["yes", "no", "yes"])
    hint = "line 1: column 'x1': expected a number, found 'yes'; .* is it the label. --label x1"
    with pytest.warns(DataFileWarning), pytest.raises(DataFileError, match=hint):
        open_stream(path)
    with pytest.warns(DataFileWarning), pytest.raises(UnknownNameError, match="known: x1, x2, x3"):
        open_stream(path, label="species")


def test_names_in_the_header(write):
    named = read_header(write("a.csv", '\n\n a ,"b, c",\u00e7\n1,2,3\n'))
    assert named.names == ["a", "b, c", "\u00e7"]
    assert read_header(write("b.csv", "\ufeffa,b")).names == ["a", "b"]
    assert read_header(write("d.csv", "1.5,2,3\n4,5,6\n")).names == ["x1", "x2", "x3"]


def test_no_header_and_no_label(write, assert_chunks_agree):
    with pytest.warns(DataFileWarning, match="taken as data"):
        stream = open_like(None, write("bare.csv", "5,2,1\n3,4,1\n"))
    assert stream.read()[0].tolist() == [[5, 2, 1], [3, 4, 1]]
    assert_chunks_agree(stream, (1, 2))


def test_the_word_is_searched_for_in_rows_enough(write, monkeypatch):
    monkeypatch.setattr(csv_header, "_LOOKED_AT", 3)
    for between, is_data in ((2, True), (3, False)):
        path = write("bare.csv", "1.5,a\n" + "2,b\n" * between + "3,a\n")
        assert read_header(path).is_data == is_data


@pytest.mark.parametrize(
    ("header", "values", "label", "told"),
    [
        (",a,b", "012", None, True),
        (",a,b", "401", None, True),  # of rows in another order
        ("Unnamed: 0,a,b", "012", None, True),
        (",a,b", ("0", "1.5", "2"), None, False),
        (",a,b", ("0", "-1", "2"), None, False),
        ("a,b,c", "012", None, False),
        (",a,b", "012", "", False),
    ],
)
def test_the_index_of_pandas_is_named(write, header, values, label, told):
    path = write("index.csv", header + "\n" + "".join(f"{value},2.5,3\n" for value in values))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert open_stream(path, label=label).n_features == 2
    assert ["the index that pandas writes" in str(w.message) for w in caught] == [True] * told


def test_what_pandas_writes(write):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.random.default_rng(0).normal(size=(20, 3)))
    frame["kind"] = np.repeat(["x", "y"], 10)
    assert open_stream(write("some.csv", frame.to_csv(index=False))).n_rows == 20
    with pytest.warns(DataFileWarning, match="the first column, called '', seems to be the index"):
        assert open_stream(write("some.csv", frame.to_csv())).n_features == 4


def test_a_wide_header(write):
    """Compared name by name with all others, 100,000 names took more than eight minutes."""
    names = ",".join(f"f{i}" for i in range(100_000))
    assert len(read_header(write("wide.csv", f"{names}\n")).names) == 100_000
    with pytest.raises(DataFileError, match="two columns are called 'f77'"):
        read_header(write("wide.csv", names.replace("f78,", "f77,") + "\n"))


def test_a_name_that_is_too_long(write):
    csv.field_size_limit(131_072)  # others change it for the whole process
    with pytest.raises(DataFileError, match="line 1: field larger than field limit"):
        read_header(write("long.csv", "a" * 200_000 + ",b\n1,2\n"))


@pytest.mark.parametrize(
    ("text", "known", "is_data"),
    [
        ("2019,2020\n1,2\n", ["2019", "2020"], False),
        ("2019,2020,2021\n1,2,3\n", ["2021"], False),
        ("2019,2020\n1,2\n", ["2018"], True),
        ("0,1,2\n3,4,5\n", ["x1", "x2"], True),
        ("0,1,2\n3,4,5\n", ["x1", "x4"], False),
        ("a,b,c\n3,4,5\n", ["x1", "x2"], True),
        ("p,x,s\np,x,s\n", ["s"], False),
        ("x1,x2,x3\n3,4,5\n", ["x3"], False),
    ],
)
def test_names_that_are_known_decide(write, text, known, is_data):
    assert read_header(write("t.csv", text), known=known).is_data == is_data


def test_names_that_somebody_gives_decide(write):
    years = write("years.csv", "2019,2020,2021\n1,2,0\n3,4,1\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert open_stream(years, label="2021").read()[0].tolist() == [[1, 2], [3, 4]]
        stream = open_stream(years, encoder=kb.TableEncoder(drop=["2020"]))
        assert stream.read()[0].tolist() == [[1], [3]]


def test_a_line_for_excel(write):
    with pytest.raises(DataFileError, match="line 1: a line that Excel alone reads; take it out"):
        open_stream(write("t.csv", "sep=;\na;b\n1;2\n"))


HEADED = [
    ("city,kind,late\n", "Rome,bus,no\nOslo,tram,yes\nOslo,bus,yes\n"),
    ("c;late\n", "1;no\n2,5;yes\n"),
    ('"c"\t"l"\n', "p\tq\nr\ts\np\tq\nt\tq\n"),
]


@pytest.mark.parametrize("again", [str, str.upper, lambda text: "\ufeff" + text])
@pytest.mark.parametrize("block_bytes", [1 << 20, 9])
@pytest.mark.parametrize(("header", "rows"), HEADED)
def test_a_header_that_comes_again(write, monkeypatch, header, rows, block_bytes, again):
    """As `cat` puts files together: it is no row, and the first one is no data."""
    monkeypatch.setattr("kernbrook.streams.bytes.BLOCK_BYTES", block_bytes)
    path = write("all.csv", (header + rows + again(header).replace('"c"', "c")) * 2 + rows)
    auto = kb.TableEncoder("auto", decimal="," if ";" in header else ".")
    line = 2 + rows.count("\n")
    told = f"line {line}: the names of the columns come again, .*take such lines out, or leave"
    with pytest.raises(DataFileError, match=told):
        open_stream(path, encoder=auto)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone = open_stream(write("one.csv", header + rows * 3), encoder=auto)
        stream = open_stream(path, encoder=auto, on_bad_rows="skip")
    np.testing.assert_array_equal(stream.read()[0], alone.read()[0])
    assert stream.read()[1].tolist() == alone.read()[1].tolist()
    assert stream.feature_names == alone.feature_names
    assert len(stream.bad_rows.places) == 3


def test_a_header_that_comes_again_in_another_order(write):
    path = write("all.csv", "city,late\nRome,no\nOslo,yes\nlate,city\nno,Rome\nyes,Oslo\n")
    for skip in ("error", "skip"):
        with pytest.raises(DataFileError, match=r"line 4: the names of .* again in another order"):
            open_stream(path, encoder=kb.TableEncoder("auto"), on_bad_rows=skip)
    with pytest.warns(DataFileWarning, match="0, 1, ... are taken as the names"):
        X, y = open_stream(write("counted.csv", "0,1,2\n2,1,0\n0.5,1,2\n")).read()
    assert (X.tolist(), y.tolist()) == ([[2, 1], [0.5, 1]], [0, 2])
