"""Pegasos and its budgets against the naive twin; the norm, blocks, files, pools of kernels."""

from functools import cache, partial

import hard_streams
import numpy as np
import plain
import pytest
import scipy.sparse as sp
from covering import pairwise
from driving import says, seed_of
from hypothesis import example, given, settings
from hypothesis import strategies as st
from inside import expert_slots, filled_of, slots_of, threads_of
from naive import kernels as naive_kernels
from naive import multiclass, pegasos

import kernbrook as kb
from kernbrook.errors import InputError, ModelFileError
from kernbrook.learners.pegasos import AFRESH, TINY

SEED = 5
# name -> (parameters of the learner beside its budget, the twin's upkeep)
UPKEEPS = {
    "random": ({"upkeep": "random"}, pegasos.remove_random),
    "smallest": ({"upkeep": "smallest"}, pegasos.remove_smallest),
    "project": ({"upkeep": "project"}, pegasos.project),
    "merge": ({"upkeep": "merge"}, pegasos.merge),
    "merge, printed": (
        {"upkeep": "merge", "merging": "printed"},
        partial(pegasos.merge, search=pegasos.printed_merge),
    ),
}
ALL = {"free": ({}, None)} | UPKEEPS


def learner_of(upkeep, budget, **settings_):
    return kb.Pegasos(None if upkeep == "free" else budget, **ALL[upkeep][0], **settings_)


def make(upkeep, budget, gamma, seed=SEED, **settings_):
    kernels = [kb.Gaussian(gamma=gamma)]
    return plain.classifier(kernels, learner_of(upkeep, budget, **settings_), random_state=seed)


def twin(X, y, C, upkeep, budget, gamma, seed=SEED, importance=None, **settings_):
    """The twin; of two classes kernbrook lets the second win ties."""
    order = [1, 0] if C == 2 else range(C)
    return pegasos.run(
        X, y, naive_kernels.gaussian(gamma), C, ALL[upkeep][1], budget, seed=seed_of(seed),
        importance=importance, order=order, **settings_,
    )  # fmt: skip


def held(model, e=0):
    """Points, (n, C) coefficients and rounds of arrival of an expert's slots."""
    slots, points = expert_slots(model, e)
    n = slots.filled[0]
    alphas = (slots.scale[0] * slots.alpha[:, :n]).T
    if alphas.shape[1] == 1:  # half the margin: the score of class 1
        alphas = np.hstack([-alphas, alphas])
    return points[slots.place[:n]], alphas, slots.born[:n]


def assert_expansion(model, e, points, alphas, births, rtol=1e-8):
    """By age, coefficients beside the largest, points beside the longest."""
    mine, ours = held(model, e), (points, alphas, births)
    first, second = (np.argsort(each[2], kind="stable") for each in (mine, ours))
    np.testing.assert_array_equal(mine[2][first], births[second])
    for found, wanted in ((mine[0][first], points[second]), (mine[1][first], alphas[second])):
        np.testing.assert_allclose(
            found, wanted, rtol=0, atol=rtol * np.abs(wanted).max(initial=1e-300)
        )


def assert_same(model, predictions, expected, ball=True, rtol=1e-8):
    np.testing.assert_array_equal(predictions, expected.predictions)
    assert_expansion(model, 0, expected.points, expected.alphas, expected.births, rtol)
    if ball:
        norm = np.sqrt(slots_of(model).memory[0, 1])
        assert norm == pytest.approx(expected.norms[-1], rel=max(rtol, 1e-8))


# -- whole runs -------------------------------------------------------------------------------


@pytest.mark.thinned
@pytest.mark.data
@pytest.mark.parametrize(("upkeep", "C", "ball"), pairwise(ALL, [2, 3, 26], [True, False]))
def test_letter(upkeep, C, ball):
    X, y = hard_streams.real("letter", 120)
    X, y = hard_streams.scaled(X.toarray()), (y.astype(int) - 1) % C
    expected = twin(X, y, C, upkeep, 20, 4 / 16, ball=ball)
    model = make(upkeep, 20, 4 / 16, ball=ball)
    assert_same(model, says(model, X, y, C, 90), expected, ball)


