"""Projectron, Projectron++ and Ahpatron against their naive twins."""

from functools import partial

import hard_streams
import numpy as np
import plain
import pytest
import scipy.sparse as sp
from driving import SIGNS, says, seed_of
from hypothesis import given, settings
from hypothesis import strategies as st
from inside import slots_of
from naive import budget, combiners, projecting
from naive import kernels as naive_kernels
from naive.omkc import zero_or

import kernbrook as kb
from kernbrook.errors import InputError, ModelFileError

SEED = 5
GAMMAS = (0.05, 0.2, 0.5, 2.0)
BOLD = {"margin": 0.9, "radius": 2.0, "ridge": 0.05}
# name -> (the learner with a budget, its twin, how it counts its mistakes)
LEARNERS = {
    "projectron": (kb.Projectron, projecting.projectron, "margin"),
    "projectron, label": (
        lambda B: kb.Projectron(B, threshold=0.6, tie="label"),
        partial(projecting.projectron, threshold=0.6, tie="label"),
        "label",
    ),
    "projectron++": (
        kb.ProjectronPlusPlus,
        partial(projecting.projectron, margin_errors=True),
        "margin",
    ),
    "projectron++, far": (
        lambda B: kb.ProjectronPlusPlus(B, threshold=0.9),
        partial(projecting.projectron, threshold=0.9, margin_errors=True),
        "margin",
    ),
    "ahpatron": (kb.Ahpatron, projecting.ahpatron, "label"),
    "ahpatron, bold": (
        lambda B: kb.Ahpatron(B, **BOLD),
        partial(projecting.ahpatron, **BOLD),
        "label",
    ),
}
PLAIN = ("projectron", "projectron++", "ahpatron")
HEDGES = {
    "mistakes": {"discount": 0.9},
    "hinge": {"discount": 0.9, "loss": "hinge", "cap": 50.0},
}
SELECTIONS = {
    "all": {},
    "drawn update": {"update": "drawn", "smoothing": 0.1},
    "drawn": {"update": "drawn", "vote": "drawn", "smoothing": 0.1},
}
SOME = slice(1, None, 3)  # of omkc16: a polynomial, Gaussians from narrow to wide
STREAMS = hard_streams.DRAWN | {"wdbc": hard_streams.wdbc}


def make(learner, size, loss="mistakes", selection="all", kernels="omkc16", seed=SEED):
    return plain.classifier(
        kernels,
        LEARNERS[learner][0](size),
        kb.Hedge(**HEDGES[loss]),
        kb.Selection(**SELECTIONS[selection]),
        random_state=seed,
    )


def twin(X, y, twins, learner, size, loss="mistakes", selection="all", importance=None, seed=SEED):
    _, step, tie = LEARNERS[learner]
    seed = seed_of(seed)
    chosen = HEDGES[loss] | SELECTIONS[selection]
    return budget.run(X, y, twins, step, size, tie, seed=seed, importance=importance, **chosen)


def held(model, e):
    """{round of arrival: coefficient} of an expert's slots."""
    slots = slots_of(model)
    n = slots.filled[e]
    return dict(zip(slots.born[e, :n].tolist(), slots.alpha[e, 0, :n].tolist(), strict=True))


def assert_same(model, predictions, expected, rtol=1e-9):
    """Decisions and support vectors exactly; coefficients beside the expert's largest."""
    np.testing.assert_array_equal(predictions, expected.predictions)
    for e, expert in enumerate(expected.experts):
        mine = held(model, e)
        assert sorted(mine) == sorted(expert.rows)
        alphas = np.array(expert.alphas)
        found = np.array([mine[row] for row in expert.rows])
        np.testing.assert_allclose(found, alphas, atol=rtol * np.abs(alphas).max(initial=0), rtol=0)
    weights = np.exp(expected.log_weights)
    np.testing.assert_allclose(model.kernel_weights_, weights / weights.sum(), atol=1e-9)
    np.testing.assert_allclose(model.expert_mistakes_, expected.mistakes, rtol=1e-12)


