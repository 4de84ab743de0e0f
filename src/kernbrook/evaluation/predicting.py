"""What a saved model says of new rows, and how often it is wrong."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import InputError, ModelFileError
from kernbrook.evaluation.checkpoints import Checkpoint, load_checkpoint
from kernbrook.evaluation.sources import Source
from kernbrook.streams.base import Features


def load_learned(path: str | PathLike[str]) -> tuple[Any, Source, Checkpoint | None]:
    """A model that can predict, where its data came from, and its checkpoint if it has one.

    Raises
    ------
    ModelFileError
        As `kb.load`, or the model has not learned anything.
    """
    model, checkpoint = load_checkpoint(path)
    if not hasattr(model, "classes_"):
        raise ModelFileError(path, "a model that has not learned anything")
    if checkpoint is not None:
        return model, checkpoint.source, checkpoint
    names = getattr(model, "feature_names_in_", None)
    features = None if names is None else names.tolist()
    return model, Source(getattr(model, "n_features_in_", None), features=features), None


def predict(
    model: Any, X: Features, scores: bool = False
) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
    """The labels predicted for rows (n, d), and where asked for their scores, (n,) or (n, c).

    Raises
    ------
    InputError
        Scores are asked of a model that has none.

    Examples
    --------
    >>> import kernbrook as kb
    >>> model = kb.OnlineMKClassifier([kb.Linear()]).fit([[1.0], [-1.0]], ["yes", "no"])
    >>> predict(model, np.array([[-3.0], [2.0]]), scores=True)
    (array(['no', 'yes'], dtype='<U3'), array([-1.,  1.]))
    """
    if scores and not hasattr(model, "decision_function"):
        raise InputError(f"scores: {type(model).__name__} has none")
    with warnings.catch_warnings():  # `open_like` has compared the names
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        if not scores:
            return model.predict(X), None
        decisions = model.decision_function(X)
    if decisions.ndim == 2:
        return model.classes_[decisions.argmax(axis=1)], decisions
    return model.classes_[(decisions >= 0).astype(np.intp)], decisions


@dataclass
class Tally:
    """Predictions against labels; labels that the model does not know are not counted.

    Attributes
    ----------
    classes : of the model
    positive : the label that is +1, all others being -1; None to take labels as they are
    known : rows with a label that the model knows
    mistakes : of these, predicted wrongly
    """

    classes: NDArray[Any]
    positive: str | None = None
    known: int = 0
    mistakes: int = 0
    _positive_seen: bool = field(default=False, repr=False)

    def add(self, predicted: NDArray[Any], y: NDArray[Any]) -> None:
        """Count more rows: predictions (n,) and labels (n,)."""
        if self.positive is not None:
            here = _is(y, self.positive)
            self._positive_seen = self._positive_seen or bool(here.any())
            y = np.where(here, 1, -1)
        elif (y.dtype.kind == "U") != (self.classes.dtype.kind in "UO"):
            return
        known = np.isin(y, self.classes)
        self.known += int(known.sum())
        self.mistakes += int((known & (predicted != y)).sum())

    @property
    def error(self) -> float | None:
        """Mistakes per row with a label; None where the data have none.

        Data without a single positive label are taken to have placeholders.
        """
        if self.known == 0 or (self.positive is not None and not self._positive_seen):
            return None
        return self.mistakes / self.known


def _is(y: NDArray[Any], label: str) -> NDArray[np.bool_]:
    """(n,) where the label is the given one, as a number where the labels are numbers."""
    try:
        return np.asarray(y == (label if y.dtype.kind == "U" else float(label)))
    except ValueError:
        return np.zeros(len(y), dtype=bool)
