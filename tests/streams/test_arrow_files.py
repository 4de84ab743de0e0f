"""Parquet, Arrow and frames: what is no column, what is damaged, and rows that lie elsewhere."""

import datetime
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import kernbrook as kb
from kernbrook.errors import DataFileError, InputError
from kernbrook.streams import open_stream

pandas = pytest.importorskip("pandas")


@pytest.fixture
def frame():
    return pandas.DataFrame(
        {"id": range(100, 140), "a": np.arange(40.0), "b": [1, 2] * 20, "y": ["n", "p"] * 20}
    )


def write_feather(frame, path):
    feather.write_feather(pa.Table.from_pandas(frame), str(path))


def write_arrow(frame, path):
    table = pa.Table.from_pandas(frame)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as out:
        out.write_table(table)


WRITERS = {
    "t.parquet": lambda frame, path: frame.to_parquet(path),
    "t.feather": write_feather,
    "t.arrow": write_arrow,
}


@pytest.mark.parametrize(
    ("name", "index"), [*zip(WRITERS, (["id"], ["id", "b"], ["b", "id"]), strict=True)]
)
def test_the_index_of_pandas_is_no_feature(tmp_path, frame, name, index):
    made = frame.set_index(index)
    WRITERS[name](made, tmp_path / name)
    from_file, from_frame = open_stream(tmp_path / name), open_stream(made)
    assert from_file.feature_names == from_frame.feature_names
    assert "id" not in from_file.feature_names
    np.testing.assert_array_equal(from_file.read()[0], from_frame.read()[0])


def test_an_unnamed_index_without_what_pandas_says_of_it(tmp_path, frame):
    table = pa.Table.from_pandas(frame.set_index(frame.index**2)).replace_schema_metadata(None)
    assert "__index_level_0__" in table.column_names
    pq.write_table(table, tmp_path / "t.parquet")
    assert open_stream(tmp_path / "t.parquet").feature_names == ["id", "a", "b"]


def test_moments_of_spark_in_any_year(tmp_path):
    years = [9999, 2262, 2263, 1677, 1, 1970]
    days = [datetime.datetime(year, 12, 31) for year in years]
    table = pa.table({"when": pa.array(days, pa.timestamp("us")), "y": list(range(6))})
    pq.write_table(table, tmp_path / "t.parquet", use_deprecated_int96_timestamps=True)
    assert pq.ParquetFile(tmp_path / "t.parquet").schema.column(0).physical_type == "INT96"
    encoder = kb.TableEncoder(dates={"when": "days"})
    X, _ = open_stream(tmp_path / "t.parquet", encoder=encoder).read()
    assert X[:, 0].tolist() == [(day - datetime.datetime(1970, 1, 1)).days for day in days]


# -- folders ---------------------------------------------------------------------------------------


def test_a_folder_with_more_parquet_files_below(tmp_path, frame):
    frame.to_parquet(tmp_path / "base.parquet")
    (tmp_path / "_temporary").mkdir()
    (tmp_path / "empty").mkdir()
    assert open_stream(tmp_path).n_rows == 40
    inner = tmp_path / "k=1" / "day=2"
    inner.mkdir(parents=True)
    frame.to_parquet(inner / "part-0.parquet")
    problem = r"Parquet files in a folder of this folder, such as 'k=1/day=2/part-0.parquet'"
    with pytest.raises(DataFileError, match=problem):
        open_stream(tmp_path)
    (tmp_path / "base.parquet").unlink()
    with pytest.raises(DataFileError, match=problem):
        open_stream(tmp_path)


@pytest.mark.parametrize("name", ["more.csv", "part-1.parquet.gz"])
def test_a_folder_with_other_data(tmp_path, frame, name):
    frame.to_parquet(tmp_path / "part-0.parquet")
    (tmp_path / "README.txt").write_text("rows of a test")
    (tmp_path / "notes.md").write_text("rows of a test")
    assert open_stream(tmp_path).n_rows == 40
    (tmp_path / name).write_bytes(b"x")
    with pytest.raises(DataFileError, match=f"and '{name}', which would not be read"):
        open_stream(tmp_path)


@pytest.mark.parametrize(("log", "kind"), [("_delta_log", "Delta Lake"), (".hoodie", "Hudi")])
def test_a_folder_whose_files_are_not_all_valid(tmp_path, frame, log, kind):
    frame.to_parquet(tmp_path / "part-0.parquet")
    (tmp_path / log).mkdir()
    with pytest.raises(DataFileError, match=f"a table of {kind}: {log} says which rows are valid"):
        open_stream(tmp_path)


