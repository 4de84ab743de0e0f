"""What a model says of rows: nothing is learned, and no draw is used up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernbrook.compiler.links import ROOM
from kernbrook.engine.blocks import Views, check_combined, part_of, slices
from kernbrook.engine.learning import board_of, check_scores, go_through
from kernbrook.engine.model import Model
from kernbrook.engine.progress import Board
from kernbrook.engine.state import copied
from kernbrook.engine.verbs import Clock
from kernbrook.gram.arrays import Flags, Floats, Labels
from kernbrook.gram.rows import DenseRows, Rows, SparseRows


class Leant(NamedTuple):
    """What a model says of n rows.

    decisions : (n, scores); leanings : (n, inputs * scores), what the experts lean to
    kinds : (n,) numbers of the committees that said so, see `horizons`; None: the next row's all
    """

    decisions: Floats
    leanings: Floats
    kinds: NDArray[np.int8] | None = None


def rows_of(model: Model, X: Any) -> Rows:
    """X in the form that the model keeps rows in."""
    if model.sparse:
        return SparseRows.of(X if sp.issparse(X) else sp.csr_matrix(X))
    return DenseRows.of(np.ascontiguousarray(X.toarray()) if sp.issparse(X) else X)


def views_of(model: Model, scaled: Sequence[Any], rows: Rows) -> Views:
    """The rows in each view. scaled : of each view the rows, or None where they are as given"""
    views = (rows if X is None else replace(rows_of(model, X), keys=rows.keys) for X in scaled)
    return tuple(views)


def read(model: Model, views: Views, raw: Any, where: slice, states: Any = None) -> Board:
    """What the experts say of some of the rows.

    raw : the rows as they were given
    states : of the model as it was once; None: as it is
    """
    views, raw = part_of(views, where), None if raw is None else raw[where]
    nothing = np.full(len(views[0]), np.nan)  # no labels: nothing is learned
    board = board_of(model, len(nothing), nothing, nothing)
    passes = [
        store.reading(state, views[store.view], raw)
        for store, state in zip(model.stores, states or model.states, strict=True)
    ]
    for own in passes:
        if own.look is not None:
            own.look(board)
    go_through(model, passes, board, Clock(0, 0, 0))
    check_scores(model, board)
    return board


def lean(model: Model, views: Views, raw: Any = None, places: Labels | None = None) -> Leant:
    """Decisions on rows, and what the experts lean to.

    places : (n,) of the rows after the last label, from 1; None: each is the next one
    """
    horizons, n = model.horizons, len(views[0])
    kinds = None if places is None or horizons is None else horizons.kinds(places)
    decisions = np.zeros((n, model.setting.scores))
    leanings = np.zeros((n, model.inputs * model.setting.scores))
    room, committee = np.empty(ROOM, dtype=np.int64), model.passes.committee(model.choices)
    for where in slices(n, model.block_rows):
        board, said = read(model, views, raw, where), decisions[where]
        model.passes.decide(committee, model.choices.terms, model.progress, board, said, room)
        leanings[where] = board.leanings
        if horizons is not None and kinds is not None and places is not None:
            ahead = kinds[where], places[where]
            horizons.decide(model, board, raw[where], ahead, said, leanings[where])
    check_combined(decisions, leanings)
    return Leant(decisions, leanings, kinds)


def would_ask(model: Model, views: Views, raw: Any = None) -> Flags:
    """(n,) bool: is the label of each row wanted, if it came next?"""
    asked = np.ones(len(views[0]), dtype=bool)
    if model.asks:
        progress, terms = copied(model.progress), model.choices.terms
        room, committee = np.empty(ROOM, dtype=np.int64), model.passes.committee(model.choices)
        for where in slices(len(views[0]), model.block_rows):
            board = read(model, views, raw, where)
            model.passes.would_ask(committee, terms, progress, board, asked[where], room)
    return asked
