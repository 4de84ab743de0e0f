"""`kernbrook train` and `kernbrook predict`: a model as a file, data of any size."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, NamedTuple

import typer

from kernbrook.cli.common import (
    MOST_FEATURES,
    MOST_SEED,
    Data,
    Json,
    MaxBytes,
    Settings,
    check_not_read,
    check_targets,
    parameters,
    say,
    show_result,
    telling,
    terminal,
)
from kernbrook.errors import InputError, printable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kernbrook.evaluation.training import Training
    from kernbrook.evaluation.warming import Tell


def train(
    data: Data,
    model: Annotated[Path, typer.Option(help="The file to write the model to.")],
    recipe: Annotated[
        str | None, typer.Option(help="One of `kernbrook recipes`; else ours for the labels.")
    ] = None,
    settings: Settings = None,
    budget: Annotated[
        int | None, typer.Option(min=1, help="Support vectors a kernel, for recipes with a budget.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=MOST_SEED, help="Seed of the draws.")] = 0,
    positive: Annotated[
        str | None, typer.Option(help="This label against the rest, for data of many classes.")
    ] = None,
    classes: Annotated[
        str | None, typer.Option(help="The labels, with commas; else the data are read for them.")
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="A CSV file's label column; else 'label', else the last.")
    ] = None,
    n_features: Annotated[
        int | None,
        typer.Option(
            min=1, max=MOST_FEATURES, help="Features of a svmlight file; else the most it has."
        ),
    ] = None,
    max_bytes: MaxBytes = None,
    checkpoint_every: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="Time from checkpoint to checkpoint.")
    ] = 60.0,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the model's file, if it is there.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the model's file, if it is there.")
    ] = False,
    json: Json = None,
) -> None:
    """Learn from data of any size in one pass, and save the model.

    The data are read in chunks, in their own order. Each row is predicted before it is learned:
    the mistakes made, or the mean squared error of numbers, are the online error. Recipes that ask
    for few labels look at no others.

    Ctrl-C saves a checkpoint and stops. The same command with --resume goes on from the last
    checkpoint, after a kill or a power cut too, and comes to the very file that it would have
    without. It also learns rows that were appended to the data since.
    """
    from kernbrook import recipes as book
    from kernbrook.evaluation.sources import open_source
    from kernbrook.evaluation.tasks import OURS, check_settings, make_online, task_of_labels
    from kernbrook.evaluation.training import check_target
    from kernbrook.evaluation.training import train as run
    from kernbrook.reports.training import training_json, training_table

    check_targets(json)
    check_target(model, resume, overwrite)
    check_not_read("--model", model, data)
    chosen = parameters(settings, budget)
    if recipe is None and classes is not None:
        recipe = OURS["classification"]
    if recipe is not None:  # before anything is read
        check_settings(make_online(recipe, **chosen, random_state=seed))
        if classes is not None and book.task(recipe) == "regression":
            raise InputError(f"--classes: {recipe} predicts numbers")
    stopping = _Stopping()
    with stopping.on_signals(), _bar(data) as bar:
        stream, source = open_source(
            data,
            n_features=n_features,
            label=label,
            positive=positive,
            seed=seed,
            max_bytes=max_bytes,
        )
        if recipe is None:
            recipe = OURS[task_of_labels(stream)]
            check_settings(make_online(recipe, **chosen, random_state=seed))
        estimator = make_online(recipe, **chosen, random_state=seed)

        def shown(state: Training) -> None:
            if bar.show is not None:
                bar.show(_so_far(stream.name, state), state.rows_read, stream.n_rows)

        result = run(
            stream,
            estimator,
            model,
            source=source,
            classes=None if classes is None else [name.strip() for name in classes.split(",")],
            resume=resume,
            overwrite=overwrite,
            every=checkpoint_every,
            progress=shown,
            stop=stopping.wanted,
            compiling=bar.compiling,
        )
    if not result.finished:
        say(f"kernbrook: stopped; {model} has learned {result.rows:,} of {stream.n_rows:,} rows.")
        say("To go on, give the same command with --resume.")
        raise typer.Exit(stopping.code)
    show_result(
        json,
        lambda: training_json(result, stream.name, recipe),
        lambda width: training_table(result, stream.name, book.title(recipe)),
    )
    already = result.rows == result.resumed_at
    say(f"{model} was complete, nothing new" if already else f"wrote {model}")


def predict(
    model: Annotated[Path, typer.Argument(help="A file that `train` or kb.save wrote.")],
    data: Data,
    output: Annotated[
        Path, typer.Option(help="The file to write to; - for standard output.")
    ] = Path("-"),
    scores: Annotated[
        bool, typer.Option("--scores", help="Write CSV: each prediction with its score.")
    ] = False,
    label: Annotated[
        str | None, typer.Option(help="A CSV file's label column; else the one that was learned.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=MOST_SEED, help="Seed of drawn data.")] = 0,
    max_bytes: MaxBytes = None,
) -> None:
    """Predict the label of each row, one line each.

    A CSV file may have the label's column or not; a svmlight file has some number in its place.
    Where the data have labels that the model knows, or numbers that are not all the same for a
    model of numbers, the error goes to standard error.

    A score is the combined vote. Of two labels, from 0 on, the prediction is the second in sorted
    order; more labels have one score each, and the greatest wins.
    """
    from kernbrook.atomic import check_writable
    from kernbrook.estimators.tasks import task_of
    from kernbrook.evaluation.predicting import Tally, check_scores, load_learned
    from kernbrook.evaluation.predicting import predict as run
    from kernbrook.evaluation.sources import open_like
    from kernbrook.evaluation.warming import watched
    from kernbrook.reports.words import ERROR_NAMES, error_value
    from kernbrook.streams.unlabelled import UnlabelledCsv

    to_file = str(output) != "-"
    if to_file:
        check_writable(output)
        for path in (data, str(model)):
            check_not_read("--output", output, path)
    machine, source, checkpoint = load_learned(model)
    if scores:
        check_scores(machine)
    if checkpoint is not None and not checkpoint.finished:
        say(f"{model} is a checkpoint, after {checkpoint.rows:,} rows")
    rows = 0
    to_terminal = not to_file and sys.stdout.isatty()
    written = printable if to_terminal else _in_a_line
    with _bar(data, hidden=to_terminal) as bar:
        stream = open_like(source, data, label=label, seed=seed, max_bytes=max_bytes)
        tally = Tally(getattr(machine, "classes_", None), source.positive)
        with _written(output) as file:
            if scores:
                file.write(_header(machine.classes_, written).encode())
            for X, y in stream.chunks():
                if rows == 0:
                    watched(partial(run, machine, X[:1], scores), bar.compiling)
                labels, decisions = run(machine, X, scores)
                file.write(_lines(labels, decisions, written).encode())
                if not isinstance(stream, UnlabelledCsv):
                    tally.add(labels, y)
                rows += len(y)
                if bar.show is not None:
                    bar.show(f"{stream.name}: {rows:,} rows", rows, stream.n_rows)
    if to_file:
        say(f"wrote {rows:,} predictions to {output}")
    if tally.error is not None:
        task = task_of(machine)
        error = f"{ERROR_NAMES[task]} {error_value(tally.error, task)}"
        say(f"{error} on {tally.known:,} labelled rows")


class _Stopping:
    """Ctrl-C or a polite kill: after the first chunk it waits for the end of the one in work."""

    def __init__(self) -> None:
        self._signal = 0
        self._something_learned = False

    def wanted(self) -> bool:
        """Asked after each chunk."""
        self._something_learned = True
        return self._signal != 0

    @property
    def code(self) -> int:
        """The exit code of a program that a signal ends."""
        return 128 + self._signal

    @contextmanager
    def on_signals(self) -> Iterator[None]:
        def receive(number: int, frame: object) -> None:
            at_once = self._signal != 0 or not self._something_learned
            self._signal = number
            if at_once:
                raise KeyboardInterrupt

        before = {name: signal.signal(name, receive) for name in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        except KeyboardInterrupt:
            say("kernbrook: stopped at once, with no further checkpoint")
            raise typer.Exit(self.code) from None
        finally:
            for name, handler in before.items():
                signal.signal(name, handler)


class _Bar(NamedTuple):
    """What is shown while data are read.

    show : shows a text, rows done and rows in all, where standard error is a terminal; else None
    compiling : called with how far compiling is
    """

    show: Callable[[str, int, int | None], None] | None
    compiling: Tell


@contextmanager
def _bar(data: str, hidden: bool = False) -> Iterator[_Bar]:
    from rich.progress import BarColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    console = terminal(stderr=True)
    if hidden or not console.is_terminal:
        yield _Bar(None, telling(None))
        return
    columns = TextColumn("{task.description}", markup=False), BarColumn(), Remaining()
    reading = printable(f"reading {data}")
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(reading, total=None)

        def show(text: str, done: int, rows: int | None) -> None:
            progress.update(task, description=printable(text), completed=done, total=rows)

        yield _Bar(show, telling(lambda line: progress.update(task, description=line or reading)))


def _so_far(name: str, state: Training) -> str:
    """Rows, online error, support vectors, and labels where not all were asked for, in a line."""
    from kernbrook.estimators.tasks import task_of
    from kernbrook.reports.words import error_value

    if state.rows_read < state.resumed_at:
        return f"{name}: {state.rows_read:,} rows read again"
    model, task = state.estimator, task_of(state.estimator)
    value = error_value(state.error, task)
    parts = [
        f"{state.rows:,} rows",
        f"{value} wrong" if task == "classification" else f"mean squared error {value}",
    ]
    if task == "classification" or model.n_support_stored_:
        parts.append(f"{model.n_support_stored_:,} support vectors")
    if model.labels_asked_ < state.rows:
        parts.append(f"{model.labels_asked_:,} labels")
    return f"{name}: {', '.join(parts)}"


@contextmanager
def _written(output: Path) -> Iterator[BinaryIO]:
    """A file that is replaced at the end, or standard output."""
    from kernbrook.atomic import replacing

    if str(output) != "-":
        with replacing(output) as file:
            yield file
        return
    try:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        # What could not be written must not be tried again at the end of the process.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise InputError(f"cannot write standard output: {error.strerror}") from error


def _in_a_line(label: str) -> str:
    """A label as a file or another program gets it: as it is, but for the ends of lines."""
    return label.replace("\r", "\\r").replace("\n", "\\n")


def _header(classes: NDArray[Any], written: Callable[[str], str]) -> str:
    names = ["score"] if len(classes) == 2 else [f"score of {label}" for label in classes.tolist()]
    return _csv([["prediction", *map(written, names)]])


def _lines(labels: NDArray[Any], scores: NDArray[Any] | None, written: Callable[[str], str]) -> str:
    names: list[Any] = labels.tolist()
    if labels.dtype.kind in "UO":
        names = [written(str(name)) for name in names]
    if scores is None:
        return "".join(f"{name}\n" for name in names)
    columns = scores[:, None] if scores.ndim == 1 else scores
    return _csv([name, *row] for name, row in zip(names, columns.tolist(), strict=True))


def _csv(rows: Iterable[list[Any]]) -> str:
    import csv
    import io

    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
