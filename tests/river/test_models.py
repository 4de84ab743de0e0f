"""Our machines on dicts: as on arrays, while features and classes come and go; River's checks."""

import math
import subprocess
import sys
from datetime import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from river import checks, preprocessing

import kernbrook as kb
from kernbrook.errors import InputError
from kernbrook.river import models

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 4))
X[:50, 2:] = 0.0
SCORE = X[:, 0] * X[:, 1] + X[:, 2] + 0.2 * rng.normal(size=120)
TWO = (SCORE > 0).tolist()
THREE = np.array(["a", "b", "c"])[np.digitize(SCORE, [-0.5, 0.5])].tolist()
NAMES = ["wind", "sun", "rain", "snow"]  # not in alphabetical order
ROWS = [
    {name: value for name, value in zip(NAMES, row, strict=True) if value != 0}
    for row in X.tolist()
]
KERNELS = [kb.Gaussian(sigma=1.0), kb.Gaussian(sigma=4.0), kb.Polynomial(2)]
CHOICES = {"kernels": KERNELS, "learner": kb.BPAS(10)}


def small(**choices):
    return kb.river.MKClassifier(**CHOICES, seed=0, **choices)


def ours(**choices):
    return kb.OnlineMKClassifier(**CHOICES, random_state=0, **choices)


def test_it_is_the_estimator_on_rows_with_zeros():
    """Of features that come in the 51st row, and a machine that has had them all along."""
    model, full = small(), ours()
    for i, (x, y) in enumerate(zip(ROWS, TWO, strict=True)):
        if i:
            seen = X[i] * (
                [1, 1, 0, 0] if i == 50 else 1
            )  # before a name is learned, it is ignored
            assert model.predict_one(x) == full.predict_one(seen)
            told = model.predict_proba_one(x)
            assert list(told) == [False, True]
            np.testing.assert_allclose([*told.values()], full.predict_proba([seen])[0])
        model.learn_one(x, y)
        full.learn_one(X[i], y, classes=[False, True] if i == 0 else None)
    assert model.estimator.n_features_in_ == 4  # not one more for each name
    assert model.estimator.n_support_stored_ == full.n_support_stored_
    np.testing.assert_allclose(model.estimator.kernel_weights_, full.kernel_weights_)


@pytest.mark.parametrize("missing", [None, math.nan, pd.NA])
def test_what_is_missing_is_zero(missing):
    model, other = small(), small()
    for x, y in zip(ROWS[50:], TWO[50:], strict=True):
        model.learn_one(x | {"sun": missing}, y)
        other.learn_one({name: x[name] for name in x if name != "sun"} | {"sun": 0.0}, y)
    assert model.predict_proba_one(ROWS[50]) == other.predict_proba_one(ROWS[50])
    with_it, without = ROWS[0] | {"sun": missing}, {"wind": ROWS[0]["wind"]}
    assert model.predict_proba_one(with_it) == model.predict_proba_one(without)


def test_classes_come_later():
    """Rows wait until there are two; the third class is learned like those of the estimator."""
    model, full = small(), ours()
    order = sorted(range(120), key=lambda i: (THREE[i] == "c", THREE[i] == "a", i))[:110]
    assert [model.predict_one({}), model.predict_proba_one({})] == [None, {}]
    first = THREE.count("b")
    for i in order[:first]:
        model.learn_one(ROWS[i], THREE[i])
        assert model.predict_one(ROWS[i]) == "b"
        assert model.predict_proba_one(ROWS[i]) == {"b": 1.0}
    full.partial_fit(X[order[:first]], ["b"] * first, classes=["a", "b"])
    for i in order[first:]:
        model.learn_one(ROWS[i], THREE[i])
        full.learn_one(X[i], THREE[i])
    assert list(model.predict_proba_one(ROWS[0])) == ["a", "b", "c"]
    for row, x in zip(X, ROWS, strict=True):
        assert model.predict_one(x) == full.predict_one(row)
        assert type(model.predict_one(x)) is str


def test_the_last_rows_of_one_class_wait(monkeypatch):
    model, other = small(), small()
    monkeypatch.setattr(models, "WAITING", 3)
    bounded = small()
    for i in range(10):
        bounded.learn_one(ROWS[i], "a")
        model.learn_one(ROWS[i], "a")
        if i > 6:
            other.learn_one(ROWS[i], "a")
    for each in (model, bounded, other):
        each.learn_one(ROWS[10], "b")
    assert [m.estimator.n_rounds_ for m in (model, bounded, other)] == [11, 4, 4]
    assert bounded.predict_proba_one(ROWS[11]) == other.predict_proba_one(ROWS[11])


