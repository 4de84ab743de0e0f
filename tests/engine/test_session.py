"""One row at a time: the same as a chunk of one, bit for bit, whatever comes between."""

import copy
import itertools
import pickle
from contextlib import contextmanager, nullcontext
from threading import Event, Thread
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from covering import pairwise
from inside import assert_equal_arrays
from sklearn.linear_model import SGDClassifier

import kernbrook as kb
from kernbrook.compiler import links
from kernbrook.engine import rooms
from kernbrook.engine import session as sessions
from kernbrook.engine.session import RowSession
from kernbrook.engine.verbs import Change, fit_in
from kernbrook.errors import NonFiniteError
from kernbrook.learners.budgeted import Budgeted

ROWS = 120
rng = np.random.default_rng(0)
X = rng.normal(size=(ROWS, 4))
X[60:70] = X[:10]  # rows come again
SCORE = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=ROWS)
TWO, MANY = (SCORE > 0).astype(int), np.digitize(SCORE, [-0.5, 0.5])
LABELS = {"two": TWO, "many": MANY, "numbers": SCORE}
KERNELS = [
    kb.Gaussian(sigma=1.0),
    kb.Gaussian(sigma=4.0),
    kb.Polynomial(2, 1.0),
    kb.Cauchy(sigma=2),
]
ASKS = {"labels": kb.LabelBudget(0.5)}
LEARNERS = [
    kb.BPAS(8),
    kb.RBP(8),
    kb.Forgetron(8),
    kb.Projectron(8),
    kb.Ahpatron(8),
    kb.SparsePA(budget=8),
    kb.Pegasos(8, upkeep="project"),
    kb.GradientDescent(0.5, "normalized"),
    kb.Ridge(forgetting=0.99),
    [kb.BPAS(8), kb.RBP(5), kb.Ridge()],
]
OF_NUMBERS = [*LEARNERS[7:9], None]
SUMS = [kb.Mean([kb.Gaussian(sigma=1.0), kb.Cauchy(sigma=2.0)]), kb.Gaussian(sigma=3.0)]
WAYS = [
    {"scaling": None, "judge_stored": True},
    {"labels": kb.Disagreement(0.3)},
    {"selection": kb.Selection(update="drawn")},
    {"selection": kb.BestOfPrefix(40)},
]


@pytest.fixture(autouse=True)
def _chunks_are_blocks(monkeypatch):
    """Few rows, too, but where a test says otherwise: else rows would be compared with rows."""
    monkeypatch.setattr(sessions, "FEW", 0)
    monkeypatch.setattr(sessions, "MOST_FEW", 0)
    monkeypatch.setattr(sessions, "MOST_TOGETHER", 0)


def decision(model, x):
    """What decides on a row that is taken by itself."""
    return RowSession.of(model._model).decide(x)[0][0]


def assert_same(one, other):
    for a, b in zip(one._model.progress, other._model.progress, strict=True):
        np.testing.assert_array_equal(a, b)
    assert_equal_arrays(one._model.certain().arrays(), other._model.certain().arrays())
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    assert one.n_support_stored_ == other.n_support_stored_


def held(model):
    """All that was learned, with what scales."""
    return {**model._model.arrays(), **model._model.scaler.arrays()}


def both(learner, y, **choices):
    """Two models of the same choices that have learned ten rows."""
    kind = kb.OnlineMKRegressor if y is SCORE else kb.OnlineMKClassifier
    named = {} if y is SCORE else {"classes": np.unique(y)}
    choices = {"kernels": KERNELS, "random_state": 1, **choices}
    models = [kind(learner=learner, **choices) for _ in "ab"]
    return [model.partial_fit(X[:10], y[:10], **named) for model in models]


