"""Estimators beside recipes, of ours and of other libraries; arrays and frames."""

import hard_streams
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression, SGDClassifier, SGDRegressor
from sklearn.tree import DecisionTreeClassifier

import kernbrook as kb
from kernbrook.errors import InputError, UnknownNameError
from kernbrook.estimators.outside import online
from kernbrook.evaluation.baselines import Scaled, baselines_of
from kernbrook.evaluation.parallel import state_of
from kernbrook.evaluation.recipes_wanted import seeded, task_of
from kernbrook.streams.arrays import ArrayStream

pytestmark = pytest.mark.usefixtures("few_samples")
X, y = hard_streams.gaussian_clouds(120)


def predictions(result):
    return {row.recipe: [run.predictions.tolist() for run in row.runs] for row in result.rows}


def test_models_beside_names():
    """Each row is the prequential run of that model; those given learn nothing."""
    mine = kb.OnlineMKClassifier(learner=kb.BPAS(10), random_state=3)
    drawn = kb.recipes.make("omkc-ss")
    models = {
        "mine": mine, "drawn": drawn, "theirs": SGDClassifier(), "spa": "spa",
        "window": kb.External(DecisionTreeClassifier(random_state=0), every=20, window=50),
    }  # fmt: skip
    result = kb.compare(X, y, models, permutations=2, seed=5, jobs=1)
    assert predictions(kb.compare(X, y, models, permutations=2, seed=5, jobs=2)) == predictions(
        result
    )
    assert [(row.recipe, row.title) for row in result.rows] == [
        ("mine", "OnlineMKClassifier (mine)"), ("drawn", "OnlineMKClassifier (drawn)"),
        ("theirs", "SGDClassifier"), ("spa", "SPA"), ("window", "DecisionTreeClassifier"),
    ]  # fmt: skip
    assert not hasattr(mine, "classes_")
    assert not hasattr(models["theirs"], "coef_")
    for run in range(2):
        order, state = np.random.default_rng([5, run]).permutation(120), state_of(5, run)
        fresh = {
            "mine": kb.OnlineMKClassifier(learner=kb.BPAS(10), random_state=3),
            "drawn": kb.recipes.make("omkc-ss", random_state=state),
            "theirs": SGDClassifier(random_state=state),
            "spa": kb.recipes.make("spa", random_state=state),
            "window": models["window"],
        }
        for row in result.rows:
            expected = kb.prequential(fresh[row.recipe], X, y, order)
            np.testing.assert_array_equal(row.runs[run].predictions, expected.predictions)
            assert row.runs[run].scores is None
            np.testing.assert_array_equal(row.runs[run].labels, expected.labels)
    assert result.manifest["models"]["theirs"] == "SGDClassifier()"
    assert "spa" not in result.manifest["models"]


@pytest.mark.parametrize(
    ("made", "recipes"),
    [(pd.DataFrame, None), (pl.DataFrame, ["majority"]), (pa.table, {"majority": "majority"})],
)
def test_frames_with_labels_inside(made, recipes):
    """What follows them are the recipes, unless it is a label for each row."""
    X, y = kb.open_stream("checkerboard:40").read()
    table = made({"a": X[:, 0], "b": X[:, 1], "label": y})
    options = {"permutations": 1, "jobs": 1}
    if recipes is not None:
        found = kb.compare(table, recipes, **options)
        assert [row.recipe for row in found.rows] == ["majority"]
        assert found.n_features == 2
    labels = pd.Series(np.where(y > 0, "yes", "no"))
    with_y = kb.compare(made({"a": X[:, 0], "b": X[:, 1]}), labels, "majority", **options)
    assert set(with_y.rows[0].runs[0].labels) == {"no", "yes"}
    with pytest.raises(UnknownNameError, match="unknown recipe 'majorty': did you mean majority"):
        kb.compare(table, ["majorty"])


def test_the_forms_of_data():
    expected = predictions(kb.compare((X, y), ["spa"], permutations=2, jobs=1))
    stream = ArrayStream(X, y)
    for data in ((X.tolist(), y.tolist()), (sp.csr_array(X), y), (stream,)):
        assert predictions(kb.compare(*data, recipes="spa", permutations=2, jobs=1)) == expected
    with pytest.raises(InputError, match="y: the data have their own labels"):
        kb.compare(stream, y=y, recipes="spa")
    with pytest.raises(UnknownNameError, match="unknown library of baselines 'sklern': did"):
        kb.compare(X, y, "majority", baselines="sklern")


