"""More than two classes, a score for each, against the naive twins; and two as a special case."""

from functools import partial

import hard_streams
import numpy as np
import plain
import pytest
from covering import pairwise
from driving import says, seed_of
from hypothesis import given, settings
from hypothesis import strategies as st
from inside import slots_of, sums_of, support_of
from naive import combiners as naive_combiners
from naive import kernels as naive_kernels
from naive import multiclass as naive

import kernbrook as kb
from kernbrook.engine.blocks import slices
from kernbrook.engine.learning import Told, learn_block
from kernbrook.engine.scalers import Scalers
from kernbrook.engine.stores.base import Setting
from kernbrook.estimators.confidence import Calibration
from kernbrook.estimators.pool import make_model, pool_of
from kernbrook.gram.rows import DenseRows

SEED = 5
B = 9
BOLD = {"margin": 0.9, "radius": 2.0, "ridge": 0.05}
# name -> (the learner, its twin, its budget, how it counts its mistakes)
LEARNERS = {
    "perceptron": (kb.Perceptron(), naive.perceptron, None, "margin"),
    "perceptron, label": (
        *(kb.Perceptron("label"), partial(naive.perceptron, tie="label"), None, "label"),
    ),
    "PA": (
        kb.PassiveAggressive("PA"),
        partial(naive.passive_aggressive, variant="PA"),
        *(None, "label"),
    ),
    "PA-I": (
        kb.PassiveAggressive("PA-I", 0.3),
        partial(naive.passive_aggressive, variant="PA-I", aggressiveness=0.3),
        *(None, "label"),
    ),
    "PA-II": (
        kb.PassiveAggressive("PA-II", 0.3),
        partial(naive.passive_aggressive, variant="PA-II", aggressiveness=0.3),
        *(None, "label"),
    ),
    "PA-I, unit": (
        kb.PassiveAggressive("PA-I", 0.3, unit_diagonal=True),
        partial(naive.passive_aggressive, aggressiveness=0.3, unit_diagonal=True),
        *(None, "label"),
    ),
    "spa": (kb.SparsePA(divisor=1.5), partial(naive.sparse_pa, divisor=1.5), None, "label"),
    "spa, unit": (
        kb.SparsePA(0.2, 0.5, 2.0, unit_diagonal=True),
        partial(naive.sparse_pa, step=0.2, cap=0.5, divisor=2.0, unit_diagonal=True),
        *(None, "label"),
    ),
    "spa, budget": (
        kb.SparsePA(divisor=1.5, budget=B),
        partial(naive.sparse_pa, divisor=1.5),
        *(B, "label"),
    ),
    "rbp": (kb.RBP(B), naive.perceptron, B, "margin"),
    "rbp, label": (*(kb.RBP(B, tie="label"), partial(naive.perceptron, tie="label"), B, "label"),),
    "forgetron": (kb.Forgetron(B), naive.forgetron, B, "margin"),
    "bogd": (kb.BOGD(B), naive.bogd, B, "label"),
    "bogd, steep": (
        kb.BOGD(B, step=0.7, regularization=0.9, upkeep="uniform"),
        partial(naive.bogd, step=0.7, regularization=0.9, uniform=True),
        *(B, "label"),
    ),
    "bpas": (kb.BPAS(B), naive.bpas, B, "label"),
    "bpas, bold": (
        *(kb.BPAS(B, aggressiveness=5.0), partial(naive.bpas, aggressiveness=5.0), B, "label"),
    ),
    "projectron": (kb.Projectron(B), naive.projectron, B, "margin"),
    "projectron, label": (
        kb.Projectron(B, threshold=0.6, tie="label"),
        partial(naive.projectron, threshold=0.6, tie="label"),
        *(B, "label"),
    ),
    "projectron++": (
        kb.ProjectronPlusPlus(B),
        partial(naive.projectron, margin_errors=True),
        *(B, "margin"),
    ),
    "projectron++, far": (
        kb.ProjectronPlusPlus(B, threshold=0.9),
        partial(naive.projectron, threshold=0.9, margin_errors=True),
        *(B, "margin"),
    ),
    "ahpatron": (kb.Ahpatron(B), naive.ahpatron, B, "label"),
    "ahpatron, bold": (kb.Ahpatron(B, **BOLD), partial(naive.ahpatron, **BOLD), B, "label"),
}
LOSSES = {
    "mistakes": {"discount": 0.9},
    "hinge": {"discount": 0.9, "loss": "hinge", "cap": 50.0},
}
SELECTIONS = {
    "all": {},
    "drawn update": {"update": "drawn", "smoothing": 0.1},
    "drawn vote": {"vote": "drawn", "smoothing": 0.1, "weighted": False},
    "drawn": {"update": "drawn", "vote": "drawn", "smoothing": 0.05, "spread": False},
}
# Kernels under which no two removals cost nearly the same.
POOL = [
    *(kb.Linear(), kb.Polynomial(2, 1.0), kb.Gaussian(gamma=0.02), kb.Gaussian(gamma=0.1)),
    *(kb.Cauchy(gamma=0.3), kb.Mean([kb.Linear(), kb.Gaussian(gamma=0.1)])),
]
TWINS = [
    *(naive_kernels.linear(), naive_kernels.polynomial(2, 1.0), naive_kernels.gaussian(0.02)),
    *(naive_kernels.gaussian(0.1), naive_kernels.cauchy(0.3)),
    naive_kernels.mean([naive_kernels.linear(), naive_kernels.gaussian(0.1)]),
]


