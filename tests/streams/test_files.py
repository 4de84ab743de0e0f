"""Opening files: compression, formats told apart, and everything that can be wrong with a file."""

import bz2
import gzip
import io
import lzma
import os
import sys
import tempfile
import threading
import tracemalloc
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from kernbrook.errors import DataFileError, InputError, UnknownNameError
from kernbrook.streams import open_stream

SVMLIGHT = "".join(f"{1 if i % 3 else -1} {1 + i % 5}:{i}.5 9:1\n" for i in range(5000))
CSV = "a,b,label\n" + "".join(f"{i}.5,{i % 7},{i % 3}\n" for i in range(5000))


def lz4(data):
    with pa.CompressedOutputStream(packed := pa.BufferOutputStream(), "lz4") as out:
        out.write(data)
    return packed.getvalue().to_pybytes()


COMPRESS = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": partial(pa.compress, codec="zstd", asbytes=True),
    ".lz4": lz4,
}
TEXTS = {".libsvm": SVMLIGHT, ".csv": CSV}
# Each compression with a format: what is told apart by its name, or by its first line.
PACKED = list(zip(COMPRESS, [".libsvm", ".csv", "", ".csv", ""], strict=True))


@pytest.mark.parametrize(("compression", "suffix"), PACKED)
def test_compressed_is_the_same(write, assert_chunks_agree, dense, suffix, compression):
    text = TEXTS.get(suffix, CSV)
    plain = write(f"plain{suffix}", text)
    packed = COMPRESS[compression](text.encode())
    stream = open_stream(write(f"packed{suffix}{compression}", packed))
    X, y = stream.read()
    expected_X, expected_y = open_stream(str(plain)).read()
    np.testing.assert_array_equal(dense(X), dense(expected_X))
    np.testing.assert_array_equal(y, expected_y)
    assert stream.name == "packed"
    assert_chunks_agree(stream, (999,))
    assert open_stream(write(f"plain{suffix}", packed)).n_rows == stream.n_rows  # by its bytes


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("data", "# words\n\n+1 1:2 3:4 # more\n", "SvmlightStream"),
        ("data.t", "1.5e3 qid:2 3:4\r\n", "SvmlightStream"),
        ("data.train.v2", "a,label\n1,2\n", "TableStream"),
    ],
)
def test_unknown_suffixes_are_told_apart(write, name, text, kind):
    stream = open_stream(write(name, text))
    assert type(stream).__name__ == kind
    assert stream.name == name


def test_unknown_suffix_and_unknown_format(write):
    with pytest.raises(DataFileError, match=r"line 2: neither svmlight .* nor CSV"):
        open_stream(write("notes", "\nhello there\n"))
    with pytest.raises(DataFileError, match="no data line"):
        open_stream(write("notes", "\n# hello\n"))


@pytest.mark.parametrize(("compression", "suffix"), PACKED)
def test_what_is_packed_and_damaged(write, suffix, compression):
    """Cut anywhere, changed in the middle, or not packed at all."""
    packed = COMPRESS[compression](CSV[:3000].encode())
    for size in [*range(6), *range(6, len(packed), 29), *range(len(packed) - 30, len(packed))]:
        path = write(f"cut{suffix}{compression}", packed[:size])
        said = "compressed data is truncated" if size > 5 else "found something else|is empty|cut"
        with pytest.raises(DataFileError, match=said) as found:
            open_stream(path)
        assert "line 0" not in str(found.value)
    with pytest.raises(DataFileError, match="as its name says"):
        open_stream(write(f"plain.libsvm{compression}", SVMLIGHT))
    if compression != ".lz4":
        changed = bytearray(COMPRESS[compression](CSV.encode()))
        middle = len(changed) // 2
        changed[middle : middle + 30] = bytes(range(30))
        with pytest.raises(DataFileError, match="the compressed data is corrupt"):
            open_stream(write(f"bad{suffix}{compression}", bytes(changed)))


@pytest.mark.parametrize("name", ["a.libsvm", "a.csv", "a.csv.gz", "a"])
def test_empty(write, name):
    with pytest.raises(DataFileError, match=r": the file is empty$"):
        open_stream(write(name, ""))


