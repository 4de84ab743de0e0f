"""Values of rows before as columns: against a twin, however the rows are cut, and in a file."""

import json

import numpy as np
import pyarrow as pa
import pytest
from naive.lags import lag

import kernbrook as kb
from kernbrook.errors import DataFileError, InputError, KernbrookError, UnknownNameError
from kernbrook.streams import open_stream

LATE = [(0, 1), (3, 1), (0, 7), (5, 4), (200, 1)]


def values_of(n, holes, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=n).round(3)
    return [None if rng.random() < holes else value for value in values.tolist()]


@pytest.mark.parametrize(("delay", "every"), LATE)
def test_twin_of_labels(delay, every):
    labels, n = values_of(120, 0.3), 120
    table = pa.table({"a": range(n), "y": pa.array(labels)})
    lags = [delay + back for back in (1, 5, 24)]
    encoder = kb.TableEncoder(lags=lags, delay=delay, every=every)
    X = encoder.learn(table.drop_columns(["y"]), labels)
    expected = [[lag(labels, t, back, delay, every) for back in lags] for t in range(n)]
    np.testing.assert_allclose(X[:, 1:], expected, atol=1e-12)
    names = encoder.get_feature_names_out().tolist()
    assert names == ["a", *(f"label lag {back}" for back in lags)]


@pytest.mark.parametrize(("delay", "every"), LATE)
def test_cuts_change_nothing(delay, every):
    labels = values_of(150, 0.2)
    table = pa.table({"a": values_of(150, 0.2, seed=1)})
    made = kb.TableEncoder(
        missing="mean", lags={"label": [delay + 1, delay + 9]}, delay=delay, every=every
    )
    whole = made.copy().begin(["a"], "label")
    X = whole.learn(table, labels)
    for length in (1, 7, 64):
        cut, parts = made.copy().begin(["a"], "label"), []
        for i in range(0, 150, length):
            parts.append(cut.learn(table[i : i + length], labels[i : i + length]))
            if i in (64, 70):  # through a file
                described = json.loads(json.dumps(cut.described(), allow_nan=False))
                cut = kb.TableEncoder.from_description(described)
                assert cut.described() == described
        np.testing.assert_array_equal(np.vstack(parts), X)
        assert cut.described() == whole.described()


def test_transform_takes_rows_for_those_that_come_next():
    """The last label that is known stays the last."""
    table = pa.table({"a": [float(i) for i in range(20)]})
    encoder = kb.TableEncoder(lags={"label": [1, 3]}).begin(["a"], "label")
    encoder.learn(table[:10], list(range(10)))
    before = encoder.described()
    X = encoder.transform(table[10:])
    assert X[:, 1].tolist() == [9] * 10
    assert X[:, 2].tolist() == [7, 8, 9, 9, 9, 9, 9, 9, 9, 9]
    assert encoder.described() == before
    np.testing.assert_array_equal(encoder.transform(table[10:]), X)


# -- streams of tables -----------------------------------------------------------------------------


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return pa.table({"a": rng.normal(size=3000), "y": rng.normal(size=3000)})


def test_a_stream_is_what_the_encoder_learns(table, assert_chunks_agree):
    stream = open_stream(table, label="y", encoder=kb.TableEncoder(lags=[3, 30], delay=2))
    assert stream.feature_names == ["a", "y lag 3", "y lag 30"]
    X, y = stream.read()
    alone = kb.TableEncoder(lags=[3, 30], delay=2)
    np.testing.assert_array_equal(X, alone.learn(table.select(["a"]), y))
    assert_chunks_agree(stream, (1024, 7))
    # After a checkpoint's rows the encoder knows these and no more.
    for i, (part, _) in enumerate(stream.chunks(1024)):
        known = kb.TableEncoder(lags=[3, 30], delay=2).begin(["a"], "y")
        rows = 1024 * i + len(part)
        known.learn(table.select(["a"])[:rows], y[:rows])
        assert stream.encoder.described() == known.described()


