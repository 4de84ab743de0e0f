"""Arrays that NumPy would make numbers of: moments, masked values, text; and True as a seed."""

import datetime

import numpy as np
import pandas as pd
import plain
import pyarrow as pa
import pytest

import kernbrook as kb
from kernbrook.errors import InputError
from kernbrook.estimators.base import good_rows
from kernbrook.evaluation import prequential

N = 6
Y = np.arange(N) % 2
DAYS = np.datetime64("2024-01-01", "ns") + np.arange(N) * np.timedelta64(1, "D")
OBJECTS = np.array([[np.timedelta64(i, "s"), 1.0] for i in range(N)], dtype=object)
MOMENTS = {
    "datetime64": DAYS[:, None],
    "timedelta64": (DAYS - DAYS[0])[:, None],
    "objects": OBJECTS,
    "dates": [[datetime.date(2024, 1, 1 + i)] for i in range(N)],
    "frame": pd.DataFrame({"a": np.arange(N), "when": DAYS}),
    "zoned": pd.DataFrame({"when": pd.to_datetime(DAYS).tz_localize("UTC")}),
    "of arrow": pd.DataFrame({"when": pd.array(DAYS, dtype=pd.ArrowDtype(pa.timestamp("ns")))}),
    "period": pd.DataFrame({"when": pd.period_range("2024", periods=N, freq="D")}),
    "pyarrow, encoded": pa.table({"when": pa.array(DAYS).dictionary_encode()}),
}


def models():
    yield plain.classifier()
    yield plain.regressor()
    yield kb.KernelFeatures(kb.Gaussian(sigma=1), kb.RandomFeatures(8))
    yield kb.VotedKernelClassifier()


@pytest.mark.parametrize("name", MOMENTS)
def test_moments_are_no_numbers(name):
    X = MOMENTS[name]
    for model in models():
        with pytest.raises(InputError, match=r"^X: .*expected numbers, found"):
            model.fit(X, Y)
    numbers = np.zeros((N, len(np.asarray(X)[0])))
    model = plain.classifier().fit(numbers, Y)
    for verb in ("predict", "decision_function", "should_ask"):
        with pytest.raises(InputError, match=r"^X: .*expected numbers, found"):
            getattr(model, verb)(X)
    with pytest.raises(InputError, match=r"^X: .*expected numbers, found"):
        plain.classifier().learn(X, Y)
    assert model.n_rounds_ == N


def test_a_model_that_looks_at_no_features_refuses_moments_too():
    with pytest.raises(InputError, match=r"^X: expected numbers, found datetime64"):
        kb.recipes.make("majority").fit(MOMENTS["datetime64"], Y)
    with pytest.raises(InputError, match=r"column 'when'.*datetime64.*TableEncoder\(dates="):
        plain.classifier().fit(MOMENTS["frame"], Y)


def test_moments_elsewhere():
    work = [
        lambda: plain.classifier().learn_one(DAYS[:2], 1, classes=[0, 1]),
        lambda: plain.classifier().fit(np.eye(N), DAYS),
        lambda: plain.regressor().fit(np.eye(N), DAYS - DAYS[0]),
        lambda: plain.classifier().fit(np.eye(N), Y, sample_weight=DAYS - DAYS[0] + 1),
        lambda: kb.open_stream((OBJECTS, Y)),
        lambda: kb.open_stream((np.eye(N), DAYS)),
        lambda: prequential(plain.classifier(), DAYS[:, None], Y),
        lambda: kb.distributed.fit(plain.classifier(), (DAYS[:, None], Y)),
        lambda: plain.classifier(on_bad_rows="skip").fit(OBJECTS, Y),
        lambda: kb.LateLabels(plain.classifier()).learn(DAYS[:, None], Y),
    ]
    for one in work:
        with pytest.raises((InputError, AttributeError), match="expected numbers"):
            one()


MASKED = np.ma.array(np.arange(2.0 * N).reshape(N, 2), mask=np.eye(N, 2))


def test_what_is_masked_is_not_there():
    for model in (plain.classifier(), plain.regressor(), kb.KernelFeatures()):
        with pytest.raises(ValueError, match="NaN"):
            model.fit(MASKED, Y)
    for verb in ("learn", "partial_fit"):
        with pytest.raises(ValueError, match="NaN"):
            getattr(plain.classifier(), verb)(MASKED, Y)
    for x in (MASKED[0], np.ma.array([1, 2], mask=[True, False])):
        with pytest.raises(ValueError, match="NaN"):
            plain.classifier().learn_one(x, 1, classes=[0, 1])
    with pytest.raises(InputError, match="X has nan at row 0, column 0"):
        kb.open_stream((MASKED, Y))
    assert good_rows(MASKED).tolist() == [False, False, True, True, True, True]
    model = plain.classifier(on_bad_rows="skip").fit(MASKED, Y)
    assert (model.n_rows_skipped_, model.n_rounds_) == (2, 4)


@pytest.mark.parametrize("kind", [np.int64, "U3"])
def test_a_masked_label_is_none(kind):
    y = np.ma.array([0, 1, 5, 0, 1, 0], mask=[0, 0, 1, 0, 0, 0]).astype(kind)
    model = plain.classifier()
    _, asked = model.learn(np.eye(N), y)
    assert asked.tolist() == [True, True, False, True, True, True]
    assert model.classes_.tolist() == np.array([0, 1]).astype(kind).tolist()
    with pytest.raises(InputError, match="y: row 2 has no label"):
        plain.classifier().fit(np.eye(N), y)


@pytest.mark.parametrize(
    "X",
    [
        [["a", 1]] * N,
        pd.DataFrame({"a": ["x"] * N, "b": range(N)}),
        pd.DataFrame({"a": pd.Categorical(["x"] * N)}),
    ],
)
def test_text_is_told_of_the_encoder(X):
    for model in models():
        with pytest.raises(InputError, match=r"^X: expected numbers, found text: .*Encoder"):
            model.fit(X, Y)
    with pytest.raises(InputError, match=r"kb\.TableEncoder"):
        plain.classifier().learn(X, Y)
    numbers = np.zeros((N, len(np.asarray(X)[0])))
    if hasattr(X, "columns"):
        numbers = pd.DataFrame(numbers, columns=X.columns)
    fitted = plain.classifier().fit(numbers, Y)
    with pytest.raises(InputError, match=r"kb\.TableEncoder"):
        fitted.predict(X)


@pytest.mark.parametrize("seed", [True, np.timedelta64(3), 1.5])
def test_what_is_no_seed(seed):
    made = (kb.OnlineMKClassifier(random_state=seed), kb.KernelFeatures(random_state=seed))
    for model in made:
        with pytest.raises(InputError, match="random_state must be None, an integer from 0"):
            model.fit(np.eye(N), Y)
    with pytest.raises(InputError, match="seed must be a non-negative integer"):
        kb.open_stream("checkerboard:10", seed=seed)
