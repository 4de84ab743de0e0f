"""Files that are not read: what they are is said, and the way out."""

import gzip
import io
import sqlite3
import tarfile
import zipfile

import numpy as np
import pytest

from kernbrook.errors import DataFileError
from kernbrook.streams import open_stream

pandas = pytest.importorskip("pandas")
FRAME = pandas.DataFrame({"a": [1.0, 2.0] * 50, "b": ["x", "y"] * 50})


def excel(path):
    pytest.importorskip("openpyxl")
    FRAME.to_excel(path)


def zipped(path):
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("rows.csv", "a,b\n1,2\n")


def tarred(path):
    with tarfile.open(path, "w") as file:
        file.addfile(tarfile.TarInfo("rows.csv"), io.BytesIO())


def database(path):
    with sqlite3.connect(path) as base:
        base.execute("create table t (a, b)")
    base.close()


def arrays(path):
    with open(path, "wb") as file:
        np.savez(file, X=np.eye(2))


WRITERS = {
    "an Excel workbook; 'CSV UTF-8'": excel,
    "an archive of files; unpack it": zipped,
    "an archive of files; unpack": tarred,
    "a database; pandas.read_sql": database,
    "data of Stata; pandas.read_stata": FRAME.to_stata,
    "a pickle, which is never read": FRAME.to_pickle,
    "arrays of NumPy; in Python, ": arrays,
    "text in UTF-16, .* iconv -f UTF-16": lambda p: FRAME.to_csv(p, encoding="utf-16"),
    "text in UTF-16, .* makes it so": lambda p: FRAME.to_csv(p, encoding="utf-16-le", sep="\t"),
    "text in UTF-16, where UTF-8": lambda p: FRAME.to_csv(p, encoding="utf-16-be"),
    "a page of HTML or XML": lambda p: p.write_text("\n<!DOCTYPE html><html>1,2"),
}
NAMES = {FRAME.to_stata: ".dta", FRAME.to_pickle: ".pkl"}


@pytest.mark.parametrize("told", WRITERS)
def test_what_it_is(tmp_path, told):
    make = WRITERS[told]
    ending = NAMES.get(make, ".csv")
    make(tmp_path / f"rows{ending}")
    data = (tmp_path / f"rows{ending}").read_bytes()
    (tmp_path / f"packed{ending}.gz").write_bytes(gzip.compress(data))
    (tmp_path / "rows.arff").write_bytes(data)
    names = [f"rows{ending}", f"packed{ending}.gz", *(["rows.arff"] if ending == ".csv" else [])]
    for name in names:
        with pytest.raises(DataFileError, match=told):
            open_stream(tmp_path / name)


def test_text_that_is_not_utf_8(write):
    path = write("t.csv", "a,b\n1,Müller\n".encode("latin-1"))
    with pytest.raises(DataFileError, match=r"line 2: expected UTF-8 text; .* iconv -t UTF-8"):
        open_stream(path)


def test_a_name_alone_is_no_reason(write):
    assert open_stream(write("t.dta", "a,b\n1,2\n")).n_rows == 1