@pytest.mark.thinned
@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("loss", HEDGES)
@pytest.mark.parametrize("learner", LEARNERS)
def test_against_the_twin(learner, loss, selection):
    """A pool, a budget that is soon full, a block of the engine and a bit."""
    X, y = hard_streams.gaussian_clouds(140)
    expected = twin(X, y, naive_kernels.omkc16(), learner, 9, loss, selection)
    model = make(learner, 9, loss, selection)
    assert_same(model, says(model, X, y, SIGNS, 133), expected)


@pytest.mark.thinned
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize(
    "stream", ["sparse_counts", "binary_features", "offset", "one_class_prefix", "wdbc"]
)
def test_whole_streams(stream, learner):
    X, y = STREAMS[stream]()
    X, y = X[:130], y[:130]
    expected = twin(X, y, naive_kernels.omkc16(), learner, 15)
    model = make(learner, 15)
    # The polynomials of raw features leave the twin's systems few digits.
    assert_same(model, says(model, X, y, SIGNS, 50), expected, 1e-5 if stream == "wdbc" else 1e-8)


@pytest.mark.thinned
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("stream", STREAMS)
def test_every_step_of_hard_streams(stream, learner):
    """From what the model held before a round, the twin comes to what it holds after it.

    Where rounding decides on which side of 0 or of a margin the score is, either will do.
    """
    X, y = STREAMS[stream]()
    n = 110 if stream == "one_class_prefix" else 70  # the other class comes late
    X, y = X[:n], y[:n]
    twins = naive_kernels.omkc16()[SOME]
    model, size, steps = make(learner, 10, kernels=kb.kernels.resolve("omkc16")[SOME]), 10, 0
    step = LEARNERS[learner][1]
    before = [{}] * len(twins)
    for t in range(len(y)):
        model.learn(X[t : t + 1], y[t : t + 1], [-1, 1])
        for e, kernel in enumerate(twins):
            after = held(model, e)
            terms = expert_of(e, kernel, X, size, before[e]).terms(t)
            score, slack = zero_or(terms), 1e-9 * np.abs(terms).sum()
            near = 0.0 if abs(score) <= slack else score
            apart = []
            for f in (near, score, score - slack, score + slack):
                trial = expert_of(e, kernel, X, size, before[e])
                step(trial, t, f, y[t], 1.0, SEED)
                if trial.rows == list(after):
                    apart.append(distance(trial, after, before[e]))
                    if apart[-1] <= 1e-8:
                        break
            assert apart, (t, e)
            assert min(apart) <= 1e-8, (t, e, apart)
            steps += after != before[e]
            before[e] = after
    assert steps > 8 * len(twins)


def expert_of(number, kernel, X, size, alphas):
    expert = budget.Expert(number, kernel, X, size)
    expert.rows, expert.alphas = list(alphas), list(alphas.values())
    return expert


def distance(expert, alphas, before):
    """|f - g| over the norms of the terms held and held before: f an expert's, g of `alphas`."""
    if not alphas:
        return 0.0
    ours, theirs = np.array(expert.alphas), np.array(list(alphas.values()))
    steps = np.abs(ours) + [abs(before.get(row, 0.0)) for row in expert.rows]
    K = projecting.gram(expert, expert.rows, expert.rows)
    sizes = np.sqrt(np.diag(K))
    if not steps @ sizes > 0:
        return np.abs(theirs).max(initial=0.0)
    apart = (ours - theirs) * sizes / (steps @ sizes)
    return np.sqrt(max(apart @ (K / np.outer(sizes, sizes)) @ apart, 0.0))


