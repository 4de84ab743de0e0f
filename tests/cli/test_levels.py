"""`train` and `predict` say what came that is no declared level, and which levels never came."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROWS = {
    "net": ["DSL", "Fiber optic", "DSL", None, "No", "DSL"],
    "c": [1, 2, 1, 2, 1, 2],
    "y": ["n", "y", "n", "y", "n", "y"],
}
TOLD = (
    "'net': other values than the declared levels in 2 of 5 rows (40.0 %), such as 'Fiber optic', "
    "'No'; 'Fiber' (is it 'Fiber optic'?) never came\n"
)
OPTIONS = ["--categorical", "net=DSL,Fiber", "--categorical", "c=1,2", "--missing", "last"]
TRAIN = ["train", "t.parquet", "--model", "m", "--recipe", "majority", *OPTIONS]


@pytest.fixture
def rows(kernbrook):
    pq.write_table(pa.table(ROWS), "t.parquet")


def test_others_are_said(kernbrook, rows):
    code, out, err = kernbrook(*TRAIN, "--json", "-")
    assert (code, err.count(TOLD)) == (0, 1)
    told = {one.pop("column"): one for one in json.loads(out)["level_counts"]}
    assert told["net"] == {
        "levels": ["DSL", "Fiber"], "counts": [3, 0], "others": 2,
        "first_others": ["Fiber optic", "No"],
    }  # fmt: skip
    assert told["c"]["counts"] == [3, 3]
    assert kernbrook("predict", "m", "t.parquet")[2].count(TOLD) == 1
    pq.write_table(pa.table({**ROWS, "net": ["DSL"] * 6}), "u.parquet")
    assert (
        "net" not in kernbrook("predict", "m", "u.parquet")[2]
    )  # need not come where one predicts


def test_rows_that_were_appended_are_counted_with_the_others(kernbrook, rows):
    assert kernbrook(*TRAIN)[0] == 0
    pq.write_table(pa.concat_tables([pa.table(ROWS)] * 2), "t.parquet")
    assert "in 4 of 10 rows (40.0 %)" in kernbrook(*TRAIN, "--resume")[2]


def test_labels_in_other_letters_are_the_model_s(kernbrook):
    """A model of true, false and maybe meets rows that have true and false alone."""
    a = list(range(12))
    three = pa.table({"a": a, "y": ["true", "false", "maybe"] * 4})
    two = pa.table({"a": a, "y": [True, False] * 6})
    pq.write_table(three, "t.parquet")
    pq.write_table(two, "u.parquet")
    assert kernbrook("train", "t.parquet", "--model", "m", "--recipe", "majority")[0] == 0
    assert "on 12 labelled rows" in kernbrook("predict", "m", "u.parquet")[2]
    assert kernbrook("train", "u.parquet", "--model", "n", "--recipe", "majority")[0] == 0
    assert "on 8 labelled rows" in kernbrook("predict", "n", "t.parquet")[2]
    call = ["train", "u.parquet", "--model", "o", "--recipe", "majority", "--classes", "true,false"]
    assert kernbrook(*call)[0] == 0
    assert set(kernbrook("predict", "o", "u.parquet")[1].split()) <= {"True", "False"}