def test_weights_and_rows_without_a_label():
    model, full = small(), ours()
    full.partial_fit(X[:1], TWO[:1], classes=[False, True])
    model.learn_one(ROWS[0], None)  # there is no machine yet
    model.learn_one(ROWS[0], TWO[0])
    for i in range(1, 40):
        model.learn_one(ROWS[i], None if i % 5 == 0 else TWO[i], w=i % 3)
        full.learn_one(X[i], None if i % 5 == 0 else TWO[i], sample_weight=i % 3)
    assert model.estimator.labels_asked_ == full.labels_asked_ == 33
    assert model.predict_one(ROWS[99]) == full.predict_one(X[99])
    np.testing.assert_allclose(model.estimator.kernel_weights_, full.kernel_weights_)


@pytest.mark.parametrize("start", [0, 1, 30])
def test_frames(start):
    one, many = small(), small()
    for x, y in zip(ROWS, THREE, strict=True):
        one.learn_one(x, y)
    assert many.predict_many(pd.DataFrame(ROWS[:2])).tolist() == [None, None]
    assert many.predict_proba_many(pd.DataFrame(ROWS[:2])).shape == (2, 0)
    for x, y in zip(ROWS[:start], THREE[:start], strict=True):
        many.learn_one(x, y)
    for part in (slice(start, 80), slice(80, 120)):
        many.learn_many(pd.DataFrame(ROWS[part]).astype({"wind": object}), pd.Series(THREE[part]))
    index = [f"row {i}" for i in range(120)]
    frame = pd.DataFrame([x | {"hail": 1} for x in ROWS], index=index)
    said, chances = many.predict_many(frame), many.predict_proba_many(frame)
    assert said.index.tolist() == chances.index.tolist() == index
    assert said.tolist() == [one.predict_one(x) for x in ROWS]
    expected = pd.DataFrame([one.predict_proba_one(x) for x in ROWS], index=index)
    pd.testing.assert_frame_equal(chances, expected)


def test_numbers():
    choices = {"kernels": KERNELS[:2], "learner": kb.GradientDescent(features=None, budget=20)}
    model = kb.river.MKRegressor(**choices, seed=0)
    many, full = model.clone(), kb.OnlineMKRegressor(**choices, random_state=0)
    assert model.predict_one(ROWS[0]) == 0.0
    assert many.predict_many(pd.DataFrame(ROWS[:2])).tolist() == [0.0, 0.0]
    for x, y in zip(ROWS, SCORE, strict=True):
        model.learn_one(x, y)
    many.learn_many(pd.DataFrame(ROWS[:50]), pd.Series(SCORE[:50]))
    many.learn_many(pd.DataFrame(ROWS[50:]), pd.Series(SCORE[50:]))
    full.partial_fit(X, SCORE)
    said = [model.predict_one(x) for x in ROWS]
    np.testing.assert_allclose(said, full.predict(X))
    np.testing.assert_allclose(many.predict_many(pd.DataFrame(ROWS)), full.predict(X))
    model.learn_one(ROWS[0], np.int64(3), w=2.0)
    assert model.estimator.n_rounds_ == 121


def test_of_a_recipe_or_an_estimator():
    model = kb.river.MKClassifier.of("spa")
    assert model.learner.get_params() == kb.recipes.make("spa").learner.get_params()
    assert (model.scaling, model.judge_stored, model.seed) == (None, True, None)
    assert kb.river.MKClassifier.of("spa", seed=3).estimator.random_state == 3
    given = kb.OnlineMKClassifier(learner=kb.RBP(7), threshold=0.2, random_state=5)
    assert kb.river.MKClassifier.of(given).estimator.get_params() == {**given.get_params()}
    numbers = kb.river.MKRegressor.of(kb.recipes.make("raker"))
    numbers.learn_one({"a": 1.0}, 2.0)
    assert not numbers.center
    with pytest.raises(InputError, match=r"expected OnlineMKClassifier, got .*Regressor"):
        kb.river.MKClassifier.of("raker")
    with pytest.raises(InputError, match=r"MKClassifier has no parameter on_bad_rows"):
        kb.river.MKClassifier.of(kb.OnlineMKClassifier(on_bad_rows="skip"))
    with pytest.raises(InputError, match=r"pipeline that ends with one, got StandardScaler"):
        kb.river.PolicySampler(preprocessing.StandardScaler())
    with pytest.raises(InputError, match="on a stream Nystroem needs landmarks"):
        kb.river.KernelFeatures(features=kb.Nystroem(5)).learn_one({"a": 1.0})


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ({"city": "Oslo"}, r"'city': expected a number .*, got 'Oslo'; .*River's .*OneHot"),
        ({"a": 1.0, "b": "2"}, "'b': expected a number .*, got '2'; float"),
        ({"a": [1.0], "b": [1.0, 2.0]}, "column 'a': expected a number"),
        ({"a": Decimal("1.5")}, "'a': .*float\\(\\) makes one of it, as converters="),
        ({"a": datetime(2024, 1, 1)}, "column 'a': .*a moment: take numbers of it"),
        ({"a": -(10**400), "b": 1}, "column 'a': expected .* below 1e154, .*, got -1000"),
    ],
)
def test_what_is_no_number_is_refused(x, message):
    for model, y in ((small(), True), (kb.river.MKRegressor(**CHOICES | {"learner": None}), 1.0)):
        model.learn_one(ROWS[0], y)
        with pytest.raises((InputError, ValueError), match=message):
            model.learn_one(x, y)
        model.learn_one(ROWS[1], y)
        assert model.estimator.n_rounds_ == 2


