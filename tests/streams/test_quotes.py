"""Quotes in CSV as other programs write them: the same values in every reader."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernbrook as kb
from kernbrook.errors import DataFileError
from kernbrook.streams import open_stream
from kernbrook.streams.csv import csv_lines, whole_rows

VALUES = {
    "plain": ["plain"],
    'say "hi"': ['"say \\"hi\\""', '"say ""hi"""', ' "say \\"hi\\"" ', 'say "hi"'],
    '5" pipe': ['"5\\" pipe"', '"5"" pipe"', '  "5"" pipe"'],
    '"': ['"\\""', '""""'],
    'a,"b': ['"a,\\"b"', '"a,""b"'],
    'x"': ['"x\\""', '"x"""'],
    "C:\\": ['"C:\\"', "C:\\"],
    "C:\\\\n": ['"C:\\\\n"', "C:\\\\n"],
    "a, b": ['"a, b"', ' "a, b"', '"a, b" '],
}
CASES = [(value, written) for value, all_written in VALUES.items() for written in all_written]


@pytest.mark.sampled
@pytest.mark.parametrize("block_bytes", [1 << 20, 12])
@pytest.mark.parametrize(("value", "written"), CASES)
def test_values_as_programs_write_them(write, monkeypatch, value, written, block_bytes):
    """As labels of the reader for numbers, as levels, as names; beside an ordinary value."""
    monkeypatch.setattr("kernbrook.streams.bytes.BLOCK_BYTES", block_bytes)
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


@pytest.mark.parametrize("mark", [";", "\t", "|", " "])
def test_other_separators(write, mark):
    text = f'a{mark}label\n1{mark}"x \\"{mark}\\" y"\n2{mark}"z"\n'
    assert open_stream(write("t.csv", text), sep=mark).read()[1].tolist() == [f'x "{mark}" y', "z"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('2,"C:\\\\x \\"y\\""', "a backslash before a quote, which can be read in several ways"),
        ('2,x \\"y\\"', "a backslash before a quote"),
        ('2,"x \\" y', "a quoted value of the row that begins here does not end"),
        ('2,"x\\"\n3,y\n4",z', "a backslash before a quote, which can be read in several ways"),
        ('2,"x', "a quoted value of the row that begins here does not end"),
        ('2,"x "y" z\nw",p', "a quoted value of the row that begins here does not end"),
        ('2x"y,"z\n3,p', "a quoted value of the row that begins here does not end"),
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
@pytest.mark.parametrize("block_bytes", [1 << 20, 7])
@pytest.mark.parametrize("text", TEXTS)
def test_values_of_several_lines(write, monkeypatch, block_bytes, text, skip):
    """As a label, a level, a name, what is dropped; the lines after it keep their numbers."""
    monkeypatch.setattr("kernbrook.streams.bytes.BLOCK_BYTES", block_bytes)
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
        assert f"line {line}: column 'n'" in stream.bad_rows.told[0]
    path = write("t.csv", f"{text},label\n1,x\n2,y\n")
    assert open_stream(path).feature_names == [value]
    path = write("t.csv", f"n,label\n1,{text},x\n2,y\n3,x\n")
    if skip == "skip":
        assert open_stream(path, on_bad_rows="skip").bad_rows.places == [0]


def test_a_value_that_ends_too_late(write, monkeypatch):
    monkeypatch.setattr("kernbrook.streams.limits.LONGEST_CELL", 100)
    monkeypatch.setattr("kernbrook.streams.bytes.BLOCK_BYTES", 20)
    path = write("t.csv", 'n,label\n1,"x\n' + "2,y\n" * 50 + '3,z"\n')
    for skip in ("error", "skip"):
        with pytest.raises(DataFileError, match=r"line 2: .* does not end within 100 bytes"):
            open_stream(path, on_bad_rows=skip)


CELLS = st.text('ab,;"\\ é\n', max_size=8).filter(lambda text: text.strip() == text)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(CELLS, min_size=2, max_size=4), min_size=1), st.sampled_from(",;"))
def test_what_pythons_writer_writes_is_left_as_it_is(rows, mark):
    out = io.StringIO()
    csv.writer(out, delimiter=mark, lineterminator="\n").writerows(rows)
    lines = list(enumerate(out.getvalue().encode().splitlines(keepends=True), start=1))
    blocks = whole_rows(Path("t.csv"), lines, mark)
    try:
        text = b"".join(csv_lines(Path("t.csv"), first, block, mark) for first, block in blocks)
    except DataFileError:
        assert '\\"' in out.getvalue()
        return
    assert text.count(b"\n") == len(lines)
    read = csv.reader(text.decode().split("\n"), delimiter=mark)
    assert [[cell.replace("\r", "\n") for cell in row] for row in read if row] == rows


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(CELLS, min_size=2, max_size=4), min_size=1))
def test_what_spark_writes_is_read_or_refused(rows):
    """It puts a backslash before quotes, and nothing before backslashes."""
    lines = [",".join('"' + cell.replace('"', '\\"') + '"' for cell in row) for row in rows]
    for row, line in zip(rows, lines, strict=True):
        try:
            blocks = whole_rows(Path("t.csv"), [(1, line.encode())], ",")
            block = b"".join(block for _, block in blocks)
            text = csv_lines(Path("t.csv"), 1, block, ",").decode()
        except DataFileError:
            assert _is_unclear(row)
            continue
        read = [cell.replace("\r", "\n") for cell in next(csv.reader([text]))]
        assert read == row or _is_unclear(row)


def _is_unclear(row):
    """Whether a backslash before a quote may be a value's own, or lines be parted there."""
    text = "".join(row)
    return "\\" in text or {"\n", '"'} <= set(text)