# -- damage ----------------------------------------------------------------------------------------

CHANGED = """
import random, sys
import kernbrook as kb
from kernbrook.errors import KernbrookError

encoder = kb.TableEncoder({"t": ["a", "bb"], "d": ["a"], "v": 4, "w": ["a"]}, missing="mean")
for path in sys.argv[1:]:
    data, draw, refused = open(path, "rb").read(), random.Random(1), 0
    for _ in range(30):
        changed = bytearray(data)
        for _ in range(draw.choice([1, 4])):
            place = draw.randrange(len(changed))
            changed[place : place + 4] = draw.choice([b"\\xff\\xff\\xff\\x7f", draw.randbytes(4)])
        open(path, "wb").write(changed)
        try:
            kb.open_stream(path, label="y", encoder=encoder.copy()).read()
        except KernbrookError:
            refused += 1
    print(refused)
"""


def test_damaged_files_are_refused(tmp_path):
    """Whatever bytes change: an error with the name of the file, or rows; no other end."""
    words = np.random.default_rng(0).choice(["a", "bb", "ccc"], 500)
    paths = [tmp_path / f"t.{kind}" for kind in ("arrow", "packed", "parquet")]
    for path in paths:
        kind = pa.string() if path.suffix == ".parquet" else pa.string_view()
        table = pa.table({
            "t": words, "d": pa.array(words).dictionary_encode(),
            "v": pa.array(words, pa.large_string()), "w": pa.array(words, kind),
            "y": words, "x": np.arange(500.0),
        })  # fmt: skip
        if path.suffix == ".parquet":
            pq.write_table(table, path)
            continue
        options = pa.ipc.IpcWriteOptions(compression="lz4" if path.suffix == ".packed" else None)
        with pa.ipc.new_file(str(path), table.schema, options=options) as out:
            out.write_table(table, max_chunksize=200)
    call = [sys.executable, "-c", CHANGED, *map(str, paths)]
    ended = subprocess.run(call, capture_output=True, text=True, env=os.environ, timeout=300)
    assert ended.returncode == 0, ended.stderr
    assert len(ended.stdout.split()) == 3
    assert min(map(int, ended.stdout.split())) > 2


# -- frames ----------------------------------------------------------------------------------------


def test_sparse_columns_of_pandas(frame):
    sparse = pandas.get_dummies(frame[["a", "y"]], columns=["y"], sparse=True, dtype=float)
    dense = pandas.get_dummies(frame[["a", "y"]], columns=["y"], dtype=float)
    np.testing.assert_array_equal(kb.TableEncoder().learn(sparse), dense.to_numpy())
    np.testing.assert_array_equal(open_stream(sparse).read()[0], dense.to_numpy()[:, :2])


def test_names_of_columns():
    for frame in (
        pandas.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]),
        pa.table([[1], [2], [3]], names=["a", "b", "a"]),
    ):
        for read in (kb.TableEncoder().fit, open_stream):
            with pytest.raises(InputError, match="two columns are called 'a'"):
                read(frame)
    for index in (pandas.MultiIndex.from_tuples([("a", "b"), ("a", "c")]), [0, 1]):
        with pytest.raises(InputError, match="expected columns named by text, found"):
            kb.TableEncoder().fit(pandas.DataFrame([[1, 2]], columns=index))


def test_values_of_several_kinds():
    from decimal import Decimal

    frame = pandas.DataFrame(
        {
            "large": pandas.Series([2**70, 1, None], dtype=object),
            "mixed": pandas.Series(["x", 1.0, np.float32(0.1)], dtype=object),
            "exact": pandas.Series([Decimal("1.50"), True, "2"], dtype=object),
            "y": [1, 2, 1],
        }
    )
    levels = {"mixed": ["x", "1", "0.1"], "exact": ["1.5", "True", "2"]}
    X, _ = open_stream(frame, encoder=kb.TableEncoder(levels, missing="last")).read()
    assert X[:, 0].tolist() == [2.0**70, 1, 1]
    assert X[:, 1:].tolist() == [row * 2 for row in np.eye(3, 4).tolist()]
    frame["y"] = pandas.Series([1j, "x", [5]], dtype=object)
    with pytest.raises(InputError, match="column 'y': expected numbers or text, found 1j"):
        open_stream(frame, encoder=kb.TableEncoder(levels, missing="last"))
    with pytest.raises(InputError, match="'a': a whole number of thousands of digits, which"):
        kb.fit_table([{"a": 10**5000, "y": "n"}, {"a": 1, "y": "p"}], label="y")