@pytest.mark.parametrize("name", ["a.libsvm", "a.csv", "a"])
def test_binary_junk(write, name):
    with pytest.raises(DataFileError, match="line 3: binary data") as caught:
        open_stream(write(name, b"1 1:2\n1 3:4\n\x7fELF\0\0\0\xff\n"))
    assert caught.value.line == 3
    random = np.random.default_rng(0).integers(128, 256, 5000, dtype=np.uint8).tobytes()
    with pytest.raises(DataFileError):
        open_stream(write(name, random))


@pytest.mark.parametrize("as_path", [str, Path])
def test_folder_and_missing(tmp_path, as_path):
    with pytest.raises(DataFileError, match="a folder, where a file was expected"):
        open_stream(as_path(tmp_path))
    for name in ("no.csv.gz", "no", "no.csvv"):
        with pytest.raises(DataFileError, match=r": no such file$"):
            open_stream(as_path(tmp_path / name))
    for name in ("no.csv.gz", "no.csvv"):
        with pytest.raises(DataFileError, match=rf"^{name}: no such file$"):
            open_stream(as_path(name))


def test_permission_denied(write, monkeypatch):
    path = write("secret.libsvm", SVMLIGHT)

    def refuse(*args):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("kernbrook.streams.bytes.open", refuse, raising=False)
    with pytest.raises(DataFileError, match=r": permission denied$"):
        open_stream(path)


ENDS = {"\n": "unix", "\r\n": "windows", "\r": "old", "mixed": "mixed"}


def with_ends(text, end):
    """The same lines, ending otherwise."""
    if end != "mixed":
        return text.replace("\n", end)
    lines = text.splitlines()
    return "".join(line + ("\r", "\n", "\r\n")[i % 3] for i, line in enumerate(lines))


@pytest.mark.parametrize("suffix", TEXTS)
@pytest.mark.parametrize("end", ENDS, ids=ENDS.values())
def test_ends_of_lines(write, monkeypatch, dense, end, suffix):
    text = "\n".join(TEXTS[suffix].split("\n")[:60]) + "\n"
    text = text if suffix == ".csv" else f"# words\n{text}"
    X, y = open_stream(write(f"one{suffix}", text)).read()
    monkeypatch.setattr("kernbrook.streams.bytes.BLOCK_BYTES", 7)
    path = write(f"other{suffix}", with_ends(text, end))
    for _ in range(2):
        again_X, again_y = open_stream(path).read()
        np.testing.assert_array_equal(dense(again_X), dense(X))
        np.testing.assert_array_equal(again_y, y)
        path = write(f"other{suffix}", with_ends(text, end).rstrip("\r\n"))
    bad = with_ends({".csv": "a,label\n1,2\nx,3\n", ".libsvm": "\n1 1:1\n1 1:x\n"}[suffix], end)
    with pytest.raises(DataFileError, match="line 3: ") as caught:
        open_stream(write(f"bad{suffix}", bad))
    assert caught.value.line == 3


@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero"])
def test_a_device_is_refused(device):
    if not os.path.exists(device):
        pytest.skip(f"no {device} here")
    with pytest.raises(DataFileError, match="a device, where a file was expected"):
        open_stream(device)


@pytest.mark.parametrize(
    ("name", "mark"),
    [("rows", ";"), ("rows", "\t"), ("rows.tsv", ","), ("rows.csv", "|"), ("rows.dat", ";")],
)
def test_other_separators(write, assert_chunks_agree, name, mark):
    text = "a,b,label\n1,2,x\n.5,-4e1,y\n".replace(",", mark)
    stream = open_stream(write(name, text))
    X, y = stream.read()
    assert (X.tolist(), y.tolist()) == ([[1, 2], [0.5, -40]], ["x", "y"])
    assert_chunks_agree(stream, (1, 2))


def test_what_does_not_print(write):
    path = write("a\x1b[31m.csv", "a\x1b]0;x\x07,b\n1,2\n\x1b[2J,4\n")
    with pytest.raises(DataFileError) as caught:
        open_stream(path)
    assert str(caught.value).isprintable()
    assert r"a\x1b[31m.csv, line 3: column 'a\x1b]0;x\x07'" in str(caught.value)
    assert caught.value.path == path
    with pytest.raises(UnknownNameError) as unknown:
        open_stream(path, label="c")
    assert str(unknown.value).isprintable()
    stream = open_stream(write("b\x1b[31m.svm", "1 1:1\n"))
    assert stream.name == r"b\x1b[31m"