def make(learner, loss="mistakes", selection="all", kernels=POOL, seed=SEED):
    return plain.classifier(
        kernels,
        LEARNERS[learner][0],
        kb.Hedge(**LOSSES[loss]),
        kb.Selection(**SELECTIONS[selection]),
        random_state=seed,
    )


def twin(
    X, y, C, learner, loss="mistakes", selection="all", twins=TWINS, importance=None, seed=SEED,
    order=None,
):  # fmt: skip
    _, step, budget, tie = LEARNERS[learner]
    chosen = LOSSES[loss] | SELECTIONS[selection]
    return naive.run(
        X, y, twins, C, step, budget, tie, seed=seed_of(seed), importance=importance, order=order,
        **chosen,
    )  # fmt: skip


def coefficients_of(experts, C):
    """The rows that some expert holds, and (rows, experts, C) coefficients."""
    kept = sorted({row for expert in experts for row in expert.rows})
    coefficients = np.zeros((len(kept), len(experts), C))
    for e, expert in enumerate(experts):
        coefficients[np.searchsorted(kept, np.array(expert.rows, dtype=int)), e] = expert.alphas
    return kept, coefficients


def assert_same(model, predictions, expected, X, C, rtol=1e-9):
    """Decisions and support vectors exactly; coefficients beside the expert's largest."""
    np.testing.assert_array_equal(predictions, expected.predictions)
    kept, coefficients = coefficients_of(expected.experts, C)
    np.testing.assert_array_equal(model.support_vectors_, X[kept])
    assert model.dual_coef_.shape == coefficients.shape
    for mine, theirs in zip(
        model.dual_coef_.swapaxes(0, 1), coefficients.swapaxes(0, 1), strict=True
    ):
        np.testing.assert_array_equal(mine != 0, theirs != 0)
        np.testing.assert_allclose(mine, theirs, atol=rtol * np.abs(theirs).max(initial=0), rtol=0)
    weights = np.exp(expected.log_weights)
    np.testing.assert_allclose(model.kernel_weights_, weights / weights.sum(), atol=1e-9)
    np.testing.assert_allclose(model.expert_mistakes_, expected.mistakes, rtol=1e-12)
    counts = np.count_nonzero(coefficients.any(axis=2), axis=0)
    assert model.n_support_stored_ == counts.sum()
    assert model.n_support_active_ == counts[expected.used].sum()


