"""CSV files: columns, label types, and errors that name column and line."""

import bz2
import csv
import gzip
import io
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernbrook as kb
from kernbrook.errors import DataFileError, DataFileWarning, UnknownNameError
from kernbrook.evaluation import open_like
from kernbrook.streams import TableEncoder, open_stream
from kernbrook.streams import bytes as data_files
from kernbrook.streams.bytes import DataFile
from kernbrook.streams.csv import WholeRows, read_header


def header_of(path, **options):
    return read_header(DataFile(path), **options)


@pytest.fixture
def nothing_kept(monkeypatch):
    """Files are read again each time."""
    monkeypatch.setattr("kernbrook.streams.bytes._IN_MEMORY", 0)
    monkeypatch.setattr("kernbrook.streams.tables.stream._KEPT_BYTES", 0)


def test_label_column(write):
    path = write("t.csv", "a,label,b\n1,7,2\n3,8,4\n")
    X, y = open_stream(path).read()
    np.testing.assert_array_equal(X, [[1, 2], [3, 4]])
    assert y.tolist() == [7, 8]
    X, y = open_stream(path, label="a").read()
    np.testing.assert_array_equal(X, [[7, 2], [8, 4]])
    assert y.tolist() == [1, 3]
    X, y = open_stream(write("last.csv", "a,b,c\n1,7,2\n3,8,4\n")).read()
    assert y.tolist() == [2, 4]
    with pytest.raises(UnknownNameError, match="unknown column 'lable': did you mean label"):
        open_stream(path, label="lable")


@pytest.mark.parametrize(
    ("labels", "dtype", "expected"),
    [
        (["1", "-2", "+3.0"], np.int64, [1, -2, 3]),
        (["1", "2.5", "3"], np.float64, [1, 2.5, 3]),
        (["yes", " no ", '"a, b"'], "<U4", ["yes", "no", "a, b"]),
        (["1", "2", "many"], "<U4", ["1", "2", "many"]),
    ],
)
def test_label_types(write, monkeypatch, labels, dtype, expected):
    path = write("l.csv", "x,label\n" + "".join(f"0,{label}\n" for label in labels))
    for block_bytes, kept in ((1 << 20, 1 << 20), (5, 1 << 20), (5, 0), (5, 20)):
        monkeypatch.setattr("kernbrook.streams.bytes.BLOCK_BYTES", block_bytes)
        monkeypatch.setattr("kernbrook.streams.tables.stream._KEPT_BYTES", kept)
        stream = open_stream(path)
        assert stream.read()[1].tolist() == expected
        assert {y.dtype for _, y in stream.chunks(1)} == {np.dtype(dtype)}
        found = stream.classes()
        assert (found.dtype, found.tolist()) == (np.dtype(dtype), sorted(expected))


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.svm", "rows.csv.gz", "rows"])
def test_a_small_file_is_opened_once(write, monkeypatch, name):
    """Its format, separator, header, columns and labels are found in what was read then."""
    opened, ordinary = [], open
    monkeypatch.setattr(data_files, "open", lambda *a: opened.append(a) or ordinary(*a), False)
    text = "a,b,label\n" + "1,2,x\n3,4,y\n" * 500
    if ".jsonl" in name:
        text = '{"a": 1, "b": 2, "label": "x"}\n{"a": 3, "b": 4, "label": "y"}\n' * 500
    if ".svm" in name:
        text = "1 1:1 2:2\n-1 1:3 2:4\n" * 500
    stream = open_stream(write(name, gzip.compress(text.encode()) if ".gz" in name else text))
    for _ in range(2):
        assert stream.read()[0][:2].tolist() == [[1, 2], [3, 4]]
    assert len(opened) == 1


def test_classes_that_are_known_without_a_reading(write, monkeypatch):
    path = write("some.csv", "a,label\n" + "".join(f"1,{i}\n" for i in (7, 8, 7, 9)))
    assert open_stream(path).classes().tolist() == [7, 8, 9]
    assert open_stream(path, positive="8").classes().tolist() == [-1, 1]
    assert open_stream(path, positive="5").classes() is None  # a reading says what is wrong
    monkeypatch.setattr("kernbrook.streams.limits.MOST_CLASSES", 2)
    assert open_stream(path).classes() is None
    assert open_stream("wdbc").classes() is None


