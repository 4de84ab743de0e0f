"""One model with its encoder: frames, records and files as they are."""

import copy

import numpy as np
import pandas
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import kernbrook as kb
from kernbrook.errors import DataFileError, DataFileWarning, InputError
from kernbrook.evaluation import predict_stream

LEVELS = kb.TableEncoder({"day": ["mon", "sat", "sun"]}, missing="mean")


def trips(n=300, seed=0):
    rng = np.random.default_rng(seed)
    km, day = rng.normal(size=n), rng.choice(["mon", "sat", "sun"], n)
    late = np.where((km > 0) ^ (day == "sat"), "yes", "no")
    return pa.table({"km": pa.array(km, mask=rng.random(n) < 0.1), "day": day, "late": late})


def small():
    return kb.OnlineMKClassifier(
        [kb.Linear(), kb.Gaussian(sigma=1.0)], kb.Perceptron(), random_state=0
    )


@pytest.fixture(scope="module")
def model():
    return kb.fit_table(trips(), label="late", model=small(), encoder=LEVELS)


def written(table, path):
    from pyarrow import csv, parquet

    (parquet.write_table if path.suffix == ".parquet" else csv.write_csv)(table, path)
    return path


def test_frames_records_and_files_are_the_same(model, tmp_path):
    table = trips(20, 1)
    polars = pytest.importorskip("polars")
    others = [
        table.to_pandas(), polars.from_arrow(table), table.to_pylist(), table.drop(["late"]),
        table.select(["late", "day", "km"]), written(table, tmp_path / "t.csv"),
        str(written(table, tmp_path / "t.parquet")), pandas.DataFrame(table.to_pylist()),
    ]  # fmt: skip
    for verb in ("predict", "predict_proba", "decision_function"):
        expected = getattr(model, verb)(table)
        for other in others:
            np.testing.assert_array_equal(getattr(model, verb)(other), expected)
    one = model.predict_proba(table.to_pylist()[3])
    np.testing.assert_allclose(one, model.predict_proba(table)[3:4], rtol=1e-12)


def test_it_goes_on(tmp_path):
    whole = kb.fit_table(trips(2500), label="late", model=small(), encoder=LEVELS)
    parts = kb.fit_table(
        trips(2500).slice(0, 1100),
        label="late",
        model=small(),
        encoder=LEVELS,
        classes=["no", "yes"],
    )
    kb.save(parts, tmp_path / "m")
    parts = kb.load(tmp_path / "m").partial_fit(trips(2500).slice(1100))
    assert parts.n_rounds_ == whole.n_rounds_ == 2500
    table = trips(40, 2)
    np.testing.assert_array_equal(parts.predict_proba(table), whole.predict_proba(table))
    assert parts.encoder_.described() == whole.encoder_.described()
    assert not hasattr(LEVELS, "columns_")  # the one that was given stays as it is


def test_the_file_is_read_by_the_commands_functions(model, tmp_path):
    kb.save(model, tmp_path / "m")
    (said, _), *_ = predict_stream(tmp_path / "m", trips(20, 1))
    np.testing.assert_array_equal(model.predict(trips(20, 1)), said)
    found = kb.evaluation.go_on(trips(50, 1), tmp_path / "m")
    assert (found.rows, [one.rows for one in found.past]) == (50, [300])
    twin = copy.deepcopy(model).partial_fit(trips(50, 1))
    loaded = kb.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.predict_proba(trips(9)), twin.predict_proba(trips(9)))
    assert isinstance(kb.load(tmp_path / "m"), kb.TableModel)


