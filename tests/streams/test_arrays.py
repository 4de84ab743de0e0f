"""Arrays, sparse arrays, lists and frames as streams."""

import numpy as np
import pytest
import scipy.sparse as sp

from kernbrook.errors import InputError, NonFiniteError
from kernbrook.streams import open_stream

X = np.arange(12.0).reshape(4, 3)
y = np.array([1, -1, 1, 1])


@pytest.mark.parametrize(
    "given",
    [X, X.tolist(), X.astype(np.float32), X.astype(int), np.asfortranarray(X), X[::1, ::1]],
)
def test_dense(given, assert_chunks_agree):
    stream = open_stream((given, y.tolist()))
    assert_chunks_agree(stream, (1, 3, 9))
    np.testing.assert_array_equal(stream.read()[0], X)
    assert (stream.name, stream.n_rows, stream.n_features) == ("arrays", 4, 3)


def test_nothing_is_copied():
    chunk, labels = next(open_stream((X, y)).chunks(2))
    assert np.shares_memory(chunk, X)
    assert np.shares_memory(labels, y)


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csr_array, sp.csc_array, sp.coo_matrix])
def test_sparse(make, assert_chunks_agree):
    stream = open_stream((make(X), y))
    assert_chunks_agree(stream, (1, 3, 9))
    assert isinstance(stream.read()[0], sp.csr_array)
    np.testing.assert_array_equal(stream.read()[0].toarray(), X)


def test_sparse_with_entries_in_disorder_is_sorted_in_a_copy():
    messy = sp.csr_array((np.array([1.0, 2, 3]), np.array([2, 0, 0]), np.array([0, 3])), (1, 3))
    X_read, _ = open_stream((messy, [1])).read()
    assert X_read.indices.tolist() == [0, 2]
    assert X_read.data.tolist() == [5, 1]
    assert messy.indices.tolist() == [2, 0, 0]


def test_pandas(assert_chunks_agree):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2], "b": [0.5, 1.5], "c": [True, False]})
    stream = open_stream((frame, pandas.Series(["u", "v"])))
    assert_chunks_agree(stream, (1,))
    X_read, y_read = stream.read()
    np.testing.assert_array_equal(X_read, [[1, 0.5, 1], [2, 1.5, 0]])
    assert y_read.tolist() == ["u", "v"]
    assert y_read.dtype.kind == "U"
    frame.loc[1, "b"] = np.nan
    with pytest.raises(NonFiniteError, match=r"nan at row 1, column 1 \('b'\)"):
        open_stream((frame, [1, 2]))
    text = pandas.DataFrame({"a": [1, 2], "b": ["1", "red"]})
    with pytest.raises(InputError, match=r"numbers only; found '1' at row 0, column 1 \('b'\)"):
        open_stream((text, [1, 2]))


def test_polars():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": [1, 2], "b": [0.5, 1.5]})
    X_read, y_read = open_stream((frame, polars.Series([3, 4]))).read()
    np.testing.assert_array_equal(X_read, [[1, 0.5], [2, 1.5]])
    assert y_read.tolist() == [3, 4]


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        ([1.0, 2.0, 3.0, 4.5], "f"),
        (np.array([1, 2, 3, 4], dtype=np.uint8), "i"),
        (np.array([1, 2.5, 3, 4], dtype=np.float32), "f"),
        ([True, False, True, True], "b"),
        (["a", "b", "c", "dd"], "U"),
        (np.array(["a", "b", "c", "dd"], dtype=object), "U"),
        (np.array([1, 2, 3, 4], dtype=object), "i"),
    ],
)
def test_labels(labels, kind):
    read = open_stream((X, labels)).read()[1]
    assert read.dtype.kind == kind
    assert read.dtype.itemsize == {"U": read.dtype.itemsize, "b": 1}.get(kind, 8)
    assert read.tolist() == list(labels)


def hole(array, value):
    array = array.copy()
    array[2, 1] = value
    return array


@pytest.mark.parametrize(
    ("features", "labels", "problem"),
    [
        (X[0], y, r"two dimensions .* got shape \(3,\)"),
        (X[None], y, "two dimensions"),
        (X[:0], y[:0], "at least one row"),
        (X[:, :0], y, "at least one row and one feature"),
        (sp.csr_array((4, 0)), y, "at least one row and one feature"),
        (X, y[:3], "X has 4 rows, y has 3"),
        (sp.csr_array(X), y[:3], "X has 4 rows, y has 3"),
        (X, y[:, None], r"one dimension, got shape \(4, 1\)"),
        (X, 3, r"one dimension, got shape \(\)"),
        (X.astype(str), y, "real numbers, got <U"),
        (X.astype(complex), y, "real numbers, got complex"),
        (sp.csr_array(X.astype(complex)), y, "real numbers, got complex"),
        ([[1, 2], [3]], [1, 2], "matrix of numbers"),
        (np.array([[1, "a"]], dtype=object), [1], "found 'a' at row 0, column 1"),
        (np.array([[1, {}]], dtype=object), [1], "numbers only"),
        (X, [[1], [2, 3]], "vector of labels"),
        (X, y.astype(complex), "numbers or text, got complex"),
        (X, np.array([1, "b", 2, 3], dtype=object), "text only; found 'b' at row 1"),
        (X, np.array(["a", None, "b", "c"], dtype=object), "found None at row 1"),
        (X, np.array([{}, {}, {}, {}], dtype=object), "found {} at row 0"),
    ],
)
def test_bad_arrays(features, labels, problem):
    with pytest.raises(InputError, match=problem):
        open_stream((features, labels))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_not_finite(value):
    with pytest.raises(NonFiniteError, match=f"X has {value} at row 2, column 1"):
        open_stream((hole(X, value), y))
    with pytest.raises(NonFiniteError, match=f"X has {value} at row 2, column 1"):
        open_stream((sp.csr_array(hole(X, value)), y))
    with pytest.raises(NonFiniteError, match=f"y has {value} at row 1"):
        open_stream((X, [0.0, value, 1.0, value]))
