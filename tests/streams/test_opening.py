"""Names, the data folder, the order in which a source is looked up, and the two views."""

import itertools
import os
import subprocess
import sys

import hard_streams
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_friedman1

import kernbrook as kb
from kernbrook.errors import InputError, NonFiniteError, UnknownNameError
from kernbrook.streams import describe_stream, open_stream, stream_names
from kernbrook.streams.builtin import friedman
from kernbrook.streams.stream import FirstRows, Stream


def test_importing_is_light():
    heavy = {"numba", "pandas", "pyarrow", "scipy", "sklearn"}
    code = f"import sys, kernbrook.streams; print(*({heavy} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_names_and_descriptions():
    assert stream_names() == (
        *("checkerboard", "digits", "friedman", "sklearn-diabetes", "waveform", "wdbc"),
    )
    for name in stream_names():
        assert describe_stream(name)
        assert "\n" not in describe_stream(name)
        stream = open_stream(f"{name}:20")
        assert (stream.name, stream.n_rows) == (f"{name}:20", 20)
        assert open_stream(name).name == name
    with pytest.raises(UnknownNameError, match="did you mean digits"):
        describe_stream("digit")


def test_sets_of_scikit_learn(assert_chunks_agree):
    X, y = open_stream("sklearn-diabetes").read()
    assert (X.shape, y.dtype, y.min(), y.max()) == ((442, 10), np.float64, 0.25, 3.46)
    assert np.corrcoef(X[:, 2], y)[0, 1] > 0.5  # the heavier, the worse
    X, y = open_stream("wdbc").read()
    assert (X.shape, np.bincount(y + 1).tolist()) == ((569, 30), [357, 0, 212])
    assert X[y == 1, 0].mean() > X[y == -1, 0].mean()  # malignant cells are larger
    X, y = open_stream("digits").read()
    assert (X.shape, set(y.tolist())) == ((1797, 64), set(range(10)))
    for name in ("sklearn-diabetes", "wdbc", "digits:150"):
        assert_chunks_agree(open_stream(name), (100,))


@pytest.mark.data
def test_wdbc_is_the_file():
    X, y = hard_streams.real("wdbc")
    expected_X, expected_y = open_stream("wdbc").read()
    np.testing.assert_array_equal(X.toarray(), expected_X)
    np.testing.assert_array_equal(y, expected_y)


def test_bad_counts():
    for source in ("wdbc:0", "wdbc:-3", "waveform:", "digits:1.5"):
        with pytest.raises(InputError, match="with a positive number of rows N"):
            open_stream(source)
    with pytest.raises(InputError, match="wdbc:570: wdbc has 569 rows"):
        open_stream("wdbc:570")
    for rows in (0, 2.5, None, "3"):
        with pytest.raises(InputError, match="rows must be a positive integer"):
            open_stream("wdbc").chunks(rows)
    for seed in (-1, 0.5, None):
        with pytest.raises(InputError, match="seed must be a non-negative integer"):
            open_stream("waveform", seed=seed)


def test_first_rows_of_a_stream_of_unknown_length():
    class Three(Stream):
        name, n_features, n_rows = "three", 1, None

        def _pieces(self):
            yield np.ones((3, 1)), np.ones(3)

    assert "? rows" in repr(Three())
    assert len(FirstRows(Three(), 2).read()[1]) == 2
    with pytest.raises(InputError, match="three:4: three has 3 rows"):
        FirstRows(Three(), 4).read()


