"""Labels come back as they went in: their values and their type, from every format."""

import shlex
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kernbrook as kb
from kernbrook.cli.options import listed
from kernbrook.errors import DataFileError, DataFileWarning, InputError
from kernbrook.evaluation import compare, open_like, prequential, train
from kernbrook.evaluation.content import RowDigest
from kernbrook.evaluation.measures import Tally
from kernbrook.evaluation.predicting import predict_frozen
from kernbrook.evaluation.recipes_wanted import classes_of, task_of_labels
from kernbrook.streams import open_stream
from kernbrook.streams.stream import FirstRows, LabelledRows, has_label
from kernbrook.streams.tables.labels import as_classes, new_labels

N = 60
X = np.random.default_rng(0).normal(size=N)


def model():
    return kb.OnlineMKClassifier([kb.Linear()], kb.Perceptron(), random_state=0)


def labels(low, high, dtype=object):
    return pd.Series(np.array([high if x > 0 else low for x in X], dtype=object), dtype=dtype)


KINDS = {
    "bool": labels(False, True, bool),
    "objects": labels(False, True),
    "boolean": labels(False, True, "boolean"),
    "digits": labels("0", "1"),
    "codes": labels("01", "02"),
    "words": labels("true", "false"),
    "whole": labels(1, 2, int),
    "floats": labels(1.0, 2.0, float),
    "text": labels("no", "yes"),
}


@pytest.mark.parametrize(
    ("kind", "gaps"),
    [*((kind, i % 2 == 0) for i, kind in enumerate(KINDS)), ("bool", False), ("floats", True)],
)
def test_labels_come_back(kind, gaps, tmp_path):
    frame = pd.DataFrame({"x": X, "y": KINDS[kind]})
    if gaps:
        frame["y"] = frame["y"].astype("Int64" if kind in ("whole", "floats") else object)
        frame.loc[::7, "y"] = None
    there = frame["y"].notna().to_numpy()
    expected = frame["y"][there].to_numpy()
    table = pa.Table.from_pandas(frame)
    pq.write_table(table, tmp_path / "t.parquet")
    for data in (frame, table, pl.from_arrow(table), frame.to_dict("records"),
                 tmp_path / "t.parquet"):  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kb.errors.DataFileWarning)
            fitted = kb.fit_table(data, label="y", model=model())
            found = fitted.predict(data)[there]
            fitted.partial_fit(data)
        assert (found == expected).mean() > 0.8
        wanted = np.array(expected.tolist()).dtype.kind
        assert found.dtype.kind == ("i" if wanted == "f" else wanted)
    kb.save(fitted, tmp_path / "m")
    assert kb.load(tmp_path / "m").predict(frame[:3]).dtype == found.dtype


def text(*cells):
    return "x,y\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells))


@pytest.mark.parametrize(
    ("cells", "expected", "told"),
    [
        (["01", "1", "02"], ["01", "1", "02"], "labels with a 0 before digits, such as '01'"),
        (["TRUE", "false"], [True, False], None),
        (["1", "0"], [1, 0], None),
        (["1.0", "0.0"], [1, 0], None),
        (["007.5", "01"], [7.5, 1], None),
        (["Yes", "no", "yes"], ["Yes", "no", "yes"], "labels 'Yes' and 'yes' are two; write them"),
        (["1", "no", "true"], ["1", "no", "true"], "labels '1' and 'true' are two"),
        (["Y", "T", "yesno"], ["Y", "T", "yesno"], None),
    ],
)
def test_labels_of_csv(write, cells, expected, told):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        y = kb.open_stream(write("t.csv", text(*cells))).read()[1]
    assert y.tolist() == expected
    assert type(y.tolist()[0]) is type(expected[0])
    assert (told is None) == (not said)
    assert told is None or told in str(said[0].message)


