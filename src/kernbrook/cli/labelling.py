"""`kernbrook label`: a person answers what a model asks, one example at a time."""

from __future__ import annotations

import math
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kernbrook.cli.common import (
    MOST_FEATURES,
    MOST_SEED,
    Data,
    MaxBytes,
    check_not_read,
    check_targets,
    say,
    telling,
    terminal,
)
from kernbrook.errors import InputError, printable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kernbrook.evaluation.labelling import Labelling, Question
    from kernbrook.evaluation.sources import Source
    from kernbrook.labels import JSONLines
    from kernbrook.streams import Stream


def label_data(
    model: Annotated[
        Path, typer.Argument(help="The model's file; new with --classes or --recipe.")
    ],
    data: Data,
    recipe: Annotated[
        str | None,
        typer.Option(help="Begin a new model: one of `kernbrook recipes`; for classes else ours."),
    ] = None,
    classes: Annotated[
        str | None, typer.Option(help="All labels of a new model, with commas; none for numbers.")
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, max=MOST_SEED, help="Seed of a new model, and of drawn data.")
    ] = 0,
    label: Annotated[
        str | None, typer.Option(help="A CSV file's label column, which is not looked at.")
    ] = None,
    n_features: Annotated[
        int | None,
        typer.Option(
            min=1, max=MOST_FEATURES, help="Features of a svmlight file, for a new model."
        ),
    ] = None,
    max_bytes: MaxBytes = None,
    questions: Annotated[
        Path | None, typer.Option(help="Ask here, a JSON object a line, and not in the terminal.")
    ] = None,
    answers: Annotated[
        Path | None, typer.Option(help="Take the answers from this file, which others write.")
    ] = None,
) -> None:
    """Give a model the labels that it asks for, and no others.

    The model goes through the data. Where it is sure it passes on; where it wants the label, it
    shows the example and what it expects, and learns from the answer at once. Answer with the
    label, its beginning or its number in the list; `s` skips, `q` stops, `?` helps.

    Stop when you like. Each answer is in MODEL.labels.jsonl before the model learns it, so that
    the same command goes on after the last one, after a kill or a power cut too.

    A recipe that would ask for every label is given a policy: to ask where the vote is close; or,
    for numbers, for a quarter of the labels at most.
    """
    from kernbrook.cli.person import Person
    from kernbrook.evaluation.answers import as_label, named_classes
    from kernbrook.evaluation.labelling import label as run
    from kernbrook.evaluation.tasks import OURS

    check_targets(questions)
    check_targets(answers)
    if (questions is None) != (answers is None):
        raise InputError("--questions, --answers: one needs the other")
    if data == "-" and answers is None:
        raise InputError("standard input has the answers: give a file, or --questions, --answers")
    for option, path in (("MODEL", model), ("--questions", questions), ("--answers", answers)):
        if path is not None:
            check_not_read(option, path, data)
    stopping = _Stopping()
    with stopping.on_signals():
        if recipe is None and classes is not None and not model.exists():
            recipe = OURS["classification"]
        estimator, source, checkpoint = _model(model, recipe, seed)
        names = None if classes is None else [name.strip() for name in classes.split(",")]
        known = named_classes(estimator, names)
        stream, source = _opened(data, source, label, n_features, seed, max_bytes)
        person = Person(terminal(stderr=True), stream, source, known)
        if questions is None or answers is None:
            ask = person.ask
        else:
            from kernbrook.labels import JSONLines

            read = partial(as_label, classes=known)
            ask = partial(_through, JSONLines(questions, answers), source, known, read)
            say(f"asking in {questions}, waiting for answers in {answers}")
        state = run(
            stream,
            estimator,
            model,
            stopping.while_asking(ask),
            source=source,
            checkpoint=checkpoint,
            classes=names,
            progress=person.passing,
            compiling=telling(person.compiling if person.console.is_terminal else None),
            stop=stopping.wanted,
        )
    person.clear()
    for line in _summary(state, stream, known):
        typer.echo(printable(line))
    if not state.finished:
        say(f"{model} is saved; the same command goes on")
        if stopping.number:
            raise typer.Exit(128 + stopping.number)


