"""Reports as one HTML file each: no scripts, nothing loaded from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbrook.atomic import write_text
from kernbrook.reports import drawing, figures
from kernbrook.reports.as_json import plain
from kernbrook.reports.regression import error_columns, error_figure, label_columns, label_figure
from kernbrook.reports.summary import (
    Column,
    checked,
    comparison_columns,
    curve_columns,
    headline,
    many_kernels,
    notes,
    numbers,
    rank,
    shows_support,
    study_columns,
    verdict,
)
from kernbrook.reports.voted import (
    CELL_NOTES,
    sparsity_figure,
    voted_columns,
    weight_figure,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kernbrook.evaluation.records import Comparison, Row
    from kernbrook.evaluation.regression_records import ErrorCurves, LabelStudy
    from kernbrook.evaluation.reproduction_records import AccuracyCurves, ParameterStudy
    from kernbrook.evaluation.voted_records import VotedTable
    from kernbrook.reports.figures import Discounts


_STUDIED = {
    "cap": "SPA keeps an example with probability min(cap, loss) / divisor. The cap (alpha of the "
    "paper) bounds the chance of an example whose loss is large: a small one keeps few, beyond "
    "the losses that occur it changes nothing. Bands are one standard deviation either side.",
    "divisor": "The divisor (beta of the paper; the cap is 1) thins out all examples alike. "
    "Beside SPA, the algorithms with a budget for each kernel, which add up to as many support "
    "vectors as SPA has at that divisor.",
}


_CURVES = {
    "accuracy": (
        "Accuracy",
        "The share of the test part, which nothing is learned from, that is predicted rightly "
        "after so many examples. A dot is where a run was stopped, as in the paper.",
    ),
    "seconds": (
        "Seconds of learning",
        "Time against the number of examples, both on logarithmic axes: a line of slope 1 is "
        "linear. A dot is where a run was stopped, as in the paper.",
    ),
}


_FAMILIES = {
    "polynomial": ("polynomial kernels", "degree"),
    "gaussian": ("Gaussian kernels", "width"),
}


_OVER_TIME = {
    "classification": (
        "Mistakes over time",
        "The share of wrong predictions among the rounds so far, each made before its label was "
        "seen: lower is better, and falling means still learning.",
    ),
    "regression": (
        "Error over time",
        "The mean squared error of the rounds so far, each predicted before its label was seen: "
        "lower is better, and falling means still learning.",
    ),
}


@dataclass(frozen=True)
class Section:
    """A part of a page: a heading and, each if present, a text, a figure, a table and a note.

    Attributes
    ----------
    heading : short
    text : one paragraph above the rest
    figure : drawn as SVG; `heading` is what a screen reader says of it
    columns : of the table, all of one length
    strong : numbers, from 0, of the table's rows to emphasise
    note : one line below the rest
    """

    heading: str
    text: str = ""
    figure: Figure | None = None
    columns: Sequence[Column] = ()
    strong: frozenset[int] = frozenset()
    note: str | None = None


def write_report(comparison: Comparison, path: str | PathLike[str]) -> None:
    """Write a comparison as one HTML page: a summary, the table, figures, how to run it again.

    The same comparison gives the same bytes. The file is written whole or not at all.

    Parameters
    ----------
    comparison : at least one row, each with at least one run
    path : the file to write, in an existing folder

    Raises
    ------
    InputError
        if there is nothing to report, or the file cannot be written.
    """
    rows = checked(comparison).rows
    best = frozenset(i for i, row in enumerate(rows) if row.recipe in comparison.best)
    heading, text = _OVER_TIME[comparison.task]
    sections = [
        Section(
            "Results",
            _explained(comparison),
            columns=comparison_columns(comparison),
            strong=best,
            note="; ".join(notes(comparison)) or None,
        ),
        Section(heading, text, figures.learning_curves(comparison)),
    ]
    if shows_support(comparison):
        sections.append(
            Section(
                "Support vectors over time",
                "How much each recipe keeps: memory and time per prediction grow with it. "
                "Dotted lines count those that the prediction really uses, where they are fewer.",
                figures.support_vectors(comparison),
            )
        )
    many = many_kernels(comparison)
    if many:
        chosen = min(many, key=lambda row: rank(float(np.mean(row.errors))))
        sections += [
            Section(
                "Weights of the kernels over time",
                "How the trust moves between the kernels: one line that rises alone has found "
                "its kernel, lines that stay together share the vote.",
                figures.kernel_weights(comparison),
            ),
            Section(
                f"Final weights of {chosen.title}",
                "The best recipe with several kernels, at the end of the stream; "
                "means over the permutations.",
                columns=_weight_columns(chosen),
            ),
        ]
    write_page(
        f"Online learning on {comparison.data}",
        [*sections, _again(comparison.manifest)],
        path,
        subtitle=headline(comparison),
        summary=verdict(comparison).replace(" %", "\N{NO-BREAK SPACE}%"),
    )


def write_discount_report(
    curves: Discounts,
    path: str | PathLike[str],
    *,
    manifest: Mapping[str, Any] | None = None,
) -> None:
    """Write the effect of the discount as one HTML page, a panel for each data set.

    Parameters
    ----------
    curves : as for `discount_curve`
    path : the file to write, in an existing folder
    manifest : versions, seed, data hashes, command

    Raises
    ------
    InputError
        if there are no curves, or the file cannot be written.
    """
    picture = figures.discount_curve(curves)
    rows = [
        (data, title, discounts[least], mean[least])
        for data, lines in curves.items()
        for title, (discounts, mean, _) in lines.items()
        for least in [int(np.argmin(mean))]
    ]
    best = [
        Column("data", tuple(row[0] for row in rows)),
        Column("algorithm", tuple(row[1] for row in rows)),
        numbers("best discount", (row[2] for row in rows), "{:.2f}".format),
        numbers("mistakes %", (row[3] for row in rows), "{:.2f}".format),
    ]
    sections = [
        Section(
            "Mistakes against the discount",
            "A kernel that errs has its weight multiplied by the discount: small values trust "
            "the first kernel that does well, 1 never moves the weights. Each panel has its own "
            "vertical axis.",
            picture,
        ),
        Section("The discount with the fewest mistakes", columns=best),
        _again(manifest or {}),
    ]
    write_page("Effect of the discount", sections, path)


def write_study_report(study: ParameterStudy, path: str | PathLike[str]) -> None:
    """Write what SPA's cap and divisor do as one HTML page: figures, numbers.

    Parameters
    ----------
    study : with at least one point
    path : the file to write, in an existing folder

    Raises
    ------
    InputError
        if there are no points, or the file cannot be written.
    """
    sections = []
    for data in dict.fromkeys(point.data for point in study.points):
        for parameter, text in _STUDIED.items():
            own = [p for p in study.points if (p.data, p.parameter) == (data, parameter)]
            heading = f"The {parameter} on {data}"
            sections.append(Section(heading, text, figures.parameter_curves(own)))
    text = (
        "Means over the permutations ± one standard deviation, where there are several. "
        "#SV counts support vectors over all kernels, at the end of the stream."
    )
    sections += _numbers(study, text, *study_columns(study))
    write_page("The cap and the divisor of SPA", sections, path, subtitle=study.description)


def write_curve_report(result: AccuracyCurves, path: str | PathLike[str]) -> None:
    """Write curves of accuracy or of time as one HTML page: the figure, numbers.

    Parameters
    ----------
    result : at least one curve
    path : the file to write, in an existing folder

    Raises
    ------
    InputError
        if there are no curves, or the file cannot be written.
    """
    heading, text = _CURVES[result.shown]
    data = result.curves[0].data if result.curves else ""
    below = (
        f"{heading} after so many examples and at the end. #SV counts support vectors at the "
        "end; seconds are of learning alone. Means over the repetitions ± one standard "
        "deviation, where there are several."
    )
    sections = [
        Section(f"{heading} on {data}", text, figures.stream_length_curves(result)),
        *_numbers(result, below, curve_columns(result)),
    ]
    write_page("Multi-class Pegasos on a budget", sections, path, subtitle=result.description)


def write_label_report(study: LabelStudy, path: str | PathLike[str]) -> None:
    """Write what the criterion's threshold and window do as one HTML page: the figure, numbers.

    Parameters
    ----------
    study : at least one point
    path : the file to write, in an existing folder

    Raises
    ------
    InputError
        if there are no points, or the file cannot be written.
    """
    below = (
        "Means over draws of the features: labels in per cent of the rounds; MSE x 1e-3 over "
        "all rounds; random is the MSE of labels drawn at the same rate."
    )
    sections = [
        Section(
            "Labels and errors against the threshold",
            "A label is asked for where the kernels' predictions disagree by more than the "
            "threshold, or after M labels in a row that were not. The higher the threshold, the "
            "fewer labels, down to 1 / (M + 1) of them. At the right the two together: lower is "
            "better, further left is cheaper. Dotted lines are the same algorithms where as many "
            "labels are drawn at random, so what a criterion is worth is how far it lies below.",
            label_figure(study),
        ),
        *_numbers(study, below, *label_columns(study)),
    ]
    write_page("Labels where the kernels disagree", sections, path, subtitle=study.description)


def write_error_report(result: ErrorCurves, path: str | PathLike[str]) -> None:
    """Write errors over time as one HTML page: a figure a data set, numbers.

    Parameters
    ----------
    result : at least one curve
    path : the file to write, in an existing folder

    Raises
    ------
    InputError
        if there are no curves, or the file cannot be written.
    """
    sections = []
    for data in dict.fromkeys(curve.data for curve in result.curves):
        own = [curve for curve in result.curves if curve.data == data]
        text = _OVER_TIME["regression"][1]
        sections.append(Section(f"Error over time on {data}", text, error_figure(own)))
    text = (
        "Mean squared errors x 1e-3 after so many rounds and at the end ± one standard "
        "deviation over draws of the features; labels asked for, in per cent."
    )
    sections += _numbers(result, text, *error_columns(result))
    write_page("Regression with many kernels", sections, path, subtitle=result.description)


def write_voted_report(table: VotedTable, path: str | PathLike[str]) -> None:
    """Write the table of voted kernel regularization as one HTML page: figures, numbers.

    Parameters
    ----------
    table : at least one cell
    path : the file to write, in an existing folder

    Raises
    ------
    InputError
        if there are no cells, or the file cannot be written.
    """
    below = (
        "Test errors in per cent, and training points in use; means over the runs ± one standard "
        f"deviation. {'; '.join(CELL_NOTES)}."
    )
    sections = []
    for family, (kernels, number) in _FAMILIES.items():
        if any(cell.family == family for cell in table.cells):
            sections += [
                Section(
                    f"Sparsity against error, {kernels}",
                    "A line goes through the settings of the grid that err less on the validation "
                    "part than every one with fewer support vectors, and shows their errors on "
                    "the test part; the large dot is the setting that was chosen. Lower errs "
                    "less, further left is sparser.",
                    sparsity_figure(table, family),
                ),
                Section(
                    f"Weights by {number}",
                    "How the sum of the coefficients' sizes is shared between the kernels, at the "
                    "chosen setting. Complex kernels cost more, so that they are used where they "
                    "pay.",
                    weight_figure(table, family),
                ),
            ]
    columns, heads = voted_columns(table, digits=0)
    sections += _numbers(table, below, columns[:-1], heads)  # a page has no room for seconds
    write_page("Voted kernel regularization", sections, path, subtitle=table.description)


def write_page(
    title: str,
    sections: Sequence[Section],
    path: str | PathLike[str],
    *,
    subtitle: str = "",
    summary: str = "",
) -> None:
    """Write sections as one HTML file.

    Parameters
    ----------
    title : heading of the page
    sections : in their order
    path : the file to write, in an existing folder
    subtitle, summary : a line and a paragraph under the heading

    Raises
    ------
    InputError
        if the file cannot be written.
    """
    from importlib.resources import files

    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    source = files("kernbrook.reports").joinpath("page.html.jinja").read_text("utf-8")
    parts = [
        {
            "section": section,
            "rows": list(zip(*(column.cells for column in section.columns), strict=True)),
            # The only markup not escaped by the template: made by an XML serialiser.
            "svg": Markup(drawing.svg(section.figure, f"f{place}", section.heading))
            if section.figure is not None
            else "",
        }
        for place, section in enumerate(sections, start=1)
    ]
    page = environment.from_string(source).render(
        title=title, subtitle=subtitle, summary=summary, parts=parts
    )
    write_text(path, page)


def _explained(comparison: Comparison) -> str:
    """What the columns of a comparison mean."""
    text = "Means over the permutations ± one standard deviation."
    if comparison.task == "regression":
        text += " MSE is the mean squared error of all rounds, labels asked for or not."
    if shows_support(comparison):
        text += " #SV counts support vectors over all kernels, at the end of the stream."
    return text


def _weight_columns(row: Row) -> list[Column]:
    """Kernels of a recipe by final weight, the greatest first."""
    kernels = row.runs[0].history.kernels
    final = np.mean([run.history.kernel_weights[-1] for run in row.runs], axis=0)
    order = np.argsort(-final, kind="stable")
    greatest = max(float(np.nanmax(final, initial=0.0)), 1e-12)
    shares = np.nan_to_num(np.clip(final / greatest, 0, 1))
    return [
        Column("kernel", tuple(kernels[k] for k in order), "code"),
        numbers("weight", (final[k] for k in order), "{:.4f}".format),
        Column("", tuple(f"{shares[k]:.4f}" for k in order), "bar"),
    ]


def _numbers(
    result: ParameterStudy | AccuracyCurves | LabelStudy | ErrorCurves | VotedTable,
    text: str,
    columns: Sequence[Column],
    heads: Sequence[int] = (),
) -> list[Section]:
    """What stands below the pictures: a table, whose rows in `heads` are bold, and the manifest."""
    missing = [f"not present: {', '.join(result.missing)}"] if result.missing else []
    note = "; ".join([*result.remarks, *missing]) or None
    table = Section("The numbers", text, columns=columns, strong=frozenset(heads), note=note)
    return [table, _again(result.manifest)]


def _again(manifest: Mapping[str, Any]) -> Section:
    """How to run it again: the manifest, one line an entry, nested names joined by dots."""
    entries = dict(_flat(plain(dict(manifest))))
    if not entries:
        return Section("How to run it again", "No manifest was recorded with this run.")
    return Section(
        "How to run it again",
        "With the same command, versions, seed and data the numbers are the same, but for the "
        "seconds.",
        columns=[
            Column("what", tuple(entries)),
            Column("value", tuple(entries.values()), "long"),
        ],
    )


def _flat(value: Any, name: str = "") -> list[tuple[str, str]]:
    if isinstance(value, dict):
        return [
            pair
            for key, item in value.items()
            for pair in _flat(item, f"{name}.{key}" if name else str(key))
        ]
    return [(name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))]
