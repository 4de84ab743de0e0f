"""Labelling: a model goes through rows, and somebody is asked for the labels that it wants.

Each answer is a line in a file beside the model's, and on the disk before it is learned. The
model's own file says how many rows it has met. A labelling that was killed goes on from there,
and takes the answers to the rows after these from the lines: none is lost, none learned twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from kernbrook.evaluation.answers import Answer, AnswerLog, Begun, answers_beside
from kernbrook.evaluation.checkpoints import Checkpoint
from kernbrook.evaluation.classes import as_label, named_classes
from kernbrook.evaluation.locking import locked
from kernbrook.evaluation.moments import Floats, Moments
from kernbrook.evaluation.predicting import predict
from kernbrook.evaluation.sessions import Session, Stretch
from kernbrook.evaluation.sources import Source
from kernbrook.evaluation.warming import ROWS, Tell, try_out, watched
from kernbrook.labels import LabelBudget, MarginSampling
from kernbrook.persistence.saving import save
from kernbrook.streams import Stream
from kernbrook.streams.base import Features, Labels

EVERY = 60.0  # seconds from one writing of the model to the next


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
class Labelling(Stretch):
    """A labelling as it goes on.

    Attributes
    ----------
    model : what learns
    answers : the file of the answers
    given : labels given
    skipped : rows whose label was wanted and not given
    judged : labels given that the model had predicted: all but the first of a new model
    rows, loss, resumed_at, rows_read, finished : as `Stretch` has them; `loss` is on the labels
        that are judged
    """

    model: Any
    answers: Path
    given: int = 0
    skipped: int = 0
    judged: int = 0

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
            lost: float = answer.predicted != answer.label
            if task_of(self.model) == "regression":
                lost = (answer.predicted - answer.label) ** 2
            self.loss += lost
            if self.windows is not None:
                self.windows.add(np.array([lost]))


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
    progress : called after each row, and while rows are read again
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
    with locked(path):
        log = _log(model, path, begun, names)
        if source is None:
            table = stream.encoder is not None
            source = Source.of_stream(stream) if table else Source(stream.n_features)
        state = Labelling(model, log.path, rows=begun.rounds - log.begun.rounds)
        session = _Session(
            model, state, path, source, checkpoint, False, names, log, ask,
            Moments(stream.n_features),
        )  # fmt: skip
        session.check(begun)
        X, _ = next(stream.chunks(ROWS))
        some = np.arange(X.shape[0]) if names is None else np.resize(names, X.shape[0])
        watched(partial(try_out, model, X, some, names), compiling)
        session.run(stream, every, progress, stop)
    return state


def _log(
    model: Any, path: str | PathLike[str], begun: Begun, classes: NDArray[Any] | None
) -> AnswerLog:
    """The answers beside a model's file; both are written where neither is there."""
    if not check_writable(path).exists():
        if answers_beside(path).exists():
            raise InputError(f"{path} is not there, but {answers_beside(path)} is: move it away")
        save(model, path)
    return AnswerLog(answers_beside(path), begun, classes)


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


@dataclass
class _Session(Session):
    """One call of `label`."""

    step = 1

    classes: NDArray[Any] | None
    log: AnswerLog
    ask: Callable[[Question, Labelling], Any]
    usual: Moments  # of the rows read

    def check(self, now: Begun) -> None:
        """Whether the model in the file goes with the answers; counts those that it learned."""
        rows, begun = self.state.rows, self.log.begun
        same = now.digest == begun.digest or rows > 0
        if rows < 0 or now.classes != begun.classes or not same:
            raise self.other("the model was not the same when they were given")
        for answer in self.log.answers.values():
            if answer.row <= rows:
                self.state.count(answer)
        labels = now.labels - begun.labels
        if labels != self.state.given:
            raise self.other(f"it has learned {labels} labels, {self.state.given} are there")
        if rows > 0 and now.digest == "":
            raise self.other("something else has written the model since")

    def look_at(self, X: Features, y: Labels) -> None:
        super().look_at(X, np.zeros(len(y)))
        self.usual.add(X)

    def meet(self, X: Features, y: Labels) -> None:
        """Learn one row, with its label if the model wants it."""
        row, asked = self.state.rows + 1, self.state.asked
        self._x = X
        told = {} if self.classes is None else {"classes": self.classes}
        try:
            self.model.learn(X, self._answer, **told)
        except _OtherError:
            raise
        except InputError as error:
            raise InputError(f"row {row}: {error}") from error
        if row in self.log.answers and self.state.asked == asked:
            raise self.other(f"row {row} was answered, and the model does not want its label")

    def finish(self) -> None:
        if self.log.last > self.state.rows:
            raise self.other(f"row {self.log.last} was answered, here are {self.state.rows} rows")
        super().finish()

    def other(self, problem: str) -> InputError:
        return _OtherError(
            f"{self.path} does not go with the answers in {self.log.path}: {problem}. Give its "
            "own model and data, or move the answers away to begin anew"
        )

    def _answer(self, _: Any) -> Any:
        """The oracle of the row that is met: from the log, else by asking."""
        row, digest = self.state.rows + 1, self.digest.hexdigest()
        answer = self.log.answers.get(row)
        if answer is None:
            if row < self.log.last:
                raise self.other(f"the model wants the label of row {row}, which has no answer")
            predicted, votes = self._belief()
            usual = self.usual.means(), self.usual.deviations()
            label = self.ask(Question(row, self._x, predicted, votes, *usual), self.state)
            label = None if label is None else as_label(label, self.classes)
            answer = Answer(row, label, predicted, digest)
            self.log.append(answer)
        elif answer.digest != digest:
            raise self.other(f"the rows up to row {row} are not those that were answered")
        self.state.count(answer)
        return answer.label

    def _belief(self) -> tuple[Any, Floats | None]:
        model = self.state.model
        if model.labels_asked_ == 0:
            return None, None
        labels, decisions = predict(model, self._x, scores=self.classes is not None)
        predicted = labels[0].item() if isinstance(labels[0], np.generic) else labels[0]
        if decisions is None:
            return predicted, None
        if decisions.ndim == 2:
            return predicted, decisions[0]
        return predicted, np.array([-1, 1]) * decisions[0] + 0.0  # which makes 0 of -0


class _OtherError(InputError):
    """The model, its answers and the data do not go together."""
