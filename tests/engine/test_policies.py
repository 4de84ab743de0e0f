"""Label policies with every learner: whose label is asked for, and what follows from it."""

import math
from functools import partial

import kernel_sums
import numpy as np
import plain
import pytest
from covering import pairwise
from driving import learn, named, seed_of
from every_combiner import SELECTIONS
from every_learner import POOL, SEED, SHIFTING, WAVES, kernels_of, with_twins
from every_policy import POLICIES as EVERY
from every_policy import fresh
from hard_streams import clouds_of
from inside import assert_equal_arrays, in_use
from naive import combiners as naive_combiners
from naive import policies, regression, rounds
from safetensors import safe_open
from twins import ALL, assert_equals_its_twin

import kernbrook as kb
from kernbrook.engine.scalers import OnlineScaler
from kernbrook.errors import InputError

LEARNERS, OF_NUMBERS = with_twins(False), with_twins(True)
DRAWN = {name: pair for name, pair in SELECTIONS.items() if pair[1] is not None}
POLICIES = {name: pair for name, pair in EVERY.items() if name != "all"}
# What a learner does with an example knows nothing of the policy: one of each store meets them.
ONE_A_STORE = ("perceptron", "bpas", "gradients, window", "ridge")


def make(learner, policy, combiner=None, selection=None, numbers=False, seed=SEED):
    kind = plain.regressor if numbers else plain.classifier
    pool = POOL if learner is None else kernels_of(learner)[0]
    return kind(pool, learner, combiner, selection, policy, random_state=seed)


def hedge(discount, *given, **more):
    return kb.Hedge(discount, *given, **more), lambda m: naive_combiners.Hedge(m, discount)


@pytest.mark.thinned
@pytest.mark.parametrize(
    ("name", "policy", "loss", "C"), pairwise(ONE_A_STORE, POLICIES, ["hinge", "mistakes"], [2, 4])
)
def test_classes_against_the_twin(name, policy, loss, C):
    own = POLICIES[policy]
    _, expected = assert_equals_its_twin(
        *LEARNERS[name], *clouds_of(C, 80), C, *hedge(0.9, loss, cap=20.0), policy=own
    )
    assert expected.asked.sum() > 2 or policy == "budget, strict"
    assert expected.asked.sum() < 75 or policy.startswith("disagreement")


@pytest.mark.thinned
@pytest.mark.parametrize(
    ("name", "C", "scaling", "policy"),
    pairwise([*ONE_A_STORE, "pegasos", "projectron"], [2, 4], [None, "moments"], ["all", "random"]),
)
def test_rows_that_are_stored_are_not_judged(name, C, scaling, policy):
    """Rows that come again, three times in all, and in part with another label."""
    raw, y = clouds_of(C, 30)
    raw, y = np.tile(raw, (3, 1)), np.tile(y, 3)
    y[50:60] = (y[50:60] + 1) % C
    X = raw if scaling is None else OnlineScaler(scaling, raw.shape[1]).learn(raw)
    learner, of_twin = LEARNERS[name]
    own, of_policy = EVERY[policy]

    def expected_of(rows):
        experts = [of_twin(i, k, X, C) for i, k in enumerate(kernels_of(learner)[1])]
        combiner = naive_combiners.FixedShare(len(experts), 0.8, 0.01)
        return rounds.run(
            y, experts, combiner, "mistakes", policy=fresh(of_policy), seed=seed_of(SEED), rows=rows
        )

    expected = expected_of(raw)
    for size in (7, len(y)):
        model = make(learner, own, kb.FixedShare(0.8, 0.01))
        model.set_params(judge_stored=False, scaling=scaling)
        said, asked = learn(model, raw, y, C, size)
        np.testing.assert_array_equal(said, expected.predictions)
        np.testing.assert_array_equal(asked, expected.asked)
        np.testing.assert_allclose(model.expert_weights_, expected.weights, atol=1e-8)
    if name not in ("ridge", "projectron"):
        assert not np.allclose(expected.weights, expected_of(None).weights)


@pytest.mark.parametrize(
    ("name", "compared", "weights", "selection"),
    pairwise(OF_NUMBERS, ["used", "all"], ["used", "all"], ["all", "adaptive"]),
)
def test_disagreement_about_numbers(name, compared, weights, selection):
    """The printed criterion has all experts in both places, the default those in use."""
    given = 0.05, 4, weights, compared
    _, expected = assert_equals_its_twin(
        *OF_NUMBERS[name], *clouds_of(None, 110), None, kb.EXP(2.0),
        lambda m: regression.EXP(m, 2.0), DRAWN.get(selection, ALL),
        (kb.Disagreement(*given), policies.disagreement(*given)),
    )  # fmt: skip
    assert 22 < expected.asked.sum() < 105


