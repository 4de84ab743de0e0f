"""The svmlight format: values, types, and agreement with the naive parser and scikit-learn."""

import io
import itertools
import random

import hard_streams
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import svmlight as naive
from sklearn.datasets import dump_svmlight_file

from kernbrook.errors import DataFileError, InputError
from kernbrook.streams import bytes as data_files
from kernbrook.streams import open_stream
from kernbrook.streams.limits import GREATEST_INDEX
from kernbrook.streams.svmlight import parse_block

REAL_FILES = (
    *("a3a", "a9a", "australian", "cod-rna", "covtype", "diabetes", "dorothea", "elec2"),
    *("energy", "german", "ionosphere", "kin8nm", "letter", "letter.t", "madelon", "magic04"),
    *("mushrooms", "ocr49", "phishing_stream", "retinopathy", "reuters", "skin_nonskin"),
    *("sonar", "svmguide3", "tomshardware", "twitter", "w5a", "wdbc", "weather"),
)


def compiled(text, width=None):
    """What the compiled parser makes of a text, in the naive parser's terms."""
    try:
        lines = parse_block("memory", 1, text.encode(), width)
    except DataFileError as error:
        raise naive.BadLineError(error.line) from None
    pairs = list(zip(lines.indices.tolist(), lines.values.tolist(), strict=True))
    bounds = lines.indptr.tolist()
    rows = [pairs[a:b] for a, b in itertools.pairwise(bounds)]
    return lines.labels.tolist(), rows


def outcome(parse, text, width):
    """The result as text, so that -0.0 differs from 0.0, or the number of the bad line."""
    try:
        return repr(parse(text, width))
    except naive.BadLineError as error:
        return error.line


finite = st.floats(allow_nan=False, allow_infinity=False)
numbers = st.one_of(
    finite.map(repr),
    finite.map(lambda x: f"{x:.3f}" if abs(x) < 1e300 else "1"),
    finite.map(lambda x: f"{x:+.25e}"),
    st.integers(-(10**25), 10**25).map(str),
    st.from_regex(
        r"[+-]?(\d{1,20}\.?\d{0,20}|\.\d{1,20})([eE][+-]?\d{1,3})?", fullmatch=True
    ).filter(str.isascii),
)
tokens = st.one_of(
    st.builds("{}:{}".format, st.integers(0, 30), numbers),
    st.sampled_from(
        ["qid:3", "#", "# 1:2", "x", "1", "1:", ":1", "1:nan", "2:inf", "-1:2", "1:1_0", "1:0x1"]
    ),
    st.sampled_from(
        ["1:2:3", "1,2", "99999999999999999999:1", "7:1e400", "3:.", "3:1e", "3:+", ""]
    ),
)
gaps = st.sampled_from([" ", "\t", "  ", " \r ", "\v", "\f"])
ends = st.sampled_from(["\n", "\r\n", " \n", "\n\n", "\n # words\n"])


@st.composite
def good_lines(draw):
    indices = sorted(draw(st.sets(st.integers(1, 40), max_size=8)))
    pairs = [f"{index}:{draw(numbers)}" for index in indices]
    return draw(gaps).join([draw(numbers), *pairs]) + draw(ends)


@st.composite
def odd_lines(draw):
    return draw(gaps).join(draw(st.lists(tokens, max_size=5))) + draw(ends)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    st.lists(good_lines() | odd_lines(), max_size=6).map("".join),
    st.booleans(),
    st.sampled_from([None, 30]),
)
def test_compiled_parser_equals_the_naive_one(text, cut, width):
    """Its rows, or the first line that it refuses."""
    text = text.rstrip("\n") if cut else text
    expected = outcome(naive.parse, text, width or GREATEST_INDEX)
    assert outcome(compiled, text, width) == expected


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="0123456789.:eE+-# \n\rq", max_size=60))
def test_compiled_parser_equals_the_naive_one_on_noise(text):
    assert outcome(compiled, text, 30) == outcome(naive.parse, text, 30)


