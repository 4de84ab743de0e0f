"""Decisions of a model on rows: nothing is learned, and no draw is used up."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.engine.blocks import Views, check_combined, slices
from kernbrook.engine.learning import check_scores, run_passes
from kernbrook.engine.model import Model
from kernbrook.engine.progress import Board
from kernbrook.engine.state import copy_arrays
from kernbrook.engine.stores.base import Prepared
from kernbrook.engine.verbs import Clock
from kernbrook.gram.arrays import Flags, Floats, Ints
from kernbrook.gram.sums import WORTH_A_THREAD, threads_for

LEAST, MOST = 512, 8  # rows of a block that is read beside others, and how many these are


class Verdicts(NamedTuple):
    """The decisions of a model on n rows.

    decisions : (n, scores)
    leanings : (n, inputs * scores), what the experts lean to; or as `FarCalibration` takes them
    kinds : (n,) numbers of the committees that decided, see `horizons`; None: the next row's
    """

    decisions: Floats
    leanings: Floats
    kinds: NDArray[np.int8] | None = None


def read_boards(model: Model, views: Views, raw: Any) -> Iterator[tuple[slice, Board]]:
    """Boards with the experts' scores of rows, block after block; several at a time, by threads.

    So many at a time as give each thread an expert: more would take memory, and no less time.

    raw : the rows as they were given
    """
    n = len(views[0])
    several = min(-(-threads_for(WORTH_A_THREAD) // model.n_experts), MOST)
    blocks = [*slices(n, min(model.block_rows, max(LEAST, -(-n // several))))]
    for i in range(0, len(blocks), several):
        some = blocks[i : i + several]
        yield from zip(some, _fill_boards(model, views, raw, some), strict=True)


def _fill_boards(model: Model, views: Views, raw: Any, blocks: Sequence[slice]) -> list[Board]:
    """The boards of blocks, filled in; other memory that this takes is free afterwards."""
    boards_read = [
        _prepare_board(model, tuple(rows.part(at.start, at.stop) for rows in views), raw[at])
        for at in blocks
    ]
    run_passes(model, boards_read, Clock(0, 0, 0))
    boards = [board for _, board in boards_read]
    for board in boards:
        check_scores(model, board)
    return boards


def _prepare_board(model: Model, views: Views, raw: Any) -> tuple[list[Prepared], Board]:
    """Prepared stores for a block, and its board, which experts from outside have filled in."""
    nothing = np.full(len(views[0]), np.nan)  # no labels: nothing is learned
    board = model.committee.board(nothing, nothing)
    prepared = [
        store.reading(state, views[store.view], raw)
        for store, state in zip(model.stores, model.states, strict=True)
    ]
    for ready in prepared:
        if ready.look is not None:
            ready.look(board)
    return prepared, board


def decide(model: Model, views: Views, raw: Any, places: Ints | None = None) -> Verdicts:
    """Decisions on rows, and what the experts lean to.

    places : (n,) of the rows after the last label, from 1; None: each is the next one
    """
    horizons: Any = None if places is None else model.judged()
    n = len(views[0])
    kinds = None if places is None or horizons is None else horizons.kinds(places)
    far = places if kinds is not None and kinds.any() else None
    decisions = np.zeros((n, model.setting.scores))
    each = [np.zeros((0, model.inputs * model.setting.scores))]
    for where, board in read_boards(model, views, raw):
        decisions[where], own = model.committee.decide(model.progress, board), board.leanings
        if far is not None:
            own = horizons.decide(model, board, raw[where], far[where], decisions[where], own)
        each.append(own)
    leanings = np.concatenate(each[bool(n) :])
    check_combined(decisions, leanings)
    return Verdicts(decisions, leanings, kinds)


def would_ask(model: Model, views: Views, raw: Any) -> Flags:
    """(n,) bool: is the label of each row wanted, if it came next?"""
    asked = np.ones(len(views[0]), dtype=bool)
    if model.asks:
        progress = copy_arrays(model.progress)
        for where, board in read_boards(model, views, raw):
            asked[where] = model.committee.would_ask(progress, board)
    return asked