@pytest.mark.parametrize(
    ("name", "C", "policy", "selection"),
    pairwise(ONE_A_STORE, [2, 4], ["disagreement", "margin"], DRAWN),
)
def test_drawn_experts(name, C, policy, selection):
    """The policy looks at the experts of this round's vote."""
    assert_equals_its_twin(
        *LEARNERS[name], *clouds_of(C, 90), C, *hedge(0.7), DRAWN[selection], POLICIES[policy]
    )


# -- what a policy looks at --------------------------------------------------------------------


def test_experts_that_agree_exactly():
    """Signs that agree have no spread at all: a threshold of 0 asks only where they differ."""
    X, y = clouds_of(2, 100)
    model = make(kb.Perceptron(), kb.Disagreement(0.0, window=10**6), kb.Hedge(0.7))
    model.partial_fit(X[:20], y[:20], classes=[0, 1])
    signs = np.array([
        np.sign(np.where(s == 0, 1, s)) for s in kernel_sums.of_model(model, X[20:])[0]
    ])  # fmt: skip
    differ = np.ptp(signs, axis=0) > 0
    assert 3 < differ.sum() < 77
    np.testing.assert_array_equal(model.should_ask(X[20:]), differ)


@pytest.mark.parametrize(("rate", "C"), [(0.05, 2), (0.5, None), (1.0, 4)])
def test_a_budget_of_labels_is_kept(rate, C):
    """In every prefix of the stream; the window is kept as far as the budget lets it."""
    X, y = clouds_of(C, 300)
    model = make(kb.Ridge(features=WAVES), kb.LabelBudget(rate), numbers=C is None)
    _, asked = learn(model, X, y, C)
    count = np.cumsum(asked)
    assert (count <= np.maximum(rate * np.arange(1, 301), 1) + 1e-9).all()
    assert count[-1] >= min(0.9 * rate, 1 / 4) * 300


def never(row):
    """An oracle that has no label."""


class Counting:
    """An oracle that knows the labels of rows, and counts how often it was asked."""

    def __init__(self, X, y):
        self.labels = {np.asarray(x).tobytes(): label for x, label in zip(X, y, strict=True)}
        self.rows = []

    def __call__(self, row):
        self.rows.append(np.asarray(row).tobytes())
        return self.labels[self.rows[-1]]


@pytest.mark.parametrize("C", [None, 2, 4])
def test_before_the_first_label(C):
    """Nothing is divided by zero: 0 or the first class, the label asked for again and again."""
    X, _ = clouds_of(C, 8)
    models = [
        make(kb.Ridge(features=WAVES), policy, numbers=C is None)
        for policy in ("all", kb.Disagreement(), kb.RandomLabels(0.0))
    ]
    if C:
        models += [make(learner, kb.MarginSampling()) for learner, _ in LEARNERS.values()]
        models.append(make(None, kb.Disagreement(), kb.GroupNorm()))
    for model in models:
        calls = []
        predictions, asked = model.learn(X, calls.append, **named(C))
        assert len(calls) == 8
        assert not asked.any()
        assert (predictions == (1 if C == 2 else 0)).all()
        assert model.should_ask(X).all()
        assert (model.labels_asked_, model.n_rounds_) == (0, 8)
        assert np.isfinite(model.expert_weights_).all()


# -- with every machine ------------------------------------------------------------------------

FEW, HALF = kb.Disagreement(0.5, 3), kb.LabelBudget(0.4, window=5)
POOL_OF_TWO = [kb.Ridge(features=WAVES), kb.GradientDescent(0.1, features=WAVES)]


def selected(policy, selection):
    """Perceptrons, of which a selection chooses."""
    return partial(make, kb.Perceptron(), policy, kb.FixedShare(0.7, loss="hinge"), selection)


def of_numbers(policy, selection):
    return partial(make, kb.Ridge(features=WAVES), policy, None, selection, True)


DRAWING = kb.Selection("drawn", "drawn", smoothing=0.3)
MACHINES = {  # name -> (C, maker): a learner of each store, and every selection
    **{name: (2, partial(make, LEARNERS[name][0], kb.MarginSampling(0.3))) for name in ONE_A_STORE},
    **{f"{name}, 4": (4, partial(make, LEARNERS[name][0], HALF)) for name in ONE_A_STORE},
    "group norm": (2, partial(make, None, kb.Disagreement(30.0, 3), kb.GroupNorm())),
    "group norm, 4": (4, partial(make, None, kb.LabelBudget(0.3), kb.GroupNorm())),
    "vote drawn": (2, selected(FEW, kb.Selection(vote="drawn", smoothing=0.3))),
    "both drawn": (4, selected(kb.Disagreement(0.5, 3, "all", "all"), DRAWING)),
    "adaptive": (2, selected(FEW, kb.AdaptiveSelection(0.7))),
    "prefix": (2, selected(kb.MarginSampling(0.3), kb.BestOfPrefix(rounds=15))),
    "numbers": (None, of_numbers(kb.Disagreement(0.01, 3), None)),
    "numbers, both drawn": (None, of_numbers(kb.RandomLabels(0.4), DRAWING)),
    "numbers, adaptive": (None, of_numbers(HALF, kb.AdaptiveSelection(0.7))),
    "pool": (2, partial(plain.classifier, SHIFTING, POOL_OF_TWO, labels=FEW, random_state=SEED)),
}


