"""The classifier as scikit-learn expects one."""

import inspect
import pickle
import re

import hard_streams
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from expected_failures import checks_of
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kernbrook as kb


def custom():
    pool = [
        kb.Gaussian(gamma=0.1),
        kb.Laplacian(sigma=2),
        kb.Mean([kb.Linear(), kb.Cauchy(sigma=1)]),
    ]
    return kb.OnlineMKClassifier(pool, kb.Perceptron("label"), kb.Uniform())


@pytest.mark.thinned
@checks_of({"custom": custom()})
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.sampled
@pytest.mark.parametrize("name", [name for name in kb.recipes.names() if name != "l2-svm"])  # long
def test_every_recipe_clones_and_fits(name):
    X, y = hard_streams.gaussian_clouds()
    if kb.recipes.batch(name):  # a whole grid of settings
        X, y = hard_streams.far_apart()
    model = clone(kb.recipes.make(name, random_state=3)).fit(X, y)
    if kb.recipes.task(name) == "classification":
        assert set(model.predict(X)) <= {-1.0, 1.0}
    assert np.isfinite(model.predict(X)).all()
    assert pickle.loads(pickle.dumps(model)).predict(X).tolist() == model.predict(X).tolist()


@pytest.mark.parametrize("kind", [kb.OnlineMKClassifier, kb.OnlineMKRegressor])
def test_every_parameter_has_its_words(kind):
    """Also those that both kinds share, and in a subclass that has no words of its own."""
    for name in inspect.signature(kind).parameters:
        assert re.search(rf"^    {name} : \S", kind.__doc__, re.MULTILINE), name
    for verb in (kind.learn, kind.partial_fit):
        assert ("classes : " in verb.__doc__) == ("classes" in inspect.signature(verb).parameters)
    assert inspect.getdoc(type("Mine", (kind,), {})) == inspect.getdoc(kind)
    assert not re.search(r"^ +\{", kind.__doc__, re.MULTILINE)  # all entries were found


def test_a_subclass_may_show_a_set_in_its_words():
    said = "Mine.\n\n    >>> print(names)\n    {a, b}\n    {labels}\n    "
    mine = type("Mine", (kb.OnlineMKClassifier,), {"__doc__": said})
    assert mine.__doc__.startswith(said.partition("    {labels}")[0] + "    labels : ")


def test_in_a_pipeline():
    X, y = hard_streams.wdbc()
    pipeline = make_pipeline(StandardScaler(), kb.OnlineMKClassifier())
    assert cross_val_score(pipeline, X, y, cv=3).min() > 0.9


def test_frames():
    X, y = hard_streams.gaussian_clouds(80, 3)
    frame, labels = pd.DataFrame(X, columns=["a", "b", "c"]), pd.Series(y)
    model = kb.OnlineMKClassifier(random_state=0).fit(frame, labels)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.n_features_in_ == 3
    plain = kb.OnlineMKClassifier(random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict(frame), plain.predict(X))
    np.testing.assert_array_equal(model.dual_coef_, plain.dual_coef_)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"c": "d"}))
    learned = kb.OnlineMKClassifier(random_state=0)
    learned.learn(frame[:40], labels[:40])
    learned.learn(frame[40:], labels[40:])
    np.testing.assert_array_equal(learned.dual_coef_, plain.dual_coef_)


@pytest.mark.parametrize("labels", [("no", "yes"), (False, True), (3, 7), ("b", "a")])
def test_labels_of_any_kind(labels):
    X, y = hard_streams.gaussian_clouds(80)
    named = np.array(labels)[(y > 0).astype(int)]
    model = kb.OnlineMKClassifier(random_state=0).fit(X, named)
    assert model.classes_.tolist() == sorted(labels)
    assert model.predict(X).dtype == named.dtype
    sign = 1 if sorted(labels) == list(labels) else -1
    plain = kb.OnlineMKClassifier(random_state=0).fit(X, sign * y)
    np.testing.assert_array_equal(model.predict(X) == sorted(labels)[1], plain.predict(X) > 0)


def test_input_is_left_alone():
    X, y = hard_streams.sparse_counts()
    for form in (X, np.asfortranarray(X), sp.csr_matrix(X), X.astype(np.float32), X.astype(int)):
        before = form.copy()
        if not sp.issparse(form):
            form.setflags(write=False)
        kb.OnlineMKClassifier().fit(form, y).predict(form)
        assert abs(form - before).sum() == 0
