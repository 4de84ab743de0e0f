"""Labelling: a model goes through rows, and somebody is asked for the labels that it wants.

Each answer is a line in a file beside the model's, and on the disk before it is learned. The
model's own file says how many rows it has met. A labelling that was killed goes on from there,
and takes the answers to the rows after these from the lines: none is lost, none learned twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.atomic import check_writable
from kernbrook.engine.losses import HINGE, MISTAKES
from kernbrook.errors import InputError
from kernbrook.estimators.tasks import task_of
from kernbrook.evaluation.answers import (
    Answer,
    AnswerLog,
    Begun,
    answers_beside,
    as_label,
    named_classes,
)
from kernbrook.evaluation.checkpoints import Checkpoint, RowDigest, save_checkpoint
from kernbrook.evaluation.locking import locked
from kernbrook.evaluation.predicting import predict
from kernbrook.evaluation.sources import Source
from kernbrook.evaluation.warming import ROWS, Tell, try_out, watched
from kernbrook.labels import LabelBudget, MarginSampling
from kernbrook.persistence.encoding import Writer
from kernbrook.persistence.saving import save
from kernbrook.streams import Stream, open_stream
from kernbrook.streams.base import Features
from kernbrook.streams.opening import find_file
from kernbrook.streams.text_files import file_format
from kernbrook.streams.unlabelled import UnlabelledCsv, csv_columns

CHUNK = 1024  # rows read at a time; they do not change the result
EVERY = 60.0  # seconds from one writing of the model to the next
Floats = NDArray[np.float64]


class Quit(Exception):
    """Raised by who is asked, to stop for now."""


class Question(NamedTuple):
    """A row whose label the model wants.

    Attributes
    ----------
    row : its number in the data, from 1
    x : (1, d), dense or CSR
    predicted : the label that the model expects; None before it has learned any
    votes : (c,) for each class, votes or scores, the greatest wins; of two classes with 0 the
        second. None for numbers, and where `predicted` is
    means, deviations : (d,) mean and standard deviation of each feature, up to this row
    """

    row: int
    x: Features
    predicted: Any
    votes: Floats | None
    means: Floats
    deviations: Floats

    def entries(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Columns and values of the row, both (k,): all of a dense one, else what is stored."""
        if isinstance(self.x, np.ndarray):
            return np.arange(self.x.shape[1]), self.x[0]
        return np.asarray(self.x.indices), np.asarray(self.x.data)


@dataclass
class Labelling:
    """A labelling as it goes on.

    Attributes
    ----------
    model : what learns
    answers : the file of the answers
    rows : rows met
    given : labels given
    skipped : rows whose label was wanted and not given
    judged : labels given that the model had predicted: all but the first of a new model
    loss : mistakes among these; of numbers, the sum of the squared errors
    finished : whether no row is left
    """

    model: Any
    answers: Path
    rows: int = 0
    given: int = 0
    skipped: int = 0
    judged: int = 0
    loss: float = 0
    finished: bool = False

    @property
    def asked(self) -> int:
        """Rows whose label was wanted."""
        return self.given + self.skipped

    @property
    def saved(self) -> int:
        """Rows passed by: labels that nobody had to give."""
        return self.rows - self.asked

    def count(self, answer: Answer) -> None:
        """Take in one more answer."""
        if answer.label is None:
            self.skipped += 1
            return
        self.given += 1
        if answer.predicted is not None:
            self.judged += 1
            if task_of(self.model) == "regression":
                self.loss += (answer.predicted - answer.label) ** 2
            else:
                self.loss += answer.predicted != answer.label


