"""Tables as people have them: columns at once, text, lags, rows without a label or that are bad."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

import kernbrook as kb

NAMES = "when,day,km,paid,note,late"
TRAIN = ["train", "t.csv", "--model", "m", "--recipe", "perceptron"]


def lines(path, header, rows):
    path.write_text("\n".join([header, *rows]) + "\n")


@pytest.fixture
def trips(tmp_path):
    """Columns of each kind, rows without a label, and some that cannot be read."""
    rng = np.random.default_rng(0)
    rows = []
    for i in range(300):
        day, km = rng.choice(["sat", "sun", "it's"]), rng.gamma(2.0, 3.0)
        note = " ".join(rng.choice(["slow", "fast", "rain", "train", "again"], 6))
        late = "" if i % 100 == 3 else ["no", "yes"][int(km > 6)]
        rows.append(
            f"2024-01-{1 + i % 28:02d} {i % 24:02d}:30,{day},{km:.2f},{km + 1:.2f},{note},{late}"
        )
    lines(tmp_path / "t.csv", NAMES, rows)
    return rows


def test_auto_says_what_it_took(kernbrook, trips, tmp_path):
    options = [
        "--categorical",
        "auto",
        "--dates",
        "auto",
        "--table",
        'words={"note": 64}',
    ]
    code, _, said = kernbrook(*TRAIN, *options, "--json", "found.json")
    assert code == 0
    assert "'day' is taken as levels: \"it's\", 'sat', 'sun'" in said
    assert "'when' is taken as dates: hour, weekday, yearday" in said
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["taken"]["categorical"] == {"day": ["it's", "sat", "sun"]}
    assert (found["rows_without_label"], found["rows_left_out"]) == (3, 0)
    code, out, _ = kernbrook("predict", "m", "t.csv")
    assert (code, len(out.splitlines())) == (0, 300)
    model = kb.load("m").model
    assert model.n_features_in_ == 6 + 4 + 2 + 64
    code, _, said = kernbrook("train", "t.csv", "--model", "m", "--go-on", "--anyway")
    assert code == 0
    assert "taken as" not in said  # it is known


BAD = ["2024-01-01,sat,many,1,rain,no", "2024-01-01,sat", "soon,sat,1,1,rain,no"]


def test_bad_rows_are_left_out_and_counted(kernbrook, trips, tmp_path):
    options = [
        "--categorical",
        "day=sat,sun,it's",
        "--dates",
        "when",
        "--table",
        'drop=["note", "paid"]',
    ]
    kernbrook(*TRAIN, *options)
    whole = (tmp_path / "m").read_bytes()
    lines(
        tmp_path / "t.csv", "when,day,km,paid,note,late", [*BAD, *trips[:150], *BAD, *trips[150:]]
    )
    code, _, said = kernbrook(*TRAIN, *options, "--overwrite")
    assert code == 1
    assert (tmp_path / "m").read_bytes() == whole
    code, _, said = kernbrook(
        *TRAIN, *options, "--overwrite", "--table", "on_bad_rows=skip", "--json", "j"
    )
    assert code == 0
    assert "6 rows left out:" in said
    assert said.count("t.csv, line ") == 5
    found = json.loads((tmp_path / "j").read_text())
    assert (found["n_rows"], found["rows_left_out"], len(found["first_left_out"])) == (300, 6, 5)
    X = np.random.default_rng(0).normal(size=(9, kb.load("m").n_features_in_))
    (tmp_path / "whole").write_bytes(whole)
    np.testing.assert_array_equal(
        kb.load("m").model.decision_function(X), kb.load("whole").model.decision_function(X)
    )


@pytest.mark.parametrize("more", [[], ["--proba"]])
def test_predictions_stand_beside_their_rows(kernbrook, tmp_path, more):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 2))
    rows = [f"{a},{b},{'yes' if a > b else 'no'}" for a, b in X]
    lines(tmp_path / "t.csv", "a,b,label", rows)
    kernbrook("train", "t.csv", "--model", "m", "--recipe", "bpas")
    bad = ["x,1", "1", *(f"{a},{b}" for a, b in X[:3]), "1,2,3", f"{X[3][0]},{X[3][1]}", "y,z"]
    lines(tmp_path / "new.csv", "a,b", bad)
    lines(tmp_path / "good.csv", "a,b", [f"{a},{b}" for a, b in X[:4]])
    assert kernbrook("predict", "m", "new.csv", *more)[0] == 1
    code, out, said = kernbrook("predict", "m", "new.csv", "--on-bad-rows", "skip", *more)
    assert code == 0
    assert "4 rows left out:" in said
    _, good, _ = kernbrook("predict", "m", "good.csv", *more)
    header, good = good.splitlines()[: bool(more)], good.splitlines()[bool(more) :]
    empty = "," * (good[0].count(","))
    expected = [empty, empty, *good[:3], empty, good[3], empty]
    assert out.splitlines() == [*header, *expected]
    kernbrook("predict", "m", "new.csv", "--on-bad-rows", "skip", *more, "--output", "p.parquet")
    table = pq.read_table(tmp_path / "p.parquet")
    said = ["" if one is None else one for one in table["prediction"].to_pylist()]
    assert said == [line.split(",")[0] for line in expected]
    assert table.num_rows == 8


@pytest.mark.parametrize("recipe", ["majority", "last-value"])
def test_baselines_pass_over_rows_without_a_label(kernbrook, tmp_path, recipe):
    """The first row, too, and where no row of a day has one of the two labels."""
    lines(tmp_path / "t.csv", "a,label", ["1,", "2,3", "3,", "4,5", "5,5"])
    lines(tmp_path / "next.csv", "a,label", ["6,5", "7,"])
    code, _, said = kernbrook(*TRAIN[:-1], recipe)
    assert (code, "2 rows without a label" in said) == (0, True)
    assert kernbrook("train", "next.csv", "--model", "m", "--go-on")[0] == 0
    model = kb.load("m").model
    assert (model.n_rounds_, model.labels_asked_) == (7, 4)
    assert kernbrook("compare", "t.csv", "--recipes", recipe, "--jobs", "1")[0] == 0
