"""How stores meet rows one by one, or few together, in arrays that are their own."""

from collections.abc import Sequence
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.compiler.compiling import Option, Verb
from kernbrook.compiler.links import family
from kernbrook.engine.progress import Board
from kernbrook.engine.store_verbs import part, parts_of, score
from kernbrook.engine.stores.base import Store
from kernbrook.gram.arrays import Floats, Ints, writeable

MOST_TOGETHER = 64  # rows that come together


class Row(NamedTuple):
    """n rows as they are given, (n, d), and scaled; their squared norms and keys, (n,) each.

    tells_apart : whether a row that is stored is known again, by its key
    leap : (2,) out, the first feature of these rows whose deviation has leapt, and the round; see
        `scale_rows`; NO_LEAP where none has
    """

    given: Floats
    x: Floats
    norm: Floats
    key: Ints
    tells_apart: bool
    leap: Ints


@Option
def meet(store: Any) -> None:
    """Look at the rows, before any expert scores them; nothing by default."""


@Option
def settle_rows(store: Any, chosen: int) -> None:
    """Keep what the rows have changed, after them; nothing by default.

    chosen : the expert that the rows have made the only one; -1: none
    """


@Verb
def score_only(store: Any, board: Board) -> None:
    """Fill in the board as for a row that is scored only."""
    meet(store)
    for i in range(parts_of(store.member)):
        score(part(store.member, i, board), 0, board)


family(meet, settle_rows, score_only)


class InRows:
    """A store that meets rows one by one, or few together, and changes its state in place.

    Parameters
    ----------
    state : as it is now

    Attributes
    ----------
    state : the state in use
    """

    state: Any

    def __init__(self, store: Any, state: Any):
        raise NotImplementedError

    def changing(self, state: Any) -> Sequence[NDArray[Any]]:
        """The arrays of a state that rows change; those in use have the same shapes."""
        raise NotImplementedError

    def use(self, arrays: Sequence[NDArray[Any]]) -> None:
        """Take arrays like those of `changing` for those of `state`."""
        raise NotImplementedError

    def over(self, state: Any) -> None:
        """Use the arrays of a state themselves, which are only read."""
        self.use([writeable(array) for array in self.changing(state)])

    def forms(self, row: Row, kept: list[Any]) -> tuple[Any, Any]:
        """Compiled forms on the arrays in use: for the rounds; for `meet` and so on.

        row : where rows come, as the store sees them; so many always come together
        kept : out, what has to outlive them besides
        """
        raise NotImplementedError

    def together(self, n: int) -> int:
        """How many parts of the store one thread takes, of n rows; 0: all."""
        return 0

    def load(self, state: Any) -> None:
        """Copy a state into the one in use."""
        pairs = zip(self.changing(self.state), self.changing(state), strict=True)
        for here, other in pairs:
            np.copyto(here, other)


@singledispatch
def in_rows(store: Store, state: Any) -> type[InRows] | str:
    """How a store meets rows one by one, or what it has that does not. Stores register theirs."""
    return store.by_block or f"the store {type(store).__name__}"


def lay_flat(groups: Sequence[Sequence[NDArray[Any]]]) -> tuple[Ints, list[list[NDArray[Any]]]]:
    """One flat array, (words,), and parts of it, each of a shape and type like one in `groups`."""
    words = [[-(-array.nbytes // 8) for array in group] for group in groups]
    memory = np.zeros(sum(map(sum, words)), dtype=np.int64)
    at = 0
    parts: list[list[NDArray[Any]]] = []
    for group, sizes in zip(groups, words, strict=True):
        parts.append([])
        for array, size in zip(group, sizes, strict=True):
            piece = memory[at : at + size].view(np.uint8)[: array.nbytes]
            parts[-1].append(piece.view(array.dtype).reshape(array.shape))
            at += size
    return memory, parts