def test_what_the_format_allows(write, assert_chunks_agree):
    text = '\ufeff\r\n a ,"b ""x""",label\r\n\r\n+1.5, 2 ,"u"\r\n.5,"-3e1",v\r\n\r\n5.,1E-3,v'
    stream = open_stream(write("all.csv", text))
    X, y = stream.read()
    np.testing.assert_array_equal(X, [[1.5, 2], [0.5, -30], [5, 0.001]])
    assert (stream.feature_names, y.tolist()) == (["a", 'b "x"'], ["u", "v", "v"])
    assert_chunks_agree(stream, (1, 2))


@pytest.mark.filterwarnings("ignore:.*write them alike:kernbrook.errors.DataFileWarning")
@settings(max_examples=30, deadline=None)
@given(
    st.integers(1, 4).flatmap(
        lambda d: st.lists(
            st.tuples(
                st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=d, max_size=d),
                st.text(alphabet="ab,;\n\"' é", min_size=1).map(str.strip).filter(bool),
            ),
            min_size=1,
            max_size=20,
        )
    ),
    st.integers(1, 200),
)
def test_what_python_writes_comes_back(tmp_path_factory, rows, block_bytes):
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([*(f"x{j}" for j in range(len(rows[0][0]))), "label"])
    writer.writerows([*map(repr, values), label] for values, label in rows)
    path = tmp_path_factory.mktemp("csv") / "random.csv"
    path.write_text(out.getvalue(), encoding="utf-8", newline="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kernbrook.streams.bytes.BLOCK_BYTES", block_bytes)
        X, y = open_stream(path).read()
    np.testing.assert_array_equal(X, [values for values, _ in rows])
    assert y.tolist() == [label for _, label in rows]


ODD = ["+3", "", '" 7 "', " NA ", "−8"]


@pytest.mark.parametrize("odd", ODD)
def test_numbers_as_programs_write_them_and_as_people_do_agree(write, monkeypatch, odd):
    """A column that holds something else somewhere comes as text from there on."""
    monkeypatch.setattr("kernbrook.streams.bytes.BLOCK_BYTES", 20)
    lines = ["1,2.5,x"] * 9 + [f"-3e4,{odd},y"] + ["3,1e-3,y"] * 9
    path = write("both.csv", "a,b,label\n" + "\n".join(lines) + "\n")
    encoder = TableEncoder(missing="last")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataFileWarning)
        X, y = open_stream(path, encoder=encoder).read()
        monkeypatch.setattr(TableEncoder, "plain_numbers", lambda self: [])
        again, labels = open_stream(path, encoder=encoder).read()
    np.testing.assert_array_equal(X, again)
    assert y.tolist() == labels.tolist()
    value = {'" 7 "': 7, "−8": -8}
    gap = odd.strip() in ("", "NA")
    assert X[9, 1] == (2.5 if gap else value.get(odd) or float(odd))


BAD_LINES = [
    ("1,abc,x", "column 'b': expected a number, found 'abc'; categorical .--categorical b. or"),
    ("1,\x1b[2J,x", r"column 'b': expected a number, found '\\x1b\[2J'"),
    ("1,1_0,x", "column 'b': expected a number, found '1_0'"),
    ("1," + "z" * 300 + ",x", r"z\.\.\.'"),
    ("1,,x", "column 'b': missing value"),
    ("1,inf,x", "column 'b': 'inf' is not finite"),
    ("1,2," + "x" * 1001, "column 'label': a label of over 1,000 characters"),
    ("1,2", "expected 3 values, found 2"),
    ("1,2,3,4", "expected 3 values, found 4"),
    ('1,2,"x', "a quoted value of the row that begins here does not end"),
    (b"1,2,\xff\xfe", "expected UTF-8 text"),
]


