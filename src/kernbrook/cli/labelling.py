"""`kernbrook label`: a person answers what a model asks, one example at a time."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kernbrook.cli.options import (
    Budget,
    Data,
    Features,
    MaxBytes,
    Seed,
    Sep,
    Settings,
    check_outputs,
    labels,
    parameters,
    takes_tables,
)
from kernbrook.cli.output import say, telling, terminal
from kernbrook.cli.signals import Stopping
from kernbrook.errors import InputError, printable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kernbrook.cli.page import Page
    from kernbrook.cli.person import Person
    from kernbrook.evaluation.answers import Question
    from kernbrook.evaluation.checkpoints import Checkpoint
    from kernbrook.evaluation.labelling import Labelling
    from kernbrook.evaluation.sources import Source
    from kernbrook.labels import JSONLines
    from kernbrook.streams import Stream


Model = Annotated[Path, typer.Argument(help="The model's file; new with --classes or --recipe.")]
Recipe = Annotated[
    str | None,
    typer.Option(help="Begin a new model: one of `kernbrook recipes`; for classes else ours."),
]
Classes = Annotated[
    str | None, typer.Option(help="All labels of a new model, with commas; none for numbers.")
]
Unread = Annotated[str | None, typer.Option(help="A table's label column, which is not looked at.")]
Questions = Annotated[Path | None, typer.Option(help="Ask here, a JSON object a line.")]
Answers = Annotated[Path | None, typer.Option(help="Take the answers from this file.")]
Text = Annotated[str | None, typer.Option(help="A CSV file's column to show, not to learn.")]
Image = Annotated[
    str | None,
    typer.Option(help="Likewise, a column with names of image files in the file's folder."),
]
Web = Annotated[bool, typer.Option("--web", help="Ask on a page in the browser.")]
Port = Annotated[int | None, typer.Option(min=0, max=65535, help="The page's port; else any.")]


@takes_tables
def label_data(
    model: Model,
    data: Data,
    recipe: Recipe = None,
    classes: Classes = None,
    settings: Settings = None,
    budget: Budget = None,
    seed: Seed = 0,
    label: Unread = None,
    encoder: Any = None,
    sep: Sep = None,
    n_features: Features = None,
    max_bytes: MaxBytes = None,
    questions: Questions = None,
    answers: Answers = None,
    text: Text = None,
    image: Image = None,
    web: Web = False,
    port: Port = None,
) -> None:
    """Give a model the labels that it asks for, and no others.

    The model goes through the data and passes on many rows. Where it wants the label, it shows the
    example, what it expects and why it asks, and learns from the answer at once. Answer with the
    label, its beginning or its number in the list; `s` skips, `u` takes the last answer back, `q`
    stops, `?` helps. --web asks on a page in the browser instead, with tables, text and images.

    Stop when you like. Each answer is in MODEL.labels.jsonl before the model learns it, so that
    the same command goes on after the last one, after a kill or a power cut too.

    A recipe that would ask for every label is given a policy: to ask where the vote is close; or,
    for numbers, for a quarter of the labels at most.
    """
    from kernbrook.cli.person import Person
    from kernbrook.cli.questions import Aside
    from kernbrook.evaluation.classes import as_label, named_classes
    from kernbrook.evaluation.labelling import label as run
    from kernbrook.evaluation.sources import Source, open_like
    from kernbrook.evaluation.tasks import OURS

    _check(model, data, questions, answers, web, port)
    chosen = {**parameters(settings, budget), "random_state": seed}
    if recipe is None and classes is not None and (len(chosen) > 1 or not model.exists()):
        recipe = OURS["classification"]
    if recipe is None and len(chosen) > 1:
        raise InputError("--set, --budget: expected a --recipe too, or --classes")
    stopping, opened = Stopping(), ExitStack()
    with opened, stopping.on_signals("kernbrook: stopped; the same command goes on"):
        estimator, source, checkpoint = _model(model, recipe, chosen)
        known = named_classes(estimator, labels(classes))
        if source is not None and n_features not in (None, source.n_features):
            raise InputError(f"--n-features: the model has {source.n_features}, got {n_features}")
        stream = open_like(
            source, data, n_features=n_features, label=label, seed=seed, max_bytes=max_bytes,
            sep=sep, encoder=encoder,
            aside=[name for name in (text, image) if name is not None],
        )  # fmt: skip
        source = source or Source.of_stream(stream)
        if stream.aside:
            source = replace(source, aside=list(stream.aside))
        aside, console = Aside(stream, text, image), terminal(stderr=True)
        person: Person | Page = Person(console, stream, source, known, aside)
        if web:
            from kernbrook.cli.page import Page

            page = Page(stream, source, known, aside, Path(data).parent, port or 0)
            person = opened.enter_context(page)
            say(f"label at {page.address} (Ctrl-C stops)")
        ask: Callable[..., Any] = person.ask
        end: Callable[..., Any] | None = _until_stopped(person.end, stopping)
        if questions is not None and answers is not None:
            from kernbrook.labels import JSONLines

            read = partial(as_label, classes=known)
            ask, end = partial(_through, JSONLines(questions, answers), source, known, read), None
            say(f"asking in {questions}, waiting for answers in {answers}")

        state = run(
            stream, estimator, model, _until_stopped(ask, stopping), source=source,
            checkpoint=checkpoint, classes=labels(classes), end=end, progress=person.passing,
            stop=stopping.wanted,
            compiling=telling(person.compiling if web or console.is_terminal else None),
        )  # fmt: skip
        summary = [*_summary(state, stream, known), *_next(model, data)]
        person.close(summary, state.finished)
    for what, value in summary:
        typer.echo(printable(f"{what:13} {value}"))
    if not state.finished:
        say(f"{model} is saved; the same command goes on")
        if stopping.number:
            raise typer.Exit(stopping.code)


def _check(
    model: Path,
    data: str,
    questions: Path | None,
    answers: Path | None,
    web: bool,
    port: int | None,
) -> None:
    """InputError where the options do not go together."""
    from kernbrook.evaluation.answers import answers_beside

    if (questions is None) != (answers is None):
        raise InputError("--questions, --answers: one needs the other")
    if web and questions is not None:
        raise InputError("--web, --questions: expected one of them")
    if port is not None and not web:
        raise InputError("--port: expected --web too")
    if data == "-" and answers is None and not web:
        raise InputError(
            "standard input has the answers: give a file, or --web, or --questions, --answers"
        )
    kept = f"the answers of {model}"
    check_outputs(
        {
            "MODEL": model,
            kept: answers_beside(model),
            "--questions": questions,
            "--answers": answers,
        },
        [data],
    )


def _until_stopped(ask: Callable[..., Any], stopping: Stopping) -> Callable[..., Any]:
    """The same questions; a signal is like `q`."""
    from kernbrook.evaluation.sessions import Quit

    def asked(*question: Any) -> Any:
        try:
            with stopping.at_once():
                return ask(*question)
        except KeyboardInterrupt:
            raise Quit from None

    return asked


def _model(
    path: Path, recipe: str | None, chosen: dict[str, Any]
) -> tuple[Any, Source | None, Checkpoint | None]:
    """The model in the file, or a new one; what is known of its data; its checkpoint."""
    from kernbrook.evaluation.checkpoints import load_checkpoint
    from kernbrook.evaluation.labelling import with_policy
    from kernbrook.evaluation.sessions import check_same_settings
    from kernbrook.evaluation.sources import Source
    from kernbrook.evaluation.tasks import check_settings, make_online

    made = None if recipe is None else with_policy(make_online(recipe, **chosen))
    if made is not None:
        check_settings(made)
    if not path.exists():
        if made is None:
            raise InputError(
                f"{path} does not exist; to begin a new model, name the labels, such as "
                "--classes yes,no; for numbers a recipe, such as --recipe kernbrook-regression"
            )
        return made, None, None
    estimator, checkpoint = load_checkpoint(path)
    if made is not None:
        check_same_settings(path, (estimator, None), (made, None))
    if checkpoint is not None:
        return estimator, checkpoint.source, checkpoint
    source = Source.of_model(estimator)
    return estimator, None if source.n_features is None else source, None


def _summary(
    state: Labelling, stream: Stream, classes: NDArray[Any] | None
) -> list[tuple[str, str]]:
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
        right = f"{state.judged - state.loss:,} of {state.judged:,}"
        rows.append(("model right", f"{right} that it asked about, the hard ones"))
    return [*rows, ("answers", str(state.answers))]


def _next(model: Path, data: str) -> list[tuple[str, str]]:
    """What to type next."""
    return [] if data == "-" else [("next", shlex.join(["kernbrook", "predict", str(model), data]))]


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
