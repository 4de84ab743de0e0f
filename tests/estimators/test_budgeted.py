"""Estimators with learners under a budget: as scikit-learn expects them, and what they refuse."""

import copy
import pickle

import hard_streams
import numpy as np
import plain
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import kernbrook as kb
from kernbrook.errors import InputError

LEARNERS = [kb.RBP(15), kb.Forgetron(15), kb.BOGD(15), kb.BPAS(15)]
POOL = [kb.Gaussian(gamma=0.1), kb.Cauchy(sigma=2), kb.Mean([kb.Linear(), kb.Gaussian(sigma=1)])]


def make(learner):
    selection = kb.Selection(update="drawn", vote="drawn", smoothing=0.2)
    return plain.classifier(POOL, learner, kb.Hedge(loss="hinge"), selection, random_state=0)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("through", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy])
@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_copies_learn_on_in_the_same_way(learner, through, storage):
    """The slots, their ages and the draws to come are part of the state."""
    X, y = hard_streams.gaussian_clouds(200)
    model = make(learner).fit(storage(X), y)
    again = through(model)
    more = storage(X[::-1].copy()), y
    np.testing.assert_array_equal(again.learn(*more)[0], model.learn(*more)[0])
    assert again.dual_coef_.tobytes() == model.dual_coef_.tobytes()
    assert again.support_vectors_.tobytes() == model.support_vectors_.tobytes()
    assert again.kernel_weights_.tobytes() == model.kernel_weights_.tobytes()
    fresh = clone(model).fit(storage(X), y)
    assert fresh.dual_coef_.tobytes() == make(learner).fit(storage(X), y).dual_coef_.tobytes()


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_a_copy_does_not_share_its_slots(learner):
    X, y = hard_streams.gaussian_clouds(120)
    model = make(learner).fit(X, y)
    before = model.dual_coef_.tobytes()
    copy.deepcopy(model).learn(X, y)
    assert model.dual_coef_.tobytes() == before


def test_set_params_reaches_the_budget():
    X, y = hard_streams.gaussian_clouds(120)
    model = plain.classifier([kb.Gaussian(gamma=0.1)], kb.RBP(30))
    assert model.fit(X, y).n_support_stored_ > 4
    assert model.set_params(learner__budget=4).fit(X, y).n_support_stored_ == 4


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_a_stream_that_changes_its_form(learner):
    """Dense chunks after sparse ones, and the other way round."""
    X, y = hard_streams.sparse_counts()
    plain = make(learner).fit(X, y)
    for one, other in ((np.asarray, sp.csr_matrix), (sp.csr_matrix, np.asarray)):
        model = make(learner)
        model.learn(one(X[:70]), y[:70])
        model.learn(other(X[70:]), y[70:])
        assert model.dual_coef_.tobytes() == plain.dual_coef_.tobytes()
        np.testing.assert_array_equal(model.support_vectors_, plain.support_vectors_)


@pytest.mark.parametrize("recipe", ["rbp", "forgetron", "bogd", "bpas", "spa"])
def test_recipes(recipe):
    """A recipe takes its budget, and learns what there is to learn."""
    X, y = hard_streams.wdbc()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = kb.recipes.make(recipe, budget=40, random_state=0)
    record = kb.prequential(model, X, y)
    assert record.error < 0.12
    assert 16 < record.n_support_stored <= 16 * 40
    assert model.combiner.discount == 0.99


BUDGETED = [kb.RBP, kb.Forgetron, kb.BOGD, kb.BPAS, kb.SparsePA]
WRONG = [
    *(
        (learner(budget=budget), f"{learner.__name__}: budget must be .* got {budget}$")
        for learner in BUDGETED
        for budget in (0, -1, 2.5)
    ),
    (kb.RBP(budget=None), "RBP: budget must be .* got None"),
    (kb.RBP(budget="5"), "RBP: budget must be .* got '5'"),
    (kb.BOGD(step=0), "BOGD: step must be a positive number, got 0"),
    (kb.BOGD(step=-0.5), "BOGD: step must be a positive number, got -0.5"),
    (kb.BOGD(step=np.nan), "BOGD: step must be a positive number, got nan"),
    (kb.BOGD(step="x"), "BOGD: step must be a positive number, got 'x'"),
    (kb.BOGD(regularization=-1), "BOGD: regularization must be a non-negative .* got -1"),
    (kb.BOGD(regularization=np.inf), "BOGD: regularization must be a non-negative .* got inf"),
    (kb.BOGD(step=0.5, regularization=2), r"BOGD: step \* regularization .* below 1, got 0.5 \* 2"),
    (kb.BPAS(aggressiveness=0), "BPAS: aggressiveness must be a positive number, got 0"),
    (kb.BPAS(aggressiveness=None), "BPAS: aggressiveness must be a positive number, got None"),
    (kb.RBP(tie="x"), "RBP: tie must be 'margin' or 'label', got 'x'"),
    (kb.Forgetron(tie="x"), "Forgetron: tie must be 'margin' or 'label', got 'x'"),
]


@pytest.mark.parametrize(("learner", "message"), WRONG, ids=lambda part: str(part))
def test_bad_parameters(learner, message):
    X, y = hard_streams.gaussian_clouds(30)
    model = plain.classifier(learner=learner)
    with pytest.raises(InputError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "classes_")


def test_a_numpy_integer_is_a_budget():
    X, y = hard_streams.gaussian_clouds(60)
    model = plain.classifier([kb.Gaussian(gamma=0.1)], kb.RBP(np.int64(3)))
    assert model.fit(X, y).n_support_stored_ == 3


def test_regularization_may_be_zero():
    X, y = hard_streams.gaussian_clouds(60)
    model = plain.classifier([kb.Gaussian(gamma=0.1)], kb.BOGD(100, 0.25, 0.0)).fit(X, y)
    np.testing.assert_array_equal(np.abs(model.dual_coef_), 0.25)
