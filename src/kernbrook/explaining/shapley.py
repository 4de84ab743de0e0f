"""Shapley values of one row against others, from drawn orders of the columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from kernbrook.explaining.asked import Floats, Places, batch, dense
from kernbrook.streams.tables.encoded_columns import stacked

PER_ROW = 4  # orders for a row of the background, at least: two, and these from their ends


class Shares(NamedTuple):
    """What a score is made of.

    Attributes
    ----------
    score, base : of the row, and the mean of the others
    contributions : (c,) what each column adds to the base
    errors : (c,) their standard errors
    """

    score: float
    base: float
    contributions: Floats
    errors: Floats


class Walk(NamedTuple):
    """From a row of the background to the row that is explained, column by column.

    Attributes
    ----------
    other : number of the row of the background
    pair : number of its pair of orders
    order : (k,) columns in which the two rows differ
    """

    other: int
    pair: int
    order: Places


def shapley(
    ask: Callable[[Any], Floats],
    x: Any,
    background: Any,
    group_of: Places,
    orders: int,
    generator: Any,
) -> Shares:
    """Share out what a score of a row is above its mean over a background.

    From each row of the background the columns of x are put in one after the other, and each is
    given what the score changes by then. That is done in drawn orders and in the same from their
    ends: interactions of two columns are then halved exactly.

    Parameters
    ----------
    ask : the scores, (n,), of rows, (n, d)
    x : (1, d) array, or CSR
    background : (m, d), the same
    group_of : (d,) numbers of the columns that the d numbers belong to; -1: to none
    orders : how many are drawn in all, about; of each row of the background 4 at least
    generator : RandomState
    """
    rows = Between(x, background, group_of)
    ends = ask(stacked([x, background]))
    score, others = float(ends[0]), ends[1:]
    m = len(others)
    pairs = max(PER_ROW, orders // m) // 2
    parts = np.zeros((m, pairs, rows.n_columns))
    for walks in _together(_walks(rows, pairs, generator), batch(x.shape[1])):
        between = stacked([rows.on(walk) for walk in walks])
        said = ask(between) if between.shape[0] else ()
        at = 0
        for walk in walks:
            steps = len(walk.order) - 1
            scores = [others[walk.other], *said[at : at + steps], score]
            parts[walk.other, walk.pair, walk.order] += 0.5 * np.diff(scores)
            at += steps
    spread = parts.var(axis=1, ddof=1).sum(axis=0) / pairs
    contributions = parts.mean(axis=1).sum(axis=0) / m
    return Shares(score, float(others.mean()), contributions, np.sqrt(spread) / m)


def _walks(rows: Between, pairs: int, generator: Any) -> Iterator[Walk]:
    for other, differs in enumerate(rows.differs):
        columns = np.flatnonzero(differs)
        for pair in range(pairs if len(columns) else 0):
            order = generator.permutation(columns)
            yield Walk(other, pair, order)
            yield Walk(other, pair, order[::-1])


def _together(walks: Iterator[Walk], most: int) -> Iterator[list[Walk]]:
    """Walks that are asked about together: of so many rows, or one."""
    held, rows = list[Walk](), 0
    for walk in walks:
        if held and rows + len(walk.order) > most:
            yield held
            held, rows = [], 0
        held.append(walk)
        rows += len(walk.order)
    if held:
        yield held


class Between:
    """Rows that have some columns of one row and the others of another row.

    Attributes
    ----------
    differs : (m, c) bool, the columns in which each row of the background differs from x
    """

    def __init__(self, x: Any, background: Any, group_of: Places):
        self.sparse, self.width = sp.issparse(x), x.shape[1]
        self.n_columns = int(group_of.max(initial=-1)) + 1
        if self.sparse:  # elsewhere all are 0
            self.places = np.unique(np.concatenate([x.indices, background.indices]))
        else:
            self.places = np.flatnonzero((background != x).any(axis=0))
        self.places = self.places[group_of[self.places] >= 0]
        self.group_of = group_of[self.places]
        self.whole = None if self.sparse else x
        self.x, self.background = (dense(rows[:, self.places]) for rows in (x, background))
        place = np.arange(len(self.places))
        shape = len(self.places), self.n_columns
        ones = sp.csr_array((np.ones(len(place)), (place, self.group_of)), shape=shape)
        self.differs = ((self.background != self.x) @ ones) > 0

    def on(self, walk: Walk) -> Any:
        """(k - 1, d) the rows between the ends of a walk of k steps."""
        step_of = np.full(self.n_columns, self.n_columns)
        step_of[walk.order] = np.arange(len(walk.order))
        taken = step_of[self.group_of] <= np.arange(len(walk.order) - 1)[:, None]
        values = np.where(taken, self.x, self.background[walk.other])
        if self.whole is not None:
            rows = np.repeat(self.whole, len(values), axis=0)
            rows[:, self.places] = values
            return rows
        found = sp.csr_array(values)
        shape = len(values), self.width
        return sp.csr_array((found.data, self.places[found.indices], found.indptr), shape=shape)
