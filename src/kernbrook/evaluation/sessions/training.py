"""Training in one pass over a stream, with checkpoints: stopped, it goes on from the last one."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.atomic import check_writable
from kernbrook.errors import InputError, ModelFileError
from kernbrook.estimators.confidence import intervals_of
from kernbrook.estimators.table_model import TableModel
from kernbrook.estimators.tasks import scored, task_of
from kernbrook.evaluation.content import Content, Watched
from kernbrook.evaluation.measures import Measures
from kernbrook.evaluation.recipes_wanted import (
    NewModel,
    check_numbers,
    check_settings,
    classes_of,
    task_of_labels,
)
from kernbrook.evaluation.running.warming import ROWS, Tell, warm_up, watched
from kernbrook.evaluation.sessions.checkpoints import Checkpoint, load_checkpoint
from kernbrook.evaluation.sessions.classes import named_classes
from kernbrook.evaluation.sessions.locking import locked
from kernbrook.evaluation.sessions.session import Session, Stretch, check_same_settings
from kernbrook.evaluation.windows import Judge, Past, together
from kernbrook.persistence.encoding import Writer
from kernbrook.streams import Stream
from kernbrook.streams.stream import Features, Labels, has_label
from kernbrook.streams.tables.label_spelling import as_classes, as_numbers, listed
from kernbrook.streams.tables.left_out_rows import BadRows
from kernbrook.streams.tables.levels import LevelCounts
from kernbrook.streams.tables.new_labels import new_labels

if TYPE_CHECKING:
    from kernbrook.streams.tables.encoder import TableEncoder


@dataclass
class Training(Stretch):
    """A training as it goes on; `loss` is on the rows of the data, predicted before learned.

    Attributes
    ----------
    estimator : the model
    seconds : spent learning from the data, in every stretch up to a checkpoint
    saved : rows of the data learned from by the model in the file, 0 where it has none of these
    past : the data that the model learned from before
    name : of the data
    n_rows : of the data; None where it is not known
    new_classes : labels of classes that the model did not know, and the first row of each, from 1
    level_counts : of each column of declared levels, how often each came in the whole table
    n_unlabelled : rows of the data without a label
    bad_rows : those that were left out; None where none can be
    taken : what "auto" has taken columns for, by parameter and column
    told : what has to be said of the columns of a table, a sentence each
    judge : what predictions cost beside trivial rules; None of a training by several workers
    ahead : measures of these data, all predicted by the model as it was before any of their labels
        was known; None but for other data, from their beginning on
    rows, loss, judged, resumed_at, rows_read, finished : as `Stretch` has them
    """

    estimator: Any
    seconds: float = 0.0
    saved: int = 0
    past: Sequence[Past] = ()
    name: str = ""
    n_rows: int | None = None
    new_classes: dict[Any, int] = field(default_factory=dict)
    level_counts: Sequence[LevelCounts] = ()
    n_unlabelled: int = 0
    bad_rows: BadRows | None = None
    taken: dict[str, Any] = field(default_factory=dict)
    told: Sequence[str] = ()
    judge: Judge | None = None
    ahead: Measures | None = None

    @property
    def in_all(self) -> Past:
        """These data and those before, as one; `loss` is None where one was not recorded."""
        return together([*self.past, self.as_past])

    @property
    def as_past(self) -> Past:
        """These data so far, as data that the model has learned from."""
        return Past(name=self.name, **vars(self.data))

    @property
    def error(self) -> float:
        """Mistakes per judged row of these data so far, or the mean squared error."""
        return self.loss / max(self.judged, 1)


def train(
    stream: Stream,
    estimator: Any,
    path: str | PathLike[str],
    *,
    positive: str | None = None,
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
    which was not. `go_on` goes on from it with other data.

    Parameters
    ----------
    stream : the rows
    estimator : what `kb.save` takes; changed in place. None for `OnlineMKRegressor` where a label
        has a fraction, else `OnlineMKClassifier`, both with the seed 0
    path : the model's file, in an existing folder
    positive : the label that `open_stream` has made +1 of, to write it down
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
        if estimator is None:
            estimator = NewModel(None, classes, {"random_state": 0})
        if isinstance(estimator, NewModel):
            estimator = estimator.fitting(partial(task_of_labels, stream))
        else:
            check_settings(estimator, stream.n_features)
        Writer().values(estimator.get_params(deep=False))  # refuses what no file can hold
        table = TableModel._of_stream(estimator, stream, positive)
        place = Place(new=not overwrite)
        if going_on:
            found, known = load_checkpoint(path)
            place = Place.within(path, known)
            if place.begun is not None:
                raise InputError(
                    f"{path} has met other data before: kb.evaluation.go_on(data, path, "
                    "resume=True) goes on with the last ones"
                )
            check_same_settings(path, found, table)
            table = found
        run = partial(learn_all, stream, table, path, place)
        return run(classes, every, progress, stop, compiling)


class Place(NamedTuple):
    """Where in its data a model is.

    Attributes
    ----------
    known : the checkpoint in the model's file; None where there is none
    past : the data that it learned from before
    here : of the data that it is in, what it has learned; None where it is to begin them
    begun : what the encoder had learned before these data; None where nothing
    new : whether a file that is there is somebody else's
    """

    known: Checkpoint | None = None
    past: Sequence[Past] = ()
    here: Past | None = None
    begun: dict[str, Any] | None = None
    new: bool = False

    @classmethod
    def within(cls, path: str | PathLike[str], known: Checkpoint | None) -> Place:
        """The place of a model whose training was stopped, or whose data have more rows by now."""
        if known is None:
            problem = "a model that `train` did not write: it has no place to go on"
            raise ModelFileError(path, problem)
        if known.last.rows and not known.last.digest:
            raise ModelFileError(path, "a model that was trained apart: no place to go on from")
        return cls(known, known.past[:-1], known.last, known.begun)


def learn_all(
    stream: Stream,
    table: TableModel,
    path: str | PathLike[str],
    place: Place,
    classes: Sequence[Any] | None,
    every: float,
    progress: Callable[[Training], None] | None,
    stop: Callable[[], bool] | None,
    compiling: Tell | None,
    ahead: Measures | None = None,
) -> Training:
    """Learn the rows from a place on; see `train`. The file is locked."""
    X, y = next(stream.chunks(ROWS))
    estimator = table.model
    labels = named_classes(estimator, classes, None if place.past else y.dtype)
    if task_of(estimator) == "regression":
        check_numbers(y)
    elif labels is None:
        labels = classes_of(stream)
    if classes is not None and labels is not None:
        table.named_classes_ = labels
    watched(partial(warm_up, estimator, X, y, labels), compiling)
    state = Training(
        estimator, ahead=ahead, past=place.past, name=stream.name, n_rows=stream.n_rows,
        level_counts=stream.level_counts, n_unlabelled=stream.n_unlabelled,
        bad_rows=stream.bad_rows, taken=getattr(stream.encoder, "taken_", {}),
    )  # fmt: skip
    if stream.matched is not None:
        state.told = [*stream.matched.told(stream.n_rows or 0), *_told_of_late(stream.encoder)]
    if place.here is not None:
        state.rows = state.saved = place.here.rows
    if place.known is not None:
        state.seconds = place.known.seconds
    state.judge = _judge(place, labels)
    state.data, state.windows = state.judge.data, state.judge.windows
    session = _Session(
        table, state, path, place.known, place.past, place.new, labels, place.begun,
        Watched(stream, Content()),
    )  # fmt: skip
    session.run(stream, every, progress, stop)
    stream.watch = None
    return state


def _judge(place: Place, labels: NDArray[Any] | None) -> Judge:
    """What goes on to judge the predictions of the model."""
    judge = None if place.known is None else place.known.judge
    if judge is None:
        judge = Judge(labels, 0 if place.known is None else place.known.rows)
        if place.here is not None:
            judge.data.join(place.here)
    elif place.here is None:
        judge.begin()
    return judge


def check_target(path: str | PathLike[str], resume: bool, overwrite: bool) -> bool:
    """Whether there is a file to go on from; InputError where `train` may not write to it.

    `train` asks this first. Who opens data that take long to open may ask before.
    """
    there = check_writable(path).exists()
    if resume and overwrite:
        raise InputError("resume, overwrite: expected one of them, got both")
    if there and not (resume or overwrite):
        raise InputError(
            f"{path} is there already: resume (--resume) to go on with the same data, go_on "
            "(--go-on) with other data, overwrite (--overwrite) to begin anew"
        )
    return there and resume


def _told_of_late(encoder: TableEncoder | None) -> list[str]:
    """That the errors are those of labels in time, where an encoder knows of late ones."""
    if encoder is None or not encoder.lags_of_label or (encoder.delay, encoder.every) == (0, 1):
        return []
    late = [f"--delay {encoder.delay}"] if encoder.delay else []
    late += [f"--every {encoder.every}"] if encoder.every > 1 else []
    return [
        "each row was predicted with the labels of all rows before; kernbrook compare --in-order "
        f"{' '.join(late)} says the errors where labels come so late"
    ]


@dataclass
class _Session(Session):
    """One call of `train` or `go_on`.

    labels : all classes of the first data; None where they are numbers
    begun : as `Place` has it
    watched : the rows as they are before gaps are filled
    """

    labels: NDArray[Any] | None
    begun: dict[str, Any] | None
    watched: Watched

    def __post_init__(self) -> None:
        super().__post_init__()
        self.digest = self.watched.content

    def look_at(self, X: Features, y: Labels) -> None:
        self.watched.reach(X, y)

    def meet(self, X: Features, y: Labels) -> None:
        state, told = self.state, dict[str, Any]()
        if self.labels is not None:
            y, told = self._named(y)
        else:
            y = as_numbers(y, state.rows)
        for rows in self._parts(y):
            self._learn(rows, X[rows], y[rows], told)

    def _learn(self, rows: slice, X: Features, y: Labels, told: dict[str, Any]) -> None:
        """Learn some rows of a chunk."""
        state, judge = self.state, self.state.judge
        start = time.perf_counter()
        try:
            with intervals_of(judge.measures.coverage):
                said = scored(state.estimator)(X, y, **told)
        except InputError as error:
            if state.rows + rows.start == 0:
                raise
            before = state.rows + rows.start  # it counts these rows alone
            raise InputError(f"in the chunk after row {before}: {error}") from error
        state.seconds += time.perf_counter() - start - said.aside
        dates = self.watched.dates
        judge.add(y, said, None if dates is None else dates[rows])
        if self.labels is not None:
            judge.know(state.estimator.classes_)

    def _parts(self, y: Labels) -> list[slice]:
        """A row of a class that is new by itself, which nobody could have predicted."""
        new = self.state.new_classes.values()
        cuts = sorted({row - self.state.rows - 1 + after for row in new for after in (0, 1)})
        ends = [0, *(cut for cut in cuts if 0 < cut < len(y)), len(y)]
        return [slice(*pair) for pair in pairwise(ends)]

    def _named(self, y: Labels) -> tuple[Labels, dict[str, Any]]:
        """Labels as the model's classes are written, and what `learn` is told of classes.

        The classes of the first data are all known before; those of later data may be new.
        """
        state = self.state
        known: Any = state.estimator.classes_ if self.past else self.labels
        if not self.past:
            y = as_classes(y, known, state.rows)
            if len(new := np.flatnonzero(has_label(y) & ~np.isin(y, known))):
                raise InputError(
                    f"row {state.rows + new[0] + 1}: expected one of the labels {listed(known)}, "
                    f"found {y[new[0]]}"
                )
            return y, {"classes": self.labels}
        named = self.table.named_classes_
        y, found = new_labels(y, known, state.rows, None if named is None else named.tolist())
        for label, row in found.items():
            state.new_classes.setdefault(label, row)
        return y, {}

    def reached(self) -> Checkpoint:
        seconds = 0.0 if self.state.finished else self.state.seconds
        reached, judge = super().reached(), self.state.judge
        last = replace(reached.last, first=self.watched.content.first, **vars(judge.data))
        past = [*reached.past[:-1], last]
        return replace(reached, past=past, seconds=seconds, begun=self.begun, judge=judge)

    def save(self) -> None:
        super().save()
        self.state.saved = self.state.rows
