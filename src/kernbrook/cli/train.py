"""`kernbrook train`: a model as a file, data of any size."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kernbrook.cli.options import (
    Categorical,
    Data,
    DataOptions,
    Dates,
    GivenSeed,
    Json,
    Label,
    Missing,
    ModelOptions,
    Settings,
    Table,
    as_toml,
    check_outputs,
    parameters,
)
from kernbrook.cli.output import Progress, Stopping, say, say_of_rows, show_result
from kernbrook.errors import InputError

if TYPE_CHECKING:
    from kernbrook.estimators.table_model import TableModel
    from kernbrook.evaluation.training import Training


NAMES = (
    "label", "positive", "classes", "sep", "n_features", "max_bytes", "on_bad_rows", "ignore_extra",
)  # fmt: skip
AT_ONCE = "kernbrook: stopped at once, with no further checkpoint"


def train(
    data: Data,
    model: Annotated[Path, typer.Option(help="The file to write the model to.")],
    recipe: Annotated[
        str | None, typer.Option(help="One of `kernbrook recipes`; the labels have a default.")
    ] = None,
    settings: Settings = None,
    seed: GivenSeed = None,
    label: Label = None,
    categorical: Categorical = None,
    dates: Dates = None,
    missing: Missing = None,
    table: Table = None,
    table_out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write what the table's columns are, for --table."),
    ] = None,
    go_on: Annotated[
        bool,
        typer.Option(
            "--go-on", help="Learn other data, such as tomorrow's, with the model in the file."
        ),
    ] = False,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Go on with the same data from the model's file, if it is there."
        ),
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the model's file, if it is there.")
    ] = False,
    anyway: Annotated[
        bool,
        typer.Option(
            "--anyway",
            help="With --go-on: also data that the model has learned before, and where it was "
            "stopped within others.",
        ),
    ] = False,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Learn by a Dask cluster: tcp://HOST:PORT, or local:N for one here.",
        ),
    ] = None,
    json: Json = None,
    every: Annotated[float, typer.Option("--checkpoint-every", min=0, hidden=True)] = 60.0,
) -> None:
    """Learn from data of any size in one pass, and save the model.

    The data are read in chunks, in their own order. Each row is predicted before it is learned:
    the mistakes made, or the mean squared error of numbers, are the online error. Recipes that ask
    for few labels look at no others.

    What describes a table can stand in a file: --table table.toml. --table-out writes it.

    --go-on learns another file with the same model: tomorrow's. The model's file knows the recipe,
    the columns, which come in any order, and how they are encoded. Data that it has learned before
    are refused. It first predicts the whole file with the model as it was, no label of it known,
    and says that error.

    Ctrl-C saves a checkpoint and stops. The same data with --resume go on from the last checkpoint,
    after a kill or a power cut too, and come to the very file that they would have without. It also
    learns rows that were appended to the data since.

    With --scheduler the workers of a Dask cluster, who must see the folder at the same place, each
    learn some row groups of a folder's Parquet files, and their models are merged. The online error
    is that of the workers.
    """
    from kernbrook.evaluation.recipes_wanted import NewModel
    from kernbrook.evaluation.training import check_target
    from kernbrook.evaluation.training import go_on as run_on
    from kernbrook.evaluation.training import train as run

    check_outputs({"--model": model, "--json": json, "--table-out": table_out}, [data])
    for name, other in (("--resume", resume), ("--overwrite", overwrite)):
        if go_on and other:
            raise InputError(f"--go-on, {name}: expected one of them, got both")
    if anyway and not go_on:
        raise InputError("--anyway: goes with --go-on")
    if not go_on:
        check_target(model, resume, overwrite)
    chosen = ModelOptions(recipe, parameters(settings), seed)
    given = {"label": label, "categorical": categorical, "dates": dates, "missing": missing}
    rows = DataOptions.of("train", NAMES, table, **given)
    classes, learned = rows.read.pop("classes", None), go_on or (resume and model.exists())
    if "ignore_extra" in rows.read and not learned:
        raise InputError("ignore_extra: goes with --go-on, or --resume of a model that is there")
    alone = {"--go-on": go_on, "--resume": resume, **rows.read, "label": None}
    if scheduler is not None and (named := [name for name, value in alone.items() if value]):
        raise InputError(f"{named[0]}: goes without --scheduler")
    new = None if learned else NewModel(recipe, classes, chosen.parameters())
    stopping = Stopping()
    left = f"kernbrook: stopped at once; {model} is as it was last written"
    with stopping.on_signals(left if model.exists() else AT_ONCE), Progress(data) as shown:
        watched: dict[str, Any] = {
            "classes": classes, "every": every, "stop": stopping.wanted,
            "compiling": shown.compiling,
            "progress": lambda state: shown.reading(
                partial(_so_far, state), state.rows_read, state.n_rows
            ),
        }  # fmt: skip
        if new is None:
            same = partial(_check_same, model, data, chosen, rows, resume)
            options = {"seed": seed or 0, **rows.alike()}
            result = run_on(
                data, model, resume=resume, anyway=anyway, check=same, **options, **watched
            )
        elif scheduler is not None:
            from kernbrook.distributed import parts_of, train_parts

            parts = parts_of(data, 0, rows.read.get("label"), rows.encoder())
            result = train_parts(
                parts, new, model, scheduler, classes=classes, overwrite=overwrite,
                progress=lambda state: shown.reading(f"{parts.name}: {state.rows:,} rows", 1, 1),
            )  # fmt: skip
        else:
            from kernbrook.streams import open_stream

            stream = open_stream(data, **{"seed": seed or 0, **rows.read}, encoder=rows.encoder())
            positive = rows.read.get("positive")
            result = run(stream, new, model, positive=positive, overwrite=overwrite, **watched)
    if not result.finished:
        progress = f"{result.rows:,} of {result.n_rows:,} rows of {result.name}"
        say(f"kernbrook: stopped; {model} has learned {progress}.")
        say("To go on, give the same data with --resume.")
        raise typer.Exit(stopping.code)
    _show(result, recipe if new is None else new.recipe, model, json, table_out)


def _check_same(
    path: Path, data: str, chosen: ModelOptions, rows: DataOptions, resume: bool, table: TableModel
) -> None:
    """InputError where a model, or what it knows of its data, is not as the options say."""
    from kernbrook.estimators.tasks import task_of
    from kernbrook.evaluation.recipes_wanted import OURS, make_online
    from kernbrook.evaluation.training import check_same_settings, check_seed

    model, drawn = table.model, data != "-" and not Path(data).exists()
    if chosen.recipe is not None or chosen.settings:
        made = make_online(chosen.recipe or OURS[task_of(model)], **chosen.parameters(model))
        check_same_settings(path, model, made)
    elif chosen.seed is not None and not drawn:  # it may be that of the data
        check_seed(path, model, chosen.seed)
    rows.check(path, table, *(["label"] if resume else []))


def _show(
    result: Training, recipe: str | None, model: Path, json: Path | None, table_out: Path | None
) -> None:
    from kernbrook import recipes as book
    from kernbrook.atomic import write_text
    from kernbrook.reports.model import training_json, training_table
    from kernbrook.streams.tables.labels import note_new_labels
    from kernbrook.streams.tables.values import note_levels

    show_result(
        json,
        lambda: training_json(result, recipe),
        lambda width: training_table(
            result, str(model) if recipe is None else book.title(recipe), width
        ),
    )
    already = result.rows == result.resumed_at
    notes = [*result.notes, *note_levels(result.level_counts)]
    for line in (*notes, *note_new_labels(result.new_classes)):
        say(line)
    say_of_rows(result.n_unlabelled, result.bad_rows)
    say(f"{model} was complete, nothing new" if already else f"wrote {model}")
    if table_out is not None:
        write_text(table_out, as_toml(_described(model)))
        say(f"wrote {table_out}")


def _described(model: Path) -> dict[str, Any]:
    """What the file of a model says of its data, as --table takes it."""
    from kernbrook.evaluation.checkpoint import load_checkpoint
    from kernbrook.evaluation.training import data_settings
    from kernbrook.streams.tables.encoder import TableEncoder

    table = load_checkpoint(model)[0]
    settings, usual = data_settings(table), TableEncoder().get_params()
    found = {name: settings[name] for name in ("label", "positive")}
    found |= {k: settings[k] for k in usual if settings.get(k, usual[k]) != usual[k]}
    if table.encoder_ is None:
        found["n_features"] = settings["n_features"]
    if lags := found.get("lags"):  # pairs of columns and rows; None stands for the label
        found["lags"] = {settings["label"] if name is None else name: rows for name, rows in lags}
    return {name: value for name, value in found.items() if value not in (None, [], {})}


def _so_far(state: Training) -> str:
    """Rows, online error, support vectors, and labels where not all were asked for, in a line."""
    from kernbrook.estimators.tasks import task_of
    from kernbrook.reports.words import error_value

    name = state.name
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