def hard_decimals():
    """Decimals close to the middle of two floats, and of every length and exponent."""
    draw = random.Random(0)
    for _ in range(20_000):
        digits = draw.randint(1, 21)
        mantissa = draw.randrange(10**digits)
        yield f"{mantissa}e{draw.randint(-330, 300)}"
        yield f"{mantissa / 10**20!r}"
    for _ in range(5_000):
        x = draw.uniform(0.5, 1) * 2.0 ** draw.randint(-60, 60)
        middle = (int(x * 2**113) + int(np.nextafter(x, np.inf) * 2**113)) // 2
        for digits in (16, 17, 18, 19, 25):
            shown = str(middle * 10**60 >> 113)
            yield f"{shown[:digits]}e{len(shown) - digits - 60}"
    yield from ("9007199254740993", "9007199254740992", "9007199254740991e22", "1e22", "1e23")
    yield from ("123456789012345678e-22", "4.9e-324", "2.4e-324", "1.7976931348623157e308", "0e999")


def test_floats_are_rounded_correctly():
    texts = [text for text in hard_decimals() if np.isfinite(float(text))]
    # A label that is an integer, and not a float, is refused: with a point it is a number.
    points = [f"{text}." if text.isdigit() else text for text in texts]
    lines = [f"{label} 1:-{text}" for label, text in zip(points, texts, strict=True)]
    labels, rows = compiled("\n".join(lines))
    expected = [float(text) for text in texts]
    assert labels == expected
    assert [row[0][1] for row in rows] == [-x for x in expected]


@pytest.mark.data
@pytest.mark.sampled
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow, pytest.mark.long] if name == "covtype" else ())
        for name in REAL_FILES
    ],
)
def test_real_files_as_scikit_learn_reads_them(name):
    expected_X, expected_y = hard_streams.real(name)
    stream = open_stream(hard_streams.data_folder() / f"{name}.libsvm.xz")
    X, y = stream.read()
    assert stream.name == name
    assert X.shape == expected_X.shape
    assert abs(X - expected_X).max() == 0
    np.testing.assert_array_equal(y, expected_y)
    assert (y.dtype == np.int64) == bool((expected_y == np.rint(expected_y)).all())


def test_what_the_format_allows(write):
    path = write(
        "all.libsvm",
        "\ufeff# a comment\n\n+1 qid:7 1:0.5 3:-2e-1 # more\r\n-1\t2:.25\n  \n2 1:1. # 9:9\n-1 3:4",
    )
    stream = open_stream(path)
    X, y = stream.read()
    np.testing.assert_array_equal(X.toarray(), [[0.5, 0, -0.2], [0, 0.25, 0], [1, 0, 0], [0, 0, 4]])
    assert y.tolist() == [1, -1, 2, -1]
    assert y.dtype == np.int64
    assert (stream.name, stream.n_rows, stream.n_features) == ("all", 4, 3)
    assert repr(stream) == "<SvmlightStream 'all': 4 rows, 3 features>"


def test_chunks_agree(write, assert_chunks_agree, monkeypatch):
    rng = np.random.default_rng(1)
    for share in (0.2, 0.9):
        X = rng.standard_normal((200, 12)) * (rng.random((200, 12)) < share)
        buffer = io.BytesIO()
        dump_svmlight_file(X, rng.integers(0, 3, 200), buffer, zero_based=False)
        path = write("some.libsvm", buffer.getvalue())
        whole = open_stream(path)
        assert_chunks_agree(whole)
        monkeypatch.setattr("kernbrook.streams.svmlight._SLAB_ROWS", 17)
        for block_bytes in (5, 1000):
            monkeypatch.setattr(data_files, "BLOCK_BYTES", block_bytes)
            stream = open_stream(path)
            assert_chunks_agree(stream, (1, 7, 300))
            assert abs(stream.read()[0] - whole.read()[0]).max() == 0
        monkeypatch.undo()


def test_who_writes_to_a_chunk_does_not_change_the_stream(write):
    for text in ("1.5 1:1 2:2\n-1 1:3 2:4\n", "1.5 1:1\n-1 9:3\n"):
        stream = open_stream(write("mine.libsvm", text))
        X, y = stream.read()
        before = X.copy(), y.copy()
        (X if isinstance(X, np.ndarray) else X.data)[:] = 7
        y[:] = 7
        again_X, again_y = stream.read()
        assert abs(again_X - before[0]).max() == 0
        np.testing.assert_array_equal(again_y, before[1])


