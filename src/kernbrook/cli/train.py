"""`kernbrook train`: a model as a file, data of any size."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from kernbrook.cli.bundles import RECIPE, ROWS, Chosen, Rows, takes
from kernbrook.cli.options import (
    Data,
    IgnoreExtra,
    Json,
    OnBadRows,
    Scheduler,
    check_outputs,
    labels,
)
from kernbrook.cli.output import progress, say, say_of_rows, show_result
from kernbrook.cli.signals import Stopping
from kernbrook.cli.table_options import as_written
from kernbrook.errors import InputError

if TYPE_CHECKING:
    from kernbrook.evaluation.recipes_wanted import NewModel
    from kernbrook.evaluation.sessions.sources import Source
    from kernbrook.evaluation.sessions.training import Training


Classes = Annotated[
    str | None,
    typer.Option(
        help="All labels, with commas; one with a comma in it in double quotes. Others are "
        "refused, with --go-on too. Else the data are read for them."
    ),
]
Every = Annotated[
    float, typer.Option(min=0, metavar="SECONDS", help="Time from checkpoint to checkpoint.")
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

Rounds = Annotated[
    int | None,
    typer.Option(min=1, help="How often models are merged; once by default. With --scheduler."),
]

EVERY = 60.0
AT_ONCE = "kernbrook: stopped at once, with no further checkpoint"


@takes(chosen=RECIPE, rows=ROWS)
def train(
    data: Data,
    model: Annotated[Path, typer.Option(help="The file to write the model to.")],
    chosen: Any = None,
    classes: Classes = None,
    rows: Any = None,
    on_bad_rows: OnBadRows = "error",
    checkpoint_every: Every = EVERY,
    go_on: GoOn = False,
    resume: Resume = False,
    overwrite: Overwrite = False,
    ignore_extra: IgnoreExtra = False,
    anyway: Anyway = False,
    scheduler: Scheduler = None,
    rounds: Rounds = None,
    json: Json = None,
) -> None:
    """Learn from data of any size in one pass, and save the model.

    The data are read in chunks, in their own order. Each row is predicted before it is learned:
    the mistakes made, or the mean squared error of numbers, are the online error. Recipes that ask
    for few labels look at no others.

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
    from kernbrook.evaluation.sessions.going_on import go_on as run_on

    check_outputs({"--model": model, "--json": json}, [data])
    _check(model, go_on, resume, overwrite, anyway)
    if ignore_extra and not (go_on or (resume and model.exists())):
        raise InputError("--ignore-extra: goes with --go-on, or --resume of a model that is there")
    given = Given(chosen, labels(classes), rows)
    if scheduler is not None:
        alone = {
            "--go-on": go_on, "--resume": resume, "--positive": rows.positive,
            "--n-features": rows.n_features, "--sep": rows.sep, "--max-bytes": rows.max_bytes,
            "--on-bad-rows": on_bad_rows != "error",
            "--checkpoint-every": checkpoint_every != EVERY,
        }  # fmt: skip
        if named := [name for name, value in alone.items() if value]:
            raise InputError(f"{named[0]}: goes without --scheduler")
        result, recipe = _by_workers(data, model, given, scheduler, rounds, overwrite)
        _show(result, recipe, model, json)
        return
    if rounds is not None:
        raise InputError("--rounds: goes with --scheduler")
    reading: dict[str, Any] = {
        "label": rows.label, "seed": chosen.seed, "max_bytes": rows.max_bytes, "sep": rows.sep,
        "on_bad_rows": on_bad_rows,
    }  # fmt: skip
    stopping = Stopping()
    with stopping.on_signals(AT_ONCE), progress(data) as shown:
        watched: dict[str, Any] = {
            "every": checkpoint_every, "stop": stopping.wanted, "compiling": shown.compiling,
            "progress": lambda state: shown.reading(
                partial(_so_far, state), state.rows_read, state.n_rows
            ),
        }  # fmt: skip
        if go_on or (resume and model.exists()):
            reading |= {"ignore_extra": True} if ignore_extra else {}
            recipe, drawn = chosen.recipe, data != "-" and not Path(data).exists()
            result = run_on(
                data, model, resume=resume, anyway=anyway, classes=given.classes,
                written=as_written(rows.columns),
                check=partial(given.check, model, rows.label if resume else None, drawn),
                **watched, **reading,
            )  # fmt: skip
        else:
            result, recipe = _anew(data, model, given, reading, overwrite, watched)
    if not result.finished:
        learned = f"{result.rows:,} of {result.n_rows:,} rows of {result.name}"
        say(f"kernbrook: stopped; {model} has learned {learned}.")
        say("To go on, give the same data with --resume.")
        raise typer.Exit(stopping.code)
    _show(result, recipe, model, json)


