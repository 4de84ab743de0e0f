"""The voted classifiers: what they learn, of what, and what they refuse."""

import sys

import hard_streams
import numpy as np
import pytest
import scipy.sparse as sp
from naive import voted as naive
from sklearn.model_selection import cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from voted_problems import POLYNOMIALS, clouds, ionosphere, of_length_one

import kernbrook as kb
from kernbrook.errors import InputError, NonFiniteError
from kernbrook.voted import edit_similarity

GAUSSIANS = [kb.Gaussian(sigma=1), kb.Gaussian(sigma=4)]


def small(**parameters):
    return kb.VotedKernelClassifier(**{"kernels": GAUSSIANS, "beta": 0.001} | parameters)


@pytest.mark.data
@pytest.mark.parametrize("complexity", ["trace", "max", 2.0 ** np.arange(10)])
def test_what_was_learned(complexity):
    X, y = ionosphere(150)
    model = kb.VotedKernelClassifier(
        POLYNOMIALS, complexity, lam=1e-3, beta=1e-3, unit_length=True
    ).fit(X, np.where(y > 0, "good", "bad"))
    Z = of_length_one(X)
    grams = [kernel(Z, Z) for kernel in POLYNOMIALS]
    prices = 1e-3 * model.complexities_ + 1e-3
    np.testing.assert_allclose(model.penalties_, prices)
    least, _ = naive.least_objective(grams, y, prices)
    assert model.objective_ == pytest.approx(least, rel=1e-7)
    assert 0 <= model.gap_ < 1e-6
    u = model.dual_
    assert u.shape == (150,)
    assert ((u >= 0) & (u <= 1 / 150)).all()
    for gram, price in zip(grams, prices, strict=True):
        assert (np.abs((u * y) @ gram) <= price * (1 + 1e-9)).all()
    assert model.objective_ - u.sum() == pytest.approx(model.gap_, abs=1e-12)

    assert model.classes_.tolist() == ["bad", "good"]
    q = model.n_support_stored_
    assert model.dual_coef_.shape == (q, 10)
    assert model.dual_coef_.any(axis=1).all()
    assert model.n_terms_ == np.count_nonzero(model.dual_coef_) >= q > 0
    np.testing.assert_allclose(model.support_vectors_, Z[model.support_])
    share = np.abs(model.dual_coef_).sum(axis=0)
    np.testing.assert_allclose(model.kernel_weights_, share / share.sum())
    alpha = np.zeros((10, 150))
    alpha[:, model.support_] = model.dual_coef_.T
    scores = np.einsum("kij,kj->i", grams, alpha)
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-7, atol=1e-9)
    expected = np.where(scores >= 0, "good", "bad")
    assert np.array_equal(model.predict(X), expected)
    assert model.score(X, expected) == 1.0
    value = naive.objective(grams, y, alpha, prices)
    assert value == pytest.approx(model.objective_, rel=1e-9)


def test_a_price_too_high_leaves_nothing():
    X, y = clouds()
    model = small(beta=10).fit(X, y)
    assert model.n_support_stored_ == model.n_terms_ == 0
    assert model.objective_ == 1.0
    np.testing.assert_array_equal(model.decision_function(X), np.zeros(60))
    np.testing.assert_array_equal(model.predict(X), np.ones(60))  # sign(0) = +1
    np.testing.assert_array_equal(model.kernel_weights_, [0, 0])
    assert model.dual_.sum() == pytest.approx(1.0)


def test_many_classes_are_one_against_the_rest():
    X, y = hard_streams.of_scikit_learn("iris", 120)
    model = small(lam=0.001).fit(X, y)
    apart = OneVsRestClassifier(small(lam=0.001)).fit(X, y)
    assert model.decision_function(X).shape == (120, 3)
    np.testing.assert_allclose(
        model.decision_function(X), apart.decision_function(X), rtol=1e-6, atol=1e-9
    )
    np.testing.assert_array_equal(model.predict(X), apart.predict(X))
    assert model.score(X, y) > 0.95
    assert model.dual_.shape == (120, 3)
    for c, one in enumerate(apart.estimators_):
        assert model.objective_[c] == pytest.approx(one.objective_, rel=1e-7)
        np.testing.assert_allclose(model.dual_[:, c], one.dual_, atol=1e-9)
        used = model.support_[model.dual_coef_[:, :, c].any(axis=1)]
        np.testing.assert_array_equal(used, one.support_)
    assert model.n_terms_ == sum(one.n_terms_ for one in apart.estimators_)
    assert (model.gap_ < 1e-6).all()


