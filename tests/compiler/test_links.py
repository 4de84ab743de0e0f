"""Links are kept for whoever asks again, but not all of them; and pickles hold no scratch."""

import pickle

import numpy as np
import pytest

import kernbrook as kb
from kernbrook.compiler import links
from kernbrook.compiler.compiling import Verb
from kernbrook.engine.rules import cast_rule
from kernbrook.engine.verbs import fit_in
from kernbrook.errors import InputError


def test_links_do_not_pile_up():
    first = links.links_to(fit_in, (cast_rule(kb.BPAS(5, 1e-3).rule()),))
    before = first.copy()
    for i in range(2 * links.MOST_LINKS):
        links.links_to(fit_in, (cast_rule(kb.BPAS(5, 1.0 + i).rule()),))
    assert len(links._links) <= links.MOST_LINKS
    np.testing.assert_array_equal(first, before)  # whoever has a link keeps what it points to


def test_a_link_that_is_asked_for_again_stays():
    """Else the error of a verb in use could not name it."""
    rule = cast_rule(kb.BPAS(5, 1e-3).rule())
    first = links.links_to(fit_in, (rule,))
    for i in range(2 * links.MOST_LINKS):
        links.links_to(fit_in, (cast_rule(kb.BPAS(5, 1.0 + i).rule()),))
        assert links.links_to(fit_in, (rule,)) is first


def test_a_family_of_more_verbs_than_a_link_has_room_for():
    def nothing(rule):
        return None

    verbs = [Verb(nothing) for _ in range(links.LINK)]
    with pytest.raises(InputError, match="room for 4 verbs, got 5"):
        links.family(*verbs)


def test_pickles_hold_no_scratch():
    X = np.random.default_rng(0).normal(size=(300, 5))
    y = (X[:, 0] > 0).astype(int)
    model = kb.OnlineMKClassifier("omkc16", kb.BPAS(20), random_state=0).fit(X, y)
    size = len(pickle.dumps(model))
    model.predict(X)
    assert len(pickle.dumps(model)) <= size
    for row, label in zip(X[:20], y[:20], strict=True):
        model.learn_one(row, label)
    model.predict(X)
    assert len(pickle.dumps(model)) <= 1.05 * size
    other = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
    for one in (model, other):
        one.learn_one(X[30], y[30])
    np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
