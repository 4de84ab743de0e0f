"""Committees far from the last label learn from labels that were given, whatever the policy."""

import hard_streams
import numpy as np
import pytest

import kernbrook as kb

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(4000, 3))
Y = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int)


def committees(labels):
    model = kb.OnlineMKClassifier(
        [kb.Gaussian(sigma=1.0), kb.Gaussian(sigma=4.0)], kb.Ridge(), labels=labels, random_state=0
    )
    model.partial_fit(X, Y)
    return model._model.judged()


def test_given_labels_are_learned_far_ahead_as_well():
    """`partial_fit` learns from all labels, and so do the committees that judge from afar."""
    wanted, found = committees("all"), committees(kb.RandomLabels(0.2))
    assert wanted.soon.rows[0] > 50
    for one, other in ((wanted.soon, found.soon), (wanted.late, found.late)):
        assert one.rows[0] == other.rows[0]
        np.testing.assert_array_equal(one.progress.log_weights, other.progress.log_weights)
        np.testing.assert_array_equal(one.progress.state, other.progress.state)


def trivial(y, every):
    """The least mean error of the mean, the last label, and a line through the last 100."""
    errors = [[], [], []]
    for start in range(every, len(y), every):
        past, last = y[:start], y[max(start - 100, 0) : start]
        line = np.polyfit(np.arange(-len(last), 0), last, 1)
        rows = y[start : start + every]
        for found, said in zip(
            errors, (past.mean(), past[-1], np.polyval(line, np.arange(len(rows)))), strict=True
        ):
            found.append(np.abs(rows - said))
    return min(np.concatenate(found)[1000:].mean() for found in errors)


TIME = np.arange(3600)
NOISE = np.random.default_rng(1).normal(size=3600)


@pytest.mark.parametrize(
    "level",
    [
        0.05 * TIME,
        300 - 0.05 * TIME,
        np.where(TIME < 2300, 0, 30),
        np.where(TIME < 1000, 0, -30),
        np.maximum(0.01 * TIME, 0.04 * TIME - 69),
        np.minimum(0.02 * TIME, 96 - 0.02 * TIME),
    ],
    ids=["grows", "falls", "jumps", "jumps early", "grows faster", "turns"],
)
def test_a_level_that_moves_is_followed_between_labels(level):
    """Nothing is cut at the labels that were judged; what judged rows tell may be over."""
    record = kb.prequential(
        kb.OnlineMKRegressor(random_state=0), X[:3600], level + NOISE, every=24, intervals=0.9
    )
    errors = np.abs(record.predictions - level - NOISE)
    assert errors[1024:].mean() <= 1.15 * trivial(level + NOISE, 24)
    covered = errors <= np.ptp(record.intervals, axis=1) / 2
    assert covered[-700:].mean() >= 0.75  # of 90 %


def test_a_new_class_is_said_far_ahead():
    """As often as next, from 100 labels on."""
    y = np.where((np.arange(4000) >= 2300) & (X[:, 1] > 0.5), 2, Y)[:2700]
    found = []
    for late in ({}, {"every": 24}):
        record = kb.prequential(kb.OnlineMKClassifier(random_state=0), X[:2700], y, **late)
        found.append((record.predictions == 2)[2400:][y[2400:] == 2].mean())
    assert found[1] >= found[0] - 0.02


@pytest.mark.data
def test_what_is_frequent_does_not_speak_for_a_committee_that_errs_for_a_while():
    """Prices with their labels every 500 rows: the majority of the last hundred rows is a fad."""
    X, y = hard_streams.real("elec2", 3500)
    X, y = X.toarray(), (y > 0).astype(int)
    model, errors = kb.OnlineMKClassifier(random_state=0), []
    for start in range(0, len(y), 500):
        rows = slice(start, start + 500)
        if start:
            errors.append(np.mean(model.predict(X[rows]) != y[rows]))
        model.partial_fit(X[rows], y[rows], classes=[0, 1])
    assert np.mean(errors) < 0.25  # .22; .32 where losses were forgotten twice as fast
