"""Learners on explicit features, under every combiner and selection, against their twins."""

import hard_streams
import numpy as np
import plain
import pytest
import scipy.sparse as sp
from driving import learn, seed_of, waves
from hypothesis import given, settings
from hypothesis import strategies as st
from inside import Combining, extra_of, pool_of, progress_of, state_of, theta_of
from naive import combiners as naive_combiners
from naive import features as naive_features
from naive import regression, rounds
from naive.weights import relative
from sklearn.datasets import load_diabetes

import kernbrook as kb
from kernbrook.features.pools import draw
from kernbrook.learners.ridge import matrix_of

SEED = 3
WAVES = kb.RandomFeatures(6)
POOL = [kb.Gaussian(sigma=1.5), kb.Laplacian(sigma=3), kb.Cauchy(sigma=1)]


def descent(**parameters):
    return kb.GradientDescent, regression.Descent, parameters


def ridge(**parameters):
    return kb.Ridge, regression.Ridge, parameters


# name -> (learner, its twin, parameters of both)
ANY = {
    "root": descent(step=0.4),
    "root, horizon": descent(step=3.0, horizon=100, regularization=0.05),
    "constant": descent(step=0.2, schedule="constant", regularization=0.1),
    "normalized": descent(step=0.3, schedule="normalized"),
    "normalized, regularised": descent(step=0.4, schedule="normalized", regularization=0.1),
    "adagrad": descent(step=0.3, schedule="adagrad"),
    "adagrad, regularised": descent(step=0.3, schedule="adagrad", regularization=0.05),
    "ridge": ridge(),
    "ridge, weak": ridge(regularization=0.001),
    "ridge, forgetting": ridge(regularization=0.5, forgetting=0.9),
}
NUMBERS = ANY | {
    "epsilon": descent(step=0.3, loss="epsilon-insensitive"),
    "epsilon, wide": descent(step=0.5, schedule="adagrad", loss="epsilon-insensitive", epsilon=0.4),
    "epsilon, constant": descent(
        step=0.1, schedule="constant", regularization=0.2, loss="epsilon-insensitive", epsilon=0.0
    ),
}
CLASSES = ANY | {
    f"{loss}, {schedule}": descent(
        step=0.5, schedule=schedule, loss=loss, regularization=0.02 * (schedule != "root")
    )
    for loss in ("logistic", "hinge")
    for schedule in ("root", "constant", "adagrad")
}
# name -> (combiner of a loss, its twin for m experts)
COMBINERS = {
    "uniform": (lambda loss: kb.Uniform(), regression.Uniform),
    "Hedge": (lambda loss: kb.Hedge(0.7, loss), lambda m: naive_combiners.Hedge(m, 0.7)),
    "EXP": (lambda loss: kb.EXP(2.0, loss=loss), lambda m: regression.EXP(m, 2.0)),
    "EXP, horizon": (
        lambda loss: kb.EXP(3.0, horizon=80, loss=loss),
        lambda m: regression.EXP(m, 3.0, 80),
    ),
    "MLPoly": (lambda loss: kb.MLPoly(loss), naive_combiners.MLPoly),
    "MLPoly, scale-free": (
        lambda loss: kb.MLPoly(loss, scale_free=True),
        regression.MLPoly,
    ),
    "FixedShare": (
        lambda loss: kb.FixedShare(0.7, 0.02, loss),
        lambda m: naive_combiners.FixedShare(m, 0.7, 0.02),
    ),
}
SELECTIONS = {
    "all": (kb.Selection(), {}),
    "drawn update": (
        kb.Selection(update="drawn", smoothing=0.2),
        {"update": "drawn", "smoothing": 0.2},
    ),
    "drawn vote": (
        kb.Selection(vote="drawn", smoothing=0.2, weighted=False),
        {"vote_of": "drawn", "smoothing": 0.2, "weighted": False},
    ),
    "drawn": (
        kb.Selection(update="drawn", vote="drawn", smoothing=0.1, spread=False),
        {"update": "drawn", "vote_of": "drawn", "smoothing": 0.1, "spread": False},
    ),
    "adaptive": (kb.AdaptiveSelection(0.9), {"ratio": 0.9}),
}


# -- streams -----------------------------------------------------------------------------------


