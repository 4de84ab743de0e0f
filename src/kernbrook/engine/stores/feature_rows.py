"""Experts on features, in arrays that are their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from numpy.typing import NDArray

from kernbrook.compiler.compiling import njit
from kernbrook.compiler.links import new_links, through
from kernbrook.engine import store_verbs
from kernbrook.engine.store_verbs import parts_of
from kernbrook.engine.stores.in_rows import InRows, Row, in_rows, meet, score_only
from kernbrook.engine.stores.linear import FeaturesForm, Linear, LinearState
from kernbrook.features.base import write_rows
from kernbrook.gram.arrays import Floats, Ints
from kernbrook.gram.rows import DenseRows


class RowOfFeatures(NamedTuple):
    """Rows, as experts on features meet them.

    member : the form for the rounds
    x : (n, d) the rows
    maps : (k, LINK) links to the maps; none where they are not compiled
    """

    member: FeaturesForm
    x: Floats
    maps: Ints


class FeaturesInRows(InRows):
    """A `Linear` store row by row, on arrays of its own."""

    def __init__(self, store: Linear, state: LinearState):
        self.store, self.pool = store, state.pool
        self.compiled = self.slow(store, state) is None

    @staticmethod
    def slow(store: Linear, state: LinearState) -> str | None:
        rules = state.pool.rules(1)
        return "feature maps that are not compiled" if any(rule is None for rule in rules) else None

    def changing(self, state: LinearState) -> tuple[Floats, Floats]:
        return state.theta, state.extra

    def use(self, arrays: Sequence[NDArray[Any]]) -> None:
        theta, extra = arrays
        self.state = LinearState(theta, extra, self.pool)

    def forms(self, row: Row, kept: list[Any]) -> tuple[FeaturesForm, RowOfFeatures]:
        n, (theta, extra, pool) = len(row.x), self.state
        rules, features = pool.rules(n) if self.compiled else [], pool.empty(n)
        maps = new_links(write_rows, rules)
        kept.append(rules)
        self.rows, self.features = DenseRows(row.x, row.norm, row.key), features
        member = self.store.member(features, theta, extra, self.store.scratch())
        return member, RowOfFeatures(member, row.x, maps)

    def together(self, n: int) -> int:
        return self.store.together(n)

    def fill(self) -> None:
        self.pool.fill(self.rows, self.features)


@in_rows.register(Linear)
def _features_in_rows(store: Linear) -> type[InRows]:
    return FeaturesInRows


@meet.of(RowOfFeatures)
def _meet_features(store):
    write_all(store.maps, store.x, store.member.block.features)


@njit(cache=True)
def write_all(maps, X, out):
    """Write the features of rows, (n, d), by all maps; out : as of `write_rows`."""
    for k in range(len(maps)):
        through(write_rows, maps[k], X, out)


@score_only.of(RowOfFeatures)
def _read_features(store, board):
    meet(store)
    for i in range(parts_of(store.member)):
        store_verbs.score(store_verbs.part(store.member, i, board), 0, board)
