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
from kernbrook.errors import InputError
from kernbrook.evaluation.recipes_wanted import classes_of, task_of_labels
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


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("kind", KINDS)
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
