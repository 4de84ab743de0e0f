"""Labelling: a model goes through rows, and somebody is asked for the labels that it wants.

Each answer is a line in a file beside the model's, and on the disk before it is learned. The
model's own file says how many rows it has met. A labelling that was killed goes on from there,
and takes the answers to the rows after these from the lines: none is lost, none learned twice.

What was learned cannot be unlearned. The last answer is taken back by a copy of the model from
before it, which meets the rows up to there again; then the file is written, then the line that
takes the answer back. So the model in the file has never learned an answer that is taken back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.atomic import check_writable
from kernbrook.engine.loss_codes import HINGE, MISTAKES
from kernbrook.errors import InputError
from kernbrook.estimators.table_model import TableModel
from kernbrook.estimators.tasks import Outputs, task_of
from kernbrook.evaluation.answers import Answer, AnswerLog, Begun, Question, answers_beside
from kernbrook.evaluation.checkpoint import Checkpoint, checkpoint_of
from kernbrook.evaluation.classes import as_label, named_classes
from kernbrook.evaluation.content import RowDigest
from kernbrook.evaluation.locking import locked
from kernbrook.evaluation.measures import Measures, losses
from kernbrook.evaluation.moments import Moments
from kernbrook.evaluation.predicting import predict_frozen
from kernbrook.evaluation.training import Position, Progress, Quit, Session, Undo
from kernbrook.evaluation.warming import ROWS, Reporter, run_reported, try_out
from kernbrook.evaluation.windows import Past, shortened
from kernbrook.gram.arrays import Floats
from kernbrook.labels import AllLabels, LabelBudget, MarginSampling
from kernbrook.labels.base import Wanted
from kernbrook.persistence.saving import save
from kernbrook.streams import Stream
from kernbrook.streams.stream import Features, Labels, check_stream

EVERY = 60.0  # seconds from one writing of the model to the next
_DIGITS = 6  # of a probability that is written down


@dataclass
class Labelling(Progress):
    """A labelling as it goes on.

    Attributes
    ----------
    model : what learns
    answers : the file of the answers
    given : labels given
    skipped : rows whose label was wanted and not given
    expected : of each of these the label and what the model had said
    last : the answer that can be taken back: the last one, of this call; None where there is none
    rows, loss, judged, resumed_at, rows_read, finished, data, windows : as `Progress` has them
        The model had predicted all labels given, but for the first of a new model.
    """

    model: Any
    answers: Path
    given: int = 0
    skipped: int = 0
    expected: list[tuple[Any, Any]] = field(default_factory=list)
    last: Answer | None = None

    @property
    def asked(self) -> int:
        """Rows whose label was wanted."""
        return self.given + self.skipped

    @property
    def saved(self) -> int:
        """Rows passed by: labels that nobody had to give."""
        return self.rows - self.asked

    def measures(self) -> Measures | None:
        """What the model expected, beside always saying what it has learned most often.

        On the labels that are judged; None where there are none.
        """
        if not self.expected:
            return None
        labels, predictions = map(np.array, zip(*self.expected, strict=True))
        found = Measures(getattr(self.model, "classes_", None), model=self.model, rules=())
        found.add(labels, Outputs(predictions, np.ones(len(predictions), dtype=bool)))
        return found

    def count(self, answer: Answer) -> None:
        if answer.label is None:
            self.skipped += 1
            return
        self.given += 1
        if answer.predicted is not None:
            self.expected.append((answer.label, answer.predicted))
            predicted, label = np.array([answer.predicted]), np.array([answer.label])
            lost = {"loss": losses(predicted, label, task_of(self.model))}
            self.data.add(1, lost)
            if self.windows is not None:
                self.windows.add(1, lost)


def label(
    stream: Stream,
    model: Any,
    path: str | PathLike[str],
    ask: Callable[[Question, Labelling], Any],
    *,
    classes: Sequence[Any] | None = None,
    every: float = EVERY,
    end: Callable[[Labelling], None] | None = None,
    progress: Callable[[Labelling], None] | None = None,
    stop: Callable[[], bool] | None = None,
    compiling: Reporter | None = None,
) -> Labelling:
    """Go through a stream once, and ask for the labels that the model wants; it learns them.

    The answers go to `answers_beside(path)`, one JSON object a line. Called again with the same
    model, file and data, it goes on after the last answer; the last file is, byte for byte, that
    of a labelling which was never stopped. Rows appended to the data meanwhile come last.

    The last answer can be taken back: the model then is, byte for byte, the one that has never had
    it.

    Parameters
    ----------
    stream : the rows; their labels are not looked at
    model : a machine with `learn`, or a `TableModel`, as the file has it; or a new one where there
        is no file
    path : the model's file, in an existing folder
    ask : gives the label of a question, or None where it cannot be had; or raises `Quit`, or `Undo`
        to take back the last answer, whose question then comes again. It is also told how far the
        labelling is
    classes : all labels, where the model has not learned from any
    every : seconds from one writing of the model to the next, at least 0
    end : called where no row is left, if there is an answer to take back: the last chance for that
    progress : called after each row, and while rows are read again
    stop : asked after each row: True to write the model and return
    compiling : as `kernbrook.evaluation.compare` has it

    Returns
    -------
    Labelling, whose `model` is another object than was given where an answer was taken back

    Raises
    ------
    InputError
        The model does not ask for labels, or does not go with the answers beside it; other data;
        an argument does not fit; an answer is not one of the classes, or not a number; there is no
        answer to take back.
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
    check_stream(stream)
    table = model if isinstance(model, TableModel) else TableModel._of_stream(model, stream)
    model = table.model
    if not hasattr(model, "should_ask"):
        raise InputError(f"{path}: {type(model).__name__} does not ask for labels")
    names = named_classes(model, classes)
    with locked(path):
        checkpoint = checkpoint_of(table, path)
        log = _log(table, path, _begun(model, checkpoint, names))
        rows = _rounds(model) - log.begun.rounds
        if checkpoint is not None:
            past = checkpoint.past[:-1] if rows else checkpoint.past
        else:
            past = [Past(log.begun.rounds)] if log.begun.rounds else []
        session = _Session(
            table, Labelling(model, log.path, rows=rows), path, Position(checkpoint, past),
            stream, RowDigest(), names, log, ask, end,
        )  # fmt: skip
        session.check()
        X, _ = next(stream.chunks(ROWS))
        some = np.arange(X.shape[0]) if names is None else np.resize(names, X.shape[0])
        run_reported(partial(try_out, model, X, some, names), compiling)
        while True:
            try:
                session.run(every, progress, stop)
                return session.state
            except Undo:
                session = session.back()


