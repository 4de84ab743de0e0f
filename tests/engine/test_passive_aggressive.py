"""PA, PA-I, PA-II and SPA against their naive twins; blocks, margins, huge losses."""

from functools import cache

import hard_streams
import numpy as np
import plain
import pytest
from driving import SIGNS, says, seed_of
from hypothesis import given, settings
from hypothesis import strategies as st
from inside import progress_of
from naive import kernels as naive_kernels
from naive import passive_aggressive as naive

import kernbrook as kb
from kernbrook.learners import PassiveAggressive, SparsePA

STREAMS = hard_streams.DRAWN | {"wdbc": hard_streams.wdbc}
SEED = 11
NOISE = 2e-12  # a loss within this share of 1 + sum |alpha k| is rounding; see `assert_same`
LEARNERS = {
    "PA": PassiveAggressive("PA"),
    "PA-I": PassiveAggressive("PA-I", 0.3),
    "PA-II": PassiveAggressive("PA-II", 0.3),
    "PA-I, unit": PassiveAggressive("PA-I", 0.3, unit_diagonal=True),
    "SPA": SparsePA(),
    "SPA, unit": SparsePA(0.2, 0.5, 2.0, unit_diagonal=True),
}


def twin_of(learner):
    if isinstance(learner, SparsePA):
        return naive.sparse_pa(learner.step, learner.cap, learner.divisor)
    return naive.passive_aggressive(learner.variant, learner.aggressiveness)


def spa_machine(learner, kernels="omkc16", random_state=SEED):
    """Any learner in the place that SparsePA has in the recipe "spa"."""
    return plain.classifier(
        kernels,
        learner,
        kb.Hedge(discount=0.99, loss="hinge"),
        kb.Selection(update="drawn", smoothing=0.001, spread=False),
        random_state=random_state,
    )


def one_by_one(model, X, y, importance=None):
    """Predictions, (T,), and what each example was added with, (T, m)."""
    importance = np.ones(len(y)) if importance is None else importance
    predicted, rows, stored = [], [], 0
    for t in range(len(y)):
        part = slice(t, t + 1)
        said, _ = model.learn(X[part], y[part], classes=[-1, 1], sample_weight=importance[part])
        predicted.append(said[0])
        coefficients = model.dual_coef_
        added = len(coefficients) > stored
        rows.append(coefficients[-1] if added else np.zeros(coefficients.shape[1]))
        stored = len(coefficients)
    return np.array(predicted), np.array(rows)


def assert_close(coefficients, expected, squares):
    """To 1e-9, and to the rounding of the score that a coefficient is made from."""
    slack = 1e-9 * np.abs(expected.coefficients) + NOISE * expected.rounding / squares
    wrong = np.abs(coefficients - expected.coefficients) > slack
    assert not wrong.any(), (np.argwhere(wrong), coefficients[wrong], expected.coefficients[wrong])


def assert_same(model, predictions, coefficients, expected, squares, learner):
    """A pass one by one equals the twin's: exactly in predictions, and in SPA's support vectors.

    PA and PA-I bring the margin to 1, so that a duplicate's loss is 0 up to rounding, and rounding
    decides whether it is added: with a coefficient below NOISE (1 + sum |alpha k|) / k(x, x). SPA
    adds such an example with a chance of 1e-16.
    """
    np.testing.assert_array_equal(predictions, expected.predictions)
    assert_close(coefficients, expected, squares)
    if isinstance(learner, SparsePA):
        np.testing.assert_array_equal(coefficients != 0, expected.coefficients != 0)
        counts = np.count_nonzero(expected.coefficients, axis=0)
        assert model.n_support_stored_ == counts.sum()
        assert model.n_support_active_ == counts[expected.used].sum()
    weights = np.exp(expected.log_weights)
    np.testing.assert_allclose(model.kernel_weights_, weights / weights.sum(), atol=1e-9)
    np.testing.assert_allclose(model.expert_mistakes_, expected.mistakes, rtol=1e-12)


def squares_of(X, kernels, learner):
    """(T, m) k(x, x) as the step takes it; 1 where the example is not added."""
    squares = np.array([[float(kernel(x[None, :], x)[0]) for kernel in kernels] for x in X])
    return np.where((squares > 1e-12) & (not learner.unit_diagonal), squares, 1.0)


