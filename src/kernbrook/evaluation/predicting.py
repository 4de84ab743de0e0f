"""What a saved model says of new rows, and how often it is wrong."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from kernbrook.engine.progress import MOST_ROUNDS
from kernbrook.errors import InputError, ModelFileError
from kernbrook.estimators.late import LateLabels, so_many_wait
from kernbrook.estimators.named import NamedColumns
from kernbrook.evaluation.checkpoints import Checkpoint, load_checkpoint
from kernbrook.evaluation.sources import Source, open_like
from kernbrook.evaluation.tasks import added, losses
from kernbrook.streams import open_stream
from kernbrook.streams.base import Features, has_label
from kernbrook.streams.booleans import spelled_as
from kernbrook.streams.opening import is_frame
from kernbrook.streams.table_levels import LevelCounts, together, warn_of


def load_learned(path: str | PathLike[str]) -> tuple[Any, Source, Checkpoint | None]:
    """A model that can predict, where its data came from, and its checkpoint if it has one.

    Raises
    ------
    ModelFileError
        As `kb.load`, or the model has not learned anything.
    """
    model, checkpoint = load_checkpoint(path)
    if isinstance(model, (LateLabels, NamedColumns)):
        raise ModelFileError(path, f"a model with {type(model).__name__}: use kb.load in Python")
    try:
        check_is_fitted(model)
    except NotFittedError as error:
        raise ModelFileError(path, "a model that has not learned anything") from error
    source = Source.of_model(model) if checkpoint is None else checkpoint.source
    return model, source, checkpoint


def predict(
    model: Any, X: Features, scores: bool = False
) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
    """The labels predicted for rows (n, d), and where asked for their scores, (n,) or (n, c).

    The scores are what `decision_function` gives: of one expert its own, else the combined vote.
    The model learns no more: all rows are taken to be far from its last label, unless its own
    `delay` says otherwise.

    Raises
    ------
    InputError
        Scores are asked of a model that has none.

    Examples
    --------
    >>> import kernbrook as kb
    >>> model = kb.OnlineMKClassifier([kb.Linear()], kb.Perceptron(), kb.Uniform(), scaling=None)
    >>> model = model.fit([[1.0], [-1.0]], ["yes", "no"])
    >>> predict(model, np.array([[-3.0], [2.0]]), scores=True)
    (array(['no', 'yes'], dtype='<U3'), array([-3.,  2.]))
    """
    if scores:
        check_scores(model)
    with warnings.catch_warnings(), so_many_wait(MOST_ROUNDS):
        # `open_like` has compared the names.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        if not scores:
            return model.predict(X), None
        decisions = model.decision_function(X)
    if decisions.ndim == 2:
        return model.classes_[decisions.argmax(axis=1)], decisions
    return model.classes_[(decisions >= 0).astype(np.intp)], decisions


def predict_stream(
    model: Any, data: Any, scores: bool = False, written: Mapping[str, Any] | None = None
) -> Iterator[tuple[NDArray[Any], NDArray[np.float64] | None]]:
    """The predictions for a stream, chunk by chunk, in bounded memory.

    Parameters
    ----------
    model : a fitted estimator, or the path of a file that `train` or `kb.save` wrote
    data : what `kb.open_stream` takes; with a path of a model, a table needs no label
    scores : whether scores are wanted, too
    written : how values of a table are written, where it is not as in the table that the model
        learned, a file: `decimal`, `thousands`, `units`, and by column the format of `dates`

    Yields
    ------
    labels (n,) and scores (n,) or (n, c), or None, of the next n rows; see `predict`

    Raises
    ------
    InputError
        Scores are asked of a model that has none, or the data have other features.

    Warns
    -----
    DataFileWarning
        A column has values that are no declared level, in one row of a hundred or more.

    Examples
    --------
    >>> import kernbrook as kb
    >>> X, y = kb.open_stream("checkerboard:200").read()
    >>> model = kb.OnlineMKClassifier(learner=kb.Perceptron()).fit(X, y)
    >>> [len(labels) for labels, _ in predict_stream(model, "checkerboard:2000")]
    [1024, 976]
    """
    if isinstance(model, str | PathLike):
        model, source, _ = load_learned(model)
        table = isinstance(data, str | PathLike) or is_frame(data)
        stream = open_like(source, data, written=written) if table else open_stream(data)
    else:
        stream = open_stream(data)
    warn_of(stream.level_counts, stream.name)
    for X, _ in stream.chunks():
        yield predict(model, X, scores)


def predict_table(path: str | PathLike[str], table: Any, scores: bool = False) -> Any:
    """The predictions for an Arrow table, as one: what engines for many machines ask for.

    The model is read once in a process, as long as its file stays the same.

    Parameters
    ----------
    path : of a file that `train` or `kb.save` wrote
    table : pyarrow.Table, or another table in memory; its columns are encoded as the model's were
    scores : whether scores are wanted, too

    Returns
    -------
    pyarrow.Table with a column "prediction", and of scores "score", or "score of LABEL" for each
    of more than two classes

    Raises
    ------
    ModelFileError
        As `kb.load`, or the model has not learned anything.
    InputError
        Scores are asked of a model that has none, or the table has other columns.

    Warns
    -----
    DataFileWarning
        A column has values that are no declared level, in one row of a hundred or more.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import kernbrook as kb
    >>> import pyarrow as pa
    >>> model = kb.OnlineMKClassifier([kb.Linear()], kb.Perceptron(), scaling=None)
    >>> model = model.fit([[1.0], [-1.0]], ["yes", "no"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kb.save(model, Path(folder) / "model")
    ...     answer = predict_table(Path(folder) / "model", pa.table({"a": [-3.0, 2.0]}))
    >>> answer["prediction"].to_pylist()
    ['no', 'yes']
    """
    import pyarrow as pa

    model, source = kept_learned(path)
    source.check_parts()
    if scores:
        check_scores(model)
    parts: list[tuple[Any, Any]] = [_nothing(model)]
    if len(table):
        stream = open_like(source, table)
        warn_of(stream.level_counts, stream.name)
        parts += [predict(model, X, scores) for X, _ in stream.chunks()]
    labels = np.concatenate([own for own, _ in parts])
    columns: dict[str, Any] = {"prediction": pa.array(labels)}
    if scores:
        decisions = np.concatenate([own for _, own in parts])
        if decisions.ndim == 1:
            columns["score"] = decisions
        else:
            names = (f"score of {label}" for label in model.classes_)
            columns |= dict(zip(names, decisions.T, strict=True))
    return pa.table(columns)


def kept_learned(path: str | PathLike[str]) -> tuple[Any, Source]:
    """As `load_learned`, read once in a process, as long as the file stays the same."""
    return _kept(os.fspath(path), os.stat(path).st_mtime_ns)


@lru_cache(maxsize=2)
def _kept(path: str, changed: int) -> tuple[Any, Source]:
    return load_learned(path)[:2]


def _nothing(model: Any) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """What a model says of no rows."""
    if not hasattr(model, "classes_"):
        return np.empty(0), np.empty(0)
    n_scores = len(model.classes_)
    return model.classes_[:0], np.empty(0 if n_scores == 2 else (0, n_scores))


def check_scores(model: Any) -> None:
    """InputError where a model has no scores: one of numbers, or a trivial one."""
    if not hasattr(model, "decision_function"):
        raise InputError(f"scores: {type(model).__name__} has none")


@dataclass
class Tally:
    """Predictions against labels; labels that the model does not know are not counted.

    Attributes
    ----------
    classes : of the model; None where it predicts numbers
    positive : the label that is +1, all others being -1; None to take labels as they are
    known : rows with a label that the model knows
    loss : of these: mistakes, or squared errors
    level_counts : of each column of declared levels, how often each came
    """

    classes: NDArray[Any] | None
    positive: str | None = None
    known: int = 0
    loss: float = 0
    level_counts: Sequence[LevelCounts] = ()
    _placeholders: bool = field(default=True, repr=False)
    _first: Any = field(default=None, repr=False)

    def add(self, predicted: NDArray[Any], y: NDArray[Any]) -> None:
        """Count more rows: predictions (n,) and labels (n,), some of which may be missing."""
        there = has_label(y)
        if not there.any():
            return
        predicted, y = predicted[there], y[there]
        y = y.astype(str) if y.dtype.kind == "O" else y
        names = self.classes is not None and self.classes.dtype.kind in "UO"
        if self.positive is not None:
            here = _is(y, self.positive)
            self._placeholders = self._placeholders and not here.any()
            y = np.where(here, 1, -1)
        elif (y.dtype.kind == "U") != names:
            return
        elif self.classes is None:
            self._first = y[0] if self._first is None else self._first
            self._placeholders = self._placeholders and bool((y == self._first).all())
        else:
            self._placeholders = False
        if self.classes is None:
            self.known += len(y)
            self.loss = added(self.loss, losses(predicted, y, "regression"))
        else:
            y = spelled_as(y, self.classes)
            known = np.isin(y, self.classes)
            self.known += int(known.sum())
            self.loss = added(self.loss, known & losses(predicted, y, "classification"))

    def join(self, other: Tally) -> None:
        """Count the rows of another part of the data, too."""
        self.known += other.known
        self.level_counts = together(self.level_counts, other.level_counts)
        self.loss = added(self.loss, np.array([other.loss]))
        firsts = [one for one in (self._first, other._first) if one is not None]
        same = len(set(firsts)) < 2
        self._placeholders = self._placeholders and other._placeholders and same
        self._first = firsts[0] if firsts else None

    @property
    def error(self) -> float | None:
        """Mistakes per row with a label, or the mean squared error; None where there are no labels.

        Data without a single positive label are taken to have placeholders, and so are numbers
        that are all the same.
        """
        return None if self.known == 0 or self._placeholders else self.loss / self.known


def _is(y: NDArray[Any], label: str) -> NDArray[np.bool_]:
    """(n,) where the label is the given one, as a number where the labels are numbers."""
    try:
        if y.dtype.kind == "U":
            return np.asarray(spelled_as(y, [label]) == label)
        return np.asarray(y == float(label))
    except ValueError:
        return np.zeros(len(y), dtype=bool)
