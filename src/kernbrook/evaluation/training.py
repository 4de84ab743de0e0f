"""Training in one pass over a stream, with checkpoints: stopped, it goes on from the last one."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.atomic import check_writable
from kernbrook.errors import InputError, ModelFileError, NonFiniteError
from kernbrook.estimators.tasks import task_of
from kernbrook.evaluation.checkpoints import Checkpoint, load_checkpoint
from kernbrook.evaluation.classes import listed, named_classes
from kernbrook.evaluation.locking import locked
from kernbrook.evaluation.sessions import Session, Stretch, check_same_settings
from kernbrook.evaluation.sources import Source
from kernbrook.evaluation.tasks import added, check_numbers, check_settings, classes_of, losses
from kernbrook.evaluation.warming import ROWS, Tell, warm_up, watched
from kernbrook.persistence.encoding import Writer
from kernbrook.streams import Stream
from kernbrook.streams.bad_rows import BadRows
from kernbrook.streams.base import Features, Labels, has_label
from kernbrook.streams.booleans import spelled_as
from kernbrook.streams.table_levels import LevelCounts


@dataclass
class Training(Stretch):
    """A training as it goes on; `loss` is on all rows, each predicted before it was learned.

    Attributes
    ----------
    estimator : the model
    seconds : spent learning, in every stretch up to a checkpoint
    saved : rows learned from by the model in the file, 0 where this training has written none
    judged : rows with a label, of those read
    level_counts : of each column of declared levels, how often each came in the whole table
    n_unlabelled : rows of the data without a label
    bad_rows : those that were left out; None where none can be
    taken : what "auto" has taken columns for, by parameter and column
    rows, loss, resumed_at, rows_read, finished : as `Stretch` has them
    """

    estimator: Any
    seconds: float = 0.0
    saved: int = 0
    judged: int = 0
    level_counts: Sequence[LevelCounts] = ()
    n_unlabelled: int = 0
    bad_rows: BadRows | None = None
    taken: dict[str, Any] = field(default_factory=dict)

    @property
    def error(self) -> float:
        """Mistakes per row with a label so far, or the mean squared error."""
        return self.loss / max(self.judged, 1)


def train(
    stream: Stream,
    estimator: Any,
    path: str | PathLike[str],
    *,
    source: Source | None = None,
    classes: Sequence[Any] | None = None,
    resume: bool = False,
    overwrite: bool = False,
    every: float = 60.0,
    progress: Callable[[Training], None] | None = None,
    stop: Callable[[], bool] | None = None,
    compiling: Tell | None = None,
) -> Training:
    """Learn every row of a stream once, in its order, and leave the model in a file.

    The file is written whole or not at all, every so often and at the end. A training that was
    stopped, or killed, goes on from its file; its last file is, byte for byte, that of a training
    which was not.

    Parameters
    ----------
    stream : the rows
    estimator : what `kb.save` takes; changed in place
    path : the model's file, in an existing folder
    source : what else to write down about the data
    classes : all labels of a classifier; found by one reading of the stream where None. Text is
        read as numbers where the labels are numbers
    resume : go on from the file, if there is one: with the same settings, on data that begin
        with the rows it has learned
    overwrite : replace a file that is there
    every : seconds between checkpoints, at least 0
    progress : called after each chunk
    stop : asked after each chunk: True to write a checkpoint and return
    compiling : as `kernbrook.evaluation.compare` has it; the seconds count no compiling

    Returns
    -------
    Training

    Raises
    ------
    InputError
        The file is there and neither `resume` nor `overwrite` is set, it comes from other settings
        or other rows, it cannot be written, another process trains or labels the model in it, or
        an argument does not fit the data.
    NonFiniteError
        The features or the squared errors overflow.
    ModelFileError
        The file to go on from is damaged or not a model.
    DataFileError
        The data cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import kernbrook as kb
    >>> stream = kb.open_stream("checkerboard:3000")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "model"
    ...     machine = kb.recipes.make("bpas", random_state=0)
    ...     first = train(stream, machine, file, stop=lambda: True)
    ...     again = kb.recipes.make("bpas", random_state=0)
    ...     whole = train(stream, again, file, resume=True)
    >>> first.rows, first.finished, whole.resumed_at, whole.rows, whole.finished
    (1024, False, 1024, 3000, True)
    """
    with locked(path):
        going_on = check_target(path, resume, overwrite)
        if source is None:
            table = stream.encoder is not None
            source = Source.of_stream(stream) if table else Source(stream.n_features)
        check_settings(estimator, stream.n_features)
        Writer().values(estimator.get_params(deep=False))  # refuses what no file can hold
        known = None
        if going_on:
            found, known = load_checkpoint(path)
            if known is None:
                problem = "a model that `train` did not write: it has no place to go on"
                raise ModelFileError(path, problem)
            if known.rows and not known.digest:
                raise ModelFileError(path, "a model that was trained apart: no place to go on from")
            check_same_settings(path, (found, known.source), (estimator, source))
            estimator = found
        X, y = next(stream.chunks(ROWS))
        labels = named_classes(estimator, classes, y.dtype)
        if task_of(estimator) == "regression":
            check_numbers(y)
        elif labels is None:
            labels = classes_of(stream)
        watched(partial(warm_up, estimator, X, y, labels), compiling)
        state = Training(
            estimator, level_counts=stream.level_counts, n_unlabelled=stream.n_unlabelled,
            bad_rows=stream.bad_rows, taken=getattr(stream.encoder, "taken_", {}),
        )  # fmt: skip
        if known is not None:
            state.rows = state.saved = known.rows
            state.loss, state.seconds = known.loss, known.seconds
            state.windows = known.windows
        new = known is None and not overwrite
        session = _Session(estimator, state, path, source, known, new, labels)
        session.run(stream, every, progress, stop)
        return state


def check_target(path: str | PathLike[str], resume: bool, overwrite: bool) -> bool:
    """Whether there is a file to go on from; InputError where `train` may not write to it.

    `train` asks this first. Who opens data that take long to open may ask before.
    """
    there = check_writable(path).exists()
    if resume and overwrite:
        raise InputError("resume, overwrite: expected one of them, got both")
    if there and not (resume or overwrite):
        raise InputError(
            f"{path} is there already: resume (--resume) to go on from it, overwrite (--overwrite) "
            "to begin anew"
        )
    return there and resume


@dataclass
class _Session(Session):
    """One call of `train`; labels is None where they are numbers."""

    labels: NDArray[Any] | None

    def look_at(self, X: Features, y: Labels) -> None:
        super().look_at(X, y)
        self.state.judged += int(has_label(y).sum())

    def meet(self, X: Features, y: Labels) -> None:
        state, told, there = self.state, {}, has_label(y)
        if self.labels is not None:
            told["classes"] = self.labels
            y = spelled_as(y, self.labels)
            unknown = there & ~np.isin(y, self.labels)
            if unknown.any():
                first = int(unknown.argmax())
                raise InputError(
                    f"row {state.rows + first + 1}: expected one of the labels "
                    f"{listed(self.labels)}, found {y[first]}"
                )
        start = time.perf_counter()
        try:
            predicted, _ = state.estimator.learn(X, y, **told)
        except InputError as error:
            if state.rows == 0:
                raise
            # It counts the rows of this chunk alone.
            raise InputError(f"in the chunk after row {state.rows}: {error}") from error
        state.seconds += time.perf_counter() - start
        lost = losses(predicted[there], y[there], task_of(state.estimator))
        state.loss = added(state.loss, lost)
        if not math.isfinite(state.loss):  # no file can hold it
            raise NonFiniteError(
                f"the squared errors of {state.rows + len(y)} rows overflow: scale the labels or "
                "the features"
            )
        if state.windows is not None:
            state.windows.add(lost)

    def reached(self) -> Checkpoint:
        seconds = 0.0 if self.state.finished else self.state.seconds
        return replace(super().reached(), seconds=seconds)

    def save(self) -> None:
        super().save()
        self.state.saved = self.state.rows
