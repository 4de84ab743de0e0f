"""`kernbrook train`: a model as a file, data of any size."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kernbrook.cli.options import (
    Budget,
    Data,
    Features,
    Json,
    Label,
    MaxBytes,
    OnBadRows,
    Positive,
    Scheduler,
    Seed,
    Sep,
    Settings,
    check_outputs,
    labels,
    parameters,
    takes_tables,
)
from kernbrook.cli.output import progress, say, say_of_rows, show_result
from kernbrook.cli.signals import Stopping
from kernbrook.errors import InputError

if TYPE_CHECKING:
    from kernbrook.evaluation.training import Training


Recipe = Annotated[
    str | None, typer.Option(help="One of `kernbrook recipes`; else ours for the labels.")
]
Classes = Annotated[
    str | None,
    typer.Option(
        help="The labels, with commas; one with a comma in it in double quotes. Else the data are "
        "read for them."
    ),
]
Every = Annotated[
    float, typer.Option(min=0, metavar="SECONDS", help="Time from checkpoint to checkpoint.")
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on from the model's file, if it is there.")
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace the model's file, if it is there.")
]

Rounds = Annotated[
    int | None,
    typer.Option(min=1, help="How often models are merged; once by default. With --scheduler."),
]

AT_ONCE = "kernbrook: stopped at once, with no further checkpoint"


@takes_tables
def train(
    data: Data,
    model: Annotated[Path, typer.Option(help="The file to write the model to.")],
    recipe: Recipe = None,
    settings: Settings = None,
    budget: Budget = None,
    seed: Seed = 0,
    positive: Positive = None,
    classes: Classes = None,
    label: Label = None,
    encoder: Any = None,
    sep: Sep = None,
    n_features: Features = None,
    max_bytes: MaxBytes = None,
    on_bad_rows: OnBadRows = "error",
    checkpoint_every: Every = 60.0,
    resume: Resume = False,
    overwrite: Overwrite = False,
    scheduler: Scheduler = None,
    rounds: Rounds = None,
    json: Json = None,
) -> None:
    """Learn from data of any size in one pass, and save the model.

    The data are read in chunks, in their own order. Each row is predicted before it is learned:
    the mistakes made, or the mean squared error of numbers, are the online error. Recipes that ask
    for few labels look at no others.

    Ctrl-C saves a checkpoint and stops. The same command with --resume goes on from the last
    checkpoint, after a kill or a power cut too, and comes to the very file that it would have
    without. It also learns rows that were appended to the data since.

    With --scheduler the workers of a Dask cluster, who must see the folder at the same place, each
    learn some row groups of a folder's Parquet files, and their models are merged. The online error
    is that of the workers.
    """
    from kernbrook.evaluation.sources import open_source
    from kernbrook.evaluation.tasks import OURS, task_of_labels
    from kernbrook.evaluation.training import check_target
    from kernbrook.evaluation.training import train as run

    check_outputs({"--model": model, "--json": json}, [data])
    check_target(model, resume, overwrite)
    chosen = {**parameters(settings, budget), "random_state": seed}
    if scheduler is not None:
        alone = {
            "--resume": resume, "--positive": positive, "--n-features": n_features, "--sep": sep,
            "--max-bytes": max_bytes, "--on-bad-rows": on_bad_rows != "error",
        }  # fmt: skip
        if given := [name for name, value in alone.items() if value]:
            raise InputError(f"{given[0]}: goes without --scheduler")
        result, name, recipe = _by_workers(
            data, model, (recipe, chosen, classes), (label, encoder), scheduler, rounds, overwrite
        )
        _show(result, name, recipe, model, json)
        return
    if rounds is not None:
        raise InputError("--rounds: goes with --scheduler")
    if recipe is None and classes is not None:
        recipe = OURS["classification"]
    if recipe is not None:  # before anything is read
        estimator = _made(recipe, chosen, classes)
    stopping = Stopping()
    with stopping.on_signals(AT_ONCE), progress(data) as shown:
        stream, source = open_source(
            data, n_features=n_features, label=label, positive=positive, seed=seed,
            max_bytes=max_bytes, sep=sep, encoder=encoder, on_bad_rows=on_bad_rows,
        )  # fmt: skip
        if recipe is None:
            recipe = OURS[task_of_labels(stream)]
            estimator = _made(recipe, chosen, classes)
        result = run(
            stream, estimator, model, source=source, classes=labels(classes), resume=resume,
            overwrite=overwrite, every=checkpoint_every, stop=stopping.wanted,
            compiling=shown.compiling,
            progress=lambda state: shown.reading(
                partial(_so_far, stream.name, state), state.rows_read, stream.n_rows
            ),
        )  # fmt: skip
    if not result.finished:
        say(f"kernbrook: stopped; {model} has learned {result.rows:,} of {stream.n_rows:,} rows.")
        say("To go on, give the same command with --resume.")
        raise typer.Exit(stopping.code)
    _show(result, stream.name, recipe, model, json)


def _show(result: Training, name: str, recipe: str, model: Path, json: Path | None) -> None:
    from kernbrook import recipes as book
    from kernbrook.reports.training import training_json, training_table
    from kernbrook.streams.table_levels import told_of

    show_result(
        json,
        lambda: training_json(result, name, recipe),
        lambda width: training_table(result, name, book.title(recipe)),
    )
    already = result.rows == result.resumed_at
    for line in told_of(result.level_counts):
        say(line)
    say_of_rows(result.n_unlabelled, result.bad_rows)
    say(f"{model} was complete, nothing new" if already else f"wrote {model}")


def _by_workers(
    data: str,
    model: Path,
    asked: tuple[str | None, dict[str, Any], str | None],
    columns: tuple[str | None, Any],
    scheduler: str,
    rounds: int | None,
    overwrite: bool,
) -> tuple[Training, str, str]:
    """The result, the data's name, and the recipe; asked : recipe, its parameters, classes."""
    from kernbrook.distributed.parts import parts_of
    from kernbrook.distributed.training import task_of_parts, train_parts
    from kernbrook.evaluation.tasks import OURS

    recipe, chosen, classes = asked
    with progress(data) as shown:
        parts = parts_of(data, 0, *columns)
        if recipe is None:
            recipe = OURS["classification" if classes else task_of_parts(parts)]
        total = rounds or 1
        result = train_parts(
            parts, _made(recipe, chosen, classes), model, scheduler, rounds=total,
            classes=labels(classes), overwrite=overwrite,
            progress=lambda state: shown.reading(
                f"{parts.name}: {state.rows:,} rows", state.rounds, total
            ),
        )  # fmt: skip
    return result, parts.name, recipe


def _made(recipe: str, chosen: dict[str, Any], classes: str | None) -> Any:
    """The recipe's model, or what is wrong with it."""
    from kernbrook import recipes as book
    from kernbrook.evaluation.tasks import check_settings, make_online

    estimator = make_online(recipe, **chosen)
    check_settings(estimator)
    if classes is not None and book.task(recipe) == "regression":
        raise InputError(f"--classes: {recipe} predicts numbers")
    return estimator


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