def every_machine(turn):
    """Half of them, by turns."""
    return pytest.mark.parametrize("name", [*MACHINES][turn::2])


def held(model, tmp_path):
    """Everything that a model has learned, as a file has it; of slots, those in use."""
    kb.save(model, tmp_path / "model")
    with safe_open(tmp_path / "model", framework="np") as file:
        return in_use({name: file.get_tensor(name) for name in file.keys()})  # noqa: SIM118


@every_machine(1)
def test_an_oracle_is_as_good_as_labels(name, tmp_path):
    """And is called for the labels that are asked for, no others."""
    C, fresh = MACHINES[name]
    X, y = clouds_of(C, 90)
    usual, told = fresh(), fresh()
    said, asked = learn(usual, X, y, C)
    oracle = Counting(X, y)
    predictions, others = told.learn(X, oracle, **named(C))
    np.testing.assert_array_equal(others, asked)
    np.testing.assert_array_equal(predictions, said)
    assert oracle.rows == [x.tobytes() for x in X[asked]]
    assert_equal_arrays(held(told, tmp_path), held(usual, tmp_path))


@every_machine(0)
def test_should_ask_is_what_the_round_does(name, tmp_path):
    """And changes nothing."""
    C, fresh = MACHINES[name]
    X, y = clouds_of(C, 45)
    model, usual = fresh(), fresh()
    _, asked = learn(usual, X, y, C)
    model.learn(X[:1], y[:1], **named(C))
    for t in range(1, 45):
        state = held(model, tmp_path) if t in (20, 40) else None
        wanted = model.should_ask(X[t : t + 3])
        assert wanted.dtype == bool
        assert len(wanted) == min(3, 45 - t)
        if state:
            assert_equal_arrays(held(model, tmp_path), state)
        assert model.learn(X[t : t + 1], y[t : t + 1])[1][0] == wanted[0]
        assert wanted[0] == asked[t]


@every_machine(1)
def test_an_oracle_that_has_no_label(name, tmp_path):
    """Nothing is learned; the rounds are counted, and with them those without a label."""
    C, fresh = MACHINES[name]
    X, y = clouds_of(C, 60)
    model, silent = fresh(), fresh()
    for one in (model, silent):
        one.learn(X[:30], y[:30], **named(C))
    before, asked = held(silent, tmp_path), silent.labels_asked_
    _, others = silent.learn(X[30:], never)
    assert not others.any()
    assert silent.labels_asked_ == asked
    assert silent.n_rounds_ == 60
    after = held(silent, tmp_path)
    for state in (before, after):
        del state["progress.asking"]  # what a policy knows of all rounds
        state["progress.counters"][[1, 4]] = 0
        if "drawn" in name or "prefix" in name:
            del state["progress.used"]
    assert_equal_arrays(after, before)


# -- which go together -------------------------------------------------------------------------

WRONG = [
    (kb.Disagreement, "labels: expected .* got <class"),
    ("most", "labels: expected 'all' or a policy such as .*, got 'most'"),
    (kb.Perceptron(), "labels: expected 'all' or a policy"),
]


@pytest.mark.parametrize(("policy", "message"), WRONG, ids=[text for _, text in WRONG])
def test_wrong_policies(policy, message):
    X, y = clouds_of(2, 20)
    with pytest.raises(InputError, match=message):
        make(kb.Perceptron(), policy).learn(X, y)


def test_policies_that_do_not_go_with_it():
    X, y = clouds_of(None, 20)
    with pytest.raises(InputError, match=r"MarginSampling.* needs labels that are classes"):
        make(kb.Ridge(), kb.MarginSampling(), numbers=True).learn(X, y)
    for policy in (kb.Disagreement(), kb.LabelBudget()):
        with pytest.raises(InputError, match="needs experts to compare, which BestOfPrefix"):
            make(kb.Perceptron(), policy, None, kb.BestOfPrefix()).learn(X, y > 0)
    with pytest.raises(InputError, match="name all of them before the first answer of an oracle"):
        make(kb.Perceptron(), "all").learn(X, never)


def test_an_answer_that_is_no_label():
    X, y = clouds_of(2, 20)
    model = make(kb.Perceptron(), kb.Disagreement())
    with pytest.raises(InputError, match="label 7 is not one of the classes"):
        model.learn(X, lambda row: 7, classes=[0, 1])
    assert not hasattr(model, "classes_")
    model.learn(X, y)
    numbers = make(kb.Ridge(features=WAVES), "all", numbers=True).fit(X, y)
    with pytest.raises(InputError, match="expected numbers"):
        numbers.learn(X, lambda row: "much")
    with pytest.raises(InputError, match="found inf"):
        numbers.learn(X, lambda row: math.inf)
    numbers.learn(X, lambda row: math.nan)  # no answer
    assert numbers.labels_asked_ == 20
