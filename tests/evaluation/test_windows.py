"""What rows cost over time does not depend on how they come, and is what they cost."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernbrook as kb
from kernbrook.errors import InputError
from kernbrook.evaluation.history.inputs import MOST_COLUMNS, Inputs, shifts
from kernbrook.evaluation.history.windows import FIRST, MOST, NO_DATE, Span, Windows

pa = pytest.importorskip("pyarrow")


def naive(rows):
    """The first rows of the windows of so many rows, and the length of a window."""
    length = FIRST
    while rows > MOST * length:
        length *= 2
    return length, [slice(i, min(i + length, rows)) for i in range(0, rows, length)]


def table(rows, seed=0):
    """Numbers with gaps, declared levels, hashed ones, and dates."""
    rng = np.random.default_rng(seed)
    numbers = 1e6 + rng.normal(size=rows)
    return pa.table(
        {
            "x": pa.array(numbers, mask=rng.random(rows) < 0.2),
            "level": rng.choice(["a", "b", "c"], rows),
            "hashed": pa.array(rng.choice(["a", "b"], rows), mask=rng.random(rows) < 0.1),
            "empty": pa.nulls(rows, pa.float64()),
            "when": np.datetime64("2024-01-01", "s") + 3600 * np.arange(rows),
        }
    )


def encoded(rows, seed=0):
    encoder = kb.TableEncoder(
        {"level": ["a", "b"], "hashed": 2}, dates={"when": ["days"]}, missing="mean"
    )
    encoder.begin(table(1).column_names)
    encoder.encoded.seen.keeps = True
    given = table(max(rows, 1), seed)
    encoder.learn_arrow(given)
    columns = encoder.encoded
    return encoder, given, columns.seen.values[:rows], columns.moments(given)[:rows]


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 1300), st.lists(st.integers(0, 1300), max_size=6), st.booleans())
def test_windows_are_those_of_their_rows(rows, cuts, numbers):
    rng = np.random.default_rng(rows)
    losses = rng.exponential(size=rows) if numbers else rng.random(rows) < 0.3
    judged = rng.random(rows) < 0.9
    encoder, given, values, dates = encoded(rows, rows)
    dates[rng.random(rows) < 0.1] = NO_DATE
    whole, parts = Windows(inputs=Inputs.of(encoder)), Windows(inputs=Inputs.of(encoder))
    for windows, ends in ((whole, []), (parts, sorted(min(cut, rows) for cut in cuts))):
        for part in np.split(np.arange(rows), ends):
            own = np.flatnonzero(judged[part])
            costs = {"loss": losses[part][own], "other": losses[part][own] * 2.0}
            windows.add(len(part), costs, own, values[part], dates[part])
    assert parts == whole
    length, spans = naive(rows)
    assert (whole.rows, whole.length) == (rows, length)
    assert [span.rows for span in whole.spans] == [own.stop - own.start for own in spans]
    frame = given.to_pandas()[:rows]
    for span, own in zip(whole.spans, spans, strict=True):
        here = losses[own][judged[own]]
        assert span.judged == len(here)
        if len(here):
            assert span.sums["loss"] == pytest.approx(here.sum(), rel=1e-12)
            assert span.mean("other") == pytest.approx(2 * here.mean(), rel=1e-12)
        there = dates[own][dates[own] != NO_DATE]
        expected = (there.min(), there.max()) if len(there) else (None, None)
        assert (span.began, span.ended) == expected
        x, level = frame["x"][own], frame["level"][own]
        columns = span.columns
        assert columns.gaps == [*frame[own].isna().sum()]
        assert columns.others == [0, (level == "c").sum(), 0, 0, 0]
        if x.notna().any():
            assert (columns.low[0], columns.high[0]) == (x.min(), x.max())
            assert columns.mean(0, whole.inputs.origins[0]) == pytest.approx(x.mean(), rel=1e-15)
            assert columns.deviation(0) == pytest.approx(x.std(ddof=0), rel=1e-9, abs=1e-9)
        assert columns.mean(3, None) is columns.deviation(3) is columns.low[3] is None
    assert whole.ends()[-1:] == ([rows] if rows else [])
    if not numbers:
        assert all(type(span.sums.get("loss", 0)) is int for span in whole.spans)
    described = json.loads(json.dumps(whole.described(), allow_nan=False))
    assert Windows.restored(described) == whole


def test_a_cost_that_is_not_known_of_all_rows_is_not_known():
    span = Span()
    span.add(3, {"loss": np.ones(3), "log_loss": np.ones(3)})
    span.add(2, {})
    span.add(2, {"loss": np.ones(2)})
    span.add(1, {"loss": np.ones(1), "log_loss": np.ones(1)})
    assert (span.rows, span.judged, span.sums) == (8, 6, {"loss": 6})
    assert (span.mean("loss"), span.mean("log_loss")) == (1.0, None)
    assert Span().mean("loss") is None


def test_sums_that_overflow_are_cut_off():
    """Else no file could hold them."""
    encoder = kb.TableEncoder().begin(["x"])
    windows = Windows(inputs=Inputs.of(encoder))
    windows.add(40, {"loss": np.zeros(40)}, values=np.tile([[1e300], [-1e300]], (20, 1)))
    json.dumps(windows.described(), allow_nan=False)


def test_wide_tables_are_not_looked_at():
    wide = [f"x{i}" for i in range(MOST_COLUMNS + 1)]
    assert Inputs.of(kb.TableEncoder().begin(wide)) is None
    assert Inputs.of(kb.TableEncoder().begin(wide[1:])) is not None
    assert Inputs.of(None) is None


def whole(rows=300):
    encoder, _, values, dates = encoded(rows)
    windows = Windows(inputs=Inputs.of(encoder))
    windows.add(rows, {"loss": np.zeros(rows)}, values=values, dates=dates)
    return json.loads(json.dumps(windows.described()))


def changed(path, value):
    described = whole()
    place = described
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return described


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        {"length": 16},
        changed(["more"], 1),
        changed(["length"], 0),
        changed(["length"], 10**30),
        changed(["length"], 33),
        changed(["length"], 64),
        changed(["spans"], None),
        changed(["spans"], []),
        changed(["spans"], [{}] * 17),
        changed(["spans", 0], None),
        changed(["spans", 0, "rows"], 31),
        changed(["spans", 0, "rows"], 32.0),
        changed(["spans", 0, "judged"], 33),
        changed(["spans", 0, "judged"], -1),
        changed(["spans", 0, "sums"], None),
        changed(["spans", 0, "sums"], {"loss": math.inf}),
        changed(["spans", 0, "sums"], {"loss": "1"}),
        changed(["spans", 0, "began"], "2024"),
        changed(["spans", 0, "columns"], 5),
        changed(["spans", 0, "columns", "gaps"], [1]),
        changed(["spans", 0, "columns", "gaps", 0], 0.5),
        changed(["spans", 0, "columns", "low", 0], math.nan),
        changed(["spans", 0, "columns", "rows"], None),
        changed(["spans", 9, "rows"], 33),
        changed(["inputs"], None),
        changed(["inputs"], {"parts": 5, "origins": []}),
        changed(["inputs", "origins"], [1]),
        changed(["inputs", "parts", 0], ["x"]),
        changed(["inputs", "parts", 0], ["x", "other", 0, 1]),
        changed(["inputs", "parts", 0], ["x", "numbers", -1, 1]),
    ],
    ids=str,
)
def test_what_are_no_windows(wrong):
    with pytest.raises(InputError, match="windows"):
        Windows.restored(wrong)


def test_windows_of_a_file_that_is_sound():
    assert Windows.restored(whole()).rows == 300
    assert Windows.restored(Windows().described()) == Windows()


# -- what has moved -----------------------------------------------------------------------------


def shifted(change, rows=4000):
    """What is said of the columns where the last 600 rows are changed."""
    encoder, given, values, _ = encoded(rows)
    windows, values = Windows(inputs=Inputs.of(encoder)), values.copy()
    places = {part.column: part.start for part in encoder.encoded.parts()}
    change(values[-600:], places)
    windows.add(rows, {"loss": np.zeros(rows)}, values=values)
    found = shifts(windows.inputs, [span.columns for span in windows.spans], 0.1)
    assert [one.column for one in found] == given.column_names
    return {one.column: one for one in found}


def test_columns_that_stay_as_they_are():
    found = shifted(lambda values, places: None)
    assert max(one.size for one in found.values()) < 1


def test_columns_that_move():
    def change(values, places):
        values[::2, places["x"]] = np.nan
        values[:, places["level"] : places["level"] + 3] = [0, 0, 1]

    found = shifted(change)
    assert {name for name, one in found.items() if one.size >= 1} == {"x", "level"}
    assert found["level"].others == pytest.approx((1 / 3, 1.0), abs=0.1)
    assert found["x"].gaps == pytest.approx((0.2, 0.6), abs=0.1)

    def moved(values, places):
        values[:, places["x"]] += 0.8

    found = shifted(moved)
    assert {name for name, one in found.items() if one.size >= 1} == {"x"}
    assert np.diff(found["x"].means)[0] == pytest.approx(0.8, abs=0.15)
    assert found["x"].deviation == pytest.approx(1, abs=0.1)


def test_few_rows_say_nothing():
    """What may be chance is not said: 30 rows whose mean is half a deviation away."""
    encoder, _, values, _ = encoded(40)
    windows = Windows(inputs=Inputs.of(encoder))
    windows.add(40, {"loss": np.zeros(40)}, values=values)
    assert shifts(windows.inputs, [span.columns for span in windows.spans], 0.1) == []
    assert shifts(None, [], 0.1) == []
