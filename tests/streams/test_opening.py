"""Names, the data folder, the order in which a source is looked up, and the two views."""

import os
import subprocess
import sys

import numpy as np
import pytest

import kernbrook as kb
from kernbrook.errors import DataFileError, InputError, UnknownNameError
from kernbrook.streams import describe_stream, open_stream, stream_names
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


def test_diabetes(assert_chunks_agree):
    stream = open_stream("sklearn-diabetes")
    X, y = stream.read()
    assert X.shape == (442, 10)
    assert y.dtype == np.float64
    assert (y.min(), y.max()) == (0.25, 3.46)
    assert np.corrcoef(X[:, 2], y)[0, 1] > 0.5  # the heavier, the worse
    assert_chunks_agree(stream, (100,))


def test_wdbc(assert_chunks_agree):
    stream = open_stream("wdbc")
    X, y = stream.read()
    assert X.shape == (569, 30)
    assert np.bincount(y + 1).tolist() == [357, 0, 212]
    assert X[y == 1, 0].mean() > X[y == -1, 0].mean()  # malignant cells are larger
    assert_chunks_agree(stream, (100,))


def test_wdbc_is_the_file(data_folder, dense):
    path = data_folder / "wdbc.libsvm.xz"
    if not path.exists():
        pytest.skip("the data folder has no wdbc")
    X, y = open_stream(path).read()
    expected_X, expected_y = open_stream("wdbc").read()
    np.testing.assert_array_equal(dense(X), expected_X)
    np.testing.assert_array_equal(y, expected_y)


def test_digits(assert_chunks_agree):
    X, y = open_stream("digits").read()
    assert X.shape == (1797, 64)
    assert set(y.tolist()) == set(range(10))
    assert_chunks_agree(open_stream("digits:150"), (100,))


@pytest.mark.parametrize("source", ["wdbc:0", "wdbc:-3", "waveform:", "waveform:x", "digits:1.5"])
def test_bad_counts(source):
    with pytest.raises(InputError, match="with a positive number of rows N"):
        open_stream(source)


def test_too_many_rows():
    with pytest.raises(InputError, match="wdbc:570: wdbc has 569 rows"):
        open_stream("wdbc:570")


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


def test_near_names():
    with pytest.raises(UnknownNameError, match="unknown data 'wdbcc': did you mean wdbc"):
        open_stream("wdbcc")


def test_a_name_in_two_lists_is_told_once(tmp_path, monkeypatch):
    for name in ("wdbc.libsvm", "letter.t.libsvm"):
        (tmp_path / name).write_text("1 1:1\n")
    monkeypatch.setenv("KERNBROOK_DATA", str(tmp_path))
    with pytest.raises(UnknownNameError, match=r"unknown data 'wdcb': did you mean wdbc\?$"):
        open_stream("wdcb")
    with pytest.raises(UnknownNameError, match=r"did you mean letter\.t\?$"):
        open_stream("letter.tt")


def test_a_name_that_ends_as_a_file_is_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataFileError, match=r"^iris\.csvv: no such file$"):
        open_stream("iris.csvv")


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


@pytest.mark.parametrize("rows", [0, -1, 2.5, None, "3"])
def test_bad_chunk_lengths(rows):
    with pytest.raises(InputError, match="rows must be a positive integer"):
        open_stream("wdbc").chunks(rows)


@pytest.mark.parametrize("positive", [2, 2.0, "2", "2.0", "+2", np.int64(2)])
@pytest.mark.parametrize("labels", [[1, 2, 2], [1.5, 2.0, 2.0]])
def test_positive_numbers(positive, labels, assert_chunks_agree):
    stream = open_stream((np.eye(3), labels), positive=positive)
    assert stream.read()[1].tolist() == [-1, 1, 1]
    assert_chunks_agree(stream, (1, 2))


@pytest.mark.parametrize("positive", [2, "2"])
def test_positive_text(positive):
    assert open_stream((np.eye(2), ["2", "b"]), positive=positive).read()[1].tolist() == [1, -1]


def test_positive_over_a_stream():
    stream = open_stream(open_stream("digits:100"), positive=3)
    assert (stream.name, stream.n_rows, stream.n_features) == ("digits:100", 100, 64)
    assert set(stream.read()[1].tolist()) == {-1, 1}


def test_positive_never_occurs():
    stream = open_stream("wdbc", positive=2)
    with pytest.raises(InputError, match=r"positive=2 is not a label of wdbc: found -1, 1$"):
        stream.read()
    chunks = stream.chunks(569)
    assert len(next(chunks)[1]) == 569
    with pytest.raises(InputError, match="positive=2"):
        next(chunks)
    many = open_stream((np.ones((50, 1)), np.arange(50)), positive=99)
    with pytest.raises(InputError, match=r"found 0, 1, .*, 19, \.\.\.$"):
        many.read()


def test_positive_is_no_number():
    stream = open_stream("wdbc", positive="malignant")
    with pytest.raises(InputError, match="positive='malignant': the labels of wdbc are numbers"):
        stream.read()


def test_tables_that_are_elsewhere_or_no_rows():
    frame = pytest.importorskip("pandas").DataFrame({"a": [1, 2, 3], "y": ["p", "q", "p"]})
    lazy = pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=1)
    for read in (kb.fit_table, open_stream):
        with pytest.raises(
            InputError, match=r"s3://b/x\.csv: an address, where a file was expected"
        ):
            read("s3://b/x.csv", label="y")
        with pytest.raises(InputError, match=r"got dask.*\.DataFrame; its compute\(\) makes one"):
            read(lazy, label="y")
        assert read(lazy.compute(), label="y") is not None
    with pytest.raises(
        InputError, match=r"a dict is one row; of columns in a dict pandas\.DataFrame"
    ):
        kb.fit_table({"a": [1, 2], "y": ["p", "q"]}, label="y")
