"""Pipes and standard input: the rows of a file with the same bytes, as often as wanted."""

import bz2
import gzip
import io
import lzma
import os
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
import pytest

from kernbrook.errors import DataFileError, InputError
from kernbrook.streams import open_stream

SVMLIGHT = "".join(f"{1 if i % 3 else -1} {1 + i % 5}:{i}.5 9:1\n" for i in range(5000))
CSV = "a,b,label\n" + "".join(f"{i}.5,{i % 7},{i % 3}\n" for i in range(5000))
COMPRESS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
TEXTS = {"svmlight": SVMLIGHT, "csv": CSV}
FIFO = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")


@pytest.fixture
def piped(monkeypatch):
    """Bytes as standard input, in as many parts as a pipe may give them."""

    def put(data):
        class Slow(io.BytesIO):
            def read1(self, size=-1):
                return super().read1(min(size, 7001))

        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Slow(data)))

    return put


@pytest.fixture(params=["memory", "disk"])
def kept(request, monkeypatch):
    """Where the copy lies."""
    if request.param == "disk":
        monkeypatch.setattr("kernbrook.streams.bytes._IN_MEMORY", 1000)


def written(path, data):
    """A thread that writes to a named pipe."""

    def write():
        with open(path, "wb") as file:
            file.write(data)

    thread = threading.Thread(target=write)
    thread.start()
    return thread


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("compression", COMPRESS)
def test_standard_input(write, piped, kept, assert_chunks_agree, dense, kind, compression):
    data = COMPRESS[compression](TEXTS[kind].encode())
    X, y = open_stream(write("rows", data)).read()
    piped(data)
    stream = open_stream("-")
    again_X, again_y = stream.read()
    np.testing.assert_array_equal(dense(again_X), dense(X))
    np.testing.assert_array_equal(again_y, y)
    assert stream.name == "standard input"
    assert_chunks_agree(stream, (999,))


def test_passes_side_by_side(piped, kept, monkeypatch):
    monkeypatch.setattr("kernbrook.streams.bytes.BLOCK_BYTES", 2000)
    piped(CSV.encode())
    stream = open_stream("-")
    whole = stream.read()[0]
    for (one, _), (two, _) in zip(stream.chunks(300), stream.chunks(300), strict=True):
        np.testing.assert_array_equal(one, two)
    parts = [one for one, _ in stream.chunks(7)]
    np.testing.assert_array_equal(np.vstack(parts), whole)


@FIFO
@pytest.mark.parametrize("name", ["rows.libsvm", "rows", "rows.svm.gz"])
def test_a_named_pipe(tmp_path, write, dense, name):
    """Read twice, each reading would have a part of the rows."""
    data = SVMLIGHT.encode()
    data = gzip.compress(data) if name.endswith(".gz") else data
    X, y = open_stream(write("file.svm", SVMLIGHT)).read()
    os.mkfifo(tmp_path / name)
    for source in (tmp_path / name, str(tmp_path / name)):
        thread = written(tmp_path / name, data)
        stream = open_stream(source)
        thread.join()
        again_X, again_y = stream.read()
        np.testing.assert_array_equal(dense(again_X), dense(X))
        np.testing.assert_array_equal(again_y, y)
        assert stream.name == "rows"


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="no numbers as files here")
def test_a_process_substitution():
    reading, writing = os.pipe()
    try:
        os.write(writing, b"1 1:1\n-1 2:1\n")
        os.close(writing)
        stream = open_stream(f"/dev/fd/{reading}")
        assert stream.n_rows == 2
        assert stream.name == f"/dev/fd/{reading}"
    finally:
        os.close(reading)


def test_nothing_comes(piped, monkeypatch):
    piped(b"")
    with pytest.raises(DataFileError, match=r"^standard input: nothing came through it$"):
        open_stream("-")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(DataFileError, match=r"^standard input: it is closed$"):
        open_stream("-")


def test_a_bad_line_is_named(piped):
    piped(b"1 1:1\n1 1:x\n")
    with pytest.raises(DataFileError, match=r"^standard input, line 2: expected a number"):
        open_stream("-")


def test_a_file_of_that_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("-").write_text("1 1:1\n")
    for source in ("./-", Path("-")):
        assert open_stream(source).n_rows == 1


