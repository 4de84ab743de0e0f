"""The passes over a block: compiled, or as Python where somebody's verbs are not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from kernbrook.compiler.links import linked, naming, new_links
from kernbrook.engine.committee import decide, would_ask
from kernbrook.engine.progress import Board, Choices
from kernbrook.engine.rounds import Met, go_through, learner_pass, rounds, score_some
from kernbrook.engine.verbs import select, update, wants


class Passes(NamedTuple):
    """What a model calls.

    committee : choices -> links to them
    stores : (members, board, alone) -> links to stores' compiled forms, and what must outlive
        these; alone : for `learner_pass`, else for `rounds`
    rounds, learner_pass, decide, would_ask : as in `rounds` or `committee`
    """

    committee: Callable[[Choices], tuple[Any, Any, Any]]
    stores: Callable[[Sequence[Any], Board, bool], tuple[Any, Any]]
    rounds: Callable[..., None]
    learner_pass: Callable[..., None]
    decide: Callable[..., None]
    would_ask: Callable[..., None]


def _committee(choices: Choices, compiled: bool = True) -> tuple[Any, Any, Any]:
    return (
        linked(update, (choices.combiner,), compiled)[0],
        linked(select, (choices.selection,), compiled)[0],
        linked(wants, (choices.policy,), compiled)[0],
    )


def _stores(members: Sequence[Any], board: Board, alone: bool) -> tuple[Any, Any]:
    verb = go_through if alone else score_some
    met = [Met(member, board) for member in members]
    return new_links(verb, met), met


def _plain_stores(members: Sequence[Any], board: Board, alone: bool) -> tuple[Any, Any]:
    return [Met(member, board) for member in members], None


def _as_python(function: Any) -> Callable[..., None]:
    """The Python of a compiled pass: verbs are Python there, all else is compiled."""
    source = function.py_func
    names = {**source.__globals__, "borrowed": lambda value: value}
    body = FunctionType(source.__code__, names, source.__name__)

    def run(*arguments: Any) -> None:
        with np.errstate(all="ignore"):  # as compiled code does
            body(*arguments)

    return run


_PASSES = rounds, learner_pass, decide, would_ask
COMPILED = Passes(_committee, _stores, *map(naming, _PASSES))
PLAIN = Passes(partial(_committee, compiled=False), _plain_stores, *map(_as_python, _PASSES))
