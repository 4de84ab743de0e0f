"""How a model learns a block of rows: all of the block, or nothing, whatever ends it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from kernbrook.engine import passes
from kernbrook.engine.blocks import (
    COMBINED,
    as_targets,
    check_combined,
    check_rounds,
    clock_of,
    views_of,
    warn_of_growth,
)
from kernbrook.engine.importance import relative
from kernbrook.engine.model import Model
from kernbrook.engine.progress import WEIGHED, Board, check_progress
from kernbrook.engine.state import copied
from kernbrook.engine.store_verbs import parts_of
from kernbrook.engine.stores.base import Prepared, most_of, overflow
from kernbrook.engine.verbs import Clock
from kernbrook.errors import InputError, NonFiniteError
from kernbrook.gram.arrays import Flags, Floats
from kernbrook.gram.rows import Rows
from kernbrook.gram.sums import share


class Told(NamedTuple):
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
    """What a model says of n rows as it learns them.

    decisions : (n, scores), each before its label was seen
    asked : (n,) bool, whose label was looked at
    leanings : (n, inputs * scores), what the experts lean to, before the label
    said : what the calibration says of each, before the label; None where it was not asked
    """

    decisions: Floats
    asked: Flags
    leanings: Floats
    said: Any


def learn_block(model: Model, told: Told) -> Answer:
    """Decide on each of at most `block_rows` rows in turn, ask or not, then learn from the label.

    NonFiniteError where something overflows. Then nothing has changed.
    """
    n = len(told.rows)
    check_rounds(model.rounds + n)
    progress, scaler = copied(model.progress), model.scaler.copy()
    views = views_of(model, scaler.learn(told.X), told.rows)
    pairs = zip(model.stores, model.states, strict=True)
    prepared = [store.prepare(state, views[store.view], progress, told.X) for store, state in pairs]
    targets, before = as_targets(told.labels), int(progress.counters[WEIGHED])
    weights, usual = relative(told.weights, ~np.isnan(targets), model.usual, before)
    board = model.committee.board(targets, weights * told.lifts)
    for own in prepared:
        if own.look is not None and own.go is not None:
            (own.look if model.interleaved else own.go)(board)
    if not model.interleaved:
        go_through(model, [(prepared, board)], clock_of(model.progress))
    members = [member for own in prepared for member in own.members]
    members = members if model.interleaved else []
    decisions, asked = model.committee.judge(progress, board, told.always, members)
    check_scores(model, board)
    states = tuple(own.finish(board, asked) for own in prepared)
    check_combined(decisions, board.leanings)
    try:
        check_progress(progress)
    except InputError as error:
        raise NonFiniteError(f"{COMBINED} ({error})") from error
    calibration, labels = model.certain().copy(), np.where(asked, board.labels, np.nan)
    said = calibration.learn(board.leanings, labels, weights, board.judged, **told.calibrating)
    warn_of_growth(model.held(model.states), model.held(states))  # an error to some: before it
    if model.horizons is not None:
        model.horizons.note(model.rounds, told.X, labels, weights)
    usual = usual if asked.any() else model.usual
    model.take(progress, states, scaler=scaler, calibration=calibration, usual=usual)
    return Answer(decisions, asked, board.leanings, said)


def go_through(
    model: Model, blocks: Sequence[tuple[Sequence[Prepared], Board]], clock: Clock
) -> None:
    """All parts of all stores go through blocks, each by itself, by several threads."""
    tasks: list[Callable[[], None]] = []
    threads = 1
    for prepared, board in blocks:
        pairs = [(own, member) for own in prepared for member in own.members]
        links, kept = passes.stores([member for _, member in pairs], board, True)

        # A task may outlive this call, which an interruption ends.
        def learn(link: Any, first: int, last: int, kept: Any = (kept, prepared)) -> None:
            passes.learner_pass(link, first, last, clock)

        for (own, member), link in zip(pairs, links, strict=True):
            parts = parts_of(member)
            each = -(-parts // (own.pieces * own.threads)) if own.threads > 1 else parts
            tasks += [partial(learn, link, i, min(i + each, parts)) for i in range(0, parts, each)]
        threads = max(threads, *(own.threads for own in prepared))
    share(threads, lambda task: task(), tasks)


def check_scores(model: Model, board: Board) -> None:
    """Raise NonFiniteError, naming a kernel, where scores have overflowed."""
    most = most_of(board.numbers)
    sound = (board.sizes < most) & (np.abs(board.scores) < most)  # false for NaN
    if not sound.all():
        for store in model.stores:
            own = sound[:, store.experts].all(axis=(0, 2))
            if not np.all(own):
                raise overflow(store, int(np.argmin(own)))
