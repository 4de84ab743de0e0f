"""The state of a committee, its rules, and the board of a block, for compiled code."""

from typing import Any, NamedTuple

import numpy as np

from kernbrook.compiler.compiling import njit
from kernbrook.compiler.links import Cube, Marks, MarkTable, Matrix, Numbers, Vector
from kernbrook.engine.state import Field, Table
from kernbrook.errors import InputError
from kernbrook.numerics.zero import finite

# What `counters` hold.
SEED, ROUND, CHOSEN, ASKED, SKIPPED, WEIGHED = 0, 1, 2, 3, 4, 5
N_COUNTERS = 6
N_ASKING = 3
MOST_ROUNDS = 2**53  # that are counted, by floats too
MOST_LOSS = 1e300  # of an expert: all losses together can be added


class Progress(NamedTuple):
    """The state of a committee, changed in place.

    log_weights : (e,) log of the experts' weights, the greatest 0
    losses : (e,) mistakes of each expert so far, counted by its own rule, or squared errors
    used : (e,) bool, experts in the last vote; in the next one, where a selection draws it ahead
    state : what else the combiner keeps
    counters : (6,) int: seed, rounds so far, the expert chosen for good (-1: none yet), labels
        seen, rounds since the last one, labels of a weight above 0
    asking : (3,) what else the label policy keeps
    """

    log_weights: Vector
    losses: Vector
    used: Marks
    state: Vector
    counters: Numbers
    asking: Vector


PROGRESS = Table(
    Progress,
    log_weights=Field(("expert",)),
    losses=Field(("expert",), merged="added"),
    used=Field(("expert",), bool, start=True),
    state=Field(("state",)),
    counters=Field((N_COUNTERS,), int),
    asking=Field((N_ASKING,), merged="averaged"),
)


class Due(NamedTuple):
    """The last rows that were learned one by one, for the calibration: round t at t modulo n.

    leanings, labels, judged : as on a board; weights : (n,) of the rows, as they count
    """

    leanings: Matrix
    labels: Vector
    weights: Vector
    judged: Marks


class Terms(NamedTuple):
    """Settings of a committee beside its rules; fixed as long as a model learns.

    loss : what the combiner looks at, a code of `loss_codes`
    strict : (e,) bool, whether a margin of 0 is a mistake of the expert
    mean : whether a vote is a mean, or a sum
    given : whether labels that are there are learned from, whatever the policy
    """

    loss: int
    strict: Marks
    mean: bool
    given: bool


class CommitteeRules(NamedTuple):
    """The rules of a committee, whose types choose the verbs, and its terms."""

    combiner: Any
    selection: Any
    policy: Any
    terms: Terms


class Board(NamedTuple):
    """A block of b examples, and what the experts say of each before its label is seen.

    scores, sizes : (b, e, c) out, scores and the sizes of their terms
    variances : (b, e) out, of experts that have one; else 0
    known : (b, e) bool out, whether an expert holds a row that is equal to the example
    labels : (b,) targets, or numbers of classes; NaN where the label cannot be had
    importance : (b,) sample weights, as they count
    numbers : whether labels are numbers
    updates : (b, e) bool, which experts may be updated: all, until a selection says so
    leanings : (b, c) out, the scores combined before the label, as `decide` does; (b, 2 c) with the
        votes behind them, see `Committee.inputs`
    judged : (b,) bool out, whether the combiner has learned from the label
    """

    scores: Cube
    sizes: Cube
    variances: Matrix
    known: MarkTable
    labels: Vector
    importance: Vector
    numbers: bool
    updates: MarkTable
    leanings: Matrix
    judged: Marks


FLAWS = (
    "",
    "progress.counters: no state that a run can be in",
    "progress.log_weights: expected 0 as the greatest",
    "progress.losses: NaN or infinity",
    "progress.state: NaN or infinity",
    "progress.asking: NaN or infinity",
    "progress.losses: expected numbers from 0",
)


@njit(cache=True, nogil=True)
def find_flaw(progress):
    """The number among `FLAWS` of what is beyond its range; 0: nothing is."""
    counters, log_weights = progress.counters, progress.log_weights
    rounds, chosen, asked = counters[ROUND], counters[CHOSEN], counters[ASKED]
    if not (0 <= counters[WEIGHED] <= asked <= rounds <= MOST_ROUNDS):
        return 1
    if not (0 <= counters[SKIPPED] <= rounds and -1 <= chosen < log_weights.shape[0]):
        return 1
    greatest = -np.inf
    for e in range(log_weights.shape[0]):
        if not log_weights[e] <= 0.0:  # of others -inf: a weight may be 0
            return 2
        greatest = max(greatest, log_weights[e])
    if greatest != 0.0:
        return 2
    if not finite(progress.losses):
        return 3
    if not finite(progress.state):
        return 4
    if not finite(progress.asking):
        return 5
    for loss in progress.losses:
        if loss < 0.0:
            return 6
    return 0


def check_progress(progress: Progress) -> None:
    """Raise InputError where numbers are beyond their ranges."""
    if found := find_flaw(progress):
        raise InputError(FLAWS[found])


def empty_board(
    n: int, experts: int, scores: int, labels: Any, importance: Any, numbers: bool,
    inputs: int = 1,
) -> Board:  # fmt: skip
    """A board for n examples."""
    shape = n, experts
    return Board(
        np.zeros((*shape, scores)), np.zeros((*shape, scores)), np.zeros(shape),
        np.zeros(shape, dtype=bool), labels, importance, numbers, np.ones(shape, dtype=bool),
        np.zeros((n, inputs * scores)), np.zeros(n, dtype=bool),
    )  # fmt: skip
