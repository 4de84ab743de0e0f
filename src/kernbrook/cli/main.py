"""The command line. Results on standard output, progress and messages on standard error.

Heavy imports happen inside the commands, so that `--help` answers at once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from kernbrook.errors import InputError, KernbrookError

if TYPE_CHECKING:
    from rich.console import Console


class _Commands(TyperGroup):
    """The commands; typer itself would end without a word at Ctrl-C."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo("kernbrook: stopped", err=True)
            raise typer.Exit(130) from None


app = typer.Typer(
    name="kernbrook",
    cls=_Commands,
    help="Learn with many kernels on a stream.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Json = Annotated[
    Path | None, typer.Option("--json", help="Write the result as JSON; - for standard output.")
]
Jobs = Annotated[int | None, typer.Option(min=1, help="Processes; one a core by default.")]
Orders = Annotated[
    Path | None,
    typer.Option(help="The orders themselves: .npz of integer arrays (p, n), by data name."),
]
Report = Annotated[Path | None, typer.Option(help="Write a page with figures to this .html file.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the orders and of the recipes' draws.")]


@app.callback(invoke_without_command=True)
def _main(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        from kernbrook import __version__

        typer.echo(f"kernbrook {__version__}")
        raise typer.Exit


@app.command()
def compare(
    data: Annotated[
        str,
        typer.Argument(help="A file (svmlight, CSV; plain, .gz, .bz2, .xz) or a name: see `data`."),
    ],
    recipes: Annotated[
        str | None,
        typer.Option(help="Recipes, separated by commas; all for the data's labels by default."),
    ] = None,
    permutations: Annotated[
        int | None,
        typer.Option(min=1, help="Random orders of the rows; 20 by default."),
    ] = None,
    seed: Seed = 0,
    orders: Orders = None,
    in_order: Annotated[
        bool,
        typer.Option(
            "--in-order",
            help="One run in the data's own order, read in chunks; perceptron-best then chooses "
            "its kernel on the way.",
        ),
    ] = False,
    json: Json = None,
    report: Report = None,
    positive: Annotated[
        str | None, typer.Option(help="This label against the rest, for data of many classes.")
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="A CSV file's label column; else 'label', else the last.")
    ] = None,
    n_features: Annotated[
        int | None, typer.Option(min=1, help="Features of a svmlight file; else it is scanned.")
    ] = None,
    jobs: Jobs = None,
) -> None:
    """Compare recipes on the same orders of the same data.

    Prints a table of mistakes, support vectors and seconds: means and standard deviations over
    the orders. Stars mark the best. Labels asked for have a column where a recipe asks for fewer
    than all.

    Where a label is a number with a fraction, recipes for numbers are compared by their mean
    squared error. To take whole numbers as numbers, name such recipes: see `recipes`.
    """
    from kernbrook.evaluation.comparing import compare as run
    from kernbrook.evaluation.comparing import load_orders, task_of_recipes
    from kernbrook.reports import comparison_json, comparison_table, write_report
    from kernbrook.streams import open_stream

    _check_targets(json, report)
    names = None if recipes is None else [name.strip() for name in recipes.split(",")]
    if names is not None:
        task_of_recipes(names)
    stream = open_stream(data, n_features=n_features, label=label, positive=positive, seed=seed)
    given = None if orders is None else load_orders(orders, stream.name)
    with _progress() as announce:
        result = run(
            stream,
            names,
            permutations=permutations,
            seed=seed,
            orders=given,
            jobs=jobs,
            in_order=in_order,
            progress=lambda rounds: announce(stream.name, rounds),
        )
    _show(
        json, lambda: comparison_json(result), lambda width: comparison_table(result, width=width)
    )
    if report is not None:
        write_report(result, report)
        typer.echo(f"wrote {report}", err=True)


