"""Copies of a model on the way, to go back to: what `label` needs for undo."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, NamedTuple

from sklearn.base import clone

from kernbrook.evaluation.sessions.answers import Begun
from kernbrook.evaluation.sessions.checkpoints import Checkpoint


class Copy(NamedTuple):
    """A model as it was after some rows, and what its file said then."""

    rows: int
    model: Any
    checkpoint: Checkpoint | None


class Copies:
    """Copies of a model, to go back to: the oldest, and the last few.

    Parameters
    ----------
    begun : what the model was before its first answer
    rows, model, checkpoint : what it is now
    """

    def __init__(self, begun: Begun, rows: int, model: Any, checkpoint: Checkpoint | None):
        self._held: list[Copy] = []
        seeded = isinstance(model.get_params(deep=False).get("random_state"), int)
        if rows > 0 and begun.rounds == 0 and begun.digest == "" and seeded:
            self._held.append(Copy(0, clone(model), None))
        self.take(rows, model, checkpoint)

    @property
    def oldest(self) -> int:
        """Rows of the oldest copy."""
        return self._held[0].rows

    def take(self, rows: int, model: Any, checkpoint: Checkpoint | None) -> None:
        """Hold one more copy."""
        self._held.append(Copy(rows, deepcopy(model), checkpoint))
        del self._held[1:-2]

    def before(self, row: int) -> Copy:
        """A copy of the last one that has not met a row; those after it are dropped."""
        while self._held[-1].rows >= row:
            self._held.pop()
        return self._held[-1]._replace(model=deepcopy(self._held[-1].model))
