"""The classifier as scikit-learn expects one."""

import pickle

import hard_streams
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from expected_failures import checks_of
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kernbrook as kb


def drawn():
    return kb.OnlineMKClassifier(
        selection=kb.Selection(update="drawn", vote="drawn"), random_state=1
    )


def custom():
    pool = [
        kb.Gaussian(gamma=0.1),
        kb.Laplacian(sigma=2),
        kb.Mean([kb.Linear(), kb.Cauchy(sigma=1)]),
    ]
    return kb.OnlineMKClassifier(pool, kb.Perceptron("label"), kb.Uniform())


@pytest.mark.thinned
@checks_of(
    {"drawn": drawn(), "custom": custom(), "kernbrook-classification": kb.OnlineMKClassifier()}
)
def test_estimator_checks(estimator, check):
    check(estimator)


def seeded():
    return kb.OnlineMKClassifier(random_state=0)


@pytest.mark.parametrize("make", [seeded, drawn, custom])
def test_clone_and_pickle(make):
    X, y = hard_streams.gaussian_clouds()
    model = make().fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    # Both learn on in the same way: the draws to come are part of the state.
    more = X[::-1].copy(), y
    np.testing.assert_array_equal(again.learn(*more)[0], model.learn(*more)[0])
    np.testing.assert_array_equal(again.dual_coef_, model.dual_coef_)
    blank = clone(model)
    assert not hasattr(blank, "classes_")
    np.testing.assert_array_equal(blank.fit(X, y).predict(X), make().fit(X, y).predict(X))


@pytest.mark.sampled
@pytest.mark.parametrize("name", kb.recipes.names())
def test_every_recipe_clones_and_fits(name):
    X, y = hard_streams.gaussian_clouds()
    if kb.recipes.batch(name):  # a whole grid of settings
        X, y = hard_streams.far_apart()
    model = clone(kb.recipes.make(name, random_state=3)).fit(X, y)
    if kb.recipes.task(name) == "classification":
        assert set(model.predict(X)) <= {-1.0, 1.0}
    assert np.isfinite(model.predict(X)).all()
    assert pickle.loads(pickle.dumps(model)).predict(X).tolist() == model.predict(X).tolist()


def test_nested_parameters():
    model = kb.OnlineMKClassifier(learner=kb.Perceptron(), combiner=kb.Hedge())
    model.set_params(learner__tie="label", combiner__discount=0.5)
    assert model.learner.tie == "label"
    assert model.get_params()["combiner__discount"] == 0.5
    X, y = hard_streams.with_zero_rows()
    expected = kb.OnlineMKClassifier(learner=kb.Perceptron("label"), combiner=kb.Hedge(0.5)).fit(
        X, y
    )
    np.testing.assert_array_equal(model.fit(X, y).dual_coef_, expected.dual_coef_)


def test_grid_search():
    X, y = hard_streams.gaussian_clouds(150)
    search = GridSearchCV(
        kb.OnlineMKClassifier(learner=kb.Perceptron()), {"learner__tie": ["margin", "label"]}, cv=3
    ).fit(X, y)
    assert search.best_params_["learner__tie"] in ("margin", "label")
    assert search.best_score_ > np.mean(y == -1)


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


def test_sparse_matrices_of_every_form():
    """Formats, index types, explicit zeros, repeated and unsorted entries are all the same data."""
    X, y = hard_streams.sparse_counts()
    expected = kb.OnlineMKClassifier(random_state=0).fit(X, y)
    forms = [form(X) for form in (sp.csr_matrix, sp.csc_array, sp.coo_array, sp.csr_array)]
    padded = sp.csr_matrix(X)
    padded.data[::7] = 0.0
    forms_of_other_data = np.asarray(padded.todense())
    halves = sp.coo_array(X)
    twice = sp.coo_array(
        (
            np.concatenate([halves.data / 2, halves.data / 2]),
            tuple(np.concatenate([part, part]) for part in halves.coords),
        ),
        shape=X.shape,
    )
    backwards = sp.csr_matrix(X)
    for i in range(len(y)):
        row = slice(backwards.indptr[i], backwards.indptr[i + 1])
        backwards.indices[row] = backwards.indices[row][::-1].copy()
        backwards.data[row] = backwards.data[row][::-1].copy()
    backwards.has_sorted_indices = False
    backwards.has_canonical_format = False
    wide = sp.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for form in [*forms, twice, backwards, wide]:
        model = kb.OnlineMKClassifier(random_state=0).fit(form, y)
        np.testing.assert_array_equal(model.dual_coef_, expected.dual_coef_)
        np.testing.assert_array_equal(model.support_vectors_, expected.support_vectors_)
        np.testing.assert_array_equal(model.predict(X), expected.predict(X))
        np.testing.assert_array_equal(expected.predict(form), expected.predict(X))
    zeros = kb.OnlineMKClassifier(random_state=0).fit(padded, y)
    same = kb.OnlineMKClassifier(random_state=0).fit(forms_of_other_data, y)
    np.testing.assert_array_equal(zeros.dual_coef_, same.dual_coef_)


def test_input_is_left_alone():
    X, y = hard_streams.sparse_counts()
    for form in (X, np.asfortranarray(X), sp.csr_matrix(X), X.astype(np.float32), X.astype(int)):
        before = form.copy()
        if not sp.issparse(form):
            form.setflags(write=False)
        kb.OnlineMKClassifier().fit(form, y).predict(form)
        assert abs(form - before).sum() == 0