def _rounds(model: Any) -> int:
    rounds: int = getattr(model, "n_rounds_", 0)
    return rounds


def _begun(model: Any, checkpoint: Checkpoint | None, classes: NDArray[Any] | None) -> Begun:
    return Begun(
        rounds=_rounds(model),
        labels=getattr(model, "labels_asked_", 0),
        digest="" if checkpoint is None else checkpoint.last.digest,
        classes=None if classes is None else classes.tolist(),
    )


def _log(table: TableModel, path: str | PathLike[str], begun: Begun) -> AnswerLog:
    """The answers beside a model's file; both are written where neither is there."""
    if not check_writable(path).exists():
        if answers_beside(path).exists():
            raise InputError(f"{path} is not there, but {answers_beside(path)} is: move it away")
        save(table, path)
    return AnswerLog(answers_beside(path), begun)


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


class _Copy(NamedTuple):
    """A model as it was after some rows, and what its file said then."""

    rows: int
    model: Any
    known: Checkpoint | None


@dataclass
class _Session(Session):
    """One way through the rows in a call of `label`: the only one, or that after an undo."""

    step = 1

    classes: NDArray[Any] | None
    log: AnswerLog
    ask: Callable[[Question, Labelling], Any]
    end: Callable[[Labelling], None] | None
    undoing: int = 0  # the row whose answer is taken back when it is met

    def __post_init__(self) -> None:
        super().__post_init__()
        self._usual = Moments(self.stream.n_features)
        model = deepcopy(self.table.model)
        self._copies = [_Copy(self.state.rows, model, self.position.known)]  # two at most

    def check(self) -> None:
        """Whether the model in the file goes with the answers; counts those that it learned."""
        now = _begun(self.table.model, self.position.known, self.classes)
        rows, begun = self.state.rows, self.log.begun
        same = now.digest == begun.digest or rows > 0
        if rows < 0 or now.classes != begun.classes or not same:
            raise self.other_data("the model was not the same when they were given")
        for answer in self.log.answers.values():
            if answer.row <= rows:
                self.state.count(answer)
        labels = now.labels - begun.labels
        if labels != self.state.given:
            raise self.other_data(f"it has learned {labels} labels, {self.state.given} are there")
        if rows > 0 and now.digest == "":
            raise self.other_data("something else has written the model since")

    def back(self) -> _Session:
        """The session anew, from a copy of the model and up to the last answer, without that."""
        if (last := self.state.last) is None:
            raise InputError("undo: there is no answer to take back")
        copy = next(copy for copy in reversed(self._copies) if copy.rows < last.row)
        state = Labelling(copy.model, self.log.path, rows=copy.rows)
        self.table.model = copy.model
        position = self.position._replace(known=copy.known)
        again = replace(self, state=state, position=position, digest=RowDigest(), undoing=last.row)
        again._written = self._written  # the file is as it was
        again.check()
        return again

    def digest_rows(self, X: Features, y: Labels) -> None:
        self.digest.update(X, np.zeros(len(y)))
        self._usual.add(X)

    def checkpoint(self) -> Checkpoint:
        state, name, digest = self.state, self.stream.name, self._learned_digest
        last = Past(state.rows, state.judged, {"loss": state.loss}, name=name, digest=digest)
        past = shortened([*self.position.past, last])
        return Checkpoint(past, state.finished, windows=state.windows)

    def learn(self, X: Features, y: Labels) -> None:
        row, asked, last = self.state.rows + 1, self.state.asked, self.state.last
        if row == self.undoing:
            self._take_back()
        if last is not None and last.row == self.state.rows:  # it is learned by now
            copy = _Copy(self.state.rows, deepcopy(self.table.model), self.checkpoint())
            self._copies = [self._copies[-1], copy]
        self._x = X
        named = {} if self.classes is None else {"classes": self.classes}
        try:
            self.table.model.learn(X, self._answer, **named)
        except _OtherError:
            raise
        except InputError as error:
            raise InputError(f"row {row}: {error}") from error
        if row in self.log.answers and self.state.asked == asked:
            raise self.other_data(f"row {row} was answered, and the model does not want its label")

    def finish(self) -> None:
        if self.log.last > self.state.rows:
            last, rows = self.log.last, self.state.rows
            raise self.other_data(f"row {last} was answered, here are {rows} rows")
        if self.end is not None and self.state.last is not None:
            try:
                self.end(self.state)
            except Quit:
                return
        super().finish()

    def other_data(self, problem: str) -> InputError:
        return _OtherError(
            f"{self.path} does not go with the answers in {self.log.path}: {problem}. Give its "
            "own model and data, or move the answers away to begin anew"
        )

    def _take_back(self) -> None:
        """The model in the file first, then the line: it must not have learned what is undone."""
        self.write(self.checkpoint() if self.state.rows else self.position.known)
        self._written, self._whole = self.state.rows, False
        self.log.take_back()
        self.undoing = 0

    def _answer(self, _: Any) -> Any:
        """The oracle of the row that is met: from the log, else by asking."""
        row, digest = self.state.rows + 1, self.digest.hexdigest()
        answer = self.log.answers.get(row)
        if answer is None:
            if row < self.log.last:
                problem = f"the model wants the label of row {row}, which has no answer"
                raise self.other_data(problem)
            question = self._question(row)
            label = self.ask(question, self.state)
            label = None if label is None else as_label(label, self.classes)
            chance, chances = None, question.chances
            if self.classes is not None and chances is not None:
                place = self.classes.tolist().index(question.predicted)
                chance = round(float(chances[place]), _DIGITS)
            answer = self.state.last = Answer(row, label, question.predicted, digest, chance)
            self.log.append(answer)
        elif answer.digest != digest:
            raise self.other_data(f"the rows up to row {row} are not those that were answered")
        self.state.count(answer)
        return answer.label

    def _question(self, row: int) -> Question:
        """What the model says of the row, as one that learns no more would, and why it asks."""
        model, predicted, votes, chances = self.table.model, None, None, None
        if model.labels_asked_ > 0:
            outputs = predict_frozen(model, self._x)
            predicted = outputs.predictions.tolist()[0]
            if self.classes is not None and outputs.scores is not None:
                votes = outputs.scores[0]
                chances = None if outputs.probabilities is None else outputs.probabilities[0]
                if len(votes) == 1:
                    votes = np.array([-1, 1]) * votes[0] + 0.0  # which makes 0 of -0
        answers = reversed(self.log.answers.values())
        given = (answer.row for answer in answers if answer.label is not None)
        why = reason(model, self.classes, chances, row - 1 - next(given, 0))
        usual = self._usual.means(), self._usual.deviations()
        return Question(row, self._x, predicted, votes, chances, *usual, why)


def reason(model: Any, classes: NDArray[Any] | None, chances: Floats | None, passed: int) -> str:
    """Why a model wants the label of a row, in a few words; passed : rows since the last label."""
    if model.labels_asked_ == 0:
        return "the first label is always asked for"
    policy = AllLabels() if model.labels == "all" else model.labels
    if not hasattr(policy, "why"):
        return f"{policy} wants the label"
    sure: list[tuple[Any, float]] = []
    if classes is not None and chances is not None:
        order = np.argsort(-chances, kind="stable")
        sure = [(classes[k].item(), float(chances[k])) for k in order]
    why: str = policy.why(Wanted(sure, passed))
    return why


class _OtherError(InputError):
    """The model, its answers and the data do not go together."""