def test_what_rows_are_read_as(write):
    """Dense where more than half is written, as wide as is said, with one type of labels."""
    assert isinstance(open_stream(write("a.svm", "1 1:1 2:1\n1 1:1\n")).read()[0], np.ndarray)
    assert open_stream(write("b.svm", "1 1:1\n1 2:1\n")).read()[0].format == "csr"
    assert open_stream(write("c.svm", "1 1:1\n0\n"), n_features=9).read()[0].shape == (2, 9)
    assert open_stream(write("d.svm", "1\n0\n"), n_features=2).read()[0].shape == (2, 2)
    lines = "1 1:1\n" * 5000 + "0.5 1:1\n" + "1 1:1\n" * 10
    dtypes = {y.dtype for _, y in open_stream(write("mixed.svm", lines)).chunks(100)}
    assert dtypes == {np.dtype(np.float64)}


# -- svmlight files that cannot be read ------------------------------------------------------------


BAD_LINES = [
    ("1 0:3", "counts features from 1"),
    ("1 2:3 2:4", "2 follows 2"),
    ("1:3 2:4", "no label before '1:3'"),
    ("one 2:4", "expected a label .a number., found 'one'"),
    ("-inf 2:4", "the label '-inf' is not finite"),
    ("1 2", "expected index:value, found '2'"),
    ("1 2:", "expected a number after the colon, found '2:'"),
    ("1 2:NaN", "the value of '2:NaN' is not finite"),
    ("1 2:1e400", "'1e400' is too large"),
    ("1 16777217:1", r"found '16777217:1'; with an index above 16777216, give n_features \(--n-fe"),
    (" -9007199254740993# 1:1", "a 64-bit float does not hold the label '-9007199254740993'"),
    ("a,b,label", "found 'a,b,label'; the name of a CSV file ends with .csv"),
    ("1 2:" + "\xe9" * 300, "..."),
]


@pytest.mark.parametrize(("line", "problem"), BAD_LINES)
def test_the_line_is_named(write, line, problem):
    path = write("bad.libsvm", f"# words\n1 1:1\n\n{line}\n1 0:0\n")
    with pytest.raises(DataFileError, match=problem) as caught:
        open_stream(path)
    assert caught.value.line == 4
    assert str(caught.value).startswith(f"{path}, line 4: ")
    assert len(str(caught.value)) < len(str(path)) + 200


INEXACT = "9007199254740993 1:1"


@pytest.mark.parametrize(
    ("first", "second", "problem"),
    [
        ("1 1:1e999", INEXACT, "too large"), (INEXACT, "1 1:1e999", "does not hold"),
        (INEXACT, "1 1:x", "does not hold"), ("1 1:x", INEXACT, "a number after the colon"),
    ],
)  # fmt: skip
def test_the_first_of_two_bad_lines_is_named(write, first, second, problem):
    path = write("two.libsvm", f"1 1:1\n{first}\n{second}\n")
    with pytest.raises(DataFileError, match=problem) as caught:
        open_stream(path)
    assert caught.value.line == 2


def test_wrong_width(write):
    with pytest.raises(InputError, match="n_features must be at most 2147483647, got 2147483648"):
        open_stream(write("wide.libsvm", "1 1:1\n"), n_features=2**31)
    stream = open_stream(write("wide.libsvm", "1 16777217:1\n"), n_features=2**31 - 1)
    assert stream.read()[0].shape == (1, 2**31 - 1)
    path = write("wide.libsvm", "1 1:1\n1 4:1\n")
    with pytest.raises(DataFileError, match="line 2: found '4:1', beyond the 3 features"):
        open_stream(path, n_features=3)


def test_no_data_and_no_features(write):
    for text in ("\n\n", "# only words\n"):
        with pytest.raises(DataFileError, match="no data line"):
            open_stream(write("none.libsvm", text))
    with pytest.raises(DataFileError, match="give n_features"):
        open_stream(write("labels.libsvm", "1\n0\n"))
    with pytest.raises(InputError, match="a column of a table"):
        open_stream(write("a.libsvm", "1 1:1\n"), label="y")


@pytest.mark.parametrize("now", ["1 1:1\n", "1 1:1\n0.5 2:1\n", "1 1:1\n0 2:1\n1 2:1\n"])
def test_a_file_changed_between_readings(write, monkeypatch, now):
    monkeypatch.setattr("kernbrook.streams.bytes._IN_MEMORY", 0)
    stream = open_stream(write("moving.libsvm", "1 1:1\n0 2:1\n"))
    write("moving.libsvm", now)
    with pytest.raises(DataFileError, match="changed after it was opened"):
        stream.read()
