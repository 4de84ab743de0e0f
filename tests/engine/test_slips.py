"""What somebody writes wrong in a part of a model is one sentence: class, verb and page."""

from collections import namedtuple
from typing import NamedTuple

import numpy as np
import plain
import pytest
from inside import assert_equal_arrays
from sklearn.base import BaseEstimator

import kernbrook as kb
from kernbrook.engine.stores.in_place import Content, InPlace, follow, say
from kernbrook.engine.verbs import (
    Change,
    correct,
    descend,
    expand,
    expect,
    fit_in,
    keep_within,
    note_error,
    predict,
    select,
    update,
    wants,
    weigh_all,
)
from kernbrook.errors import InputError
from kernbrook.features.base import Features, Map, write_rows
from kernbrook.kernels.base import Step, Width, squared_distances
from kernbrook.labels.base import Policy
from kernbrook.learners.budgeted import Budgeted
from kernbrook.numerics.plan import SQUARED
from kernbrook.numerics.values import fill

X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)
LEARNER_PAGE = "docs/adding_a_learner.md"
NAN = float("nan")


def fit(**choices):
    kernels = choices.pop("kernels", [kb.Gaussian(sigma=1), kb.Gaussian(sigma=2)])
    return plain.classifier(kernels, random_state=0, **choices).fit(X, Y)


def rule_class():
    """Of its own for each test: nobody else has a verb for it."""

    class MyRule(NamedTuple):
        number: int = 1

    return MyRule


def part(base, verbs, **attributes):
    """A part of a class `Mine` whose rule has these verbs: {verb: function}."""
    kind = rule_class()
    for verb, body in verbs.items():
        if body is not None:
            verb.of(kind)(body)
    return type("Mine", (base,), {"rule": lambda self: kind(), **attributes})()


class UnderABudget(Budgeted):
    def __init__(self, budget=5):
        self.budget = budget


def slots(body=None, **attributes):
    return part(UnderABudget, {fit_in: body}, **attributes)


def bare(verbs=(), **attributes):
    """A learner with a rule, and nothing else but these."""
    return part(BaseEstimator, dict(verbs), choice="learner", **attributes)


def of_rule(rule):
    return slots(rule=lambda self: rule)


def with_array():
    class MyRule(NamedTuple):
        table: np.ndarray

    return of_rule(MyRule(np.zeros(3)))


def of_many():
    MyRule = NamedTuple("MyRule", [(f"n{i}", float) for i in range(2000)])
    return of_rule(MyRule(*map(float, range(2000))))


def factor(rule, seen, scores, sizes, change):
    change[0] = seen.weight
    return 2.0


def adds(slot, kept=0.0, step=1.0):
    """A verb that says so of each example; the slot None: the next one, also where none is free."""

    def body(rule, slots, seen, rows):
        return Change(slots.filled[0] if slot is None else slot, kept, step)

    return body


LEARNERS = {
    "verb missing": (slots, r"the verb fit_in is missing.*@fit_in.of\(MyRule\)"),
    "rule is a plain tuple": (lambda: of_rule((1, 2)), r"rule\(\) must give a NamedTuple.*\(1, 2"),
    "store misspelled": (lambda: bare(store="slot"), r"store must be one of .*'slots'.*got 'slot'"),
    "rule holds an array": (with_array, "MyRule: table must be a number"),
    "rule without types": (
        lambda: of_rule(namedtuple("MyRule", "number")(1)), "MyRule: number has no type"
    ),
    "rule without end": (of_many, "MyRule: no room for 2,000 numbers"),
    "None returned": (
        lambda: slots(lambda rule, slots, seen, rows: None),
        r"fit_in for MyRule: expected it to return Change\(int, float, float\), got nothing",
    ),
    "a float for a slot": (
        lambda: slots(lambda rule, slots, seen, rows: Change(0.0, 0.0, 1.0)),
        r"fit_in for MyRule: expected it to return Change.*got Change\(float, float, float\)",
    ),
    "arguments in another order": (
        lambda: slots(lambda rule, seen, slots, rows: Change(-1, 0.0, 0.0)),
        r"expected the parameters \(rule, slots, seen, rows\), got \(rule, seen, slots, rows\)",
    ),
    "typo in a field": (
        lambda: slots(
            lambda rule, slots, seen, rows: Change(-1, 0.0, seen.margn)
        ),
        r"fit_in for MyRule cannot be compiled: Unknown attribute 'margn'.*test_slips.py, line",
    ),
    "factor 2": (
        lambda: bare({expand: factor}, store="expansion"),
        r"expand for MyRule: the factor must be in \(0, 1\]",
    ),
    "a slot too far": (lambda: slots(adds(None)), "fit_in for MyRule: Change.slot must be"),
    "a slot from the end": (lambda: slots(adds(-2)), "fit_in for MyRule: Change.slot must"),
    "a slot that is not filled": (lambda: slots(adds(3)), "fit_in for MyRule: Change.slot"),
    "step NaN": (lambda: slots(adds(0, 0.0, NAN)), "fit_in for MyRule: NaN or infinity"),
}  # fmt: skip