@pytest.mark.parametrize(
    "own", [[True, "maybe", False], [1, "a", 2], [1, True, 0], [1, "2", 3]], ids=str
)
def test_labels_of_several_kinds_are_refused(own, write):
    frame = pd.DataFrame({"x": [1.0, 2, 3], "y": pd.Series(own, dtype=object)})
    lines = write("t.jsonl", frame.to_json(orient="records", lines=True))
    for data in (frame, frame.to_dict("records"), lines):
        with pytest.raises((InputError, kb.errors.DataFileError), match="labels of several kinds"):
            kb.fit_table(data, label="y", model=model())


def test_a_label_that_numpy_would_cut_is_refused():
    table = pa.table({"x": [1.0, 2, 3], "y": ["a\0", "a", "b"]})
    with pytest.raises(InputError, match=r"row 0.*ends with the character NUL"):
        kb.open_stream(table, label="y")


@pytest.mark.parametrize("where", ["x", "y", "a\ud800"])
def test_half_of_a_character_is_said(where):
    rows = [{"x": "a", "y": "a"}, {"x": "b", "y": "b"}]
    rows[0][where] = "\ud800"
    frame = {name: pd.Series([row.get(name) for row in rows], dtype=object) for name in ("x", "y")}
    for data in (rows, pd.DataFrame(frame)) if where in "xy" else (rows,):
        with pytest.raises(InputError, match="half of a character"):
            kb.fit_table(data, label="y", model=model(), encoder=kb.TableEncoder(["x"]))


def test_counts_are_said_and_classes_are_not(write):
    rng = np.random.default_rng(0)
    counts = kb.open_stream(write("c.csv", text(*rng.poisson(150, 400))))
    with pytest.warns(kb.errors.DataFileWarning, match="whole numbers are taken as classes"):
        classes_of(counts)
    frame = pd.DataFrame({"x": np.arange(400.0), "y": rng.poisson(150, 400)})
    with pytest.warns(kb.errors.DataFileWarning, match="--recipe kernbrook-regression"):
        kb.fit_table(frame, label="y", model=None, encoder=kb.TableEncoder(drop=None))
    for own in (rng.permutation(5000)[:300], [f"{100 * i}.0" for i in range(30)] * 4):
        assert kb.open_stream(write("c.csv", text(*own))).seem_counts
    for own in (np.arange(400) % 26, rng.integers(0, 10, 400), np.arange(21) * 1000):
        assert not kb.open_stream(write("c.csv", text(*own))).seem_counts


def test_many_whole_numbers_with_a_point_are_numbers(write):
    many = [f"{value}.0" for value in range(1500)]
    stream = kb.open_stream(write("t.csv", text(*many)))
    assert task_of_labels(stream) == "regression"
    assert task_of_labels(kb.open_stream(write("t.csv", text(*many[:900])))) == "classification"
    table = pa.table({"x": np.arange(1500.0), "y": np.arange(1500.0)})
    assert task_of_labels(kb.open_stream(table)) == "regression"
    with pytest.raises(InputError, match="recipes for regression: kernbrook-regression, kl-rbf"):
        classes_of(kb.open_stream(write("t.csv", text(*range(1500)))))


def test_numbers_learn_from_text_of_numbers():
    table = pa.table({"x": X, "y": [f"{x:.0f}" for x in X]})
    numbers = kb.OnlineMKRegressor([kb.Linear()], kb.GradientDescent(), random_state=0)
    assert kb.fit_table(table, label="y", model=numbers).predict(table).dtype == np.float64


@pytest.mark.parametrize(
    ("y", "classes", "expected"),
    [
        ([1.0, 0.0], [False, True], [True, False]),
        ([True, False], [0, 1], [1, 0]),
        ([True, None], ["false", "true"], ["true", None]),
        (["true", None], [False, True], [True, None]),
        ([1.0, 2.0], ["1", "1.0", "2"], ["1", "2"]),
    ],
)
def test_labels_of_other_data(y, classes, expected):
    assert as_classes(np.array(y), np.array(classes)).tolist() == expected


def test_other_labels_than_true_and_false_are_refused():
    for y in (["yes"], [2.0]):
        with pytest.raises(InputError, match="such as False, True, which are true and false"):
            as_classes(np.array(y), np.array([False, True]))