def test_seeds_go_where_none_is():
    pytest.importorskip("river")
    from river import forest, linear_model, preprocessing

    def inside(model):
        return seeded(online(model), 7).external.model

    assert inside(forest.ARFClassifier()).seed == 7
    assert inside(forest.ARFClassifier(seed=3)).seed == 3
    pipeline = preprocessing.StandardScaler() | forest.ARFClassifier(n_models=2)
    assert inside(pipeline)["ARFClassifier"].seed == 7
    assert inside(pipeline)["ARFClassifier"].n_models == 2
    one = linear_model.LogisticRegression(l2=0.5)
    one.learn_one({0: 1.0}, True)
    assert inside(one).weights == {}  # it begins anew
    assert inside(one).l2 == 0.5
    assert inside(Scaled(SGDClassifier())).model.random_state == 7
    machine = seeded(kb.OnlineMKClassifier(random_state=0), 7)
    assert machine.random_state == 0
    pool = {"forest": forest.ARFClassifier(n_models=2), "pipeline": pipeline}
    one, two = (kb.compare(X, y, pool, permutations=2, jobs=jobs) for jobs in (1, 2))
    assert predictions(one) == predictions(two)
    assert [row.title for row in one.rows] == ["ARFClassifier", "StandardScaler | ARFClassifier"]


class Failing(SGDClassifier):
    def predict(self, X):
        raise RuntimeError("no more")


def test_a_model_that_fails_is_left_out():
    for jobs in (1, 2):
        result = kb.compare(X, y, {"spa": "spa", "bad": Failing()}, permutations=2, jobs=jobs)
        assert [row.recipe for row in result.rows] == ["spa"]
        assert result.left_out == {"bad": "RuntimeError: no more"}
    with pytest.raises(InputError, match="bad: RuntimeError: no more"):
        kb.compare(X, y, {"bad": Failing()}, permutations=1, jobs=1)


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ({"a": LogisticRegression()}, "a: LogisticRegression learns from all data at.*External"),
        ({"a": kb.OnlineMKClassifier(learner=kb.BPAS(0))}, "a: BPAS: budget must be"),
        ({"a": SGDClassifier}, "a: expected a model, got the class SGDClassifier"),
        ({"a": SGDRegressor(), "b": "spa"}, "got for regression a and for classification b"),
        ([SGDClassifier(), SGDClassifier()], "two models named SGDClassifier; give a mapping"),
        ({}, "expected one or more names, got none"),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_what_is_refused(models, message):
    with pytest.raises(InputError, match=message):
        kb.compare(X, y, models)


# -- baselines -------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [2, 3, 0])
def test_baselines_learn(C):
    """Each is far better than the trivial rules, on dense and sparse rows alike."""
    pytest.importorskip("river")
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(800, 3))
    target = Z @ [2.0, 1.0, 0.0] + 3.0
    labels = target if C == 0 else np.digitize(target, np.quantile(target, np.arange(1, C) / C))
    trivial = "mean" if C == 0 else "majority"
    kind = "regression" if C == 0 else "classification"
    result = kb.compare(Z, labels, trivial, permutations=1, jobs=1, baselines="river, sklearn")
    names = list(baselines_of(["river", "sklearn"], kind))
    assert [row.recipe for row in result.rows] == [trivial, *names]
    errors = {row.recipe: row.errors[0] for row in result.rows}
    for name in names:
        assert errors[name] < 0.75 * errors[trivial], (name, errors)
    if C == 2:
        some = {"permutations": 1, "jobs": 1, "baselines": "sklearn"}
        for row in kb.compare(sp.csr_array(Z), labels, trivial, **some).rows:
            assert row.errors[0] == errors[row.recipe]


def test_a_model_behind_a_scaler():
    one = Scaled(SGDClassifier("log_loss", random_state=0))
    assert task_of(online(one)) == "classification"
    assert task_of(online(Scaled(SGDRegressor()))) == "regression"
    assert not hasattr(Scaled(SGDClassifier()), "predict_proba")
    labels = (y > 0).astype(int)
    for i in range(50):
        one.partial_fit(X[i : i + 1], labels[i : i + 1], classes=[0, 1])
    np.testing.assert_allclose(one.scaler_.mean_, X[:50].mean(axis=0))
    scaled = (X - X[:50].mean(axis=0)) / X[:50].std(axis=0)
    np.testing.assert_array_equal(one.predict(X), one.model_.predict(scaled))
    np.testing.assert_allclose(one.predict_proba(X), one.model_.predict_proba(scaled))
