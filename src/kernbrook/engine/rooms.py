"""What rows are learned with that come one by one, or few together: made once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.compiler.links import new_links
from kernbrook.engine.rounds import Met, go_through, score_some, scratch_of
from kernbrook.engine.row import AS_GIVEN, View, Whole, begin, sight
from kernbrook.engine.store_verbs import parts_of
from kernbrook.engine.stores.in_rows import Row, meet
from kernbrook.gram.arrays import Labels
from kernbrook.gram.sums import WORTH_A_THREAD, threads_for
from kernbrook.numerics.scaling import METHODS

if TYPE_CHECKING:
    from kernbrook.engine.session import RowSession


class Room(NamedTuple):
    """What n rows are learned with that come together.

    whole, link : see `row.begin`
    tasks, threads : links and parts of what stores learn by themselves, by so many threads
    kept : what is behind the addresses in links
    """

    whole: Whole
    link: Labels
    tasks: list[tuple[Labels, int, int]]
    threads: int
    kept: list[Any]


def whole_of(own: RowSession, n: int, kept: list[Any]) -> Whole:
    """What n rows are learned with, in the arrays in use; kept : see `Room`."""
    model, setting, d, c = own.model, own.model.setting, own.width, own.scores
    m, methods = model.n_experts, model.scaler.methods
    given, keys, tells = np.empty((n, d)), np.zeros(n, np.int64), not setting.judges_stored
    rows = [
        Row(
            given, given if way is None else np.empty((n, d)), np.empty(n), keys, tells,
            own.leaps,
        )
        for way in methods
    ]  # fmt: skip
    board = model.committee.board(np.empty(n), np.empty(n))
    pairs = zip(own.stores, model.stores, strict=True)
    forms = [its.forms(rows[store.view], kept) for its, store in pairs]
    learning = [] if own.reads_only else [member for member, _ in forms]
    verb = score_some if model.interleaved else go_through
    return Whole(
        model.committee.links, model.committee.choices.terms._replace(given=True),
        own.progress, board, own.due, (board.scores.copy(), board.sizes.copy()),
        np.empty((n, c)), np.zeros(n, dtype=bool), scratch_of(m), rows[0],
        linked(sight, views(methods, rows, own.scaling), kept),
        linked(verb, [Met(member, board) for member in learning], kept),
        np.array([parts_of(member) for member in learning], dtype=np.int64),
        linked(meet, [form for _, form in forms], kept),
        own.live, own.saved, own.journal, model.interleaved,
    )  # fmt: skip


def room_of(own: RowSession, n: int) -> Room:
    """What n rows are learned with that come together."""
    kept: list[Any] = []
    whole = whole_of(own, n, kept)
    link = linked(begin, [whole], kept)[0]
    each = [store.together(n) for store in own.stores]
    tasks = [
        (store, i, min(i + (size or parts), parts))
        for store, parts, size in zip(whole.stores, whole.parts.tolist(), each, strict=True)
        for i in range(0, parts, size or parts)
    ]
    return Room(whole, link, tasks, threads_for(WORTH_A_THREAD) if any(each) else 1, kept)


def linked(verb: Any, forms: Sequence[Any], kept: list[Any]) -> Labels:
    """(n, LINK) links to forms, which are kept."""
    links = new_links(verb, forms)
    kept.append((links, forms))
    return links


def views(
    methods: Sequence[str | None], rows: Sequence[Row], arrays: Sequence[NDArray[Any]]
) -> list[View]:
    """The compiled form of each view; arrays : three of each one that is scaled."""
    found = []
    for method, row in zip(methods, rows, strict=True):
        if method is None:
            nothing = np.empty((0, 0))
            found.append(View(row, AS_GIVEN, np.empty(0, dtype=np.int64), nothing, nothing))
            continue
        (seen, first, second), arrays = arrays[:3], arrays[3:]
        state = seen, np.atleast_2d(first), np.atleast_2d(second)
        found.append(View(row, METHODS[method], *state))
    return found