@pytest.mark.parametrize("slip", LEARNERS)
def test_slips_of_learners(slip):
    make, message = LEARNERS[slip]
    with pytest.raises(InputError, match=message) as caught:
        fit(learner=make())
    text = str(caught.value)
    assert "Mine" in text
    assert LEARNER_PAGE in text
    assert len(text) < 600
    assert "\n" not in text


def divided(rule, slots, seen, rows):
    return Change(0, 0.0, 1.0 / (seen.clock.round - 20))


@pytest.mark.parametrize("labels", ["all", kb.RandomLabels(0.99)], ids=str)
def test_an_error_in_a_verb_names_the_verb_and_whose_it_is(labels):
    with pytest.raises(RuntimeError) as caught:
        fit(learner=[kb.BPAS(5), slots(divided)], labels=labels)
    assert str(caught.value).startswith("Mine: fit_in for MyRule raised ZeroDivisionError")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def fills_up(rule, slots, seen, rows):
    return Change(slots.filled[0] if slots.filled[0] < 5 else -1, 0.0, 1.0)


def overflows(rule, slots, seen, rows, points, t):
    slots.filled[0] = 6


def test_upkeep_that_counts_wrong():
    with pytest.raises(InputError, match=r"keep_within for MyRule: `slots\.filled` must"):
        fit(learner=part(UnderABudget, {fit_in: fills_up, keep_within: overflows}))


def looks_outside(rule, slots, seen, rows):
    where = slots.memory.shape[0] - 3 + slots.filled[0]
    if slots.filled[0] == slots.alpha.shape[1]:
        return Change(0, 0.0, slots.memory[where] * 0.0 + 1.0)
    return Change(slots.filled[0], 0.0, 1.0)


def on_features(variance, body=None):
    """A learner on features, with one verb or with both."""

    def predicts(rule, held, z, t, out):
        out[:] = 0.0
        return variance

    return bare(
        {predict: predicts, descend: body}, store="features", features=kb.RandomFeatures(5),
        extra_rows=lambda self, dim, scores: 0, fill_extra=lambda self, extra: None,
    )  # fmt: skip


def learns_nothing(rule, held, z, t, seen, scores, variance):
    pass


def beside_the_row(rule, held, z, t, seen, scores, variance):
    held.theta[0, 0] = z[t, z.shape[1]]


def test_the_check_finds_an_index_outside_of_an_array():
    with pytest.raises(AssertionError, match="fit_in for MyRule raised IndexError"):
        kb.testing.check_learner(slots(looks_outside))
    with pytest.raises(AssertionError, match="descend for MyRule raised IndexError"):
        kb.testing.check_learner(on_features(0.0, beside_the_row))


@pytest.mark.parametrize("variance", [-1.0, NAN])
def test_variances(variance):
    with pytest.raises(InputError, match="Mine: the verb descend is missing"):
        fit(learner=on_features(variance))
    with pytest.raises(InputError, match="Mine: predict for MyRule: the variance must be"):
        fit(learner=on_features(variance, learns_nothing))


# -- maps of features ------------------------------------------------------------------------------


class Constant(Map):
    """One feature, 1; in compiled code it is forgotten."""

    def fill(self, rows, out):
        out[:] = 1.0

    def rule(self, start):
        return Forgets()


class Forgets(NamedTuple):
    pass


@write_rows.of(Forgets)
def _write_rows(rule, X, out):
    out[0] = 1.0


class Whole(Features):
    map = Constant

    def dim(self, kernel, width):
        return 1

    def draw(self, kernel, width, generator):
        return {}


class Undrawn(Features):
    map = Constant

    def dim(self, kernel, width):
        return 1


