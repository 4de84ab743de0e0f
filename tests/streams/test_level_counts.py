"""Levels that never came, and values that are none of them, are counted and said."""

from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from pyarrow.parquet import write_table

import kernbrook as kb
from kernbrook.distributed import fit
from kernbrook.errors import DataFileError, DataFileWarning
from kernbrook.evaluation import predict_stream, predict_table, train
from kernbrook.streams import open_stream
from kernbrook.streams.stream import FirstRows
from kernbrook.streams.tables.values import LevelCounts, note_levels

ROWS = {
    "net": ["DSL", "Fiber optic", "DSL", None, "No", "DSL"],
    "c": [1, 2, 1, 2, 1, 2],
    "y": ["n", "y", "n", "y", "n", "y"],
}
ENCODER = kb.TableEncoder({"net": ["DSL", "Fiber"], "c": [1, 2]}, missing="last")
TOLD = (
    "'net': other values than the declared levels in 2 of 5 rows (40.0 %), such as 'Fiber optic', "
    "'No'; 'Fiber' (is it 'Fiber optic'?) never came"
)


def found(counts):
    return {one.column: (one.counts.tolist(), one.others) for one in counts}


EXPECTED = {"net": ([3, 0, 2], ["Fiber optic", "No"]), "c": ([3, 3, 0], [])}


def test_a_stream_counts_levels_of_all_rows():
    stream = open_stream(pa.table(ROWS), encoder=ENCODER)
    assert found(stream.level_counts) == EXPECTED
    assert note_levels(stream.level_counts) == [TOLD]
    stream.read()
    assert found(stream.level_counts) == EXPECTED  # once, however often they are read
    view = open_stream(pa.table(ROWS), encoder=ENCODER, positive="y")
    assert found(view.level_counts) == EXPECTED
    assert open_stream("wdbc").level_counts == ()
    assert FirstRows(stream, 2).level_counts == ()  # it would be another count


def test_what_training_says(tmp_path):
    stream = open_stream(pa.table(ROWS), encoder=ENCODER)
    model = kb.OnlineMKClassifier([kb.Linear()], kb.Perceptron(), random_state=0)
    assert found(train(stream, model, tmp_path / "m").level_counts) == EXPECTED


def test_what_predicting_says(tmp_path):
    path, few = tmp_path / "m", pa.table({**ROWS, "net": ["DSL"] * 6})
    model = kb.OnlineMKClassifier([kb.Linear()], kb.Perceptron(), random_state=0)
    train(open_stream(pa.table(ROWS), encoder=ENCODER), model, path)
    for ask in (lambda table: next(predict_stream(path, table)), partial(predict_table, path)):
        with pytest.warns(DataFileWarning) as told:
            ask(pa.table(ROWS))
        assert [str(one.message).endswith(TOLD) for one in told] == [True]
    list(predict_stream(path, few))  # levels need not come: a warning would be an error
    predict_table(path, few)


@pytest.mark.parametrize(("rounds", "shards"), [(1, 1), (2, 2)])
def test_what_learning_apart_says(tmp_path, rounds, shards):
    """The counts of all row groups, whoever learned them."""
    for i in range(4):
        write_table(pa.table(ROWS), tmp_path / f"{i}.parquet", row_group_size=3)
    model = kb.OnlineMKClassifier([kb.Linear()], kb.BPAS(5), random_state=0)
    with pytest.warns(DataFileWarning) as told:
        fit(model, tmp_path, rounds, shards=shards, encoder=ENCODER)
    (one,) = told
    assert str(one.message).endswith(TOLD.replace("2 of 5", "8 of 20"))


def counts(levels, numbers, others=(), expected=True):
    return LevelCounts("a", tuple(levels), np.array(numbers), list(others), expected)


@pytest.mark.parametrize(
    ("one", "told"),
    [
        (counts("xy", [5, 5, 0]), ""),
        (counts("xy", [10, 0, 0]), "'a': 'y' never came"),
        (counts("xy", [10, 0, 0], expected=False), ""),
        (counts("xy", [500, 500, 2], "z"), ""),  # few, and every level came
        (counts("xy", [500, 490, 10], "z"), "'a': other values .* in 10 of 1,000 rows (1.0 %)"),
        (counts("xy", [999, 0, 1], "z", False), "1 of 1,000 rows (0.1 %), such as 'z'; 'y' never"),
        (counts("xy", [0, 0, 0]), ""),
        (counts("abcdefgh", [1, *[0] * 8]), "'b', 'c', 'd', 'e', 'f' and 2 more never came"),
    ],
)
def test_what_is_told(one, told):
    for part in told.split(" .* "):
        assert part in one.note()
    assert bool(told) == bool(one.note())


def test_of_many_columns_the_first_are_told():
    lines = note_levels([counts("x", [0, 4], "z")] * 25)
    assert len(lines) == 11
    assert lines[-1] == "and so in 15 more columns"


def test_levels_of_a_file_need_not_come(write):
    head = "@relation r\n@attribute k {a,b}\n@attribute n real\n@attribute y {0,1}\n@data\n"
    stream = open_stream(write("t.arff", f"{head}a,1,0\na,2,1\n"))
    assert found(stream.level_counts) == {"k": ([2, 0, 0], [])}
    assert note_levels(stream.level_counts) == []
    with pytest.raises(DataFileError, match=r"line 7: .*'c'"):
        open_stream(write("u.arff", f"{head}a,1,0\nc,2,1\n"))
