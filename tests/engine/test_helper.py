"""A second thread beside a single expert: it saves time, and changes nothing."""

from __future__ import annotations

import _thread

import numpy as np
import plain
import pytest
import scipy.sparse as sp
from inside import state_of
from numba import njit
from numpy.testing import assert_array_equal

import kernbrook as kb
from kernbrook.compiler.links import new_link
from kernbrook.engine.passes import COMPILED
from kernbrook.engine.stores import helper, slots
from kernbrook.engine.stores.meetings import link_meeting, meeting_of
from kernbrook.gram.rows import DenseRows, SparseRows
from kernbrook.kernels.planning import Layout
from kernbrook.numerics.acquire_release import heard, tell

KERNELS = {
    "gaussian": kb.Gaussian(gamma=2.0),
    "mean": kb.Mean([kb.Laplacian(gamma=0.3), kb.Polynomial(2, offset=1)]),
    "called": kb.ANOVA(2, gamma=0.5),
}
LEARNERS = {
    "bpas": kb.BPAS(300),
    "rbp": kb.RBP(150),
    "projectron": kb.Projectron(40),
    "without a budget": kb.Pegasos(budget=None),
    "merging": kb.Pegasos(budget=40, upkeep="merge"),
}
CASES = [*((name, "gaussian") for name in LEARNERS), ("bpas", "mean"), ("rbp", "called")]
FORMS = {"dense": (np.asarray, DenseRows.of), "sparse": (sp.csr_matrix, SparseRows.of)}


def drawn(n=1500, d=6, classes=2):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    return X, np.digitize(X[:, 0] + X[:, 1] ** 2, np.linspace(0, 1.5, classes - 1))


def learned(learner, kernel, X, y):
    model = plain.classifier([kernel], learner, kb.Hedge(loss="hinge"), random_state=0)
    found = [model.learn(X[lo : lo + 500], y[lo : lo + 500])[0] for lo in range(0, len(y), 500)]
    return np.concatenate(found), state_of(model)


@pytest.fixture
def helped(monkeypatch):
    """Every single expert has a helper from its first slot on; gives what all of them did."""
    monkeypatch.setattr(kb.gram.sums, "WORTH_A_THREAD", 1)
    monkeypatch.setattr(slots, "HELPED", 1)
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.setattr(helper.Paying, "choose", lambda self: True)
    told, end = [], helper.Helper.end

    def noted(self):
        end(self)
        told.append(int(self.what[0].told[helper.OPENED]))

    monkeypatch.setattr(helper.Helper, "end", noted)
    return told


@pytest.mark.thinned
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("learner", "kernel"), CASES)
def test_the_same_bits(learner, kernel, classes, form, request):
    X, y = drawn(classes=classes)
    X, given = FORMS[form][0](X), (LEARNERS[learner], KERNELS[kernel])
    expected = learned(*given, X, y)
    told = request.getfixturevalue("helped")
    found = learned(*given, X, y)
    assert_array_equal(found[0], expected[0])
    assert found[1] == expected[1]
    assert (len(told) > 0) == (learner != "merging")  # merged points change where they are
    assert all(opened == helper.END for opened in told)


@pytest.mark.parametrize("form", FORMS)
def test_what_is_ready_is_taken(form):
    """But for slots that hold other points by then, and of the window asked for alone."""
    X, _ = drawn(400)
    make, kernel, window = FORMS[form], kb.Gaussian(gamma=0.5), 16
    layout = Layout([kernel])
    points = make[1](make[0](X))
    rows = make[1](make[0](X[350:]))
    meeting = meeting_of(points, rows, layout, np.empty((0, 0, 50)), window, groups=2)
    link, kept = new_link(link_meeting, meeting)
    places, shared = (
        np.arange(0, 400, 2),
        helper.ahead_of(220, len(layout.channels), window, np.float64),
    )
    helper.hand_on(shared, 1, places)
    helper.work_ahead(shared, link, layout.parts, window, 50)  # until its patience ends
    now, out = places.copy(), np.full((window, 220), np.nan)
    now[[3, 150]] = 1, 3
    for number in (0, 2, 3):
        numbers = np.full(400, -1)
        helper.take_over(shared, number, now, numbers, out)
        assert (numbers == -1).all()
    helper.take_over(shared, 1, now, numbers, out)
    same = now == places
    assert_array_equal(np.flatnonzero(numbers == helper.OVER), np.sort(places[same]))
    expected = kernel(X[366:382], X[places[same]])
    np.testing.assert_allclose(out[:, :200][:, same], expected, rtol=1e-12)
    assert np.isnan(out[:, :200][:, ~same]).all()
    assert np.isnan(out[:, 200:]).all()
    helper.hand_on(shared, 4, places)  # rows 64 on: there are 50
    helper.work_ahead(shared, link, layout.parts, window, 50)
    del kept


