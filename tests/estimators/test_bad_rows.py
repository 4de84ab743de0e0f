"""Rows with NaN, infinity or what is no number: refused, or left out and counted."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from estimators.test_model_files import rewrite
from sklearn.base import clone

import kernbrook as kb
from kernbrook.errors import InputError
from kernbrook.estimators.base import good_rows

X = np.random.default_rng(0).normal(size=(90, 3))
Y = np.where(X[:, 0] > 0, "yes", "no")
BAD = np.zeros(90, dtype=bool)
BAD[[0, 1, 17, 40, 41, 89]] = True
WRONG = X.copy()
WRONG[[0, 17]], WRONG[[1, 40], 1], WRONG[41, 2], WRONG[89, 0] = np.nan, np.inf, -np.inf, 1e200
POOL = [kb.Gaussian(sigma=2), kb.Linear()]
KINDS = {
    "classes": (lambda **p: kb.OnlineMKClassifier(POOL, random_state=0, **p), Y),
    "numbers": (lambda **p: kb.OnlineMKRegressor(POOL, random_state=0, **p), X[:, 1]),
}


@pytest.fixture(params=KINDS)
def task(request):
    return KINDS[request.param]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, pd.DataFrame, list])
def test_the_others_are_learned_from_as_if_they_stood_alone(task, form):
    make, y = task
    plainly = make()
    expected, _ = plainly.learn(X[~BAD], y[~BAD])
    weighed = make().fit(X[~BAD], y[~BAD], sample_weight=np.arange(90.0)[~BAD])
    model = make(on_bad_rows="skip")
    said, asked = model.learn(form(WRONG), y)
    np.testing.assert_array_equal(asked, ~BAD)
    np.testing.assert_array_equal(said[~BAD], expected)
    assert model.n_rows_skipped_ == 6
    assert model.n_rounds_ == 84
    fitted = make(on_bad_rows="skip").fit(form(WRONG), y, sample_weight=np.arange(90.0))
    assert fitted.n_rows_skipped_ == 6
    for one, other in ((model, plainly), (fitted, weighed)):
        np.testing.assert_array_equal(one.predict(X), other.predict(X))


def test_chunks_rows_and_files(task, tmp_path):
    make, y = task
    whole, said = make(on_bad_rows="skip"), []
    expected, _ = whole.learn(WRONG, y)
    model = make(on_bad_rows="skip")
    said.append(model.learn(WRONG[:8], y[:8])[0])
    said += [[model.learn_one(WRONG[i], y[i])] for i in range(8, 50)]
    kb.save(model, tmp_path / "model")
    model = kb.load(tmp_path / "model")
    said.append(model.learn(WRONG[50:], y[50:])[0])
    np.testing.assert_array_equal(np.concatenate(said), expected)
    assert model.n_rows_skipped_ == 6
    most = max(set(Y[2:40]), key=Y[2:40].tolist().count)
    assert expected[40] == (most if y is Y else y[2])
    assert model.fit(X, y).n_rows_skipped_ == 0


def test_nothing_but_bad_rows(task):
    make, y = task
    model = make(on_bad_rows="skip").partial_fit(WRONG[:2], y[:2]).partial_fit(X, y)
    assert (model.n_rows_skipped_, model.n_rounds_) == (2, 90)


def test_they_are_refused_otherwise(task):
    make, y = task
    with pytest.raises(ValueError, match=r"NaN|finite|infinity"):
        make().learn(WRONG, y)
    for word in ("leave", "raise"):
        with pytest.raises(InputError, match=f"must be 'error' or 'skip', got '{word}'"):
            make(on_bad_rows=word).fit(X, y)
    with pytest.raises(ValueError, match=r"NaN|finite|infinity"):
        make(on_bad_rows="skip").fit(X, y).predict(WRONG)
    with pytest.raises(InputError, match="X has 90 rows but y has 3 labels"):
        make(on_bad_rows="skip").learn(WRONG, y[:3])


def test_files_with_the_word_of_before(tmp_path):
    model = kb.OnlineMKRegressor([kb.Linear()]).fit(X, Y == "yes")
    kb.save(model, tmp_path / "m")
    rewrite(tmp_path / "m", lambda m, *_: m["parameters"].update(on_bad_rows="raise"))
    assert kb.load(tmp_path / "m").get_params() == model.get_params()


# A model, labels of good rows, and one that cannot be learned.


def test_which_rows_are_bad():
    np.testing.assert_array_equal(good_rows(WRONG), ~BAD)
    np.testing.assert_array_equal(good_rows(sp.csr_matrix(WRONG)), ~BAD)
    frame = pd.DataFrame({"a": [1, "?", 3, None], "b": [1.0, 2.0, np.inf, 4.0]})
    assert good_rows(frame).tolist() == [True, False, False, False]
    assert good_rows([["1", 2], [[1], 2]]).tolist() == [True, False]


UNLEARNABLE = {
    "a number too large": (kb.OnlineMKRegressor(POOL), X[:, 1], 1e200),
    "a class that cannot be added": (
        kb.OnlineMKClassifier(POOL, kb.Forgetron(budget=9), combiner=kb.Stack(), threshold=0.3),
        Y, "new",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", UNLEARNABLE)
def test_rows_are_numbered_as_they_were_given(kind):
    """Whatever was left out before them."""
    model, y, wrong = UNLEARNABLE[kind]
    model, y = clone(model).set_params(on_bad_rows="skip").fit(X, y), y.astype(object)
    y[50] = wrong
    for learn in (model.partial_fit, model.learn):
        with pytest.raises(InputError, match=r"row 50 of the chunk"):
            learn(WRONG, y)
