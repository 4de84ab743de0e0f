"""Sparse matrices whose arrays are those of no matrix, read-only input, and very wide rows."""

import copy
import tracemalloc

import hard_streams
import numpy as np
import plain
import pytest
import scipy.sparse as sp

import kernbrook as kb
from kernbrook.engine.blocks import rows_of
from kernbrook.errors import InputError
from kernbrook.gram import rows as gram_rows
from kernbrook.sparse import as_csr

X, Y = hard_streams.sparse_counts(n=60, d=6)
X[0] = 1.0  # a row with every feature


# -- damaged matrices -------------------------------------------------------------------------


def compressed(make, name, value):
    """A matrix that SciPy made, one of its arrays replaced afterwards by value(it)."""
    matrix = make(X)
    setattr(matrix, name, value(getattr(matrix, name)))
    return matrix


def at(place, number):
    """A function of an array: one of its numbers changed."""

    def changed(array):
        array = array.copy()
        array[place] = number
        return array

    return changed


def bsr(matrix):
    return sp.bsr_matrix(matrix, blocksize=(2, 3))


DAMAGE = {  # a matrix, the array of it that is replaced, by what; and what is said
    "counted from 1": (
        *(sp.csr_matrix, "indices", lambda a: a + 1),
        "column index 6 in a matrix of 6 columns; are the indices counted from 1",
    ),
    "too large": (
        *(sp.csr_matrix, "indices", at(5, 2**31 - 1)),
        "column index 2147483647 in a matrix of 6 columns$",
    ),
    "negative": (sp.csr_array, "indices", at(3, -1), "column index -1 in a matrix of 6 columns$"),
    "no integers": (sp.csr_matrix, "indices", np.float64, "column indices are float64"),
    "falls": (sp.csr_matrix, "indptr", at(7, 1), r"indptr falls from \d+ to 1 at place 7"),
    "begins late": (sp.csr_matrix, "indptr", at(0, 2), r"from 2 to \d+, expected from 0"),
    "ends late": (sp.csr_matrix, "indptr", at(-1, 10**6), r"from 0 to the \d+ entries"),
    "too short": (
        sp.csr_matrix,
        "indptr",
        lambda a: a[:-1],
        r"of shape \(60,\), expected 61 i",
    ),
    "values too few": (sp.csr_matrix, "data", lambda a: a[:-1], r"\d+ values with \d+ column ind"),
    "CSC": (sp.csc_matrix, "indices", lambda a: a + 1, "row index 60 in a matrix of 60 rows; are"),
    "BSR": (
        bsr,
        "indices",
        lambda a: a + 1,
        "block column index 2 in a matrix of 2 block col",
    ),
    "COO, row": (sp.coo_matrix, "row", at(4, 60), "row index 60 in a matrix of 60 rows$"),
    "COO, column": (sp.coo_matrix, "col", at(4, -7), "column index -7 in a matrix of 6 columns"),
}

MODELS = {
    "perceptron": lambda: plain.classifier([kb.Linear(), kb.Gaussian(sigma=1)]),
    "scaled": lambda: plain.classifier([kb.Linear()], scaling="maximum"),
    "budget": lambda: plain.classifier([kb.Gaussian(sigma=1)], kb.BPAS(budget=5)),
    "features": lambda: plain.regressor([kb.Gaussian(sigma=1)], random_state=0),
}
VERBS, SAYING = ("fit", "partial_fit", "learn"), ("predict", "should_ask")
CALLS = {
    **{verb: lambda model, matrix, verb=verb: getattr(model, verb)(matrix, Y) for verb in VERBS},
    **{verb: lambda model, matrix, verb=verb: getattr(model, verb)(matrix) for verb in SAYING},
    "prequential": lambda model, matrix: kb.prequential(model, matrix, Y),
    "voted": lambda model, matrix: kb.VotedKernelClassifier([kb.Gaussian(sigma=1)]).fit(matrix, Y),
    "transformer": lambda model, matrix: kb.KernelFeatures(random_state=0).fit(matrix),
    "landmarks": lambda model, matrix: kb.KernelFeatures(None, kb.Nystroem(1, matrix)).fit(X),
    "stream": lambda model, matrix: kb.open_stream((matrix, Y)),
    "kernel": lambda model, matrix: kb.Linear()(matrix, X),
}


@pytest.mark.parametrize("call", CALLS)
def test_damaged_matrices(call):
    """Refused in words, and not by a signal, whether or not the model has learned before."""
    *damage, message = DAMAGE["counted from 1"]
    fitted = MODELS["perceptron"]().fit(sp.csr_matrix(X), Y)
    for model in [fitted, *([] if call in SAYING else [MODELS["scaled"]()])]:
        with pytest.raises(InputError, match=f"^X: {message}"):
            CALLS[call](model, compressed(*damage))


@pytest.mark.parametrize("name", DAMAGE)
def test_what_is_wrong_with_a_matrix(name):
    *damage, message = DAMAGE[name]
    with pytest.raises(InputError, match=f"^X: .*{message}"):
        as_csr(compressed(*damage))