@pytest.mark.parametrize("unit_length", [False, True])
def test_sparse_is_dense(unit_length):
    X, y = hard_streams.sparse_counts(120)
    X[::17] = 0.0
    pool = [kb.Linear(), kb.Polynomial(3, offset=1), *GAUSSIANS, kb.Laplacian(sigma=3)]
    dense = small(kernels=pool, unit_length=unit_length).fit(X, y)
    sparse = small(kernels=pool, unit_length=unit_length).fit(sp.csc_matrix(X), y)
    assert sparse.objective_ == pytest.approx(dense.objective_, rel=1e-7)
    np.testing.assert_allclose(
        sparse.decision_function(sp.csr_matrix(X)), dense.decision_function(X), atol=1e-6
    )
    for model in (dense, sparse):
        np.testing.assert_allclose(
            model.decision_function(X), model.decision_function(sp.coo_matrix(X)), rtol=1e-9
        )
    assert sp.issparse(sparse.support_vectors_)
    points = of_length_one(X) if unit_length else X
    np.testing.assert_allclose(sparse.support_vectors_.toarray(), points[sparse.support_])


def test_unit_length_of_huge_and_tiny_rows():
    X, y = clouds()
    sizes = 10.0 ** np.where(np.arange(60) % 2, 200.0, -200.0)[:, None]
    a = small(unit_length=True).fit(X, y)
    b = small(unit_length=True).fit(X * sizes, y)
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), atol=1e-6)
    c = small(unit_length=True).fit(sp.csr_matrix(X * sizes), y)  # rows stay in order
    np.testing.assert_allclose(a.decision_function(X), c.decision_function(X), atol=1e-6)
    assert c.support_vectors_.has_sorted_indices


# -- kernels on anything ------------------------------------------------------------------------


def lopsided(A, B):
    """Not symmetric, not definite."""
    return np.tanh(A[:, :1] - 0.5 * B[:, 1:2].T) + A @ np.roll(B, 1, axis=1).T


def test_not_symmetric():
    X, y = clouds(70, 3)
    model = small(kernels=lopsided, complexity="max").fit(X, y)
    gram = lopsided(X, X)
    least, _ = naive.least_objective([gram], y, model.penalties_)
    assert model.objective_ == pytest.approx(least, rel=1e-7)
    np.testing.assert_allclose(
        model.decision_function(X), gram[:, model.support_] @ model.dual_coef_[:, 0], rtol=1e-9
    )
    assert (np.abs((model.dual_ * y) @ gram) <= model.penalties_ * (1 + 1e-9)).all()


def test_precomputed():
    X, y = clouds(90, 3)
    functions = [lopsided, lambda A, B: (A @ B.T + 1) ** 2]
    matrices = [kb.Precomputed(function(X, X)) for function in functions]
    rows = np.arange(90)[:, None]
    train, test = rows[:60], rows[60:]
    for some in (slice(0, 1), slice(0, 2)):
        model = small(kernels=matrices[some], complexity="max").fit(train, y[:60])
        same = small(kernels=functions[some], complexity="max").fit(X[:60], y[:60])
        np.testing.assert_allclose(
            model.decision_function(test), same.decision_function(X[60:]), atol=1e-6
        )
    assert cross_val_score(model, rows, y, cv=3).mean() > 0.7
    for X, words in (
        (rows[1:] + 1, "Precomputed: 90 is no row of a 90 x 90 matrix"),
        (rows[1:] + 0.5, "Precomputed: 1.5 is no row"),
        (np.ones((89, 90)), r"X must be one column of row numbers, got \(89, 90\)"),
    ):
        with pytest.raises(InputError, match=words):
            small(kernels=matrices).fit(X, y[1:])
    mean = kb.Mean([kb.Linear(), matrices[0]])
    with pytest.raises(InputError, match="is for vectors, but the kernel mean of 2 kernels takes"):
        small(kernels=[kb.Linear(), mean], unit_length=True).fit(rows, y)
    with pytest.raises(InputError, match=r"the kernel K\[x, z\] is not symmetric; take"):
        small(kernels=matrices).fit(rows, y)