def _model(path: Path, recipe: str | None, seed: int) -> tuple[Any, Source | None, Any]:
    """The model in the file, or a new one; what is known of its data; its checkpoint."""
    from kernbrook.evaluation.checkpoints import load_checkpoint
    from kernbrook.evaluation.labelling import check_same_settings, with_policy
    from kernbrook.evaluation.sources import Source
    from kernbrook.evaluation.tasks import make_online

    made = None if recipe is None else with_policy(make_online(recipe, random_state=seed))
    if not path.exists():
        if made is None:
            raise InputError(
                f"{path} does not exist; to begin a new model, name the labels, such as "
                "--classes yes,no; for numbers a recipe, such as --recipe kernbrook-regression"
            )
        return made, None, None
    estimator, checkpoint = load_checkpoint(path)
    if made is not None:
        check_same_settings(path, estimator, made)
    if checkpoint is not None:
        return estimator, checkpoint.source, checkpoint
    width, names = (
        getattr(estimator, f"{what}_in_", None) for what in ("n_features", "feature_names")
    )
    if width is None:
        return estimator, None, None
    return estimator, Source(width, features=None if names is None else names.tolist()), None


def _opened(
    data: str,
    source: Source | None,
    label: str | None,
    n_features: int | None,
    seed: int,
    max_bytes: int | None,
) -> tuple[Stream, Source]:
    """Data as the model knows them; where it is new, a CSV file needs no label."""
    from kernbrook.evaluation.labelling import open_unlabelled
    from kernbrook.evaluation.sources import open_like

    if source is None:
        return open_unlabelled(
            data, n_features=n_features, label=label, seed=seed, max_bytes=max_bytes
        )
    if n_features not in (None, source.n_features):
        raise InputError(f"--n-features: the model has {source.n_features}, got {n_features}")
    return open_like(source, data, label=label, seed=seed, max_bytes=max_bytes), source


class _Stopping:
    """Ctrl-C or a polite kill: at once while a question is open, else after the row in work."""

    def __init__(self) -> None:
        self.number = 0
        self._idle = True  # nothing is half done

    def wanted(self) -> bool:
        """Asked after each row."""
        self._idle = False
        return self.number != 0

    def while_asking(
        self, ask: Callable[[Question, Labelling], Any]
    ) -> Callable[[Question, Labelling], Any]:
        """The same questions; a signal is like `q`."""
        from kernbrook.evaluation.labelling import Quit

        def asked(question: Question, state: Labelling) -> Any:
            try:
                self._idle = True
                if self.number:
                    raise KeyboardInterrupt
                return ask(question, state)
            except KeyboardInterrupt:
                raise Quit from None
            finally:
                self._idle = False

        return asked

    @contextmanager
    def on_signals(self) -> Iterator[None]:
        def receive(number: int, frame: object) -> None:
            again, self.number = self.number != 0, number
            if self._idle or again:
                raise KeyboardInterrupt

        before = {name: signal.signal(name, receive) for name in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        except KeyboardInterrupt:
            say("kernbrook: stopped; the same command goes on")
            raise typer.Exit(128 + self.number) from None
        finally:
            for name, handler in before.items():
                signal.signal(name, handler)


def _summary(state: Labelling, stream: Stream, classes: NDArray[Any] | None) -> list[str]:
    met = f"{state.rows:,}" + (f" of {stream.n_rows:,}" if stream.n_rows else "")
    rows = [
        ("rows", met),
        ("labels given", f"{state.given:,}"),
        ("skipped", f"{state.skipped:,}"),
        ("labels saved", f"{state.saved:,}"),
    ]
    if state.rows:
        rows[-1] = ("labels saved", f"{state.saved:,} ({100 * state.saved / state.rows:.0f} %)")
    if state.judged and classes is None:
        rows.append(("rms error", f"{math.sqrt(state.loss / state.judged):.4g}"))
    elif state.judged:
        rows.append(("model right", f"{state.judged - state.loss:,} of {state.judged:,}"))
    rows.append(("answers", str(state.answers)))
    return [f"{what:13} {value}" for what, value in rows]


# -- files ------------------------------------------------------------------------------------


def _through(
    oracle: JSONLines,
    source: Source,
    classes: NDArray[Any] | None,
    read: Callable[[Any], Any],
    question: Question,
    state: Labelling,
) -> Any:
    """The answer to a question that is a line in a file."""
    columns, values = question.entries()
    names: list[str] | None = source.features
    if hasattr(question.x, "indices"):
        names = [str(j + 1) for j in columns.tolist()]
    row = values.tolist() if names is None else dict(zip(names, values.tolist(), strict=True))
    more: dict[str, Any] = {"predicted": question.predicted}
    if classes is not None and question.votes is not None:
        more["votes"] = dict(zip(map(str, classes.tolist()), question.votes.tolist(), strict=True))
    return oracle.ask(question.row, row, read, **more)