def peak(work):
    """Bytes that Python and NumPy held at once meanwhile."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_lines_without_data_take_no_room(write):
    """For each of these blocks, 32 bytes a line were kept; a colon alone has no room for a pair."""
    open_stream(write("warm.svm", SVMLIGHT))
    for line in ("\n", "# words\n", "1 qid:3 qid:4 qid:5 qid:6 qid:7 1:1\n"):
        text = line * (40_000_000 // len(line)) + "1 1:1\n"
        path = write("blank.svm.gz", gzip.compress(text.encode(), 1))
        del text
        assert peak(lambda path=path: open_stream(path)) < 60e6
    path = write("colons.svm", "1 " + ":" * 10_000_000)

    def refused():
        with pytest.raises(DataFileError, match="line 1: expected index:value"):
            open_stream(path)

    assert peak(refused) < 150e6


@pytest.mark.parametrize(("suffix", "compression"), [(".libsvm", ""), (".csv", ".gz")])
def test_memory_does_not_grow_with_the_file(write, suffix, compression):
    if suffix == ".csv":
        line = ",".join(["0.123456"] * 10) + ",1\n"
        text = ",".join(f"x{i}" for i in range(10)) + ",label\n" + line * (20_000_000 // len(line))
    else:
        line = "1 " + " ".join(f"{i}:0.123456" for i in range(1, 11)) + "\n"
        text = line * (30_000_000 // len(line))
    packed = gzip.compress(text.encode(), 1) if compression else text
    path = write(f"large{suffix}{compression}", packed)
    rows = text.count("1\n" if suffix == ".csv" else "\n")
    del text, packed
    next(open_stream(write(f"warm{suffix}", TEXTS[suffix])).chunks())
    tracemalloc.start()
    try:
        stream = open_stream(path)
        opened = tracemalloc.get_traced_memory()[1]
        kept = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        assert sum(len(y) for _, y in stream.chunks(1000)) == rows
        passed = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert opened < 24e6  # up to 16 MiB of rows are held until the file proves longer
    assert kept < 1e6
    assert passed < 8e6


# -- pipes and standard input ----------------------------------------------------------------------


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


@pytest.mark.parametrize("data", [CSV.encode(), gzip.compress(SVMLIGHT.encode())])
def test_standard_input(write, piped, kept, assert_chunks_agree, dense, data):
    X, y = open_stream(write("rows", data)).read()
    piped(data)
    stream = open_stream("-")
    again_X, again_y = stream.read()
    np.testing.assert_array_equal(dense(again_X), dense(X))
    np.testing.assert_array_equal(again_y, y)
    assert stream.name == "standard input"
    assert_chunks_agree(stream, (999,))


def test_what_may_come_through_a_pipe(piped, tmp_path, monkeypatch):
    """Nothing, a bad line; and what is no pipe, but a file of that name."""
    for data, said in (
        (b"", ": nothing came through it$"),
        (b"1 1:x\n", ", line 1: expected a nu"),
    ):
        piped(data)
        with pytest.raises(DataFileError, match=f"^standard input{said}"):
            open_stream("-")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(DataFileError, match=r"^standard input: it is closed$"):
        open_stream("-")
    monkeypatch.chdir(tmp_path)
    Path("-").write_text("1 1:1\n")
    for source in ("./-", Path("-")):
        assert open_stream(source).n_rows == 1


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
@pytest.mark.parametrize("name", ["rows", "rows.svm.gz"])
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


@pytest.mark.parametrize(
    ("suffix", "compression", "from_pipe"),
    [(".svm", ".gz", False), (".csv", ".bz2", False), ("", ".xz", False), ("", ".gz", True)],
)
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
    path = write("rows.csv", CSV)
    assert open_stream(path, max_bytes=len(CSV)).n_rows == 5000
    with pytest.raises(DataFileError, match="bytes of text"):
        open_stream(path, max_bytes=len(CSV) - 1)
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