# -- features ------------------------------------------------------------------------------------


def test_features_of_rows_stay_when_names_come():
    maps = kb.river.KernelFeatures(kb.Gaussian(sigma=2), kb.RandomFeatures(2000), seed=0)
    assert maps.transform_one(ROWS[0]) == {}
    for x in ROWS[:50]:
        maps.learn_one(x)
    before = maps.transform_many(pd.DataFrame(ROWS[:50]))
    assert [*maps.transform_one(ROWS[3])] == before.columns.tolist()
    maps.learn_many(pd.DataFrame(ROWS[50:]))
    np.testing.assert_allclose(maps.transform_many(pd.DataFrame(ROWS[:50])), before)
    Z = maps.transform_many(pd.DataFrame(ROWS)).to_numpy()
    np.testing.assert_allclose(Z[60], [*maps.transform_one(ROWS[60]).values()])
    assert np.abs(Z @ Z.T - kb.Gaussian(sigma=2)(X, X)).max() < 0.12


# -- which labels to ask for -------------------------------------------------------------------


@pytest.mark.parametrize(
    "policy",
    [kb.MarginSampling(0.1), kb.RandomLabels(0.3), kb.LabelBudget(0.2), kb.Disagreement(0.1, 4)],
    ids=str,
)
def test_it_asks_as_the_estimator_does(policy):
    full = ours(labels=policy)
    said, asked = full.learn(X, lambda row: TWO[int(np.argmin(abs(X - row).sum(1)))], [False, True])
    model, asks, told = kb.river.PolicySampler(small(labels=policy)), [], []
    for x, y in zip(ROWS, TWO, strict=True):
        answer, ask = model.predict_one(x)
        told.append(answer)
        asks.append(ask)
        if ask:
            model.learn_one(x, y)
    assert asks == asked.tolist()
    assert 5 < sum(asks) < 110
    assert told[1:] == said[1:].tolist()


def test_without_river():
    program = "import sys; sys.modules['river'] = None; import kernbrook as kb; kb.river"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "ImportError: kb.river needs River: pip install river" in done.stderr


# -- River's own checks, of every class ------------------------------------------------------------


CLASSES = [getattr(kb.river, name) for name in kb.river.__all__]
LONG = [pytest.mark.slow, pytest.mark.long]
CHECKS = [
    pytest.param(
        *(cls(**parameters), check),
        id=f"{cls.__name__}-{i}-{check.__name__}",
        # Its dictionaries grow or do not, whatever the parameters: once a class does.
        marks=LONG if which and check.__name__ == "check_bounded_memory_growth" else (),
    )
    for cls in CLASSES
    for which, parameters in enumerate(cls._unit_test_params())
    for i, check in enumerate(checks.yield_checks(cls(**parameters)))
]


@pytest.mark.sampled
@pytest.mark.parametrize(("model", "check"), CHECKS)
def test_a_check_of_river(model, check):
    check(model.clone())


def test_there_are_checks_of_what_is_promised():
    """Those that were asked for by name are among them, and none is skipped."""
    names = {test.id.split("-")[0] + " " + test.id.split("-")[2] for test in CHECKS}
    for name in ("MKClassifier", "MKRegressor", "KernelFeatures"):
        for check in ("emerging_features", "disappearing_features", "pickling"):
            assert f"{name} check_{check}" in names
    assert "MKClassifier check_learn_many_matches_learn_one" in names
    assert "MKRegressor check_learn_many_matches_learn_one" in names
    assert all(not cls(**next(iter(cls._unit_test_params())))._unit_test_skips() for cls in CLASSES)