@pytest.mark.parametrize(("line", "problem"), BAD_LINES)
def test_the_line_and_the_column_are_named(write, monkeypatch, line, problem):
    monkeypatch.setattr("kernbrook.streams.bytes.BLOCK_BYTES", 20)
    line = line if isinstance(line, bytes) else line.encode()
    path = write("bad.csv", b'\na,b,label\n1,2,x\n\n1,2,"y"\n' + line + b"\n1,2,x\n")
    with pytest.raises(DataFileError, match=problem) as caught:
        open_stream(path)
    assert caught.value.line == 6
    assert str(caught.value).startswith(f"{path}, line 6: ")


@pytest.mark.parametrize(
    ("header", "hint"),
    [
        ("species,a", r"found 'setosa'; .*, or is it the label\? --label species$"),
        ("my species,a", r"is it the label\? --label 'my species'$"),
        ("species,label", r"'setosa'; categorical \(--cat.* species\) or drop \(--drop species\)$"),
    ],
)
def test_text_may_be_the_label(write, header, hint):
    path = write("first.csv", f"{header}\nsetosa,1\nvirginica,2\n")
    with pytest.raises(DataFileError, match=hint):
        open_stream(path)
    with pytest.raises(DataFileError, match=r"or drop \(--drop [^)]*\)$"):
        open_stream(path, label=header.split(",")[1])
    assert open_stream(path, label=header.split(",")[0]).n_rows == 2


@pytest.mark.parametrize("near", ["-9007199254740993", "123456789012345678901"])
def test_integers_that_a_float_does_not_hold(write, near):
    text = f"a,label\n1,2\n1,{near}\n"
    with pytest.raises(DataFileError, match=f"line 3: column 'label': a 64-bit float .* {near}: "):
        open_stream(write("large.csv", text))
    assert open_stream(write("text.csv", f"{text}1,x\n")).read()[1].tolist() == ["2", near, "x"]
    stream = open_stream(write("floats.csv", f"a,label\n1,2\n1,{near}.0\n1,9007199254740992\n"))
    assert stream.read()[1].tolist() == [2, float(near), 2.0**53]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a b label\n1 2 3\n", "line 1: .* parted by commas, found one column, 'a b label'"),
        ("a\n1\n", r"line 1: .* parted by commas, found one column, 'a'; .* sep \(--sep\)$"),
        ('a,"b\n1,2\n', "line 1: a quoted value of the row that begins here does not end"),
        ("a,b,a\n1,2,3\n", "line 1: two columns are called 'a'"),
        ("a,label", "no row of data"),
        ("\n\n", "the file has no line"),
    ],
)
def test_headers(write, text, problem):
    with pytest.raises(DataFileError, match=problem):
        open_stream(write("head.csv", text))


@pytest.mark.parametrize(
    ("before", "now"),
    [
        *(("1,7\n2,8\n", now) for now in ("1,7\n", "1,7\n2,8.5\n", "1,7\n2,x\n")),
        ("1,x\n2,y\n", "1,x\n2,long\n"),
    ],
)
def test_a_file_changed_between_readings(write, nothing_kept, before, now):
    stream = open_stream(write("moving.csv", "a,label\n" + before))
    write("moving.csv", "a,label\n" + now)
    with pytest.raises(DataFileError, match="changed after it was opened"):
        stream.read()


R_ROWS = '"a"{0}"b"{0}"y"\n"1"{0}1.5{0}2{0}"no"\n"2"{0}2.5{0}3{0}"yes"\n'
NO_COMMENT = "lines that begin with # are no comments in a CSV file: sed '/.#/d' takes them out"


@pytest.mark.parametrize(
    ("separator", "text", "message"),
    [
        (",", R_ROWS, "line 2: expected 3 values, found 4; has the first column no name, as in "),
        (";", R_ROWS, "line 2: expected 3 values, found 4; has the first column no name, as in "),
        ("\t", "# made by me\na{0}b{0}y\n1{0}2{0}no\n", f"line 1: .*; {NO_COMMENT}$"),
        (";", "a{0}b{0}y\n# row\n1{0}2{0}no\n", f"line 2: .* 3 values, found 1; {NO_COMMENT}$"),
    ],
)
def test_what_r_writes_and_comments_are_named(tmp_path, separator, text, message):
    path = tmp_path / "a.csv"
    path.write_text(text.format(separator))
    with pytest.raises(DataFileError, match=message):
        open_stream(path, sep=separator).read()


