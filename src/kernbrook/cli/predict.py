"""`kernbrook predict`: what a model says of each row of data of any size."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from kernbrook.cli.bundles import NEW_ROWS, takes
from kernbrook.cli.options import (
    Data,
    IgnoreExtra,
    Json,
    LearnedLabel,
    OnBadRows,
    Scheduler,
    Seed,
    as_value,
    check_outputs,
)
from kernbrook.cli.output import progress, say, say_of_rows, terminal, write_json
from kernbrook.cli.written import written as written_to
from kernbrook.errors import InputError, printable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kernbrook.estimators.tasks import Learned
    from kernbrook.evaluation.measures import Tally
    from kernbrook.evaluation.sessions.checkpoints import Checkpoint
    from kernbrook.evaluation.sessions.predicting import Wanted
    from kernbrook.streams import Stream
    from kernbrook.streams.tables.levels import LevelCounts

Piece = tuple["Learned", "NDArray[Any]"]  # what is said of some rows, and their labels


@takes(like=NEW_ROWS)
def predict(
    model: Annotated[Path, typer.Argument(help="A file that `train` or kb.save wrote.")],
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
            help="Say the second of two labels where it is at least so probable; f1; or costs as "
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
    like: Any = None,
    seed: Seed = 0,
    on_bad_rows: OnBadRows = "error",
    json: Json = None,
    ignore_extra: IgnoreExtra = False,
    scheduler: Scheduler = None,
) -> None:
    """Predict the label of each row: one line each, or CSV or Parquet where more is wanted.

    A table may have the label's column or not; a svmlight file has some number in its place.
    Columns are encoded as they were for the model, with the means and last values that it knows;
    --dates, --decimal, --thousands and --units say where values are written in another way. Where
    the model fills gaps, a column that is not there is one of gaps.
    Where the data have labels that the model knows, or numbers that are not all the same for a
    model of numbers, measures of the predictions go to standard error, and to --json: error, log
    loss and AUC, of numbers MAE, RMSE and coverage, beside those of a constant.

    With --scheduler the files of a folder are predicted by the workers of a Dask cluster, who must
    see the folder and the model at the same place.

    With --on-bad-rows skip rows of a table that cannot be read have an empty line.

    A score is the combined vote. Of two labels, from 0 on, the prediction is the second in sorted
    order, unless there is a threshold; more labels have one score each, and the greatest wins.
    """
    from kernbrook.evaluation.running.warming import watched
    from kernbrook.evaluation.sessions.going_on import told_of_learned
    from kernbrook.evaluation.sessions.predicting import Wanted, load_learned
    from kernbrook.evaluation.sessions.raw_rows import KeptColumns
    from kernbrook.evaluation.sessions.sources import open_like
    from kernbrook.streams.formats.csv_header import quoted
    from kernbrook.streams.tables.left_out_rows import BadRows
    from kernbrook.streams.tables.levels import told_of

    to_file = str(output) != "-"
    check_outputs({"--output": output, "--json": json}, [data, str(model)])
    if keep and scheduler is not None:
        raise InputError("--keep: goes without --scheduler")
    if not to_file and str(json) == "-":
        raise InputError("--output, --json: expected one of them at standard output, got both")
    machine, source, checkpoint = load_learned(model, history=True)
    asked = _Asked(Wanted(scores, proba, interval), threshold)
    machine = asked.by_threshold(machine)
    asked.wanted.check(machine)
    if checkpoint is not None and not checkpoint.finished:
        say(f"{model} is a checkpoint, after {checkpoint.rows:,} rows")
    rows, known, kept = 0, "", None
    options = {
        **like, "seed": seed, "ignore_extra": ignore_extra, "on_bad_rows": on_bad_rows
    }  # fmt: skip
    to_terminal = not to_file and sys.stdout.isatty()
    tally = asked.tally(machine, source.positive, checkpoint)
    with progress(data, hidden=to_terminal) as shown:
        bad = BadRows()
        if scheduler is None:
            stream = open_like(source, data, **options)
            bad = stream.bad_rows or bad
            past = () if checkpoint is None else checkpoint.past
            known = told_of_learned(stream, source.positive, past)
            kept = KeptColumns(stream.records(), keep, bad) if keep else None
            warm = partial(watched, tell=shown.compiling)
            name, n_rows = stream.name, stream.n_rows
            pieces, tally.level_counts = asked.pieces(machine, stream, warm), stream.level_counts
        else:
            source.check_parts()
            if on_bad_rows != "error":
                raise InputError("--on-bad-rows: goes without --scheduler")
            calls = [(model, path, options, asked) for path in _files(data)]
            name, n_rows = data, None
            pieces = _of_workers(calls, scheduler, tally)
        with written_to(output, printable if to_terminal else _in_a_line) as write:
            for said, y in pieces:
                columns, own = asked.wanted.columns(machine, said), len(said.predictions)
                if keep and kept is not None:
                    if same := [name for name in keep if name in columns]:
                        raise InputError(
                            f"--keep {same[0]}: predictions have a column of this name"
                        )
                    columns = {**kept.next(own), **columns}
                write(columns, bad.before(rows, own))
                tally.add(y, said)
                rows += own
                shown.reading(f"{name}: {rows:,} rows", rows, n_rows)
            if after := len(bad.places) - sum(bad.before(0, rows)):
                write({name: values[:0] for name, values in columns.items()}, [after])
    if to_file:
        say(f"wrote {rows:,} predictions to {output}")
    for line in told_of(tally.level_counts):
        say(line)
    if scheduler is None:
        say_of_rows(0, bad)
    _show(tally)
    if scheduler is None and stream.label_name is not None and not stream.labelled:
        where = f"column {quoted(stream.label_name)} has no label"
        say(f"{name}: {where}: nothing says how good the predictions are")
    if known and tally.judged is not None:
        say(f"{known}, which {model} has learned: of new rows it knows less")
    if json is not None:
        from kernbrook.reports.measured import predictions_json

        write_json(json, predictions_json(tally, str(model), name, rows))


def _show(tally: Tally) -> None:
    """The measures on standard error, where there are any, and what they come to in words."""
    from kernbrook.reports import rendered
    from kernbrook.reports.measured import left_out, measures_table, no_better

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


class _Asked(NamedTuple):
    """What the options ask of a model's predictions; workers are told the same."""

    wanted: Wanted
    threshold: str | None

    def by_threshold(self, model: Any) -> Any:
        """The model with the threshold that is given, or its own."""
        from kernbrook.evaluation.sessions.predicting import with_threshold

        return model if self.threshold is None else with_threshold(model, as_value(self.threshold))

    def tally(self, model: Any, positive: str | None, checkpoint: Checkpoint | None) -> Tally:
        """What counts predictions of the model."""
        from kernbrook.evaluation.measures import Tally

        judge = None if checkpoint is None else checkpoint.judge
        return Tally.of(model, positive, self._coverage(model), judge)

    def _coverage(self, model: Any) -> float | None:
        """Of the model's intervals, which are judged where none are written, too."""
        from kernbrook.evaluation.measures import COVERAGE

        wanted = self.wanted.interval
        return COVERAGE if wanted is None and hasattr(model, "predict_interval") else wanted

    def pieces(
        self,
        model: Any,
        stream: Stream,
        warm: Callable[[Callable[[], Any]], None] | None = None,
    ) -> Iterator[Piece]:
        """What the model says of each chunk, and its labels, none where the stream has none."""
        from kernbrook.evaluation.sessions.predicting import said_of

        coverage = self._coverage(model)
        for X, y in stream.chunks():
            if warm is not None:
                warm(partial(said_of, model, X[:1], coverage))
                warm = None
            yield said_of(model, X, coverage), y if stream.labelled else y[:0]


