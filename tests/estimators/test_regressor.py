"""The regressor as an estimator: what it promises, what it refuses, what a file keeps of it."""

import math

import numpy as np
import plain
import pytest
import scipy.sparse as sp
from driving import learn, waves
from inside import extra_of, theta_of
from sklearn.base import clone
from sklearn.linear_model import Ridge as SkRidge

import kernbrook as kb
from kernbrook.errors import InputError, NonFiniteError

WAVES = kb.RandomFeatures(8)
POOL = [kb.Gaussian(sigma=1.0), kb.Gaussian(sigma=3.0), kb.Cauchy(sigma=1)]
LEARNERS = [kb.Ridge(features=WAVES), kb.GradientDescent(0.2, features=WAVES)]


X, Y = waves(160, 4)


def make(learner=LEARNERS, kernels=POOL, random_state=0, **others):
    return plain.regressor(kernels, learner, random_state=random_state, **others)


def file_of(model, tmp_path):
    kb.save(model, tmp_path / "state")
    return (tmp_path / "state").read_bytes()


# -- what it promises --------------------------------------------------------------------------


def test_what_was_learned_adds_up():
    model = make(combiner=kb.EXP(2.0))
    said, asked = learn(model, X, Y)
    assert asked.all()
    assert (model.labels_asked_, model.n_rounds_, model.n_features_in_) == (160, 160, 4)
    assert model.expert_weights_.shape == (6,)
    assert model.expert_weights_.sum() == pytest.approx(1)
    np.testing.assert_allclose(
        model.kernel_weights_, model.expert_weights_[:3] + model.expert_weights_[3:]
    )
    errors = []
    for i in range(6):
        alone = make(LEARNERS[i // 3], POOL[: i % 3 + 1], combiner=kb.Uniform())
        learn(alone, X, Y)  # its kernels have the numbers, and so the draws, of the pool's
        errors.append(alone.expert_errors_[-1])
    np.testing.assert_allclose(model.expert_errors_, errors, rtol=1e-12)
    assert np.mean((said - Y) ** 2) < max(errors)
    assert (model.n_support_stored_, model.n_support_active_) == (0, 0)
    for name in ("support_vectors_", "dual_coef_"):
        with pytest.raises(AttributeError, match="on features has no support vectors"):
            getattr(model, name)
    assert model.memory_bytes_ >= 8 * (6 * 16 + 3 * 16 * 16 + 3 * 8 * 4)
    before = model.memory_bytes_
    learn(model, X, Y)
    assert model.memory_bytes_ == before


@pytest.mark.parametrize("kind", [kb.OnlineMKRegressor, kb.OnlineMKClassifier])
def test_matrices_of_many_features_are_said(kind, monkeypatch):
    """All monomials of a table's columns, say: 45 of them took 85 ms a row."""
    X = np.random.default_rng(0).normal(size=(8, 10))
    y = [0, 1] * 4
    monkeypatch.setattr("kernbrook.estimators.base._MANY", 20_000)
    cubic = kb.Polynomial(3)
    said = r"learner: Ridge\(\) keeps 27,[0-9]+ numbers for 22[01] features of \(x\.z\)\^3"
    with pytest.warns(kb.errors.KernbrookWarning, match=said) as told:
        kind([kb.Linear(), cubic], kb.Ridge(), random_state=0).fit(X, y)
    assert told[0].filename == __file__
    few = kb.Ridge(features=kb.RandomFeatures(20))
    kind(kb.Gaussian(sigma=1), few, random_state=0).fit(X, y)


# -- scaling and centring ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "scaling_"), [(1e200, None), (np.nan, "maximum"), (np.nan, "moments")]
)
def test_a_chunk_that_is_refused_scales_nothing(wrong, scaling_, tmp_path):
    A, b = waves(60, 4)
    model = make(scaling=scaling_)
    learn(model, A, b)
    state = file_of(model, tmp_path)
    spoiled = A.copy()
    spoiled[7, 1] = wrong
    with pytest.raises(ValueError, match=r"NaN|infinity|larger"):
        model.learn(spoiled, b)
    assert file_of(model, tmp_path) == state


def test_moments_fill_sparse_rows():
    """Zeros do not stay zeros; where there are too many of them, that is refused."""
    wide = sp.csr_matrix((np.ones(3), ([0, 1, 2], [0, 5, 90_000])), shape=(3, 100_000))
    with pytest.raises(
        InputError, match=r"'moments' fills in sparse rows, of at most .* take 'max"
    ):
        make(kb.GradientDescent(features=None), scaling="moments").fit(wide, [0, 1, 2])
    model = make(kb.GradientDescent(0.1, features=None), scaling="maximum")
    assert np.isfinite(model.fit(wide, [0, 1, 2]).predict(wide)).all()


def test_centred_numbers():
    """offset_ is the first label; what follows is learned as the difference from it."""
    far = Y + 1000.0
    model, usual = make(center=True), make()
    said, _ = learn(model, X, far, None, 50)
    expected, _ = learn(usual, X, far - far[0])
    assert model.offset_ == far[0]
    assert said[0] == 0
    np.testing.assert_allclose(said[1:], expected[1:] + far[0], rtol=1e-12)
    np.testing.assert_allclose(model.predict(X), usual.predict(X) + far[0], rtol=1e-12)
    np.testing.assert_array_equal(model.expert_errors_, usual.expert_errors_)
    np.testing.assert_array_equal(make(center=True).fit(X, far).predict(X), model.predict(X))
    late = make(center=True, labels=kb.Disagreement(0.02, 3))
    answers = iter([None, None, *far[2:]])
    said, asked = late.learn(X[:20], lambda row: next(answers))
    assert asked[:3].tolist() == [False, False, True]
    assert late.offset_ == far[2]
    assert said[:3].tolist() == [0.0] * 3
    assert (np.abs(said[3:] - 1000) < 10).all()


def test_centred_numbers_and_a_chunk_that_fails():
    model = make(center=True)
    with pytest.raises(ValueError, match="NaN"):
        model.learn(np.full((3, 4), np.nan), [5.0, 6.0, 7.0])
    assert not hasattr(model, "offset_")
    with pytest.raises(InputError, match="found inf"):
        model.learn(X[:3], [math.inf, 6.0, 7.0])
    assert not hasattr(model, "offset_")
    model.learn(X[:3], [1.0, 2.0, 3.0])
    assert model.offset_ == 1.0
    model = make(kb.GradientDescent(features=None), [kb.Polynomial(10)], center=True)
    model.learn(X[:3], [None] * 3)
    with pytest.raises(NonFiniteError, match="kernel"):
        model.learn(1e40 * X[:3], [5.0, 6.0, 7.0])
    assert not hasattr(model, "offset_")


# -- what it refuses ---------------------------------------------------------------------------


TARGETS = [
    (np.where(np.arange(160) == 9, np.inf, Y), r"inf.*\(row 9 of the chunk\)"),
    (np.where(np.arange(160) == 9, -1e200, Y), r"below 1e100, found -1e\+200 \(row 9"),
    (np.full(160, "much", dtype=object), "expected numbers, got object"),
    (Y + 1j, r"[Cc]omplex"),
    (Y[:-1], "X has 160 rows but y has 159 labels"),
    (np.column_stack([Y, Y]), r"\(160, 2\)"),
]


@pytest.mark.parametrize(("target", "message"), TARGETS, ids=[m for _, m in TARGETS])
def test_targets(target, message, tmp_path):
    """Refused in words by `learn`, by `fit` at least refused; what was learned stays."""
    fresh = make()
    with pytest.raises(ValueError, match=message):
        fresh.learn(X, target)
    assert not hasattr(fresh, "n_features_in_")
    model = make().fit(X, Y)
    state = file_of(model, tmp_path)
    with pytest.raises(ValueError, match=r"."):
        model.partial_fit(X, target)
    assert file_of(model, tmp_path) == state


@pytest.mark.parametrize(("size", "labels"), [(1, "all"), (20, kb.RandomLabels(1.0))], ids=str)
def test_a_learner_that_diverges(size, labels, tmp_path):
    """The model is what it was before the block, says so, and goes on."""
    learners = [kb.Ridge(features=WAVES), kb.GradientDescent(1e4, "constant", features=WAVES)]
    model = make(learners, labels=labels, scaling="maximum", center=True)
    for start in range(0, 100_000, size):
        at = start % 100
        state, rounds_ = file_of(model, tmp_path) if start else None, model_rounds(model)
        try:
            model.learn(X[at : at + size], Y[at : at + size])
        except NonFiniteError as error:
            message = str(error)
            break
    assert "diverged" in message
    assert "lower its step" in message
    assert model.n_rounds_ == rounds_ > 0
    assert file_of(model, tmp_path) == state
    assert np.isfinite(theta_of(model)).all()
    assert np.isfinite(extra_of(model)).all()


def model_rounds(model):
    return model.n_rounds_ if hasattr(model, "n_features_in_") else 0


# -- kernels with a constant -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scaling", "way"), [("moments", "chunks"), ("maximum", "policy"), ("ranks", "rows")]
)
def test_a_linear_kernel_is_as_good_as_ridge_of_scikit_learn(scaling, way):
    """Also where the first label is far from the others, and features are not around 0."""
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 3, size=(2500, 4))
    y = X @ [1.0, -2.0, 0.5, 0.0] + 20.0 + rng.normal(0, 0.05, size=2500)
    y[0] += 2.0
    labels = kb.LabelBudget(0.9) if way == "policy" else "all"
    model = kb.OnlineMKRegressor(
        [kb.Linear()], kb.Ridge(), scaling=scaling, labels=labels, random_state=0
    )
    if way == "rows":
        for x, label in zip(X[:2000], y[:2000], strict=True):
            model.learn_one(x, label)
    elif way == "policy":
        model.learn(X[:2000], y[:2000])
    else:
        model.fit(X[:2000], y[:2000])
    ranks = 0.0
    if scaling == "ranks":  # of uniform numbers are linear in them, but for chance
        ranks = 0.1
    theirs = np.abs(SkRidge().fit(X[:2000], y[:2000]).predict(X[2000:]) - y[2000:]).mean()
    assert np.abs(model.predict(X[2000:]) - y[2000:]).mean() < 1.05 * theirs + ranks
    assert str(model.kernels_[0]) == "x.z + 1"
    assert str(model.set_params(center=False).fit(X, y).kernels_[0]) == "x.z"