@pytest.mark.thinned
@pytest.mark.parametrize(
    ("learner", "y", "choices"),
    [
        *((*case, {}) for case in pairwise(LEARNERS, ["two", "many"])),
        *((learner, "numbers", {}) for learner in OF_NUMBERS),
        *(([kb.BPAS(8), kb.RBP(5), kb.Ridge()], "two", way) for way in WAYS),
        (kb.BPAS(8), "two", {"kernels": SUMS}),
        *((None, y, {"kernels": "auto"}) for y in LABELS),  # 48 experts or more, in two views
    ],
    ids=str,
)
def test_a_row_is_a_chunk_of_one(learner, y, choices):
    """What is said of it, what is learned of it, and what a file would hold then."""
    y = LABELS[y]
    quick, slow = both(learner, y, **choices)
    for i in range(10, ROWS):
        row, label = X[i], y[i].item()
        np.testing.assert_array_equal(decision(quick, row), slow._decide(X[i : i + 1]).decisions[0])
        assert quick.predict_one(row) == slow.predict(X[i : i + 1])[0]
        told = quick.learn_one(row, label)
        if "labels" in choices:  # a label that is given is learned from, asked for or not
            slow.partial_fit(X[i : i + 1], y[i : i + 1])
        else:
            assert told == slow.learn(X[i : i + 1], y[i : i + 1])[0][0]
    assert quick._model.session is not None
    assert_same(quick, slow)
    assert_equal_arrays(held(quick), held(slow))


VIEWS = [
    kb.BPAS(8),
    kb.Group([kb.RBP(5), kb.Ridge(forgetting=0.99)], KERNELS[:2], "ranks"),
    kb.Group(kb.Ridge(), KERNELS[:1], "maximum"),
    kb.LastLabel(),
]


@pytest.mark.parametrize("learner", [kb.BPAS(8), VIEWS], ids=["one", "views"])
def test_chunks_rows_and_copies_take_turns(learner):
    """What others hold of a model never changes under them."""
    quick, slow = both(learner, TWO)
    held = []
    for i in range(10, 60, 10):
        for k in range(i, i + 5):
            quick.learn_one(X[k], TWO[k])
        held.append((copy.deepcopy(quick), pickle.dumps(quick), quick.predict(X)))
        quick.partial_fit(X[i + 5 : i + 10], TWO[i + 5 : i + 10])
    slow.partial_fit(X[10:60], TWO[10:60])
    assert_same(quick, slow)
    for whole, pickled, said in held:
        np.testing.assert_array_equal(whole.predict(X), said)
        np.testing.assert_array_equal(pickle.loads(pickled).predict(X), said)


def test_the_first_row():
    model = kb.OnlineMKClassifier(KERNELS, kb.BPAS(8))
    with pytest.raises(kb.errors.InputError, match="classes="):
        model.learn_one(X[0], TWO[0])
    assert model.learn_one(X[0], TWO[0], classes=[0, 1]) in (0, 1)
    assert model.n_rounds_ == 1


@pytest.mark.parametrize(
    ("x", "y", "error", "scaling"),
    [
        (X[0, :3], 1, "3 features", "moments"),
        ([0.0, np.nan, 0.0, 0.0], 1, "finite", None),
        ([0.0, np.inf, 0.0, 0.0], 1, "finite", "moments"),
        (X[0], "seven", "label 'seven'", None),
    ],
)
def test_a_bad_row_changes_nothing(x, y, error, scaling):
    model, other = both(kb.BPAS(8), TWO, scaling=scaling)
    model.learn_one(X[10], TWO[10])
    other.learn_one(X[10], TWO[10])
    with pytest.raises(kb.errors.KernbrookError, match=error):
        model.learn_one(x, y)
    if "label" not in error:
        with pytest.raises(kb.errors.KernbrookError, match=error):
            model.predict_one(x)
    model.learn_one(X[11], TWO[11])
    other.learn_one(X[11], TWO[11])
    assert_same(model, other)


