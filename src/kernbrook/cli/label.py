"""`kernbrook label`: a person answers what a model asks, one example at a time."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kernbrook.cli.options import (
    Data,
    DataOptions,
    GivenSeed,
    ModelOptions,
    Settings,
    Table,
    check_outputs,
    labels,
    parameters,
)
from kernbrook.cli.output import Stopping, check_ending, reporter, say, terminal, write_table
from kernbrook.errors import InputError, printable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kernbrook.estimators.table_model import TableModel
    from kernbrook.evaluation.answers import Question
    from kernbrook.evaluation.labelling import Labelling
    from kernbrook.streams import Stream


NAMES = "label", "classes", "sep", "n_features", "max_bytes"


def label_data(
    model: Annotated[
        Path, typer.Argument(help="The model's file; new with --classes or --recipe.")
    ],
    data: Data,
    recipe: Annotated[
        str | None,
        typer.Option(help="Begin a new model: one of `kernbrook recipes`; classes have a default."),
    ] = None,
    classes: Annotated[
        str | None, typer.Option(help="All labels of a new model, with commas; none for numbers.")
    ] = None,
    settings: Settings = None,
    seed: GivenSeed = None,
    table: Table = None,
    questions: Annotated[Path | None, typer.Option(help="Ask here, a JSON object a line.")] = None,
    answers: Annotated[Path | None, typer.Option(help="Take the answers from this file.")] = None,
    text: Annotated[
        str | None, typer.Option(help="A CSV file's column to show, not to learn.")
    ] = None,
    image: Annotated[
        str | None,
        typer.Option(help="Likewise, a column with names of image files in the file's folder."),
    ] = None,
    web: Annotated[bool, typer.Option("--web", help="Ask on a page in the browser.")] = False,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="The page's port; else any.")
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write rows and labels to this .csv, .parquet or .jsonl; alone it asks nothing.",
        ),
    ] = None,
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
    from kernbrook.cli.person import Person, ShownRows
    from kernbrook.evaluation.answers import answers_beside
    from kernbrook.evaluation.classes import named_classes
    from kernbrook.evaluation.labelling import label as run
    from kernbrook.evaluation.recipes_wanted import OURS

    chosen = ModelOptions(recipe, parameters(settings), seed)
    rows = DataOptions.of("label", NAMES, table, classes=labels(classes))
    names = rows.read.get("classes")
    if text is not None and text in rows.columns.get("words", {}):
        raise InputError(f"--text: {text!r} is a column of words, which is shown by itself")
    begins = recipe, names, text, image, questions, settings or None
    asks = export is None or web or any(given is not None for given in begins)
    files = None if questions is None or answers is None else (questions, answers)
    if files is None and (questions, answers) != (None, None):
        raise InputError("--questions, --answers: one needs the other")
    if web and files is not None:
        raise InputError("--web, --questions: expected one of them")
    if port is not None and not web:
        raise InputError("--port: expected --web too")
    if export is not None:
        check_ending(export, "--export")
    if not (asks or model.exists()):
        raise InputError(
            f"{model} does not exist: there are no labels yet; label first, without --export, or "
            "give --classes too"
        )
    if data == "-" and files is None and not web and asks:
        raise InputError(
            "standard input has the answers: give a file, or --web, or --questions, --answers"
        )
    beside = {"MODEL": model, f"the answers of {model}": answers_beside(model)}
    written = {"--export": export, "--questions": questions, "--answers": answers}
    check_outputs({**beside, **written}, [data])
    if recipe is None and names is not None and (settings or not model.exists()):
        chosen = chosen._replace(recipe=OURS["classification"])
    if chosen.recipe is None and settings:
        raise InputError("--set: expected a --recipe too, or --classes")
    stopping, left = Stopping(), ExitStack()
    with left, stopping.on_signals("kernbrook: stopped; the same command goes on"):
        found, machine = _model(model, chosen)
        known = named_classes(machine, names) if asks else None
        aside = [name for name in (text, image) if name is not None]
        stream, learner = _opened(model, data, found, machine, rows, aside, seed)
        if asks:
            shown = ShownRows(stream, text, image)
            face: Any
            if web:
                from kernbrook.cli.page import Page, PageAddress

                folder, kept = Path(data).parent, PageAddress(model)
                face = left.enter_context(Page(shown, known, folder, kept, port))
                say(f"label at {face.address} (Ctrl-C stops)")
            else:
                face = Person(terminal(stderr=True), shown, known)
            ask: Any = face.ask
            end: Any = stopping.waiting(face.end)
            if files is not None:
                ask, end = _through(files, stream, known), None
                say(f"asking in {files[0]}, waiting for answers in {files[1]}")
            state = run(
                stream, learner, model, stopping.waiting(ask), classes=names, end=end,
                progress=face.passing, stop=stopping.wanted,
                compiling=reporter(face.compiling if face.shows else None),
            )  # fmt: skip
            summary = [*_summary(state, stream), *_next(model, data, export is not None)]
            face.close(summary, state.finished, stopping.number == 0)
    if asks:
        for name, value in summary:
            typer.echo(printable(f"{name:13} {value}"))
        if not state.finished:
            say(f"{model} is saved; the same command goes on")
    if export is not None:
        _export(stream, model, data, learner.label_, export)
    if asks and stopping.number and not state.finished:
        raise typer.Exit(stopping.code)


def _model(path: Path, chosen: ModelOptions) -> tuple[TableModel | None, Any]:
    """The `TableModel` in the file, or None, and the machine that learns: its own, or a new one."""
    from kernbrook.evaluation.checkpoint import load_checkpoint
    from kernbrook.evaluation.labelling import with_policy
    from kernbrook.evaluation.recipes_wanted import check_settings, make_online
    from kernbrook.evaluation.training import check_same_settings, check_seed

    found = load_checkpoint(path)[0] if path.exists() else None
    learned = None if found is None else found.model
    if chosen.recipe is not None:
        made = with_policy(make_online(chosen.recipe, **chosen.parameters(learned)))
        check_settings(made)
        if learned is None:
            return None, made
        check_same_settings(path, learned, made)
    elif found is None:
        raise InputError(
            f"{path} does not exist; to begin a new model, name the labels, such as "
            "--classes yes,no; for numbers a recipe, such as --recipe kernbrook-regression"
        )
    elif found.history_ is not None and chosen.seed is not None:
        check_seed(path, learned, chosen.seed)
    return found, learned


def _opened(
    path: Path,
    data: str,
    found: TableModel | None,
    machine: Any,
    rows: DataOptions,
    aside: list[str],
    seed: int | None,
) -> tuple[Stream, TableModel]:
    """The data, as those that the model in a file has learned, and what learns them."""
    from kernbrook.estimators.table_model import TableModel, open_like

    knows = found is not None and found.encoder_ is not None
    like = found if knows or hasattr(machine, "n_features_in_") else None
    if like is not None:
        rows.check(path, like, written=True)
    read = {name: value for name, value in rows.read.items() if name != "classes"}
    stream = open_like(like, data, seed=seed or 0, encoder=rows.encoder(), aside=aside, **read)
    learner = TableModel._of_stream(machine, stream) if like is None else like
    if stream.aside:
        learner.aside_ = list(stream.aside)
    return stream, learner


def _export(stream: Stream, model: Path, data: str, label: str | None, path: Path) -> None:
    from kernbrook.evaluation.answers import label_table
    from kernbrook.reports.words import counted

    found = label_table(stream, model, label=label)
    write_table(found.table, path, found.numbers)
    for name, was in found.renamed.items():
        say(f"the column {was!r} of the data is called {name!r} there")
    if stream.records() is None:
        say(f"{data} is no table: beside the labels there are the numbers of the rows alone")
    skipped = f"; {counted(found.skipped, 'row')} skipped, left out" if found.skipped else ""
    say(f"wrote {counted(found.table.num_rows, 'label')} to {path}{skipped}")


def _summary(state: Labelling, stream: Stream) -> list[tuple[str, str]]:
    of_all = f" of {stream.n_rows:,}" if stream.n_rows else ""
    share = f" ({100 * state.saved / state.rows:.0f} %)" if state.rows else ""
    return [
        ("rows", f"{state.rows:,}{of_all}"),
        ("labels given", f"{state.given:,}"),
        ("skipped", f"{state.skipped:,}"),
        ("spared", f"{state.saved:,}{share}"),
        *_worth(state),
        ("answers", str(state.answers)),
    ]


def _worth(state: Labelling) -> list[tuple[str, str]]:
    """How good the model is on the labels that were given, beside always saying the same."""
    from kernbrook.evaluation.measures import LEARNED
    from kernbrook.reports.model import no_better

    if (measures := state.measures()) is None:
        return []
    judged, says = state.judged, measures.rules[LEARNED].prediction
    model, rule = (measures.values()[name] for name in ("model", LEARNED))
    if measures.classes is None:
        texts = [f"{values['rmse']:.4g} on {judged:,} labels" for values in (model, rule)]
        rows = [("rms error", f"{texts[0]} that it asked for")]
        always = f"always saying {says:.4g}"
    else:
        rights = [round((1 - values["error"]) * judged) for values in (model, rule)]
        texts = [f"{right:,} of {judged:,} ({100 * right / judged:.0f} %)" for right in rights]
        rows = [("model right", f"{texts[0]} that it asked about, the hard ones")]
        always = f"always saying {says.item()!r}"
    better = no_better(measures) or f"Better than {always} on these rows."
    return [*rows, ("trivial rule", f"{texts[1]} by {always}"), ("", better)]


def _next(model: Path, data: str, exports: bool) -> list[tuple[str, str]]:
    if data == "-":
        return []
    lines = [("next", shlex.join(["kernbrook", "predict", f"{model}", data]))]
    if not exports:
        again = ["kernbrook", "label", f"{model}", data, "--export", "labels.csv"]
        lines.append(("or", shlex.join(again)))
    return lines


def _through(
    files: tuple[Path, Path], stream: Stream, classes: NDArray[Any] | None
) -> Callable[[Question, Labelling], Any]:
    """What asks in one file, and has the answers from another."""
    from kernbrook.evaluation.classes import as_label
    from kernbrook.labels import JSONLines

    oracle, read = JSONLines(*files), partial(as_label, classes=classes)

    def ask(question: Question, state: Labelling) -> Any:
        columns, values = question.entries()
        names = stream.feature_names
        if hasattr(question.x, "indices"):
            names = [str(j + 1) for j in columns.tolist()]
        row = values.tolist() if names is None else dict(zip(names, values.tolist(), strict=True))
        more: dict[str, Any] = {"predicted": question.predicted}
        for name, numbers in (("votes", question.votes), ("chances", question.chances)):
            if classes is not None and numbers is not None:
                more[name] = dict(zip(map(str, classes.tolist()), numbers.tolist(), strict=True))
        return oracle.ask(question.row, row, read, **more)

    return ask