def drifting(n=120, d=3, seed=1):
    """The sign of the target changes half way."""
    X, y = waves(n, d, seed)
    return X, np.where(np.arange(n) < n // 2, y, -y)


def zero_rows(n=100, seed=2):
    X, y = waves(n, 4, seed)
    X[np.random.default_rng(seed).random(X.shape) < 0.5] = 0.0
    X[::7] = 0.0
    return X, y


def diabetes(n=150):
    X, y = load_diabetes(return_X_y=True)
    order = np.random.default_rng(4).permutation(len(y))[:n]
    return 20 * X[order], (y[order] - y.mean()) / y.std()


def real(name, n=150):
    X, y = hard_streams.real(name, n)
    return X.toarray(), y


STREAMS = {function.__name__: function for function in (waves, drifting, zero_rows, diabetes)}
REAL = ("energy", "tomshardware", "twitter")


# -- the machine and its twin ------------------------------------------------------------------


def make(choices, combiner, selection=None, numbers=True, features=WAVES, kernels=POOL, **others):
    kind = plain.regressor if numbers else plain.classifier
    learners = [own(features=features, **parameters) for own, _, parameters in choices]
    return kind(kernels, learners, combiner, selection, random_state=SEED, **others)


def features_of(kernel, X, index, features=WAVES):
    """(T, d) features of the rows by the naive maps, from the frequencies that were drawn."""
    if isinstance(kernel, kb.Polynomial):
        return np.array([naive_features.monomials(kernel.degree, kernel.offset, x) for x in X])
    V = draw(kernel, features, X.shape[1], seed_of(SEED), index).arrays()["frequencies"]
    return np.array([naive_features.random_features(V, x, features.normalize) for x in X])


def twin(X, y, choices, combiner, loss, C=None, kernels=POOL, features=WAVES, **others):
    """The experts of the first learner come first."""
    blocks = [features_of(kernel, X, i, features) for i, kernel in enumerate(kernels)]
    experts = [
        regression.OnFeatures(Z, own(Z.shape[1], C, **parameters))
        for _, own, parameters in choices
        for Z in blocks
    ]
    return rounds.run(
        y, experts, combiner(len(experts)), loss, numbers=C is None, seed=seed_of(SEED), **others
    )


def assert_same(model, said, expected, y, C=None, rtol=1e-9):
    predictions, asked = said
    np.testing.assert_array_equal(asked, expected.asked)
    if C is None:
        size = np.abs(y).max()
        np.testing.assert_allclose(predictions, expected.predictions, rtol=0, atol=rtol * size)
        errors = expected.losses / max(asked.sum(), 1)
        np.testing.assert_allclose(model.expert_errors_, errors, rtol=100 * rtol)
    else:
        np.testing.assert_array_equal(predictions, expected.predictions)
        np.testing.assert_allclose(model.expert_mistakes_, expected.losses, rtol=1e-12)
    np.testing.assert_allclose(model.expert_weights_, expected.weights, atol=10 * rtol)
    m = len(model.kernels_)
    np.testing.assert_allclose(
        model.kernel_weights_, [expected.weights[i::m].sum() for i in range(m)], atol=10 * rtol
    )
    np.testing.assert_array_equal(progress_of(model).used, expected.used)
    assert model.labels_asked_ == asked.sum()
    assert model.n_rounds_ == len(y)
    assert_same_learned(model, expected, rtol)


def assert_same_learned(model, expected, rtol):
    """Coefficients, and P of the ridges, beside their largest."""
    thetas, extras, at, more = theta_of(model), extra_of(model), 0, 0
    for expert in expected.experts:
        own = expert.learner
        d, rows = own.theta.shape[1] if hasattr(own, "theta") else len(own.A), 0
        if isinstance(own, regression.Ridge):
            theta, rows = np.linalg.solve(own.A, own.b.T).T, kb.Ridge().extra_rows(d, 1)
            memory = extras[more : more + rows * d].reshape(rows, d)
            pairs = [(matrix_of(memory), np.linalg.inv(own.A))]
        else:
            theta, pairs = own.theta, []
            if own.schedule == "adagrad":
                rows = len(theta)
                pairs = [(extras[more : more + rows * d].reshape(rows, d), own.squares)]
        pairs.append((thetas[at : at + theta.size].reshape(theta.shape), theta))
        for found, held in pairs:
            size = np.abs(held).max(initial=1e-300)
            np.testing.assert_allclose(found, held, rtol=0, atol=100 * rtol * size)
        at, more = at + theta.size, more + rows * d
    assert (at, more) == (thetas.size, extras.size)


# -- one learner -------------------------------------------------------------------------------


@pytest.mark.thinned
@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers(name, stream):
    X, y = STREAMS[stream]()
    choices = [NUMBERS[name]]
    expected = twin(X, y, choices, naive_combiners.MLPoly, "squared")
    model = make(choices, kb.MLPoly("squared"))
    assert_same(model, learn(model, X, y, size=64), expected, y)


@pytest.mark.thinned
@pytest.mark.parametrize("C", [2, 4])
@pytest.mark.parametrize("name", CLASSES)
def test_classes(name, C):
    X, y = waves()
    y = hard_streams.classes_of(X, C)
    choices = [CLASSES[name]]
    expected = twin(X, y, choices, naive_combiners.MLPoly, "mistakes", C)
    model = make(choices, kb.MLPoly("mistakes"), numbers=False)
    assert_same(model, learn(model, X, y, C, 50), expected, y, C)


@pytest.mark.thinned
@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("stream", ["wdbc", "digits", "iris"])
def test_classes_of_real_streams(stream, name):
    if stream == "wdbc":
        X, y = hard_streams.wdbc(120)
        X, y = hard_streams.scaled(X) / 5, (y > 0).astype(int)
    else:
        X, y = hard_streams.of_scikit_learn(stream, 120)
        X = X / 5
    C = int(y.max()) + 1
    choices = [CLASSES[name]]
    expected = twin(X, y, choices, lambda m: regression.EXP(m), "logistic", C, kernels=POOL[::2])
    model = make(choices, kb.EXP(loss="logistic"), numbers=False, kernels=POOL[::2])
    assert_same(model, learn(model, X, y, C, 41), expected, y, C)


@pytest.mark.thinned
@pytest.mark.data
@pytest.mark.parametrize("name", ["root", "adagrad", "ridge", "ridge, forgetting"])
@pytest.mark.parametrize("stream", REAL)
def test_numbers_of_real_streams(stream, name):
    X, y = real(stream)
    choices = [NUMBERS[name]]
    expected = twin(X, y, choices, lambda m: regression.EXP(m, 1.0, 150), "squared")
    model = make(choices, kb.EXP(horizon=150))
    assert_same(model, learn(model, X, y, size=101), expected, y)


@pytest.mark.parametrize("name", NUMBERS)
def test_sample_weights(name):
    """0 among them: an example of no weight is predicted, and changes no learner."""
    X, y = waves()
    importance = np.random.default_rng(0).choice([0.0, 0.3, 1.0, 4.0], len(y))
    choices = [NUMBERS[name]]
    expected = twin(
        X, y, choices, lambda m: regression.EXP(m, 0.5), "squared", importance=importance
    )
    model = make(choices, kb.EXP(0.5))
    assert_same(model, learn(model, X, y, size=33, importance=importance), expected, y)


# -- many learners, and what weighs them -------------------------------------------------------

MIXED = ("ridge", "constant", "adagrad", "root, horizon")
POOL_OF_LEARNERS = [ANY[name] for name in MIXED]


def losses_and_selections(*losses):
    """Every loss with all experts, the first of them with every selection."""
    return [(loss, "all") for loss in losses] + [(losses[0], each) for each in SELECTIONS][1:]


@pytest.mark.thinned
@pytest.mark.parametrize(
    ("loss", "selection"), losses_and_selections("squared", "absolute", "linearized")
)
@pytest.mark.parametrize("combiner", COMBINERS)
def test_combiners_of_numbers(combiner, loss, selection):
    X, y = drifting(70)
    of_loss, own = COMBINERS[combiner]
    chosen, settings_ = SELECTIONS[selection]
    expected = twin(X, y, POOL_OF_LEARNERS, own, loss, **settings_)
    model = make(POOL_OF_LEARNERS, of_loss(loss), chosen)
    assert_same(model, learn(model, X, y, size=50), expected, y, rtol=1e-8)


@pytest.mark.thinned
@pytest.mark.parametrize("C", [2, 3])
@pytest.mark.parametrize(
    ("loss", "selection"), losses_and_selections("mistakes", "hinge", "logistic")
)
@pytest.mark.parametrize("combiner", COMBINERS)
def test_combiners_of_classes(combiner, loss, C, selection):
    X, y = waves(70)
    y = hard_streams.classes_of(X, C)
    of_loss, own = COMBINERS[combiner]
    if combiner == "uniform":
        loss = "mistakes"
    chosen, settings_ = SELECTIONS[selection]
    choices = [CLASSES[name] for name in ("ridge", "hinge, root", "logistic, adagrad")]
    expected = twin(X, y, choices, own, loss, C, **settings_)
    model = make(choices, of_loss(loss), chosen, numbers=False)
    assert_same(model, learn(model, X, y, C, 50), expected, y, C, rtol=1e-8)


def test_a_pool_shares_its_features():
    """One map for each kernel, drawn by its number in the pool; other features have their own."""
    X, y = waves(60)
    learners = [kb.Ridge(features=WAVES), kb.GradientDescent(0.1, features=kb.RandomFeatures(6))]
    model = plain.regressor(POOL, learners, kb.Uniform(), random_state=SEED).fit(X, y)
    assert len(pool_of(model).maps) == len(POOL)
    alone = [
        plain.regressor(POOL, one, kb.Uniform(), random_state=SEED).fit(X, y) for one in learners
    ]
    together = np.mean([each.predict(X) for each in alone], axis=0)
    np.testing.assert_allclose(model.predict(X), together, rtol=1e-12, atol=1e-14)
    others = [kb.Ridge(features=WAVES), kb.Ridge(features=kb.RandomFeatures(5))]
    model = plain.regressor(POOL, others, random_state=SEED).fit(X, y)
    assert len(pool_of(model).maps) == 2 * len(POOL)
    assert pool_of(model).dims.tolist() == [12] * 3 + [10] * 3
    twice = [kb.Gaussian(sigma=1), kb.Gaussian(sigma=2)]
    model = make([ANY["ridge"]], kb.Uniform(), kernels=twice).fit(X, y)
    first, second = (own.arrays()["frequencies"] for own in pool_of(model).maps)
    assert (np.abs(first - 2 * second) > 1e-6).all()  # each kernel has draws of its own


@pytest.mark.parametrize("C", [None, 3])
def test_features_by_default(C):
    """50 frequencies for kernels of x - z, the monomials of a polynomial."""
    X, y = waves(40)
    y = y if C is None else hard_streams.classes_of(X, C)
    kernels = [kb.Gaussian(sigma=2), kb.Polynomial(2, 1.0), kb.Linear(), kb.Matern(1.5, sigma=2)]
    choices = [ANY["normalized"], ANY["constant"]]
    loss = "squared" if C is None else "hinge"
    expected = twin(X, y, choices, naive_combiners.MLPoly, loss, C, kernels, kb.RandomFeatures())
    model = make(choices, kb.MLPoly(loss), numbers=C is None, features="auto", kernels=kernels)
    assert_same(model, learn(model, X, y, C), expected, y, C, rtol=1e-8)


def test_features_not_normalised():
    """Table mode: z without 1 / sqrt(D)."""
    X, y = waves(90)
    whole = kb.RandomFeatures(6, normalize=False)
    choices = [ANY["root, horizon"]]
    expected = twin(X, y, choices, lambda m: regression.EXP(m, 1.0, 90), "squared", features=whole)
    model = make(choices, kb.EXP(horizon=90), features=whole)
    assert_same(model, learn(model, X, y), expected, y)


@settings(max_examples=40, deadline=None)
@given(
    names=st.lists(st.sampled_from(list(ANY)), min_size=1, max_size=3),
    combiner=st.sampled_from(list(COMBINERS)),
    selection=st.sampled_from(list(SELECTIONS)),
    C=st.sampled_from([None, 2, 5]),
    n=st.integers(1, 40),
    size=st.integers(1, 40),
    seed=st.integers(0, 2**31 - 1),
)
def test_random_streams(names, combiner, selection, C, n, size, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = rng.normal(size=n) if C is None else rng.integers(C, size=n)
    importance = rng.choice([0.0, 0.5, 2.0], size=n)
    loss = "squared" if C is None else "mistakes"
    of_loss, own = COMBINERS[combiner]
    chosen, settings_ = SELECTIONS[selection]
    choices = [ANY[name] for name in names]
    expected = twin(X, y, choices, own, loss, C, POOL[:2], importance=importance, **settings_)
    model = make(choices, of_loss(loss), chosen, C is None, kernels=POOL[:2])
    said = learn(model, X, y, C, size, importance)
    assert_same(model, said, expected, y, C, rtol=1e-7)


# -- ridge -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("forgetting", "n"), [(1.0, 3), (0.9, 3), (0.99, 10), (0.4, 8)])
def test_ridge_does_not_drift_from_the_direct_solution(forgetting, n):
    """Over 4,000 examples: with forgetting, an error in P that is not symmetric would grow."""
    X, y = waves(4000, 2)
    choices = [ridge(regularization=0.1, forgetting=forgetting)]
    kernels, few = [kb.Gaussian(sigma=1)], kb.RandomFeatures(n)
    expected = twin(X, y, choices, regression.Uniform, "squared", None, kernels, few)
    model = make(choices, kb.Uniform(), features=few, kernels=kernels)
    said, _ = learn(model, X, y)
    np.testing.assert_allclose(said, expected.predictions, rtol=0, atol=1e-9)
    A = expected.experts[0].learner.A
    inverse = np.linalg.inv(A)
    off = np.linalg.norm(matrix_of(extra_of(model).reshape(-1, 2 * n)) - inverse, 2)
    # What rounding does to an inverse grows with the condition of the matrix.
    assert off <= 100 * np.finfo(float).eps * np.linalg.cond(A) * np.linalg.norm(inverse, 2)


def test_ridge_is_the_ridge_regression_of_all_so_far():
    """Without the forecaster's shrinkage of a prediction: theta is scikit-learn's Ridge."""
    from sklearn.linear_model import Ridge

    X, y = diabetes(400)
    importance = np.random.default_rng(0).choice([0.5, 1.0, 3.0], len(y))
    model = make([ridge(regularization=0.3)], kb.Uniform(), kernels=POOL[:1])
    learn(model, X, y, importance=importance)
    Z = features_of(POOL[0], X, 0)
    batch = Ridge(alpha=0.3, fit_intercept=False, solver="cholesky")
    batch.fit(Z, y, relative(importance, len(y)))
    np.testing.assert_allclose(theta_of(model), batch.coef_, rtol=1e-8, atol=1e-10)


@settings(max_examples=25, deadline=None)
@given(
    power=st.integers(-30, 30),
    sign=st.sampled_from([-1, 1]),
    forgetting=st.sampled_from([1.0, 0.95]),
)
def test_ridge_is_equivariant_to_the_scale_of_the_target(power, sign, forgetting):
    """A power of 2 rounds nothing."""
    X, y = waves(60)
    factor = sign * 2.0**power
    choices = [ridge(forgetting=forgetting), ridge(regularization=0.01)]
    usual, scaled = (make(choices, kb.Uniform()) for _ in range(2))
    np.testing.assert_array_equal(factor * learn(usual, X, y)[0], learn(scaled, X, factor * y)[0])
    np.testing.assert_array_equal(factor * usual.predict(X), scaled.predict(X))
    np.testing.assert_array_equal(usual.expert_weights_, scaled.expert_weights_)


# -- blocks, sparsity, threads -----------------------------------------------------------------


@pytest.mark.parametrize(("C", "selection"), [(None, "adaptive"), (2, "all"), (3, "drawn update")])
def test_chunks_and_sparsity_change_nothing(C, selection):
    """Of more rows than `check_learner` has: blocks end within them."""
    X, y = zero_rows(600)
    y = y if C is None else hard_streams.classes_of(X, C)
    loss = "squared" if C is None else "logistic"

    def fresh():
        return make(POOL_OF_LEARNERS, kb.MLPoly(loss), SELECTIONS[selection][0], C is None)

    whole = fresh()
    said, _ = learn(whole, X, y, C)
    sparse = sp.csr_matrix(X)
    for size, rows in ((7, sparse), (256, X), (600, sparse)):
        model = fresh()
        np.testing.assert_array_equal(learn(model, rows, y, C, size)[0], said)
        assert state_of(model) == state_of(whole)
        np.testing.assert_array_equal(model.predict(rows), whole.predict(X))


@pytest.mark.parametrize("labels", ["all", kb.RandomLabels(1.0)], ids=["alone", "together"])
def test_threads_change_nothing(labels, monkeypatch):
    """Where every label is learned from, experts learn by themselves, in several threads."""
    X, y = waves(700, 5)
    models = []
    for threads in ("1", "3"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        model = make(
            POOL_OF_LEARNERS, kb.MLPoly("squared"), features=kb.RandomFeatures(40), labels=labels
        )
        models.append((model, learn(model, X, y)[0], model.predict(X)))
    (first, *said), (second, *again) = models
    np.testing.assert_array_equal(said, again)
    assert state_of(first) == state_of(second)


@pytest.mark.parametrize("C", [None, 2, 3])
def test_learning_alone_is_learning_together(C):
    """A policy that asks for all labels goes the other way through the pass."""
    X, y = waves(300)
    y = y if C is None else hard_streams.classes_of(X, C)
    loss = "squared" if C is None else "hinge"
    alone, together, without = (
        make(POOL_OF_LEARNERS, kb.MLPoly(loss), numbers=C is None, labels=labels)
        for labels in ("all", kb.RandomLabels(1.0), kb.RandomLabels(0.0))
    )
    np.testing.assert_array_equal(learn(alone, X, y, C), learn(together, X, y, C))
    assert state_of(alone) == state_of(together)
    named = {} if C is None else {"classes": np.arange(C)}
    without.partial_fit(X, y, **named)
    assert state_of(alone) == state_of(without)


# -- losses of any size ------------------------------------------------------------------------


def test_exp_with_losses_of_a_million():
    """Weights in the log domain: they never underflow to nobody, and come back."""
    X, y = waves(200)
    y = 1e3 * y  # squared errors of 1e6
    choices = [ANY["ridge"], ANY["root"], ANY["ridge, forgetting"]]
    for exp, own in ((kb.EXP(), (1.0, None)), (kb.EXP(10.0, horizon=200), (10.0, 200))):
        expected = twin(X, y, choices, lambda m, own=own: regression.EXP(m, *own), "squared")
        model = make(choices, exp)
        assert_same(model, learn(model, X, y), expected, y, rtol=1e-8)
        assert np.isfinite(progress_of(model).log_weights).all()
        assert model.expert_weights_.max() > 0.99


def test_a_cap_on_the_losses():
    X, y = waves(100)
    y[40] = 1e4  # one outlier
    importance = np.where(np.arange(100) == 50, 30.0, 1.0)
    choices = [ANY["ridge"], ANY["constant"]]
    expected = twin(
        *(X, y, choices, lambda m: regression.EXP(m, 0.5, 100), "squared"),
        importance=importance, cap=2.0,
    )  # fmt: skip
    model = make(choices, kb.EXP(0.5, horizon=100, cap=2.0))
    assert_same(model, learn(model, X, y, importance=importance), expected, y)


@pytest.mark.parametrize("combiner", ["EXP", "EXP, horizon", "MLPoly, scale-free"])
@settings(max_examples=60, deadline=None)
@given(
    m=st.sampled_from([1, 2, 5, 16]),
    T=st.integers(1, 50),
    size=st.sampled_from([1e-30, 1e-3, 1.0, 1e6]),
    negative=st.booleans(),
    seed=st.integers(0, 2**31 - 1),
)
def test_compiled_combiners(combiner, m, T, size, negative, seed):
    """Losses of any size, rounds of none, linearized ones of either sign."""
    rng = np.random.default_rng(seed)
    losses = size * (rng.random((T, m)) - 0.5 * negative) * rng.integers(0, 2, (T, 1))
    of_loss, own = COMBINERS[combiner]
    got = naive_combiners.run(Combining(of_loss("squared"), m), losses)
    expected = naive_combiners.run(own(m), losses)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("combiner", [name for name in COMBINERS if name != "uniform"])
@pytest.mark.parametrize("loss", ["squared", "absolute", "linearized"])
@pytest.mark.parametrize("unit", [1e-160, 1e-90, 1e-30, 1e30, 1e90])
def test_numbers_in_any_unit(unit, loss, combiner):
    """Squares of the losses may underflow, or overflow: weights and predictions stay numbers."""
    X, y = waves(30)
    choices = [ANY["ridge"], ANY["constant"]]
    model = make(choices, COMBINERS[combiner][0](loss), kernels=POOL[:2])
    said, _ = learn(model, X, unit * y)
    assert np.isfinite(said).all()
    assert model.expert_weights_.sum() == pytest.approx(1)
    assert (np.abs(said) < 1e3 * unit).all()