@pytest.mark.parametrize(
    ("journal", "choices"), [(1, {}), (2, ASKS), (7, {}), (256, ASKS)], ids=str
)
def test_an_overflow_changes_nothing(journal, choices, monkeypatch):
    """Whenever it comes: the rows since the last copy are learned again, by compiled code alone."""
    monkeypatch.setattr(sessions, "JOURNAL", journal)
    monkeypatch.setattr(RowSession, "_undo", lambda self: None)
    kernels = [kb.Polynomial(9), kb.Gaussian(sigma=1.0)]
    pool = [kb.BPAS(5, aggressiveness=1e9), kb.RBP(7), *VIEWS[1:]]
    models = [
        kb.OnlineMKClassifier(kernels, pool, scaling=None, random_state=0, **choices) for _ in "ab"
    ]
    for model in models:
        model.partial_fit(X[:10], TWO[:10], classes=[0, 1])
    for i in range(10, 60):
        if i % 5 < 2:
            with pytest.raises(NonFiniteError, match="overflowed"):
                models[0].learn_one(1e80 * X[i], TWO[i], sample_weight=2.0)
            with pytest.raises(NonFiniteError, match="overflowed"):
                models[0].predict_one(1e80 * X[i])
        weight = float(i % 4)
        for model in models:
            model.learn_one(X[i], TWO[i] if i % 7 else None, sample_weight=weight)
        assert_equal_arrays(*map(held, models))
    assert_same(*models)


def test_coefficients_that_overflow_change_nothing():
    """Where scores are finite, but not what is learned from them."""
    learner = kb.GradientDescent(1e80, "constant", loss="squared")
    models = [
        kb.OnlineMKRegressor(KERNELS[2:3], learner, random_state=1, scaling=None) for _ in "ab"
    ]
    for model in models:
        model.partial_fit(X[:10], np.zeros(10))
        model.learn_one(X[10], 0.0)
    with pytest.raises(NonFiniteError, match="diverged"):
        models[0].learn_one(1e70 * X[11], 1e99)
    for model in models:
        model.learn_one(X[12], 0.0)
    assert_same(*models)


class Failing(Budgeted):
    """A compiled learner that raises an error on some rows, once it has changed what it holds."""

    budget = 6

    def rule(self):
        return FailingRule()


class FailingRule(NamedTuple):
    pass


@fit_in.of(FailingRule)
def _fit_in_or_fail(rule, slots, seen, rows):
    slots.memory[0] += 1.0
    if seen.weight > 2.0:
        raise ValueError("seven")
    return Change(slots.filled[0] % slots.alpha.shape[1], 0.0, seen.weight)


def test_a_verb_that_raises_changes_nothing():
    pool = [kb.BPAS(6), Failing()]
    models = [kb.OnlineMKClassifier(KERNELS, pool, random_state=1) for _ in "ab"]
    for model in models:
        model.partial_fit(X[:10], TWO[:10], classes=[0, 1])
    for i in range(10, 30):
        with pytest.raises(RuntimeError, match="fit_in for FailingRule raised ValueError: seven"):
            models[0].learn_one(X[i + 1], TWO[i], sample_weight=7.0)
        for model in models:
            model.learn_one(X[i], TWO[i])
    assert models[0]._model.session is not None
    assert_same(*models)
    assert_equal_arrays(*map(held, models))


def test_ranks_of_the_last_rows_alone():
    """When the window of ranks is full."""
    many = np.random.default_rng(1).normal(size=(1100, 4))
    y = (many[:, 0] > 0).astype(int)
    quick, slow = both(VIEWS, TWO)
    for model in (quick, slow):
        model.partial_fit(many[:960], y[:960])
    for i in range(960, 1100):
        quick.learn_one(many[i], y[i])
    slow.partial_fit(many[960:], y[960:])
    assert_same(quick, slow)
    assert_equal_arrays(held(quick), held(slow))


