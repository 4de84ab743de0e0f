"""What rows cost over time, and beside trivial rules: in any chunks, over several data."""

import json
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernbrook as kb
from kernbrook.estimators.tasks import Outputs
from kernbrook.evaluation.measures import NO_DATE, Sums
from kernbrook.evaluation.windows import FIRST, MOST, Judge, Windows
from kernbrook.plain_values import read_as


def naive(rows):
    """The first rows of the windows of so many rows, and the length of a window."""
    length = FIRST
    while rows > MOST * length:
        length *= 2
    return length, [slice(i, min(i + length, rows)) for i in range(0, rows, length)]


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 1300), st.lists(st.integers(0, 1300), max_size=6), st.booleans())
def test_windows_are_those_of_their_rows(rows, cuts, numbers):
    rng = np.random.default_rng(rows)
    losses = rng.exponential(size=rows) if numbers else rng.random(rows) < 0.3
    judged = rng.random(rows) < 0.9
    dates = 3600 * 10**6 * np.arange(rows)
    dates[rng.random(rows) < 0.1] = NO_DATE
    whole, parts = Windows(), Windows()
    for windows, ends in ((whole, []), (parts, sorted(min(cut, rows) for cut in cuts))):
        for part in np.split(np.arange(rows), ends):
            own = np.flatnonzero(judged[part])
            costs = {"loss": losses[part][own], "other": losses[part][own] * 2.0}
            windows.add(len(part), costs, own, dates[part])
    assert parts == whole
    length, spans = naive(rows)
    assert (whole.rows, whole.length) == (rows, length)
    assert [span.rows for span in whole.spans] == [own.stop - own.start for own in spans]
    for span, own in zip(whole.spans, spans, strict=True):
        here = losses[own][judged[own]]
        assert span.judged == len(here)
        if len(here):
            assert span.sums["loss"] == pytest.approx(here.sum(), rel=1e-12)
            assert span.mean("other") == pytest.approx(2 * here.mean(), rel=1e-12)
        there = dates[own][dates[own] != NO_DATE]
        expected = (there.min(), there.max()) if len(there) else (None, None)
        assert (span.began, span.ended) == expected
    if not numbers:
        assert all(type(span.sums.get("loss", 0)) is int for span in whole.spans)
    described = json.loads(json.dumps(asdict(whole), allow_nan=False))
    assert read_as(Windows, described, "windows") == whole


def test_a_cost_that_is_not_known_of_all_rows_is_not_known():
    span = Sums()
    span.add(3, {"loss": np.ones(3), "log_loss": np.ones(3)})
    span.add(2, {})
    span.add(2, {"loss": np.ones(2)})
    span.add(1, {"loss": np.ones(1), "log_loss": np.ones(1)})
    assert (span.rows, span.judged, span.sums) == (8, 6, {"loss": 6})
    assert (span.mean("loss"), span.mean("log_loss")) == (1.0, None)
    assert Sums().mean("loss") is None


# -- a judge of predictions ------------------------------------------------------------------------


def said(labels, classes, seed=0):
    """Predictions with probabilities, right more often than not."""
    rng = np.random.default_rng(seed)
    chances = rng.dirichlet(np.ones(len(classes)), len(labels))
    own = np.flatnonzero(np.isin(labels, classes))
    chances[own, np.searchsorted(classes, np.asarray(labels)[own])] += 0.7
    chances /= chances.sum(axis=1, keepdims=True)
    return Outputs(classes[chances.argmax(axis=1)], np.ones(len(labels), bool), None, chances)


def restored(judge, classes):
    return Judge.restored(json.loads(json.dumps(judge.described(), allow_nan=False)), classes)


def test_chunks_and_files_do_not_matter():
    rng, classes = np.random.default_rng(0), np.array(["a", "b"])
    y = rng.choice(classes, 700, p=[0.7, 0.3])
    told = said(y, classes)
    whole, parts = Judge(classes), Judge(classes)
    whole.add(y, told)
    for part in np.split(np.arange(700), [1, 100, 650]):
        parts.add(y[part], told.of(part))
        parts = restored(parts, classes)
    assert parts.described() == whole.described()
    record = kb.prequential(kb.recipes.make("majority"), np.zeros((700, 1)), y)
    assert whole.data.sums["majority"] == record.mistakes.sum()
    assert whole.data.sums["loss"] == (told.predictions != y).sum()
    values = whole.measures.values()["model"]
    assert whole.data.mean("log_loss") == pytest.approx(values["log_loss"], rel=1e-12)


def test_other_data_have_measures_of_their_own_and_rules_that_know_the_labels():
    rng, classes = np.random.default_rng(0), np.array([0, 1])
    first, second = rng.choice(classes, 300, p=[0.9, 0.1]), np.ones(100, dtype=int)
    judge = Judge(classes)
    judge.add(first, said(first, classes))
    judge.begin()
    judge.add(second, said(second, classes, 1))
    assert (judge.data.rows, judge.windows.rows, judge.measures.model.rows) == (100, 400, 100)
    both = kb.prequential(
        kb.recipes.make("majority"), np.zeros((400, 1)), np.concatenate([first, second])
    )
    assert judge.data.sums["majority"] == both.mistakes[300:].sum() == 100
    assert sum(span.sums["majority"] for span in judge.windows.spans) == both.mistakes.sum()


def test_classes_that_come_later():
    """A row of a class that nobody knew is left out; after it the rules know it, too."""
    classes, more = np.array(["b", "c"]), np.array(["a", "b", "c"])
    y = np.array(["b", "b", "c"] * 30)
    judge = Judge(classes)
    judge.add(y, said(y, classes))
    judge.add(np.array(["a"]), said(["a"], classes))
    before = judge.data.sums["majority"]
    judge.measures.know(more)
    judge.measures.know(more)
    assert (judge.data.rows, judge.data.judged, judge.measures.unknown) == (91, 90, 1)
    judge.add(np.array(["a"] * 70), said(["a"] * 70, more))
    assert judge.data.sums["majority"] - before == 61  # until there are more of "a" than of "b"
    assert judge.data.judged == 160
    assert judge.measures.values()["model"].keys() == {"error", "log_loss"}
    assert restored(judge, more).described() == judge.described()


def test_rows_without_a_label_are_not_judged():
    judge = Judge(None, before=1000)
    y = np.random.default_rng(0).normal(size=2000) * np.repeat([1, 30], 1000)
    y[::2] = np.nan
    told = Outputs(np.zeros(2000), np.ones(2000, bool), half_widths=np.full(2000, 5.0))
    judge.add(y, told, dates=10**6 * np.arange(2000))
    assert judge.data.judged == 1000
    assert judge.data.rows == judge.windows.rows == 2000
    (change,) = judge.changes.found
    assert abs(change.row - 2000) <= 128  # of all rows, whether they are judged or not
    assert change.date == 10**6 * (change.row - 1001)
    assert judge.data.sums["covered"] == (np.abs(y) <= 5).sum()
    judge.add(np.full(5, np.nan), told.of(slice(5)))
    assert (judge.data.rows, judge.data.judged) == (2005, 1000)
