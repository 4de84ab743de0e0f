"""How the measures of a comparison are shown: heads of columns, axes, scales, words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kernbrook.evaluation.measures import OF_SIZES
from kernbrook.reports.table import fixed
from kernbrook.results import Estimate

if TYPE_CHECKING:
    from kernbrook.evaluation.record import Comparison, Row

STAR_NOTE_ALONE = "* fewest mistakes; one permutation allows no test"
NAMES = {
    "error": "error", "log_loss": "log loss", "auc": "AUC", "mse": "mean squared error",
    "rmse": "RMSE", "mae": "MAE", "coverage": "coverage", "width": "mean width",
}  # fmt: skip
MEANING = {
    "mse": "MSE is the mean squared error",
    "rmse": "RMSE is the root of the mean squared error",
    "mae": "MAE is the mean absolute error",
    "log_loss": "log loss is the mean of minus the logarithm of each label's probability",
    "auc": "AUC is the share of pairs of unlike labels that are ranked rightly",
    "coverage": "covered % is the share of the labels in intervals that are to cover 90 %",
}
IN_PERCENT = ("error", "coverage")
DIGITS = {"log_loss": "{:.4f}", "auc": "{:.3f}"}
BEST = {"auc": "greatest", "coverage": "best"}  # else the least
_PREDICTED = "each predicted before its label was seen: lower is better, and falling means still "
_OF_ROUNDS = "of the rounds so far"
OVER_TIME = {
    "error": (
        "Mistakes over time",
        "The share of wrong predictions among the rounds so far, each made before its label was "
        "seen: lower is better, and falling means still learning.",
    ),
    "log_loss": (
        "Log loss over time",
        f"How surprising the labels {_OF_ROUNDS} were to the probabilities, {_PREDICTED}learning.",
    ),
    "auc": (
        "AUC over time",
        f"How often, {_OF_ROUNDS}, a row of the second class ranks above one of the first, each "
        "before its label was seen: higher is better, and 0.5 is chance.",
    ),
    "mse": ("Error over time", f"The mean squared error {_OF_ROUNDS}, {_PREDICTED}learning."),
    "rmse": (
        "Error over time",
        f"The root of the mean squared error {_OF_ROUNDS}, {_PREDICTED}learning.",
    ),
    "mae": ("Error over time", f"The mean absolute error {_OF_ROUNDS}, {_PREDICTED}learning."),
    "coverage": (
        "Coverage over time",
        f"The share of the labels {_OF_ROUNDS} that lay in their intervals, each made before its "
        "label was seen: the nearer to 90 % the better.",
    ),
}


def measure_value(name: str, value: float) -> str:
    """A measure in a text; error and coverage are given as shares.

    Examples
    --------
    >>> measure_value("error", 0.2727), measure_value("auc", 0.62412), measure_value("mae", 1851.3)
    ('27.27 %', '0.624', '1851')
    """
    return f"{measure_cell(name, value)} %" if name in IN_PERCENT else measure_cell(name, value)


def measure_cell(name: str, value: float) -> str:
    """A measure in a column; what is a share is in per cent."""
    if name in IN_PERCENT:
        return f"{100 * value:.2f}"
    return DIGITS.get(name, "{:.4g}").format(value)


class MeasureForm(NamedTuple):
    """How the measure that a comparison goes by is shown.

    measure : its name
    header : of its column
    axis : of its figure, for the rounds so far
    scale : what the value of a `Record` is multiplied by
    digits : behind the point
    unit : behind a number in a text
    """

    measure: str
    header: str
    axis: str
    scale: float = 1.0
    digits: int = 4
    unit: str = ""

    def text(self, value: float) -> str:
        """The value of a `Record`, or a mean of them, in a text."""
        return f"{fixed(self.scale * value, self.digits)}{self.unit}"

    def estimate(self, row: Row) -> Estimate | None:
        """Of the runs of a row; None where one of them has not the measure."""
        values = self.scale * row.measured(self.measure)
        return None if np.isnan(values).any() else Estimate.of(values)


def form_of(comparison: Comparison) -> MeasureForm:
    """Shares in per cent; sizes of errors in a power of ten, four digits of the least mean."""
    by = comparison.by
    if by == "error":
        axis = "mistakes so far (% of the rounds)"
        return MeasureForm(by, "mistakes %", axis, 100.0, 2, " %")
    if by == "coverage":
        axis = "labels in their intervals so far (%)"
        return MeasureForm(by, "covered %", axis, 100.0, 2, " %")
    if by not in OF_SIZES:
        return MeasureForm(by, NAMES[by], f"{NAMES[by]} so far")
    means = [float(np.mean(row.measured(by))) for row in comparison.rows]
    least = min((mean for mean in means if 0 < mean < math.inf), default=1.0)
    power = 0 if 0.1 <= least < 1000 else 3 * math.floor(math.log10(least) / 3)
    digits = 3 - math.floor(math.log10(least) - power)
    times, unit = (f" x 1e{power}", f"e{power}") if power else ("", "")
    axis = f"{NAMES[by]} so far{times and f' ({times.strip()})'}"
    return MeasureForm(by, f"{MEANING[by].split()[0]}{times}", axis, 10.0**-power, digits, unit)


def star_note(measure: str, permutations: int) -> str:
    """What a star in the table of a comparison means."""
    if measure == "error" and permutations == 1:
        return STAR_NOTE_ALONE
    best = BEST.get(measure, "least")
    if permutations == 1:
        what = "error" if measure in OF_SIZES else NAMES[measure]
        return f"* {best} {what}; one permutation allows no test"
    of = " of the logarithms" if measure in OF_SIZES else ""
    return f"* not told from the {best} mean by a paired t-test{of} at 5 %"
