"""Tables as files of other programs."""

import csv
import datetime
import json

import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kernbrook.cli.output import check_ending, write_table
from kernbrook.errors import InputError

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


def test_csv(tmp_path):
    """As the table has it, for any reader of CSV."""
    path = tmp_path / "t.csv"
    write_table(TABLE, path, NUMBERS)
    with open(path, encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == TABLE.column_names
    assert [row[1] for row in rows] == [text or "" for text in TEXT]
    assert [row[2] for row in rows] == ["1", " 2", "", "NA", "-3", "40", ""]
    assert rows[0][3:] == ["0.50", "1.200,5", "0.1", "2024-01-31", "[1, 2]"]
    assert len(pandas.read_csv(path)) == 7


def test_parquet(tmp_path):
    """Columns of numbers are numbers, where all of their values are."""
    write_table(TABLE, tmp_path / "t.parquet", NUMBERS)
    found = pq.read_table(tmp_path / "t.parquet")
    assert found["number"].to_pylist() == [1, 2, None, None, -3, 40, None]
    assert found.schema.field("number").type == pa.int64()
    assert found["share"].to_pylist() == [0.5, 1000.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert found["written"].to_pylist() == TABLE["written"].to_pylist()
    assert found["text"].to_pylist() == TEXT
    assert found["pair"].to_pylist() == [[1, 2]] * 7


def test_json_lines(tmp_path):
    for ending in (".jsonl", ".NDJSON"):
        write_table(TABLE, tmp_path / f"t{ending}", NUMBERS)
        lines = (tmp_path / f"t{ending}").read_text("utf-8").split("\n")
        rows = [json.loads(line, parse_constant=pytest.fail) for line in lines[:-1]]
        assert [row["text"] for row in rows] == TEXT
        assert [row["number"] for row in rows] == [1, 2, None, None, -3, 40, None]
        assert [row["value"] for row in rows] == [0.1, None, None, None, 1e300, -0.0, 2.0]
        assert rows[0]["day"] == "2024-01-31"


def test_no_rows(tmp_path):
    for name in ("t.csv", "t.parquet", "t.jsonl"):
        write_table(TABLE.slice(0, 0), tmp_path / name, NUMBERS)
    assert (tmp_path / "t.csv").read_text() == ",".join(TABLE.column_names) + "\n"
    assert pq.read_table(tmp_path / "t.parquet").num_rows == 0
    assert (tmp_path / "t.jsonl").read_text() == ""


@pytest.mark.parametrize("name", ["t.xlsx", "t", ".csv.gz", "csv", "-"])
def test_other_endings_are_refused(tmp_path, name):
    said = r"--export: expected a name that ends in one of \.csv, \.parquet, .*, got "
    with pytest.raises(InputError, match=said):
        check_ending(tmp_path / name, "--export")
    with pytest.raises(InputError, match=r"^path: expected a name"):
        write_table(TABLE, tmp_path / name)
    assert not list(tmp_path.iterdir())