def test_one_thread_hears_another():
    """What was written before is there as soon as the number is heard."""
    word, written = np.zeros(1, np.int64), np.zeros(1000)

    @njit(nogil=True)
    def say(word, written):
        for turn in range(1, 201):
            written[:] = turn
            tell(word, 0, turn)
            while heard(word, 0) == turn:
                pass

    @njit(nogil=True)
    def listen(word, written):
        for turn in range(1, 201):
            while heard(word, 0) != turn:
                pass
            if (written != turn).any():
                return turn
            tell(word, 0, 0)
        return 0

    say.compile("(int64[::1], float64[::1])")
    listen.compile("(int64[::1], float64[::1])")
    _thread.start_new_thread(say, (word, written))
    assert listen(word, written) == 0


def test_a_learner_that_fails_ends_its_helper(helped, monkeypatch):
    X, y = drawn()
    model = plain.classifier([KERNELS["gaussian"]], kb.BPAS(300), random_state=0)
    model.learn(X[:500], y[:500])
    before = state_of(model)
    del helped[:]

    def fails(*arguments):
        raise ArithmeticError("in the middle")

    with monkeypatch.context() as within:
        passes = COMPILED._replace(learner_pass=fails)
        within.setattr(type(model._model), "passes", property(lambda self: passes))
        with pytest.raises(ArithmeticError, match="in the middle"):
            model.learn(X[500:], y[500:])
    assert helped == [helper.END]
    assert state_of(model) == before
    model.learn(X[500:], y[500:])
    assert helped == [helper.END] * 2


def test_the_quicker_way_is_taken_and_the_other_tried_less_and_less():
    paying, ways = helper.Paying(), []

    def blocks(n, helped, alone):
        del ways[:]
        for _ in range(n):
            ways.append(paying.choose())
            paying.note(ways[-1], helped if ways[-1] else alone)
        return "".join("a" if way is False else "H" for way in ways)

    assert blocks(30, helped=1.0, alone=2.0) == "aHHHHaHHHHHHHHaHHHHHHHHHHHHHHH"
    assert blocks(300, helped=1.0, alone=2.0).count("a") == 6
    assert blocks(1, helped=9.0, alone=2.0) == "H"  # busy once: nothing changes
    assert blocks(20, helped=1.0, alone=2.0).count("a") == 0
    slower = blocks(30, helped=9.0, alone=2.0)
    assert slower == "HHaaaaHaaaaaaaaHaaaaaaaaaaaaaa"


def test_two_threads_where_two_are_allowed(monkeypatch):
    """Blocks are timed in both ways, once the slots hold enough; with one thread none is."""
    monkeypatch.setattr(kb.gram.sums, "WORTH_A_THREAD", 1)
    monkeypatch.setattr(slots, "HELPED", 200)
    noted, note = [], helper.Paying.note
    monkeypatch.setattr(
        helper.Paying, "note", lambda self, *told: (noted.append(told), note(self, *told))
    )
    X, y = drawn()
    for threads in "12":
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        model = plain.classifier([KERNELS["gaussian"]], kb.BPAS(50), random_state=0)
        for lo in range(0, 500, 50):
            model.learn(X[lo : lo + 50], y[lo : lo + 50])
        assert threads == "2" or not noted
    ways, times = zip(*noted, strict=True)
    assert len(ways) == 9  # nothing is held at first
    assert ways[:2] == (False, True)
    assert all(0 < seconds < 1 for seconds in times)