def _files(folder: str) -> list[Path]:
    """The Parquet files of a folder."""
    from kernbrook.streams.formats.parquet_records import parquet_file
    from kernbrook.streams.opening import open_folder

    if (records := open_folder(folder)) is None:
        raise InputError(f"--scheduler: expected a folder of Parquet files, got {folder}")
    full = []
    for path in records.paths:
        with parquet_file(path) as file:
            full += [path] if file.metadata.num_rows else []
    return full or records.paths


def _of_workers(calls: list[tuple[Any, ...]], scheduler: str, tally: Tally) -> Iterator[Piece]:
    """The same of each file, by the workers of a cluster, in the order of the files."""
    from kernbrook.evaluation.running.parallel import in_order
    from kernbrook.streams.tables.levels import together

    for pieces, counts in in_order(_of_file, calls, lambda found: len(found[0]), scheduler, None):
        tally.level_counts = together(tally.level_counts, counts)
        yield from pieces


def _of_file(
    model: Path, path: Path, options: dict[str, Any], asked: _Asked, progress: Any = None
) -> tuple[list[Piece], Sequence[LevelCounts]]:
    """What one worker says of one file, and which levels came."""
    from kernbrook.evaluation.sessions.predicting import kept_learned
    from kernbrook.evaluation.sessions.sources import open_like

    machine, source = kept_learned(model)
    stream = open_like(source, path, **options)
    return list(asked.pieces(asked.by_threshold(machine), stream)), stream.level_counts


def _in_a_line(label: str) -> str:
    """A label as a file or another program gets it: as it is, but for the ends of lines."""
    return label.replace("\r", "\\r").replace("\n", "\\n")