@pytest.mark.parametrize("labelled", [True, False])
def test_new_rows_go_on_from_those_that_were_learned(table, labelled):
    """As if the model had read all rows: with labels where they have some."""
    encoder = kb.TableEncoder(lags={"y": [1, 30]})
    first = open_stream(table[:2000], label="y", encoder=encoder)
    first.read()
    whole = open_stream(table, label="y", encoder=encoder).read()[0][2000:]
    described = first.encoder.described()
    known = kb.TableEncoder.from_description(described)
    new = table[2000:] if labelled else table[2000:].drop_columns(["y"])
    stream = open_stream(new, label="y", encoder=known) if labelled else None
    if stream is None:
        from kernbrook.estimators.table_model import TableModel, open_like

        source = TableModel._of_stream(None, first)
        stream = open_like(source, new)
        assert not stream.labelled
    X = np.vstack([part for part, _ in stream.chunks(100)])
    assert known.described() == described  # it stays as it is
    np.testing.assert_array_equal(X[:, 0], whole[:, 0])
    last = table["y"][1999].as_py()
    if labelled:
        np.testing.assert_array_equal(X, whole)
    else:
        assert X[:, 1].tolist() == [last] * 1000
        np.testing.assert_array_equal(X[:30, 2], whole[:30, 2])
        assert X[30:, 2].tolist() == [last] * 970


def test_labels_of_text_have_lags_by_level(write):
    text = "a,y\n" + "1,up\n2,down\n3,up\n4,level\n" * 9
    path = write("t.csv", text)
    with pytest.raises(DataFileError, match=r"line 2: column 'y': expected a number, found 'up'"):
        open_stream(path, encoder=kb.TableEncoder(lags=[1]))
    stream = open_stream(path, encoder=kb.TableEncoder({"y": ["up", "down"]}, lags=[1]))
    assert stream.feature_names == ["a", "y=up lag 1", "y=down lag 1", "y=other lag 1"]
    X, y = stream.read()
    assert y[:4].tolist() == ["up", "down", "up", "level"]
    assert X[:6].tolist() == [
        [1, 0, 0, 0], [2, 1, 0, 0], [3, 0, 1, 0], [4, 1, 0, 0], [1, 0, 0, 1], [2, 1, 0, 0],
    ]  # fmt: skip
    with pytest.warns(UserWarning, match="'y' is taken as levels: 'down', 'level', 'up'"):
        stream = open_stream(path, encoder=kb.TableEncoder("auto", lags=[1]))
    assert stream.feature_names[1:] == [f"y={k} lag 1" for k in ("down", "level", "up", "other")]


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        ({"lags": 0}, "lags: expected numbers of rows from 1 to 100,000, each once"),
        ({"lags": [1, 1]}, "lags: expected numbers of rows from 1 to 100,000, each once"),
        ({"lags": {3: [1]}}, "lags: expected numbers of rows"),
        ({"lags": {"b": [1]}}, "unknown column 'b'"),
        ({"lags": {"a": [1]}}, "lags: expected those of the label alone, got .'a': .* are gone"),
        ({"delay": -1}, "delay must be an integer from 0"),
        ({"every": 0}, "every must be an integer from 1"),
    ],
)
def test_parameters(made, problem):
    with pytest.raises(KernbrookError, match=problem):
        kb.TableEncoder(**made).fit(pa.table({"a": [1.0], "c": [2.0]}), [1.0])


def test_what_is_refused():
    rows = pa.table({"a": [1.0, 2.0]})
    with pytest.raises(InputError, match="y: expected labels, for their lags"):
        kb.TableEncoder(lags=[1]).learn(rows)
    with pytest.raises(InputError, match="X has 2 rows, y has 3"):
        kb.TableEncoder(lags=[1]).learn(rows, [1, 2, 3])
    with pytest.raises(InputError, match="y: expected labels, numbers or text, got"):
        kb.TableEncoder(lags=[1]).learn(rows, [{1}, object()])
    with pytest.raises(InputError, match=r"'label', row 1 .*: expected a number, found 'x'; l"):
        kb.TableEncoder(lags=[1]).learn(rows, ["1", "x"])
    with pytest.raises(UnknownNameError, match="unknown column 'y'"):
        open_stream(pa.table({"a": [1.0], "b": [1]}), encoder=kb.TableEncoder(lags={"y": [1]}))
    from kernbrook.evaluation import open_like

    with pytest.raises(InputError, match="lags: of the label, and there is none"):
        open_like(None, rows, encoder=kb.TableEncoder(lags=[1]))
