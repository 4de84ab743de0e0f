"""Voted classifiers in files: they predict the same bits; a dishonest file is refused in words."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from estimators.test_model_files import at, put, rewrite, say
from sklearn.base import clone
from voted_problems import POLYNOMIALS, clouds

import kernbrook as kb
from kernbrook.errors import InputError, ModelFileError
from kernbrook.voted import edit_similarity

X, Y = clouds(70, 3)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
NAMES = np.where(Y > 0, "yes", "no")
THREE = np.where(X[:, 0] > 1, 2, Y > 0).astype(int)
WORDS = [a + b for a in ("black", "dark", "deep") for b in ("ened", "er", "en", "est", "ly")]
WORDS += [a + b for a in ("white", "pale", "light") for b in ("ned", "r", "n", "st", "ly")]
SHADES = np.repeat(["dark", "light"], 15)
POOL = [kb.Linear(), kb.Gaussian(sigma=1), kb.Mean([kb.Cauchy(gamma=1), kb.Laplacian(sigma=2)])]


def single(kernels=POOL, **parameters):
    return kb.VotedKernelClassifier(kernels, **{"beta": 0.001} | parameters)


def grid(kernels=POOL, **parameters):
    given = {"lams": [0.1, 0.01], "betas": (0.01, 0.001), "cv": 3} | parameters
    return kb.VotedKernelClassifierCV(kernels, **given)


MATRIX = kb.Precomputed(np.tanh(X @ np.roll(X, 1, axis=1).T))
ROWS = np.arange(70)[:, None]
SPARSE = sp.csr_matrix(np.where(X > 0.5, X, 0.0))
CASES = {
    "own complexities": (single(complexity=np.array([1.0, 2.0, 3.0])), X, Y),
    "a frame": (single(), FRAME, NAMES),
    "sparse, unit length": (single(unit_length=True), SPARSE, Y),
    "three classes": (single(), X, THREE),
    "nothing in use": (single(beta=10.0), X, Y),
    "a matrix": (single(MATRIX, complexity="max"), ROWS, Y),
    "strings in an array": (
        single(kb.Callable(edit_similarity, "edit"), complexity="max"), np.array(WORDS), SHADES
    ),
    "grid, three classes": (grid(unit_length=True), SPARSE, THREE),
    "grid, one kernel": (grid(one_kernel=True), X, Y),
    "grid of strings": (
        grid(edit_similarity, complexity="max", lams=[0.0], one_kernel=True), WORDS, SHADES
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_loaded_model_is_the_same(name, tmp_path):
    model, data, y = CASES[name]
    if "strings" in name:
        pytest.importorskip("rapidfuzz")
    fresh, file = clone(model), tmp_path / "model"
    kb.save(fresh, file)
    assert repr(kb.load(file)) == repr(fresh)
    model.fit(data, y)
    kb.save(model, file)
    loaded = kb.load(file)
    for attribute in ("support_", "dual_coef_", "kernel_weights_", "n_terms_"):
        np.testing.assert_array_equal(getattr(loaded, attribute), getattr(model, attribute))
    assert loaded.decision_function(data).tobytes() == model.decision_function(data).tobytes()
    assert loaded.predict(data).tolist() == model.predict(data).tolist()
    again = tmp_path / "again"
    kb.save(loaded, again)
    assert again.read_bytes() == file.read_bytes()
    assert loaded.fit(data, y).objective_ == pytest.approx(model.objective_, rel=1e-6)


def test_a_loaded_model_refuses_what_the_saved_one_did(tmp_path):
    kb.save(single().fit(FRAME, NAMES), tmp_path / "model")
    loaded = kb.load(tmp_path / "model")
    with pytest.raises(ValueError, match="feature names should match"):
        loaded.predict(FRAME[["b", "a", "c"]])
    with pytest.raises(InputError, match="X: expected what `fit` was given, an array of numbers"):
        loaded.predict(["a"])


def test_what_is_shared_is_written_once(tmp_path):
    matrix = np.random.default_rng(0).random((300, 300))
    kernel = kb.Precomputed(matrix @ matrix.T)
    model = grid(kernel, one_kernel=True).fit(np.arange(70)[:, None], Y)
    kb.save(model, tmp_path / "model")
    assert (tmp_path / "model").stat().st_size < 1.1 * matrix.nbytes


def shared(A, B):
    return np.array([[len(a & b) for b in B] for a in A], dtype=float)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (single(shared), r"kernels is the Python function shared\(x, z\); no file can hold it"),
        (single(complexity=lambda kernel, X: 1.0), "complexity is the Python function"),
        (kb.recipes.make("l2-svm"), "expected one of .*ClassifierCV.*, got GridSearchCV"),
        (single({1, 2}), r"kernels is \{1, 2\}, which a file cannot hold"),
    ],
)
def test_what_no_file_can_hold(model, message, tmp_path):
    with pytest.raises(InputError, match=message):
        kb.save(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_objects_that_no_file_can_hold(tmp_path):
    pytest.importorskip("rapidfuzz")
    sets = [frozenset(word) for word in WORDS]
    model = single(kb.Callable(shared)).fit(sets, SHADES)
    with pytest.raises(InputError, match=r"kernels is the Python function shared\(x, z\)"):
        kb.save(model, tmp_path / "model")
    model.set_params(kernels=edit_similarity)  # the model itself keeps its kernel
    with pytest.raises(InputError, match=r"kernels_\[0\] is the Python function shared"):
        kb.save(model, tmp_path / "model")


@pytest.fixture
def saved(tmp_path):
    kb.save(single().fit(FRAME, NAMES), tmp_path / "model")
    return tmp_path / "model"


EXPANSION = "expansion"
WRONG = [
    (lambda m, t, d: m.pop("expansion") and None, "it has learned something, but has no state"),
    (put("support.X", lambda a: a[:-1]), r"support.X: expected float64 of shape"),
    (at("support.X", (0, 0), np.nan), "support.X: NaN or infinity"),
    (at("support.coefficients", (0, 0), 1e308), "coefficients: expected sizes below 1e100"),
    (at("support.X", (0, 0), 1e200), "X: expected finite values of size below 1e154|norms"),
    (say("inner", value={}), "inner: VotedKernelClassifier has none"),
    (lambda m, t, d: m["fitted"]["classes_"]["labels"].update(values=["yes"]), "expected two lab"),
    (say(EXPANSION, "kernels", value=[]), "expansion: expected kernels"),
    (say(EXPANSION, "kernels", value=[{"function": "edit_similarity"}]), "expected kernels"),
    (say(EXPANSION, "objects", value=["a"]), "objects: expected a list, and no features"),
    (say("estimator", value="OnlineMKClassifier"), "expansion: OnlineMKClassifier has none"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_a_file_that_says_something_wrong(number, saved):
    change, message = WRONG[number]
    rewrite(saved, change)
    with pytest.raises(ModelFileError, match=message):
        kb.load(saved)


def test_a_grid_without_its_best_model(tmp_path):
    kb.save(grid(POLYNOMIALS[:2]).fit(X, Y), tmp_path / "model")
    rewrite(tmp_path / "model", lambda m, t, d: m.pop("best") and None)
    with pytest.raises(ModelFileError, match="has no state"):
        kb.load(tmp_path / "model")