def test_what_is_advised_of_a_label_with_marks_is_read_as_it():
    known = np.array(["no", 'say "a", b'])
    with pytest.raises(InputError) as found:
        new_labels(np.array(['Say "a", b']), known, 0, None)
    words = shlex.split(str(found.value).split("(", 1)[1].split(")")[0])
    assert listed(words[1]) == [*known.tolist(), 'Say "a", b']


# -- rows of a table without a label ---------------------------------------------------------------


MISSING = {
    "whole": ([1, None, 0, None, 1], [1, np.nan, 0, np.nan, 1], [0, 1], np.int64),
    "numbers": (["1.5", "?", "0", "", "1"], [1.5, np.nan, 0, np.nan, 1], [0, 1, 1.5], np.float64),
    "text": (["yes", "", "no", "null", "yes"], ["yes", None, "no", None, "yes"],
             ["no", "yes"], "<U3"),
    "digits": (["1", "", "0", "NA", "1"], ["1", None, "0", None, "1"], ["0", "1"], "<U1"),
    "truth": ([True, None, False, None, True], [True, None, False, None, True],
              [False, True], np.bool_),
}  # fmt: skip


def same(labels, expected):
    without_nan = [[None if one != one else one for one in each] for each in (labels, expected)]
    return without_nan[0] == without_nan[1]


def opened(kind, times=1, **options):
    cells = MISSING[kind][0] * times
    table = pa.table({"a": [float(i) for i in range(len(cells))], "y": cells})
    return open_stream(table, label="y", **options)


@pytest.mark.parametrize("kind", MISSING)
def test_a_label_that_is_missing_is_none_or_nan(kind, assert_chunks_agree):
    _, expected, classes, dtype = MISSING[kind]
    stream = opened(kind)
    X, y = stream.read()
    assert X.tolist() == [[0], [1], [2], [3], [4]]
    assert same(y.tolist(), expected)
    assert (stream.n_rows, stream.n_unlabelled, stream.labelled) == (5, 2, True)
    assert has_label(y).tolist() == [True, False, True, False, True]
    assert stream.classes().tolist() == classes
    assert stream.label_type == np.dtype(dtype)
    for length in (1, 2, 7):
        for _, part in stream.chunks(length):
            assert part.dtype == y.dtype
    if kind in ("whole", "numbers"):
        assert_chunks_agree(stream)


def test_blocks_of_a_long_file_without_a_label_among_them(write, monkeypatch):
    monkeypatch.setattr("kernbrook.streams.bytes.BLOCK_BYTES", 20)
    monkeypatch.setattr("kernbrook.streams.tables.stream._KEPT_BYTES", 0)
    stream = open_stream(write("t.csv", "a,y\n" + "1,\n" * 50 + "2,7\n" * 50 + "3,\n" * 50))
    y = stream.read()[1]
    assert (y.dtype, stream.n_unlabelled) == (np.float64, 100)
    assert y[50:100].tolist() == [7] * 50
    text = open_stream(write("u.csv", "a,y\n" + "1,\n" * 50 + "2,u\n" * 50))
    assert text.read()[1].tolist() == [None] * 50 + ["u"] * 50


def test_no_label_at_all(write):
    path = write("t.csv", "a,label\n1,\n2,NA\n")
    with pytest.raises(DataFileError, match="column 'label': no row has a label"):
        open_stream(path)
    stream = open_like(None, path)  # for who gives labels
    assert not stream.labelled
    assert stream.read()[1].tolist() == [0, 0]
    assert stream.feature_names == ["a"]


@pytest.mark.parametrize("other", ["false", "2"])
def test_the_positive_one_of_true_and_others(write, other):
    path = write("t.csv", text("true", other, "true"))
    assert kb.open_stream(path, positive="true").read()[1].tolist() == [1, -1, 1]
    assert len(kb.open_stream(path).classes()) == 2


