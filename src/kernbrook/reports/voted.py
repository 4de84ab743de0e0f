"""Columns and figures of the paper on voted kernel regularization."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kernbrook.errors import InputError
from kernbrook.reports import drawing
from kernbrook.reports.drawing import Pen, in_house_style
from kernbrook.reports.summary import Column, Groups, aligned, mark, seconds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kernbrook.evaluation.voted_records import Setting, VotedCell, VotedTable

STARS = {5: "**", 10: "*"}
CELL_NOTES = (
    "! more than two printed deviations; p: of a paired t-test that it errs less than the better "
    "of L1 SVM and L2 SVM, ** at 5 %, * at 10 %",
    "chosen: of least mean validation error",
)
SECONDS_NOTE = "seconds: of the whole grid, five runs"
OVER = 2.5  # times the greatest chosen error: what errs more runs off the figure
FLOOR = 0.5  # support vectors, on a logarithmic axis


def voted_columns(
    table: VotedTable, *, digits: int = 1, deviations: bool = True
) -> tuple[list[Column], list[int]]:
    """Columns of errors and support vectors, and the rows that name a data set and a family.

    The support vectors have so many digits, and their deviations where told; the last columns are
    the chosen settings and the seconds.
    """
    cells = table.cells
    groups = Groups((f"{cell.data}, {cell.family}", cell.title) for cell in cells)

    printed = [(c.error_printed, c.error_printed_std) for c in cells]
    printed_sizes = [(c.n_support_printed, c.n_support_printed_std) for c in cells]
    errors = aligned([(c.error, c.error_std) for c in cells], 2)
    sizes = aligned([(c.n_support, c.n_support_std if deviations else None) for c in cells], digits)
    if not deviations:
        printed_sizes = [(mean, None) for mean, _ in printed_sizes]
    chosen = groups.numbers("chosen", (chosen_text(cell.chosen) for cell in cells))
    columns = [
        Column("algorithm", groups.names),
        groups.numbers("error %\nprinted", _where_printed(printed, 2)),
        groups.numbers("\nours", _marked(errors, (c.error_agrees for c in cells))),
        groups.numbers("\np", (_tested(cell) for cell in cells)),
        groups.numbers("#SV\nprinted", _where_printed(printed_sizes, digits)),
        groups.numbers("\nours", _marked(sizes, (c.n_support_agrees for c in cells))),
        Column("chosen", chosen.cells, "code"),
        groups.numbers("seconds", (c.seconds for c in cells), seconds),
    ]
    return columns, groups.heads


def chosen_text(chosen: Sequence[Setting]) -> str:
    """The setting that was chosen, the most frequent one of several draws.

    Examples
    --------
    >>> chosen_text([{"lam": 0.01, "beta": 1e-6}])
    'lam 0.01, beta 1e-6'
    >>> chosen_text([{"degree": 3.0, "C": 100.0}, {"degree": 2.0, "C": 1.0}] * 2)
    'degree 3, C 100 (2 of 4)'
    """
    texts = [", ".join(f"{name} {_short(value)}" for name, value in one.items()) for one in chosen]
    text, times = Counter(texts).most_common(1)[0]
    return text if times == len(texts) else f"{text} ({times} of {len(texts)})"


@in_house_style
def sparsity_figure(table: VotedTable, family: str) -> Figure:
    """Test errors against support vectors, a panel for each data set, a line for each algorithm.

    A line joins the settings that err less on the validation part than every one with fewer
    support vectors; a dot is what was chosen. What errs far more runs off at the top.

    Parameters
    ----------
    table : with cells of that family
    family : "polynomial" or "gaussian"

    Returns
    -------
    a figure 6.4 inches wide

    Raises
    ------
    InputError
        if there are no cells of that family.
    """
    from matplotlib.ticker import LogLocator, NullFormatter

    by_data = _by_data(table, family)
    pens = _pens(table, by_data)
    picture, panels = drawing.panels(len(by_data), pens, sharey=False)
    for axes, (data, own) in zip(panels, by_data.items(), strict=True):
        seen = []
        for title, cell in own.items():
            points = [p for p in cell.frontier if p.n_support >= FLOOR]
            sizes, errors = ([getattr(p, name) for p in points] for name in ("n_support", "error"))
            axes.plot(sizes, errors, marker=".", markersize=3, **pens[title].options())
            seen += errors
        for title, cell in own.items():
            axes.plot(
                max(cell.n_support, FLOOR), cell.error, "o", color=pens[title].color, markersize=6,
                markeredgecolor="white", markeredgewidth=0.8, zorder=4, clip_on=False,
            )  # fmt: skip
        chosen = [cell.error for cell in own.values()]
        high = min(max(seen + chosen), OVER * max(chosen))
        low = min(seen + chosen)
        axes.set_ylim(max(0.0, low - 0.1 * (high - low)), high + 0.05 * (high - low) + 1e-9)
        axes.set_xscale("log")
        drawing.dress(axes)
        drawing.few_ticks(axes)
        left, right = axes.get_xlim()
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if right < 60 * left else (1,)))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_title(drawing.label_text(data), loc="left")
    picture.supxlabel("support vectors (log scale)")
    picture.supylabel("test error (%)")
    return picture


@in_house_style
def weight_figure(table: VotedTable, family: str) -> Figure:
    """The share of each kernel in the sum of |alpha|, a panel for each data set, means of the runs.

    Parameters and errors are those of `sparsity_figure`.
    """
    by_data = {
        data: {title: cell for title, cell in own.items() if cell.weights is not None}
        for data, own in _by_data(table, family).items()
    }
    pens = _pens(table, by_data)
    picture, panels = drawing.panels(len(by_data), _filled(pens), sharey=True)
    places = np.arange(len(table.pools[family]))
    width = 0.8 / len(pens)
    for n, (axes, (data, own)) in enumerate(zip(panels, by_data.items(), strict=True)):
        for k, (title, pen) in enumerate(pens.items()):
            if title in own:
                shift = (k - (len(pens) - 1) / 2) * width
                axes.bar(places + shift, own[title].weights, width, color=pen.color)
        axes.set_title(drawing.label_text(data), loc="left")
        drawing.dress(axes)
        axes.set_ylim(0, 1)
        axes.set_xticks(places, _places(table, family))
        axes.tick_params(axis="x", length=0)
        axes.tick_params(axis="y", labelleft=n % drawing.PANELS == 0 or len(by_data) == 4)
    picture.supxlabel({"polynomial": "degree", "gaussian": "gamma (power of ten)"}[family])
    picture.supylabel("share of the coefficients")
    return picture


def _by_data(table: VotedTable, family: str) -> dict[str, dict[str, VotedCell]]:
    """Data -> title -> cell, voted kernel regularization first."""
    found: dict[str, dict[str, VotedCell]] = {}
    for cell in reversed(table.cells):
        if cell.family == family:
            found.setdefault(cell.data, {})[cell.title] = cell
    if not found:
        raise InputError(f"expected cells of {family} kernels, found none")
    return dict(reversed(found.items()))


def _pens(table: VotedTable, by_data: dict[str, dict[str, VotedCell]]) -> dict[str, Pen]:
    """Those of the titles that are drawn; a title has the same in every figure."""
    titles = list(dict.fromkeys(cell.title for cell in table.cells))[::-1]
    drawn = {title for own in by_data.values() for title in own}
    pens = zip(titles, drawing.pens([False] * len(titles)), strict=True)
    return {title: pen for title, pen in pens if title in drawn}


def _filled(pens: dict[str, Pen]) -> dict[str, Pen]:
    """For the legend of bars."""
    return {title: Pen(pen.color, "-", 5.0) for title, pen in pens.items()}


def _places(table: VotedTable, family: str) -> list[str]:
    values = np.array(table.pools[family])
    return [f"{value:.0f}" for value in (values if family == "polynomial" else np.log10(values))]


def _where_printed(
    pairs: Sequence[tuple[float | None, float | None]], digits: int
) -> list[str | None]:
    """Cells as of `aligned`, None where nothing is printed."""
    texts = iter(aligned([(mean, std) for mean, std in pairs if mean is not None], digits))
    return [None if mean is None else next(texts) for mean, _ in pairs]


def _short(value: float) -> str:
    text, power = f"{value:g}", f"{value:.0e}"
    text = power if len(power) < len(text) and float(power) == value else text
    return text.replace("e-0", "e-").replace("e+0", "e")


def _marked(texts: Sequence[str], agrees: Iterable[bool | None]) -> list[str]:
    return [text + mark(fine) for text, fine in zip(texts, agrees, strict=True)]


def _tested(cell: VotedCell) -> str | None:
    if cell.p_value is None:
        return None
    return f"{cell.p_value:.2f}{STARS.get(cell.level or 0, ''):<2}"
