"""`kernbrook compare` and `kernbrook reproduce`: tables of many runs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from kernbrook.cli.options import (
    DataOptions,
    Jobs,
    Json,
    Orders,
    Report,
    Seed,
    Settings,
    SeveralData,
    Table,
    check_outputs,
    parameters,
    workers,
)
from kernbrook.cli.output import Progress, say, show_result
from kernbrook.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from kernbrook.evaluation.record import Comparison


NAMES = "label", "positive", "sep", "n_features", "max_bytes", "on_bad_rows"


def compare(
    data: SeveralData,
    recipes: Annotated[
        str | None,
        typer.Option(
            help="Recipes, separated by commas, each with settings where wanted, such as "
            "'spa(divisor=30),spa,bpas(budget=500)'; or all; by default a short list for the "
            "data's labels."
        ),
    ] = None,
    baselines: Annotated[
        str | None,
        typer.Option(help="Models of these libraries beside them: sklearn, river or both."),
    ] = None,
    permutations: Annotated[
        int | None,
        typer.Option(min=1, help="Random orders of the rows; 20 by default."),
    ] = None,
    settings: Settings = None,
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
    delay: Annotated[
        int, typer.Option(min=0, help="Rows that come between a row and its label.")
    ] = 0,
    every: Annotated[
        int, typer.Option(min=1, help="Labels come in batches, after each so many rows.")
    ] = 1,
    measure: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Compare by error, logloss or auc; of numbers by mse, rmse, mae or coverage of "
            "intervals that are to cover 90 %.",
        ),
    ] = None,
    table: Table = None,
    json: Json = None,
    report: Report = None,
    jobs: Jobs = None,
) -> None:
    """Compare recipes on the same orders of the same data.

    Prints a table of mistakes, support vectors and seconds: means and standard deviations over
    the orders. Stars mark the best. With --measure the table, the stars and the page are of another
    measure than mistakes; --json has them all. Labels asked for have a column where a recipe asks
    for fewer than all. A parameter given by --set goes to every recipe that has it and does not
    name it itself, such as --set scaling=moments or --set budget=100.

    With --delay or --every labels come late, as most do in use: each row is predicted by
    what was learned from the labels that were known by then.

    Of several data sets, which take the same options, each has its table, and one more has the
    recipes' ranks.

    Where a label is a number with a fraction, recipes for numbers are compared by their mean
    squared error. To take whole numbers as numbers, name such recipes: see `recipes`.
    """
    from kernbrook.evaluation.comparing import compare as run
    from kernbrook.evaluation.measures import measure_named
    from kernbrook.evaluation.parallel import load_orders
    from kernbrook.evaluation.recipes_wanted import Plan
    from kernbrook.reports import comparison_table, rendered
    from kernbrook.streams import open_stream

    read = [*data] if orders is None else [*data, str(orders)]
    check_outputs({"--json": json, "--report": report}, read)
    crew, rows = workers(jobs), DataOptions.of("compare", NAMES, table)
    plan = Plan(recipes, baselines, parameters(settings))
    if measure is not None:
        measure_named(measure)
    if "lags" in rows.columns:
        rows.columns.update({"delay": delay, "every": every} | rows.columns)
    encoder = rows.encoder()
    streams = [open_stream(name, seed=seed, encoder=encoder, **rows.read) for name in data]
    given = [None if orders is None else load_orders(orders, stream.name) for stream in streams]
    with Progress() as shown:
        results = [
            run(
                stream,
                plan,
                permutations=permutations,
                seed=seed,
                orders=known,
                jobs=crew,
                in_order=in_order,
                delay=delay,
                every=every,
                measure=measure,
                progress=partial(shown.announce, stream.name),
                compiling=shown.compiling,
                so_far=lambda part: shown.show(
                    lambda width: rendered(comparison_table(part), width)
                ),
            )
            for stream, known in zip(streams, given, strict=True)
        ]
    _show(results, json, report)


def _show(results: list[Comparison], json: Path | None, report: Path | None) -> None:
    """The tables, and of several data sets the ranks; JSON and a page where wanted."""
    from kernbrook import reports
    from kernbrook.evaluation.ranks import ranking

    tables, ranks = [reports.comparison_table(comparison) for comparison in results], None
    if len(results) > 1:
        try:
            ranks = ranking(results)
        except InputError as error:  # which must not cost the results
            say(f"kernbrook: {error}")
        else:
            tables.append(reports.ranking_table(ranks))
    alone = results[0] if len(results) == 1 else None
    show_result(
        json,
        lambda: (
            reports.comparison_json(alone) if alone else reports.comparisons_json(results, ranks)
        ),
        lambda width: reports.below_each_other(tables, width),
        report,
        lambda: (
            reports.comparison_page(alone) if alone else reports.comparisons_page(results, ranks)
        ),
    )


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
    report: Report = None,
    jobs: Jobs = None,
) -> None:
    """Run a published table again: printed value, our value, difference.

    Data sets are looked for in the folder that KERNBROOK_DATA names (NAME.libsvm, .xz), with
    the authors' orders in its omkc_permutations.npz, and among the built-in ones.
    """
    from kernbrook.checks import each_name
    from kernbrook.papers import published
    from kernbrook.papers import reproduce as run
    from kernbrook.reports import rendered, results_json

    read = [*each_name(data or ""), *([] if orders is None else [str(orders)])]
    check_outputs({"--json": json, "--report": report}, read)
    crew, wanted = workers(jobs), published(table)
    with Progress() as shown:
        result = run(
            table,
            data=data,
            permutations=permutations,
            seed=seed,
            orders=orders,
            jobs=crew,
            announce=shown.announce,
            rows=rows,
            compiling=shown.compiling,
        )
    show_result(
        json,
        lambda: results_json(result),
        lambda width: rendered(wanted.as_table(result), width),
        report,
        lambda: wanted.as_page(result),
    )
