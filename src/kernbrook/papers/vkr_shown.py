"""How table 1 of the paper on voted kernel regularization is shown: table and figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from kernbrook.papers.published import SECONDS, SUPPORT, names_of
from kernbrook.reports import drawing
from kernbrook.reports.drawing import Pen
from kernbrook.reports.page import Section
from kernbrook.reports.plot import Line, Panel, Plot
from kernbrook.reports.table import Column, Table, of_cells
from kernbrook.results import Cell, Measure, Results, grouped

ERROR = Measure("error", "error %")
Setting = dict[str, float]  # lam and beta, or degree or gamma with beta or C
STARS = {5: "**", 10: "*"}  # per cent
OVER = 2.5  # times the greatest chosen error: what errs more runs off the figure
FLOOR = 0.5  # support vectors, on a logarithmic axis
NOTES = (
    "p: of a paired t-test that it errs less than the better of L1 SVM and L2 SVM, ** at 5 %, * at "
    "10 %",
    "chosen: of least mean validation error",
    "seconds: of the whole grid, five runs",
)


def level(cell: Cell) -> int | None:
    """5 or 10: the per cent at which it errs less than the other algorithms, if so."""
    p = cell.facts.get("p_value")
    return None if p is None or p > 0.1 else 5 if p <= 0.05 else 10


def table(results: Results) -> Table:
    cells = results.cells
    tests = tuple(cell.facts.get("p_value") for cell in cells)
    stars = tuple(STARS.get(level(cell) or 0, "") for cell in cells)
    chosen = tuple(chosen_text(cell.facts["chosen"]) for cell in cells)
    columns = [
        names_of(cells),
        *of_cells(cells, ERROR, "printed ours"),
        Column("p", tests, "{:.2f}".format, marks=stars, group=ERROR.header),
        *of_cells(cells, SUPPORT, "printed ours", rough=2),
        Column("chosen", chosen, kind="code", spare=1),
        *of_cells(cells, SECONDS, spare=2),
    ]
    groups = tuple(f"{cell['data']}, {cell['family']}" for cell in cells)
    strong = frozenset(i for i, cell in enumerate(cells) if level(cell) == 5)
    return Table(tuple(columns), groups, strong, NOTES)


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


def _short(value: float) -> str:
    text, power = f"{value:g}", f"{value:.0e}"
    text = power if len(power) < len(text) and float(power) == value else text
    return text.replace("e-0", "e-").replace("e+0", "e")


def plots(results: Results) -> list[Section]:
    """Of each family sparsity against error, and the weights of the kernels."""
    titles = list(dict.fromkeys(cell["title"] for cell in results.cells))[::-1]
    pens = drawing.pens_of(titles)
    sections = []
    for family, cells in grouped(results.cells, lambda cell: cell["family"]).items():
        name, number = {
            "polynomial": ("polynomial kernels", "degree"),
            "gaussian": ("Gaussian kernels", "width"),
        }[family]  # fmt: skip
        own = {title: pen for title, pen in pens.items() if any(c["title"] == title for c in cells)}
        by_data = grouped(reversed(cells), lambda cell: cell["data"])
        by_data = dict(reversed(by_data.items()))
        sections += [
            Section(
                f"Sparsity against error, {name}",
                "A line goes through the settings of the grid that err less on the validation part "
                "than every one with fewer support vectors, and shows their errors on the test "
                "part; the large dot is the setting that was chosen. Lower errs less, further left "
                "is sparser.",
                Plot(
                    [_sparsity(data, those) for data, those in by_data.items()], own,
                    x_label="support vectors (log scale)", y_label="test error (%)",
                ),
            ),
            Section(
                f"Weights by {number}",
                "How the sum of the coefficients' sizes is shared between the kernels, at the "
                "chosen setting. Complex kernels cost more, so that they are used where they pay.",
                _weights(family, by_data, own),
            ),
        ]  # fmt: skip
    return sections


def _sparsity(data: str, cells: Sequence[Cell]) -> Panel:
    lines, dots, seen = [], [], []
    for cell in cells:
        points = [p for p in cell.facts["frontier"] if p["n_support"] >= FLOOR]
        sizes, errors = ([p[name] for p in points] for name in ("n_support", "error"))
        lines.append(Line(cell["title"], sizes, errors, marker=".", size=3))
        place = [max(cell.mean("n_support"), FLOOR)], [cell.mean("error")]
        dots.append(Line(cell["title"], *place, marker="o", size=6, joined=False))
        seen += errors
    chosen = [cell.mean("error") for cell in cells]
    high, low = min(max(seen + chosen), OVER * max(chosen)), min(seen + chosen)
    limits = max(0.0, low - 0.1 * (high - low)), high + 0.05 * (high - low) + 1e-9
    return Panel([*lines, *dots], data, x_scale="log", y_limits=limits)


def _weights(family: str, by_data: dict[str, list[Cell]], pens: dict[str, Pen]) -> Plot:
    voted = [
        t for t in pens if any("weights" in c.facts and c["title"] == t for c in _all(by_data))
    ]
    values = np.array(_all(by_data)[0].facts["kernels"])
    places, width = np.arange(len(values)), 0.8 / len(voted)
    names = [f"{value:.0f}" for value in (values if family == "polynomial" else np.log10(values))]
    panels = []
    for data, cells in by_data.items():
        bars = [
            Line(
                cell["title"],
                places + (voted.index(cell["title"]) - (len(voted) - 1) / 2) * width,
                cell.facts["weights"],
                bar=width,
            )
            for cell in cells
            if "weights" in cell.facts
        ]
        panels.append(Panel(bars, data, y_limits=(0, 1), ticks=(places, names)))
    label = {"polynomial": "degree", "gaussian": "gamma (power of ten)"}[family]
    filled = {title: Pen(pens[title].color, "-", 5.0) for title in voted}
    return Plot(panels, filled, x_label=label, y_label="share of the coefficients", sharey=True)


def _all(by_data: dict[str, list[Cell]]) -> list[Cell]:
    return [cell for cells in by_data.values() for cell in cells]