@pytest.mark.thinned
@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("stream", STREAMS)
def test_twins_on_hard_streams(stream, name):
    X, y = STREAMS[stream]()
    X, y = X[:100], y[:100]
    learner, twins = LEARNERS[name], naive_kernels.omkc16()
    expected = naive.run(
        *(X, y, twins, twin_of(learner)), unit_diagonal=learner.unit_diagonal, seed=seed_of(SEED)
    )
    model = spa_machine(learner)
    found = one_by_one(model, X, y)
    assert_same(model, *found, expected, squares_of(X, twins, learner), learner)


@cache
def wdbc_by_the_twin(name):
    X, y = hard_streams.wdbc(300)
    learner = LEARNERS[name]
    return naive.run(
        *(X, y, naive_kernels.omkc16(), twin_of(learner)),
        unit_diagonal=learner.unit_diagonal,
        seed=seed_of(SEED),
    )


@pytest.mark.thinned
@pytest.mark.parametrize("name", ["PA-I", "PA-II", "SPA", "SPA, unit"])
@pytest.mark.parametrize("size", [1, 7, 256, 300])
def test_twins_on_wdbc(name, size):
    """Raw features, no duplicates: support vectors agree exactly, whatever the learner."""
    X, y = hard_streams.wdbc(300)
    expected, model = wdbc_by_the_twin(name), spa_machine(LEARNERS[name])
    np.testing.assert_array_equal(says(model, X, y, SIGNS, size), expected.predictions)
    kept = expected.coefficients.any(axis=1)
    np.testing.assert_array_equal(model.support_vectors_, X[kept])
    coefficients = np.zeros_like(expected.coefficients)
    coefficients[kept] = model.dual_coef_
    assert_close(coefficients, expected, squares_of(X, naive_kernels.omkc16(), LEARNERS[name]))
    np.testing.assert_array_equal(coefficients != 0, expected.coefficients != 0)
    weights = np.exp(expected.log_weights)
    np.testing.assert_allclose(model.kernel_weights_, weights / weights.sum(), atol=1e-9)
    np.testing.assert_array_equal(model.expert_mistakes_, expected.mistakes)


LEARNER = st.one_of(
    st.builds(
        PassiveAggressive,
        variant=st.sampled_from(["PA", "PA-I", "PA-II"]),
        aggressiveness=st.sampled_from([0.01, 0.3, 1.0, 50.0]),
        unit_diagonal=st.booleans(),
    ),
    st.builds(
        lambda step, cap, ratio, unit: SparsePA(step, cap, cap * ratio, unit),
        st.sampled_from([0.01, 0.1, 2.0]),
        st.sampled_from([0.25, 1.0, 5.0]),
        st.sampled_from([1.0, 3.0, 10.0]),
        st.booleans(),
    ),
)
POOL = [
    *(kb.Linear(), kb.Polynomial(3), kb.Gaussian(gamma=0.5), kb.Cauchy(gamma=2)),
    *(kb.Mean([kb.Linear(), kb.Gaussian(gamma=1)]), kb.Sigmoid(gamma=0.5, offset=-1)),
]
TWINS = [
    *(naive_kernels.linear(), naive_kernels.polynomial(3)),
    *(naive_kernels.gaussian(0.5), naive_kernels.cauchy(2)),
    naive_kernels.mean([naive_kernels.linear(), naive_kernels.gaussian(1)]),
    naive_kernels.sigmoid(0.5, -1),  # negative on the diagonal of short examples: not added
]


