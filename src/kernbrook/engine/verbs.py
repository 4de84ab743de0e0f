"""What the factors implement in compiled code: verbs.

A verb is a function that compiled code calls. The type of its first argument, a NamedTuple class,
says which implementation runs: numba compiles that one alone, and its disk cache holds it. A
learner, for instance, is a class of parameters with a NamedTuple for the compiled code, its rule,
and the verbs of its store implemented for that rule, all in one file; nothing else knows of it.

Verbs that numba cannot compile work too, as Python: their learner, combiner, selection or label
policy says so, `compiled = False`, and all verbs of a model with it run as Python, far slower.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, get_type_hints

import numpy as np

from kernbrook.checks import is_number, is_whole, shown
from kernbrook.compiler.compiling import Option, Verb, njit
from kernbrook.compiler.links import (
    ROOM,
    Marks,
    Matrix,
    Numbers,
    Pinned,
    Vector,
    family,
    fill_in,
    fills,
    words_of,
)
from kernbrook.engine.progress import Progress
from kernbrook.errors import InputError


def typed(rule: Any) -> Any:
    """The rule with numbers of the types that its class names: another type is compiled anew.

    Raises
    ------
    InputError
        It is no NamedTuple of numbers, and of such tuples, or a number is not of its type.
    """
    kind = type(rule)
    if not hasattr(rule, "_replace"):
        raise InputError(
            "rule() must give a NamedTuple class of its own, such as MyRule(NamedTuple), got "
            f"{shown(rule)}"
        )
    names = get_type_hints(kind)
    for name in rule._fields:
        if name not in names:
            raise InputError(f"{kind.__name__}: {name} has no type; write `{name}: float`")
    said = {name: _typed(kind, name, names[name], getattr(rule, name)) for name in rule._fields}
    if words_of(rule) > ROOM:
        raise InputError(f"{kind.__name__}: no room for {words_of(rule):,} numbers in a rule")
    return rule._replace(**said)


def _typed(kind: type, name: str, wanted: Any, value: Any) -> Any:
    """The value of a field, by its type."""
    if isinstance(value, tuple) and wanted not in PLAIN:
        return typed(value)
    fits = is_number(value) or isinstance(value, np.bool_)
    if fits and wanted is bool:
        fits = value in (0, 1)
    elif fits and wanted is int:
        fits = is_whole(value) or isinstance(value, np.bool_) or float(value).is_integer()
    if wanted not in PLAIN or not fits:
        such = PLAIN.get(wanted, "a number, or a NamedTuple of numbers")
        raise InputError(f"{kind.__name__}: {name} must be {such}, got {shown(value)}")
    return wanted(value)


PLAIN = {int: "an integer", float: "a number", bool: "True or False"}  # the types of numbers


# -- what is said ------------------------------------------------------------------------------


class Clock(NamedTuple):
    """seed : of the draws; round : examples before this one; number : of its label, from 1.

    Labels of weight 0 are not counted.
    """

    seed: int
    round: int
    number: int


class Seen(NamedTuple):
    """What a learner is told of an example.

    label, target : number of the class, and the label as a float; for numbers the second counts
    weight : of the example, a factor of the step
    margin, size, rival, wrong : of the expert's scores, as `margin_of` gives them
    diagonal : k(x, x), where the learner looks at it
    numbers : whether labels are numbers
    clock : of the round
    expert : number of the expert
    """

    label: int
    target: float
    weight: float
    margin: float
    size: float
    rival: int
    wrong: bool
    diagonal: float
    numbers: bool
    clock: Clock
    expert: int


class Change(NamedTuple):
    """What a learner under a budget does with an example.

    slot : where it goes; -1: nowhere. The slot's coefficients are `kept` times those that it had,
    and an update by `step`.
    """

    slot: int
    kept: float
    step: float


class Slots(NamedTuple):
    """What one expert holds; changed in place. B is the number of slots.

    Of m experts together each array has an axis before, of length m.

    alpha : (c, B) coefficients for c scores, see `classes`; scale : (1,) their common factor
    diagonal : (B,) k(x, x); born : (B,) round of arrival
    place : (B,) number of the point, block rows counted after the stored points
    filled : (1,) slots in use; gram : (B, B) kernel values of slots, or (0, 0)
    factor, order : (B, B) and (B,) as in `projection`, or (0, 0) and (0,)
    points, norms : (B, d) and (B,) the points themselves and their squared norms, where points are
        merged, or (0, 0) and (0,)
    memory : (3,) what else a learner keeps
    """

    alpha: Matrix
    diagonal: Vector
    born: Numbers
    place: Numbers
    filled: Numbers
    gram: Matrix
    factor: Matrix
    order: Numbers
    memory: Vector
    scale: Vector
    points: Matrix
    norms: Vector


class Points(NamedTuple):
    """The block's own features, for learners that merge points; else (0, 0) arrays.

    features, norms, columns : (b, d), squared norms (b,), and the features' transpose
    reach : squared distances beyond it give 0
    gamma : of the Gaussian kernel
    """

    features: Matrix
    norms: Vector
    columns: Matrix
    reach: float
    gamma: float


class Coefficients(NamedTuple):
    """What one expert holds, for c scores of d features; changed in place.

    theta : (c, d) coefficients
    extra : (rows, d) what else the learner keeps: P of Ridge, sums of AdaGrad
    gains : (d,) what is kept between predicting and learning
    """

    theta: Matrix
    extra: Matrix
    gains: Vector


class Told(NamedTuple):
    """What a combiner learns from.

    losses : (e,) of the experts; changed at will
    counted : (e,) bool, whose losses a combiner takes that leaves out experts without an update
    scores, sizes : (e, c) of the experts; decision : (c,) the combined ones
    target, weight : of the label, above 0; number : of the label, from 1
    loss : what the combiner looks at
    """

    losses: Vector
    counted: Marks
    scores: Matrix
    sizes: Matrix
    decision: Vector
    target: float
    weight: float
    number: int
    loss: int


class Opinions(NamedTuple):
    """What a label policy looks at.

    votes : (e,) weight of each expert in the vote, where `progress.used`
    scores, sizes : (e, c) of the experts; variances : (e,) the experts' own, where there are
    loss : what the combiner looks at
    """

    votes: Vector
    scores: Matrix
    sizes: Matrix
    variances: Vector
    loss: int


# -- learners, by the store that they learn in ---------------------------------------------------


@Verb
def expand(rule: Any, seen: Seen, scores: Vector, sizes: Vector, change: Vector) -> float:
    """Of kernel expansions: fill in `change`, (c,), with which the example is added; zeros before.

    scores, sizes : (c,) of the expert
    Returns the factor by which all coefficients shrink before.
    """
    raise NotImplementedError


@Verb
def fit_in(rule: Any, slots: Pinned[Slots], seen: Seen, rows: Matrix) -> Change:
    """Under a budget: the `Change` that an example makes; the slots may change already.

    slots : `Slots` of the expert
    rows : (n, B) kernel values of the slots with this example and those to come
    """
    raise NotImplementedError


@Option
def keep_within(
    rule: Any, slots: Pinned[Slots], seen: Seen, rows: Matrix, points: Points, t: int
) -> None:
    """Under a budget: upkeep after an example has joined; nothing by default.

    rows : (n, B) as for `fit_in`, of the examples to come alone
    points, t : `Points`, the block's features, and the example's number in it
    """


@Verb
def predict(rule: Any, held: Pinned[Coefficients], z: Pinned[Matrix], t: int, out: Vector) -> float:
    """On features: fill in `out`, (c,), with the scores of z[t]. Returns the variance, or 0.

    held : `Coefficients` of the expert; z : (b, d) features
    """
    raise NotImplementedError


@Verb
def descend(
    rule: Any,
    held: Pinned[Coefficients],
    z: Pinned[Matrix],
    t: int,
    seen: Seen,
    scores: Vector,
    variance: float,
) -> None:
    """On features: learn from z[t], whose scores, (c,), and variance `predict` has given."""
    raise NotImplementedError


@Option
def after_label(rule: Any, held: Pinned[Coefficients], number: int) -> None:
    """On features: a label has passed, whether the expert learned or not; nothing by default."""


# -- the committee ---------------------------------------------------------------------------------


@Verb
def weigh_all(combiner: Any, progress: Pinned[Progress], weights: Vector) -> None:
    """Weights of the experts, (e,) out, the greatest 1 by default."""
    for e in range(weights.shape[0]):
        weights[e] = math.exp(progress.log_weights[e])


@Verb
def update(combiner: Any, told: Told, progress: Pinned[Progress]) -> None:
    """Learn from one round: `progress.log_weights` and `progress.state`."""
    raise NotImplementedError


@Option
def correct(
    combiner: Any, progress: Pinned[Progress], loss: int, scores: Matrix, decision: Vector
) -> None:
    """Change the vote on an example, `decision`, (c,), by the experts' scores, (e, c).

    By default nothing changes. loss : what the combiner looks at
    """


@Verb
def select(
    selection: Any, progress: Pinned[Progress], weights: Vector, votes: Vector, updates: Marks
) -> None:
    """The experts of a round: `progress.used`, and what follows.

    weights : (e,) of the combiner
    votes : (e,) out, weight of each expert in the vote, if it is used
    updates : (e,) bool out, whether the expert may be updated
    """
    raise NotImplementedError


@Verb
def expect(selection: Any, progress: Pinned[Progress], weights: Vector, votes: Vector) -> bool:
    """votes : (e,) out, weight of each expert in the vote, in expectation over the draws.

    Returns whether one votes alone.
    """
    raise NotImplementedError


@Option
def lead_on(selection: Any, progress: Pinned[Progress], weights: Vector) -> None:
    """weights : (e,) changed to what counts of them; nothing by default."""


@Option
def choose_next(selection: Any, progress: Pinned[Progress]) -> None:
    """After a label: choose experts for the rounds to come; nothing by default."""


@Verb
def wants(policy: Any, progress: Pinned[Progress], opinions: Opinions) -> tuple[bool, float]:
    """(is the label asked for, variance of the opinions). From what is known; nothing changes."""
    raise NotImplementedError


@Option
def note_round(policy: Any, progress: Pinned[Progress], variance: float) -> None:
    """A round begins, whether its label will be seen or not; nothing by default."""


@Option
def note_error(policy: Any, progress: Pinned[Progress], error: float) -> None:
    """The combination's squared error on a label, for classes 1 or 0; nothing by default."""