# -- without a label -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *(("a.csv", text) for text in ("\n\n\n", "\ufeff\n\r\n")),
        ("a.csv.gz", gzip.compress(b"", mtime=0)),
        ("a.csv.bz2", bz2.compress(b"")),
    ],
)
def test_a_file_without_a_line(write, name, content):
    path = write(name, content)
    for read in (header_of, lambda path: open_like(None, path), open_stream):
        with pytest.raises(DataFileError, match=r": the file has no line$"):
            read(path)


# -- whether the first row of a csv file is a header -----------------------------------------------


DATA = "numbers where names were expected: taken as data, the columns as x1 to x3"
NAMES = "are taken as the names of the columns, not as data"


@pytest.mark.parametrize(
    ("text", "is_data", "said"),
    [
        ("a,b,label\n1,2,3\n", False, None),
        ("5.1,3.5,setosa\n4.9,3.0,setosa\n", True, DATA),
        ("setosa,5.1,3.5\n9,4.9,3.0\n setosa ,1,2\n", True, DATA),
        ('5.1,3.5,"a, b"\n4.9,3.0,"a, b"\n', True, DATA),
        ("5.1,,1\n4.9,3.0,0\n", True, DATA),  # the missing value is then named
        ("2019,2020,growth\n1.5,2.5,up\n2,3,down\n", False, "numbers and a word " + NAMES),
        (",0,1\n0,2.5,3\n", False, "0, 1, ... " + NAMES),
        ("0,1,label\n1.5,2.5,3\n", False, None),
        ("male,5.1,no\nfemale,4,yes\nmale,1,no\n", True, DATA),
        ('39, "State-gov", <=50K\n50, "Self", >50K\n38, "State-gov", <50K\n', True, DATA),
        ("p,x,s\ne,y,s\np,x,t\n", True, DATA),  # words alone
        ("y,age,name\ny,23,ann\nn,3,bob\n", False, None),
        ("id,name,2020\n7,ann,2.5\n8,bob,3\n", False, "numbers and words " + NAMES),
    ],
)
def test_what_the_first_row_is(write, text, is_data, said):
    header = header_of(write("some.csv", text))
    assert header.is_data == is_data
    assert (header.names == ["x1", "x2", "x3"]) == is_data
    assert (said or "") in header.note
    assert (said is None) == (header.note == "")


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


@pytest.mark.parametrize(
    ("header", "values", "label", "told"),
    [
        (",a,b", "012", None, True),
        (",a,b", "401", None, True),  # of rows in another order
        ("Unnamed: 0,a,b", "012", None, True),
        (",a,b", ("0", "-1", "2"), None, False),
        (",a,b", "012", "", False),
    ],
)
def test_the_index_of_pandas_is_named(write, header, values, label, told):
    path = write("index.csv", header + "\n" + "".join(f"{value},2.5,3\n" for value in values))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert open_stream(path, label=label).n_features == 2
    assert ["the index that pandas writes" in str(w.message) for w in caught] == [True] * told


def test_a_wide_header(write):
    """Compared name by name with all others, 100,000 names took more than eight minutes."""
    names = ",".join(f"f{i}" for i in range(100_000))
    assert len(header_of(write("wide.csv", f"{names}\n")).names) == 100_000
    with pytest.raises(DataFileError, match="two columns are called 'f77'"):
        header_of(write("wide.csv", names.replace("f78,", "f77,") + "\n"))


def test_a_name_that_is_too_long(write):
    csv.field_size_limit(131_072)  # others change it for the whole process
    with pytest.raises(DataFileError, match="line 1: field larger than field limit"):
        header_of(write("long.csv", "a" * 200_000 + ",b\n1,2\n"))


