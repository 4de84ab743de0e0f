"""Probabilities of classes, learned from scores online."""

import numpy as np
import pytest
from estimators.test_model_files import rewrite
from hard_streams import gaussian_clouds
from naive import calibration as naive
from sklearn.exceptions import NotFittedError

import kernbrook as kb
from kernbrook.estimators.confidence import PACE_FAR, Calibration
from kernbrook.numerics.calibration_steps import CELLS, cell_of

X, y = gaussian_clouds(400)
POOL = [kb.Gaussian(sigma=s) for s in (0.5, 2, 8)]


def learned(**parameters):
    return kb.OnlineMKClassifier(POOL, random_state=0, **parameters)


def in_chunks(model, labels, size, n=400):
    for i in range(0, n, size):
        model.learn(X[i : i + size], labels[i : i + size], classes=np.unique(labels))
    return model


@pytest.mark.parametrize(
    ("classes", "inputs", "far"), [(2, 1, False), (2, 2, True), (3, 1, True), (6, 2, False)]
)
def test_the_same_as_the_definition(classes, inputs, far):
    rng = np.random.default_rng(classes)
    n, c = 300, 1 if classes == 2 else classes
    labels = rng.integers(0, classes, n).astype(float)
    signs = 2 * labels[:, None] - 1 if c == 1 else 2.0 * (np.arange(c) == labels[:, None])
    scores = (signs + rng.normal(size=(n, c))) * rng.choice([1, 1, 20], size=(n, 1))
    if inputs == 2:  # votes behind the scores
        scores = np.hstack([scores, np.sign(signs + rng.normal(size=(n, c)))])
    scores[:3] = 0
    weights, judged = rng.choice([0, 1, 3.0], size=n), rng.random(n) < 0.9
    labels[rng.random(n) < 0.1] = np.nan
    fast, slow = Calibration(c, inputs), naive.Probabilities(c, inputs, far)
    fast._pace = PACE_FAR if far else fast._pace
    said, cuts, usual = fast.learn(scores, labels, weights, judged)
    for t in range(n):
        np.testing.assert_allclose(said[t], slow.said(scores[t]), rtol=1e-7, atol=1e-9)
        assert cuts[t] == pytest.approx(slow.cut())
        np.testing.assert_allclose(usual[t], slow.usual(), rtol=1e-7, atol=1e-9)
        if labels[t] == labels[t]:
            slow.learn(scores[t], int(labels[t]), weights[t], judged[t])
    np.testing.assert_array_equal(fast.counts, slow.counts)
    assert fast.cut == pytest.approx(slow.cut())
    np.testing.assert_allclose(
        fast.probabilities(scores), [slow.said(s) for s in scores], rtol=1e-7, atol=1e-9
    )


@pytest.mark.parametrize("c", [1, 3])
def test_far_from_the_label_two_say_the_mean(c):
    """By the log loss of each on the rows judged, each row's by 0.998 of the next one's."""
    rng = np.random.default_rng(c)
    n, w = 60, 2 * c
    labels = rng.integers(max(2, c), size=n).astype(float)
    rows = rng.normal(size=(n, 2 * w)) + 0.5 * labels[:, None]
    weights = rng.choice([0.5, 1.0, 3.0], size=n)
    near, twin = Calibration(c, 2), naive.Probabilities(c, 2)
    near.learn(rows[:, :w], labels, weights, np.ones(n, dtype=bool))
    for t in range(n):
        twin.learn(rows[t, :w], int(labels[t]), weights[t])
    ours, own, lost, shares = near.begun_far(), twin.far(), np.zeros(2), []
    for at in range(0, n, 20):
        share = np.exp(-lost / 4) / np.exp(-lost / 4).sum()
        shares.append(share[0])
        each = [[own.said(row[w:]), twin.said(row[:w])] for row in rows]
        expected = np.tensordot(each, share, axes=(1, 0))
        np.testing.assert_allclose(ours.probabilities(rows), expected, rtol=1e-6, atol=1e-9)
        part = slice(at, at + 20)
        found = ours.learn(rows[part, w:].copy(), labels[part], weights[part], np.ones(20, bool))
        ours.weigh(found[0], near.probabilities(rows[part]), labels[part], weights[part])
        for t in range(at, at + 20):
            label = int(labels[t])
            chances = own.said(rows[t, w:])[label], twin.said(rows[t, :w])[label]
            own.learn(rows[t, w:], label, weights[t])
            lost = 0.998 * lost - weights[t] * np.log(chances)
    assert np.ptp(shares) > 0.01  # the weights have moved