@settings(max_examples=50, deadline=None)
@given(
    data=st.data(),
    learner=LEARNER,
    loss=st.sampled_from(["hinge", "mistakes"]),
    discount=st.sampled_from([1e-3, 0.5, 0.99, 1.0]),
    cap=st.sampled_from([None, 0.5, 10.0]),
    smoothing=st.sampled_from([0.0, 0.001, 0.7, 1.0]),
    spread=st.booleans(),
    weighted=st.booleans(),
    update=st.sampled_from(["all", "drawn"]),
    vote=st.sampled_from(["all", "drawn"]),
    random_state=st.integers(0, 2**31 - 1),
    size=st.integers(2, 50),
)
def test_twins_on_random_streams(
    data, learner, loss, discount, cap, smoothing, spread, weighted, update, vote, random_state,
    size,
):  # fmt: skip
    """Small integers: duplicates, zero rows and exact cancellations come of themselves.

    One by one against the twin, then in chunks against one by one, bit by bit.
    """
    n = data.draw(st.integers(1, 50))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**31)))
    X = rng.integers(-2, 3, size=(n, 2)).astype(float)
    y = rng.choice([-1.0, 1.0], size=n)
    y[: rng.integers(0, n + 1)] = 1.0  # a prefix of one class
    importance = rng.choice([0.0, 0.25, 1.0, 3.0], size=n)
    expected = naive.run(
        *(X, y, TWINS, twin_of(learner), discount, loss, cap, smoothing, spread, update, vote),
        weighted=weighted,
        unit_diagonal=learner.unit_diagonal,
        seed=seed_of(random_state),
        importance=importance,
    )

    def fresh():
        return plain.classifier(
            POOL,
            learner,
            kb.Hedge(discount=discount, loss=loss, cap=cap),
            kb.Selection(update, vote, smoothing, weighted, spread),
            random_state=random_state,
        )

    model, chunked = fresh(), fresh()
    predictions, coefficients = one_by_one(model, X, y, importance)
    squares = squares_of(X, TWINS, learner) / np.where(importance, importance, 1)[:, None]
    assert_same(model, predictions, coefficients, expected, squares, learner)
    np.testing.assert_array_equal(says(chunked, X, y, SIGNS, size, importance), predictions)
    np.testing.assert_array_equal(chunked.dual_coef_, model.dual_coef_)
    np.testing.assert_array_equal(chunked.support_vectors_, model.support_vectors_)
    np.testing.assert_array_equal(chunked.kernel_weights_, model.kernel_weights_)
    assert chunked.n_support_active_ == model.n_support_active_


@pytest.mark.data
def test_a3a():
    """Binary features: many scores cancel exactly."""
    X, y = hard_streams.real("a3a")
    X, y = X[:600], y[:600]
    whole = spa_machine(SparsePA(unit_diagonal=True))
    predictions = says(whole, X, y, SIGNS, 600)
    for form, size in ((X, 7), (X.toarray(), 1), (X.toarray(), 600)):
        model = spa_machine(SparsePA(unit_diagonal=True))
        np.testing.assert_array_equal(says(model, form, y, SIGNS, size), predictions)
        np.testing.assert_array_equal(model.dual_coef_, whole.dual_coef_)


# -- what the steps promise -------------------------------------------------------------------


@pytest.mark.thinned
@pytest.mark.parametrize("kernel", [0, 1, 2, 3, 6, 9, 12, 15])  # each power, and some widths
@pytest.mark.parametrize("stream", ["gaussian_clouds", "duplicates", "with_zero_rows", "wdbc"])
def test_pa_meets_the_margin(stream, kernel):
    """After an update the margin of its example is exactly 1; without a loss nothing changes."""
    X, y = STREAMS[stream]()
    X, y = X[:60], y[:60]
    pool = [kb.kernels.resolve("omkc16")[kernel]]
    model = plain.classifier(pool, PassiveAggressive("PA"), kb.Hedge(loss="hinge"))
    model.learn(X[:1], y[:1], classes=[-1, 1])
    met = 0
    for x, label in zip(X[1:, None], y[1:, None], strict=True):
        before, stored = model.decision_function(x) * label, model.n_support_stored_
        model.learn(x, label)
        after = model.decision_function(x) * label
        if before < 1 and (kernel > 2 or x.any()):
            assert after == pytest.approx(1, abs=1e-9)
            met += model.n_support_stored_ == stored + 1
        else:  # enough of a margin, or a zero vector, which no polynomial can move
            assert after == before
            assert model.n_support_stored_ == stored
    assert met > 10


@pytest.mark.thinned
@pytest.mark.parametrize("aggressiveness", [1e-3, 0.05, 1.0, 1e3])
@pytest.mark.parametrize("variant", ["PA", "PA-I", "PA-II"])
@pytest.mark.parametrize("kernel", [kb.Linear(), kb.Polynomial(2), kb.Gaussian(sigma=1)], ids=repr)
def test_one_step(kernel, variant, aggressiveness):
    """The coefficient of figure 1, from the score just before and k(x, x) = ||x||^2, ^4 or 1."""
    X, y = hard_streams.gaussian_clouds(80)
    C = aggressiveness
    model = plain.classifier([kernel], PassiveAggressive(variant, C), kb.Hedge(loss="hinge")).fit(
        X[:40], y[:40]
    )
    stepped = 0
    for x, label in zip(X[40:, None], y[40:, None], strict=True):
        loss = max(0.0, 1.0 - float((label * model.decision_function(x))[0]))
        norm = float((x * x).sum())
        square = {"Linear": norm, "Polynomial": norm**2, "Gaussian": 1.0}[type(kernel).__name__]
        tau = {
            "PA": loss / square,
            "PA-I": min(C, loss / square),
            "PA-II": loss / (square + 1 / (2 * C)),
        }[variant]
        stored = model.n_support_stored_
        model.learn(x, label)
        assert model.n_support_stored_ == stored + (loss > 0)
        if loss > 0:
            stepped += 1
            assert model.dual_coef_[-1, 0] == pytest.approx(tau * label[0], rel=1e-9)
    assert stepped > 5


