"""`kernbrook explain`: which columns matter to a model, and what each adds to one prediction."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kernbrook.cli.options import (
    Data,
    DataOptions,
    Json,
    Learned,
    LearnedLabel,
    Report,
    Seed,
    Table,
    check_outputs,
)
from kernbrook.cli.output import Progress, say, show_result
from kernbrook.errors import InputError

if TYPE_CHECKING:
    from kernbrook.explaining.asked import AskedModel, Latest
    from kernbrook.explaining.contributions import Explanation
    from kernbrook.explaining.importance import Importance
    from kernbrook.streams import Stream


NAMES = "label", "positive", "classes", "sep", "n_features", "max_bytes", "ignore_extra"


def explain(
    model: Learned,
    data: Data,
    row: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Explain the prediction of this row, from 1."),
    ] = None,
    of_class: Annotated[
        str | None,
        typer.Option("--class", metavar="LABEL", help="The class to explain; else the predicted."),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(help="log_loss or error for classes, rmse or mae for numbers."),
    ] = None,
    label: LearnedLabel = None,
    table: Table = None,
    seed: Seed = 0,
    json: Json = None,
    report: Report = None,
) -> None:
    """Say which columns matter to a model, or what each adds to one prediction.

    Without --row: how much more the model errs on the data, which need labels, once the values of
    a column are exchanged between rows. Take rows that the model has not learned. Of more than
    10,000 rows the last ones count, and some of them are drawn.

    With --row: what each column adds to the chance of the class that is predicted, or to the
    number: beside what the model says of the last rows that it has learned, or, where it keeps
    none, of the last rows of the data.

    --report writes a page with both.
    """
    from kernbrook.evaluation.training import note_learned
    from kernbrook.evaluation.warming import run_reported
    from kernbrook.explaining.asked import latest_of, opened
    from kernbrook.reports import explanation_table, importance_table, rendered, why_page
    from kernbrook.reports.why import describe, why_json

    check_outputs({"--json": json, "--report": report}, [data, str(model)])
    if row is None and of_class is not None:
        raise InputError("--class: goes with --row")
    if measure is not None and row is not None and report is None:
        raise InputError("--measure: goes without --row, or with --report")
    explanation = importance = None
    with Progress(data) as shown:
        given = DataOptions.of("explain", NAMES, table, label=label)
        asked, stream = opened(model, data, seed=seed, **given.alike())
        given.check(model, asked.like)
        known = latest_of(asked, stream, None if row is None else row - 1)
        if row is not None and known.row is None:
            rows = f"expected 1 to {known.n_rows:,}, the rows of {stream.name}"
            raise InputError(f"--row: {rows}, got {row:,}")
        run_reported(lambda: asked.ask(asked.model.predict, known.X[:1]), shown.compiling)
        if row is not None:
            explanation = _explained(asked, stream, known, row, of_class, seed)
        if row is None or report is not None:
            importance = _important(asked, stream, known, measure, seed, row is None, shown.reading)
        learned = "" if importance is None else note_learned(stream, asked.past)
    name = stream.name
    if explanation is not None:
        title = f"{name}, row {row:,}: {describe(explanation)}"
        shown_table = explanation_table(explanation, title)
    else:
        assert importance is not None
        shown_table = importance_table(importance, f"{name}: what matters to {model.name}")
    if learned:
        say(f"{learned}, which {model} has learned: on new rows other columns may matter")
    show_result(
        json,
        lambda: why_json(str(model), name, known.n_rows, importance, explanation, row),
        lambda width: rendered(shown_table, width),
        report,
        lambda: why_page(model.name, name, importance, explanation, row),
    )


def _explained(
    asked: AskedModel, stream: Stream, known: Latest, row: int, of_class: str | None, seed: int
) -> Explanation:
    """What each column adds to the prediction of a row, numbered from 1."""
    from kernbrook.explaining.contributions import (
        Background,
        explanation_of,
        last_rows,
        values_of,
    )

    cells = stream.written(row - 1)
    values = values_of(asked, known.row if cells is None else cells, known.row)
    others = last_rows(asked.model)
    if others is None:
        others = Background(known.X, f"the last {known.X.shape[0]:,} rows of {stream.name}")
    wanted: Any = of_class
    if of_class is not None:
        classes = getattr(asked.model, "classes_", ())
        wanted = next((label for label in classes if str(label) == of_class), of_class)
    return explanation_of(asked, known.row, others, values, wanted, random_state=seed)


def _important(
    asked: AskedModel,
    stream: Stream,
    known: Latest,
    measure: str | None,
    seed: int,
    needed: bool,
    reading: Callable[[str, int, int | None], None],
) -> Importance | None:
    """How much each column matters; None where the data do not tell, and nothing else is asked."""
    from kernbrook.explaining.importance import NO_LABELS, importance_of

    try:
        if known.y is None:
            raise InputError(f"{stream.name}: {NO_LABELS}; --row N explains one prediction")
        return importance_of(
            asked, known.X, known.y, measure, random_state=seed,
            progress=lambda share: reading(f"{stream.name}: columns", int(100 * share), 100),
        )  # fmt: skip
    except InputError as error:
        if needed:
            raise
        say(f"no importance of columns on the page: {error}")
        return None
