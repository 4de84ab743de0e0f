"""What `kernbrook predict` writes besides labels, and what it says of how good they are."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn import metrics as theirs

import kernbrook as kb
from kernbrook.evaluation import predict_stream, predict_table
from kernbrook.evaluation.predicting import with_threshold

FAST = {"kernels": [kb.Linear(), kb.Gaussian(sigma=1)], "random_state": 0}


def drawn(n=900, seed=0, shift=0.0):
    """Rows, and for each how likely it is late."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(3)
    return X, rng.uniform(size=n) < 1 / (1 + np.exp(-2 * X[:, 0] - shift))


def write(path, X, labels=None, label="kind"):
    with open(path, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow([*"abc", *([] if labels is None else [label])])
        for i, row in enumerate(X):
            rows.writerow([*row, *([] if labels is None else [labels[i]])])


def found_in(path):
    return json.loads(Path(path).read_text())


def read(text):
    header, *rows = csv.reader(text.splitlines())
    return header, list(zip(*rows, strict=True))


@pytest.fixture
def classes(kernbrook, tmp_path):
    """A model of two classes in `m`, and rows that it has not seen in `new.csv`."""
    X, late = drawn()
    y = np.where(late, "late", "on, time")
    model = kb.OnlineMKClassifier(learner=kb.BPAS(20), **FAST).fit(X[:600], y[:600])
    kb.save(model, tmp_path / "m")
    write(tmp_path / "new.csv", X[600:], y[600:])
    write(tmp_path / "bare.csv", X[600:])
    model.delay = np.inf  # it learns no more
    return model, X[600:], y[600:]


@pytest.fixture
def numbers(kernbrook, tmp_path):
    """A model of numbers in `n`, and rows that it has not seen in `numbers.csv`."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(900, 3)).round(3)
    y = (X[:, 0] + rng.normal(size=900)).round(3)
    model = kb.OnlineMKRegressor(learner=kb.Ridge(), **FAST).fit(X[:600], y[:600])
    kb.save(model, tmp_path / "n")
    write(tmp_path / "numbers.csv", X[600:], y[600:])
    model.delay = np.inf
    return model, X[600:], y[600:]


# -- columns -------------------------------------------------------------------------------------


def test_probabilities(kernbrook, classes):
    model, X, _ = classes
    code, out, err = kernbrook("predict", "m", "bare.csv", "--proba")
    assert (code, err) == (0, "")
    header, (said, *chances) = read(out)
    assert header == ["prediction", "late", "on, time"]
    assert list(said) == model.predict(X).tolist()
    np.testing.assert_array_equal(np.array(chances, dtype=float).T, model.predict_proba(X))
    code, out, _ = kernbrook("predict", "m", "bare.csv", "--proba", "--scores")
    header, columns = read(out)
    assert header == ["prediction", "score of on, time", "late", "on, time"]
    np.testing.assert_array_equal(np.array(columns[1], dtype=float), model.decision_function(X))


def test_many_classes_one_of_them_called_as_a_column(kernbrook, tmp_path):
    X, _ = drawn(300)
    y = np.array(["prediction", "x", "y"])[np.arange(300) % 3]
    model = kb.OnlineMKClassifier([kb.Linear()], kb.BPAS(10), random_state=0).fit(X, y)
    kb.save(model, tmp_path / "m")
    write(tmp_path / "bare.csv", X)
    _, out, _ = kernbrook("predict", "m", "bare.csv", "--proba")
    assert read(out)[0] == ["prediction", "probability of prediction", "x", "y"]


def test_intervals(kernbrook, numbers):
    model, X, y = numbers
    code, out, err = kernbrook("predict", "n", "numbers.csv", "--interval", "0.7")
    assert code == 0
    header, columns = read(out)
    assert header == ["prediction", "low", "high"]
    said, low, high = np.array(columns, dtype=float)
    np.testing.assert_array_equal(said, model.predict(X))
    np.testing.assert_array_equal(np.stack([low, high], 1), model.predict_interval(X, 0.7))
    assert "covered, of 70 %" in err
    assert f"{100 * np.mean((low <= y) & (y <= high)):.2f}" in err
    _, out, err = kernbrook("predict", "n", "numbers.csv")
    assert [float(line) for line in out.split()] == said.tolist()
    assert "covered, of 90 %" in err  # judged, though not written


def test_parquet_of_many_rows_and_of_labels_that_no_type_holds(kernbrook, tmp_path, monkeypatch):
    X, late = drawn(3000)
    large = [2**70 if one else 7 for one in late]
    kb.save(kb.OnlineMKClassifier([kb.Linear()], kb.BPAS(10)).fit(X, large), tmp_path / "m")
    write(tmp_path / "bare.csv", X)
    monkeypatch.setattr("kernbrook.cli.output.ROWS", 1500)
    assert kernbrook("predict", "m", "bare.csv", "--output", "out.parquet")[0] == 0
    table = pq.ParquetFile("out.parquet")
    assert (table.metadata.num_rows, table.metadata.num_row_groups) == (3000, 2)
    assert set(table.read()["prediction"].to_pylist()) == {str(2**70), "7"}


# -- thresholds ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"), [("0.9", 0.9), ("f1", "f1"), ("[[0, 1], [9, 0]]", [[0, 1], [9, 0]])]
)
def test_thresholds(kernbrook, classes, tmp_path, text, value):
    model, X, _ = classes
    before = (tmp_path / "m").read_bytes()
    plain = kernbrook("predict", "m", "bare.csv")[1]
    _, out, _ = kernbrook("predict", "m", "bare.csv", "--threshold", text)
    expected = kb.load("m").set_params(threshold=value, delay=np.inf)
    assert out.splitlines() == expected.predict(X).tolist()
    assert out != plain
    assert (tmp_path / "m").read_bytes() == before
    kb.save(expected, tmp_path / "own")  # a threshold of its own is kept, unless another is given
    assert kernbrook("predict", "own", "bare.csv")[1] == out
    assert kernbrook("predict", "own", "bare.csv", "--threshold", "none")[1] == plain
    _, columns = read(kernbrook("predict", "own", "bare.csv", "--scores")[1])
    assert list(columns[0]) == out.splitlines()
    said = with_threshold(model, value)
    np.testing.assert_array_equal(said.predict(X), expected.predict(X))
    assert model.threshold is None


# -- measures ------------------------------------------------------------------------------------


def test_measures_of_classes(kernbrook, classes):
    model, X, y = classes
    code, out, err = kernbrook("predict", "m", "new.csv", "--json", "found.json")
    assert code == 0
    found = found_in("found.json")
    assert found["n_rows"] == len(out.splitlines()) == 300
    own = found["measures"]["model"]
    chances = model.predict_proba(X)
    assert own["error"] == pytest.approx(100 * np.mean(model.predict(X) != y))
    assert own["log_loss"] == pytest.approx(theirs.log_loss(y, chances))
    assert own["auc"] == pytest.approx(theirs.roc_auc_score(y, chances[:, 1]), abs=5e-4)
    learned = found["measures"]["rules"]["learned"]
    assert learned["error"] == pytest.approx(100 * np.mean(y != learned["says"]))
    assert err.startswith(f"error {own['error']:.2f} % on 300 labelled rows")


def test_a_frozen_model_that_is_worse_than_a_constant(kernbrook, tmp_path):
    """What was often late is seldom late the month after: said in words, as in JSON."""
    X, late = drawn(1500, shift=1.0)
    model = kb.OnlineMKClassifier(learner=kb.BPAS(20), **FAST)
    kb.save(model.fit(X, np.where(late, "late", "none")), tmp_path / "january")
    X, late = drawn(1500, seed=1, shift=-3.0)
    write(tmp_path / "february.csv", X, np.where(late, "late", "none"))
    code, _, err = kernbrook("predict", "january", "february.csv", "--json", "found.json")
    found = found_in("found.json")["measures"]
    assert code == 0
    # The label learned most often is "late"; in these rows the other one is.
    assert found["rules"]["learned"]["says"] == "late"
    assert found["model"]["error"] > found["rules"]["majority"]["error"] + 3
    said = "No better than always saying the label seen most often so far in these rows: error"
    assert found["no_better"].startswith(said)
    assert found["no_better"] in err


def test_rows_that_the_model_has_learned(kernbrook, tmp_path):
    """Errors on these say little; it is said, also where other rows follow, or gaps were filled."""
    X, late = drawn(300)
    y = np.where(late, "late", "on, time")
    table = X.astype(object)
    table[[4, 30], [0, 2]] = ""
    write(tmp_path / "one.csv", table[:200], y[:200])
    write(tmp_path / "all.csv", table, y)
    write(tmp_path / "other.csv", table[1:], y[1:])
    write(tmp_path / "bare.csv", table[:200])
    options = ["--recipe", "bpas", "--missing", "mean"]
    for more in ([], ["--table", "positive=late"]):
        assert kernbrook("train", "one.csv", "--model", "m", "--overwrite", *options, *more)[0] == 0
        said = "rows are those of 'one', which m has learned: of new rows it knows less"
        for name, told in (
            ("one", f"one: its 200 {said}"), ("all", f"all: its first 200 {said}"),
            ("other", ""), ("bare", ""),
        ):  # fmt: skip
            code, _, err = kernbrook("predict", "m", f"{name}.csv", "--output", "said")
            assert (code, told in err, "has learned" in err) == (0, True, told != "")


# -- what is refused -------------------------------------------------------------------------------


def test_what_is_refused(kernbrook, classes, numbers, tmp_path):
    kb.save(kb.VotedKernelClassifier([kb.Linear()]).fit(classes[1], classes[2]), tmp_path / "voted")
    (tmp_path / "wide.svm").write_text("1 1:1 4:2\n")
    (tmp_path / "odd.csv").write_text("a,b,c\n1,2,oops\n")
    (tmp_path / "foreign").write_bytes(b"something else")
    kb.save(kb.recipes.make("spa"), tmp_path / "fresh")
    for arguments, said in (
        (["m", "new.csv", "--interval", "0.9"], "interval: OnlineMKClassifier has none; proba"),
        (["n", "numbers.csv", "--scores"], "scores: OnlineMKRegressor has none; interval"),
        (["voted", "new.csv", "--proba"], "proba: VotedKernelClassifier has none"),
        (["n", "numbers.csv", "--interval", "nan"], "interval: expected a number in (0, 1)"),
        (["voted", "new.csv", "--threshold", "0.5"], "threshold: VotedKernelClassifier takes none"),
        (["m", "new.csv", "--threshold", "f2"], "'f1' or a matrix of costs, got 'f2'"),
        (["m", "new.csv", "--threshold", "[[0, 1]]"], "threshold: expected finite costs, (2, 2)"),
        (["m", "new.csv", "--json", "-"], "--output, --json: expected one of them at standard"),
        (["m", "new.csv", "--output", "o", "--json", "o"], "expected two files, got o twice"),
        (["m", "new.csv", "--json", "m"], "--json: m is read by this command"),
        (["m", "new.csv", "--json", "absent/j"], "there is no folder"),
        (["m", "wide.svm"], "wide.svm, line 1: found '4:"),
        (["m", "wdbc"], "wdbc: expected 3 features, found 30"),
        (["absent", "new.csv"], "absent: there is no such file"),
        (["foreign", "new.csv"], "foreign: empty, damaged or not a saved model"),
        (["fresh", "new.csv"], "fresh: a model that has not learned anything"),
        (["m", "new.csv", "--label", "sort"], "unknown column 'sort': known: a, b, c, kind"),
        (["m", "odd.csv"], "odd.csv, line 2: column 'c': expected a number, found 'oops'"),
    ):
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        code, out, err = kernbrook("predict", *arguments)
        assert (code, out) == (1, "")
        assert said in err
        assert len(err.splitlines()) == 1
        assert before == {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert kernbrook("predict", "n", "numbers.csv", "--interval", "x")[0] == 2


# -- from Python -----------------------------------------------------------------------------------


def test_streams_and_tables(classes, tmp_path):
    model, X, y = classes
    ((labels, chances),) = predict_stream(model, (X, y), proba=True)
    np.testing.assert_array_equal(labels, model.predict(X))
    np.testing.assert_array_equal(chances, model.predict_proba(X))
    table = pa.table(dict(zip("abc", X.T, strict=True)))
    kb.save(model, tmp_path / "free")
    found = predict_table(tmp_path / "free", table, proba=True)
    assert found.column_names == ["prediction", "late", "on, time"]
    np.testing.assert_array_equal(found["late"].to_numpy(), chances[:, 0])
    none = predict_table(tmp_path / "free", table.slice(0, 0), proba=True)
    assert (none.num_rows, none.schema) == (0, found.schema)
    chunks = [*predict_stream(model, kb.open_stream((np.tile(X, (8, 1)), np.tile(y, 8))))]
    assert [len(labels) for labels, _ in chunks] == [1024, 1024, 352]
    np.testing.assert_array_equal(np.concatenate([c[0] for c in chunks]), np.tile(labels, 8))
    with pytest.raises(kb.errors.InputError, match="expected one of them at most"):
        next(predict_stream(model, (X, y), proba=True, interval=0.5))
    with pytest.raises(kb.errors.ModelFileError, match="there is no such file"):
        predict_table(tmp_path / "absent", table)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_columns_that_are_kept(kernbrook, tmp_path, kind):
    """Known and unknown ones, also beside rows that are left out."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, -1.0] * 20, "id": [f"00{i}" for i in range(40)]})
    frame.assign(late=["yes", "no"] * 20).to_csv("old.csv", index=False)
    options = ["--label", "late", "--table", "drop=id", "--recipe", "bpas"]
    assert kernbrook("train", "old.csv", "--model", "m", *options)[0] == 0
    getattr(frame, f"to_{kind}")(f"new.{kind}", index=False)
    command = ["predict", "m", f"new.{kind}", "--keep", "id", "--keep", "a"]
    code, out, _ = kernbrook(*command)
    assert (code, out.splitlines()[:2]) == (0, ["id,a,prediction", "000,1.0,yes"])
    assert [line.split(",")[0] for line in out.splitlines()[1:]] == frame["id"].tolist()
    assert "unknown column 'x'" in kernbrook("predict", "m", f"new.{kind}", "--keep", "x")[2]
    assert kernbrook(*command, "--output", "said.parquet")[0] == 0
    assert pandas.read_parquet("said.parquet")["id"].tolist() == frame["id"].tolist()
    if kind == "csv":  # a number that is none, and no row at all
        lines = (tmp_path / "new.csv").read_text().replace("1.0,002", "many,002")
        (tmp_path / "new.csv").write_text(lines.replace("-1.0,003", "-1.0"))
        code, out, _ = kernbrook(*command, "--on-bad-rows", "skip")
        kept = [line.split(",")[0] for line in out.splitlines()[1:]]
        assert (code, kept[:5]) == (0, ["000", "001", "", "", "004"])


def test_labels_of_another_kind_cost_no_predictions(kernbrook):
    """Numbers, where the positive label is text: nothing says how good the predictions are."""
    lines = [f"{i % 7},{i % 5}," for i in range(40)]
    for name, labels in (("old", ["yes", "no"]), ("new", ["1", "0"])):
        rows = [line + labels[i % 3 > 0] for i, line in enumerate(lines)]
        Path(f"{name}.csv").write_text("\n".join(["a,b,late", *rows]) + "\n")
    begun = "train", "old.csv", "--model", "m", "--recipe", "majority", "--table", "positive=yes"
    assert kernbrook(*begun)[0] == 0
    code, out, err = kernbrook("predict", "m", "new.csv")
    assert (code, len(out.splitlines()), err) == (0, 40, "")