@settings(max_examples=40, deadline=None)
@given(
    learner=st.sampled_from(list(LEARNERS)),
    loss=st.sampled_from(list(HEDGES)),
    selection=st.sampled_from(list(SELECTIONS)),
    size=st.integers(1, 12),
    n=st.integers(1, 60),
    chunk=st.integers(1, 60),
    seed=st.integers(0, 2**31 - 1),
)
def test_random_streams(learner, loss, selection, size, n, chunk, seed):
    """Sample weights, 0 among them, and label noise."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 3)), rng.choice([-1.0, 1.0], size=n)
    importance = rng.choice([0.0, 0.25, 1.0, 3.0], size=n)
    pool = [kb.Polynomial(2, offset=1), kb.Gaussian(gamma=0.5), kb.Cauchy(gamma=0.3)]
    twins = [naive_kernels.polynomial(2, 1), naive_kernels.gaussian(0.5), naive_kernels.cauchy(0.3)]
    arguments = (learner, size, loss, selection)
    expected = twin(X, y, twins, *arguments, importance=importance, seed=seed)
    model = make(*arguments, pool, seed)
    assert_same(model, says(model, X, y, SIGNS, chunk, importance), expected, 1e-7)


@pytest.mark.thinned
@pytest.mark.parametrize("size", [1, 7])
@pytest.mark.parametrize("learner", LEARNERS)
def test_the_budget_is_never_exceeded(learner, size):
    """At every round, for every expert; the Projectrons remove nothing, Ahpatron keeps a half."""
    X, y = hard_streams.gaussian_clouds(120)
    model = make(learner, size)
    before, most = [set()] * 16, 0
    for t in range(len(y)):
        model.learn(X[t : t + 1], y[t : t + 1], [-1, 1])
        now = [set(held(model, e)) for e in range(16)]
        for ours, theirs in zip(before, now, strict=True):
            assert len(theirs) <= size
            if not ours <= theirs:
                assert learner.startswith("ahpatron")
                assert len(ours) == size
                assert len(ours & theirs) == size // 2
        before, most = now, max(most, *map(len, now))
        assert model.n_support_stored_ <= sum(map(len, now))
        assert len(model.support_vectors_) == len(set.union(*now))
    assert most == size


@pytest.mark.parametrize("learner", PLAIN)
def test_what_is_kept_of_the_slots(learner):
    """The Gram matrix, its diagonal, the norm and the factor are those of the points held."""
    X, y = hard_streams.gaussian_clouds(300)
    model = make(learner, 15)
    says(model, X, y, SIGNS, 70)
    slots = slots_of(model)
    for e, kernel in enumerate(naive_kernels.omkc16()):
        n = slots.filled[e]
        expert = expert_of(e, kernel, X, 15, held(model, e))
        K = projecting.gram(expert, expert.rows, expert.rows)
        np.testing.assert_allclose(slots.diagonal[e, :n], np.diag(K), rtol=1e-9)
        scale = np.sqrt(np.outer(np.diag(K), np.diag(K)))
        if learner == "ahpatron":
            np.testing.assert_allclose(slots.gram[e, :n, :n] / scale, K / scale, atol=1e-12)
            norm = projecting.squared_norm(expert)
            np.testing.assert_allclose(slots.memory[e, 0], norm, rtol=1e-7)
        else:
            R = np.triu(slots.factor[e, :n, :n])
            np.fill_diagonal(R, 1 / np.diag(R))
            np.testing.assert_allclose(R.T @ R / scale, K / scale, atol=1e-12)


@pytest.mark.thinned
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("learner", LEARNERS)
def test_what_is_held_decides(learner, storage):
    """decision_function is that of the support vectors, their coefficients and the weights."""
    X, y = hard_streams.gaussian_clouds(200)
    model = make(learner, 12, "hinge").fit(storage(X[:150]), y[:150])
    scores = [
        kernel(X, model.support_vectors_) @ alpha
        for kernel, alpha in zip(model.kernels_, model.dual_coef_.T, strict=True)
    ]
    expected = model.kernel_weights_ @ scores
    np.testing.assert_allclose(model.decision_function(storage(X)), expected, rtol=1e-9, atol=1e-9)
    for t in range(150, 200):
        foreseen = model.predict(storage(X[t : t + 1]))
        assert model.learn(storage(X[t : t + 1]), y[t : t + 1])[0] == foreseen


@pytest.mark.parametrize("learner", [kb.Projectron, kb.ProjectronPlusPlus])
def test_threshold_0_with_room_is_the_perceptron(learner):
    X, y = hard_streams.gaussian_clouds(300)
    runs = []
    for each in (learner(500, threshold=0), kb.Perceptron()):
        model = plain.classifier([kb.Gaussian(gamma=g) for g in (0.5, 2, 8)], each)
        runs.append((model, says(model, X, y, SIGNS, 300)))
    (first, said), (second, wanted) = runs
    np.testing.assert_array_equal(said, wanted)
    np.testing.assert_array_equal(first.dual_coef_, second.dual_coef_)


@pytest.mark.parametrize("stream", ["duplicates", "near_duplicates"])
def test_threshold_0_adds_no_point_twice(stream):
    """Whatever is left of a distance by rounding: 25 points, and what is 1e-9 from them."""
    X, y = STREAMS[stream]()
    model = plain.classifier([kb.Gaussian(gamma=0.5)], kb.Projectron(60, threshold=0))
    model.fit(X, y)
    assert 20 < slots_of(model).filled[0] <= 25
    assert np.abs(model.dual_coef_).max() < 300


@pytest.mark.parametrize("seed", range(20))
def test_what_is_taken_back_is_gone(seed):
    """Two points added, each taken back by its projection: 0 is left, and not its rounding."""
    rows = np.random.default_rng(seed).normal(size=(2, 3))
    pool = [kb.Gaussian(gamma=g) for g in GAMMAS] + [kb.Cauchy(gamma=g) for g in GAMMAS]
    model = plain.classifier(pool, kb.Projectron(5, threshold=0))
    model.learn(rows, [1, -1], [-1, 1])
    assert np.array_equal(np.abs(model.dual_coef_), np.ones((2, 8)))
    model.learn(rows, [-1, 1])
    assert not model.dual_coef_.any()


def test_margin_errors_are_what_the_second_adds():
    X, y = hard_streams.gaussian_clouds(300)
    runs = [says(make(name, 15), X, y, SIGNS, 300) for name in ("projectron", "projectron++")]
    assert (runs[0] != runs[1]).any()


@pytest.mark.parametrize("learner", PLAIN)
def test_adahedge(learner):
    """Its weights are those of its twin on the experts' mistakes; the experts are their own."""
    X, y = hard_streams.wdbc()
    X, y = X[:200], y[:200]
    model, other = (
        plain.classifier("omkc16", LEARNERS[learner][0](15), combiner)
        for combiner in (kb.MLPoly(), kb.Uniform())
    )
    mistakes = [np.zeros(16)]
    for t in range(len(y)):
        model.learn(X[t : t + 1], y[t : t + 1], [-1, 1])
        mistakes.append(model.expert_mistakes_.copy())
    expected = combiners.run(combiners.MLPoly(16), np.diff(mistakes, axis=0))[-1]
    np.testing.assert_allclose(model.kernel_weights_, expected, atol=1e-9)
    assert other.fit(X, y).dual_coef_.tobytes() == model.dual_coef_.tobytes()


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("scale", [0.1, 1.0, 1e6, 1e25])
def test_kernels_of_any_size_and_sign(learner, scale):
    """k(x, x) up to 1e150, and a kernel that is no inner product: everything stays finite."""
    X, y = hard_streams.duplicates(400)
    X = scale * X
    pool = [kb.Linear(), kb.Polynomial(3), kb.Sigmoid(gamma=0.3 / scale**2, offset=-0.3)]
    model = make(learner, 10, kernels=pool).fit(X, y)
    assert np.isfinite(model.dual_coef_).all()
    assert np.isfinite(model.decision_function(X)).all()
    assert model.dual_coef_.any(axis=0).all()


