"""`kernbrook train`: a model as a file, data of any size."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from kernbrook.cli.options import (
    Categorical,
    Chosen,
    Data,
    Dates,
    GivenSeed,
    Json,
    Label,
    Missing,
    Rows,
    Settings,
    Table,
    as_toml,
    check_outputs,
)
from kernbrook.cli.output import Stopping, progress, say, say_of_rows, show_result
from kernbrook.errors import InputError

if TYPE_CHECKING:
    from kernbrook.estimators.table_model import TableModel
    from kernbrook.evaluation.recipes_wanted import NewModel
    from kernbrook.evaluation.training import Training


Recipe = Annotated[
    str | None, typer.Option(help="One of `kernbrook recipes`; else ours for the labels.")
]
TableOut = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write what the table's columns are, for --table."),
]
GoOn = Annotated[
    bool,
    typer.Option(
        "--go-on", help="Learn other data, such as tomorrow's, with the model in the file."
    ),
]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume", help="Go on with the same data from the model's file, if it is there."
    ),
]
Anyway = Annotated[
    bool,
    typer.Option(
        "--anyway",
        help="With --go-on: also data that the model has learned before, and where it was stopped "
        "within others.",
    ),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace the model's file, if it is there.")
]

Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Learn by a Dask cluster: tcp://HOST:PORT, or local:N for one here.",
    ),
]
NAMES = (
    "label", "positive", "classes", "sep", "n_features", "max_bytes", "on_bad_rows", "ignore_extra",
)  # fmt: skip
AT_ONCE = "kernbrook: stopped at once, with no further checkpoint"


def train(
    data: Data,
    model: Annotated[Path, typer.Option(help="The file to write the model to.")],
    recipe: Recipe = None,
    settings: Settings = None,
    seed: GivenSeed = None,
    label: Label = None,
    categorical: Categorical = None,
    dates: Dates = None,
    missing: Missing = None,
    table: Table = None,
    table_out: TableOut = None,
    go_on: GoOn = False,
    resume: Resume = False,
    overwrite: Overwrite = False,
    anyway: Anyway = False,
    scheduler: Scheduler = None,
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
    from kernbrook.evaluation.training import go_on as run_on

    check_outputs({"--model": model, "--json": json, "--table-out": table_out}, [data])
    _check(model, go_on, resume, overwrite, anyway)
    told = {"label": label, "categorical": categorical, "dates": dates, "missing": missing}
    given = Given(Chosen.of(recipe, settings, seed), Rows.of("train", NAMES, table, **told))
    learned = go_on or (resume and model.exists())
    reading = {"seed": given.chosen.seed, **given.rows.read}
    reading.pop("classes", None)
    if "ignore_extra" in reading and not learned:
        raise InputError("ignore_extra: goes with --go-on, or --resume of a model that is there")
    if scheduler is not None:
        alone = {"--go-on": go_on, "--resume": resume, **reading, "seed": None, "label": None}
        if named := [name for name, value in alone.items() if value]:
            raise InputError(f"{named[0]}: goes without --scheduler")
        result, recipe = _by_workers(data, model, given, scheduler, overwrite)
        _show(result, recipe, model, json, table_out)
        return
    stopping = Stopping()
    with stopping.on_signals(AT_ONCE), progress(data) as shown:
        watched: dict[str, Any] = {
            "every": every, "stop": stopping.wanted, "compiling": shown.compiling,
            "progress": lambda state: shown.reading(
                partial(_so_far, state), state.rows_read, state.n_rows
            ),
        }  # fmt: skip
        if learned:
            drawn = data != "-" and not Path(data).exists()
            result = run_on(
                data, model, resume=resume, anyway=anyway, classes=given.classes,
                check=partial(given.check, model, reading.get("label") if resume else None, drawn),
                seed=given.chosen.seed, **given.rows.alike(), **watched,
            )  # fmt: skip
        else:
            result, recipe = _anew(data, model, given, reading, overwrite, watched)
    if not result.finished:
        rows = f"{result.rows:,} of {result.n_rows:,} rows of {result.name}"
        say(f"kernbrook: stopped; {model} has learned {rows}.")
        say("To go on, give the same data with --resume.")
        raise typer.Exit(stopping.code)
    _show(result, recipe, model, json, table_out)


def _check(model: Path, go_on: bool, resume: bool, overwrite: bool, anyway: bool) -> None:
    """InputError where these options do not go together, or not with what is there."""
    from kernbrook.evaluation.training import check_target, check_there

    if not go_on:
        check_target(model, resume, overwrite)
        if anyway:
            raise InputError("--anyway: goes with --go-on")
        return
    for name, other in (("--resume", resume), ("--overwrite", overwrite)):
        if other:
            raise InputError(f"--go-on, {name}: expected one of them, got both")
    check_there(model)


class Given(NamedTuple):
    """What makes a new model; its file then knows it, and what is given again must be the same.

    Attributes
    ----------
    chosen : the recipe, and its parameters
    rows : how the data are read
    """

    chosen: Chosen
    rows: Rows

    @property
    def classes(self) -> list[str] | None:
        """All labels, where they are named."""
        found: list[str] | None = self.rows.read.get("classes")
        return found

    def new_model(self) -> NewModel:
        """What is trained."""
        from kernbrook import recipes as book
        from kernbrook.evaluation.recipes_wanted import NewModel

        recipe = self.chosen.recipe
        new = NewModel(recipe, self.classes, self.chosen.parameters())
        if recipe is not None and self.classes is not None and book.task(recipe) == "regression":
            raise InputError(f"classes: {recipe} predicts numbers")
        return new

    def check(self, path: Path, label: str | None, drawn: bool, table: TableModel) -> None:
        """InputError where the model, or what is known of its data, is not as given.

        label : the column that must be that of the labels, or None
        drawn : whether the seed is that of data which are drawn
        """
        from kernbrook.estimators.tasks import task_of
        from kernbrook.evaluation.recipes_wanted import OURS, make_online
        from kernbrook.evaluation.training import (
            check_same_columns,
            check_same_settings,
            check_seed,
        )

        chosen, rows, model = self.chosen, self.rows, table.model
        if chosen.recipe is not None or chosen.settings:
            recipe = chosen.recipe or OURS[task_of(model)]
            made = make_online(recipe, **chosen.parameters(model))
            check_same_settings(path, model, made)
        elif chosen.seeded and not drawn:
            check_seed(path, model, chosen.seed)
        given = {name: rows.read.get(name) for name in ("n_features", "positive")}
        given["label"] = label
        check_same_columns(path, table, rows.columns, given)


def _anew(
    data: str,
    model: Path,
    given: Given,
    reading: dict[str, Any],
    overwrite: bool,
    watched: dict[str, Any],
) -> tuple[Training, str | None]:
    """Train a new model: the result, and the recipe."""
    from kernbrook.evaluation.training import train as run
    from kernbrook.streams import open_stream

    new, rows = given.new_model(), given.rows  # the model before anything is read
    stream = open_stream(data, encoder=rows.encoder(), **reading)
    result = run(
        stream,
        new,
        model,
        positive=rows.read.get("positive"),
        classes=given.classes,
        overwrite=overwrite,
        **watched,
    )
    return result, new.recipe


def _show(
    result: Training, recipe: str | None, model: Path, json: Path | None, table_out: Path | None
) -> None:
    from kernbrook import recipes as book
    from kernbrook.atomic import write_text
    from kernbrook.reports.model import training_json, training_table
    from kernbrook.streams.tables.labels import told_of_new
    from kernbrook.streams.tables.values import told_of

    show_result(
        json,
        lambda: training_json(result, recipe),
        lambda width: training_table(
            result, str(model) if recipe is None else book.title(recipe), width
        ),
    )
    already = result.rows == result.resumed_at
    for line in (*result.told, *told_of(result.level_counts), *told_of_new(result.new_classes)):
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
        found["lags"] = {settings["label"] if name is None else name: own for name, own in lags}
    return {name: value for name, value in found.items() if value not in (None, [], {})}


def _by_workers(
    data: str,
    model: Path,
    given: Given,
    scheduler: str,
    overwrite: bool,
) -> tuple[Training, str | None]:
    """Train a new model by the workers of a cluster: the result, and the recipe."""
    from kernbrook.distributed import parts_of, train_parts

    new = given.new_model()
    with progress(data) as shown:
        parts = parts_of(data, 0, given.rows.read.get("label"), given.rows.encoder())
        result = train_parts(
            parts, new, model, scheduler, classes=given.classes, overwrite=overwrite,
            progress=lambda state: shown.reading(f"{parts.name}: {state.rows:,} rows", 1, 1),
        )  # fmt: skip
    return result, new.recipe


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
