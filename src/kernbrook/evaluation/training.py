"""Training in one pass over a stream, with checkpoints: stopped, it goes on from the last one."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.atomic import check_writable
from kernbrook.errors import InputError, ModelFileError, NonFiniteError
from kernbrook.estimators.tasks import task_of
from kernbrook.evaluation.checkpoints import (
    Checkpoint,
    RowDigest,
    load_checkpoint,
    save_checkpoint,
)
from kernbrook.evaluation.locking import locked
from kernbrook.evaluation.sources import Source
from kernbrook.evaluation.tasks import added, check_numbers, check_settings, classes_of, losses
from kernbrook.evaluation.warming import ROWS, Tell, warm_up, watched
from kernbrook.persistence.encoding import Writer
from kernbrook.streams import Stream
from kernbrook.streams.base import Piece

CHUNK = 1024  # rows between two looks at the clock; they do not change the result


@dataclass
class Training:
    """A training as it goes on.

    Attributes
    ----------
    estimator : the model
    rows : rows learned from
    loss : on these rows, each predicted before it was learned: mistakes, or squared errors
    seconds : spent learning, in every stretch up to a checkpoint
    saved : rows learned from by the model in the file, 0 where this training has written none
    resumed_at : rows that it had learned from when this call began
    rows_read : rows seen; below `resumed_at` while those learned before are read again
    finished : whether no row is left
    """

    estimator: Any
    rows: int = 0
    loss: float = 0
    seconds: float = 0.0
    saved: int = 0
    resumed_at: int = 0
    rows_read: int = 0
    finished: bool = False

    @property
    def error(self) -> float:
        """Mistakes per row so far, or the mean squared error."""
        return self.loss / self.rows


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
        new = not (going_on or overwrite)
        source = source or Source(stream.n_features)
        check_settings(estimator, stream.n_features)
        parameters = estimator.get_params(deep=False)
        Writer().values(parameters)  # refuses what no file can hold, before work
        known = None
        if going_on:
            estimator, known = _resumed(path, estimator, source)
        task = task_of(estimator)
        state = Training(estimator)
        labels = None
        if task == "classification":
            labels = _classes(stream, classes, None if known is None else estimator.classes_)
        elif classes is not None:
            raise InputError(f"classes: {type(estimator).__name__} predicts numbers; give none")
        else:
            check_numbers(next(stream.chunks(1))[1])
        for X, y in stream.chunks(ROWS):
            watched(partial(warm_up, estimator, X, y, labels), compiling)
            break
        digest = RowDigest()
        pieces: Iterator[Piece] = stream.chunks(CHUNK)
        if known is not None:
            state.rows, state.loss, state.seconds = known.rows, known.loss, known.seconds
            state.resumed_at = state.saved = known.rows
            pieces = _new_rows(pieces, known, digest, state, progress, path)

        last = time.monotonic()
        for X, y in pieces:
            _learn(state, X, y, labels)
            digest.update(X, y)
            if progress is not None:
                progress(state)
            if stop is not None and stop():
                _save(state, source, digest, path, new)
                return state
            if time.monotonic() - last >= every:
                _save(state, source, digest, path, new)
                last = time.monotonic()
        state.finished = True
        if known is None or not known.finished or state.rows > known.rows:
            _save(state, source, digest, path, new)
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


def _learn(state: Training, X: Any, y: NDArray[Any], classes: NDArray[Any] | None) -> None:
    """Learn a chunk; classes is None where labels are numbers."""
    labels = {}
    if classes is not None:
        labels["classes"] = classes
        unknown = ~np.isin(y, classes)
        if unknown.any():
            first = int(unknown.argmax())
            raise InputError(
                f"row {state.rows + first + 1}: expected one of the labels {_listed(classes)}, "
                f"found {y[first]}"
            )
    start = time.perf_counter()
    try:
        predicted, _ = state.estimator.learn(X, y, **labels)
    except InputError as error:
        if state.rows == 0:
            raise
        # It counts the rows of this chunk alone.
        raise InputError(f"in the chunk after row {state.rows}: {error}") from error
    state.seconds += time.perf_counter() - start
    state.rows += len(y)
    state.rows_read = state.rows
    state.loss = added(state.loss, losses(predicted, y, task_of(state.estimator)))
    if not math.isfinite(state.loss):  # no file can hold it
        raise NonFiniteError(
            f"the squared errors of {state.rows} rows overflow: scale the labels or the features"
        )


def _save(
    state: Training, source: Source, digest: RowDigest, path: str | PathLike[str], new: bool
) -> None:
    """Write the model; where it is a new one, not over a file that has come since."""
    if new and state.saved == 0 and check_writable(path).exists():
        raise InputError(
            f"{path} was written by something else meanwhile, and is left as it is: train to "
            "another file, or overwrite (--overwrite)"
        )
    seconds = 0.0 if state.finished else state.seconds
    reached = Checkpoint(
        source, state.rows, state.loss, digest.hexdigest(), state.finished, seconds
    )
    try:
        save_checkpoint(state.estimator, reached, path)
    except InputError as error:
        kept = f"; the checkpoint after {state.saved} rows is still there" if state.saved else ""
        raise InputError(f"after {state.rows} rows: {error}{kept}") from error
    state.saved = state.rows


# -- going on ---------------------------------------------------------------------------------


def _resumed(path: str | PathLike[str], asked: Any, source: Source) -> tuple[Any, Checkpoint]:
    """The model in the file and its checkpoint, where they come from the same settings."""
    estimator, checkpoint = load_checkpoint(path)
    if checkpoint is None:
        raise ModelFileError(path, "a model that `train` did not write: it has no place to go on")
    changes = [
        (name, getattr(checkpoint.source, name), value)
        for name, value in vars(source).items()
        if getattr(checkpoint.source, name) != value
    ]
    if type(estimator) is not type(asked):
        changes.append(("estimator", type(estimator).__name__, type(asked).__name__))
    else:
        was, now = (model.get_params(deep=False) for model in (estimator, asked))
        before, after = (Writer().values(parameters) for parameters in (was, now))
        changes += [(name, was[name], now[name]) for name in now if before[name] != after[name]]
    if changes:
        told = "; ".join(f"{name} was {one!r:.60} and is {two!r:.60}" for name, one, two in changes)
        raise InputError(f"{path} comes from other settings: {told}")
    return estimator, checkpoint


def _new_rows(
    pieces: Iterator[Piece],
    known: Checkpoint,
    digest: RowDigest,
    state: Training,
    progress: Callable[[Training], None] | None,
    path: str | PathLike[str],
) -> Iterator[Piece]:
    """The rows that the checkpoint has not learned; the ones before must be those that it has."""
    left = known.rows
    for X, y in pieces:
        if left == 0:
            yield X, y
            continue
        take = min(left, len(y))
        digest.update(X[:take], y[:take])
        left -= take
        state.rows_read += take
        if progress is not None:
            progress(state)
        if left == 0 and digest.hexdigest() != known.digest:
            raise InputError(
                f"{path} comes from other data: the first {known.rows} rows here are not those "
                "that it has learned"
            )
        if take < len(y):
            yield X[take:], y[take:]
    if left:
        raise InputError(
            f"{path} comes from other data: it has learned {known.rows} rows, here are "
            f"{known.rows - left}"
        )


# -- the labels -------------------------------------------------------------------------------


def _classes(stream: Stream, named: Sequence[Any] | None, known: Any) -> NDArray[Any]:
    """All labels: as named, else as the model has them, else those that one reading finds."""
    if named is not None:
        classes = np.unique(_like(next(stream.chunks(1))[1].dtype, named))
        if known is not None and not np.array_equal(classes, known):
            raise InputError(f"classes were {_listed(known)} and are {_listed(classes)}")
        return classes
    if known is not None:
        return np.asarray(known)
    return classes_of(stream)


def _like(kind: np.dtype[Any], named: Sequence[Any]) -> NDArray[Any]:
    """The labels named, as the data have them."""
    if kind.kind == "U":
        return np.array([str(label) for label in named])
    shown = ", ".join(map(str, named))
    try:
        numbers = np.array([float(label) for label in named])
    except (OverflowError, TypeError, ValueError):
        raise InputError(f"classes: the labels are numbers, got {shown:.200}") from None
    with np.errstate(invalid="ignore"):
        classes = numbers.astype(kind)
    if (classes != numbers).any():
        whole = "integers" if kind.kind in "iu" else "finite numbers"
        raise InputError(f"classes: the labels are {whole}, got {shown:.200}")
    return classes


def _listed(labels: NDArray[Any]) -> str:
    return ", ".join(map(str, labels[:10].tolist())) + (", ..." if len(labels) > 10 else "")