def test_files_with_one_far_calibration_go_on():
    """Both count alike at first, and the line begins anew."""
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(40, 4)), (np.arange(40) % 2).astype(float)
    every, judged = np.ones(40), np.ones(40, dtype=bool)
    near = Calibration(1, 2)
    near.learn(rows[:, :2], labels, every, judged)
    loaded = near.begun_far()
    own = np.ascontiguousarray(rows[:, 2:])
    loaded.learn(own, labels, every, judged)
    older = loaded.arrays()
    del older["ahead"]
    loaded.restore(older)
    older["vote"] = np.array([0.5 * older["slope"][0], 10.0, 0.0, 0.0])  # begun anew
    alone = near.copy()
    alone._pace = PACE_FAR
    alone.restore(older)
    mean = (alone.probabilities(own) + near.probabilities(rows)) / 2
    np.testing.assert_allclose(loaded.probabilities(rows), mean, rtol=1e-12)


def test_a_second_pass_makes_nobody_surer():
    """Rows that are held as support vectors say nothing of those to come."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 5)), rng.random(300) < 0.5
    model = learned(learner=kb.BPAS(400)).fit(X, y)
    counted = model._model.certain().arrays()["slope"].copy()
    for _ in range(3):
        model.partial_fit(X, y)
    np.testing.assert_array_equal(model._model.certain().arrays()["slope"], counted)


def test_extremes_stay_probabilities():
    great, nothing = np.array([[1e150], [-1e150], [1e-300], [0.0]]), np.zeros((4, 1))
    rows = (great, nothing, np.hstack([great, -great]), np.hstack([great, [[1], [1], [-1], [1]]]))
    for scores in rows:
        calibration = Calibration(1, scores.shape[1])
        many = np.tile(scores, (50, 1))
        labels = np.arange(200) % 2.0
        said, *_ = calibration.learn(many, labels, np.full(200, 1e99), np.ones(200, dtype=bool))
        assert ((said >= 0) & (said <= 1)).all()
        np.testing.assert_allclose(said.sum(axis=1), 1)
        calibration.check()


def test_files_without_votes_go_on(tmp_path):
    """As before the calibration had votes: their slope begins at 0."""
    model = in_chunks(learned(), y, 50, 100)
    known = model._model.certain().arrays()
    known["vote"][:] = [0.0, 1.0, 0.0, 0.0]
    kb.save(model, tmp_path / "model")
    rewrite(
        tmp_path / "model", lambda said, tensors, header: tensors.pop("calibration.vote") is None
    )
    loaded = kb.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    for one in (model, loaded):
        one.partial_fit(X[100:], y[100:])
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded._model.certain().arrays()["vote"][0] != 0


def test_every_number_has_a_cell():
    for p in (0.0, 0.01, 1.0, 2.0, -1.0, np.nan, np.inf, -np.inf, 1e300):
        cell, following, _ = cell_of(p)
        assert 0 <= cell <= following < CELLS


@pytest.mark.parametrize(
    ("classes", "choices"),
    [
        (3, {}),
        (2, {"selection": kb.Selection(update="drawn", vote="drawn")}),
        (2, {"learner": [kb.BPAS(20), kb.GradientDescent()], "labels": kb.Disagreement()}),
        (3, {"learner": kb.BPAS(20), "threshold": 1.0 - np.eye(3)}),
    ],
)
def test_of_one_row(classes, choices):
    """As of a chunk of one, bit for bit, while rows are learned one by one."""
    labels = y if classes == 2 else X[:, 0].round().clip(-1, 1).astype(int)
    model = learned(**choices)
    with pytest.raises(NotFittedError):
        model.predict_proba_one(X[0])
    in_chunks(model, labels, 100, 200)
    for i in range(200, 240):
        said = model.predict_proba_one(X[i])
        np.testing.assert_array_equal(said, model.predict_proba(X[i : i + 1])[0])
        model.learn_one(X[i], labels[i])