def test_a_zero_vector_adds_nothing():
    for learner in LEARNERS:
        model = make(learner, 5, kernels=[kb.Linear()])
        model.fit(np.zeros((6, 3)), [1, -1, 1, -1, -1, 1])
        assert slots_of(model).filled[0] == 0


@pytest.mark.parametrize("learner", PLAIN)
def test_memory_on_a_long_stream(learner):
    X, y = kb.open_stream("checkerboard:20000").read()
    model = make(learner, 10, kernels=[kb.Gaussian(gamma=20.0), kb.Gaussian(gamma=2.0)])
    sizes = []
    for start in range(0, 20_000, 500):
        model.learn(X[start : start + 500], y[start : start + 500], np.unique(y))
        sizes.append(model.memory_bytes_)
    assert max(sizes[4:]) <= 1.5 * sizes[3]
    assert max(sizes) < 20_000


@pytest.mark.parametrize("wrong", [-1, 5, 0])
def test_an_order_that_is_none(tmp_path, wrong):
    """Compiled code indexes by it: a file that lies about it is not loaded."""
    X, y = hard_streams.gaussian_clouds(60)
    model = make("projectron", 5).fit(X, y)
    slots_of(model).order[0, :2] = wrong
    kb.save(model, tmp_path / "model")
    with pytest.raises(ModelFileError, match=r"stores\.0\.order"):
        kb.load(tmp_path / "model")


