"""What learning accepts, saving writes and loading reads; and the loaded model goes on the same."""

import warnings

import hostile_streams
import numpy as np
import pytest
import scipy.sparse as sp
from covering import pairwise
from every_combiner import COMBINERS
from every_learner import LEARNERS, SHIFTING

import kernbrook as kb
from kernbrook.errors import KernbrookWarning, NonFiniteError

CHUNK = 40
SCALINGS = [None, "moments", "maximum", "ranks"]
OF_CLASSES = [
    name for name, (learner, _) in LEARNERS.items()
    if name not in ("tree", "tree of numbers", "gradients, squared")
]  # fmt: skip
OF_NUMBERS = [
    "gradients, squared", "gradients, window", "gradients on features, squared", "ridge", "advice",
    "last label",
]  # fmt: skip
WEIGHING = {
    "classes": ["Hedge", "Hedge, hinge", "FixedShare", "AdaHedge", "MLPoly", "EXP, classes",
                "Uniform", "GroupNorm", "Stack"],
    "numbers": ["Hedge, squared", "FixedShare, absolute", "AdaHedge, numbers", "EXP",
                "MLPoly, free of scale", "Uniform", "Stack, numbers"],
}  # fmt: skip
STREAMS = list(hostile_streams.STREAMS)


def made(numbers, learner, combiner, scaling):
    learner = None if combiner == "GroupNorm" else LEARNERS[learner][0]
    combiner = COMBINERS[combiner][0]
    if numbers:
        if getattr(learner, "loss", None) == "hinge":
            learner = kb.GradientDescent(0.2, features=None, budget=50)
        center = not isinstance(learner, kb.Advice)
        return kb.OnlineMKRegressor(
            SHIFTING, learner, combiner, scaling=scaling, random_state=0, center=center
        )
    kernels = [*SHIFTING, kb.Polynomial(2, 1.0)]
    if getattr(learner, "features", None) is not None:
        kernels = SHIFTING
    return kb.OnlineMKClassifier(kernels, learner, combiner, scaling=scaling, random_state=0)


def learned(model, X, y, weights, one_by_one):
    """Whether a chunk was learned; one that is refused leaves no trace."""
    named = {"classes": [0, 1]} if hasattr(model, "classes_") or y.dtype.kind == "i" else {}
    before = state_of(model)
    try:
        if one_by_one and before:
            for x, label, weight in zip(X, y, weights, strict=True):
                before = state_of(model)
                model.learn_one(x, label, sample_weight=weight)
        else:
            model.partial_fit(X, y, sample_weight=weights, **named)
    except NonFiniteError:
        assert state_of(model) == before
        return False
    return True


def state_of(model):
    if not hasattr(model, "_model"):
        return None
    return {name: array.tobytes() for name, array in model.state().items()}


def check(model, stream, tmp_path, sparse=False, one_by_one=False, great=False):
    X, y = hostile_streams.STREAMS[stream]()
    if isinstance(model, kb.OnlineMKRegressor):
        y = X[:, 0] if np.abs(X).max() < 1e99 else y * 1.5e99
    weights = np.where(np.arange(len(y)) % 7, 1.0, 1e90 if great else 1e-90)
    X = sp.csr_matrix(X) if sparse else X
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "row .* of the chunk: feature", KernbrookWarning)
        for start in range(0, 120, CHUNK):
            where = slice(start, start + CHUNK)
            learned(model, X[where], y[where], weights[where], one_by_one)
        if not hasattr(model, "_model"):
            return  # every chunk was refused
        kb.save(model, tmp_path / "model")
        loaded = kb.load(tmp_path / "model")
        for one in (model, loaded):
            learned(one, X[120:], y[120:], weights[120:], one_by_one)
    assert state_of(loaded) == state_of(model)


LEARNING = pairwise(OF_CLASSES, SCALINGS, STREAMS)


@pytest.mark.thinned
@pytest.mark.slow
@pytest.mark.parametrize(("learner", "scaling", "stream"), LEARNING)
def test_every_learner(learner, scaling, stream, tmp_path):
    number = LEARNING.index((learner, scaling, stream))
    model = made(False, learner, "FixedShare", scaling)
    sparse = number % 3 == 0 and learner != "advice"
    check(model, stream, tmp_path, sparse, not sparse and number % 3 == 1, number % 2 == 0)


OF_EACH = pairwise(WEIGHING["classes"], ["bpas", "ridge", "perceptron"], STREAMS[::2])


@pytest.mark.thinned
@pytest.mark.parametrize(("combiner", "learner", "stream"), OF_EACH)
def test_every_combiner(combiner, learner, stream, tmp_path):
    number = OF_EACH.index((combiner, learner, stream))
    model = made(False, learner, combiner, SCALINGS[number % 4])
    check(model, stream, tmp_path, one_by_one=number % 2 == 0, great=number % 3 == 0)


@pytest.mark.thinned
@pytest.mark.slow
@pytest.mark.parametrize(
    ("learner", "combiner", "stream"), pairwise(OF_NUMBERS, WEIGHING["numbers"], STREAMS)
)
def test_numbers(learner, combiner, stream, tmp_path):
    number = STREAMS.index(stream)
    model = made(True, learner, combiner, SCALINGS[number % 4])
    check(model, stream, tmp_path, one_by_one=number % 2 == 0, great=number % 3 == 0)


@pytest.mark.sampled
@pytest.mark.parametrize("stream", STREAMS)
def test_the_default(stream, tmp_path):
    check(kb.OnlineMKClassifier(random_state=0), stream, tmp_path)


def test_the_row_that_is_refused_is_named():
    """Whatever overflows first, in blocks of any length."""
    rng = np.random.default_rng(0)
    X, bad = rng.normal(size=(700, 3)), rng.normal(size=(1, 3)) * 1e150
    y = (X[:, 0] > 0).astype(int)
    for learner in ("perceptron", "bpas", "pegasos", "projectron", "gradients"):
        model = kb.OnlineMKClassifier(
            [kb.Polynomial(3, 1.0)], LEARNERS[learner][0], kb.Hedge(), scaling=None
        )
        with pytest.raises(NonFiniteError, match=r"^row 600 of the chunk: kernel \(x\.z \+ 1\)\^3"):
            model.fit(np.concatenate([X[:600], bad, X[600:]]), np.append(y, 0))


def test_moments_of_any_size():
    """Scaled rows are the same to the last bit, whatever power of two the rows are times."""
    from kernbrook.engine.scalers import OnlineScaler

    X = np.random.default_rng(0).normal(size=(300, 3))
    wanted = OnlineScaler("moments", 3).learn(X)
    for power in (400, 500, 508):
        scaler = OnlineScaler("moments", 3)
        np.testing.assert_array_equal(scaler.learn(X * 2.0**power), wanted)
        np.testing.assert_array_equal(scaler.transform(X[-1:] * 2.0**power).shape, (1, 3))
        scaler.check()
