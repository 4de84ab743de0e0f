"""When errors change: found where they do, not where they do not, whatever the chunks."""

import json
import math
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernbrook.evaluation.changes import DOUBT, SAME_SIZE, UNIT, Changes
from kernbrook.evaluation.measures import NO_DATE
from kernbrook.plain_values import read_as


def numbered(losses):
    return np.arange(len(losses)) + 1


def found(losses, numbers=False, dates=None):
    changes = Changes(numbers, None)
    changes.add(losses, numbered(losses), dates)
    return changes


def naive(values):
    """Row by row: the window as all of its values, cut anywhere between two units of 32 rows.

    The cuts are those of the paper, not those between its buckets.
    """
    window, begin, rows = [], 1, []
    for value in values:
        window.append(float(value))
        while len(window) % UNIT == 0 and len(window) >= 2 * UNIT:
            n, best, at = len(window), 0.0, None
            variance, sure = np.var(window), math.log(2 * math.log(n) / DOUBT)
            for cut in range(UNIT, n, UNIT):
                share = 1 / cut + 1 / (n - cut)
                apart = abs(np.mean(window[:cut]) - np.mean(window[cut:]))
                beyond = apart - math.sqrt(2 * share * variance * sure) - 2 / 3 * share * sure
                if beyond > best:
                    best, at = beyond, cut
            if at is None:
                break
            begin, window = begin + at, window[at:]
            rows.append(begin)
    return rows


@pytest.mark.parametrize("seed", range(2))
def test_the_cuts_of_the_paper(seed):
    """While no bucket is merged they are the very same; later the cuts are fewer."""
    rng = np.random.default_rng(seed)
    losses = rng.random(1500) < np.repeat([0.05, 0.6, 0.1], [64, 64, 1372])
    few = losses[: UNIT * SAME_SIZE]
    assert [one.row for one in found(few).found] == naive(few)
    every, ours = naive(losses), [one.row for one in found(losses).found]
    assert len(ours) == len(every) > 0
    assert np.abs(np.subtract(ours, every)).max() <= 4 * UNIT


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10), st.lists(st.integers(0, 3000), max_size=6), st.booleans())
def test_chunks_do_not_matter(seed, cuts, numbers):
    rng = np.random.default_rng(seed)
    losses = rng.random(3000) < np.repeat([0.1, 0.5, 0.2], 1000)
    losses = (losses * rng.exponential(size=3000)) ** 2 if numbers else losses
    whole, parts = Changes(numbers), Changes(numbers)
    rows, dates = numbered(losses), np.arange(3000) * 10**6
    whole.add(losses, rows, dates)
    for part in np.split(np.arange(3000), sorted(cuts)):
        parts.add(losses[part], rows[part], dates[part])
        described = json.loads(json.dumps(asdict(parts), allow_nan=False))
        parts = read_as(Changes, described, "changes")
    assert parts == whole
    assert len(whole.buckets) < 60


def test_no_change_is_found_where_there_is_none():
    """Of 40 streams of 10,000 rows one might have a signal; three would be too many."""
    rng = np.random.default_rng(0)
    for numbers in (False, True):
        signals = 0
        for _ in range(40):
            errors = rng.standard_t(3, size=10_000) * 1000 if numbers else rng.random(10_000) < 0.2
            signals += found(errors**2 if numbers else errors, numbers).n_changes
        assert signals < 3


SKEWED = {
    "mostly zeros": lambda rng, n: rng.exponential(100, n) * (rng.random(n) > 0.95),
    "many zeros": lambda rng, n: rng.exponential(100, n) * (rng.random(n) > 0.8),
    "rare counts": lambda rng, n: rng.poisson(0.05, n),
    "few counts": lambda rng, n: rng.poisson(0.1, n),
    "lognormal": lambda rng, n: rng.lognormal(0, 2, n),
}


def test_labels_that_are_mostly_zero_or_skewed():
    """Most errors are small beside a few, and move with the prediction: that is no change."""
    signals = 0
    for draw in SKEWED.values():
        for seed in range(20):
            labels = draw(np.random.default_rng(seed), 4000)
            said = np.append(0, np.cumsum(labels)[:-1] / np.arange(1, 4000))
            signals += found((labels - said) ** 2, True).n_changes > 0
    assert signals <= 5  # of 100, at 115 looks each
    for seed in range(5):
        rng = np.random.default_rng(seed)
        rare = rng.random(4000) > np.repeat([0.95, 0.7], 2000)
        first = found((rng.exponential(100, 4000) * rare) ** 2, True).found[0]
        assert abs(first.row - 2000) <= 200
        assert first.after > first.before


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_changes_of_numbers_whatever_their_scale(scale):
    rng = np.random.default_rng(0)
    errors = scale * rng.normal(size=6000) * np.repeat([1, 2, 1], 2000)
    changes = found(errors**2, True).found
    assert [abs(one.row - at) <= 64 for one, at in zip(changes, (2001, 4001), strict=True)]
    assert changes[0].before == pytest.approx(scale**2, rel=0.2)
    assert changes[0].after > 2 * changes[0].before
    assert changes[1].after < changes[1].before


def test_a_few_great_errors_hide_no_change():
    """Errors that are three times as large by row 3,000, though their mean square is not."""
    rng = np.random.default_rng(195)
    parts = [scale * rng.standard_t(1.5, n) for scale, n in ((1, 3000), (3, 1500))]
    (one,) = found(np.concatenate(parts) ** 2, True).found
    assert (abs(one.row - 3000) <= 64, one.after < one.before, one.rose) == (True, True, True)


def test_a_change_has_a_row_a_date_and_means():
    rng = np.random.default_rng(1)
    losses = rng.random(3000) < np.repeat([0.1, 0.5], 1500)
    dates = 10**6 * np.arange(3000)
    dates[::3] = NO_DATE
    rows = 2 * np.arange(3000) + 7  # others in between are not judged
    changes = Changes(False)
    changes.add(losses, rows, dates)
    (one,) = changes.found
    place = (one.row - 7) // 2
    assert abs(place - 1500) <= UNIT
    assert one.date == (None if place % 3 == 0 else 10**6 * place)
    assert one.before == losses[:place].mean()
    assert one.after == losses[place : (one.noticed - 7) // 2 + 1].mean()
    assert one.noticed > one.row
