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
from kernbrook.streams.formats.text_cells import csv_lines

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


@pytest.mark.parametrize("block_bytes", [1 << 20, 12])
@pytest.mark.parametrize(("value", "written"), CASES)
def test_values_as_programs_write_them(write, monkeypatch, value, written, block_bytes):
    """As labels of the reader for numbers, as levels, as names; beside an ordinary value."""
    monkeypatch.setattr("kernbrook.streams.files.data_files.BLOCK_BYTES", block_bytes)
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
        ('2,"x \\" y', "a backslash before a quote"),
        ('2,"x', "a quoted value does not end here; values of several lines are not read"),
    ],
)
def test_what_is_refused(write, line, problem):
    path = write("t.csv", f'n,label\n1,"x"\n{line}\n')
    for options in ({}, {"encoder": kb.TableEncoder()}):
        with pytest.raises(DataFileError, match=problem) as caught:
            open_stream(path, **options)
        assert caught.value.line == 3


CELLS = st.text('ab,;"\\ é', max_size=8).filter(lambda text: text.strip() == text)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(CELLS, min_size=2, max_size=4), min_size=1), st.sampled_from(",;"))
def test_what_pythons_writer_writes_is_left_as_it_is(rows, mark):
    out = io.StringIO()
    csv.writer(out, delimiter=mark, lineterminator="\n").writerows(rows)
    text = csv_lines(Path("t.csv"), 1, out.getvalue().encode(), mark).decode()
    assert list(csv.reader(io.StringIO(text, newline=""), delimiter=mark)) == rows


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(CELLS, min_size=2, max_size=4), min_size=1))
def test_what_spark_writes_is_read_or_refused(rows):
    """It puts a backslash before quotes, and nothing before backslashes."""
    lines = [",".join('"' + cell.replace('"', '\\"') + '"' for cell in row) for row in rows]
    for row, line in zip(rows, lines, strict=True):
        try:
            text = csv_lines(Path("t.csv"), 1, line.encode(), ",").decode()
        except DataFileError:
            assert any("\\" in cell for cell in row)
            continue
        read = next(csv.reader([text]))
        assert read == row or any("\\" in cell for cell in row)
