"""What a model says of rows: nothing is learned, and no draw is used up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.engine.blocks import Views, check_combined, part_of, slices
from kernbrook.engine.learning import check_scores, go_through
from kernbrook.engine.model import Model
from kernbrook.engine.progress import Board
from kernbrook.engine.state import copied
from kernbrook.engine.stores.base import Prepared
from kernbrook.engine.verbs import Clock
from kernbrook.gram.arrays import Flags, Floats, Labels
from kernbrook.gram.sums import WORTH_A_THREAD, threads_for

LEAST, MOST = 512, 8  # rows of a block that is read beside others, and how many these are


class Leant(NamedTuple):
    """What a model says of n rows.

    decisions : (n, scores); leanings : (n, inputs * scores), what the experts lean to
    kinds : (n,) numbers of the committees that said so, see `horizons`; None: the next row's all
    """

    decisions: Floats
    leanings: Floats
    kinds: NDArray[np.int8] | None = None


def read(model: Model, views: Views, raw: Any) -> Iterator[tuple[slice, Board]]:
    """What the experts say of rows, block after block; several at a time, by threads.

    So many at a time as give each thread an expert: more would take memory, and no less time.

    raw : the rows as they were given
    """
    n = len(views[0])
    several = min(-(-threads_for(WORTH_A_THREAD) // model.n_experts), MOST)
    blocks = [*slices(n, min(model.block_rows, max(LEAST, -(-n // several))))]
    for i in range(0, len(blocks), several):
        some = blocks[i : i + several]
        yield from zip(some, _boards(model, views, raw, some), strict=True)


def _boards(model: Model, views: Views, raw: Any, blocks: Sequence[slice]) -> list[Board]:
    """The boards of blocks, filled in; what these were read with goes with this call."""
    read = [_before(model, part_of(views, own), raw[own]) for own in blocks]
    go_through(model, read, Clock(0, 0, 0))
    boards = [board for _, board in read]
    for board in boards:
        check_scores(model, board)
    return boards


def _before(model: Model, views: Views, raw: Any) -> tuple[list[Prepared], Board]:
    """What a block is read with, and its board, on which others than stores have written."""
    nothing = np.full(len(views[0]), np.nan)  # no labels: nothing is learned
    board = model.committee.board(nothing, nothing)
    prepared = [
        store.reading(state, views[store.view], raw)
        for store, state in zip(model.stores, model.states, strict=True)
    ]
    for own in prepared:
        if own.look is not None:
            own.look(board)
    return prepared, board


def lean(model: Model, views: Views, raw: Any, places: Labels | None = None) -> Leant:
    """Decisions on rows, and what the experts lean to.

    places : (n,) of the rows after the last label, from 1; None: each is the next one
    """
    horizons, n = None if places is None else model.judged(), len(views[0])
    kinds = None if places is None or horizons is None else horizons.kinds(places)
    decisions = np.zeros((n, model.setting.scores))
    leanings = np.zeros((n, model.inputs * model.setting.scores))
    for where, board in read(model, views, raw):
        decisions[where] = model.committee.decide(model.progress, board)
        leanings[where] = board.leanings
        if horizons is not None and places is not None:
            own = decisions[where], leanings[where]
            horizons.decide(model, board, raw[where], places[where], *own)
    check_combined(decisions, leanings)
    return Leant(decisions, leanings, kinds)


def would_ask(model: Model, views: Views, raw: Any) -> Flags:
    """(n,) bool: is the label of each row wanted, if it came next?"""
    asked = np.ones(len(views[0]), dtype=bool)
    if model.asks:
        progress = copied(model.progress)
        for where, board in read(model, views, raw):
            asked[where] = model.committee.would_ask(progress, board)
    return asked