def wrong_map(body):
    """Of features that a verb writes which cannot be compiled, or is none."""
    kind = rule_class()
    write_rows.of(kind)(body)

    class Wrong(Whole):
        map = type("Wrong", (Constant,), {"rule": lambda self, start: kind()})

    return Wrong()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (lambda rule, X, out: rule.nothing, "cannot be compiled: Unknown attribute 'nothing'"),
        (lambda rule, X: None, r"expected the parameters \(rule, X, out\), got \(rule, X\)"),
    ],
)
def test_slips_of_compiled_maps(body, message):
    with pytest.raises(InputError, match=f"Wrong: write_rows for MyRule:? {message}.*_a_map.md"):
        fit(learner=kb.Ridge(features=wrong_map(body)))


def test_a_compiled_map_that_raises():
    """A row is not taken by `fill` instead, without a word."""

    def raises(rule, X, out):
        if X[0, 0] > 1e9:
            raise ValueError("too far")
        out[0] = 1.0

    learner = kb.Ridge(features=wrong_map(raises))
    model = plain.classifier(learner=learner, scaling=None, random_state=0).fit(X, Y)
    model.learn_one(X[0], Y[0])
    before = model.state()
    with pytest.raises(ValueError, match="too far"):
        model.learn_one(1e10 + X[0], Y[0])
    assert_equal_arrays(model.state(), before)


def test_a_map_that_is_not_drawn():
    with pytest.raises(InputError, match=r"Undrawn: draw is missing; see docs/adding_a_map\.md"):
        fit(learner=kb.Ridge(features=Undrawn()))


def test_the_checks_find_what_compiled_code_does_not_write_and_products_by_blas():
    with pytest.raises(AssertionError, match="other last bits than among others"):
        kb.testing.check_kernel(kb.kernels.Callable(lambda X, Z: X @ Z.T))
    with pytest.raises(AssertionError, match="`write_rows` writes other features than `fill`"):
        kb.testing.check_features(Whole())


# -- what a learner without kernels keeps ----------------------------------------------------------


class Held(NamedTuple):
    sums: np.ndarray


def content_learner(held=Held, bodies=(), **methods):
    class Form(NamedTuple):
        held: Held

    for verb, body in zip((say, follow), bodies, strict=False):
        verb.of(Form)(body)

    class Mine(Content):
        def __init__(self, setting):
            pass

        first = property(lambda self: held(np.zeros(1)))

        def form(self, arrays):
            return Form(arrays)

        def check(self, arrays):
            pass

    for name, method in methods.items():
        setattr(Mine, name, method)

    class Keeps(BaseEstimator):
        choice, store, n_experts = "learner", "outside", 1

        def rule(self):
            return ()

        def make_store(self, first, setting):
            return InPlace(self, Mine(setting), first, setting)

    return Keeps()


def says(form, x, out):
    out[0] = form.held.sums[0]


CONTENTS = {
    **{
        name: ({name: getattr(Content, name)}, f"Mine: {name} is missing")
        for name in ("first", "form", "check")
    },
    "a dict": ({"held": lambda sums: {"sums": sums}}, "Mine: first: expected a property with "),
    "no property": ({"first": lambda self: Held(np.zeros(1))}, "Mine: first: expected a property"),
    "one verb": ({"bodies": [says]}, "Mine: the verb follow is missing"),
}


@pytest.mark.parametrize("slip", CONTENTS)
def test_slips_of_contents(slip):
    given, message = CONTENTS[slip]
    with pytest.raises(InputError, match=f"{message}.*; see docs/adding_a_store.md"):
        fit(learner=content_learner(**given))


def typo(form, x, out):
    out[0] = form.hold.sums[0]


def gives_the_scores(form, x, out):
    return out


def unwritten(form, x, out):
    pass


def divides_by_what_was_said(form, x, out):
    out[0] = 1.0 / (form.held.sums[0] - 3.0)


def counts_what_it_says(form, x, out):
    form.held.sums[0] += 1.0
    out[0] = 1.0


def counts(form, x, scores, label, target, weight, number, seed):
    form.held.sums[0] += 1.0


def refuses(form, x, scores, label, target, weight, number, seed):
    if number > 5:
        raise ValueError("too many")