# -- against the twins ------------------------------------------------------------------------


OTHERS = ["sparse_counts", "with_zero_rows", "one_class_prefix", "iris", "wine", "digits"]
ON_STREAMS = [
    *(case for case in pairwise(LEARNERS, ["gaussian_clouds", *OTHERS], LOSSES, SELECTIONS)
      if case[1] == "gaussian_clouds" or not case[0].startswith("bpas")),
    *(("bpas", "gaussian_clouds", *case) for case in pairwise(LOSSES, SELECTIONS)),
]  # fmt: skip


@pytest.mark.thinned
@pytest.mark.parametrize(("learner", "stream", "loss", "selection"), ON_STREAMS)
def test_against_the_twin(learner, stream, loss, selection):
    """A pool, a budget that is soon full; three classes to ten; drawn streams, and others."""
    if stream in ("iris", "wine", "digits"):
        X, y = hard_streams.of_scikit_learn(stream, 80)
    else:
        X, y = hard_streams.many_classes(stream, 80, 5)
    C = int(y.max()) + 1
    expected = twin(X, y, C, learner, loss, selection)
    model = make(learner, loss, selection)
    assert_same(model, says(model, X, y, C, 30), expected, X, C, 1e-8)


@pytest.mark.data
@pytest.mark.parametrize(
    ("learner", "selection"), [(name, ("all", "drawn")[i % 2]) for i, name in enumerate(LEARNERS)]
)
def test_letter(learner, selection):
    """The first rows as distributed, 26 classes, of which some have not come yet."""
    X, y = hard_streams.real("letter", 100)
    X, y = X.toarray() / 8, y.astype(int) - 1
    expected = twin(X, y, 26, learner, "mistakes", selection)
    model = make(learner, "mistakes", selection)
    assert_same(model, says(model, X, y, 26, 40), expected, X, 26, 1e-8)