@pytest.mark.parametrize(
    ("text", "known", "is_data"),
    [
        ("2019,2020,2021\n1,2,3\n", ["2021"], False),
        ("0,1,2\n3,4,5\n", ["x1", "x2"], True),
        ("p,x,s\np,x,s\n", ["s"], False),
    ],
)
def test_names_that_are_known_decide(write, text, known, is_data):
    assert header_of(write("t.csv", text), known=known).is_data == is_data


def test_a_line_for_excel(write):
    with pytest.raises(DataFileError, match="line 1: a line that Excel alone reads; take it out"):
        open_stream(write("t.csv", "sep=;\na;b\n1;2\n"))


@pytest.mark.parametrize(
    ("header", "rows", "again"),
    [
        ("city,kind,late\n", "Rome,bus,no\nOslo,tram,yes\nOslo,bus,yes\n", str.upper),
        ("c;late\n", "1;no\n2,5;yes\n", lambda text: "\ufeff" + text),
        ('"c"\t"l"\n', "p\tq\nr\ts\np\tq\nt\tq\n", str),
        ('"say \\"c\\"",late\n', "Rome,no\nOslo,yes\nRome,yes\n", str),
    ],
)
def test_a_header_that_comes_again(write, monkeypatch, header, rows, again):
    """As `cat` puts files together: it is no row, and the first one is no data."""
    monkeypatch.setattr("kernbrook.streams.bytes.BLOCK_BYTES", 9)
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


# -- quotes in csv as other programs write them ----------------------------------------------------


VALUES = {
    'say "hi"': ['"say ""hi"""', ' "say \\"hi\\"" ', 'say "hi"'],
    '5" pipe': ['"5\\" pipe"', '  "5"" pipe"'],
    '"': ['"\\""', '""""'],
    'a,"b': ['"a,\\"b"', '"a,""b"'],
    "C:\\": ['"C:\\"', "C:\\"],
    "a, b": ['"a, b"', ' "a, b"', '"a, b" '],
}
CASES = [(value, written) for value, all_written in VALUES.items() for written in all_written]


@pytest.mark.parametrize(("value", "written"), CASES)
def test_values_as_programs_write_them(write, monkeypatch, value, written):
    """As labels of the reader for numbers, as levels, as names; beside an ordinary value."""
    monkeypatch.setattr("kernbrook.streams.bytes.BLOCK_BYTES", 12)
    for ordinary in ("q", '"q"'):
        path = write("t.csv", f"n,label\n1,{ordinary}\n2,{written}\n3,{ordinary}\n")
        assert open_stream(path).read()[1].tolist() == ["q", value, "q"]
        encoder = kb.TableEncoder({"k": [value, "q"]})
        path = write("t.csv", f"k,n,label\n{ordinary},1,x\n{written},2,{ordinary}\n")
        X, y = open_stream(path, encoder=encoder).read()
        assert X.tolist() == [[0, 1, 0, 1], [1, 0, 0, 2]]
        assert y.tolist() == ["x", "q"]
        path = write("t.csv", f"{written},label\n1,{ordinary}\n2,{ordinary}\n")
        assert open_stream(path).feature_names == [value]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('2,"C:\\\\x \\"y\\""', "a backslash before a quote, which can be read in several ways"),
        ('2,"x \\" y', "a quoted value of the row that begins here does not end"),
        ('2,"x\\"\n3,y\n4",z', "a backslash before a quote, which can be read in several ways"),
        ('2,"x "y" z\nw",p', "a quoted value of the row that begins here does not end"),
        ('2x"y,3,"z', "a quoted value of the row that begins here does not end"),
        ('2,x"y', "an odd number of quotes; a value with a quote in it stands in quotes"),
    ],
)
def test_what_is_refused(write, line, problem):
    path = write("t.csv", f'n,label\n1,"x"\n{line}\n')
    for options in ({}, {"encoder": kb.TableEncoder()}):
        with pytest.raises(DataFileError, match=problem) as caught:
            open_stream(path, **options)
        assert caught.value.line == 3
    if "does not end" in problem:  # or lines of a text would be rows
        with pytest.raises(DataFileError, match=problem):
            open_stream(path, on_bad_rows="skip")


