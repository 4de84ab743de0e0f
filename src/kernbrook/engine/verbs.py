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
from numpy.typing import NDArray

from kernbrook._jit.compiling import verb


def typed(rule: Any) -> Any:
    """The rule with numbers of the types that its class names: another type is compiled anew."""
    if not hasattr(rule, "_replace"):
        return rule
    names = get_type_hints(type(rule))
    kinds = {name: kind for name, kind in names.items() if kind in (int, float, bool)}
    values = {name: kind(getattr(rule, name)) for name, kind in kinds.items()}
    nested = {name: typed(getattr(rule, name)) for name in names if name not in kinds}
    return rule._replace(**values, **nested)


# -- what is said ------------------------------------------------------------------------------


class Clock(NamedTuple):
    """seed : of the draws; round : examples before this one; number : of its label, from 1."""

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


class Told(NamedTuple):
    """What a combiner learns from.

    losses : (e,) of the experts; changed at will
    counted : (e,) bool, whose losses a combiner takes that leaves out experts without an update
    scores, sizes : (e, c) of the experts; decision : (c,) the combined ones
    target, weight : of the label; number : of the label, from 1
    loss : what the combiner looks at
    """

    losses: NDArray[np.float64]
    counted: NDArray[np.bool_]
    scores: NDArray[np.float64]
    sizes: NDArray[np.float64]
    decision: NDArray[np.float64]
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

    votes: NDArray[np.float64]
    scores: NDArray[np.float64]
    sizes: NDArray[np.float64]
    variances: NDArray[np.float64]
    loss: int


# -- learners, by the store that they learn in ---------------------------------------------------


@verb
def expand(rule, seen, scores, sizes, change):
    """Of kernel expansions: fill in `change`, (c,), with which the example is added; zeros before.

    scores, sizes : (c,) of the expert
    Returns the factor by which all coefficients shrink before.
    """
    raise NotImplementedError


@verb
def fit_in(rule, slots, seen, rows):
    """Under a budget: the `Change` that an example makes; the slots may change already.

    slots : `Slots` of the expert
    rows : (n, B) kernel values of the slots with this example and those to come
    """
    raise NotImplementedError


@verb
def keep_within(rule, slots, seen, rows, points, t):
    """Under a budget: upkeep after an example has joined; nothing by default.

    rows : (n, B) as for `fit_in`, of the examples to come alone
    points, t : `Points`, the block's features, and the example's number in it
    """


@verb
def predict(rule, held, z, t, out):
    """On features: fill in `out`, (c,), with the scores of z[t]. Returns the variance, or 0.

    held : `Held` of the expert; z : (b, d) features
    """
    raise NotImplementedError


@verb
def descend(rule, held, z, t, seen, scores, variance):
    """On features: learn from z[t], whose scores, (c,), and variance `predict` has given."""
    raise NotImplementedError


@verb
def after_label(rule, held, number):
    """On features: a label has passed, whether learned from or not; nothing by default."""


# -- the committee ---------------------------------------------------------------------------------


@verb
def weigh_all(combiner, progress, weights):
    """Weights of the experts, (e,) out, the greatest 1 by default."""
    for e in range(weights.shape[0]):
        weights[e] = math.exp(progress.log_weights[e])


@verb
def update(combiner, told, progress):
    """Learn from one round: `progress.log_weights` and `progress.state`."""
    raise NotImplementedError


@verb
def select(selection, progress, weights, votes, updates):
    """The experts of a round: `progress.used`, and what follows.

    weights : (e,) of the combiner
    votes : (e,) out, weight of each expert in the vote, if it is used
    updates : (e,) bool out, whether the expert may be updated
    """
    raise NotImplementedError


@verb
def expect(selection, progress, weights, votes):
    """votes : (e,) out, weight of each expert in the vote, in expectation over the draws.

    Returns whether one votes alone.
    """
    raise NotImplementedError


@verb
def lead_on(selection, progress, weights):
    """weights : (e,) changed to what counts of them; nothing by default."""


@verb
def choose_next(selection, progress):
    """After a label: choose experts for the rounds to come; nothing by default."""


@verb
def wants(policy, progress, opinions):
    """(is the label asked for, variance of the opinions). From what is known; nothing changes."""
    raise NotImplementedError


@verb
def note_round(policy, progress, variance):
    """A round begins, whether its label will be seen or not; nothing by default."""


@verb
def note_error(policy, progress, error):
    """The combination's squared error on a label, for classes 1 or 0; nothing by default."""


# -- stores --------------------------------------------------------------------------------------


@verb
def parts_of(member):
    """In how many parts, which learn apart from each other, the experts of a store fall."""
    return 1


@verb
def part(member, i, board):
    """One of them."""
    return member


@verb
def score(part, t, board):
    """Fill in the board's row t for the experts of the part."""
    raise NotImplementedError


@verb
def learn(part, t, updates, clock, board):
    """Learn from the label of example t; updates : (e,) bool, which experts may."""
    raise NotImplementedError