def test_others_read_while_rows_are_learned():
    """Predictions of chunks and all else that can be asked, from another thread."""
    quick, slow = both(VIEWS, TWO)
    over, said = Event(), []

    def read():
        while True:
            points, coefficients = quick._model.expansion()
            said.append((quick.predict(X[:20]), len(points) == len(coefficients)))
            if over.is_set():
                return

    thread = Thread(target=read)
    quick.learn_one(X[10], TWO[10])
    thread.start()
    for _ in range(10):
        for i in range(11, ROWS):
            quick.learn_one(X[i], TWO[i])
    over.set()
    thread.join()
    slow.partial_fit(X[10:11], TWO[10:11])
    for _ in range(10):
        slow.partial_fit(X[11:], TWO[11:])
    assert_same(quick, slow)
    assert said  # else the thread has failed
    assert all(fits for _, fits in said)


# -- chunks of few rows --------------------------------------------------------------------------


@contextmanager
def few(rows, together=False):
    """Chunks of so many rows are taken row by row, from the first on; or together."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sessions, "FEW", rows)
        patch.setattr(sessions, "MOST_FEW", rows)
        patch.setattr(sessions, "MOST_TOGETHER", rows)
        patch.setattr(sessions, "ALONE", 0 if together else rows)
        patch.setattr(sessions, "SOME", 1)
        patch.setattr(sessions, "nothing_compiled", nullcontext)
        yield


def assert_equal(one, other):
    """In all that was learned, and whether."""
    assert_equal_arrays(one.state(), other.state())
    assert (one.labels_asked_, one.n_rounds_) == (other.labels_asked_, other.n_rounds_)


CHOICES = [{}, *WAYS]


@pytest.mark.thinned
@pytest.mark.parametrize(
    ("learner", "y", "choices", "together"),
    [
        *pairwise([*LEARNERS, None], ["two", "many"], [*CHOICES, {"threshold": "f1"}], [0, 1]),
        *pairwise(OF_NUMBERS, ["numbers"], CHOICES, [0, 1]),
    ],
    ids=str,
)
def test_few_rows_are_a_block(learner, y, choices, together):
    """Chunks of every length, with and without labels; rows and larger chunks between."""
    numbers, y = y == "numbers", LABELS[y]
    if "threshold" in choices and y is MANY:
        choices = {"class_weight": {0: 2.0, 1: 0.5, 2: 1.0}}
    models = both(learner, y, **choices)
    lengths, start = np.random.default_rng(0).integers(1, 9, size=40), 10
    for turn, n in enumerate(lengths):
        rows = slice(start, min(start + n, ROWS))
        start = rows.stop
        if rows.start == ROWS:
            break
        labels = y[rows] if turn % 5 else np.array([None] * (rows.stop - rows.start))
        weights = np.arange(start, start + len(labels)) % 3 + 0.5
        said = []
        for model, most in zip(models, (8, 0), strict=True):
            with few(most, together):
                own = [model.learn(X[rows], labels, sample_weight=weights)]
                own.append(model.predict(X[rows]))
                if turn % 5:
                    model.partial_fit(X[rows], labels)
                own.append(model.predict_interval(X[:5]) if numbers else model.predict_proba(X[:5]))
                if turn % 4 == 3:
                    own.append(model.learn_one(X[turn], y[turn].item()))
                if turn % 7 == 6:
                    model.partial_fit(X[:20], y[:20])
                said.append(np.concatenate([np.ravel(part) for part in (*own[0], *own[1:])]))
        np.testing.assert_array_equal(*said)
        assert_equal(*models)
    assert any(models[0]._model.session.lengths.values()) == together
    assert models[1]._model.session is None or turn > 3


@pytest.mark.parametrize(
    ("at", "journal", "together"), [(0, 7, True), (6, 8, False), (1, 15, True), (6, 256, True)]
)
def test_few_rows_are_learned_all_or_none(journal, at, together, monkeypatch):
    """One of them overflows; whose number is in the error; the rest goes on as without them."""
    monkeypatch.setattr(sessions, "JOURNAL", journal)
    kernels = [kb.Polynomial(9), kb.Gaussian(sigma=1.0)]
    pool = [kb.BPAS(5, aggressiveness=1e9), kb.RBP(7), *VIEWS[1:]]
    models = [kb.OnlineMKClassifier(kernels, pool, scaling=None, random_state=0) for _ in "ab"]
    for model in models:
        model.partial_fit(X[:10], TWO[:10], classes=[0, 1])
    with few(8, together):
        for start in range(10, ROWS - 8, 7):
            rows = slice(start, start + 7)
            wrong = X[rows].copy()
            wrong[at] *= 1e80
            with pytest.raises(NonFiniteError, match=f"row {at} of the chunk.*overflow"):
                models[0].learn(wrong, TWO[rows])
            wrong[at] = np.nan
            with pytest.raises(NonFiniteError, match=f"row {at} of the chunk has NaN"):
                models[0].learn(wrong, TWO[rows])
            with pytest.raises(ValueError, match="NaN"):
                models[0].predict(wrong)
            for model in models:
                model.partial_fit(X[rows], TWO[rows])
            assert_equal(*models)
    assert any(models[0]._model.session.lengths.values()) == together


@pytest.mark.parametrize("delay", [None, 1, 40, 300])
@pytest.mark.parametrize("kind", LABELS)
def test_few_rows_far_from_the_last_label(kind, delay):
    """Row by row as in a block, to the last bit; and one that is bad is refused there."""
    pool = [kb.BPAS(20), kb.Ridge(features=kb.RandomFeatures(10)), kb.Cells(), kb.LastLabel()]
    y = LABELS[kind]
    slow, _ = both(pool[kind == "numbers" :], y, kernels=KERNELS[:2], delay=delay)
    slow.partial_fit(np.tile(X, (7, 1)), np.tile(y, 7))
    quick, many = copy.deepcopy(slow), X[:20] + 0.1

    def said(model, rows):
        if kind == "numbers":
            return [model.predict(rows), *model.predict_interval(rows, 0.8)]
        return [model.predict_proba(rows), model.decision_function(rows)]

    expected, one = [said(slow, many[:n]) for n in (1, 3, 8)], slow.predict(many[9:10])[0]
    with few(8):
        for n, block in zip((1, 3, 8), expected, strict=True):
            np.testing.assert_equal(said(quick, many[:n]), block)
        assert quick.predict_one(many[9]) == quick.predict(many[9:10])[0] == one
        for bad, error in ((np.nan, "NaN"), (1e200, "expected")):
            many[11, 2] = bad
            with pytest.raises(ValueError, match=error):
                quick.predict(many[10:13])
            with pytest.raises(ValueError, match=error):
                quick.predict_one(many[11])
        assert delay in (None, 1) or quick._decide(many[:3]).kinds.all()
    assert quick._model.session is not None
    assert slow._model.session is None


LEAP = "row 2 of the chunk: feature 1 is 1e[+]12, more than a million deviations"


@pytest.mark.parametrize("most", [0, 8])
def test_a_row_that_makes_a_deviation_leap_is_named(most):
    """The same row in blocks and in few rows, wherever they end; the next ones say nothing."""
    models = [both(kb.BPAS(8), TWO, scaling="moments")[0] for _ in "abc"]
    wrong = X[10:18].copy()
    wrong[3, 1] = 1e12
    for model, ends in zip(models, ([0, 1, 8], [0, 1, 4, 8], [0, 8]), strict=True):
        with few(most):
            for lo, hi in itertools.pairwise(ends):
                place = LEAP.replace("row 2", f"row {3 - lo}")
                said = pytest.warns(kb.errors.KernbrookWarning, match=place)
                with said if lo <= 3 < hi else nullcontext():
                    model.learn(wrong[lo:hi], TWO[lo:hi])
        assert (model._model.session is not None) == (most > 0)
    model, _ = both(kb.BPAS(8), TWO, scaling="moments")
    model.learn_one(X[10], TWO[10])
    with pytest.warns(kb.errors.KernbrookWarning, match=LEAP.replace("row 2", "row 0")):
        model.learn_one([0.0, 1e12, 0.0, 0.0], TWO[11])
    model.learn_one(X[12], TWO[12])


def test_rows_one_by_one_are_begun_where_short_chunks_come_again(monkeypatch):
    model, _ = both(kb.BPAS(8), TWO)
    monkeypatch.setattr(sessions, "FEW", 16)
    monkeypatch.setattr(sessions, "SOME", 8)
    monkeypatch.setattr(sessions, "nothing_compiled", nullcontext)
    before = set(vars(model))
    for i in range(20, 40):
        assert (model._model.session is not None) == (i >= 20 + sessions.SOME)
        model.predict(X[i : i + 1])
    assert set(vars(model)) == before  # of the estimator nothing changes
    assert model.predict(X[:0]).tolist() == []
    other = pickle.loads(pickle.dumps(model))
    assert other._model.session is None
    with pytest.raises(ValueError, match="3 features"):
        model.predict(X[:2, :3])


def test_short_chunks_compile_nothing(monkeypatch):
    """They are blocks where there is no code for rows; `learn_one` compiles it."""
    monkeypatch.setattr(sessions, "FEW", 16)
    monkeypatch.setattr(sessions, "SOME", 4)
    filling = links._filling.__wrapped__
    monkeypatch.setattr(links, "_filling", lambda verb, _: filling(verb, False))  # kept nowhere
    monkeypatch.setattr(links, "_forms", {})
    model, other = both(kb.BPAS(5), TWO)
    for i in range(10, 30):
        model.learn(X[i : i + 1], TWO[i : i + 1])
        model.predict(X[i : i + 1])
    assert model._model.session is None
    assert not any(verb is rooms.scale_view for verb, *_ in links._forms)
    other.learn_one(X[10], TWO[10])
    for i in range(30, 40):
        model.learn(X[i : i + 1], TWO[i : i + 1])
    assert model._model.session is not None
    other.partial_fit(X[11:40], TWO[11:40])
    assert_same(model, other)


WHY = {
    None: ([kb.Gaussian(sigma=1)], kb.BPAS(5)),
    "kernels that are called": ([kb.Gaussian(sigma=1), lambda A, B: A @ B.T], kb.BPAS(5)),
    "merged support vectors": ([kb.Gaussian(sigma=1)], kb.Pegasos(5, upkeep="merge")),
    "support vectors without a bound": ([kb.Gaussian(sigma=1)], kb.Perceptron()),
    "experts from outside": ("auto", kb.External(SGDClassifier())),
    "rows in CSR": ([kb.Gaussian(sigma=1)], kb.BPAS(5)),
    "feature maps that are not compiled": (
        [kb.Polynomial(2)], kb.Ridge(features=kb.Nystroem(landmarks=X[:6]))
    ),
}  # fmt: skip


def test_maps_that_are_not_compiled_take_a_row_as_a_chunk_of_one():
    kernels, learner = WHY["feature maps that are not compiled"]
    pool = [learner, kb.LastLabel()]
    one, other = (kb.OnlineMKClassifier(kernels, pool, random_state=0) for _ in "ab")
    for i in range(40):
        one.learn_one(X[i], TWO[i], **({} if i else {"classes": [0, 1]}))
        other.learn(X[i : i + 1], TWO[i : i + 1], classes=[0, 1])
        assert one.predict_one(X[i]) == other.predict(X[i : i + 1])[0]
    assert one._model.session is None
    assert_same(one, other)


@pytest.mark.sampled
@pytest.mark.parametrize("why", WHY)
def test_what_is_not_quick_says_why(why):
    kernels, learner = WHY[why]
    rows = sp.csr_matrix(X[:30]) if why == "rows in CSR" else X[:30]
    model = kb.OnlineMKClassifier(kernels, learner, scaling=None).fit(rows, TWO[:30])
    assert model.why_not_quick_ == why
    assert kb.OnlineMKClassifier(combiner=kb.GroupNorm()).fit(X, TWO).why_not_quick_ == (
        "support vectors that kernels share"
    )
