"""A model beside the naive one: the same learners, combiner, selection and policy, row by row."""

import numpy as np
import plain
from driving import learn, seed_of
from every_learner import SEED, kernels_of
from every_policy import fresh
from inside import progress_of, scores_of
from naive import policies, rounds

ALL = (None, {})  # a selection, and the settings of its twin
EVERY = ("all", policies.everything)  # a policy, and its twin


def assert_equals_its_twin(
    learner, of_twin, X, y, C, combiner, twin, selection=ALL, policy=EVERY, *, kernels=None,
    size=40, importance=None, seed=SEED, rtol=1e-8, **others
):  # fmt: skip
    """Predictions, labels asked for, weights, losses, and what each expert says of any row.

    learner, of_twin : a learner and what makes its naive experts, (number, kernel, X, C) -> expert
    C : number of classes; None: labels are numbers
    combiner, twin : of the losses of m experts the naive one is twin(m)
    kernels : a pool, and its naive kernels; None: those of the learner

    Returns the model, and what the naive run has.
    """
    pool, own = kernels_of(learner) if kernels is None else kernels
    kind = plain.regressor if C is None else plain.classifier
    model = kind(pool, learner, combiner, selection[0], policy[0], random_state=seed, **others)
    said, asked = learn(model, X, y, C, size, importance)
    experts = [of_twin(i, kernel, X, C) for i, kernel in enumerate(own)]
    loss = getattr(combiner, "loss", "squared" if C is None else "mistakes")
    cap = getattr(combiner, "cap", None)
    expected = rounds.run(
        y, experts, twin(len(experts)), loss, C is None, fresh(policy[1]), seed=seed_of(seed),
        importance=importance, cap=np.inf if cap is None else cap, **selection[1],
    )  # fmt: skip
    assert_same(model, said, asked, expected, X, y, C, rtol)
    return model, expected


def assert_same(model, said, asked, expected, X, y, C, rtol=1e-8):
    np.testing.assert_array_equal(asked, expected.asked)
    if C is None:
        largest = np.abs(y).max()
        np.testing.assert_allclose(said, expected.predictions, rtol=0, atol=rtol * largest)
    else:
        np.testing.assert_array_equal(said, expected.predictions)
    np.testing.assert_allclose(model.expert_weights_, expected.weights, atol=10 * rtol)
    np.testing.assert_allclose(progress_of(model).losses, expected.losses, rtol=100 * rtol)
    np.testing.assert_array_equal(progress_of(model).used, expected.used)
    m = len(model.kernels_)
    if len(expected.weights) % m == 0:
        own = expected.weights.reshape(-1, m).sum(axis=0)
        np.testing.assert_allclose(model.kernel_weights_, own, atol=10 * rtol)
    assert (model.labels_asked_, model.n_rounds_) == (expected.asked.sum(), len(y))
    assert_same_functions(model, expected.experts, X, rtol)


def assert_same_functions(model, experts, X, rtol):
    """Of each expert the score of each row, beside the terms that it is a sum of."""
    found = scores_of(model, X)
    for e, expert in enumerate(experts):
        scores, sizes = map(np.array, zip(*[expert.see(t) for t in range(len(X))], strict=True))
        room = rtol * np.maximum(sizes, np.abs(scores).max())
        assert (np.abs(found[:, e] - scores) <= room).all(), e
    counts = [count_of(expert) for expert in experts]
    if None not in counts:
        assert model.n_support_stored_ == sum(counts)
        assert model.n_support_active_ == np.array(counts)[progress_of(model).used].sum()


def count_of(expert):
    """How many support vectors are of some consequence, where these are rows."""
    own = getattr(expert, "expert", None)
    if not hasattr(own, "rows"):
        return None
    return sum(bool(np.any(alpha)) for alpha in own.alphas)
