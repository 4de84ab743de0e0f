"""Buffers for rows that come one by one, or few together: made once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.compiler.links import new_links
from kernbrook.engine.rounds import StorePass, run_parts, score_parts, scratch_of
from kernbrook.engine.row import AS_GIVEN, View, Workspace, begin, scale_view
from kernbrook.engine.store_verbs import parts_of
from kernbrook.engine.stores.in_rows import Row, meet
from kernbrook.gram.arrays import Ints
from kernbrook.gram.sums import WORTH_A_THREAD, threads_for
from kernbrook.numerics.scaling import METHODS

if TYPE_CHECKING:
    from kernbrook.engine.session import RowSession


class Room(NamedTuple):
    """Buffers for n rows that come together.

    space, link : see `row.begin`
    tasks, threads : link and parts of each task of a store by itself; number of threads
    kept : what is behind the addresses in links
    """

    space: Workspace
    link: Ints
    tasks: list[tuple[Ints, int, int]]
    threads: int
    kept: list[Any]


def workspace_of(session: RowSession, n: int, kept: list[Any]) -> Workspace:
    """Buffers for n rows, on the arrays in use; kept : see `Room`."""
    model, setting, d, c = session.model, session.model.setting, session.width, session.scores
    m, methods = model.n_experts, model.scaler.methods
    given, keys, tells = np.empty((n, d)), np.zeros(n, np.int64), not setting.judges_stored
    rows = [
        Row(
            given, given if way is None else np.empty((n, d)), np.empty(n), keys, tells,
            session.leaps,
        )
        for way in methods
    ]  # fmt: skip
    board = model.committee.board(np.empty(n), np.empty(n))
    pairs = zip(session.stores, model.stores, strict=True)
    forms = [store_rows.forms(rows[store.view], kept) for store_rows, store in pairs]
    learning = [] if session.reads_only else [member for member, _ in forms]
    verb = score_parts if model.interleaved else run_parts
    return Workspace(
        model.committee.links, model.committee.choices.terms._replace(given=True),
        session.progress, board, session.due, (board.scores.copy(), board.sizes.copy()),
        np.empty((n, c)), np.zeros(n, dtype=bool), scratch_of(m), rows[0],
        keep_links(scale_view, form_views(methods, rows, session.scaling), kept),
        keep_links(verb, [StorePass(member, board) for member in learning], kept),
        np.array([parts_of(member) for member in learning], dtype=np.int64),
        keep_links(meet, [form for _, form in forms], kept),
        session.live, session.saved, session.journal, model.interleaved,
    )  # fmt: skip


def room_of(session: RowSession, n: int) -> Room:
    """Buffers for n rows that come together."""
    kept: list[Any] = []
    space = workspace_of(session, n, kept)
    link = keep_links(begin, [space], kept)[0]
    each = [store.together(n) for store in session.stores]
    tasks = [
        (store, i, min(i + (size or parts), parts))
        for store, parts, size in zip(space.stores, space.parts.tolist(), each, strict=True)
        for i in range(0, parts, size or parts)
    ]
    return Room(space, link, tasks, threads_for(WORTH_A_THREAD) if any(each) else 1, kept)


def keep_links(verb: Any, forms: Sequence[Any], kept: list[Any]) -> Ints:
    """(n, LINK) links to forms, which are kept."""
    links = new_links(verb, forms)
    kept.append((links, forms))
    return links


def form_views(
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