# -- whole ones -------------------------------------------------------------------------------


def unpruned(matrix):
    """With entries that no row has."""
    data, indices = np.append(matrix.data, [7.0, 8.0]), np.append(matrix.indices, [0, 5])
    whole = sp.csr_matrix((data, indices, matrix.indptr), shape=matrix.shape)
    whole.data, whole.indices = data, indices
    return whole


def wide_indices(matrix):
    matrix = matrix.copy()
    matrix.indices, matrix.indptr = (a.astype(np.int64) for a in (matrix.indices, matrix.indptr))
    return matrix


def in_halves(matrix):
    """Every value in two entries, the rows backwards, and a flag that says otherwise."""
    rows = [np.repeat(row.indices[::-1], 2) for row in matrix]
    values = [np.repeat(row.data[::-1] / 2, 2) for row in matrix]
    parts = np.concatenate(values), np.concatenate(rows), 2 * matrix.indptr
    messy = sp.csr_matrix(parts, shape=matrix.shape)
    messy.has_sorted_indices = messy.has_canonical_format = True
    return messy


FORMS = {
    "64 bits": wide_indices,
    "CSC": sp.csc_array,
    "COO": sp.coo_matrix,
    "BSR": bsr,
    "LIL": sp.lil_matrix,
    "DIA": sp.dia_matrix,
    "more entries than rows have": unpruned,
    "in halves": in_halves,
    "32-bit values": lambda matrix: matrix.astype(np.float32),
}


@pytest.mark.parametrize("form", FORMS)
def test_whole_matrices_of_any_form(form):
    name = "scaled" if form in ("64 bits", "COO", "LIL", "in halves") else "budget"
    plain = sp.csr_matrix(X)
    given = FORMS[form](plain)
    before = copy.deepcopy(given)
    expected, model = MODELS[name]().learn(plain, Y)[0], MODELS[name]()
    np.testing.assert_array_equal(model.learn(given, Y)[0], expected)
    np.testing.assert_array_equal(model.predict(given), model.predict(plain))
    np.testing.assert_array_equal(kb.prequential(MODELS[name](), given, Y).predictions, expected)
    for array in ("data", "indices", "indptr"):
        if isinstance(getattr(given, array, None), np.ndarray):
            np.testing.assert_array_equal(getattr(given, array), getattr(before, array))


# -- read-only arrays -------------------------------------------------------------------------


def locked(given):
    """A copy that nobody can write to."""
    given = given.copy()
    sparse = sp.issparse(given)
    for array in (given.data, given.indices, given.indptr) if sparse else (given,):
        array.flags.writeable = False
    return given


def test_a_read_only_array_is_not_copied_whole(monkeypatch):
    """It may be a file that no memory can hold."""
    monkeypatch.setattr(gram_rows, "COPIED", 512)
    many = locked(np.tile(X, (500, 8)))
    model = plain.classifier([kb.Gaussian(sigma=1)]).fit(many[:60], Y)
    tracemalloc.start()
    rows = rows_of(model._model, model._features(many))
    assert all(rows.part(i, i + 512).X.flags.writeable for i in range(0, len(rows), 512))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < many.nbytes / 4
    np.testing.assert_array_equal(rows.norms, rows_of(model._model, np.array(many)).norms)


# -- very wide rows ---------------------------------------------------------------------------


@pytest.mark.parametrize("learner", [kb.Perceptron(), kb.BPAS(budget=20)])
def test_room_is_not_taken_for_features_that_nobody_has(learner):
    """Rows of a few entries, the last of them far to the right."""
    width = 2**31 - 1
    y = np.array([1, -1, 1, -1])
    wide = sp.csr_array((np.ones(4), np.array([width - 1, 0, 1, 2]), np.arange(5)), (4, width))
    narrow = sp.csr_array((np.ones(4), np.array([3, 0, 1, 2]), np.arange(5)), (4, 4))
    pool = [kb.Linear(), kb.Gaussian(sigma=1)]
    expected = plain.classifier(pool, learner).fit(narrow, y).decision_function(narrow)
    tracemalloc.start()
    found = plain.classifier(pool, learner).fit(wide, y).decision_function(wide)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(found, expected)
    assert peak < 50e6


def test_features_of_a_wide_block_are_numbered_anew(monkeypatch):
    """The same bits, whichever way a block finds its features."""
    rng = np.random.default_rng(0)
    wide = sp.random_array((150, 400), density=0.03, format="csr", rng=rng)
    labels = rng.choice([-1, 1], size=150)
    pool = [kb.Linear(), kb.Gaussian(sigma=1), kb.Laplacian(sigma=2), kb.Polynomial(2, 1.0)]
    for learner in (kb.Perceptron(), kb.BPAS(budget=20)):
        results = []
        for widest in (400, 399):
            monkeypatch.setattr(gram_rows, "WIDEST", widest)
            model = plain.classifier(pool, learner)
            model.learn(wide[:100], labels[:100])
            results.append(model.decision_function(wide).tobytes())
        assert results[0] == results[1]
