"""Which of the rows that a model has learned from are most like another, as its kernels see it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from kernbrook.engine.deciding import rows_of, views_of
from kernbrook.engine.stores.slots import SlotStore
from kernbrook.estimators.base import OnlineMachine
from kernbrook.estimators.voted import VotedKernelClassifier, of_unit_length
from kernbrook.explaining.asked import Floats, Places


class Alike(NamedTuple):
    """A row that was learned from.

    Attributes
    ----------
    row : its number, from 0, in the order in which the model has met its rows
    likeness : 1 for the same row
    """

    row: int
    likeness: float


class _Held(NamedTuple):
    """What one expert holds of rows.

    Attributes
    ----------
    kernel, weight : of the expert
    x : (1, d) the row to compare with, as the expert sees it
    points : (n, d) likewise
    own : (n,) k(z, z) of each
    rows : (n,) their numbers
    """

    kernel: Any
    weight: float
    x: Floats
    points: Floats
    own: Floats
    rows: Places


def most_alike(model: Any, x: Any, most: int = 5) -> tuple[Alike, ...]:
    """The rows that a model holds as support vectors, and that are most like a row, (1, d).

    Likeness is k(x, z) / sqrt(k(x, x) k(z, z)), on average over the kernels with the weights of
    their experts. None of models without support vectors, or whose support vectors are no rows,
    or sparse.
    """
    held = [one for one in _held_by(model, x) if len(one.rows)]
    if not held:
        return ()
    weights = np.array([one.weight for one in held])
    weights = weights / weights.sum() if weights.sum() > 0 else np.full(len(held), 1 / len(held))
    rows = np.unique(np.concatenate([one.rows for one in held]))
    likeness = np.zeros(len(rows))
    for one, weight in zip(held, weights, strict=True):
        sizes = np.sqrt(np.abs(one.kernel(one.x, one.x)[0, 0] * one.own))
        values = one.kernel(one.x, one.points)[0]
        cosines = np.divide(values, sizes, out=np.zeros(len(values)), where=sizes > 0)
        np.add.at(likeness, np.searchsorted(rows, one.rows), weight * cosines)
    first = np.argsort(-likeness, kind="stable")[:most]
    return tuple(Alike(int(rows[i]), float(likeness[i])) for i in first)


def _held_by(model: Any, x: Any) -> Iterator[_Held]:
    """What the experts of a model hold."""
    if isinstance(model, VotedKernelClassifier) and not sp.issparse(model.support_vectors_):
        points, weights = model.support_vectors_, model.kernel_weights_
        if model.unit_length:
            x = of_unit_length(x)
        for kernel, weight in zip(model.kernels_, weights, strict=True):
            own = np.array([kernel(point[None], point[None])[0, 0] for point in points])
            yield _Held(kernel, float(weight), x, points, own, model.support_)
    elif isinstance(model, OnlineMachine) and not model._model.sparse:
        run, weights = model._model, model.expert_weights_
        views = views_of(run, run.scaler.transform(x), rows_of(run, x))
        for store, state in zip(run.stores, run.states, strict=True):
            if not isinstance(store, SlotStore) or store.merges_points:
                continue
            slots, points = state.slots, state.points.rows.dense()
            for e, kernel in enumerate(store.kernels):
                held = slice(int(slots.filled[e, 0]))
                yield _Held(
                    kernel, float(weights[store.experts[e]]), views[store.view].dense(),
                    points[slots.place[e, held]], slots.diagonal[e, held], slots.born[e, held],
                )  # fmt: skip