# -- links: what passes call verbs through ---------------------------------------------------------

family(expand)
family(fit_in, keep_within)
family(predict, descend, after_label)
family(update, weigh_all, correct)
family(select, expect, lead_on, choose_next)
family(wants, note_round, note_error)


@fills(expand)
@njit(cache=True)
def link_expander(rule, link):
    """Fill in the link to a rule of kernel expansions."""
    fill_in(expand, rule, link)


@fills(fit_in)
@njit(cache=True)
def link_budgeted(rule, link):
    """Fill in the link to a rule under a budget."""
    fill_in(fit_in, rule, link)


@fills(predict)
@njit(cache=True)
def link_linear(rule, link):
    """Fill in the link to a rule on features."""
    fill_in(predict, rule, link)


@fills(update)
@njit(cache=True)
def link_combiner(rule, link):
    """Fill in the link to a combiner."""
    fill_in(update, rule, link)


@fills(select)
@njit(cache=True)
def link_selection(rule, link):
    """Fill in the link to a selection."""
    fill_in(select, rule, link)


@fills(wants)
@njit(cache=True)
def link_policy(rule, link):
    """Fill in the link to a label policy."""
    fill_in(wants, rule, link)


# -- stores --------------------------------------------------------------------------------------


@Verb
def parts_of(member):
    """In how many parts, which learn apart from each other, the experts of a store fall."""
    return 1


@Verb
def part(member, i, board):
    """One of them."""
    return member


@Verb
def stretch(member):
    """Examples that one part of a store may meet before the others; by default any number."""
    return 1 << 30


@Verb
def arrive(member, first, last, t):
    """Parts first..last-1 of a store come to example t, one after the other from 0 on; nothing by
    default."""


@Verb
def score(part, t, board):
    """Fill in the board's row t for the experts of the part."""
    raise NotImplementedError


@Verb
def learn(part, t, updates, clock, board):
    """Learn from the label of example t; updates : (e,) bool, which experts may."""
    raise NotImplementedError


@Verb
def sound(member, i):
    """Whether what part i of a store has learned is finite; where a store says nothing, it is."""
    return True
