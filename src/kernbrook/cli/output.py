"""What the commands write: messages, results, progress, tables; and how a signal ends them."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import typer

from kernbrook.errors import InputError, printable
from kernbrook.streams.loading import pa

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from kernbrook.evaluation.warming import Compiling, Reporter
    from kernbrook.streams.tables.stream import BadRows


COMPILING = "compiling, once for this machine"


def say(text: str) -> None:
    """A message, in a line on standard error; names in it cannot command the terminal."""
    typer.echo(printable(text), err=True)


def say_of_rows(unlabelled: int, bad: BadRows | None) -> None:
    """How many rows have no label, and which were left out."""
    if unlabelled:
        say(f"{unlabelled:,} row{'s' * (unlabelled > 1)} without a label")
    for line in () if bad is None else bad.lines():
        say(line)


def show_result(
    json: Path | None,
    as_json: Callable[[], Any],
    as_table: Callable[[int], Any],
    report: Path | None = None,
    as_page: Callable[[], Any] | None = None,
) -> None:
    """The table on standard output, or the JSON object; or the table there and JSON in a file.

    The table comes first: a file that cannot be written must not cost the result. A page comes
    last, where it is wanted.
    """
    if json is None or str(json) != "-":
        console = terminal()
        console.print(as_table(console.width))
    if json is not None:
        write_json(json, as_json())
    if report is not None and as_page is not None:
        from kernbrook.reports import write_page

        write_page(as_page(), report)
        say(f"wrote {report}")


def write_json(json: Path, value: Any) -> None:
    """A value as one JSON object, to a file, or to standard output where that is its name."""
    from json import dumps

    from kernbrook.atomic import write_text

    to_stdout = str(json) == "-"
    escaped = to_stdout and sys.stdout.isatty()
    text = dumps(value, allow_nan=False, ensure_ascii=escaped)
    if to_stdout:
        typer.echo(text)
    else:
        write_text(json, text + "\n")


def terminal(stderr: bool = False) -> Console:
    """The console of rich, at least 100 columns wide where output goes to no terminal."""
    from rich.console import Console

    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, 100)
    return console


def reporter(show: Callable[[str], None] | None) -> Reporter:
    """What shows how far compiling is, "" where it has stopped; None to say once that it is on."""
    announced = False

    def tell(state: Compiling | None) -> None:
        nonlocal announced
        if show is not None and state is not None:
            parts = f", {state.ready} of {state.parts} parts ready" if state.parts > 1 else ""
            show(f"{COMPILING}: {state.seconds:.0f} s{parts}")
        elif show is not None:
            show("")
        elif not announced:
            announced = True
            say(COMPILING)

    return tell


class Progress:
    """A bar on standard error, and more, where that is a terminal; nothing but lines otherwise.

    Parameters
    ----------
    data : what is read, where the bar is one of `reading`
    hidden : whether to show nothing but lines on a terminal too

    Attributes
    ----------
    compiling : called with how far compiling is, and with None where it has stopped
    """

    def __init__(self, data: str | None = None, hidden: bool = False):
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn
        from rich.progress import Progress as Bar
        from rich.progress import TimeRemainingColumn as Remaining

        above: list[RenderableType] = []
        compiling: list[str] = []

        class Shown(Bar):
            def get_renderables(self) -> Iterator[RenderableType]:
                yield from (*above, *compiling)
                yield from super().get_renderables()

        def say_so(line: str) -> None:
            compiling[:] = [line] if line else []

        console = terminal(stderr=True)
        self._shows, self._above = console.is_terminal and not hidden, above
        share = [] if data else [TaskProgressColumn()]  # for which a line about rows has no room
        self._bar = Shown(
            TextColumn("{task.description}", markup=False), BarColumn(), *share, Remaining(),
            console=console, disable=not self._shows, transient=True,
        )  # fmt: skip
        if data is not None:
            self._bar.add_task(printable(f"reading {data}"), total=None)
        self.compiling = reporter(say_so if self._shows else None)

    def __enter__(self) -> Progress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def announce(self, name: str, rounds: int) -> Callable[[int], None]:
        """A bar more, of so many rounds: what is called as they are done."""
        task = self._bar.add_task(printable(f"{name}: rounds"), total=rounds or None)
        return lambda done: self._bar.advance(task, done)

    def reading(self, text: str | Callable[[], str], done: int, rows: int | None) -> None:
        """Show a text, or what makes it, rows done, and rows in all or None."""
        if self._shows:
            line = printable(text if isinstance(text, str) else text())
            bar = self._bar
            bar.update(bar.task_ids[0], description=line, completed=done, total=rows)

    def show(self, table: Callable[[int], RenderableType]) -> None:
        if self._shows:
            self._above[:] = [table(self._bar.console.width)]


class Stopping:
    """What SIGINT and SIGTERM do.

    Before the first step, in a call that waits, and the second time, a signal raises
    KeyboardInterrupt; else it is remembered until `wanted` is asked.
    """

    def __init__(self) -> None:
        self.number = 0  # of the signal that came last
        self._at_once = True  # nothing is half done

    @property
    def code(self) -> int:
        return 128 + self.number

    def wanted(self) -> bool:
        """Whether to stop; asked after each step."""
        self._at_once = False
        return self.number != 0

    def waiting(self, ask: Callable[..., Any]) -> Callable[..., Any]:
        """The same call, which waits for somebody: a signal in it, or before it, is a `Quit`."""
        from kernbrook.evaluation.training import Quit

        def asked(*question: Any) -> Any:
            self._at_once = True
            try:
                if self.number:
                    raise KeyboardInterrupt
                return ask(*question)
            except KeyboardInterrupt:
                raise Quit from None
            finally:
                self._at_once = False

        return asked

    @contextmanager
    def on_signals(self, notice: str) -> Iterator[None]:
        """A block in which this holds; stopped at once, it says so and ends the program."""

        def receive(number: int, frame: object) -> None:
            again, self.number = self.number != 0, number
            if self._at_once or again:
                raise KeyboardInterrupt

        before = {name: signal.signal(name, receive) for name in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        except KeyboardInterrupt:
            say(notice)
            raise typer.Exit(self.code) from None
        finally:
            for name, handler in before.items():
                signal.signal(name, handler)


Write = Callable[[Mapping[str, Any], Sequence[int]], None]
ENDINGS = ".csv", ".parquet", ".pq", ".jsonl", ".ndjson"
ROWS = 1 << 16  # that a Parquet file has together


def check_ending(path: Path, option: str) -> None:
    """InputError where a name does not say which format is wanted."""
    if path.suffix.lower() not in ENDINGS:
        endings = ", ".join(ENDINGS)
        raise InputError(f"{option}: expected a name that ends in one of {endings}, got {path}")


@contextmanager
def written(output: Path, shown: Callable[[str], str] = str) -> Iterator[Write]:
    """What takes columns, chunk by chunk, and leaves them in a file, or on standard output (-).

    It takes columns by name, of NumPy or Arrow, and how many empty rows stand before each row and
    after the last one. A file is replaced as a whole; its ending says the format. With another one,
    and on standard output, a column is one line for each row, and several are CSV, with texts as
    they are `shown`.
    """
    from kernbrook.atomic import replacing

    if str(output) == "-":
        with _standard_output() as out:
            yield _text(out, shown)
        return
    ending = output.suffix.lower()
    with replacing(output) as file:
        if ending in (".parquet", ".pq"):
            with _parquet(file) as write:
                yield write
        else:
            yield _json_lines(file) if ending in (".jsonl", ".ndjson") else _text(file, shown)


def _text(file: BinaryIO, shown: Callable[[str], str]) -> Write:
    begun = False

    def cell(value: Any) -> Any:
        if isinstance(value, (dict, list)):
            return json.dumps(value, default=str)
        return shown(value) if isinstance(value, str) else value

    def write(columns: Mapping[str, Any], blanks: Sequence[int] = ()) -> None:
        nonlocal begun
        rows = ([cell(value) for value in row] for row in _rows(columns, blanks, ""))
        lines = io.StringIO()
        if len(columns) == 1:
            lines.writelines(f"{only}\n" for (only,) in rows)
        else:
            writer = csv.writer(lines, lineterminator="\n")
            if not begun:
                writer.writerow(map(shown, columns))
            writer.writerows(rows)
        begun = True
        file.write(lines.getvalue().encode(errors="replace"))

    return write


def _json_lines(file: BinaryIO) -> Write:
    """An object a line; what JSON has no number for is null."""

    def write(columns: Mapping[str, Any], blanks: Sequence[int] = ()) -> None:
        for row in _rows(columns, blanks, None):
            values = {
                name: None if isinstance(value, float) and not math.isfinite(value) else value
                for name, value in zip(columns, row, strict=True)
            }
            line = json.dumps(values, ensure_ascii=False, default=str)
            file.write(line.encode(errors="replace") + b"\n")

    return write


@contextmanager
def _parquet(file: BinaryIO) -> Iterator[Write]:
    """A table, some thousand rows at a time; whole numbers beyond 64 bits are text."""
    from pyarrow.parquet import ParquetWriter

    kept: list[Any] = []
    writer: Any = None

    def typed(values: Any) -> Any:
        return [*map(str, values)] if str(getattr(values, "dtype", "")) == "object" else values

    def flush() -> None:
        nonlocal writer
        table = pa.concat_tables(kept)
        kept.clear()
        writer = writer or ParquetWriter(file, table.schema)
        writer.write_table(table)

    def write(columns: Mapping[str, Any], blanks: Sequence[int] = ()) -> None:
        table = pa.table({name: typed(values) for name, values in columns.items()})
        places = _spread(range(table.num_rows), blanks, None)
        kept.append(table.take(pa.array(places, pa.int64())))
        if sum(map(len, kept)) >= ROWS:
            flush()

    yield write
    if kept:
        flush()
    if writer is not None:
        writer.close()


def _rows(columns: Mapping[str, Any], blanks: Sequence[int], blank: Any) -> Iterator[Any]:
    values = (
        part.to_pylist() if hasattr(part, "to_pylist") else part.tolist()
        for part in columns.values()
    )
    return _spread(zip(*values, strict=True), blanks, (blank,) * len(columns))


def _spread(rows: Iterable[Any], blanks: Sequence[int], blank: Any) -> Iterator[Any]:
    """Rows, with so many blank ones before each, and after the last one."""
    left = iter(blanks)
    for row in rows:
        yield from [blank] * next(left, 0)
        yield row
    for more in left:
        yield from [blank] * more


def write_table(table: Any, path: Path, numbers: Iterable[str]) -> None:
    """Write an Arrow table, whole or not at all, in the format that the name's ending says.

    numbers : columns of text that are numbers, whole ones if they can, in formats that have such
    """
    from kernbrook.streams.records import without_gaps

    columns = dict(zip(table.column_names, table.columns, strict=True))
    for name in columns.keys() & set(numbers) if path.suffix.lower() != ".csv" else ():
        if pa.types.is_string(columns[name].type):
            text = without_gaps(columns[name].combine_chunks())
            for kind in (pa.float64(), pa.int64()):
                with suppress(pa.ArrowInvalid):
                    columns[name] = text.cast(kind)
    with written(path) as write:
        write(columns, ())


@contextmanager
def _standard_output() -> Iterator[BinaryIO]:
    try:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        # What could not be written must not be tried again at the end of the process.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise InputError(f"cannot write standard output: {error.strerror}") from error
