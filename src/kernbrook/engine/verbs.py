"""Verbs, which the parts of a model implement in compiled code.

A verb is a function that compiled code calls. The type of its first argument, a NamedTuple class,
says which implementation runs: numba compiles that one alone, and its disk cache holds it. A
learner, for instance, is a class of parameters with a NamedTuple for the compiled code, its rule,
and the verbs of its store implemented for that rule, all in one file; nothing else knows of it.
The verbs of stores themselves are in `store_verbs`.

A round calls them in this order: `weigh_all`, `lead_on`, `expect`, `select`, the store's `score`
(with `predict` for experts on features), `correct`, `wants`, `note_round`; then, for a label that
is looked at and has a weight, the store's `learn` (with `fit_in` and `keep_within`, or `expand`, or
`descend`), `update`, `note_error`, `choose_next`. A prediction calls `weigh_all`, `lead_on`,
`expect`, `score`, `correct`, and nothing that changes what was learned.

Arrays that a verb is given belong to the engine: they hold other numbers after the call, so a verb
that wants to keep numbers copies them into its own state. A verb changes what its docstring says,
and nothing else: neighbours and other threads read the rest.
"""

import math
from typing import Any, NamedTuple

from kernbrook.compiler.compiling import Option, Verb
from kernbrook.compiler.links import Marks, Matrix, Numbers, Pinned, Vector, family
from kernbrook.engine.progress import Progress
from kernbrook.numerics.zero import finite

# -- arguments of verbs ------------------------------------------------------------------------


class Clock(NamedTuple):
    """seed : of the draws; round : examples before this one; number : of its label, from 1.

    Labels of weight 0 are not counted.
    """

    seed: int
    round: int
    number: int


class Seen(NamedTuple):
    """An example as a learner meets it.

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
    """The place that a learner under a budget gives an example.

    slot : where it goes; -1: nowhere. The slot's coefficients are `kept` times those that it had,
    and an update by `step`.
    """

    slot: int
    kept: float
    step: float


class Slots(NamedTuple):
    """The slots of one expert, changed in place. B is their number.

    Of m experts together each array has an axis before, of length m.

    alpha : (c, B) coefficients for c scores; scale : (1,) their common factor
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
    """The coefficients of one expert for c scores of d features, changed in place.

    theta : (c, d) coefficients
    extra : (rows, d) what else the learner keeps: P of Ridge, sums of AdaGrad
    gains : (d,) what is kept between predicting and learning
    """

    theta: Matrix
    extra: Matrix
    gains: Vector


class Told(NamedTuple):
    """A round as a combiner learns from it.

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
    """Votes and scores as a label policy sees them.

    votes : (e,) weight of each expert in the vote, where `progress.used`
    scores, sizes : (e, c) of the experts
    loss : what the combiner looks at
    """

    votes: Vector
    scores: Matrix
    sizes: Matrix
    loss: int


# -- learners, by the store that they learn in ---------------------------------------------------


@Verb
def expand(rule: Any, seen: Seen, scores: Vector, sizes: Vector, change: Vector) -> float:
    """Learn from an example, for an expert that is a kernel expansion.

    Called once for each expert that may learn, after the label is known.

    scores, sizes : (c,) of the expert on the example; only read
    change : (c,) out, the coefficients with which the example joins the expansion. Zeros on entry;
        where they stay zeros, the example is not added
    Returns the factor, in (0, 1], by which all older coefficients shrink before.
    """
    raise NotImplementedError


@Verb
def fit_in(rule: Any, slots: Pinned[Slots], seen: Seen, rows: Matrix) -> Change:
    """Decide which slot an example takes, for an expert that holds a fixed number of examples.

    Called once for each expert that may learn, after the label is known. The engine then makes the
    `Change` that the verb returns.

    slots : of the expert. The verb may change coefficients, `scale`, `factor`, `order` and `memory`
        before it returns; a slot beyond `filled` is free
    rows : (n, B) kernel values of the slots with this example, and with the n - 1 after it
    """
    raise NotImplementedError


@Option
def keep_within(
    rule: Any, slots: Pinned[Slots], seen: Seen, rows: Matrix, points: Points, t: int
) -> None:
    """Bring an expert back within its budget. Nothing by default.

    Called after an example has joined, and at no other time.

    slots : of the expert, with the example; the verb may change everything in them, and lowers
        `filled` where it gives up a slot
    rows : (n, B) as for `fit_in`, of the examples to come alone; the verb changes the columns of
        slots that hold something else afterwards
    points, t : the block's features, where points are merged, and the example's number in the block
    """


@Verb
def predict(rule: Any, held: Pinned[Coefficients], z: Pinned[Matrix], t: int, out: Vector) -> float:
    """Score an example, for an expert on features.

    Called for each expert before the label is known, and for predictions. Nothing but `out` and
    `held.gains` changes.

    held : what the expert has learned
    z : (b, d) features of the block; row t is the example
    out : (c,) out, the scores
    Returns the variance of the score, or 0 where the learner has none.
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
    """Learn from an example, for an expert on features.

    Called once for each expert that may learn, after the label is known.

    held : changed in place; `held.gains` has what `predict` has left there for this example
    z, t : as for `predict`
    scores, variance : what `predict` has given for this example; only read
    """
    raise NotImplementedError