def test_the_data_folder(tmp_path, monkeypatch):
    (tmp_path / "mine.libsvm").write_text("1 1:1\n2 2:1\n")
    (tmp_path / "digits.libsvm").write_text("1 1:1\n")
    monkeypatch.delenv("KERNBROOK_DATA", raising=False)
    with pytest.raises(UnknownNameError, match="unknown data 'mine'"):
        open_stream("mine")
    monkeypatch.setenv("KERNBROOK_DATA", str(tmp_path))
    assert open_stream("mine").n_rows == 2
    assert open_stream("mine:1", n_features=5).read()[0].shape == (1, 5)
    assert open_stream("digits").n_rows == 1797
    with pytest.raises(UnknownNameError, match="did you mean mine"):
        open_stream("mines")
    with pytest.raises(InputError, match="mine:9: mine has 2 rows"):
        open_stream("mine:9")
    monkeypatch.setenv("KERNBROOK_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(UnknownNameError, match="unknown data 'mine'"):
        open_stream("mine")


def test_a_file_wins_over_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkdir("digits")
    assert open_stream("digits").n_rows == 1797
    (tmp_path / "wdbc").write_text("1 1:1\n")
    assert open_stream("wdbc").n_rows == 1


def test_a_name_in_two_lists_is_told_once(tmp_path, monkeypatch):
    for name in ("wdbc.libsvm", "letter.t.libsvm"):
        (tmp_path / name).write_text("1 1:1\n")
    monkeypatch.setenv("KERNBROOK_DATA", str(tmp_path))
    with pytest.raises(UnknownNameError, match=r"unknown data 'wdcb': did you mean wdbc\?$"):
        open_stream("wdcb")
    with pytest.raises(UnknownNameError, match=r"did you mean letter\.t\?$"):
        open_stream("letter.tt")


@pytest.mark.parametrize("source", [3, None, [[1]], (1, 2, 3)])
def test_not_a_source(source):
    with pytest.raises(InputError, match="expected a path, a name, a table or a pair"):
        open_stream(source)


def test_arguments_that_do_not_fit():
    with pytest.raises(InputError, match="wdbc: expected 3 features, found 30"):
        open_stream("wdbc", n_features=3)
    assert open_stream("wdbc", n_features=30).n_features == 30
    with pytest.raises(InputError, match="names a column of a table"):
        open_stream("wdbc", label="a")


@pytest.mark.parametrize("labels", [[1, 2, 2], [1.5, 2.0, 2.0]])
def test_positive_numbers(labels, assert_chunks_agree):
    for positive in (2, 2.0, "2", "2.0", "+2", np.int64(2)):
        stream = open_stream((np.eye(3), labels), positive=positive)
        assert stream.read()[1].tolist() == [-1, 1, 1]
        assert_chunks_agree(stream, (1, 2))
    for positive in (2, "2"):
        y = open_stream((np.eye(2), ["2", "b"]), positive=positive).read()[1]
        assert y.tolist() == [1, -1]


def test_positive_never_occurs():
    stream = open_stream("wdbc", positive=2)
    with pytest.raises(InputError, match=r"positive=2 is not a label of wdbc: found -1, 1$"):
        stream.read()
    chunks = stream.chunks(569)
    assert len(next(chunks)[1]) == 569
    with pytest.raises(InputError, match="positive=2"):
        next(chunks)
    many = open_stream((np.ones((50, 1)), np.arange(50)), positive=99)
    with pytest.raises(InputError, match=r"found 0, 1, .*, 9, \.\.\.$"):
        many.read()
    with pytest.raises(InputError, match="positive='malignant': the labels of wdbc are numbers"):
        open_stream("wdbc", positive="malignant").read()


def test_tables_that_are_elsewhere_or_no_rows():
    frame = pytest.importorskip("pandas").DataFrame({"a": [1, 2, 3], "y": ["p", "q", "p"]})
    lazy = pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=1)
    for read in (kb.fit_table, open_stream):
        with pytest.raises(InputError, match=r"s3://b/x\.csv: an address, where a file was expec"):
            read("s3://b/x.csv", label="y")
        with pytest.raises(InputError, match=r"got dask.*\.DataFrame; its compute\(\) makes one"):
            read(lazy, label="y")
        assert read(lazy.compute(), label="y") is not None
    with pytest.raises(InputError, match=r"a dict is one row; of columns in a dict pandas\.Data"):
        kb.fit_table({"a": [1, 2], "y": ["p", "q"]}, label="y")


# -- the generators --------------------------------------------------------------------------------