def overlap(A, B):
    return np.minimum(A[:, None], B[None]).sum(axis=2)


WITHOUT_CONSTANT = {
    "square": kb.Polynomial(2),
    "angle": kb.NormalizedPolynomial(2, offset=0),
    "sigmoid": kb.Sigmoid(0.1),
    "mean": kb.Mean([kb.Linear(), kb.Mean([kb.Polynomial(2), kb.Sigmoid(0.1)])]),
    "overlap": kb.kernels.Callable(overlap),
}


def far_from_zero(n):
    """Labels around 50, the first of them further off; features from 1 to 3."""
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 3, size=(n, 3))
    y = X[:, 0] * X[:, 1] - X[:, 2] + 50.0 + rng.normal(0, 0.05, size=n)
    y[0] += 3.0
    return X, y


@pytest.mark.parametrize(
    ("name", "learner"),
    [
        ("square", "expansion"),
        ("mean", "landmarks"),
        *((name, "budget") for name in ("angle", "sigmoid", "overlap")),
    ],
)
def test_a_kernel_without_a_constant_is_learned_with_one(name, learner):
    """As if it had been given with 1 added, in blocks, row by row and of CSR."""
    kernel, (X, y) = WITHOUT_CONSTANT[name], far_from_zero(120)
    learner = {
        "expansion": lambda: kb.GradientDescent(0.1, features=None),
        "budget": lambda: kb.GradientDescent(0.1, features=None, budget=20),
        "landmarks": lambda: kb.Ridge(features=kb.Nystroem(landmarks=X[:15])),
    }[learner]()
    given = kb.kernels.Callable(lambda A, B: kernel(A, B) + 1.0)
    model, expected, rows, sparse = (
        kb.OnlineMKRegressor([one], learner, scaling=None, random_state=0)
        for one in (kernel, given, kernel, kernel)
    )
    expected.fit(X, y)
    model.fit(X, y)
    sparse.fit(sp.csr_matrix(X), y)
    for x, label in zip(X, y, strict=True):
        rows.learn_one(x, label)
    assert [str(one) for one in model.kernels_] == [f"{kernel} + 1"]
    assert expected.kernels_ == (given,)  # it has one
    for one in (model, rows):
        np.testing.assert_allclose(one.predict(X), expected.predict(X), rtol=1e-7)
    np.testing.assert_allclose(sparse.predict(sp.csr_matrix(X)), expected.predict(X), rtol=1e-7)
    plain = clone(model).set_params(center=False).fit(X, y)
    assert [str(one) for one in plain.kernels_] == [str(kernel)]


def test_kernels_with_a_constant_or_unknown_are_taken_as_they_are():
    def refuses(A, B):
        if not (A.any(axis=1).all() and B.any(axis=1).all()):
            raise ValueError("no rows of zeros")
        return A @ B.T

    given = [
        kb.Polynomial(2, offset=0.5), kb.NormalizedPolynomial(2), kb.Sigmoid(1.0, 0.5),
        kb.Mean([kb.Linear(), kb.Gaussian(sigma=1)]), kb.kernels.Callable(refuses),
    ]  # fmt: skip
    X, y = far_from_zero(40)
    learner = kb.GradientDescent(0.5, features=None)
    model = kb.OnlineMKRegressor(given, learner, scaling=None).fit(X, y)
    assert model.kernels_ == tuple(given)
    matrix = kb.Precomputed(X @ X.T)
    model = kb.OnlineMKRegressor([matrix], learner).fit(np.arange(40.0)[:, None], y)
    assert model.kernels_ == (matrix,)
