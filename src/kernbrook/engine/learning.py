"""How a model learns a block of rows: all of the block, or nothing, whatever ends it."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from kernbrook.compiler.links import new_links
from kernbrook.engine.blocks import (
    COMBINED,
    as_targets,
    check_combined,
    check_rounds,
    clock_of,
    views_of,
    warn_of_growth,
)
from kernbrook.engine.importance import rescale
from kernbrook.engine.model import Model
from kernbrook.engine.passes import run_pass
from kernbrook.engine.progress import WEIGHED, Board, check_progress
from kernbrook.engine.rounds import StorePass, run_parts
from kernbrook.engine.state import copy_arrays
from kernbrook.engine.store_verbs import parts_of
from kernbrook.engine.stores.base import Prepared, most_of, overflow
from kernbrook.engine.verbs import Clock
from kernbrook.errors import InputError, NonFiniteError
from kernbrook.gram.arrays import Flags, Floats
from kernbrook.gram.rows import Rows
from kernbrook.gram.sums import share


class Examples(NamedTuple):
    """n rows that are learned next.

    rows : as they were given, in the form that the model keeps rows in; X : as such
    labels : (n,) numbers of the classes, or targets; negative or NaN: not to be had
    weights : (n,) of the rows, as they were given
    always : whether every label that is there is looked at, whatever the policy
    calibrating : what the calibration is asked for, by name
    lifts : (n,) or 1.0: how much more rows count for the experts and their weights
    """

    rows: Rows
    X: Any
    labels: Any
    weights: Floats
    always: bool
    calibrating: dict[str, Any]
    lifts: Any = 1.0


class Answer(NamedTuple):
    """The answer of a model to n rows, before it learns from their labels.

    decisions : (n, scores), each before its label was seen
    asked : (n,) bool, whose label was looked at
    leanings : (n, inputs * scores), what the experts lean to, before the label
    certainty : of each row, by the calibration before the label; None: it was not asked
    """

    decisions: Floats
    asked: Flags
    leanings: Floats
    certainty: Any


def learn_block(model: Model, examples: Examples) -> Answer:
    """Decide on each of at most `block_rows` rows in turn, ask or not, then learn from the label.

    NonFiniteError where something overflows. Then nothing has changed.
    """
    n = len(examples.rows)
    check_rounds(model.rounds + n)
    progress, scaler = copy_arrays(model.progress), model.scaler.copy()
    views = views_of(model, scaler.learn(examples.X), examples.rows)
    pairs, X = zip(model.stores, model.states, strict=True), examples.X
    prepared = [store.prepare(state, views[store.view], progress, X) for store, state in pairs]
    targets, before = as_targets(examples.labels), int(progress.counters[WEIGHED])
    weights, usual = rescale(examples.weights, ~np.isnan(targets), model.usual, before)
    board = model.committee.board(targets, weights * examples.lifts)
    for ready in prepared:
        if ready.look is not None and ready.go is not None:
            (ready.look if model.interleaved else ready.go)(board)
    if not model.interleaved:
        run_passes(model, [(prepared, board)], clock_of(model.progress))
    members = [member for ready in prepared for member in ready.members]
    members = members if model.interleaved else []
    decisions, asked = model.committee.judge(progress, board, examples.always, members)
    check_scores(model, board)
    states = tuple(ready.finish(board, asked) for ready in prepared)
    check_combined(decisions, board.leanings)
    try:
        check_progress(progress)
    except InputError as error:
        raise NonFiniteError(f"{COMBINED} ({error})") from error
    calibration, labels = model.certain().copy(), np.where(asked, board.labels, np.nan)
    leanings, judged = board.leanings, board.judged
    certainty = calibration.learn(leanings, labels, weights, judged, **examples.calibrating)
    warn_of_growth(model.held(model.states), model.held(states))  # an error to some: before it
    if model.horizons is not None:
        model.horizons.note(model.rounds, X, labels, weights)
    usual = usual if asked.any() else model.usual
    model.take(progress, states, scaler=scaler, calibration=calibration, usual=usual)
    return Answer(decisions, asked, leanings, certainty)


def run_passes(
    model: Model, blocks: Sequence[tuple[Sequence[Prepared], Board]], clock: Clock
) -> None:
    """Have all parts of all stores go through blocks, each by itself, by several threads."""
    tasks: list[Callable[[], None]] = []
    threads = 1
    for prepared, board in blocks:
        pairs = [(ready, member) for ready in prepared for member in ready.members]
        passes = [StorePass(member, board) for _, member in pairs]
        links = new_links(run_parts, passes)

        # A task may outlive this call, which an interruption ends.
        def learn(link: Any, first: int, last: int, kept: Any = (passes, prepared)) -> None:
            run_pass(link, first, last, clock)

        for (ready, member), link in zip(pairs, links, strict=True):
            parts = parts_of(member)
            each = -(-parts // (ready.pieces * ready.threads)) if ready.threads > 1 else parts
            tasks += [partial(learn, link, i, min(i + each, parts)) for i in range(0, parts, each)]
        threads = max(threads, *(ready.threads for ready in prepared))
    share(threads, lambda task: task(), tasks)


def check_scores(model: Model, board: Board) -> None:
    """Raise NonFiniteError, naming a kernel, where scores have overflowed."""
    most = most_of(board.numbers)
    sound = (board.sizes < most) & (np.abs(board.scores) < most)  # false for NaN
    if not sound.all():
        for store in model.stores:
            in_store = sound[:, store.experts].all(axis=(0, 2))
            if not np.all(in_store):
                raise overflow(store, int(np.argmin(in_store)))