def test_objects_of_any_kind():
    """Sets, compared by what they share."""
    rng = np.random.default_rng(0)
    sets = [frozenset(rng.integers(12, size=6).tolist()) for _ in range(80)]
    y = np.array([len(s & {0, 1, 2, 3}) > 1 for s in sets])

    def shared(A, B):
        return np.array([[len(a & b) for b in B] for a in A], dtype=float)

    model = kb.VotedKernelClassifier([shared, lambda A, B: shared(A, B) ** 2]).fit(sets, y)
    assert model.score(sets, y) > 0.9
    assert cross_val_score(model, np.array(sets, dtype=object), y, cv=3).mean() > 0.7
    with pytest.raises(InputError, match=r"X: expected what `fit` was given, a list of objects"):
        model.predict(np.ones((3, 2)))
    for model, said in (
        (kb.VotedKernelClassifier(shared, unit_length=True), "unit_length: is for vectors"),
        (
            kb.VotedKernelClassifier(kb.Linear()),
            r"kernel x\.z: takes vectors, but X is a list of o",
        ),
        (kb.VotedKernelClassifier(lambda A, B: [["a"] * 80] * 80), "expected an array of numbers"),
        (kb.VotedKernelClassifier(lambda A, B: np.full((80, 80), np.nan)), "NaN, expected sizes"),
        (kb.VotedKernelClassifier(lambda A, B: np.ones(3)), r"80 and 80 objects, got shape \(3,\)"),
    ):
        with pytest.raises((InputError, NonFiniteError), match=said):
            model.fit(sets, y)
    vectors = small().fit(*clouds())
    with pytest.raises(InputError, match="X: expected what `fit` was given, an array of numbers"):
        vectors.predict(["a", "b"])


def test_strings():
    pytest.importorskip("rapidfuzz")
    names = ["dark red", "dark blue", "light red", "light blue"] * 3
    model = kb.VotedKernelClassifier(edit_similarity, "max").fit(np.array(names), names)
    assert model.score(names, names) == 1.0
    with pytest.raises(InputError, match="edit_similarity: expected strings, got 2 at place 1"):
        model.predict(["a", 2])


def test_without_rapidfuzz(monkeypatch):
    monkeypatch.setitem(sys.modules, "rapidfuzz.distance", None)
    with pytest.raises(ImportError, match="pip install rapidfuzz"):
        edit_similarity(["a"], ["b"])


# -- bad input ----------------------------------------------------------------------------------

BAD = [
    ({"lam": 0, "beta": 0}, "lam=0, beta=0: .* would cost nothing"),
    ({"kernels": "precomputed"}, r"expected Precomputed\(matrix\), with row numbers of shape \(n"),
    ({"kernels": np.eye(3)}, r"an array of shape \(3, 3\); kernel values go in as Precomputed"),
    ({"complexity": "size"}, "complexity: expected 'trace'"),
    ({"complexity": "local", "s": 2}, r"s must be a number in \(0, 1\], got 2"),
    ({"kernels": ["rbf"]}, "kernels: expected a kernel or a function"),
]


@pytest.mark.parametrize(("parameters", "words"), BAD)
def test_bad_parameters(parameters, words):
    X, y = clouds()
    with pytest.raises(InputError, match=words):
        small(**parameters).fit(X, y)


def test_overflow_is_named():
    X, y = clouds()
    words = r"kernel \(x\.z \+ 1\)\^10: .* scale the examples, by unit_length=True"
    for size in (1e6, 1e20, 1e155):
        if size == 1e155:  # squared lengths are no numbers: of no kernel
            words = "X: expected finite values of size below 1e154, .* by unit_length=True"
        with pytest.raises(NonFiniteError, match=words):
            kb.VotedKernelClassifier(POLYNOMIALS[9:]).fit(X * size, y)
        kb.VotedKernelClassifier(unit_length=True).fit(X * size, y)
    with pytest.raises(NonFiniteError, match="kernel odd: it gave NaN"):
        kb.VotedKernelClassifier(kb.Callable(lambda A, B: np.full((60, 60), np.nan), "odd")).fit(
            X, y
        )


@pytest.mark.parametrize(
    "model",
    [
        kb.VotedKernelClassifier(POLYNOMIALS[9:]),
        kb.VotedKernelClassifierCV(POLYNOMIALS[9:], lams=[0.1], betas=[0.1], cv=2),
    ],
)
def test_a_fit_that_fails_leaves_nothing(model, tmp_path):
    """Neither half of the new fit, nor the old sum under new classes; and a file of it is read."""
    X, y = clouds()
    model.fit(X, y)
    with pytest.raises(NonFiniteError):
        model.fit(X * 1e20, np.where(y > 0, "yes", "no"))
    assert not [name for name in vars(model) if name.endswith("_") or name == "_expansion"]
    kb.save(model, tmp_path / "model")
    assert repr(kb.load(tmp_path / "model")) == repr(model)