IN_PLACE = {
    "typo": ((typo, counts), "say for Form cannot be compiled: Unknown attribute 'hold'.*line"),
    "returns": ((gives_the_scores, counts), "say for Form: expected it to return nothing, got arr"),
    "unwritten": ((unwritten, counts), "say for Form: NaN in `out`, or not all of it written"),
}


@pytest.mark.parametrize("slip", IN_PLACE)
def test_slips_of_verbs_without_kernels(slip):
    bodies, message = IN_PLACE[slip]
    with pytest.raises(InputError, match=f"Mine: {message}.*; see docs/adding_a_store.md"):
        fit(learner=content_learner(bodies=bodies))


@pytest.mark.parametrize(
    ("bodies", "message", "one_by_one"),
    [
        (
            (divides_by_what_was_said, counts),
            "say for Form raised ZeroDivisionError: division",
            True,
        ),
        ((says, refuses), "follow for Form raised ValueError: too many", False),
    ],
)
def test_errors_of_verbs_without_kernels_name_the_verb(bodies, message, one_by_one):
    model = plain.classifier(learner=content_learner(bodies=bodies), random_state=0)
    model.partial_fit(X[:2], Y[:2], classes=[0, 1])
    learn = model.learn_one if one_by_one else lambda x, y: model.partial_fit([x], [y])
    with pytest.raises(RuntimeError, match=f"Mine: {message}"):
        [learn(x, y) for x, y in zip(X[2:], Y[2:], strict=True)]


def test_the_check_finds_what_saying_changes():
    with pytest.raises(AssertionError, match="predicting has changed the held sums"):
        kb.testing.check_learner(content_learner(bodies=(counts_what_it_says, counts)))


def test_what_is_no_store():
    learner = content_learner()
    type(learner).make_store = lambda self, first, setting: None
    with pytest.raises(InputError, match="Keeps: make_store gave None, expected a store such as"):
        fit(learner=learner)
    del type(learner).make_store
    with pytest.raises(InputError, match=r"Keeps: make_store is missing.*docs/adding_a_store\.md"):
        fit(learner=learner)


# -- the committee ---------------------------------------------------------------------------------


def combiner(**verbs):
    own = {update: lambda combiner, told, progress: None}
    own |= {
        verb: verbs[verb.__name__]
        for verb in (update, weigh_all, correct)
        if verb.__name__ in verbs
    }
    size = {"state_size": lambda self, n_experts: 1}
    return part(BaseEstimator, own, choice="combiner", loss_code=0, **size)


def nan_weights(combiner, told, progress):
    progress.log_weights[0] = np.nan


def lowered(combiner, told, progress):
    for e in range(progress.log_weights.shape[0]):
        progress.log_weights[e] -= 1.0


def nan_state(combiner, told, progress):
    progress.state[0] = np.nan


def negative(combiner, progress, weights):
    weights[:] = -1.0


def nothing(combiner, progress, weights):
    weights[:] = 0.0


def nan_decision(combiner, progress, loss, scores, decision):
    decision[0] = np.nan


def select_all(selection, progress, weights, votes, updates):
    for e in range(votes.shape[0]):
        progress.used[e] = updates[e] = True
        votes[e] = weights[e]


def votes_of_nan(selection, progress, weights, votes, updates):
    for e in range(votes.shape[0]):
        progress.used[e] = updates[e] = True
        votes[e] = np.nan


def expect_all(selection, progress, weights, votes):
    votes[:] = weights
    return False


def expect_negative(selection, progress, weights, votes):
    votes[:] = -1.0
    return False


def selection(select_=select_all, expect_=expect_all):
    own = {"draws_updates": False, "choice": "selection"}
    return part(BaseEstimator, {select: select_, expect: expect_}, **own)


def policy(asks=None, notes=None):
    return part(Policy, {wants: asks, note_error: notes}, parameter_ranges={})


def keeps_nan(policy, progress, error):
    progress.asking[0] = np.nan


def always(policy, progress, opinions):
    return True, 0.0