@app.command()
def reproduce(
    table: Annotated[
        str,
        typer.Argument(
            help="omkc-table-3, omkc-table-4, omkc-table-5, omkc-figure-4, bomkl-table-1, "
            "bomkl-table-2, bomkl-figure-1, bpegasos-table-1, bpegasos-figure-1, -2 or -3, "
            "amkl-table-2, amkl-table-3, amkl-figure-2, amkl-figure-3 or vkr-table-1."
        ),
    ],
    data: Annotated[
        str | None, typer.Option(help="Data sets, separated by commas; all present by default.")
    ] = None,
    permutations: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Orders; 20 by default for omkc, 10 for bomkl, 5 for its figure and for bpegasos, "
            "1 for the figures of the latter. For amkl draws of the random features, 5 by default; "
            "for vkr draws of the five folds, 1 by default.",
        ),
    ] = None,
    rows: Annotated[
        int | None,
        typer.Option(min=1, help="bpegasos, amkl, vkr: examples at most, to try it out."),
    ] = None,
    seed: Seed = 0,
    orders: Orders = None,
    json: Json = None,
    report: Annotated[
        Path | None,
        typer.Option(help="A figure, or vkr-table-1: write its page to this .html file."),
    ] = None,
    jobs: Jobs = None,
) -> None:
    """Run a published table again: printed value, our value, difference.

    Data sets are looked for in the folder that KERNBROOK_DATA names (NAME.libsvm, .xz), with
    the authors' orders in its omkc_permutations.npz, and among the built-in ones.
    """
    from kernbrook.evaluation.regression_records import ErrorCurves, LabelStudy, RegressionTable
    from kernbrook.evaluation.reproducing import reproduce as run
    from kernbrook.evaluation.reproduction_records import (
        AccuracyCurves,
        AccuracyTable,
        DiscountCurves,
        ParameterStudy,
        Reproduction,
    )
    from kernbrook.evaluation.voted_records import VotedTable
    from kernbrook.reports import (
        accuracy_table,
        curve_table,
        discount_table,
        error_table,
        label_table,
        ratio_table,
        regression_table,
        reproduction_json,
        reproduction_table,
        study_table,
        voted_table,
        write_curve_report,
        write_discount_report,
        write_error_report,
        write_label_report,
        write_study_report,
        write_voted_report,
    )

    _check_targets(json, report)
    if report is not None and "-figure-" not in table and table != "vkr-table-1":
        raise InputError(
            "--report goes with omkc-figure-4, bomkl-figure-1, vkr-table-1 and the figures of "
            f"bpegasos and amkl, not with {table}"
        )
    with _progress() as announce:
        result = run(
            table,
            data=None if data is None else [name.strip() for name in data.split(",")],
            permutations=permutations,
            seed=seed,
            orders=orders,
            jobs=jobs,
            announce=announce,
            rows=rows,
        )

    def as_table(width: int) -> Any:
        if isinstance(result, Reproduction):
            return reproduction_table(result, width=width)
        if isinstance(result, AccuracyTable):
            return accuracy_table(result, width=width)
        if isinstance(result, AccuracyCurves):
            return curve_table(result)
        if isinstance(result, ParameterStudy):
            return study_table(result)
        if isinstance(result, RegressionTable):
            return regression_table(result, width=width)
        if isinstance(result, LabelStudy):
            return label_table(result)
        if isinstance(result, ErrorCurves):
            return error_table(result)
        if isinstance(result, VotedTable):
            return voted_table(result, width=width)
        return discount_table(result) if isinstance(result, DiscountCurves) else ratio_table(result)

    _show(json, lambda: reproduction_json(result), as_table)
    if report is not None:
        if isinstance(result, ParameterStudy):
            write_study_report(result, report)
        elif isinstance(result, AccuracyCurves):
            write_curve_report(result, report)
        elif isinstance(result, LabelStudy):
            write_label_report(result, report)
        elif isinstance(result, ErrorCurves):
            write_error_report(result, report)
        elif isinstance(result, VotedTable):
            write_voted_report(result, report)
        elif isinstance(result, DiscountCurves):
            write_discount_report(result.curves, report, manifest=result.manifest)
        typer.echo(f"wrote {report}", err=True)


@app.command()
def data() -> None:
    """List the data that is known by name."""
    from kernbrook.streams import describe_stream, stream_names

    for name in stream_names():
        typer.echo(f"{name:16} {describe_stream(name)}")
    typer.echo(
        "\nNAME:N gives N rows. A NAME.libsvm or NAME.libsvm.xz in the folder that KERNBROOK_DATA "
        "names is known as NAME."
    )


@app.command()
def recipes() -> None:
    """List the recipes, and whether they predict classes or numbers.

    Those marked batch learn from all data at once: they go with `reproduce`, and in Python with
    fit and predict, but not with `compare`, `train` and `label`.
    """
    from kernbrook.models import recipes as book

    for name in book.names():
        note = " (batch)" if book.batch(name) else ""
        typer.echo(f"{name:20} {book.task(name):7}  {book.title(name)}{note}")


def _check_targets(*paths: Path | None) -> None:
    """Refuse now what would fail after the work: a folder that is not there."""
    for path in paths:
        if path is not None and str(path) != "-" and not path.absolute().parent.is_dir():
            raise InputError(f"cannot write {path}: there is no folder {path.absolute().parent}")


def _show(json: Path | None, as_json: Callable[[], Any], as_table: Callable[[int], Any]) -> None:
    """The table on standard output, or the JSON object; or the table there and JSON in a file.

    The table comes first: a file that cannot be written must not cost the result.
    """
    to_stdout = json is not None and str(json) == "-"
    if not to_stdout:
        console = _console()
        console.print(as_table(console.width))
    if json is not None:
        from json import dumps

        from kernbrook.atomic import write_text

        text = dumps(as_json(), allow_nan=False, ensure_ascii=False)
        if to_stdout:
            typer.echo(text)
        else:
            write_text(json, text + "\n")


def _console(stderr: bool = False) -> Console:
    from rich.console import Console

    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, 100)
    return console


@contextmanager
def _progress() -> Iterator[Callable[[str, int], Callable[[int], None]]]:
    """A bar on standard error where that is a terminal; nothing otherwise."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    console = _console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), Remaining(),
        console=console, disable=not console.is_terminal, transient=True,
    )  # fmt: skip
    with bar:

        def announce(name: str, rounds: int) -> Callable[[int], None]:
            task = bar.add_task(f"{name}: rounds", total=rounds or None)
            return lambda done: bar.advance(task, done)

        yield announce


def run() -> None:
    """The program: errors in one line on standard error, exit codes 0, 1 and 2."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        app()
    except KernbrookError as error:
        typer.echo(f"kernbrook: {error}", err=True)
        sys.exit(1)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:
        typer.echo(f"kernbrook: {error}", err=True)
        sys.exit(1)


# At the end, because these commands use what is above.
from kernbrook.cli import labelling, training  # noqa: E402, F401