def test_by_default_columns_are_found():
    with pytest.warns(DataFileWarning, match="'day' is taken as levels: 'mon', 'sat', 'sun'"):
        model = kb.fit_table(trips(60), label="late")
    assert isinstance(model.model, kb.OnlineMKClassifier)
    assert model.model.random_state == 0
    table = trips(60).append_column("when", pa.array(["2024-01-31"] * 60))
    moved = table.select(["when", "km", "day", "late"])
    with pytest.warns(DataFileWarning) as told:
        model = kb.fit_table(moved, label="late")
    (one,) = told  # of all that there is to say, at the line that called
    assert (one.filename, len(one.message.parts)) == (__file__, 2)
    assert str(one.message).startswith("table:\n  'day' is taken as levels: 'mon', 'sat'")
    with pytest.warns(DataFileWarning, match="^table: 'day': other values than") as told:
        model.predict({"km": 1.0, "day": "fri", "when": "2024-02-01"})
    assert told[0].filename == __file__
    numbers = pa.table({"a": [1.0, 2.0, 3.5] * 9, "y": [1.5, 2.0, 3.0] * 9})
    model = kb.fit_table(numbers)
    assert (type(model.model), model.label_) == (kb.OnlineMKRegressor, "y")
    assert model.predict_interval({"a": 2}).shape == (1, 2)
    assert not hasattr(model, "predict_proba")


def test_rows_without_a_label_and_bad_rows(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,late\n" + "1,yes\n2,no\n3,\nmany,yes\n" * 5)
    with pytest.raises(DataFileError, match="line 5: column 'a'"):
        kb.fit_table(path, encoder=kb.TableEncoder(), model=small())
    with pytest.warns(DataFileWarning) as said:
        model = kb.fit_table(path, encoder=kb.TableEncoder(), model=small(), on_bad_rows="skip")
    told = "\n".join(str(one.message) for one in said)
    assert "5 rows without a label" in told
    assert "5 rows left out:" in told
    assert model.n_rounds_ == 15
    assert model.model.labels_asked_ == 10


def test_classes_that_come_later_and_labels_of_another_type(model, tmp_path):
    first = pa.table({"a": [1.0, 2.0] * 10, "y": [0, 1] * 10})
    model = kb.fit_table(first, "y", model=small(), encoder=kb.TableEncoder())
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "1,1.0\n2,0.0\n3,2.0\n")
    told = r"new labels, and the first row of each, from 1: 2 \(row 3\)"
    with pytest.warns(DataFileWarning, match=told):
        model.partial_fit(path)
    assert model.classes_.tolist() == [0, 1, 2]
    with pytest.raises(InputError, match="expected a label such as 0, 1, 2, which are numbers"):
        model.partial_fit(pa.table({"a": [1.0], "y": ["two"]}))
    assert model.n_rounds_ == 23


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ({"yes": "Yes"}, r"row 1: the label 'Yes' is new; is it 'yes'\? Write it so in the data, "
         r"or classes \(--classes no,yes,Yes\) learns it as one more"),
        ({"yes": "YES", "no": "NO"}, "is new; is it '"),
        ({"yes": 1, "no": 0}, "is new; is it '"),
        ({"yes": "late", "no": "ontime"}, "expected labels such as no, yes, found late, ontime"),
    ],
)  # fmt: skip
def test_labels_in_other_writing_are_asked_about(labels, said, tmp_path):
    """As by `train --go-on`; who names all labels closes them."""
    model = kb.fit_table(trips(), label="late", model=small(), encoder=LEVELS)
    frame, before = trips(20, 1).to_pandas(), model.n_rounds_
    frame["late"] = [labels.get(label, label) for label in frame["late"]]
    with pytest.raises(InputError, match=f"^table: .*{said}"):
        model.partial_fit(frame)
    assert model.n_rounds_ == before
    named = ["no", "yes", *map(str, labels.values())]
    with pytest.warns(DataFileWarning, match="new labels, and the first row of each, from 1"):
        model.partial_fit(frame, classes=named)
    kb.save(model, tmp_path / "m")
    model, frame["late"] = kb.load(tmp_path / "m"), "maybe"
    with pytest.raises(
        InputError, match=r"row 1: the label 'maybe' is none of .*, which were named"
    ):
        model.partial_fit(frame)
    assert model.n_rounds_ == before + 20


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (3, r"expected a frame, records such as \[{'a': 1}\], or the path of a table, got 3"),
        (np.eye(3), "expected a frame, records"),
        ("wdbc", "expected a table, and wdbc is none|expected 5 features, found 30"),
        ("nothere.csv", "nothere.csv"),
        ({"km": 1, "day": "sat", "more": 2}, "unknown 'more'"),
        (pa.table({"km": pa.array([], pa.float64()), "day": []}), "no row of data"),
    ],
)
def test_tables_that_are_refused(model, data, problem):
    before = model.n_rounds_
    for verb in ("predict", "partial_fit"):
        with pytest.raises((InputError, DataFileError), match=problem):
            getattr(model, verb)(data)
    assert model.n_rounds_ == before


