"""`kernbrook compare` and `kernbrook reproduce`: tables of many runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kernbrook.cli.options import (
    Data,
    Features,
    Jobs,
    Json,
    Label,
    MaxBytes,
    Orders,
    Positive,
    Report,
    Seed,
    Settings,
    check_targets,
    parameters,
)
from kernbrook.cli.output import progress, show_result
from kernbrook.errors import InputError


def compare(
    data: Data,
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
    json: Json = None,
    report: Report = None,
    positive: Positive = None,
    label: Label = None,
    n_features: Features = None,
    max_bytes: MaxBytes = None,
    jobs: Jobs = None,
) -> None:
    """Compare recipes on the same orders of the same data.

    Prints a table of mistakes, support vectors and seconds: means and standard deviations over
    the orders. Stars mark the best. Labels asked for have a column where a recipe asks for fewer
    than all. A parameter given by --set goes to every recipe that has it and does not name it
    itself, such as --set scaling=moments.

    Where a label is a number with a fraction, recipes for numbers are compared by their mean
    squared error. To take whole numbers as numbers, name such recipes: see `recipes`.
    """
    from kernbrook import recipes as book
    from kernbrook.evaluation.baselines import libraries_of
    from kernbrook.evaluation.choosing import choices_of, settings_of, wanted
    from kernbrook.evaluation.comparing import compare as run
    from kernbrook.evaluation.comparing import load_orders
    from kernbrook.reports import comparison_json, comparison_table, write_report
    from kernbrook.streams import open_stream

    check_targets(json, report)
    own = parameters(settings)
    rows = wanted(recipes)
    if rows is None:  # the data say which
        settings_of(book.names(), own)
    else:
        choices_of(rows, own)
    libraries_of(baselines)
    stream = open_stream(
        data,
        n_features=n_features,
        label=label,
        positive=positive,
        seed=seed,
        max_bytes=max_bytes,
    )
    given = None if orders is None else load_orders(orders, stream.name)
    with progress() as shown:
        result = run(
            stream,
            recipes,
            permutations=permutations,
            seed=seed,
            orders=given,
            jobs=jobs,
            in_order=in_order,
            baselines=baselines,
            progress=lambda rounds: shown.announce(stream.name, rounds),
            so_far=lambda part: shown.show(lambda width: comparison_table(part, width=width)),
            compiling=shown.compiling,
            **own,
        )
    show_result(
        json, lambda: comparison_json(result), lambda width: comparison_table(result, width=width)
    )
    if report is not None:
        write_report(result, report)
        typer.echo(f"wrote {report}", err=True)


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

    check_targets(json, report)
    if report is not None and "-figure-" not in table and table != "vkr-table-1":
        raise InputError(
            "--report goes with omkc-figure-4, bomkl-figure-1, vkr-table-1 and the figures of "
            f"bpegasos and amkl, not with {table}"
        )
    with progress() as shown:
        result = run(
            table,
            data=None if data is None else [name.strip() for name in data.split(",")],
            permutations=permutations,
            seed=seed,
            orders=orders,
            jobs=jobs,
            announce=shown.announce,
            rows=rows,
            compiling=shown.compiling,
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

    show_result(json, lambda: reproduction_json(result), as_table)
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