def label(
    stream: Stream,
    model: Any,
    path: str | PathLike[str],
    ask: Callable[[Question, Labelling], Any],
    *,
    source: Source | None = None,
    checkpoint: Checkpoint | None = None,
    classes: Sequence[Any] | None = None,
    every: float = EVERY,
    progress: Callable[[Labelling], None] | None = None,
    stop: Callable[[], bool] | None = None,
    compiling: Tell | None = None,
) -> Labelling:
    """Go through a stream once, and ask for the labels that the model wants; it learns them.

    The answers go to `answers_beside(path)`, one JSON object a line. Called again with the same
    model, file and data, it goes on after the last answer; the last file is, byte for byte, that
    of a labelling which was never stopped. Rows appended to the data meanwhile come last.

    Parameters
    ----------
    stream : the rows; their labels are not looked at
    model : a machine with `learn`, as the file has it, or a new one where there is no file
    path : the model's file, in an existing folder
    ask : gives the label of a question, or None where it cannot be had, or raises `Quit`. It is
        also told how far the labelling is
    source : what else to write down about the data
    checkpoint : what `load_checkpoint` found beside the model
    classes : all labels, where the model has not learned from any
    every : seconds from one writing of the model to the next, at least 0
    progress : called after each row
    stop : asked after each row: True to write the model and return
    compiling : as `kernbrook.evaluation.compare` has it

    Returns
    -------
    Labelling

    Raises
    ------
    InputError
        The model does not ask for labels, or does not go with the answers beside it; other data;
        an argument does not fit; an answer is not one of the classes, or not a number.
    DataFileError
        The data, or the file of the answers, cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import kernbrook as kb
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> stream = kb.open_stream((X, np.zeros(300)))
    >>> def person(question, state):
    ...     return "right" if question.x[0, 0] > 0 else "left"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model = kb.OnlineMKClassifier(labels=kb.MarginSampling(), random_state=0)
    ...     file = Path(folder) / "model"
    ...     result = label(stream, model, file, person, classes=["left", "right"])
    ...     lines = len(answers_beside(file).read_text().splitlines())
    >>> result.finished, result.asked == lines - 1, result.saved > 150
    (True, True, True)
    """
    if not hasattr(model, "should_ask"):
        raise InputError(f"{path}: {type(model).__name__} does not ask for labels")
    names = named_classes(model, classes)
    begun = Begun(
        rounds=getattr(model, "n_rounds_", 0),
        labels=getattr(model, "labels_asked_", 0),
        digest="" if checkpoint is None else checkpoint.digest,
        classes=None if names is None else names.tolist(),
    )
    with locked(path), _log(model, path, begun, names) as log:
        source = source or Source(stream.n_features)
        work = _Work(stream, model, path, source, names, log, ask)
        begin = work.place_of(begun)
        for X, _ in stream.chunks(ROWS):
            some = np.arange(X.shape[0]) if names is None else np.resize(names, X.shape[0])
            watched(partial(try_out, model, X, some, names), compiling)
            break
        last = time.monotonic()
        for x in work.new_rows(begin, begun.digest):
            try:
                work.meet(x)
            except Quit:
                work.save()
                return work.state
            if progress is not None:
                progress(work.state)
            if stop is not None and stop():
                work.save()
                return work.state
            if time.monotonic() - last >= every:
                work.save()
                last = time.monotonic()
        work.state.finished = True
        if checkpoint is None or not checkpoint.finished or work.state.rows > begin:
            work.save()
    return work.state


def _log(
    model: Any, path: str | PathLike[str], begun: Begun, classes: NDArray[Any] | None
) -> AnswerLog:
    """The answers beside a model's file; both are written where neither is there."""
    if not check_writable(path).exists():
        if answers_beside(path).exists():
            raise InputError(f"{path} is not there, but {answers_beside(path)} is: move it away")
        save(model, path)
    return AnswerLog(answers_beside(path), begun, classes)


