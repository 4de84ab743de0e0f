"""Few rows that are far from the last label: row by row as in a block, to the last bit."""

import copy
from contextlib import nullcontext

import numpy as np
import pytest

import kernbrook as kb
from kernbrook.engine import session as sessions
from kernbrook.engine.session import SOME

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(900, 4))
SCORE = X @ [1.0, -2.0, 0.5, 0.0] + np.sin(3 * X[:, 0]) + 0.2 * GENERATOR.normal(size=900)
LABELS = {
    "two": (SCORE > 0).astype(int),
    "three": np.digitize(SCORE, [-1.0, 1.0]),
    "numbers": SCORE,
}


KERNELS = [kb.Gaussian(sigma=1.0), kb.Gaussian(sigma=3.0)]


@pytest.fixture(autouse=True)
def _whatever_was_compiled_before(monkeypatch):
    monkeypatch.setattr(sessions, "nothing_compiled", nullcontext)


def made(kind):
    ridge = kb.Ridge(features=kb.RandomFeatures(10))
    if kind == "numbers":
        pool = [ridge, kb.Cells(), kb.LastLabel()]
        return kb.OnlineMKRegressor(KERNELS, pool, random_state=0)
    pool = [kb.BPAS(20), ridge, kb.Cells(), kb.LastLabel()]
    return kb.OnlineMKClassifier(KERNELS, pool, random_state=0)


def said(model, rows):
    if isinstance(model, kb.OnlineMKRegressor):
        return [model.predict(rows), *model.predict_interval(rows, 0.8)]
    return [model.predict_proba(rows), model.decision_function(rows)]


@pytest.mark.parametrize("kind", list(LABELS))
@pytest.mark.parametrize("delay", [None, 1, 40, 300])
def test_a_few_rows_are_a_block(kind, delay):
    """The same model, asked by chunks of few rows again and again, and once by all rows."""
    model = made(kind).set_params(delay=delay)
    model.partial_fit(X[:800], LABELS[kind][:800])
    session = copy.deepcopy(model)
    model._model.few_met = -(10**9)  # it never takes rows one by one
    session._model.few_met = SOME
    for n in (1, 3, 8):
        for found, wanted in zip(
            said(session, X[800 : 800 + n]), said(model, X[800 : 800 + n]), strict=True
        ):
            np.testing.assert_array_equal(found, wanted)
    assert session._model.session is not None
    assert model._model.session is None
    one = session.predict_one(X[850])
    assert one == model.predict(X[850:851])[0] == session.predict(X[850:851])[0]
    if delay is not None and delay >= 40:
        kinds = session._decide(X[800:803]).kinds
        assert kinds is not None
        assert kinds.all()


@pytest.mark.parametrize(("bad", "says"), [(np.nan, "NaN"), (1e200, "expected")])
def test_a_row_that_is_refused(bad, says):
    model = made("two").set_params(delay=40)
    model.partial_fit(X[:600], LABELS["two"][:600])
    model._model.few_met = SOME
    model.predict(X[:2])
    assert model._model.session is not None
    rows = X[:3].copy()
    rows[1, 2] = bad
    for call in (lambda: model.predict(rows), lambda: model.predict_one(rows[1])):
        with pytest.raises(ValueError, match=says):
            call()
