"""`kernbrook label`: a person answers what a model asks, one example at a time."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from kernbrook.cli.options import (
    Chosen,
    Data,
    GivenSeed,
    Rows,
    Settings,
    Table,
    check_outputs,
    labels,
)
from kernbrook.cli.output import say
from kernbrook.cli.signals import Stopping
from kernbrook.cli.sitting import Opened, face_of, sit
from kernbrook.cli.written import check_ending, write_table
from kernbrook.errors import InputError, printable

Model = Annotated[Path, typer.Argument(help="The model's file; new with --classes or --recipe.")]
Recipe = Annotated[
    str | None,
    typer.Option(help="Begin a new model: one of `kernbrook recipes`; for classes else ours."),
]
Classes = Annotated[
    str | None, typer.Option(help="All labels of a new model, with commas; none for numbers.")
]
Questions = Annotated[Path | None, typer.Option(help="Ask here, a JSON object a line.")]
Answers = Annotated[Path | None, typer.Option(help="Take the answers from this file.")]
Text = Annotated[str | None, typer.Option(help="A CSV file's column to show, not to learn.")]
Image = Annotated[
    str | None,
    typer.Option(help="Likewise, a column with names of image files in the file's folder."),
]
Web = Annotated[bool, typer.Option("--web", help="Ask on a page in the browser.")]
Port = Annotated[int | None, typer.Option(min=0, max=65535, help="The page's port; else any.")]
Export = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write rows and labels to this .csv, .parquet or .jsonl; alone it asks nothing.",
    ),
]


NAMES = "label", "classes", "sep", "n_features", "max_bytes"


def label_data(
    model: Model,
    data: Data,
    recipe: Recipe = None,
    classes: Classes = None,
    settings: Settings = None,
    seed: GivenSeed = None,
    table: Table = None,
    questions: Questions = None,
    answers: Answers = None,
    text: Text = None,
    image: Image = None,
    web: Web = False,
    port: Port = None,
    export: Export = None,
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
    from kernbrook.estimators.table_model import TableModel
    from kernbrook.evaluation.classes import named_classes
    from kernbrook.evaluation.recipes_wanted import OURS
    from kernbrook.evaluation.training import check_same_columns, check_seed

    chosen = Chosen.of(recipe, settings, seed)
    rows = Rows.of("label", NAMES, table, classes=labels(classes))
    names, reading = rows.read.get("classes"), rows.read
    if text is not None and text in rows.columns.get("words", {}):
        raise InputError(f"--text: {text!r} is a column of words, which is shown by itself")
    begins = (recipe, names, text, image, questions)
    asks = export is None or web or any(given is not None for given in begins)
    asks = asks or bool(chosen.settings)
    _check(model, data, questions, answers, web, port, export, asks)
    if recipe is None and names is not None and (chosen.settings or not model.exists()):
        recipe = OURS["classification"]
    if recipe is None and chosen.settings:
        raise InputError("--set: expected a --recipe too, or --classes")
    stopping, left = Stopping(), ExitStack()
    with left, stopping.on_signals("kernbrook: stopped; the same command goes on"):
        found = _model(model, recipe, chosen)
        if isinstance(found, TableModel):  # it knows how columns are encoded
            check_same_columns(model, found, rows.columns, {}, written=True)
            if found.history_ is not None and recipe is None and chosen.seeded:
                check_seed(model, found.model, chosen.seed)
        machine = found.model if isinstance(found, TableModel) else found
        known = named_classes(machine, names) if asks else None
        opened = Opened.of(
            model, data, found, (names, known),
            n_features=reading.get("n_features"), label=reading.get("label"), seed=chosen.seed,
            max_bytes=reading.get("max_bytes"), sep=reading.get("sep"), encoder=rows.encoder(),
            aside=[name for name in (text, image) if name is not None],
        )  # fmt: skip
        if asks:
            face = left.enter_context(face_of(opened, text, image, web, port))
            files = None if questions is None or answers is None else (questions, answers)
            state, summary = sit(opened, face, files, stopping, export is not None)
    if asks:
        for what, value in summary:
            typer.echo(printable(f"{what:13} {value}"))
        if not state.finished:
            say(f"{model} is saved; the same command goes on")
    if export is not None:
        _export(opened, export)
    if asks and stopping.number and not state.finished:
        raise typer.Exit(stopping.code)


def _check(
    model: Path,
    data: str,
    questions: Path | None,
    answers: Path | None,
    web: bool,
    port: int | None,
    export: Path | None,
    asks: bool,
) -> None:
    """InputError where the options do not go together."""
    from kernbrook.evaluation.sessions.answers import answers_beside

    if (questions is None) != (answers is None):
        raise InputError("--questions, --answers: one needs the other")
    if web and questions is not None:
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
    if data == "-" and answers is None and not web and asks:
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
            "--export": export,
        },
        [data],
    )


def _export(opened: Opened, path: Path) -> None:
    """Write the labels that were given, and say how many."""
    from kernbrook.evaluation.sessions.answers import label_table
    from kernbrook.reports.words import counted

    found = label_table(opened.stream, opened.path, label=opened.table.label_)
    write_table(found.table, path, found.numbers)
    for name, was in found.renamed.items():
        say(f"the column {was!r} of the data is called {name!r} there")
    if opened.stream.records() is None:
        say(f"{opened.data} is no table: beside the labels there are the numbers of the rows alone")
    skipped = f"; {counted(found.skipped, 'row')} skipped, left out" if found.skipped else ""
    say(f"wrote {counted(found.table.num_rows, 'label')} to {path}{skipped}")


def _model(path: Path, recipe: str | None, chosen: Chosen) -> Any:
    """The `TableModel` in the file, or a new machine."""
    from kernbrook.evaluation.checkpoint import load_checkpoint
    from kernbrook.evaluation.recipes_wanted import check_settings, make_online
    from kernbrook.evaluation.sessions.labelling import with_policy
    from kernbrook.evaluation.training import check_same_settings

    found = load_checkpoint(path)[0] if path.exists() else None
    made = None
    if recipe is not None:
        made = with_policy(make_online(recipe, **chosen.parameters(found and found.model)))
        check_settings(made)
    if found is None:
        if made is None:
            raise InputError(
                f"{path} does not exist; to begin a new model, name the labels, such as "
                "--classes yes,no; for numbers a recipe, such as --recipe kernbrook-regression"
            )
        return made
    if made is not None:
        check_same_settings(path, found.model, made)
    return found