@pytest.mark.parametrize("recipe", ["projectron", "projectron++", "ahpatron"])
def test_recipes(recipe):
    """A recipe takes its budget, and learns what there is to learn."""
    X, y = hard_streams.wdbc()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = kb.recipes.make(recipe, kernels="omkc16", budget=40, random_state=0)
    record = kb.prequential(model, X, y)
    assert record.error < 0.1
    assert 16 < record.n_support_stored <= 16 * 40
    assert model.combiner.discount == 0.99


WRONG = [
    (kb.Projectron(budget=0), "Projectron: budget must be .* got 0"),
    (kb.Projectron(threshold=-0.1), "Projectron: threshold must be a number in .* got -0.1"),
    (kb.Projectron(threshold=None), "Projectron: threshold must be a number in .* got None"),
    (kb.Projectron(threshold=1), r"Projectron: threshold must be a number in \[0, 1\), got 1"),
    (kb.Projectron(tie="x"), "Projectron: tie must be 'margin' or 'label', got 'x'"),
    (
        kb.ProjectronPlusPlus(threshold=np.inf),
        "ProjectronPlusPlus: threshold must be a number in .* got inf",
    ),
    (kb.Ahpatron(budget=2.5), "Ahpatron: budget must be .* got 2.5"),
    (kb.Ahpatron(margin=0), "Ahpatron: margin must be a positive number, got 0"),
    (kb.Ahpatron(radius=-1), "Ahpatron: radius must be None or a positive number, got -1"),
    (kb.Ahpatron(ridge=np.nan), "Ahpatron: ridge must be a non-negative number, got nan"),
]


@pytest.mark.parametrize(("learner", "message"), WRONG, ids=lambda part: str(part))
def test_bad_parameters(learner, message):
    X, y = hard_streams.gaussian_clouds(30)
    model = plain.classifier(learner=learner)
    with pytest.raises(InputError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize("scale", [0.01, 0.003])
@pytest.mark.parametrize("learner", LEARNERS)
def test_features_of_small_size(learner, scale):
    """What counts as dependent is said beside k(x, x), which is small where features are."""
    X, y = hard_streams.gaussian_clouds(140)
    X[50:140:3] = X[:30] + 1e-3 * X[30:60]  # near those before
    kernels = [naive_kernels.linear(), naive_kernels.polynomial(2)]
    expected = twin(scale * X, y, kernels, learner, 9)
    model = make(learner, 9, kernels=[kb.Linear(), kb.Polynomial(2)])
    assert_same(model, says(model, scale * X, y, SIGNS, 60), expected, 1e-6)


def test_weights_of_margin_errors():
    """A margin error counts by its weight: beside the twin, where others decide little."""
    rng = np.random.default_rng(3)
    X, y = hard_streams.gaussian_clouds(140)
    weights = rng.choice([0.05, 0.3, 1.0], 140)
    expected = twin(X, y, naive_kernels.omkc16(), "projectron++", 12, importance=weights)
    model = make("projectron++", 12)
    assert_same(model, says(model, X, y, SIGNS, 60, importance=weights), expected)