@pytest.mark.parametrize("in_memory", [10, 1 << 20])
def test_a_pipe_without_an_end(monkeypatch, tmp_path, in_memory):
    class Endless(io.RawIOBase):
        def readable(self):
            return True

        def readinto(self, buffer):
            buffer[:] = b"1" * len(buffer)
            return len(buffer)

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Endless())))
    monkeypatch.setattr("kernbrook.streams.limits.COPIED_BYTES", 100_000)
    monkeypatch.setattr("kernbrook.streams.bytes._IN_MEMORY", in_memory)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(DataFileError, match=r"over 100,000 bytes came .* max_bytes \(--max-bytes"):
        open_stream("-")
    with pytest.raises(DataFileError, match="over 5,000 bytes came"):
        open_stream("-", max_bytes=5000)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk(piped, monkeypatch, tmp_path):
    class Full(io.RawIOBase):
        def write(self, data):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: Full())
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("kernbrook.streams.bytes._IN_MEMORY", 10)
    piped(SVMLIGHT.encode())
    with pytest.raises(DataFileError, match=r"^standard input: .* No space left .* TMPDIR names"):
        open_stream("-")


# -- how much is read ---------------------------------------------------------------------------


@pytest.mark.parametrize("compression", [".gz", ".bz2", ".xz"])
@pytest.mark.parametrize("suffix", [".svm", ".csv", ""])
@pytest.mark.parametrize("from_pipe", [False, True])
def test_a_bomb(write, monkeypatch, piped, suffix, compression, from_pipe):
    monkeypatch.setattr("kernbrook.streams.bytes.BLOCK_BYTES", 10_000)
    monkeypatch.setattr("kernbrook.streams.limits.UNPACKED_BYTES", 100_000)
    data = COMPRESS[compression](b"\n" * 2_000_000 + b"1,2\n3,4\n")
    path = write(f"bomb{suffix}{compression}", data)
    if from_pipe:
        piped(data)
        path = "-"
    with pytest.raises(DataFileError, match=r"unpacked it has over [\d,]+ bytes, .* max_bytes"):
        open_stream(path)


def test_much_is_read_where_it_may(write, monkeypatch):
    monkeypatch.setattr("kernbrook.streams.bytes.BLOCK_BYTES", 10_000)
    monkeypatch.setattr("kernbrook.streams.limits.UNPACKED_BYTES", 10_000)
    text = "1 1:1\n-1 2:1\n" * 100_000
    path = write("rows.svm.gz", gzip.compress(text.encode()))
    with pytest.raises(DataFileError, match="unpacked"):
        open_stream(path)
    assert open_stream(path, max_bytes=len(text)).n_rows == 200_000
    with pytest.raises(DataFileError, match=r"over 1,299,999 bytes of text; give max_bytes"):
        open_stream(path, max_bytes=len(text) - 1)
    usual = "".join(f"1 1:{x}\n" for x in np.random.default_rng(0).normal(size=5000))
    assert open_stream(write("usual.svm.gz", gzip.compress(usual.encode()))).n_rows == 5000


def test_max_bytes_of_an_ordinary_file(write, piped):
    path = write("rows.csv", CSV)
    assert open_stream(path, max_bytes=len(CSV)).n_rows == 5000
    piped(CSV.encode())
    assert open_stream("-", max_bytes=len(CSV)).n_rows == 5000
    with pytest.raises(DataFileError, match="bytes of text"):
        open_stream(str(path), max_bytes=len(CSV) - 1)
    for wrong in (0, -1, 1.5, "9"):
        with pytest.raises(InputError, match="max_bytes must be a positive integer"):
            open_stream(path, max_bytes=wrong)


def test_xz_of_several_streams(write, monkeypatch):
    parts = [lzma.compress(f"{y} 1:{y}\n".encode() * 500) for y in (1, 2, 3)]
    packed = parts[0] + bytes(8) + parts[1] + parts[2] + bytes(4)
    for block_bytes in (3, 1 << 20):
        monkeypatch.setattr("kernbrook.streams.bytes.BLOCK_BYTES", block_bytes)
        assert open_stream(write("rows.svm.xz", packed)).read()[1].sum() == 3000
        with pytest.raises(DataFileError, match="truncated"):
            open_stream(write("cut.svm.xz", packed[:-20]))
        with pytest.raises(DataFileError, match="corrupt"):
            open_stream(write("more.svm.xz", packed + b"more than this"))
