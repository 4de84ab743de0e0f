"""What the commands share: options, checks of paths, messages, results and progress."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from kernbrook.errors import InputError, printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from kernbrook.evaluation.warming import Compiling, Tell

COMPILING = "compiling, once for this machine"
MOST_SEED = 2**32 - 1  # that NumPy's older generators take
MOST_FEATURES = 2**31 - 1  # that a sparse matrix has columns for

Data = Annotated[
    str,
    typer.Argument(
        help="A file (svmlight, CSV; plain, .gz, .bz2, .xz), - for standard input, or a name: see "
        "`data`."
    ),
]
MaxBytes = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="BYTES",
        help="The most text to read; else the limits are 256 MiB unpacked, or 100 times the file, "
        "and 16 GiB from a pipe.",
    ),
]
Json = Annotated[
    Path | None, typer.Option("--json", help="Write the result as JSON; - for standard output.")
]
Jobs = Annotated[int | None, typer.Option(min=1, help="Processes; one a core by default.")]
Orders = Annotated[
    Path | None,
    typer.Option(help="The orders themselves: .npz of integer arrays (p, n), by data name."),
]
Report = Annotated[Path | None, typer.Option(help="Write a page with figures to this .html file.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the recipe; repeatable."),
]
Seed = Annotated[
    int,
    typer.Option(min=0, max=MOST_SEED, help="Seed of the orders and of the recipes' draws."),
]


def say(text: str) -> None:
    """A message, in a line on standard error; names in it cannot command the terminal."""
    typer.echo(printable(text), err=True)


def check_targets(target: Path | None, report: Path | None = None) -> None:
    """Refuse now what would fail after the work: a folder that is not there, a page's odd name."""
    if report is not None and report.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"--report: expected a name that ends in .html, got {report}")
    for path in (target, report):
        if path is not None and str(path) != "-" and not path.absolute().parent.is_dir():
            raise InputError(f"cannot write {path}: there is no folder {path.absolute().parent}")


def check_not_read(option: str, target: Path, source: str) -> None:
    if (
        source != "-"
        and target.exists()
        and os.path.exists(source)
        and os.path.samefile(target, source)
    ):
        raise InputError(f"{option}: {target} is read by this command, and would be replaced")


def parameters(given: list[str] | None, budget: int | None = None) -> dict[str, Any]:
    """A recipe's parameters out of --set and --budget."""
    settings: dict[str, Any] = {}
    for text in given or []:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals):
            raise InputError(f"--set: expected NAME=VALUE, got {text!r}")
        if name == "random_state":
            raise InputError("--set random_state: use --seed")
        settings[name] = _value(value)
    if budget is not None:
        settings["budget"] = budget
    return settings


def _value(text: str) -> Any:
    """None, a truth value or a number where it is written like one, else the text."""
    if text.lower() in ("none", "true", "false"):
        return {"none": None, "true": True, "false": False}[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


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
        from json import dumps

        from kernbrook.atomic import write_text

        escaped = to_stdout and sys.stdout.isatty()
        text = dumps(as_json(), allow_nan=False, ensure_ascii=escaped)
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
    compiling : called with how far compiling is, and with None where it has stopped
    show : shows a table above the bar, in place of the last one, where that is a terminal
    """

    announce: Callable[[str, int], Callable[[int], None]]
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
def progress() -> Iterator[Progress]:
    """A bar on standard error, and more, where that is a terminal; nothing but lines otherwise."""
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

    bar = Shown(
        TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(),
        Remaining(), console=console, disable=not console.is_terminal, transient=True,
    )  # fmt: skip

    def announce(name: str, rounds: int) -> Callable[[int], None]:
        task = bar.add_task(printable(f"{name}: rounds"), total=rounds or None)
        return lambda done: bar.advance(task, done)

    def show(table: Callable[[int], RenderableType]) -> None:
        if not bar.disable:
            above[:] = [table(console.width)]

    def say_so(line: str) -> None:
        compiling[:] = [line] if line else []

    with bar:
        yield Progress(announce, telling(None if bar.disable else say_so), show)