@pytest.mark.parametrize("unit", [False, True])
def test_zero_vectors(unit):
    """k(x, x) = 0 for the polynomials alone: not added, unless k(x, x) is taken as 1."""
    X, y = hard_streams.with_zero_rows()
    zero = ~X.any(axis=1)
    for learner in (PassiveAggressive("PA-I", 0.1, unit), SparsePA(divisor=1, unit_diagonal=unit)):
        model = plain.classifier("omkc16", learner, kb.Hedge(1, "hinge"), random_state=0)
        _, coefficients = one_by_one(model, X, y)
        assert coefficients[zero][:, :3].any() == unit
        assert coefficients[zero][:, 3:].any()
        assert coefficients[~zero][:, :3].any()


def test_lengths_at_the_edge_of_zero():
    """k(x, x) = 1e-12 is not added, 1.1e-12 is."""
    X = np.array([[1e-6], [1.1e-6]])
    assert float(X[0, 0]) ** 2 <= 1e-12
    for learner in (PassiveAggressive("PA-I"), SparsePA(cap=1, divisor=1)):
        model = plain.classifier([kb.Linear()], learner, kb.Hedge(loss="hinge"))
        model.learn(X, [1, 1], classes=[-1, 1])
        np.testing.assert_array_equal(model.support_vectors_, X[1:])


# -- weights in the log domain ----------------------------------------------------------------


def test_huge_losses():
    """Raw features make the cubic kernel's losses 1e6 and more: its weight is 0, the sum 1."""
    X, y = hard_streams.wdbc(300)
    expected = wdbc_by_the_twin("SPA, unit")
    assert expected.rounding.max() > 1e15  # SPA adds without regard to k(x, x)
    model = spa_machine(LEARNERS["SPA, unit"])
    says(model, X, y, SIGNS, 100)
    assert model.kernel_weights_[2] == 0
    assert model.kernel_weights_.sum() == pytest.approx(1, abs=1e-12)
    assert expected.log_weights.min() < -1e6  # far below any float
    weights = progress_of(model).log_weights
    assert weights.max() == 0
    np.testing.assert_allclose(weights, expected.log_weights, rtol=1e-9, atol=1e-9)


def test_a_cap_bounds_what_a_round_takes():
    """Capped at 1, no weight falls below discount^T of the greatest; huge losses count as 1."""
    X, y = hard_streams.wdbc()
    T = len(y)
    model = spa_machine(SparsePA(unit_diagonal=True)).set_params(
        combiner=kb.Hedge(discount=0.99, loss="hinge", cap=1.0)
    )
    says(model, X, y, SIGNS, 100)
    relative = model.kernel_weights_ / model.kernel_weights_.max()
    assert (relative >= 0.99**T * (1 - 1e-9)).all()
    assert relative[2] < 0.5
    expected = naive.run(
        *(X, y, naive_kernels.omkc16(), naive.sparse_pa()),
        cap=1.0,
        unit_diagonal=True,
        seed=seed_of(SEED),
    )
    np.testing.assert_allclose(relative, np.exp(expected.log_weights), rtol=1e-9)


def test_scores_that_cancel_among_kernels():
    """-0.1 - 0.2 + 0.3 is -5.6e-17 in floats, and 0 here: the positive class."""

    def constant(value):
        return lambda A, B: np.full((len(A), len(B)), value)

    model = plain.classifier(
        [constant(value) for value in (-0.1, -0.2, 0.3)],
        kb.Perceptron(),
        kb.Hedge(discount=1.0, loss="hinge"),
    )
    model.learn([[1.0]], [1], classes=[-1, 1])  # every score is 0, an error: added with 1
    assert model.decision_function([[2.0]])[0] == 0
    assert model.learn([[2.0]], [1])[0] == 1
    assert -0.1 - 0.2 + 0.3 < 0