def test_what_else_is_refused(model, tmp_path):
    with pytest.raises(InputError, match="expected labels to learn from in a column 'late'"):
        model.partial_fit(trips(9).drop(["late"]))
    with pytest.raises(InputError, match="classes were no, yes and are maybe, no"):
        model.partial_fit(trips(9), classes=["no", "maybe"])
    with pytest.raises(
        InputError, match=r"row 3: the label 'yes' is none of maybe, no, which were"
    ):
        kb.fit_table(trips(9), "late", model=small(), encoder=LEVELS, classes=["no", "maybe"])
    with pytest.raises(InputError, match="encoder must be None or a TableEncoder, got 3"):
        kb.fit_table(trips(9), "late", encoder=3)
    with pytest.raises(kb.errors.UnknownNameError, match="unknown column 'lat'"):
        kb.fit_table(trips(9), "lat", encoder=LEVELS)
    from sklearn.linear_model import SGDClassifier

    for other in (SGDClassifier(), kb.VotedKernelClassifier(), "spa"):
        with pytest.raises(InputError, match="model must be one of ours that learns from a stream"):
            kb.fit_table(trips(9), "late", model=other, encoder=LEVELS)
    new = kb.TableModel(small(), LEVELS, "late")
    with pytest.raises(NotFittedError, match="nothing was learned yet"):
        new.predict(trips(9))
    with pytest.raises(InputError, match="learned nothing"):
        kb.save(new, tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.filterwarnings("ignore:table.*:kernbrook.errors.DataFileWarning")
def test_model_and_encoder_are_of_one_moment(monkeypatch):
    """What is raised in the midst of a chunk leaves the encoder of rows that the model knows."""
    table = trips(900)
    model = kb.TableModel(small(), kb.TableEncoder("auto", missing="mean"), "late")
    learn = kb.OnlineMKClassifier.learn

    def stopped(self, X, y, **more):
        learn(self, X[:512], y[:512], **more)
        raise KeyboardInterrupt

    monkeypatch.setattr(kb.OnlineMKClassifier, "learn", stopped)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(table)
    monkeypatch.undo()
    assert model.n_rounds_ == 512
    some = kb.TableModel(small(), kb.TableEncoder("auto", missing="mean"), "late")
    some.partial_fit(table[:512])
    assert model.encoder_.described()["state"] == some.encoder_.described()["state"]
    assert model.predict(table[:3]).shape == (3,)
    model.partial_fit(table.set_column(1, "day", [["sun"] * 900]))  # no other columns than before
    assert model.model.n_features_in_ == 5


def test_the_row_as_it_is_written(tmp_path):
    encoder = kb.TableEncoder({"a": ["None", "gas"]})
    table = pa.table({"a": ["None", "gas"] * 9, "y": [0, 1] * 9})
    stream = kb.open_stream(table, encoder=encoder)
    assert stream.written(0) == {"a": "None"}
    (tmp_path / "t.jsonl").write_text('{"a": "gas"}\n{"a": "gas", "late": 1}\n')
    model = kb.fit_table(table, "y", model=small(), encoder=encoder)
    with pytest.warns(DataFileWarning, match="left out 1 column: 'late'"):
        stream = model._opened(tmp_path / "t.jsonl", ignore_extra=True)
    assert stream.written(1) == {"a": "gas"}


SERVED = {
    "lags": kb.TableEncoder(
        {"day": ["mon", "sat"], "shop": 8, "late": ["no", "yes"]}, ["when"], lags=[1, 3]
    ),
    "words": kb.TableEncoder(drop="shop", dates="when", words={"day": 32}),
}


def served(n, seed):
    """Records, some without keys or values, and their labels."""
    rng = np.random.default_rng(seed)
    rows = [
        {"km": float(rng.normal()), "n": int(rng.integers(9)), "shop": f"s{rng.integers(30)}",
         "day": str(rng.choice(["mon", "sat"])),
         "when": f"2024-01-{rng.integers(1, 29):02}T08:30:00"}
        for _ in range(n)
    ]  # fmt: skip
    labels = ["yes" if row["km"] > 0 else "no" for row in rows]
    rows = [{k: v if rng.random() < 0.9 else None for k, v in row.items()} for row in rows]
    return [{k: v for k, v in row.items() if rng.random() < 0.9} for row in rows], labels


@pytest.mark.parametrize("kind", SERVED)
def test_records_one_by_one_are_a_table(kind, tmp_path):
    encoder = clone(SERVED[kind]).set_params(missing="mean")
    rows, labels = served(120, 0)
    table = [{**row, "late": label} for row, label in zip(rows, labels, strict=True)]
    whole = kb.fit_table(table, label="late", model=small(), encoder=encoder)
    alone = kb.fit_table(table[:60], label="late", model=small(), encoder=encoder)
    for row, label in zip(rows[60:90], labels[60:90], strict=True):
        assert alone.predict_one(row) == alone.learn_one(row, label)
    kb.save(alone, tmp_path / "m")
    alone = kb.load(tmp_path / "m")
    for one in table[90:]:  # the label is in the record
        alone.learn_one(one)
    assert alone.encoder_.described() == whole.encoder_.described()
    for row in served(20, 1)[0]:
        one = pa.Table.from_pylist([{name: row.get(name) for name in whole.encoder_.columns_}])
        expected = whole.model.predict_proba(whole.encoder_.transform(one))[0]
        np.testing.assert_array_equal(alone.predict_proba_one(row), expected)


def test_a_model_may_begin_with_a_record():
    model = kb.TableModel(small(), kb.TableEncoder({"day": 4}, missing="last"), "late")
    model.learn_one({"km": 1.0, "day": "mon"}, "no", classes=["no", "yes"])
    model.learn_one({"day": "sat", "late": "yes"})
    for missing in (None, np.nan, pandas.NA):  # rounds without a label
        model.learn_one({"km": 2.0}, missing)
    assert (model.n_rounds_, model.model.labels_asked_) == (5, 2)
    numbers = kb.TableModel(kb.OnlineMKRegressor([kb.Linear()], random_state=0), kb.TableEncoder())
    assert numbers.learn_one({"a": 1.0}, 2.5) == 0.0
    assert isinstance(numbers.learn_one({"a": 1.0}, np.int64(3)), float)


RECORDS = {
    "x: expected a record such as": lambda model: model.predict_one([1.0]),
    "unknown 'z'; ignore_extra": lambda model: model.learn_one({"km": 1.0, "z": 1}, "no"),
    "none of them is here": lambda model: model.predict_proba_one({"z": 1}),
    "row 0, counted from 0: column 'km': expected a number, found 'x'": lambda model: (
        model.learn_one({"km": "x"}, "no")
    ),
    "the record has a label, too, as 'late'": lambda model: model.learn_one(
        {"km": 1.0, "late": "no"}, "yes"
    ),
    "the label 'Yes' is new; is it 'yes'": lambda model: model.learn_one({"km": 1.0}, "Yes"),
    "expected labels such as no, yes, found maybe alone": lambda model: model.learn_one(
        {"km": 1.0}, "maybe"
    ),
    "NaN|infinity|finite": lambda model: model.learn_one({"km": np.inf}, "no"),
}


@pytest.mark.parametrize("message", RECORDS)
def test_a_record_is_refused_in_the_words_of_a_table(model, message):
    before = model.encoder_.described()
    with pytest.raises(InputError, match=message):
        RECORDS[message](model)
    assert (model.n_rounds_, model.encoder_.described()) == (300, before)


FRAMES = ["pandas", "polars"]


def apart(library, n=120, seed=0):
    """A frame without its labels, and these, by one library, not in the order of its index."""
    frame = trips(n, seed).to_pandas().sample(frac=1, random_state=1)
    if library == "polars":
        frame = pytest.importorskip("polars").from_pandas(frame)
        return frame.drop("late"), frame["late"]
    return frame.drop(columns="late"), frame["late"]


@pytest.mark.parametrize("library", FRAMES)
def test_labels_beside_a_frame_are_a_column_of_it(library):
    frame, labels = apart(library)
    beside = kb.TableModel(small(), LEVELS).fit(frame, labels)
    joined = trips(120).to_pandas().sample(frac=1, random_state=1)
    within = kb.TableModel(small(), LEVELS, "late").fit(joined)
    assert beside.label_ == "late"
    np.testing.assert_array_equal(beside.predict_proba(frame), within.predict_proba(frame))
    expected = np.mean(within.predict(frame) == np.asarray(labels))
    assert beside.score(frame, labels) == within.score(joined) == expected
    again = beside.fit(frame, list(labels))  # it forgets all
    assert (again.label_, again.n_rounds_) == ("label", 120)
    beside.partial_fit(frame, labels)
    assert beside.n_rounds_ == 240


@pytest.mark.parametrize("library", FRAMES)
def test_scikit_learn_takes_it(library):
    from sklearn.inspection import permutation_importance
    from sklearn.model_selection import GridSearchCV, cross_val_score

    frame, labels = apart(library)
    model = kb.TableModel(small(), LEVELS)
    for scoring in (None, "neg_log_loss"):
        scores = cross_val_score(model, frame, labels, cv=2, scoring=scoring, error_score="raise")
        assert scores.min() > (0.6 if scoring is None else -0.7)
    grid = {"model__random_state": [0, 1], "encoder__missing": ["mean", "last"]}
    search = GridSearchCV(model, grid, cv=2, error_score="raise").fit(frame, labels)
    assert search.best_estimator_.score(frame, labels) > 0.7
    assert not hasattr(model, "encoder_")  # scikit-learn has copies
    if library == "polars":  # of which scikit-learn makes an array there
        model.fit(frame, labels)
        with pytest.warns(DataFileWarning, match="an array: its columns are taken as km, day, in"):
            found = permutation_importance(model, frame, labels, n_repeats=2, random_state=0)
        assert found.importances_mean.min() > 0.05


@pytest.mark.parametrize(
    ("table", "labels", "problem"),
    [
        (trips(9), ["no"] * 9, "the table has a column 'late', too; leave it out, or call"),
        (trips(9).drop(["late"]), ["no"] * 8, "y: expected 9 labels, one for each row, got 8"),
        ("t.csv", ["no"], "y: goes with a frame or records"),
        (trips(9).drop(["late"]), None, "unknown column 'late'"),
    ],
)
def test_labels_that_do_not_go_with_a_table(model, table, labels, problem):
    """What was learned before is still there."""
    model = copy.deepcopy(model)
    with pytest.raises((InputError, kb.errors.UnknownNameError), match=problem):
        model.set_params(label="late").fit(table, labels)
    assert model.n_rounds_ == 300
    with pytest.raises(InputError, match="expected labels to compare with, found none"):
        model.score(trips(9).drop(["late"]))
