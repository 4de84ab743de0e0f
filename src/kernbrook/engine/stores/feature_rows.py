"""Experts on features, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from numpy.typing import NDArray

from kernbrook.compiler.links import new_links, through
from kernbrook.engine import store_verbs
from kernbrook.engine.store_verbs import parts_of
from kernbrook.engine.stores.in_rows import InRows, Row, in_rows, meet, read
from kernbrook.engine.stores.linear import Linear, LinearState, OnFeatures
from kernbrook.features.base import write_row
from kernbrook.gram.arrays import Floats, Labels
from kernbrook.gram.rows import DenseRows


class RowOfFeatures(NamedTuple):
    """A row, as experts on features meet it.

    member : the form for the rounds
    x : (1, d) the row
    maps : (k, LINK) links to the maps; none where they are not compiled
    """

    member: OnFeatures
    x: Floats
    maps: Labels


class FeaturesInRows(InRows):
    """Of experts on features."""

    def __init__(self, store: Linear, state: LinearState, row: Row):
        self.store, self.pool = store, state.pool
        self.rows = DenseRows(row.x, row.norm, row.key)
        self.features = state.pool.empty(1)
        rules = state.pool.rules()
        self.compiled = all(rule is not None for rule in rules)
        self.maps, self.kept = new_links(write_row, rules if self.compiled else ()), rules

    @staticmethod
    def slow(store: Linear, state: LinearState) -> str | None:
        rules = state.pool.rules()
        return "feature maps that are not compiled" if any(rule is None for rule in rules) else None

    def changing(self, state: LinearState) -> tuple[Floats, Floats]:
        return state.theta, state.extra

    def use(self, arrays: Sequence[NDArray[Any]]) -> tuple[OnFeatures, RowOfFeatures]:
        theta, extra = arrays
        self.state = LinearState(theta, extra, self.pool)
        member = self.store.member(self.features, theta, extra, self.store.scratch())
        return member, RowOfFeatures(member, self.rows.X, self.maps)

    def fill(self) -> None:
        self.pool.fill(self.rows, self.features)


@in_rows.register(Linear)
def _features_in_rows(store: Linear) -> type[InRows]:
    return FeaturesInRows


@meet.of(RowOfFeatures)
def _meet_features(store):
    for k in range(len(store.maps)):
        through(write_row, store.maps[k], store.x, store.member.block.features)


@read.of(RowOfFeatures)
def _read_features(store, board):
    meet(store)
    for i in range(parts_of(store.member)):
        store_verbs.score(store_verbs.part(store.member, i, board), 0, board)
