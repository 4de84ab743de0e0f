"""The passes over a block: compiled, or as Python where somebody's verbs are not."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from kernbrook.engine.committee import decide, would_ask
from kernbrook.engine.rounds import learner_pass, rounds


class Passes(NamedTuple):
    """What a model calls, each as in `rounds` or `committee`."""

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


COMPILED = Passes(rounds, learner_pass, decide, would_ask)
PLAIN = Passes(*map(_as_python, COMPILED))