def test_the_positive_one(write):
    stream = opened("text", positive="yes")
    y = stream.read()[1]
    assert same(y.tolist(), [1, np.nan, -1, np.nan, 1])
    assert stream.classes().tolist() == [-1, 1]
    assert FirstRows(stream, 2).read()[1].dtype == np.float64
    with pytest.raises(InputError, match=r"positive='maybe' is not a label of table: found '?no"):
        opened("text", positive="maybe").read()


def test_digests_tell_them_from_labels():
    digests = set()
    for labels in (["x", None], ["x", "None"], ["x", "x"]):
        digest = RowDigest()
        digest.update(np.ones((2, 1)), np.array(labels, dtype=object))
        digests.add(digest.hexdigest())
    assert len(digests) == 3
    plain = RowDigest()
    plain.update(np.ones((2, 1)), np.array(["x", "x"]))
    assert plain.hexdigest() in digests


@pytest.mark.parametrize("kind", MISSING)
def test_rows_with_a_label(kind):
    stream = opened(kind)
    with pytest.warns(DataFileWarning, match="table: 2 rows have no label, and are left out"):
        view = LabelledRows.of(stream)
    X, y = view.read()
    _, expected, _, dtype = MISSING[kind]
    assert X.ravel().tolist() == [0, 2, 4]
    assert (y.tolist(), y.dtype) == ([expected[i] for i in (0, 2, 4)], np.dtype(dtype))
    assert (view.n_rows, view.n_unlabelled) == (3, 0)
    assert LabelledRows.of(view) is view


# -- models ----------------------------------------------------------------------------------------


def small():
    return kb.OnlineMKClassifier([kb.Linear()], kb.Perceptron(), random_state=0, scaling=None)


def test_a_model_is_that_of_the_labels(tmp_path):
    """Rounds without a label teach a perceptron nothing; errors are of the rows with one."""
    stream = opened("text", 400)
    result = train(stream, small(), tmp_path / "m")
    assert (result.rows, result.judged, result.n_unlabelled) == (2000, 1200, 800)
    assert result.estimator.labels_asked_ == 1200
    with pytest.warns(DataFileWarning, match="800 rows have no label"):
        alone = train(LabelledRows.of(stream), small(), tmp_path / "n")
    assert result.error == alone.error
    X = np.array([[0.0], [3.0], [7.0]])
    assert result.estimator.predict(X).tolist() == alone.estimator.predict(X).tolist()


def test_what_is_measured_is_measured_where_labels_are():
    stream = opened("text", 100)
    with pytest.warns(DataFileWarning, match="200 rows have no label"):
        record = prequential(small(), stream)
    assert len(record.predictions) == 300
    with pytest.warns(DataFileWarning, match="200 rows have no label"):
        found = compare(stream, recipes=["perceptron"], permutations=1, baselines=None)
    assert len(found.rows[0].runs[0].predictions) == 300


@pytest.mark.parametrize("positive", [None, "yes"])
def test_predictions_are_judged_where_there_are_labels(positive):
    model = small()
    X, y = opened("text", 20).read()
    if positive:
        y = np.where(y == "yes", 1.0, np.where(y == "no", -1.0, np.nan))
    model.learn(X, y, classes=[-1, 1] if positive else ["no", "yes"])
    tally = Tally.of(model, positive, None)
    X, y = opened("text").read()
    said = predict_frozen(model, X)
    tally.add(y, said)
    there = [0, 2, 4]
    wrong = said.predictions[there] != np.array([1, -1, 1] if positive else y[there])
    assert (tally.judged.unlabelled, tally.judged.model.rows) == (2, 3)
    assert tally.judged.values()["model"]["error"] == wrong.mean()
    numbers = opened("numbers")
    regressor = kb.OnlineMKRegressor([kb.Linear()], kb.Ridge()).fit([[1], [2]], [1, 2])
    tally = Tally.of(regressor, None, None)
    X, y = numbers.read()
    tally.add(y, predict_frozen(regressor, X))
    assert (tally.judged.unlabelled, tally.judged.model.rows) == (2, 3)
