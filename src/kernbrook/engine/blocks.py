"""Blocks of rows: how rows are cut into them, and what is refused after one."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernbrook.engine.progress import MOST_ROUNDS, ROUND, SEED, WEIGHED, Progress
from kernbrook.engine.verbs import Clock
from kernbrook.errors import InputError, KernbrookWarning, NonFiniteError
from kernbrook.gram.arrays import Floats
from kernbrook.gram.rows import DenseRows, Rows, SparseRows

if TYPE_CHECKING:
    from kernbrook.engine.model import Model

LARGE = 50_000  # examples kept
Views = tuple[Rows, ...]  # the same rows, each view scaled in its own way

COMBINED = (
    "the experts' scores or losses overflowed as they were combined; scale the features, or the "
    "weights of the rows"
)


def rows_of(model: Model, X: Any) -> Rows:
    """X in the form that the model keeps rows in."""
    if model.sparse:
        return SparseRows.of(X if sp.issparse(X) else sp.csr_matrix(X))
    return DenseRows.of(np.ascontiguousarray(X.toarray()) if sp.issparse(X) else X)


def views_of(model: Model, scaled: Sequence[Any], rows: Rows) -> Views:
    """The rows in each view. scaled : of each view the rows, or None where they are as given"""
    views = (rows if X is None else replace(rows_of(model, X), keys=rows.keys) for X in scaled)
    return tuple(views)


def check_combined(decisions: Floats, leanings: Floats) -> None:
    """Raise NonFiniteError where a combination of scores has overflowed."""
    if not (np.isfinite(decisions).all() and np.isfinite(leanings).all()):
        raise NonFiniteError(COMBINED)


def check_rounds(rounds: int) -> None:
    """Raise InputError where a model cannot count so many rows."""
    if rounds > MOST_ROUNDS:
        raise InputError(f"a model counts {MOST_ROUNDS:,} rows, and no more")


def clock_of(progress: Progress) -> Clock:
    """The clock before the next example, with the labels so far that were learned from."""
    counters = progress.counters
    return Clock(int(counters[SEED]), int(counters[ROUND]), int(counters[WEIGHED]))


def slices(rows: int, size: int) -> Iterator[slice]:
    """0 .. rows in blocks of a size."""
    for start in range(0, rows, size):
        yield slice(start, min(start + size, rows))


def as_targets(labels: NDArray[Any]) -> Floats:
    """Labels as compiled code takes them: floats, NaN where one cannot be had."""
    targets = np.array(labels, dtype=np.float64)
    return np.where(labels < 0, np.nan, targets) if labels.dtype.kind == "i" else targets


def warn_of_growth(before: int, now: int) -> None:
    """Say once that what is kept has become large, of a model without a bound."""
    if before <= LARGE < now:
        warnings.warn(
            f"{now:,} examples are kept, and their number has no bound: each row takes longer "
            "than the one before. A learner with a budget, such as BPAS() (--recipe bpas), keeps "
            "a fixed number",
            KernbrookWarning,
            stacklevel=2,
        )
