"""Labels with their rows, at the end of a sitting and later; and tables as files."""

from __future__ import annotations

import csv
import datetime
import json
from pathlib import Path

import numpy as np
import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sittings import answers_of

import kernbrook as kb
from kernbrook.cli.output import check_ending, write_table
from kernbrook.errors import InputError

NEW = ["--recipe", "omkc-dd", "--classes", "no,yes"]
X = np.random.default_rng(0).normal(size=(60, 2)).round(3)


@pytest.fixture
def rows(tmp_path):
    """rows.csv: a note that is shown, and two numbers."""
    lines = [f"{a},note {i},{b}" for i, (a, b) in enumerate(X.tolist(), start=1)]
    (tmp_path / "rows.csv").write_text("\n".join(["width,note,height", *lines]) + "\n")
    return tmp_path / "rows.csv"


def exported(name="l.csv"):
    with open(name, newline="") as file:
        return list(csv.DictReader(file))


def files():
    return {path.name: path.read_bytes() for path in Path().iterdir()}


def test_at_the_end_of_a_sitting_and_later(kernbrook, rows):
    """The same command goes on and writes anew; alone the option asks nothing, changes nothing."""
    sitting = ["label", "m", "rows.csv", *NEW, "--text", "note", "--export", "l.csv"]
    code, out, err = kernbrook(*sitting, typed=["yes", "n", "s", "y", "q"])
    assert code == 0
    assert "labels given  3\n" in out
    assert "--export" not in out
    assert err.endswith(
        "m is saved; the same command goes on\nwrote 3 labels to l.csv; 1 row skipped, left out\n"
    )
    given = [line for line in answers_of("m") if line["label"]]
    for line, row in zip(given, exported(), strict=True):
        a, b = X[line["row"] - 1].tolist()
        assert list(row) == ["row", "width", "note", "height", "label", "predicted", "chance"]
        expected = [f"{line['row']}", f"{a}", f"note {line['row']}", f"{b}", line["label"]]
        assert list(row.values())[:5] == expected
    code, _, err = kernbrook(*sitting, typed=["n", "q"])
    assert (code, "wrote 4 labels to l.csv" in err) == (0, True)
    before = files()
    code, out, err = kernbrook("label", "m", "rows.csv", "--export", "l.csv", typed=["yes"])
    assert (code, out, err) == (0, "", "wrote 4 labels to l.csv; 1 row skipped, left out\n")
    assert files() == before
    assert kernbrook("label", "m", "rows.csv", "--export", "l.parquet")[0] == 0
    table = pq.read_table("l.parquet").to_pylist()
    assert [row["width"] for row in table] == [X[row["row"] - 1, 0] for row in table]


def test_answers_that_the_model_has_not_learned(kernbrook, rows):
    """After a kill the file of the model may be older than that of the answers, or have no data."""
    kernbrook("label", "m", "rows.csv", *NEW, "--text", "note", typed=["yes", "n", "y", "q"])
    kb.save(kb.recipes.make("omkc-dd", random_state=0).set_params(labels=kb.MarginSampling()), "m")
    before = files()
    code, _, err = kernbrook("label", "m", "rows.csv", "--table", "drop=note", "--export", "l.csv")
    assert (code, err) == (0, "wrote 3 labels to l.csv\n")
    notes = [f"note {line['row']}" for line in answers_of("m")]
    assert [row["note"] for row in exported()] == notes
    del before["m.labels.jsonl"]
    assert before.items() < files().items()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["absent", "rows.csv"], "absent does not exist: there are no labels yet; label first,"),
        (["fresh", "rows.csv", "--table", "drop=note"], "fresh: no label was given yet: fresh."),
        (["m", "rows.csv", "--export", "l.xlsx"], "expected a name that ends in one of .csv, "),
        (["m", "rows.csv", "--export", "rows.csv"], "rows.csv is read by this command"),
        (["m", "rows.csv", "--export", "absent/l.csv"], "there is no folder"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(kernbrook, rows, arguments, said):
    kernbrook("label", "m", "rows.csv", *NEW, "--text", "note", typed=["yes", "n", "y", "q"])
    kb.save(kb.recipes.make("omkc-dd", random_state=0), "fresh")
    before = files()
    export = [] if "--export" in arguments else ["--export", "l.csv"]
    code, out, err = kernbrook("label", *arguments, *export)
    assert (code, out) == (1, "")
    assert said in err
    assert err.count("\n") == 1
    assert files() == before


# -- tables as files of other programs -------------------------------------------------------------


TEXT = ["plain", 'a "quoted", one', "two\nlines", "", " é ☃ ", "=1+1", None]
TABLE = pa.table(
    {
        "id": list(range(7)),
        "text": TEXT,
        "number": ["1", " 2", "", "NA", "-3", "40", None],
        "share": ["0.50", "1e3", "2", "3", "4", "5", "6"],
        "written": ["1.200,5", "1", "2", "3", "4", "5", "6"],
        "value": [0.1, float("nan"), float("inf"), None, 1e300, -0.0, 2.0],
        "day": [datetime.date(2024, 1, 31)] * 7,
        "pair": [[1, 2]] * 7,
    }
)
NUMBERS = ["number", "share", "written", "value", "absent"]


def test_tables_as_files(tmp_path):
    """CSV as the table has it; elsewhere columns of numbers are numbers, where all values are."""
    for ending in ("csv", "parquet", "jsonl", "NDJSON"):
        write_table(TABLE, tmp_path / f"t.{ending}", NUMBERS)
        write_table(TABLE.slice(0, 0), tmp_path / f"none.{ending}", NUMBERS)
    with open(tmp_path / "t.csv", encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == TABLE.column_names
    assert [row[1] for row in rows] == [text or "" for text in TEXT]
    assert [row[2] for row in rows] == ["1", " 2", "", "NA", "-3", "40", ""]
    assert rows[0][3:] == ["0.50", "1.200,5", "0.1", "2024-01-31", "[1, 2]"]
    assert len(pandas.read_csv(tmp_path / "t.csv")) == 7
    found = pq.read_table(tmp_path / "t.parquet")
    numbers = [1, 2, None, None, -3, 40, None]
    assert found["number"].to_pylist() == numbers
    assert found.schema.field("number").type == pa.int64()
    assert found["share"].to_pylist() == [0.5, 1000.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert found["written"].to_pylist() == TABLE["written"].to_pylist()
    assert found["text"].to_pylist() == TEXT
    assert found["pair"].to_pylist() == [[1, 2]] * 7
    lines = (tmp_path / "t.jsonl").read_text("utf-8").split("\n")
    assert (tmp_path / "t.NDJSON").read_text("utf-8").split("\n") == lines
    rows = [json.loads(line, parse_constant=pytest.fail) for line in lines[:-1]]
    assert [row["text"] for row in rows] == TEXT
    assert [row["number"] for row in rows] == numbers
    assert [row["value"] for row in rows] == [0.1, None, None, None, 1e300, -0.0, 2.0]
    assert rows[0]["day"] == "2024-01-31"
    assert (tmp_path / "none.csv").read_text() == ",".join(TABLE.column_names) + "\n"
    assert pq.read_table(tmp_path / "none.parquet").num_rows == 0
    assert (tmp_path / "none.jsonl").read_text() == ""


@pytest.mark.parametrize("name", ["t.xlsx", "t", ".csv.gz", "csv", "-"])
def test_other_endings_are_refused(tmp_path, name):
    said = r"--export: expected a name that ends in one of \.csv, \.parquet, .*, got "
    with pytest.raises(InputError, match=said):
        check_ending(tmp_path / name, "--export")
