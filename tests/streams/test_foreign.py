"""Files that are not read: what they are is said, and the way out."""

import codecs
import gzip
import io
import re
import shutil
import sqlite3
import subprocess
import tarfile
import zipfile
from functools import partial

import numpy as np
import pytest

import kernbrook as kb
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


def arrays(path):
    with open(path, "wb") as file:
        np.savez(file, X=np.eye(2))


def spss(path):
    pyreadstat = pytest.importorskip("pyreadstat")
    labels = {"c": {1.0: "low", 2.0: "high"}}
    pyreadstat.write_sav(FRAME.assign(c=FRAME["a"]), path, variable_value_labels=labels)


def xport(path, version=5):
    pyreadstat = pytest.importorskip("pyreadstat")
    pyreadstat.write_xport(FRAME, path, file_format_version=version)


def database(path):
    FRAME.to_sql("rows", base := sqlite3.connect(path), index=False)
    base.close()


# What is said of a file, and of which frame's rows the advice makes one.
WRITERS = {
    "an Excel workbook; 'CSV UTF-8' .*read_excel": excel,
    "an archive of files; unpack it": zipped,
    "an archive of files; unpack": tarred,
    "a database; pandas.read_sql": database,
    "data of Stata; pandas.read_stata": FRAME.to_stata,
    "data of SPSS; pyreadstat.read_sav": spss,
    "data of SAS; pyreadstat.read_xport": xport,
    "data of SAS; .*read_xport": partial(xport, version=8),
    "data in ORC; pandas.read_orc": FRAME.to_orc,
    "a pickle, which is never read": FRAME.to_pickle,
    "arrays of NumPy; in Python, ": arrays,
    "text in UTF-16, .* iconv -f UTF-16 ": lambda p: FRAME.to_csv(p, encoding="utf-16"),
    "text in UTF-16LE, .* makes it so": lambda p: FRAME.to_csv(p, encoding="utf-16-le", sep="\t"),
    "a page of HTML or XML": lambda p: p.write_text("\n<!DOCTYPE html><html>1,2"),
}
NAMES = {FRAME.to_stata: ".dta", FRAME.to_pickle: ".pkl"}


@pytest.mark.parametrize("told", WRITERS)
def test_what_it_is(tmp_path, monkeypatch, told):
    """Whatever it is called; and Python that is advised makes a file of the same rows."""
    make = WRITERS[told]
    ending = NAMES.get(make, ".csv")
    make(path := tmp_path / f"rows{ending}")
    data = path.read_bytes()
    (tmp_path / f"packed{ending}.gz").write_bytes(gzip.compress(data))
    (tmp_path / "rows.arff").write_bytes(data)
    names = [f"packed{ending}.gz", *(["rows.arff"] if ending == ".csv" else []), path.name]
    for name in names:
        with pytest.raises(DataFileError, match=told) as caught:
            open_stream(tmp_path / name)
    code = re.search(r"(pandas|pyreadstat)\.read.*\)(?= (makes|writes))", str(caught.value))
    if code is None:
        assert "read_" not in told
        return
    known = {"pandas": pandas, "sqlite3": sqlite3, "FILE": path}
    if "pyreadstat" in code[0]:
        known["pyreadstat"] = pytest.importorskip("pyreadstat")
    monkeypatch.chdir(tmp_path)
    path = path.rename(tmp_path / f"data{ending}")
    eval(code[0].replace("TABLE", "rows"), known | {"FILE": path})
    read = {"rows.parquet": pandas.read_parquet, "rows.csv": pandas.read_csv}
    made = next(name for name in read if (tmp_path / name).exists())
    others = [name for name in read[made](made).columns if name not in FRAME]
    X, y = open_stream(made, label="b", encoder=kb.TableEncoder(drop=others)).read()
    assert (X[:, 0].tolist(), y.tolist()) == (FRAME["a"].tolist(), FRAME["b"].tolist())


@pytest.mark.skipif(shutil.which("iconv") is None, reason="no iconv")
@pytest.mark.parametrize(
    "encoding",
    ["latin-1", *(f"utf-{n}{end}" for n in (16, 32) for end in ("", "-le", "-be")), "mark"],
)
def test_the_advice_for_text_that_is_not_utf_8(write, encoding):
    """Done as it stands, it makes a file of the same rows."""
    text = "name,b\nMüller,1\nMeier,2\n"
    if encoding == "mark":
        path = write("t.csv", codecs.BOM_UTF32_BE + text.encode("utf-32-be"))
    else:
        path = write("t.csv", text.encode(encoding))
    said = r"(line 2: expected UTF-8 text;|text in UTF-\d\d[BL]?E?, where).* iconv -f .* makes"
    with pytest.raises(DataFileError, match=said) as told:
        open_stream(path)
    command = re.search(r"iconv -f \S+ -t UTF-8", str(told.value))[0].split()
    made = subprocess.run([*command, path], capture_output=True, check=True).stdout
    assert made.decode() == text


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.arff", "t.svm", "t"])
def test_marks_of_utf_8(write, name):
    """One before each file that was put together with others, or two."""
    head = "@relation r\n@attribute x real\n@attribute y real\n@data\n"
    text = {"t.jsonl": '{"x": 1, "y": 2}\n', "t.svm": "2 1:1\n", "t.arff": f"{head}1,2\n"}
    begun, row = text.get(name, "x,y\n1,2\n"), text.get(name, "1,2\n").removeprefix(head)
    X, y = open_stream(write(name, f"\ufeff\ufeff{begun}\ufeff{row}{row}\ufeff\ufeff{row}")).read()
    assert (X.shape, y.tolist()) == ((4, 1), [2] * 4)


def test_a_name_alone_is_no_reason(write):
    assert open_stream(write("t.dta", "a,b\n1,2\n")).n_rows == 1
    for name in ("ORCID", "FEA1", "$FLOW", "RDX"):
        assert open_stream(write("t.csv", f"{name},b\n1,2\n")).feature_names == [name]
