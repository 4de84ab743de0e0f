"""The passes over a block: compiled, or as Python where somebody's verbs are not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.engine.committee import decide, would_ask
from kernbrook.engine.progress import Board
from kernbrook.engine.rounds import LINK, learner_pass, link, rounds


class Passes(NamedTuple):
    """What a model calls, each but the first as in `rounds` or `committee`.

    links : (members, board) -> links to members, and what must outlive the passes
    """

    links: Callable[[Sequence[Any], Board], tuple[Any, Any]]
    rounds: Callable[..., None]
    learner_pass: Callable[..., None]
    decide: Callable[..., None]
    would_ask: Callable[..., None]


def _as_python(function: Any) -> Callable[..., None]:
    """The Python of a compiled pass: verbs are Python functions there, all else is compiled."""
    source = function.py_func
    names = {**source.__globals__, "borrowed": lambda value: value}
    body = FunctionType(source.__code__, names, source.__name__)

    def run(*arguments: Any) -> None:
        with np.errstate(all="ignore"):  # as compiled code does
            body(*arguments)

    return run


def _links(members: Sequence[Any], board: Board) -> tuple[NDArray[np.int64], Any]:
    links = np.empty((len(members), LINK), np.int64)
    return links, [link(member, board, own) for member, own in zip(members, links, strict=True)]


def _plain_links(members: Sequence[Any], board: Board) -> tuple[Sequence[Any], Any]:
    return members, None


_PASSES = rounds, learner_pass, decide, would_ask
COMPILED = Passes(_links, *_PASSES)
PLAIN = Passes(_plain_links, *map(_as_python, _PASSES))