@settings(max_examples=60, deadline=None)
@given(
    learner=st.sampled_from(list(LEARNERS)),
    loss=st.sampled_from(list(LOSSES)),
    selection=st.sampled_from(list(SELECTIONS)),
    C=st.integers(3, 7),
    n=st.integers(1, 50),
    size=st.integers(1, 50),
    seed=st.integers(0, 2**31 - 1),
)
def test_random_streams(learner, loss, selection, C, n, size, seed):
    """Sample weights, 0 among them, and labels at random."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 3)), rng.integers(C, size=n)
    importance = rng.choice([0.0, 0.25, 1.0, 3.0], size=n)
    importance[::size] = 1.0
    expected = twin(X, y, C, learner, loss, selection, importance=importance, seed=seed)
    model = make(learner, loss, selection, seed=seed)
    assert_same(model, says(model, X, y, C, size, importance), expected, X, C, 1e-7)


@pytest.mark.thinned
@pytest.mark.parametrize("learner", ["perceptron", "perceptron, label", "rbp", "rbp, label"])
@pytest.mark.parametrize("stream", [*hard_streams.DRAWN, "wdbc"])
def test_perceptrons_on_hard_streams(stream, learner):
    """Exact cancellations, duplicates with several labels, kernel values of 0: ties of classes."""
    X, y = hard_streams.many_classes(stream, 100)
    expected = twin(X, y, 5, learner, twins=naive_kernels.omkc16())
    model = make(learner, kernels="omkc16")
    assert_same(model, says(model, X, y, 5, 40), expected, X, 5)


@pytest.mark.sampled
@pytest.mark.parametrize("stream", [*hard_streams.DRAWN, "wdbc", "iris", "wine", "digits"])
def test_bpas_removes_what_costs_least(stream):
    """Where several removals cost the same but for rounding, the twin follows the choice made."""
    if stream in ("iris", "wine", "digits"):
        X, y = hard_streams.of_scikit_learn(stream, 120)
    else:
        X, y = hard_streams.many_classes(stream, 120, 5)
    C, twins = int(y.max()) + 1, naive_kernels.omkc16()
    learner = kb.BPAS(8, aggressiveness=0.5)
    model = plain.classifier("omkc16", learner, kb.Uniform(), random_state=SEED)
    said, held = [], []
    for t in range(len(y)):
        said.append(model.learn(X[t : t + 1], y[t : t + 1], np.arange(C))[0])
        slots = slots_of(model)
        held.append([set(slots.born[e, : slots.filled[e]]) for e in range(len(twins))])
    followed = 0

    def choose(expert, seen, costs, scale):
        nonlocal followed
        mine = held[seen.t][expert.number]
        (gone,) = [i for i, row in enumerate(expert.rows) if row not in mine]
        assert costs[gone] <= min(costs) + 1e-9 * scale
        followed += 1
        return gone

    step = partial(naive.bpas, aggressiveness=0.5, choose=choose)
    expected = naive.run(X, y, twins, C, step, 8, discount=1.0)
    # The twin takes the better coefficient by its objective: good to the root of the rounding.
    assert_same(model, np.concatenate(said), expected, X, C, 1e-7)
    assert followed > 20


@pytest.mark.thinned
@pytest.mark.parametrize("q", [None, 2, 10])
@pytest.mark.parametrize("stream", ["gaussian_clouds", "binary_features", "with_zero_rows", "iris"])
def test_om2(stream, q):
    if stream == "iris":
        (X, y), C = hard_streams.of_scikit_learn(stream, 120), 3
    else:
        (X, y), C = hard_streams.many_classes(stream, 120), 5
    importance = np.random.default_rng(0).choice([0.5, 1.0, 2.0], size=len(y))
    exponent = 2 * np.log(16) if q is None else q
    predictions, coefficients = naive.om2(X, y, naive_kernels.omkc16(), C, exponent, importance)
    kept = coefficients.any(axis=1)
    assert kept.sum() > 20
    for size in (1, 40, 120):
        model = plain.classifier("omkc16", combiner=kb.GroupNorm(q=q))
        np.testing.assert_array_equal(says(model, X, y, C, size, importance), predictions)
        np.testing.assert_array_equal(model.support_vectors_, X[kept])
        np.testing.assert_array_equal(model.dual_coef_[:, 0], coefficients[kept])
        assert model.n_support_stored_ == kept.sum()
    squares = [
        np.sum(coefficients * (np.array([kernel(X, x) for x in X]) @ coefficients))
        for kernel in naive_kernels.omkc16()
    ]
    weights = naive.group_weights(np.array(squares), exponent)
    np.testing.assert_allclose(model.kernel_weights_, weights / weights.sum(), atol=1e-9)


@pytest.mark.parametrize("size", [1, 33, 150])
@pytest.mark.parametrize("rounds", [1, 40, 1000])
def test_best_of_prefix(rounds, size):
    X, y = hard_streams.of_scikit_learn("wine", 150)
    predictions, best, expert = naive.best_of_prefix(X, y, TWINS, 3, rounds)
    model = plain.classifier(POOL, selection=kb.BestOfPrefix(rounds=rounds))
    np.testing.assert_array_equal(says(model, X, y, 3, size), predictions)
    assert model.kernel_weights_.argmax() == best
    if rounds <= len(y):
        np.testing.assert_array_equal(model.support_vectors_, X[expert.rows])
        np.testing.assert_array_equal(model.dual_coef_[:, best], expert.alphas)
        assert model.n_support_stored_ == len(expert.rows)


@pytest.mark.parametrize("name", ["FixedShare", "MLPoly"])
@pytest.mark.parametrize("learner", [kb.Perceptron(), kb.RBP(20)], ids=repr)
def test_other_combiners(learner, name):
    """They weigh the experts by their mistakes; these learn as they do under any other."""
    X, y = hard_streams.of_scikit_learn("digits", 200)
    combiner = getattr(kb, name)()
    m = len(POOL)
    twins = {
        "FixedShare": lambda: naive_combiners.FixedShare(m, combiner.discount, combiner.share),
        "MLPoly": lambda: naive_combiners.MLPoly(m),
    }
    model, other = (
        plain.classifier(POOL, learner, each, random_state=0) for each in (combiner, kb.Uniform())
    )
    mistakes = [np.zeros(m)]
    for t in range(len(y)):
        model.learn(X[t : t + 1], y[t : t + 1], np.arange(10))
        mistakes.append(model.expert_mistakes_.copy())
    expected = naive_combiners.run(twins[name](), np.diff(mistakes, axis=0))[-1]
    np.testing.assert_allclose(model.kernel_weights_, expected, atol=1e-9)
    assert other.fit(X, y).dual_coef_.tobytes() == model.dual_coef_.tobytes()


# -- the twins' own promises --------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**31 - 1))
def test_the_twins_bpas_coefficients_are_the_best(seed):
    """No coefficients near them, for any of the classes, have a lower objective."""
    rng = np.random.default_rng(seed)
    C, cap = int(rng.integers(2, 6)), rng.choice([0.05, 1.0, 20.0])
    alpha, difference = rng.normal(size=C), np.zeros(C)
    difference[:2] = rng.permutation([1.0, -1.0])
    points = rng.normal(size=(2, 3))
    kernel = naive_kernels.polynomial(2, 1.0)
    own, square = kernel(points[:1], points[0])[0], kernel(points[1:], points[1])[0]
    between, margin = kernel(points[:1], points[1])[0], 1 - rng.exponential()
    given_ = margin, difference, cap
    beta, least = naive.bpas_coefficients(alpha, own, between, square, *given_)
    for scale in (1e-4, 1e-2, 1.0):
        for _ in range(30):
            other = beta + scale * rng.normal(size=C)
            moved = naive.bpas_objective(alpha, own, between, square, other, *given_)
            assert moved >= least * (1 - 1e-12)


@pytest.mark.parametrize(("kernel", "own"), list(zip(POOL, TWINS, strict=True)))
def test_pa_meets_the_margin(kernel, own):
    """After an update the label is 1 ahead of its rival, and the others are where they were."""
    X, y = hard_streams.of_scikit_learn("wine", 60)
    model = plain.classifier([kernel], kb.PassiveAggressive("PA"), kb.Hedge(loss="hinge"))
    model.learn(X[:1], y[:1], np.arange(3))
    met = 0
    for x, label in zip(X[1:, None], y[1:], strict=True):
        before = model.decision_function(x)[0]
        rival = max((c for c in range(3) if c != label), key=lambda c: before[c])
        (other,) = {0, 1, 2} - {label, rival}
        model.learn(x, [label])
        after = model.decision_function(x)[0]
        if before[label] - before[rival] < 1 - 1e-9:
            assert after[label] - after[rival] == pytest.approx(1, abs=1e-9)
            assert after[other] == before[other]
            step = (1 - before[label] + before[rival]) / (2 * own(x, x[0])[0])
            assert model.dual_coef_[-1, 0, label] == pytest.approx(step, rel=1e-9)
            met += 1
        else:
            np.testing.assert_array_equal(after, before)
    assert met > 10


def test_margins_and_ties():
    """Which class is predicted, which is the best other one, and what is a mistake."""
    terms = np.array([[0.1, 0.3, 0.0], [0.2, 0.0, 0.3]])
    assert 0.1 + 0.2 > 0.3  # equal but for rounding
    for y, r, wrong in ((0, 1, False), (1, 0, True), (2, 0, True)):
        _, _, seen = naive.see(terms, y, range(3))
        assert (seen.r, seen.margin, seen.wrong) == (r, 0.0, wrong)
        assert seen.errs("margin")
        assert seen.errs("label") == wrong


# -- two classes as two scores ------------------------------------------------------------------

# name -> (of one score, the same for two scores, coefficients of the first over the second's)
PAIRS = {
    "perceptron": (kb.Perceptron(), kb.Perceptron(), 1.0),
    "perceptron, label": (kb.Perceptron("label"), kb.Perceptron("label"), 1.0),
    "PA": (kb.PassiveAggressive("PA"), kb.PassiveAggressive("PA"), 2.0),
    "PA-I": (kb.PassiveAggressive("PA-I", 0.5), kb.PassiveAggressive("PA-I", 0.25), 2.0),
    "PA-II": (kb.PassiveAggressive("PA-II", 0.5), kb.PassiveAggressive("PA-II", 0.25), 2.0),
    "spa": (kb.SparsePA(0.5, divisor=1.5), kb.SparsePA(0.25, divisor=1.5), 2.0),
    "spa, budget": (
        *(kb.SparsePA(0.5, divisor=1.5, budget=B), kb.SparsePA(0.25, divisor=1.5, budget=B), 2.0),
    ),
    "rbp": (kb.RBP(B), kb.RBP(B), 1.0),
    "rbp, label": (kb.RBP(B, "label"), kb.RBP(B, "label"), 1.0),
    "forgetron": (kb.Forgetron(B), kb.Forgetron(B), 1.0),
    "bogd": (kb.BOGD(B, 0.5, 0.0), kb.BOGD(B, 0.25, 0.0), 2.0),
    "bpas": (kb.BPAS(B, 0.5), kb.BPAS(B, 0.25), 2.0),
    "projectron": (kb.Projectron(B), kb.Projectron(B), 1.0),
    "pegasos": (kb.Pegasos(), kb.Pegasos(), 1.0),
    **{
        f"pegasos, {upkeep}": (kb.Pegasos(B, upkeep=upkeep), kb.Pegasos(B, upkeep=upkeep), 1.0)
        for upkeep in ("random", "smallest", "project", "merge")
    },
}


def run_of(X, y, scores, kernels, *choices):
    """Decisions and the run; class 0 wins ties of two scores, so it is the positive one there."""
    setting = Setting(X.shape[1], sparse=False, scores=scores, seed=seed_of(SEED))
    learner, combiner, selection = choices
    pool = pool_of(kernels, learner, combiner, False, X.shape[1], None)
    run = make_model(pool, combiner, selection, "all", setting)
    labels = (y > 0).astype(np.int64)
    labels = labels if scores == 1 else 1 - labels
    run.scaler, run.calibration = Scalers([None], X.shape[1]), Calibration(scores, run.inputs)
    rows, ones, decisions = DenseRows.of(X), np.ones(len(y)), []
    for where in slices(len(y), run.block_rows):
        own = rows.part(where.start, where.stop)
        told = Told(own, X[where], labels[where], ones[where], False, {})
        decisions.append(learn_block(run, told).decisions)
    return np.concatenate(decisions), run


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("name", "stream", "selection"),
    pairwise(PAIRS, ["gaussian_clouds", "binary_features", "wdbc"], ["all", "drawn"]),
)
def test_two_classes_as_two_scores(name, stream, selection):
    """The same decisions and support vectors; f of one score is f^(1) - f^(0), or f^(1)."""
    X, y = (hard_streams.DRAWN | {"wdbc": hard_streams.wdbc})[stream](200)
    X = hard_streams.scaled(X)
    pool = [kb.Gaussian(gamma=g / X.shape[1]) for g in (0.5, 2)]
    pool += [] if name == "pegasos, merge" else [kb.Linear()]
    one, two, factor = PAIRS[name]
    hedge, selected = kb.Hedge(0.9), kb.Selection(**SELECTIONS[selection])
    single, first = run_of(X, y, 1, pool, one, hedge, selected)
    double, second = run_of(X, y, 2, pool, two, hedge, selected)
    np.testing.assert_array_equal(single[:, 0] >= 0, double.argmax(axis=1) == 0)
    (points, ours), (others, alphas) = first.expansion(), second.expansion()
    np.testing.assert_array_equal(points, others)
    np.testing.assert_array_equal(alphas[:, :, 0], -alphas[:, :, 1])
    np.testing.assert_allclose(ours[:, :, 0], factor * alphas[:, :, 0], rtol=1e-9)
    np.testing.assert_allclose(first.weights(), second.weights(), rtol=1e-12)
    np.testing.assert_array_equal(first.progress.losses, second.progress.losses)


@pytest.mark.parametrize("stream", ["gaussian_clouds", "binary_features", "wdbc"])
def test_two_classes_as_two_scores_of_om2(stream):
    X, y = (hard_streams.DRAWN | {"wdbc": hard_streams.wdbc})[stream](200)
    single, first = run_of(X, y, 1, "omkc16", None, kb.GroupNorm(), None)
    double, second = run_of(X, y, 2, "omkc16", None, kb.GroupNorm(), None)
    np.testing.assert_array_equal(single[:, 0] >= 0, double.argmax(axis=1) == 0)
    (_, ours), (_, alphas) = first.expansion(), second.expansion()
    np.testing.assert_array_equal(ours[:, 0, 0], alphas[:, 0, 0])
    np.testing.assert_allclose(first.weights(), second.weights(), rtol=1e-12)


@pytest.mark.parametrize("learner", ["perceptron", "perceptron, label", "rbp", "forgetron", "PA"])
@pytest.mark.parametrize("stream", ["gaussian_clouds", "with_zero_rows", "wdbc"])
def test_the_twin_of_two_scores_is_the_binary_machine(stream, learner):
    """With ties to class 1 the twin decides as the machine of one score does."""
    X, y = (hard_streams.DRAWN | {"wdbc": hard_streams.wdbc})[stream](120)
    X, labels = hard_streams.scaled(X), (y > 0).astype(int)
    expected = twin(X, labels, 2, learner, order=[1, 0])
    model = make(learner)
    np.testing.assert_array_equal(says(model, X, labels, 2, 50), expected.predictions)
    kept, coefficients = coefficients_of(expected.experts, 2)
    np.testing.assert_array_equal(model.support_vectors_, X[kept])
    factor = 2.0 if learner == "PA" else 1.0
    largest = np.abs(model.dual_coef_).max(axis=0)
    difference = np.abs(model.dual_coef_ - factor * coefficients[:, :, 1])
    assert (difference <= 1e-9 * largest).all()


# -- blocks, sparsity, budgets ------------------------------------------------------------------


def state(model, predictions, X):
    parts = [predictions, model.support_vectors_, model.dual_coef_, model.expert_mistakes_]
    parts += [model.kernel_weights_, model.decision_function(X)]
    return [array.tobytes() for array in parts]


@pytest.mark.data
@pytest.mark.parametrize("learner", ["perceptron", "PA-I", "rbp", "projectron++"])
def test_more_than_a_block(learner, monkeypatch):
    """The engine's own blocks end within the chunks and at their ends; one thread and two."""
    X, y = hard_streams.real("letter", 1100)
    y = y.astype(int) - 1
    wanted = None
    for threads, form, size in (
        *((1, X, 1100), (2, X.toarray(), 1100), (2, X, 129), (1, X.toarray(), 512)),
    ):
        monkeypatch.setenv("OMP_NUM_THREADS", str(threads))
        model = make(learner, "mistakes", "drawn", "omkc16")
        found = state(model, says(model, form, y, 26, size), form)
        wanted = wanted or found
        assert found == wanted, (threads, size, type(form))
    if learner in ("perceptron", "PA-I"):
        monkeypatch.setenv("OMP_NUM_THREADS", "2")
        assert sums_of(model).threads(support_of(model).n * 512) == 2