COMMITTEE = {
    "NaN": (combiner(update=nan_weights), "update for MyRule: NaN or infinity in `progress.log_w"),
    "not lifted": (
        combiner(update=lowered),
        "update for MyRule: the greatest of `progress.log_weights` must be 0",
    ),
    "state": (combiner(update=nan_state), "update for MyRule: NaN or infinity in `progress.state`"),
    "negative": (combiner(weigh_all=negative), "weigh_all for MyRule: weights must be finite, fro"),
    "all 0": (combiner(weigh_all=nothing), "weigh_all for MyRule: .* one of them above 0"),
    "correct": (combiner(correct=nan_decision), "correct for MyRule: NaN or infinity in `decision"),
    "votes": (selection(votes_of_nan), "select for MyRule: `votes` of experts in use"),
    "expected": (selection(expect_=expect_negative), "expect for MyRule: `votes` must be finite"),
    "variance": (
        policy(lambda policy, progress, opinions: (True, np.nan)),
        "wants for MyRule: the variance must be",
    ),
    "no variance": (
        policy(lambda policy, progress, opinions: True),
        r"wants for MyRule: expected it to return \(bool, float\), got bool",
    ),
    "asking": (policy(always, keeps_nan), "note_error for MyRule: NaN or infinity in `progress.as"),
}


@pytest.mark.parametrize("slip", COMMITTEE)
def test_slips_of_the_committee(slip):
    own, message = COMMITTEE[slip]
    page = "docs/adding_a_policy.md" if own.choice == "labels" else "docs/adding_a_combiner.md"
    choices = {"combiner": kb.Hedge(), own.choice: own}
    with pytest.raises(InputError, match=f"Mine: {message}.*{page}"):
        fit(**choices)


def test_a_part_that_does_not_say_what_it_is():
    wanted = 'expected an object such as .*, whose class lacks choice = "combiner"'
    with pytest.raises(InputError, match=f"combiner: {wanted}"):
        fit(combiner=type("Mine", (), {"rule": lambda self: ()})())


# -- kernels ---------------------------------------------------------------------------------------


class Unknown(NamedTuple):
    """A kind of step that nothing is known of."""


class Mine(Width):
    @staticmethod
    def _gamma_of(sigma):
        return 1.0 / sigma

    def __call__(self, X, Z):
        return np.exp(-self.gamma * squared_distances(X, Z))

    def step(self):
        return Step(Unknown, SQUARED, self.gamma)


class Odd(Mine):
    def step(self):
        return 7


class Uncalled(kb.kernels.Kernel):
    pass


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Mine(sigma=1), "Mine: the verb fill is missing.*docs/adding_a_kernel.md"),
        (Uncalled(), "Uncalled: __call__ is missing; see docs/adding_a_kernel.md"),
        (Odd(sigma=1), r"Odd: step\(\) must give a Step, or None, got 7"),
    ],
)
def test_slips_of_kernels(kernel, message):
    assert fill.implementation(Unknown) is fill.default
    with pytest.raises(InputError, match=message):
        fit(kernels=[kernel])


# -- written again ---------------------------------------------------------------------------------


def test_a_step_that_is_written_again_counts_from_then_on():
    """As where the cell of a notebook runs once more: in models that are there, row by row too."""
    kind = rule_class()

    class Mine(Budgeted):
        def __init__(self, budget=5):
            self.budget = budget

        def rule(self):
            return kind()

    def learned(model):
        return model.dual_coef_.ravel()[-1]

    fit_in.of(kind)(adds(0, 0, 1))  # integers are numbers, too
    model = fit(learner=Mine(), kernels=[kb.Gaussian(sigma=1)])
    assert abs(learned(model)) == 1.0
    model.learn_one(X[0], Y[0])
    for step, learn in (
        (2.0, lambda: model.partial_fit(X[:1], Y[:1])),
        (3.0, lambda: model.learn_one(X[0], Y[0])),
        (4.0, lambda: model.learn_one(X[1], Y[1])),
    ):
        fit_in.of(kind)(adds(0, 0.0, step))
        learn()
        assert abs(learned(model)) == step


def test_nobody_writes_a_verb_of_ours():
    rule = type(kb.BPAS().rule())
    with pytest.raises(InputError, match=f"fit_in: {rule.__name__} is a class of kernbrook"):
        fit_in.of(rule)(adds(0))


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        (2.7, int, "must be an integer, got 2.7"),
        (2, bool, "must be True or False, got 2"),
        (None, float, "must be a number, got None"),
    ],
)
def test_numbers_of_rules_are_not_bent(value, kind, message):
    class MyRule(NamedTuple):
        number: kind

    with pytest.raises(InputError, match=f"Mine: MyRule: number {message}.*{LEARNER_PAGE}"):
        fit(learner=of_rule(MyRule(value)))
