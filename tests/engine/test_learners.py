"""Every learner against its naive twin: streams of all kinds, under any combiner and selection."""

from functools import partial

import hard_streams
import numpy as np
import plain
import pytest
import scipy.sparse as sp
from covering import pairwise
from driving import waves
from every_combiner import SELECTIONS
from every_learner import (
    POOL,
    TWINS,
    WAVES,
    B,
    of_features,
    of_gradients,
    of_pegasos,
    of_steps,
    with_twins,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import ada_raker, budget, combiners, multiclass, pegasos, projecting, regression
from naive import kernels as naive_kernels
from naive import passive_aggressive as passive
from sklearn.datasets import load_diabetes
from twins import ALL, assert_equals_its_twin

import kernbrook as kb


def steps(learner, binary, multi, slots=None, tie="label", **parameters):
    rules = (partial(rule, **parameters) for rule in (binary, multi))
    return learner, of_steps(*rules, slots, tie)


def counted_by_label(learner, binary, multi, slots=None):
    return learner, of_steps(*(partial(rule, tie="label") for rule in (binary, multi)), slots)


def pa(variant, aggressiveness=0.3):
    return steps(
        kb.PassiveAggressive(variant, aggressiveness),
        *(passive.passive_aggressive, multiclass.passive_aggressive),
        variant=variant, aggressiveness=aggressiveness,
    )  # fmt: skip


def bpegasos(upkeep, twin, upkeeps=None, **more):
    learner = kb.Pegasos(B, 0.01, upkeep=upkeep, **more)
    more.pop("merging", None)
    return learner, of_pegasos(twin, B, upkeeps, **more)


def merging(search, **more):
    """Gaussians merge, the other kernels of the pool project."""
    merge = partial(pegasos.merge, search=search)
    upkeeps = [pegasos.project, merge, merge, pegasos.project]
    return bpegasos("merge", None, upkeeps, **more)


def descent(**parameters):
    learner = kb.GradientDescent(features=WAVES, **parameters)
    return learner, of_features(regression.Descent, **parameters)


def restarting(restart, **parameters):
    """It begins afresh after so many labels."""
    features = of_features(regression.Descent, **parameters)

    def twin(number, kernel, X, C):
        Z = features(number, kernel, X, C).Z
        fresh = partial(regression.Descent, Z.shape[1], C, **parameters)
        return ada_raker.Restarting(Z, fresh, restart)

    return kb.GradientDescent(features=WAVES, restart=restart, **parameters), twin


def expansion(**parameters):
    return kb.GradientDescent(features=None, **parameters), of_gradients(**parameters)


def ridge(**parameters):
    return kb.Ridge(features=WAVES, **parameters), of_features(regression.Ridge, **parameters)


UNIT = {"step": 0.2, "cap": 0.5, "divisor": 2.0, "unit_diagonal": True}
STEEP = {"step": 0.7, "regularization": 0.9}
BOLD = {"margin": 0.9, "radius": 2.0, "ridge": 0.05}
ANY = {  # for classes and numbers
    "features, root, horizon": descent(step=3.0, horizon=100, regularization=0.05),
    "features, constant": descent(step=0.2, schedule="constant", regularization=0.1),
    "features, normalized": descent(step=0.4, schedule="normalized", regularization=0.1),
    "features, adagrad": descent(step=0.3, schedule="adagrad", regularization=0.05),
    "restarts": restarting(1, step=0.4),
    "restarts, horizon": restarting(32, step=3.0, horizon=50, regularization=0.05),
    "restarts, normalized": restarting(7, step=0.3, schedule="normalized"),
    "restarts, adagrad": restarting(7, step=0.3, schedule="adagrad", regularization=0.05),
    "ridge, weak": ridge(regularization=0.001),
    "ridge, forgetting": ridge(regularization=0.5, forgetting=0.9),
    "expansion, root, horizon": expansion(step=2.0, horizon=100, regularization=0.1),
    "expansion, constant": expansion(step=0.1, schedule="constant", regularization=0.5),
}
OF_NUMBERS = with_twins(True) | ANY | {
    "expansion, window": expansion(step=0.1, regularization=0.05, budget=15),
}  # fmt: skip
OF_CLASSES = with_twins(False) | ANY | {
    "perceptron, label": counted_by_label(
        kb.Perceptron("label"), budget.rbp, multiclass.perceptron
    ),
    "PA": pa("PA"),
    "PA-II": pa("PA-II"),
    "spa, unit": steps(kb.SparsePA(**UNIT), budget.sparse_pa, multiclass.sparse_pa, **UNIT),
    "rbp, label": counted_by_label(kb.RBP(B, tie="label"), budget.rbp, multiclass.perceptron, B),
    "forgetron, label": counted_by_label(
        kb.Forgetron(B, tie="label"), budget.forgetron, multiclass.forgetron, B
    ),
    "bogd, steep": steps(
        kb.BOGD(B, upkeep="uniform", **STEEP), budget.bogd, multiclass.bogd, B,
        uniform=True, **STEEP,
    ),
    "bpas, bold": steps(kb.BPAS(B, 5.0), budget.bpas, multiclass.bpas, B, aggressiveness=5.0),
    "projectron, label": counted_by_label(
        kb.Projectron(B, tie="label"), projecting.projectron, multiclass.projectron, B
    ),
    "projectron++, far": steps(
        kb.ProjectronPlusPlus(B, threshold=0.9), projecting.projectron, multiclass.projectron, B,
        "margin", threshold=0.9, margin_errors=True,
    ),
    "ahpatron, bold": steps(
        kb.Ahpatron(B, **BOLD), projecting.ahpatron, multiclass.ahpatron, B, **BOLD
    ),
    "pegasos, random": bpegasos("random", pegasos.remove_random),
    "pegasos, project": bpegasos("project", pegasos.project, ball=False),
    "pegasos, merge": merging(pegasos.best_merge),
    "pegasos, merge as printed": merging(pegasos.printed_merge, merging="printed"),
    **{
        f"{kind}, {loss}, {schedule}": make(step=0.3, loss=loss, schedule=schedule)
        for kind, make in (("features", descent), ("expansion", expansion))
        for loss in ("logistic", "hinge")
        for schedule in ("root", "constant")
    },
}  # fmt: skip
COMBINERS = {  # of a loss, and its twin
    "hedge": (lambda loss: kb.Hedge(0.9, loss, cap=20.0), lambda m: combiners.Hedge(m, 0.9)),
    "poly": (kb.MLPoly, combiners.MLPoly),
    "share": (
        lambda loss: kb.FixedShare(0.7, 0.02, loss),
        lambda m: combiners.FixedShare(m, 0.7, 0.02),
    ),
    "exp": (lambda loss: kb.EXP(0.5, loss=loss), lambda m: regression.EXP(m, 0.5)),
    "exp, horizon": (
        lambda loss: kb.EXP(3.0, horizon=80, loss=loss), lambda m: regression.EXP(m, 3.0, 80)
    ),
    "poly, free of scale": (
        lambda loss: kb.MLPoly(loss, scale_free=True), regression.MLPoly
    ),
    "uniform": (lambda loss: kb.Uniform(), regression.Uniform),
}  # fmt: skip
LOSSES = {True: ["squared", "absolute", "linearized"], False: ["mistakes", "hinge", "logistic"]}
CHOSEN = [ALL, *(own for own in SELECTIONS.values() if own[1] is not None)]
STREAMS = ["gaussian_clouds", "sparse_counts", "with_zero_rows", "one_class_prefix", "iris", "wine"]
CLOSE = "bpas", "spa, budget"  # rounding may decide between removals
ON_FEATURES = "features", "restarts", "ridge"  # or between classes, whose scores are clipped


def of_numbers(name, n=90):
    if name == "waves":
        return *waves(n), None
    X, y = load_diabetes(return_X_y=True)
    return 20 * X[:n], (y[:n] - y.mean()) / y.std(), None


def cases(learners, streams, numbers):
    """Each learner on the first stream, and on two others by turns; combiners and more by turns."""
    for i, name in enumerate(learners):
        for k, stream in enumerate([streams[0], streams[0], *streams[1:]]):
            if k > 1 and ((i + k) % 3 or name.startswith(CLOSE)):
                continue
            own, losses = [*COMBINERS][(i + k) % len(COMBINERS)], LOSSES[numbers]
            yield (
                name,
                stream,
                own,
                losses[(i + k // 2) % len(losses)],
                (i + 2 * k) % len(CHOSEN),
                k,
            )


@pytest.mark.thinned
@pytest.mark.parametrize(
    ("name", "stream", "combiner", "loss", "chosen", "k"), list(cases(OF_CLASSES, STREAMS, False))
)
def test_classes(name, stream, combiner, loss, chosen, k):
    """A pool, a budget that is soon full, weights of examples."""
    C = 3 if stream in ("iris", "wine") else 4 if k else 2
    X, y = hard_streams.with_classes(stream, C, 80)
    weights = None if k % 2 else np.random.default_rng(k).choice([0.0, 0.3, 1.0, 4.0], len(y))
    of_loss, twin = COMBINERS[combiner]
    assert_equals_its_twin(
        *OF_CLASSES[name], X, y, C, of_loss(loss), twin, CHOSEN[chosen], importance=weights, size=33
    )


@pytest.mark.thinned
@pytest.mark.parametrize(
    ("name", "stream", "combiner", "loss", "chosen", "k"),
    list(cases(OF_NUMBERS, ["waves", "diabetes"], True)),
)
def test_numbers(name, stream, combiner, loss, chosen, k):
    X, y, C = of_numbers(stream)
    weights = None if k % 2 else np.random.default_rng(k).choice([0.0, 0.3, 1.0, 4.0], len(y))
    of_loss, twin = COMBINERS[combiner]
    assert_equals_its_twin(
        *OF_NUMBERS[name], X, y, C, of_loss(loss), twin, CHOSEN[chosen], importance=weights, size=33
    )


HARD = ("perceptron", "perceptron, label", "rbp", "rbp, label", "forgetron", "bogd, steep")


@pytest.mark.thinned
@pytest.mark.parametrize(("stream", "name"), pairwise([*hard_streams.DRAWN, "wdbc"], HARD))
def test_hard_streams(stream, name):
    """Exact cancellations, duplicates with several labels, kernel values of 0, huge ones.

    The Forgetron's phi magnifies rounding where kernels are huge: it meets Gaussians alone.
    """
    C = 2 + 3 * (len(stream + name) % 2)
    X, y = hard_streams.many_classes(stream, 100, C)
    kernels = "omkc16", naive_kernels.omkc16()
    if name == "forgetron":
        kernels = POOL[1:], TWINS[1:]
    twin = partial(combiners.Hedge, discount=0.8)
    assert_equals_its_twin(*OF_CLASSES[name], X, y, C, kb.Hedge(0.8), twin, kernels=kernels)


def dot_plus_one(X, Z):
    return X @ Z.T + 1.0


DOT, CAUCHY = naive_kernels.polynomial(1, 1.0), naive_kernels.cauchy(0.2)
ODD = {
    kb.Mean([kb.Linear(), kb.Gaussian(gamma=0.1), kb.Laplacian(gamma=0.2)]): naive_kernels.mean(
        [naive_kernels.linear(), naive_kernels.gaussian(0.1), naive_kernels.laplacian(0.2)]
    ),
    kb.Laplacian(gamma=0.1): naive_kernels.laplacian(0.1),
    kb.Callable(dot_plus_one): DOT,
    kb.Mean([kb.Callable(dot_plus_one), kb.Cauchy(gamma=0.2)]): naive_kernels.mean([DOT, CAUCHY]),
    kb.Sigmoid(gamma=0.1, offset=-0.2): naive_kernels.sigmoid(0.1, -0.2),
}


@pytest.mark.parametrize("C", [2, 4])
@pytest.mark.parametrize("name", ["perceptron", "rbp", "spa, budget", "projectron", "expansion"])
def test_kernels_of_every_kind(name, C):
    """Means, kernels that are called, and a matrix that rows are numbers of."""
    X, y = hard_streams.many_classes("gaussian_clouds", 90, C)
    pair = OF_CLASSES["expansion, constant" if name == "expansion" else name]
    poly = kb.MLPoly("hinge"), combiners.MLPoly
    assert_equals_its_twin(*pair, X, y, C, *poly, kernels=([*ODD], [*ODD.values()]))
    rows = np.random.default_rng(1).permutation(90)[:, None].astype(float)
    gram = np.array([naive_kernels.gaussian(0.3)(X, x) for x in X])
    lookup = lambda Z, x: gram[Z[:, 0].astype(int), int(x[0])]  # noqa: E731
    assert_equals_its_twin(*pair, rows, y, C, *poly, kernels=([kb.Precomputed(gram)], [lookup]))


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("name", ["spa", "bogd", "ahpatron", "gradients, window"])
def test_what_is_held_decides(name, storage):
    """decision_function is that of the support vectors, their coefficients and the weights."""
    X, y = hard_streams.gaussian_clouds(200)
    model = plain.classifier(POOL, OF_CLASSES[name][0], kb.Hedge(loss="hinge"), random_state=0)
    model.fit(storage(X[:150]), y[:150])
    scores = [
        kernel(X, model.support_vectors_) @ alpha
        for kernel, alpha in zip(model.kernels_, model.dual_coef_.T, strict=True)
    ]
    expected = model.kernel_weights_ @ scores
    np.testing.assert_allclose(model.decision_function(storage(X)), expected, rtol=1e-9, atol=1e-9)


def of_files():
    for i, name in enumerate(OF_CLASSES):
        if not name.startswith("restarts"):  # begun afresh, classes are equal but for rounding
            yield name, ("letter", "covtype")[i % 2]
    for i, name in enumerate(OF_NUMBERS):
        yield name, ("energy", "twitter")[i % 2]


@pytest.mark.data
@pytest.mark.thinned
@pytest.mark.parametrize(("name", "file"), list(of_files()))
def test_files_of_the_papers(name, file):
    """Of many classes, of which some have not come yet."""
    C = {"letter": 26, "covtype": 7}.get(file)
    X, y = hard_streams.real(file, 100)
    X = hard_streams.scaled(X.toarray())
    y = (y - y.mean()) / y.std() if C is None else y.astype(int) - 1
    pair = (OF_NUMBERS if C is None else OF_CLASSES)[name]
    combiner = kb.MLPoly("squared" if C is None else "hinge")
    assert_equals_its_twin(*pair, X, y, C, combiner, combiners.MLPoly)


@settings(max_examples=200, deadline=None)
@given(data=st.data(), C=st.sampled_from([None, 2, 3, 6]), n=st.integers(1, 60))
def test_random_streams(data, C, n):
    """Labels at random, weights of examples, 0 among them, and draws by any seed."""
    draw, numbers = data.draw, C is None
    learners = OF_NUMBERS if numbers else OF_CLASSES
    name = draw(st.sampled_from([one for one in learners if not one.startswith(CLOSE)]))
    of_loss, twin = COMBINERS[draw(st.sampled_from([*COMBINERS]))]
    losses = [one for one in LOSSES[numbers] if one != "hinge" or not name.startswith(ON_FEATURES)]
    combiner = of_loss(draw(st.sampled_from(losses)))
    rng = np.random.default_rng(draw(st.integers(0, 2**31 - 1)))
    X, y = rng.normal(size=(n, 4)), rng.normal(size=n) if numbers else rng.integers(C, size=n)
    weights, size = rng.choice([0.0, 0.25, 1.0, 3.0], size=n), draw(st.integers(1, 60))
    weights[::size] = 1.0
    chosen = draw(st.sampled_from(CHOSEN))
    assert_equals_its_twin(
        *learners[name], X, y, C, combiner, twin, chosen, importance=weights, size=size, rtol=1e-7
    )
