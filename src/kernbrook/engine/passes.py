"""The passes over a block: compiled, or as Python where somebody's verbs are not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from kernbrook.engine.committee import (
    SEAT,
    Seat,
    decide,
    seat_combiner,
    seat_policy,
    seat_selection,
    would_ask,
)
from kernbrook.engine.progress import Board, Choices, Progress, Talk
from kernbrook.engine.rounds import STORE, learner_pass, link_store, rounds


class Passes(NamedTuple):
    """What a model calls.

    committee : (choices, progress, board, talk) -> links to them, and what must outlive these
    stores : (members, board) -> links to stores' compiled forms, and what must outlive these
    rounds, learner_pass, decide, would_ask : as in `rounds` or `committee`
    """

    committee: Callable[[Choices, Progress, Board, Talk], tuple[Any, Any]]
    stores: Callable[[Sequence[Any], Board], tuple[Any, Any]]
    rounds: Callable[..., None]
    learner_pass: Callable[..., None]
    decide: Callable[..., None]
    would_ask: Callable[..., None]


def _seats(choices: Choices, progress: Progress, board: Board, talk: Talk) -> list[Seat]:
    return [Seat(rule, choices.terms.loss, progress, board, talk) for rule in choices[:3]]


def _committee(*told: Any) -> tuple[Any, Any]:
    links, seats = np.empty((3, SEAT), np.int64), _seats(*told)
    makers = seat_combiner, seat_selection, seat_policy
    return links, [make(*own) for make, *own in zip(makers, seats, links, strict=True)]


def _stores(members: Sequence[Any], board: Board) -> tuple[Any, Any]:
    links = np.empty((len(members), STORE), np.int64)
    pairs = zip(members, links, strict=True)
    return links, [link_store((member, board), link) for member, link in pairs]


def _as_python(function: Any) -> Callable[..., None]:
    """The Python of a compiled pass: steps and verbs are Python there, all else is compiled."""
    source = function.py_func
    names = {**source.__globals__, "borrowed": lambda value: value}
    body = FunctionType(source.__code__, names, source.__name__)

    def run(*arguments: Any) -> None:
        with np.errstate(all="ignore"):  # as compiled code does
            body(*arguments)

    return run


_PASSES = rounds, learner_pass, decide, would_ask
COMPILED = Passes(_committee, _stores, *_PASSES)
PLAIN = Passes(
    lambda *told: (_seats(*told), None),
    lambda members, board: ([(member, board) for member in members], None),
    *map(_as_python, _PASSES),
)
