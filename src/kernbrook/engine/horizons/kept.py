"""A model as it was, which says what it would have said of rows that have come since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.engine.blocks import rows_of, views_of
from kernbrook.engine.deciding import read_boards
from kernbrook.engine.horizons import lines
from kernbrook.engine.horizons.distant import beside
from kernbrook.engine.horizons.lines import Lines
from kernbrook.engine.progress import Board
from kernbrook.engine.state import pick
from kernbrook.errors import NonFiniteError
from kernbrook.gram.arrays import Floats, Ints, within

if TYPE_CHECKING:
    from kernbrook.engine.model import Model


class Kept(NamedTuple):
    """A model as it was, which says what it said then, with what belonged to it.

    lines : the regressions; certain : of classes the calibration
    """

    model: Model
    lines: Lines
    certain: Any = None

    def scored(self, X: Any, places: Ints, said: Sequence[Any]) -> tuple[Floats, ...] | None:
        """As `beside`, of rows; None where it cannot see them.

        places : (n,) of the rows after the last label that it knew
        said : (scores, sizes) of each row, if it was asked before
        """
        model, nothing = self.model, np.full(len(said), np.nan)
        if None in said:
            try:
                views = views_of(model, model.scaler.transform(X), rows_of(model, X))
                parts = [part for _, part in read_boards(model, views, X)]
            except NonFiniteError:  # `predict` would have refused these rows
                return None
            said = [own for part in parts for own in zip(part.scores, part.sizes, strict=True)]
        board = model.committee.board(nothing, nothing)
        board.scores[:], board.sizes[:] = zip(*said, strict=True)
        return self.beside(board, X, places)

    def beside(self, board: Board, X: Any, places: Ints) -> tuple[Floats, ...]:
        """See `beside`; and the probabilities that it gave the classes, (n, 0) of numbers."""
        decisions = self.model.committee.decide(self.model.progress, board)
        chances = np.empty((len(places), 0))
        if not board.numbers:
            chances = self.certain.probabilities(board.leanings)
        return *beside(board, decisions, self.lines, X, places), chances

    @property
    def _certain(self) -> dict[str, NDArray[Any]]:
        return {} if self.certain is None else self.certain.arrays()

    def nbytes(self, model: Model) -> int:
        """Bytes of all this, but for arrays that the model of now has in use."""
        was = self.model
        trio = zip(model.stores, was.states, model.states, strict=True)
        own = sum(store.nbytes_beside(state, now) for store, state, now in trio)
        more = (*was.scaler.arrays().values(), *self._certain.values())
        return own + sum(array.nbytes for array in (*was.progress, *self.lines, *more))

    def arrays(self, model: Model, known: Lines) -> dict[str, Any]:
        """By name; of states and lines those that are others than the model and `known` have."""
        was = self.model
        trio = zip(model.stores, was.states, model.states, strict=True)
        return {
            "round": np.array([was.rounds]),
            "progress": was.progress._asdict(),
            "lines": _others(lines.arrays(self.lines), lines.arrays(known)),
            **was.scaler.arrays(),
            "certain": self._certain,
            "says": {
                f"{i}": _others(store.arrays(state), store.arrays(store.snapshot(now)))
                for i, (store, state, now) in enumerate(trio)
            },
        }


def kept_from(model: Model, known: Lines, arrays: Mapping[str, NDArray[Any]]) -> Kept:
    """A model as it was, from the arrays that it gave; those of older files could learn, too.

    InputError where an array is missing, or numbers are beyond their ranges.
    """
    progress = model.committee.restored(model.progress, pick(arrays, "progress"))
    scaler, states = model.scaler.snapshot().restored(arrays), []
    with within("lines."):
        own = lines.restored(known, {**lines.arrays(known), **pick(arrays, "lines")})
    for i, (store, now) in enumerate(zip(model.stores, model.states, strict=True)):
        with within(f"stores.{i}."):
            state = now
            if older := pick(arrays, f"stores.{i}"):
                state = store.restored({**store.arrays(now), **older})
            state = store.snapshot(state)
        if others := pick(arrays, f"says.{i}"):
            with within(f"says.{i}."):
                state = store.restored_snapshot({**store.arrays(state), **others})
        states.append(state)
    certain = None if model.setting.regression else model.calibration
    if certain is not None and (older := pick(arrays, "certain")):  # older: as it is now
        with within("certain."):
            (certain := certain.copy()).restore(older)
    return Kept(model.with_states(progress, tuple(states), scaler), own, certain)


def _others(
    arrays: dict[str, NDArray[Any]], known: dict[str, NDArray[Any]]
) -> dict[str, NDArray[Any]]:
    """Arrays that are not equal to those known by the same names."""
    return {
        name: one
        for name, one in arrays.items()
        if name not in known or not np.array_equal(one, known[name])
    }