NAMES = ["waveform", "checkerboard", "friedman"]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_drawn(name, assert_chunks_agree):
    """A shorter stream is the beginning of a longer one; seeds and blocks differ."""
    stream = open_stream(f"{name}:9000", seed=5)
    assert_chunks_agree(stream, (7, 1000, 4096, 10**5))
    whole, (other, _) = stream.read(), open_stream(f"{name}:9000", seed=1).read()
    for rows in (1, 4096, 4097):
        X, y = open_stream(f"{name}:{rows}", seed=5).read()
        np.testing.assert_array_equal(X, whole[0][:rows])
        np.testing.assert_array_equal(y, whole[1][:rows])
    X, other = whole[0][:8192, :2], other[:8192, :2]
    assert not (other == X).any()
    assert not (X[:4096] == X[4096:]).any()


def test_a_long_stream_costs_nothing_to_open():
    stream = open_stream("checkerboard:10000000")
    assert stream.n_rows == 10_000_000
    assert [len(y) for _, y in itertools.islice(stream.chunks(5000), 3)] == [5000] * 3


def test_checkerboard():
    X, y = open_stream("checkerboard").read()
    assert X.shape == (10_000, 2)
    assert y.dtype == np.int64
    assert X.min() >= -1
    assert X.max() < 1
    column, row = np.digitize(X, [-0.5, 0, 0.5]).T
    np.testing.assert_array_equal(y, np.where((column + row) % 2 == 0, 1, -1))


def test_waveform():
    """Moments of each class, and the error of Bayes' rule, 14 % in Breiman et al. (1984)."""
    X, y = open_stream("waveform:60000", seed=2).read()
    h1 = np.array([*[0] * 5, 1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1, *[0] * 5])
    h2, h3 = np.roll(h1, 4), np.roll(h1, -4)
    u, likelihoods = (np.arange(50) + 0.5)[:, None] / 50, []
    assert np.bincount(y).min() > 19_500
    for label, (a, b) in enumerate([(h1, h2), (h1, h3), (h2, h3)]):
        here = X[y == label]
        assert abs(here.mean(axis=0) - (a + b) / 2).max() < 0.06
        centres = u * a + (1 - u) * b
        log = X[:20_000] @ centres.T - (centres**2).sum(axis=1) / 2
        likelihoods.append(np.logaddexp.reduce(log, axis=1))
    error = np.mean(np.argmax(likelihoods, axis=0) != y[:20_000])
    assert abs(error - 0.14) < 0.012


def test_friedman():
    X, expected = make_friedman1(500, random_state=0)
    np.testing.assert_allclose(friedman(X), expected, rtol=1e-14)
    X, y = open_stream("friedman:60000", seed=2).read()
    assert y.dtype == np.float64
    assert (X >= 0).all()
    assert (X < 1).all()
    noise = y - friedman(X)
    assert abs(noise.mean()) < 0.02
    assert abs(noise.std() - 1) < 0.02


# -- arrays, sparse arrays, lists and frames as streams --------------------------------------------


X = np.arange(12.0).reshape(4, 3)
y = np.array([1, -1, 1, 1])


@pytest.mark.parametrize(
    "given",
    [X.tolist(), X.astype(np.float32), X.astype(int), np.asfortranarray(X)],
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


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        ([1.0, 2.0, 3.0, 4.5], "f"),
        (np.array([1, 2, 3, 4], dtype=np.uint8), "i"),
        ([True, False, True, True], "b"),
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
        (sp.csr_array((4, 0)), y, "at least one row and one feature"),
        (sp.csr_array(X), y[:3], "X has 4 rows, y has 3"),
        (X, y[:, None], r"one dimension, got shape \(4, 1\)"),
        (X.astype(str), y, "real numbers, got <U"),
        (sp.csr_array(X.astype(complex)), y, "real numbers, got complex"),
        (np.array([[1, "a"]], dtype=object), [1], "found 'a' at row 0, column 1"),
        (np.array([[1, {}]], dtype=object), [1], "numbers only"),
        (X, y.astype(complex), "numbers or text, got complex"),
        (X, np.array([1, "b", 2, 3], dtype=object), "text only; found 'b' at row 1"),
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