def open_unlabelled(
    data: str,
    *,
    n_features: int | None = None,
    label: str | None = None,
    seed: int = 0,
    max_bytes: int | None = None,
) -> tuple[Stream, Source]:
    """Data to be labelled, for a model that knows none yet.

    As `open_source`, but the columns of a CSV file are all features, except one that is called
    "label" or is named here.
    """
    file = find_file(data, max_bytes)
    if file is None or file_format(file) != "csv":
        stream = open_stream(
            file or data, n_features=n_features, label=label, seed=seed, max_bytes=max_bytes
        )
        return stream, Source(stream.n_features)
    columns = csv_columns(file)
    label = "label" if label is None and "label" in columns else label
    stream = UnlabelledCsv(file) if label is None else open_stream(file, label=label)
    if n_features not in (None, stream.n_features):
        raise InputError(f"{file.path}: expected {n_features} features, found {stream.n_features}")
    return stream, Source(
        stream.n_features, features=[name for name in columns if name != label], label=label
    )


def with_policy(model: Any) -> Any:
    """The machine, with a policy where it asks for every label; changed in place.

    Where the experts' opinions are signs, or cut at -1 and 1, a margin says how sure they are:
    `MarginSampling()`. Other scores, and numbers, have no bound, and large ones would end all
    questions: there at most every fourth label is asked for, `LabelBudget(0.25)`.

    Examples
    --------
    >>> import kernbrook as kb
    >>> with_policy(kb.recipes.make("omkc-dd")).labels
    MarginSampling()
    """
    if getattr(model, "labels", None) == "all":
        bounded = task_of(model) == "classification" and (
            model.combiner is None
            or getattr(model.combiner, "loss_code", None) in (MISTAKES, HINGE)
        )
        model.set_params(labels=MarginSampling() if bounded else LabelBudget(0.25))
    return model


def check_same_settings(path: str | PathLike[str], model: Any, asked: Any) -> None:
    """InputError where the model in a file has not the parameters that are asked for."""
    was, now = (
        {"estimator": type(one).__name__, **one.get_params(deep=False)} for one in (model, asked)
    )
    before, after = Writer().values(was), Writer().values(now)
    told = [
        f"{name} was {was.get(name)!r:.60} and is {now.get(name)!r:.60}"
        for name in after
        if before.get(name) != after[name]
    ]
    if told:
        raise InputError(f"{path} comes from other settings: {'; '.join(told)}")


