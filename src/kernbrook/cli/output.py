"""What the commands write: messages, results, and progress while they work."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from kernbrook.errors import printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from kernbrook.evaluation.running.warming import Compiling, Tell
    from kernbrook.streams.tables.left_out_rows import BadRows

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
    json: Path | None, as_json: Callable[[], Any], as_table: Callable[[int], Any]
) -> None:
    """The table on standard output, or the JSON object; or the table there and JSON in a file.

    The table comes first: a file that cannot be written must not cost the result.
    """
    to_stdout = json is not None and str(json) == "-"
    if not to_stdout:
        console = terminal()
        console.print(as_table(console.width))
    if json is not None:
        write_json(json, as_json())


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
    from rich.console import Console

    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, 100)
    return console


class Progress(NamedTuple):
    """What a command shows on standard error while it works.

    announce : a name and a number of rounds in, what is called as they are done out
    reading : called with a text or what makes it, rows done, and rows in all or None
    compiling : called with how far compiling is, and with None where it has stopped
    show : shows a table above the bar, in place of the last one, where that is a terminal
    """

    announce: Callable[[str, int], Callable[[int], None]]
    reading: Callable[[str | Callable[[], str], int, int | None], None]
    compiling: Tell
    show: Callable[[Callable[[int], RenderableType]], None]


def telling(show: Callable[[str], None] | None) -> Tell:
    """What shows how far compiling is, "" where it has stopped; None to say once that it is on."""
    said = False

    def tell(state: Compiling | None) -> None:
        nonlocal said
        if show is not None:
            show("" if state is None else how_far(state))
        elif not said:
            said = True
            say(COMPILING)

    return tell


def how_far(state: Compiling) -> str:
    parts = f", {state.ready} of {state.parts} parts ready" if state.parts > 1 else ""
    return f"{COMPILING}: {state.seconds:.0f} s{parts}"


@contextmanager
def progress(data: str | None = None, hidden: bool = False) -> Iterator[Progress]:
    """A bar on standard error, and more, where that is a terminal; nothing but lines otherwise.

    Parameters
    ----------
    data : what is read, where the bar is one of `reading`
    hidden : whether to show nothing but lines on a terminal too
    """
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn
    from rich.progress import Progress as Bar
    from rich.progress import TimeRemainingColumn as Remaining

    console = terminal(stderr=True)
    above: list[RenderableType] = []
    compiling: list[str] = []

    class Shown(Bar):
        def get_renderables(self) -> Iterator[RenderableType]:
            yield from (*above, *compiling)
            yield from super().get_renderables()

    share = [] if data else [TaskProgressColumn()]  # for which a line about rows has no room
    bar = Shown(
        TextColumn("{task.description}", markup=False), BarColumn(), *share, Remaining(),
        console=console, disable=hidden or not console.is_terminal, transient=True,
    )  # fmt: skip
    if data is not None:
        bar.add_task(printable(f"reading {data}"), total=None)

    def announce(name: str, rounds: int) -> Callable[[int], None]:
        task = bar.add_task(printable(f"{name}: rounds"), total=rounds or None)
        return lambda done: bar.advance(task, done)

    def reading(text: str | Callable[[], str], done: int, rows: int | None) -> None:
        if not bar.disable:
            line = printable(text if isinstance(text, str) else text())
            bar.update(bar.task_ids[0], description=line, completed=done, total=rows)

    def show(table: Callable[[int], RenderableType]) -> None:
        if not bar.disable:
            above[:] = [table(console.width)]

    def say_so(line: str) -> None:
        compiling[:] = [line] if line else []

    with bar:
        yield Progress(announce, reading, telling(None if bar.disable else say_so), show)