def _check(model: Path, go_on: bool, resume: bool, overwrite: bool, anyway: bool) -> None:
    """InputError where these options do not go together, or not with what is there."""
    from kernbrook.evaluation.sessions.going_on import check_there
    from kernbrook.evaluation.sessions.training import check_target

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
    classes : labels, or None
    rows : how the data are read
    """

    chosen: Chosen
    classes: list[str] | None
    rows: Rows

    def new_model(self) -> NewModel:
        """What is trained."""
        from kernbrook import recipes as book
        from kernbrook.evaluation.recipes_wanted import NewModel

        recipe = self.chosen.recipe
        new = NewModel(recipe, self.classes, self.chosen.parameters())
        if recipe is not None and self.classes is not None and book.task(recipe) == "regression":
            raise InputError(f"--classes: {recipe} predicts numbers")
        return new

    def check(self, path: Path, label: str | None, drawn: bool, model: Any, source: Source) -> None:
        """InputError where the model, or what is known of its data, is not as given.

        label : the column that must be that of the labels, or None
        drawn : whether the seed is that of data which are drawn
        """
        from kernbrook.estimators.tasks import task_of
        from kernbrook.evaluation.recipes_wanted import OURS, make_online
        from kernbrook.evaluation.sessions.session import (
            check_same_columns,
            check_same_settings,
            check_seed,
        )

        chosen, rows = self.chosen, self.rows
        if chosen.recipe is not None or chosen.settings:
            recipe = chosen.recipe or OURS[task_of(model)]
            made = make_online(recipe, **chosen.parameters(model))
            check_same_settings(path, (model, None), (made, None))
        elif chosen.seeded and not drawn:
            check_seed(path, model, chosen.seed)
        given = {"n_features": rows.n_features, "positive": rows.positive, "label": label}
        check_same_columns(path, source, rows.columns, given)


def _anew(
    data: str,
    model: Path,
    given: Given,
    reading: dict[str, Any],
    overwrite: bool,
    watched: dict[str, Any],
) -> tuple[Training, str | None]:
    """Train a new model: the result, and the recipe."""
    from kernbrook.evaluation.sessions.sources import open_source
    from kernbrook.evaluation.sessions.training import train as run

    new, rows = given.new_model(), given.rows  # the model before anything is read
    stream, source = open_source(
        data, n_features=rows.n_features, positive=rows.positive, encoder=rows.encoder, **reading
    )
    result = run(
        stream, new, model, source=source, classes=given.classes, overwrite=overwrite, **watched
    )
    return result, new.recipe


def _show(result: Training, recipe: str | None, model: Path, json: Path | None) -> None:
    from kernbrook import recipes as book
    from kernbrook.reports.trained import training_json, training_table
    from kernbrook.streams.tables.levels import told_of
    from kernbrook.streams.tables.new_labels import told_of_new

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


def _by_workers(
    data: str,
    model: Path,
    given: Given,
    scheduler: str,
    rounds: int | None,
    overwrite: bool,
) -> tuple[Training, str | None]:
    """Train a new model by the workers of a cluster: the result, and the recipe."""
    from kernbrook.distributed.cluster_training import train_parts
    from kernbrook.distributed.parts import parts_of

    new, total = given.new_model(), rounds or 1
    with progress(data) as shown:
        parts = parts_of(data, 0, given.rows.label, given.rows.encoder)
        result = train_parts(
            parts, new, model, scheduler, rounds=total, classes=given.classes, overwrite=overwrite,
            progress=lambda state: shown.reading(
                f"{parts.name}: {state.rows:,} rows", state.rounds, total
            ),
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
