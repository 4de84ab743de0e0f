"""Rows that a model keeps of those that it has learned: what others are compared with."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from kernbrook.engine.uniting import oldest_first
from kernbrook.errors import InputError
from kernbrook.estimators.base import OnlineMachine
from kernbrook.estimators.voted import VotedClassifier
from kernbrook.numerics.scaling import GREAT


class Background(NamedTuple):
    """Rows to compare with, (m, d), and which they are, in words."""

    rows: Any
    told: str


def last_rows(model: Any) -> Background | None:
    """The last rows learned, as they were given, where a model keeps them.

    An expert that takes ranks has the last 1,000; so have the default pools up to 512 columns.
    """
    if not isinstance(model, OnlineMachine):
        return None
    state = model._model.scaler.arrays()
    for view, method in enumerate(model._model.scaler.methods):
        if method == "ranks":
            ring, seen = (state[f"scaler.{view}.{name}"] for name in ("first", "seen"))
            rows = oldest_first(ring, int(seen[0]))
            return Background(rows, f"the last {len(rows):,} rows learned")
    return None


def kept_rows(model: Any) -> Background:
    """The last rows learned, or what else a model keeps of its rows.

    Its support vectors, scaled back as rows are scaled now. Where there are none, the mean of all
    rows; of sparse rows 0 everywhere.

    Raises
    ------
    InputError
        It keeps nothing of the kind.
    """
    if (last := last_rows(model)) is not None:
        return last
    if isinstance(model, VotedClassifier):
        return Background(model.support_vectors_, f"{model.n_support_stored_:,} support vectors")
    if isinstance(model, OnlineMachine):
        if model._model.sparse:
            return Background(sp.csr_array((1, model.n_features_in_)), "a row of zeros")
        shift, factor = _scale_of(model)
        if hasattr(model, "support_vectors_") and len(model._model.views) == 1:
            rows = model.support_vectors_ * factor + shift
            if len(rows):
                back = "" if np.ndim(factor) == 0 else ", scaled back as rows are scaled now"
                return Background(rows, f"{len(rows):,} support vectors{back}")
        if np.ndim(shift):
            return Background(shift[None], "the mean of all rows learned")
    raise InputError(
        f"background: {type(model).__name__} keeps none of its rows; give some, such as rows that "
        "it has learned"
    )


def _scale_of(model: OnlineMachine) -> tuple[Any, Any]:
    """What is added, and what is multiplied by before, to undo how a machine scales its rows."""
    scaler = model._model.scaler
    method, state = scaler.methods[0], scaler.arrays()
    if method is None:
        return 0.0, 1.0
    first, second = state["scaler.0.first"], state["scaler.0.second"]
    if method == "maximum":
        return 0.0, first
    units = np.where(second < 0, GREAT, 1.0)
    return units * first, units * np.sqrt(np.abs(second) / state["scaler.0.seen"])
