"""`kernbrook predict`: what a model says of each row of data of any size."""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kernbrook.cli.options import (
    Data,
    DataOptions,
    Json,
    Learned,
    LearnedLabel,
    OnBadRows,
    Table,
    as_value,
    check_outputs,
)
from kernbrook.cli.output import Progress, say, say_of_rows, terminal, write_json
from kernbrook.cli.output import written as written_to
from kernbrook.errors import InputError, printable
from kernbrook.streams.loading import pa

if TYPE_CHECKING:
    from kernbrook.evaluation.measures import Tally

NAMES = (
    "label", "positive", "classes", "sep", "n_features", "max_bytes", "on_bad_rows", "ignore_extra",
    "seed",
)  # fmt: skip


def predict(
    model: Learned,
    data: Data,
    output: Annotated[
        Path,
        typer.Option(help="The file to write to, .parquet for Parquet; - for standard output."),
    ] = Path("-"),
    proba: Annotated[
        bool, typer.Option("--proba", help="Write a column for each class: its probability.")
    ] = False,
    interval: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="Of numbers: write intervals that cover so many, such as 0.9."
        ),
    ] = None,
    scores: Annotated[
        bool, typer.Option("--scores", help="Write the score of each prediction.")
    ] = False,
    threshold: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="Predict the second of two labels if it is at least so probable; f1; or costs as "
            "JSON. In place of the model's own; none: without.",
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="Write a column of the data first, as text. Can be repeated."
        ),
    ] = None,
    label: LearnedLabel = None,
    table: Table = None,
    on_bad_rows: OnBadRows = None,
    json: Json = None,
) -> None:
    """Predict the label of each row: one line each, or CSV or Parquet where more is wanted.

    A table may have the label's column or not; a svmlight file has some number in its place.
    Columns are encoded as they were for the model, with the means and last values that it knows;
    --table says where values are written in another way, and `ignore_extra=true` leaves out columns
    that the model does not know. Where the model fills gaps, a column that is not there is one of
    gaps.

    Where the data have labels that the model knows, or numbers that are not all the same for a
    model of numbers, measures of the predictions go to standard error, and to --json: error, log
    loss and AUC, of numbers MAE, RMSE and coverage, beside those of a constant.

    With `--on-bad-rows skip`, rows of a table that cannot be read have an empty line.

    A score is the combined vote. Of two labels, from 0 on, the prediction is the second in sorted
    order, unless there is a threshold; more labels have one score each, and the greatest wins.
    """
    from kernbrook.estimators.table_model import open_like
    from kernbrook.evaluation.checkpoint import load_learned
    from kernbrook.evaluation.measures import COVERAGE, Tally
    from kernbrook.evaluation.predicting import ExtraOutputs, predict_frozen, with_threshold
    from kernbrook.evaluation.raw_rows import kept_columns
    from kernbrook.evaluation.training import note_learned
    from kernbrook.evaluation.warming import run_reported
    from kernbrook.streams.records import quoted
    from kernbrook.streams.tables.stream import BadRows
    from kernbrook.streams.tables.values import note_levels

    to_file = str(output) != "-"
    asked = DataOptions.of("predict", NAMES, table, label=label, on_bad_rows=on_bad_rows)
    check_outputs({"--output": output, "--json": json}, [data, str(model)])
    if not to_file and str(json) == "-":
        raise InputError("--output, --json: expected one of them at standard output, got both")
    like, checkpoint = load_learned(model)
    asked.check(model, like)
    machine, wanted = like.model, ExtraOutputs(scores, proba, interval)
    if threshold is not None:
        machine = with_threshold(machine, as_value(threshold))
    wanted.check(machine)
    coverage = COVERAGE if interval is None and hasattr(machine, "predict_interval") else interval
    rows, known, to_terminal = 0, "", not to_file and sys.stdout.isatty()
    with Progress(data, hidden=to_terminal) as shown:
        stream = open_like(like, data, **asked.alike())
        if checkpoint is not None and not checkpoint.finished:
            say(f"{model} is a checkpoint, after {checkpoint.rows:,} rows")
        if checkpoint is not None:
            with suppress(InputError):  # labels that are none of the model's: other rows
                known = note_learned(like._signed(stream), checkpoint.past)
        judge = None if checkpoint is None else checkpoint.judge
        tally = Tally.of(machine, like.positive_, coverage, judge)
        tally.level_counts = stream.level_counts
        bad, name = stream.bad_rows or BadRows(), stream.name
        kept = kept_columns(stream.records(), keep, bad) if keep else iter(())
        with written_to(output, printable if to_terminal else _in_a_line) as write:
            for X, y in stream.chunks():
                if rows == 0:
                    run_reported(partial(predict_frozen, machine, X[:1], coverage), shown.compiling)
                outputs, n_rows = predict_frozen(machine, X, coverage), X.shape[0]
                columns = wanted.columns(machine, outputs)
                if keep:
                    if same := [column for column in keep if column in columns]:
                        problem = "predictions have a column of this name"
                        raise InputError(f"--keep {same[0]}: {problem}")
                    texts = map(pa.array, zip(*islice(kept, n_rows), strict=True))
                    columns = {**dict(zip(keep, texts, strict=True)), **columns}
                write(columns, bad.before(rows, n_rows))
                tally.add(y if stream.labelled else y[:0], outputs)
                rows += n_rows
                shown.reading(f"{name}: {rows:,} rows", rows, stream.n_rows)
            if after := len(bad.places) - sum(bad.before(0, rows)):
                write({name: values[:0] for name, values in columns.items()}, [after])
    if to_file:
        say(f"wrote {rows:,} predictions to {output}")
    for line in note_levels(stream.level_counts):
        say(line)
    say_of_rows(0, bad)
    _show(tally)
    if stream.label_name is not None and not stream.labelled:
        where = f"column {quoted(stream.label_name)} has no label"
        say(f"{name}: {where}: nothing says how good the predictions are")
    if known and tally.judged is not None:
        say(f"{known}, which {model} has learned: of new rows it knows less")
    if json is not None:
        from kernbrook.reports.model import predictions_json

        write_json(json, predictions_json(tally, str(model), name, rows))


def _show(tally: Tally) -> None:
    """The measures on standard error, where there are any, and what they come to in words."""
    from kernbrook.reports import rendered
    from kernbrook.reports.model import left_out, measures_table, no_better

    measures = tally.judged
    if measures is None:
        return
    if not measures.model.rows:
        say("; ".join(("no row is judged", *left_out(measures))))
        return
    console = terminal(stderr=True)
    console.print(rendered(measures_table(measures), console.width))
    for line in (*left_out(measures), no_better(measures)):
        if line:
            say(line)


def _in_a_line(label: str) -> str:
    """A label as a file or another program gets it: as it is, but for the ends of lines."""
    return label.replace("\r", "\\r").replace("\n", "\\n")