TEXTS = {
    '"table:\n9,9\n9,9\nend"': "table:\n9,9\n9,9\nend",
    '"\n\n""a"",\n"': '"a",',
    ' "said \\"no\n1,2\n\\"yes\\"" ': 'said "no\n1,2\n"yes"',
}


@pytest.mark.parametrize("skip", ["error", "skip"])
@pytest.mark.parametrize("text", TEXTS)
def test_values_of_several_lines(write, monkeypatch, text, skip):
    """As a label, a level, a name, what is dropped; the lines after it keep their numbers."""
    monkeypatch.setattr("kernbrook.streams.bytes.BLOCK_BYTES", 7)
    value = TEXTS[text]
    path = write("t.csv", f"n,label\r\n1,q\r\n2,{text}\r\n3,q\r\n".replace("\n", "\r\n"))
    assert open_stream(path, on_bad_rows=skip).read()[1].tolist() == ["q", value, "q"]
    path = write("t.csv", f"k,n,label\nq,1,x\n{text},2,y\nq,3,x\n{text},many,z\n{text},5,z")
    encoder, line = kb.TableEncoder({"k": [value, "q"]}), 5 + text.count("\n")
    for mine, columns in ((encoder, 4), (kb.TableEncoder(drop=["k"]), 1)):
        if skip == "error":
            with pytest.raises(DataFileError, match=f"line {line}: column 'n': .* 'many'"):
                open_stream(path, encoder=mine)
            continue
        stream = open_stream(path, encoder=mine, on_bad_rows="skip")
        X, y = stream.read()
        assert (X.shape, y.tolist()) == ((4, columns), ["x", "y", "x", "z"])
        assert stream.bad_rows.places == [3]
        assert f"line {line}: column 'n'" in stream.bad_rows.problems[0]
    path = write("t.csv", f"{text},label\n1,x\n2,y\n")
    assert open_stream(path).feature_names == [value]
    path = write("t.csv", f"n,label\n1,{text},x\n2,y\n3,x\n")
    if skip == "skip":
        assert open_stream(path, on_bad_rows="skip").bad_rows.places == [0]


def test_a_bad_last_line_without_its_end_is_left_out_and_counted(write):
    path = write("t.csv", 'n,label\n1,x\n2,y\n3"4,x')
    stream = open_stream(path, on_bad_rows="skip")
    assert (stream.read()[1].tolist(), stream.bad_rows.places) == (["x", "y"], [2])


def test_a_value_that_ends_too_late(write, monkeypatch):
    monkeypatch.setattr("kernbrook.streams.limits.LONGEST_CELL", 100)
    monkeypatch.setattr("kernbrook.streams.bytes.BLOCK_BYTES", 20)
    path = write("t.csv", 'n,label\n1,"x\n' + "2,y\n" * 50 + '3,z"\n')
    for skip in ("error", "skip"):
        with pytest.raises(DataFileError, match=r"line 2: .* does not end within 100 bytes"):
            open_stream(path, on_bad_rows=skip)


CELLS = st.text('ab,;"\\ é\n', max_size=8).filter(lambda text: text.strip() == text)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(CELLS, min_size=2, max_size=4), min_size=1))
def test_what_spark_writes_is_read_or_refused(rows):
    """It puts a backslash before quotes, and nothing before backslashes."""
    lines = [",".join('"' + cell.replace('"', '\\"') + '"' for cell in row) for row in rows]
    for row, line in zip(rows, lines, strict=True):
        try:
            blocks = WholeRows(Path("t.csv"), ",").of([(1, line.encode())])
            text = b"".join(block for _, block in blocks).decode()
        except DataFileError:
            assert _is_unclear(row)
            continue
        read = [cell.replace("\r", "\n") for cell in next(csv.reader([text]))]
        assert read == row or _is_unclear(row)


def _is_unclear(row):
    """Whether a backslash before a quote may be a value's own, or lines be parted there."""
    text = "".join(row)
    return "\\" in text or {"\n", '"'} <= set(text)