@Option
def after_label(rule: Any, held: Pinned[Coefficients], number: int) -> None:
    """Count a label, for an expert on features. Nothing by default.

    Called after each label that has a weight, whether the expert has learned from the label or not.

    held : changed in place; number : of the label, from 1
    """


@Verb
def is_finite(rule: Any, held: Pinned[Coefficients]) -> bool:
    """Say whether what an expert on features has learned is finite. By default all is looked at.

    Called once a block, or a single row, has been learned. Nothing changes. A verb may leave out
    numbers from which the next step on an example is made: with them the step is not finite.
    """
    return finite(held.theta.reshape(-1)) and finite(held.extra.reshape(-1))


# -- the committee ---------------------------------------------------------------------------------


@Verb
def weigh_all(combiner: Any, progress: Pinned[Progress], weights: Vector) -> None:
    """Give the weights of the experts.

    Called before each round, and for predictions. Nothing but `weights` changes.

    weights : (e,) out, finite and from 0, of any sum. By default exp(progress.log_weights)
    """
    for e in range(weights.shape[0]):
        weights[e] = math.exp(progress.log_weights[e])


@Verb
def update(combiner: Any, told: Told, progress: Pinned[Progress]) -> None:
    """Learn the weights from one round.

    Called after each label that has a weight, once the experts have learned; not for rows that an
    expert holds already, unless the model was told to judge those too.

    told : only read, but for `told.losses`, which may serve as scratch
    progress : the verb changes `log_weights`, whose greatest is 0 afterwards, and `state`
    """
    raise NotImplementedError


@Option
def correct(
    combiner: Any, progress: Pinned[Progress], loss: int, scores: Matrix, decision: Vector
) -> None:
    """Change the vote on an example. Nothing by default.

    Called after the vote, for rounds and for predictions. Nothing but `decision` changes.

    loss : what the combiner looks at
    scores : (e, c) of the experts
    decision : (c,) the vote on entry, and what is said in its place on return
    """


@Verb
def select(
    selection: Any, progress: Pinned[Progress], weights: Vector, votes: Vector, updates: Marks
) -> None:
    """Choose who votes and who learns in a round.

    Called before the experts score. Draws depend on `progress.counters` alone.

    progress : the verb writes `used`, (e,) bool, who is in use; the rest is only read
    weights : (e,) of the combiner, the greatest 1 where nothing leads on; only read
    votes : (e,) out, the weight of each expert in the vote, where the expert is in use
    updates : (e,) bool out, whether the expert may learn
    """
    raise NotImplementedError


@Verb
def expect(selection: Any, progress: Pinned[Progress], weights: Vector, votes: Vector) -> bool:
    """Say who would vote in a round, in expectation over the draws.

    Called before `select`, and for predictions. Nothing but `votes` changes.

    votes : (e,) out, the weight of each expert in the vote
    Returns whether one expert votes alone.
    """
    raise NotImplementedError


@Option
def lead_on(selection: Any, progress: Pinned[Progress], weights: Vector) -> None:
    """Change the weights by which a selection chooses. Nothing by default.

    Called after `weigh_all`, wherever weights are asked for. Nothing but `weights` changes.
    """


@Option
def choose_next(selection: Any, progress: Pinned[Progress]) -> None:
    """Choose experts for the rounds to come. Nothing by default.

    Called at the end of a round with a label that has a weight.

    progress : the verb changes `used`, and in `counters` the expert that is chosen for good
    """


@Verb
def wants(policy: Any, progress: Pinned[Progress], opinions: Opinions) -> tuple[bool, float]:
    """Say whether the label is asked for, and how far the experts' opinions vary.

    Called after the vote, and by `should_ask`. Nothing changes; draws depend on
    `progress.counters` alone.
    """
    raise NotImplementedError


@Option
def note_round(policy: Any, progress: Pinned[Progress], variance: float) -> None:
    """Count a round. Nothing by default.

    Called after `wants` in every round, whether its label will be looked at or not.

    progress : the verb changes `asking`; variance : as `wants` has given it
    """


@Option
def note_error(policy: Any, progress: Pinned[Progress], error: float) -> None:
    """Take note of an error. Nothing by default.

    Called after each label that has a weight.

    progress : the verb changes `asking`
    error : the squared error of the decision; for classes 1 or 0
    """


# -- links: what passes call verbs through ---------------------------------------------------------

family(expand)
family(fit_in, keep_within)
family(predict, descend, after_label, is_finite)
family(update, weigh_all, correct)
family(select, expect, lead_on, choose_next)
family(wants, note_round, note_error)
