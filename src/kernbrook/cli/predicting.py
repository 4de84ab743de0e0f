"""`kernbrook predict`: what a model says of each row of data of any size."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from kernbrook.cli.options import (
    Data,
    MaxBytes,
    OnBadRows,
    Scheduler,
    Seed,
    Sep,
    check_outputs,
    takes_tables,
)
from kernbrook.cli.output import progress, say, say_of_rows
from kernbrook.errors import InputError, printable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kernbrook.evaluation.predicting import Tally
    from kernbrook.streams import Stream


@takes_tables
def predict(
    model: Annotated[Path, typer.Argument(help="A file that `train` or kb.save wrote.")],
    data: Data,
    output: Annotated[
        Path, typer.Option(help="The file to write to; - for standard output.")
    ] = Path("-"),
    scores: Annotated[
        bool, typer.Option("--scores", help="Write CSV: each prediction with its score.")
    ] = False,
    label: Annotated[
        str | None, typer.Option(help="A table's label column; else the one that was learned.")
    ] = None,
    written: Any = None,
    sep: Sep = None,
    seed: Seed = 0,
    max_bytes: MaxBytes = None,
    on_bad_rows: OnBadRows = "error",
    scheduler: Scheduler = None,
) -> None:
    """Predict the label of each row, one line each.

    A table may have the label's column or not; a svmlight file has some number in its place.
    Columns are encoded as they were for the model, with the means and last values that it knows;
    --dates, --decimal, --thousands and --units say where values are written in another way.
    Where the data have labels that the model knows, or numbers that are not all the same for a
    model of numbers, the error goes to standard error.

    With --scheduler the files of a folder are predicted by the workers of a Dask cluster, who must
    see the folder and the model at the same place.

    With --on-bad-rows skip rows of a table that cannot be read have an empty line.

    A score is the combined vote. Of two labels, from 0 on, the prediction is the second in sorted
    order; more labels have one score each, and the greatest wins.
    """
    from kernbrook.estimators.tasks import task_of
    from kernbrook.evaluation.predicting import Tally, check_scores, load_learned
    from kernbrook.evaluation.sources import open_like
    from kernbrook.evaluation.warming import watched
    from kernbrook.reports.words import ERROR_NAMES, error_value
    from kernbrook.streams.table_levels import told_of

    to_file = str(output) != "-"
    check_outputs({"--output": output}, [data, str(model)])
    machine, source, checkpoint = load_learned(model)
    if scores:
        check_scores(machine)
    if checkpoint is not None and not checkpoint.finished:
        say(f"{model} is a checkpoint, after {checkpoint.rows:,} rows")
    rows = 0
    options: dict[str, Any] = {"label": label, "seed": seed, "max_bytes": max_bytes, "sep": sep}
    options |= {"written": written, "on_bad_rows": on_bad_rows}
    to_terminal = not to_file and sys.stdout.isatty()
    shown_as = printable if to_terminal else _in_a_line
    tally = Tally(getattr(machine, "classes_", None), source.positive)
    with progress(data, hidden=to_terminal) as shown:
        if scheduler is None:
            stream = open_like(source, data, **options)
            warm = partial(watched, tell=shown.compiling)
            name, n_rows = stream.name, stream.n_rows
            pieces = _pieces(machine, stream, scores, shown_as, tally, warm)
        else:
            source.check_parts()
            calls = [(model, path, options, scores, shown_as) for path in _files(data)]
            name, n_rows = data, None
            pieces = _of_workers(calls, scheduler, tally)
        with _written(output) as file:
            if scores:
                file.write(_header(machine.classes_, shown_as).encode())
            for lines, n in pieces:
                file.write(lines)
                rows += n
                shown.reading(f"{name}: {rows:,} rows", rows, n_rows)
    if to_file:
        say(f"wrote {rows:,} predictions to {output}")
    for line in told_of(tally.level_counts):
        say(line)
    if scheduler is None:
        say_of_rows(stream.n_unlabelled, stream.bad_rows)
    if tally.error is not None:
        task = task_of(machine)
        error = f"{ERROR_NAMES[task]} {error_value(tally.error, task)}"
        say(f"{error} on {tally.known:,} labelled rows")


def _pieces(
    machine: Any,
    stream: Stream,
    scores: bool,
    written: Callable[[str], str],
    tally: Tally,
    warm: Callable[[Callable[[], Any]], None] | None = None,
) -> Iterator[tuple[bytes, int]]:
    """The lines of each chunk, and its rows; the tally counts them."""
    from kernbrook.evaluation.predicting import predict as run
    from kernbrook.streams.bad_rows import BadRows

    tally.level_counts = stream.level_counts
    bad, done, blank = stream.bad_rows or BadRows(), 0, ""
    for X, y in stream.chunks():
        if warm is not None:
            warm(partial(run, machine, X[:1], scores))
            warm = None
        labels, decisions = run(machine, X, scores)
        if stream.labelled:
            tally.add(labels, y)
        lines = _lines(labels, decisions, written)
        if bad.places:
            blank = "" if decisions is None else "," * decisions[0].size
            empty = [f"{blank}\n" * n for n in bad.before(done, len(y))]
            own = zip(empty, lines.split("\n")[:-1], strict=True)
            lines = "".join(f"{blanks}{line}\n" for blanks, line in own)
        done += len(y)
        yield lines.encode(), len(y)
    if after := len(bad.places) - sum(bad.before(0, done)):
        yield f"{blank}\n".encode() * after, 0


def _files(folder: str) -> list[Path]:
    """The Parquet files of a folder."""
    from kernbrook.streams.opening import open_folder

    if (records := open_folder(folder)) is None:
        raise InputError(f"--scheduler: expected a folder of Parquet files, got {folder}")
    return records.paths


def _of_workers(
    calls: list[tuple[Any, ...]], scheduler: str, tally: Tally
) -> Iterator[tuple[bytes, int]]:
    """The same of each file, by the workers of a cluster, in the order of the files."""
    from kernbrook.evaluation.parallel import in_order

    for lines, n, own in in_order(_of_file, calls, lambda found: found[1], scheduler, None):
        tally.join(own)
        yield lines, n


def _of_file(
    model: Path,
    path: Path,
    options: dict[str, Any],
    scores: bool,
    written: Callable[[str], str],
    progress: Any = None,
) -> tuple[bytes, int, Tally]:
    """What one worker says of one file."""
    from kernbrook.evaluation.predicting import Tally, kept_learned
    from kernbrook.evaluation.sources import open_like

    machine, source = kept_learned(model)
    tally = Tally(getattr(machine, "classes_", None), source.positive)
    stream = open_like(source, path, **options)
    pieces = list(_pieces(machine, stream, scores, written, tally))
    return b"".join(lines for lines, _ in pieces), sum(n for _, n in pieces), tally


@contextmanager
def _written(output: Path) -> Iterator[BinaryIO]:
    """A file that is replaced at the end, or standard output."""
    from kernbrook.atomic import replacing

    if str(output) != "-":
        with replacing(output) as file:
            yield file
        return
    try:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        # What could not be written must not be tried again at the end of the process.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise InputError(f"cannot write standard output: {error.strerror}") from error


def _in_a_line(label: str) -> str:
    """A label as a file or another program gets it: as it is, but for the ends of lines."""
    return label.replace("\r", "\\r").replace("\n", "\\n")


def _header(classes: NDArray[Any], written: Callable[[str], str]) -> str:
    names = ["score"] if len(classes) == 2 else [f"score of {label}" for label in classes.tolist()]
    return _csv([["prediction", *map(written, names)]])


def _lines(labels: NDArray[Any], scores: NDArray[Any] | None, written: Callable[[str], str]) -> str:
    names: list[Any] = labels.tolist()
    if labels.dtype.kind in "UO":
        names = [written(str(name)) for name in names]
    if scores is None:
        return "".join(f"{name}\n" for name in names)
    columns = scores[:, None] if scores.ndim == 1 else scores
    return _csv([name, *row] for name, row in zip(names, columns.tolist(), strict=True))


def _csv(rows: Iterable[list[Any]]) -> str:
    import csv
    import io

    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
