"""svmlight files that cannot be read: the message names the file, the line and the trouble."""

import pytest

from kernbrook.errors import DataFileError, InputError
from kernbrook.streams import open_stream

BAD_LINES = [
    ("1 0:3", "counts features from 1"),
    ("1 2:3 2:4", "2 follows 2"),
    ("1 5:3 2:4", "must ascend within a line; 2 follows 5"),
    ("1:3 2:4", "no label before '1:3'"),
    ("qid:3 2:4", "no label before 'qid:3'"),
    ("one 2:4", "expected a label .a number., found 'one'"),
    ("1,2 2:4", "expected a label .a number., found '1,2'"),
    ("nan 2:4", "the label 'nan' is not finite"),
    ("-inf 2:4", "the label '-inf' is not finite"),
    ("1e999 2:4", "'1e999' is too large"),
    ("1 2", "expected index:value, found '2'"),
    ("1 x:2", "expected index:value, found 'x:2'"),
    ("1 -2:2", "expected index:value, found '-2:2'"),
    ("1 2:", "expected a number after the colon, found '2:'"),
    ("1 2:a", "expected a number after the colon, found '2:a'"),
    ("1 2:3:4", "expected a number after the colon"),
    ("1 2:1_000", "expected a number after the colon"),
    ("1 2:NaN", "the value of '2:NaN' is not finite"),
    ("1 2:+Infinity", "is not finite"),
    ("1 2:1e400", "'1e400' is too large"),
    ("1 16777217:1", r"found '16777217:1'; with an index above 16777216, give n_features \(--n-fe"),
    ("1 2147483648:1", "with an index above 16777216, give n_features"),
    ("1 999999999999999999999999999:1", "with an index above 16777216, give n_features"),
    ("9007199254740993 1:1", "a 64-bit float does not hold the label '9007199254740993'"),
    (" -9007199254740993# 1:1", "does not hold the label '-9007199254740993'"),
    ("123456789012345678901234567890", "does not hold the label '12345678901234567890123456"),
    ("a,b,label", "found 'a,b,label'; the name of a CSV file ends with .csv"),
    ("1 2:" + "\xe9" * 300, "..."),
]


@pytest.mark.parametrize(("line", "problem"), BAD_LINES)
def test_the_line_is_named(write, line, problem):
    path = write("bad.libsvm", f"# words\n1 1:1\n\n{line}\n1 0:0\n")
    with pytest.raises(DataFileError, match=problem) as caught:
        open_stream(path)
    assert caught.value.line == 4
    assert str(caught.value).startswith(f"{path}, line 4: ")
    assert len(str(caught.value)) < len(str(path)) + 200


def test_lines_are_counted_over_blocks(write, monkeypatch):
    monkeypatch.setattr("kernbrook.streams.bytes.BLOCK_BYTES", 64)
    path = write("long.libsvm", "1 1:1\n" * 1000 + "1 1:x\n")
    with pytest.raises(DataFileError) as caught:
        open_stream(path)
    assert caught.value.line == 1001


INEXACT = "9007199254740993 1:1"


@pytest.mark.parametrize(
    ("first", "second", "problem"),
    [
        ("1 1:1e999", "1 1:x", "too large"),
        ("1 1:1e999", INEXACT, "too large"),
        (INEXACT, "1 1:1e999", "does not hold"),
        (INEXACT, "1 1:x", "does not hold"),
        ("1 1:x", INEXACT, "expected a number after the colon"),
    ],
)
def test_the_first_of_two_bad_lines_is_named(write, first, second, problem):
    path = write("two.libsvm", f"1 1:1\n{first}\n{second}\n")
    with pytest.raises(DataFileError, match=problem) as caught:
        open_stream(path)
    assert caught.value.line == 2


def test_wrong_width(write):
    with pytest.raises(InputError, match="n_features must be at most 2147483647, got 2147483648"):
        open_stream(write("wide.libsvm", "1 1:1\n"), n_features=2**31)
    stream = open_stream(write("wide.libsvm", "1 16777217:1\n"), n_features=2**31 - 1)
    assert stream.read()[0].shape == (1, 2**31 - 1)
    path = write("wide.libsvm", "1 1:1\n1 4:1\n")
    with pytest.raises(DataFileError, match="line 2: found '4:1', beyond the 3 features"):
        open_stream(path, n_features=3)


@pytest.mark.parametrize("text", ["\n\n", "# only words\n"])
def test_no_data(write, text):
    with pytest.raises(DataFileError, match="no data line"):
        open_stream(write("none.libsvm", text))


def test_no_features(write):
    with pytest.raises(DataFileError, match="give n_features"):
        open_stream(write("labels.libsvm", "1\n0\n"))


def test_no_label_column(write):
    with pytest.raises(InputError, match="a column of a table"):
        open_stream(write("a.libsvm", "1 1:1\n"), label="y")


@pytest.mark.parametrize("now", ["1 1:1\n", "1 1:1\n0.5 2:1\n", "1 1:1\n0 2:1\n1 2:1\n"])
def test_a_file_changed_between_readings(write, monkeypatch, now):
    monkeypatch.setattr("kernbrook.streams.svmlight._KEPT_BYTES", 0)
    monkeypatch.setattr("kernbrook.streams.bytes._IN_MEMORY", 0)
    stream = open_stream(write("moving.libsvm", "1 1:1\n0 2:1\n"))
    write("moving.libsvm", now)
    with pytest.raises(DataFileError, match="changed after it was opened"):
        stream.read()
