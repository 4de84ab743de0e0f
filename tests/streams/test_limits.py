"""Small files that ask for much time or memory: each is read quickly, or refused with a line."""

import io
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kernbrook.errors import DataFileError
from kernbrook.streams import limits, open_stream


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Limits that files of a few kilobytes reach."""
    monkeypatch.setattr("kernbrook.streams.bytes.BLOCK_BYTES", 1000)
    monkeypatch.setattr(limits, "LONGEST_LINE", 20_000)
    monkeypatch.setattr(limits, "LONGEST_LABEL", 20)
    monkeypatch.setattr(limits, "MOST_COLUMNS", 50)
    monkeypatch.setattr(limits, "GREATEST_INDEX", 900)
    monkeypatch.setattr(limits, "MOST_CELLS", 500)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.svm", "1 1:1\n1 901:1\n", "line 2: found '901:1'; with an index above 900, give n_f"),
        ("a.svm", "1 1:1\n1 " + "1" * 30_000, "line 2: a line of over 20,000 bytes"),
        ("a.csv", "a,b\n1," + "1" * 30_000, "line 2: a line of over 20,000 bytes"),
        ("a.csv", "a,b\n1,2\n2," + "y" * 21, "line 3: column 'b': a label of over 20 char"),
        ("a.csv", "," * 60, "line 1: over 50 columns"),
        ("a.csv", "a,b\n1,2\n1" + "," * 9000, "line 3: expected 2 values, found 9,000 commas"),
        ("a.csv", "a;b\n1;2\n1" + ";2" * 9000, "line 3: expected 2 values, found 9,000 semicolons"),
        ("a.arff", "@attribute a {0}\n@attribute b {0}\n@data\n0" + ",0" * 9000,
         "line 4: expected 2 values, found 9,000 commas"),
        ("a.jsonl", '{"a": 1, "b": ' + "1" * 4400 + "}\n", "line 1: a whole number of thousands"),
        ("a.jsonl", "{" + ",".join(f'"{i}": 1' for i in range(51)) + "}\n", "line 1: over 50 col"),
        ("a", "1 " + "1:1 " * 4000 + "?", "line 1: indices must ascend"),
        ("a", "1" * 15_000, "line 1: neither svmlight"),
    ],
)  # fmt: skip
def test_what_is_refused(write, name, text, said):
    with pytest.raises(DataFileError, match=said):
        open_stream(write(name, text))


@pytest.mark.parametrize("row", ['1,"1"' * 200, '1,"' + "1," * 200 + '"'])
@pytest.mark.filterwarnings("ignore::kernbrook.errors.DataFileWarning")
def test_the_row_below_the_first_is_long(write, row):
    with pytest.raises(DataFileError, match=r"line 2: (expected 2 values|column 'x2': a label of)"):
        open_stream(write("a.csv", f"1,2\n{row}\n"))


def test_what_is_just_within(write):
    assert open_stream(write("a.svm", "1 900:1\n")).n_features == 900
    assert open_stream(write("b.svm", "1 2000:1\n"), n_features=2000).n_features == 2000
    wide = ",".join(f"f{i}" for i in range(50)) + "\n" + ",".join("1" * 50)
    assert open_stream(write("c.csv", wide)).n_features == 49
    label = "y" * 20
    assert open_stream(write("d.csv", f"a,b\n1,{label}\n2,x\n")).read()[1][0] == label


# -- many digits: a pattern that tries all their parts would take minutes --------------------------


@pytest.fixture
def whole_lines(monkeypatch):
    monkeypatch.setattr(limits, "LONGEST_LINE", 1 << 26)
    monkeypatch.setattr(limits, "LONGEST_LABEL", 1000)


@pytest.mark.usefixtures("whole_lines")
def test_many_digits_in_svmlight(write):
    zeros = "0" * 500_000
    text = f"1.5 1:1\n{zeros}12345678901234567890.5 1:1\n{zeros}7 1:{zeros}3.5\n"
    X, y = open_stream(write("a.svm", text)).read()
    np.testing.assert_array_equal(y, [1.5, 12345678901234567890.5, 7])
    np.testing.assert_array_equal(X.ravel(), [1, 1, 3.5])
    with pytest.raises(DataFileError, match="line 1: a 64-bit float does not hold the label"):
        open_stream(write("b.svm", f"{zeros}9007199254740993 1:1\n1e15 1:1\n"))
    for label in ("0", "000", "-000", "+0"):
        assert open_stream(write("c.svm", f"{label} 1:1\n9007199254740994 1:1\n")).n_rows == 2


@pytest.mark.usefixtures("whole_lines")
@pytest.mark.filterwarnings("ignore::kernbrook.errors.DataFileWarning")
def test_many_digits_in_csv(write):
    many = "1" * 120_000
    with pytest.raises(DataFileError, match="line 2: column 'a': expected a number, found '111"):
        open_stream(write("a.csv", f"a,label\n{many}x,1\n"))
    with pytest.raises(DataFileError, match="line 2: a quoted value of the row that begins here"):
        open_stream(write("b.csv", f'1,2\n"{many}\n'))
    with pytest.raises(DataFileError, match="line 1: neither svmlight"):
        open_stream(write("c", f"{many}x\n"))


# -- small files that asked for a gigabyte --------------------------------------------------------


def cells():
    """A Parquet file of some 5 KB with 700 cells of a megabyte each."""
    a = pa.DictionaryArray.from_arrays([0] * 700, ["x" * 1_000_000])
    table = pa.table({"a": a, "label": ["y", "n"] * 350})
    pq.write_table(table, made := io.BytesIO(), compression="zstd", store_schema=False)
    return made.getvalue()


BOMBS = {
    "cells.parquet": (cells(), "row 1: column 'a': expected a number, found 'xxx"),
    "wide.tsv": ("\t".join(f"c{i}" for i in range(60_000)) + "\n" + "1\t" * 59_999 + "1\n", ""),
    "commas.tsv": ("a\tb\n1\t2\n" + "1\t" * 20_000_000, "line 3: expected 2 values, found 20,000"),
}
OPENED = """
import sys
from kernbrook.streams import open_stream
try:
    print(open_stream(sys.argv[1]).n_features)
except ValueError as error:
    print(error)
with open("/proc/self/status") as status:  # of this program, not of those that started it
    print(next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM")))
"""


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is told in other units")
@pytest.mark.parametrize("name", BOMBS)
def test_memory(write, name):
    text, said = BOMBS[name]
    command = [sys.executable, "-c", OPENED, str(write(name, text))]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    found, megabytes = done.stdout.splitlines()
    assert said in found if said else found == "59999"
    assert float(megabytes) < 500