@pytest.mark.thinned
@pytest.mark.parametrize(("upkeep", "C", "regularization"), pairwise(ALL, [2, 4], [1e-4, 0.1]))
def test_wdbc(upkeep, C, regularization):
    X, y = hard_streams.wdbc(200)
    X = hard_streams.scaled(X)
    y = (y > 0).astype(int) if C == 2 else hard_streams.classes_of(X, C)
    chosen = {"regularization": regularization}
    expected = twin(X, y, C, upkeep, 15, 1 / 30, **chosen)
    model = make(upkeep, 15, 1 / 30, **chosen)
    assert_same(model, says(model, X, y, C, 90), expected)


@pytest.mark.thinned
@pytest.mark.parametrize(("stream", "upkeep", "C"), pairwise(hard_streams.DRAWN, ALL, [2, 5]))
def test_hard_streams(stream, upkeep, C):
    X, y = hard_streams.many_classes(stream, 90, C)
    expected = twin(X, y, C, upkeep, 12, 0.2)
    model = make(upkeep, 12, 0.2)
    assert_same(model, says(model, X, y, C, 70), expected)


@settings(max_examples=60, deadline=None)
@given(
    upkeep=st.sampled_from(list(ALL)),
    C=st.integers(2, 6),
    budget=st.integers(1, 12),
    regularization=st.sampled_from([1e-6, 1e-4, 1e-2, 1.0, 30.0]),
    ball=st.booleans(),
    n=st.integers(1, 80),
    size=st.integers(1, 80),
    seed=st.integers(0, 2**31 - 1),
)
@example("merge, printed", 5, 1, 1e-6, False, 4, 1, 1)
def test_random_streams(upkeep, C, budget, regularization, ball, n, size, seed):
    """Sample weights, 0 among them, and labels at random."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 3)), rng.integers(C, size=n)
    importance = rng.choice([0.0, 0.25, 1.0, 3.0], size=n)
    importance[::size] = 1.0
    chosen = {"seed": seed, "regularization": regularization, "ball": ball}
    expected = twin(X, y, C, upkeep, budget, 0.4, importance=importance, **chosen)
    model = make(upkeep, budget, 0.4, **chosen)
    said = says(model, X, y, C, size, importance)
    np.testing.assert_array_equal(said, expected.predictions)
    assert_expansion(model, 0, expected.points, expected.alphas, expected.births, 1e-7)


# -- what is kept beside the coefficients -------------------------------------------------------


def squared_norm(model, kernel, e=0):
    points, alphas, _ = held(model, e)
    return pegasos.squared_norm(kernel, points, alphas)


@cache
def many():
    X, y = hard_streams.real("letter", 3000)
    return hard_streams.scaled(X.toarray()), y.astype(int) - 1


@pytest.mark.data
@pytest.mark.parametrize(("upkeep", "C"), [(name, (2, 7)[i % 2]) for i, name in enumerate(ALL)])
def test_the_norm_is_that_of_the_expansion(upkeep, C):
    """Tracked, and summed afresh, over more than 1024 learned examples."""
    X, _ = many()
    y, kernel = hard_streams.classes_of(X, C), naive_kernels.gaussian(0.25)
    model = make(upkeep, 25, 0.25)
    learned, before = 0, 0
    for start in range(0, 3000, 375):
        model.learn(X[start : start + 375], y[start : start + 375], np.arange(C))
        _, tracked, now = slots_of(model).memory[0]
        assert tracked == pytest.approx(squared_norm(model, kernel), rel=1e-9)
        assert tracked <= 1e4 * (1 + 1e-12)
        learned += now - before if now > before else now - before + AFRESH
        before = now
    assert learned > AFRESH
    assert (before == learned) == (upkeep == "free")


@pytest.mark.data
@pytest.mark.parametrize("upkeep", UPKEEPS)
def test_an_error_in_the_norm_does_not_last(upkeep):
    """It is gone when the norm is summed afresh, at the latest 1024 learned examples on."""
    X, y = many()
    kernel = naive_kernels.gaussian(0.25)
    model = make(upkeep, 25, 0.25, regularization=1e-2)
    model.learn(X[:500], y[:500], np.arange(26))
    slots_of(model).memory[0, 1] *= 0.9
    wrong = squared_norm(model, kernel)
    assert abs(slots_of(model).memory[0, 1] / wrong - 1) > 0.05
    model.learn(X[500:1700], y[500:1700])
    tracked = slots_of(model).memory[0, 1]
    assert tracked == pytest.approx(squared_norm(model, kernel), rel=1e-9)


@pytest.mark.data
@pytest.mark.parametrize("C", [2, 7])
@pytest.mark.parametrize("upkeep", UPKEEPS)
def test_what_is_kept_of_the_slots(upkeep, C):
    """The Gram matrix, its factor, diagonal and norms are those of the points held."""
    X, y = many()
    y, kernel = y % C, naive_kernels.gaussian(0.05)
    model = make(upkeep, 25, 0.05)
    model.learn(X[:1500], y[:1500], np.arange(C))
    slots, (points, _, births) = slots_of(model), held(model)
    n = len(points)
    assert n == 25 == len(set(births))
    K = pegasos.gram(kernel, points, points)
    np.testing.assert_allclose(slots.gram[0, :n, :n], K, atol=1e-12)
    np.testing.assert_allclose(slots.diagonal[0, :n], 1.0, rtol=1e-15)
    if upkeep == "project":
        R, order = np.triu(slots.factor[0, :n, :n]), slots.order[0, :n]
        np.fill_diagonal(R, 1 / np.diag(R))
        np.testing.assert_allclose(R.T @ R, K[np.ix_(order, order)], atol=1e-12)
    if upkeep.startswith("merge"):
        norms = (points**2).sum(axis=1)
        np.testing.assert_allclose(slots.norms[0, :n], norms, rtol=1e-12)
    else:
        rows = {tuple(row) for row in X[:1500]}
        assert {tuple(row) for row in points} <= rows


@pytest.mark.thinned
@pytest.mark.parametrize("C", [2, 4])
@pytest.mark.parametrize("upkeep", ALL)
def test_the_scale_never_underflows(upkeep, C):
    """It moves into the coefficients, and grows, each time it gets below TINY."""
    X, y = hard_streams.many_classes("gaussian_clouds", 120, C)
    model = make(upkeep, 9, 0.3)
    scales, said = [1.0], []
    for t in range(len(y)):
        part = slice(t, t + 1)
        said.append(model.learn(X[part], y[part], np.arange(C))[0])
        if t % 30 == 9:  # the same model, of a scale that is nearly TINY
            slots = slots_of(model)
            factor = 1.001 * TINY / slots.scale[0]
            slots.scale[0] *= factor
            slots.alpha[0] /= factor
        scales.append(slots_of(model).scale[0])
    assert min(scales) < 1.01 * TINY
    assert np.count_nonzero(np.diff(scales) > 0) >= 3
    expected = twin(X, y, C, upkeep, 9, 0.3)
    assert_same(model, np.concatenate(said), expected, rtol=1e-7)


@pytest.mark.parametrize("upkeep", UPKEEPS)
def test_a_budget_of_all_rounds_changes_nothing(upkeep):
    X, y = hard_streams.of_scikit_learn("wine", 150)
    free, model = make("free", None, 0.05), make(upkeep, 150, 0.05)
    np.testing.assert_array_equal(says(model, X, y, 3, 40), says(free, X, y, 3, 40))
    np.testing.assert_array_equal(model.support_vectors_, free.support_vectors_)
    np.testing.assert_allclose(model.dual_coef_, free.dual_coef_, rtol=1e-9)


@pytest.mark.thinned
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("C", [2, 5])
@pytest.mark.parametrize("upkeep", ALL)
def test_what_is_held_decides(upkeep, C, storage):
    """decision_function is that of the support vectors and their coefficients."""
    X, y = hard_streams.many_classes("gaussian_clouds", 120, C)
    model = make(upkeep, 12, 0.3)
    model.learn(storage(X[:90]), y[:90], np.arange(C))
    kernel = naive_kernels.gaussian(0.3)
    points, alphas, _ = held(model)
    scores = np.array([kernel(points, x) @ alphas for x in X])
    decisions = model.decision_function(storage(X))
    if C == 2:
        assert isinstance(model.combiner, kb.FixedShare)  # mistakes: votes
        np.testing.assert_array_equal(decisions >= 0, scores[:, 1] >= 0)
    else:
        np.testing.assert_array_equal(decisions.argmax(axis=1), scores.argmax(axis=1))
    dual = model.dual_coef_[:, 0]
    own = np.column_stack([-dual, dual]) if C == 2 else dual
    again = np.array([kernel(model.support_vectors_, x) @ own for x in X])
    np.testing.assert_allclose(again, scores, rtol=1e-9, atol=1e-9 * np.abs(scores).max())
    for t in range(90, len(y)):
        foreseen = model.predict(storage(X[t : t + 1]))
        assert model.learn(storage(X[t : t + 1]), y[t : t + 1])[0] == foreseen


# -- blocks, sparsity, files --------------------------------------------------------------------


def state(model, predictions, X):
    parts = [predictions, model.support_vectors_, model.dual_coef_, model.expert_mistakes_]
    parts += [model.kernel_weights_, model.decision_function(X), slots_of(model).memory]
    return [array.tobytes() for array in parts]


@pytest.mark.data
@pytest.mark.parametrize("upkeep", ["merge", "project"])
def test_blocks_of_a_longer_stream(upkeep):
    """Letter: blocks end within the chunks and at their ends, and merged points meet later ones."""
    X, y = many()
    X, y = X[:600], y[:600]
    wanted = None
    for size in (600, 256, 128, 37, 1):
        model = make(upkeep, 30, 0.1)
        found = state(model, says(model, X, y, 26, size), X)
        wanted = wanted or found
        assert found == wanted, size


SPOILED = [
    ("merge", "place", lambda a: a + 99, r"stores\.0\.place"),
    ("merge", "filled", lambda a: a + 99, r"stores\.0\.filled"),
    ("project", "order", lambda a: 0 * a, r"stores\.0\.order"),
    ("smallest", "place", lambda a: a - 99, r"stores\.0\.place"),
    ("free", "place", lambda a: a + 999, r"stores\.0\.place"),
]


@pytest.mark.parametrize(("upkeep", "field", "spoil", "message"), SPOILED)
def test_a_file_that_points_outside(upkeep, field, spoil, message, tmp_path):
    """Compiled code indexes by these: a file that lies about them is not loaded."""
    X, y = hard_streams.many_classes("gaussian_clouds", 100, 4)
    model = make(upkeep, 9, 0.3).fit(X, y)
    array = getattr(slots_of(model), field)
    array[:] = spoil(array)
    kb.save(model, tmp_path / "model")
    with pytest.raises(ModelFileError, match=message):
        kb.load(tmp_path / "model")


# -- pools of kernels ---------------------------------------------------------------------------


def dot_plus_one(X, Z):
    return X @ Z.T + 1.0


GAUSSIANS = (0.02, 0.1, 0.5)
POOLS = {
    "gaussians": (
        [kb.Gaussian(gamma=g) for g in GAUSSIANS],
        [naive_kernels.gaussian(g) for g in GAUSSIANS],
    ),
    "mixed": (
        [kb.Linear(), kb.Gaussian(gamma=0.1), kb.Polynomial(2, 1.0), kb.Gaussian(gamma=0.5)],
        [
            *(naive_kernels.linear(), naive_kernels.gaussian(0.1)),
            *(naive_kernels.polynomial(2, 1.0), naive_kernels.gaussian(0.5)),
        ],
    ),
    "others": (
        [
            *(kb.Laplacian(gamma=0.1), kb.Cauchy(gamma=0.2), kb.Callable(dot_plus_one)),
            kb.Mean([kb.Linear(), kb.Gaussian(gamma=0.1)]),
        ],
        [
            *(naive_kernels.laplacian(0.1), naive_kernels.cauchy(0.2)),
            naive_kernels.polynomial(1, 1.0),
            naive_kernels.mean([naive_kernels.linear(), naive_kernels.gaussian(0.1)]),
        ],
    ),
}
COMBINERS = {
    "mistakes": {"discount": 0.9},
    "hinge": {"discount": 0.9, "loss": "hinge", "cap": 50.0},
}
SELECTIONS = {
    "all": {},
    "drawn update": {"update": "drawn", "smoothing": 0.1},
    "drawn": {"update": "drawn", "vote": "drawn", "smoothing": 0.1},
}


def assert_pool(pool, twins, X, y, C, upkeep, budget, combiner, selection, size=60, **settings_):
    """A pool under Hedge against as many twins; kernels that are no Gaussians project."""
    chosen = COMBINERS[combiner] | SELECTIONS[selection]
    which = [ALL[upkeep][1]] * len(pool)
    if upkeep.startswith("merge"):
        gaussians = [isinstance(kernel, kb.Gaussian) for kernel in pool]
        which = [ALL[upkeep][1] if merges else pegasos.project for merges in gaussians]
    step = partial(multiclass.pegasos_round, upkeeps=which, **settings_)
    expected = multiclass.run(
        X, y, twins, C, step, None if upkeep == "free" else budget, seed=seed_of(SEED),
        order=[1, 0] if C == 2 else None, make=multiclass.PegasosExpert, **chosen,
    )  # fmt: skip
    model = plain.classifier(
        pool,
        learner_of(upkeep, budget, **settings_),
        kb.Hedge(**COMBINERS[combiner]),
        kb.Selection(**SELECTIONS[selection]),
        random_state=SEED,
    )
    np.testing.assert_array_equal(says(model, X, y, C, size), expected.predictions)
    for e, expert in enumerate(expected.experts):
        theirs = expert.model
        assert_expansion(model, e, theirs.points, theirs.alphas, theirs.births, 1e-7)
        square = pegasos.squared_norm(theirs.kernel, theirs.points, theirs.alphas)
        assert expert_slots(model, e)[0].memory[1] == pytest.approx(square, rel=1e-7)
    weights = np.exp(expected.log_weights)
    np.testing.assert_allclose(model.kernel_weights_, weights / weights.sum(), atol=1e-9)
    np.testing.assert_array_equal(model.expert_mistakes_, expected.mistakes)
    return model


@pytest.mark.thinned
@pytest.mark.parametrize(
    ("upkeep", "pool", "combiner", "selection"), pairwise(ALL, POOLS, COMBINERS, SELECTIONS)
)
def test_pools(upkeep, pool, combiner, selection):
    """Several kernels under Hedge, updates and votes drawn or not; each has its own t."""
    X, y = hard_streams.of_scikit_learn("wine", 70)
    model = assert_pool(*POOLS[pool], X, y, 3, upkeep, 12, combiner, selection)
    if upkeep != "free" and selection == "all":
        assert (filled_of(model) == 12).sum() >= len(model.kernels_) - 1


@pytest.mark.thinned
@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("upkeep", ALL)
def test_pools_of_two_classes(upkeep, selection):
    X, y = hard_streams.gaussian_clouds(150)
    labels = (y > 0).astype(int)
    assert_pool(*POOLS["mixed"], X, labels, 2, upkeep, 9, "mistakes", selection)


@pytest.mark.sampled
@pytest.mark.data
@pytest.mark.parametrize("upkeep", UPKEEPS)
def test_covtype(upkeep):
    """16 kernels by seven classes on the first rows, scaled, with updates drawn."""
    X, y = hard_streams.real("covtype", 90)
    X = hard_streams.scaled(X.toarray())
    pool = kb.kernels.resolve("omkc16")
    assert_pool(
        *(pool, naive_kernels.omkc16(), X, y.astype(int) - 1, 7, upkeep, 20, "mistakes", "drawn")
    )


@pytest.mark.data
@pytest.mark.parametrize("upkeep", ["merge", "project"])
def test_covtype_by_several_threads(upkeep, monkeypatch):
    """Enough slots for threads: two give the same bytes as one, and as an example at a time."""
    X, y = hard_streams.real("covtype", 400)
    X, y = hard_streams.scaled(X.toarray()), y.astype(int) - 1
    wanted = None
    for threads, size in ((1, 400), (2, 400), (2, 150), (1, 1)):
        monkeypatch.setenv("OMP_NUM_THREADS", str(threads))
        model = plain.classifier(
            "omkc16", learner_of(upkeep, 60), selection=kb.Selection(**SELECTIONS["drawn"]),
            random_state=SEED,
        )  # fmt: skip
        found = state(model, says(model, X, y, 7, size), X[:100])
        wanted = wanted or found
        assert found == wanted, (threads, size)
        assert threads_of(model, 128) == threads


# -- parameters ---------------------------------------------------------------------------------

WRONG = [
    (kb.Pegasos(budget=0), "Pegasos: budget must be None or an integer from 1 to .*, got 0"),
    (kb.Pegasos(budget=2.5), "Pegasos: budget must be .* got 2.5"),
    (kb.Pegasos(budget="5"), "Pegasos: budget must be .* got '5'"),
    (kb.Pegasos(budget=True), "Pegasos: budget must be .* got True"),
    (kb.Pegasos(regularization=0), "Pegasos: regularization must be a positive number, got 0"),
    (kb.Pegasos(5, regularization=np.nan), "regularization must be a positive number, got nan"),
    (kb.Pegasos(5, regularization=None), "regularization must be a positive number, got None"),
    (kb.Pegasos(5, upkeep="none"), "upkeep must be one of random, smallest, .* got 'none'"),
    (kb.Pegasos(upkeep=None), "upkeep must be one of .* got None"),
    (kb.Pegasos(5, ball="yes"), "Pegasos: ball must be True or False, got 'yes'"),
    (kb.Pegasos(5, ball=1), "Pegasos: ball must be True or False, got 1"),
    (kb.Pegasos(5, merging="table"), "merging must be 'exact' or 'printed', got 'table'"),
]


@pytest.mark.parametrize(("learner", "message"), WRONG, ids=lambda part: str(part))
def test_bad_parameters(learner, message):
    X, y = hard_streams.many_classes("gaussian_clouds", 30, 3)
    model = plain.classifier(learner=learner)
    with pytest.raises(InputError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "classes_")


def test_a_zero_vector_adds_nothing():
    for upkeep in ALL:
        model = plain.classifier([kb.Linear()], learner_of(upkeep, 5))
        model.fit(np.zeros((6, 3)), [0, 1, 2, 1, 1, 0])
        assert slots_of(model).filled[0] == 0
        assert slots_of(model).memory[0, 0] == 6


@pytest.mark.parametrize("upkeep", UPKEEPS)
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6, 1e20])
def test_kernels_of_any_size(upkeep, scale):
    """k(x, x) up to 1e120, far beyond what the step is meant for: everything stays finite."""
    X, y = hard_streams.many_classes("duplicates", 300, 4)
    pool = [kb.Linear(), kb.Polynomial(3), kb.Gaussian(gamma=1 / scale**2)]
    model = plain.classifier(pool, learner_of(upkeep, 10)).fit(scale * X, y)
    assert np.isfinite(model.dual_coef_).all()
    assert np.isfinite(model.decision_function(scale * X)).all()
    assert (slots_of(model).scale > 0).all()


@pytest.mark.parametrize("upkeep", UPKEEPS)
def test_memory_on_a_long_stream(upkeep):
    X, y = kb.open_stream("checkerboard:10000").read()
    model = make(upkeep, 10, 20.0)
    sizes = []
    for start in range(0, 10_000, 500):
        model.learn(X[start : start + 500], y[start : start + 500], np.unique(y))
        sizes.append(model.memory_bytes_)
    assert max(sizes[4:]) <= 1.5 * sizes[3]
    assert max(sizes) < 20_000