class _Work:
    """One call of `label`."""

    def __init__(
        self,
        stream: Stream,
        model: Any,
        path: str | PathLike[str],
        source: Source,
        classes: NDArray[Any] | None,
        log: AnswerLog,
        ask: Callable[[Question, Labelling], Any],
    ):
        self.state = Labelling(model, log.path)
        self._path, self._source, self._classes, self._log = path, source, classes, log
        self._stream, self._ask = stream, ask
        self._digest = RowDigest()  # of the rows read; `_met` that of the rows met
        self._met = ""
        self._usual = _Usual(stream.n_features)
        self._told: dict[str, Any] = {} if classes is None else {"classes": classes}
        self._saved = 0

    def place_of(self, now: Begun) -> int:
        """How many rows of the data the model in the file has met; counts their answers."""
        rows = now.rounds - self._log.begun.rounds
        if rows < 0 or now.classes != self._log.begun.classes:
            raise self._other("the model was not the same when they were given")
        for answer in self._log.answers.values():
            if answer.row <= rows:
                self.state.count(answer)
        labels = now.labels - self._log.begun.labels
        if labels != self.state.given:
            raise self._other(f"it has learned {labels} labels, {self.state.given} are there")
        return rows

    def new_rows(self, begin: int, digest: str) -> Iterator[Features]:
        """The rows that the model has not met, each (1, d); those before must be the same."""
        if begin == 0 and digest != self._log.begun.digest:
            raise self._other("the model was not the same when they were given")
        left = begin
        for X, _ in self._stream.chunks(CHUNK):
            take = min(left, X.shape[0])
            if take:
                self._look_at(X[:take])
                left -= take
                if left == 0:
                    if digest == "":
                        raise self._other("something else has written the model since")
                    if digest != self._digest.hexdigest():
                        raise self._other(f"the first {begin} rows here are not those it has met")
                    self._met = digest
                    self.state.rows = self._saved = begin
            for i in range(take, X.shape[0]):
                self._look_at(X[i : i + 1])
                yield X[i : i + 1]
        if left:
            raise self._other(f"it has met {begin} rows, here are {begin - left}")
        if self._log.last > self.state.rows:
            raise self._other(f"row {self._log.last} was answered, here are {self.state.rows} rows")

    def meet(self, x: Features) -> None:
        """Learn one row, with its label if the model wants it."""
        row, asked = self.state.rows + 1, self.state.asked
        self._x, digest = x, self._digest.hexdigest()
        try:
            self.state.model.learn(x, self._answer, **self._told)
        except _OtherError:
            raise
        except InputError as error:
            raise InputError(f"row {row}: {error}") from error
        if row in self._log.answers and self.state.asked == asked:
            raise self._other(f"row {row} was answered, and the model does not want its label")
        self.state.rows, self._met = row, digest

    def save(self) -> None:
        """Write the model, where it has met a row since."""
        model, state = self.state.model, self.state
        if hasattr(model, "n_rounds_") and (state.rows > self._saved or state.finished):
            reached = Checkpoint(
                self._source, model.n_rounds_, state.loss, self._met, state.finished
            )
            save_checkpoint(model, reached, self._path)
            self._saved = state.rows

    def _look_at(self, X: Features) -> None:
        self._digest.update(X, np.zeros(X.shape[0]))
        self._usual.add(X)

    def _answer(self, _: Any) -> Any:
        """The oracle of the row that is met: from the log, else by asking."""
        row, digest = self.state.rows + 1, self._digest.hexdigest()
        answer = self._log.answers.get(row)
        if answer is None:
            if row < self._log.last:
                raise self._other(f"the model wants the label of row {row}, which has no answer")
            predicted, votes = self._belief()
            question = Question(row, self._x, predicted, votes, *self._usual.so_far())
            label = self._ask(question, self.state)
            label = None if label is None else as_label(label, self._classes)
            answer = Answer(row, label, predicted, digest)
            self._log.append(answer)
        elif answer.digest != digest:
            raise self._other(f"the rows up to row {row} are not those that were answered")
        self.state.count(answer)
        return answer.label

    def _belief(self) -> tuple[Any, Floats | None]:
        model = self.state.model
        if model.labels_asked_ == 0:
            return None, None
        labels, decisions = predict(model, self._x, scores=self._classes is not None)
        predicted = labels[0].item() if isinstance(labels[0], np.generic) else labels[0]
        if decisions is None:
            return predicted, None
        if decisions.ndim == 2:
            return predicted, decisions[0]
        return predicted, np.array([-1, 1]) * decisions[0] + 0.0  # which makes 0 of -0

    def _other(self, problem: str) -> _OtherError:
        return _OtherError(
            f"{self._path} does not go with the answers in {self._log.path}: {problem}. Give its "
            "own model and data, or move the answers away to begin anew"
        )


class _OtherError(InputError):
    """The model, its answers and the data do not go together."""


class _Usual:
    """Mean and deviation of each feature so far."""

    def __init__(self, n_features: int):
        self._rows = 0
        self._sums = np.zeros((2, n_features))

    def add(self, X: Features) -> None:
        self._rows += X.shape[0]
        with np.errstate(over="ignore"):
            if isinstance(X, np.ndarray):
                self._sums += X.sum(axis=0), (X * X).sum(axis=0)
            else:
                for sums, values in zip(self._sums, (X.data, X.data**2), strict=True):
                    np.add.at(sums, X.indices, values)

    def so_far(self) -> tuple[Floats, Floats]:
        means, squares = self._sums / self._rows
        with np.errstate(over="ignore", invalid="ignore"):
            return means, np.sqrt(np.maximum(squares - means**2, 0))
