"""Why a model says what it says: tables, plain values and a page of importance and explanations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbrook.reports.page import Page, Section
from kernbrook.reports.plot import Bars
from kernbrook.reports.table import Column, Table
from kernbrook.reports.words import counted, plain

if TYPE_CHECKING:
    from kernbrook.explaining.contributions import Explanation
    from kernbrook.explaining.importance import Importance

SHOWN = 20  # columns of a table, and bars of a figure
NO_BREAK = "\N{NO-BREAK SPACE}"
LONGEST = 40  # characters of a value
DIGITS = 3  # significant ones, of the greatest number
MEASURES = {
    "log_loss": "log loss",
    "error": "error",
    "rmse": "root mean squared error",
    "mae": "mean absolute error",
}
MEANS = {
    "log_loss": ": how far the chance that it gives to the true label is from 1",
    "error": ": the share of rows that it gets wrong",
    "rmse": ", in the unit of the label; great errors count most",
    "mae": ", in the unit of the label",
}
LONGER = "The longer a bar, the more the model errs once it cannot use the column"
UNLABELLED = "The data have no labels, with which the importance of columns is measured."
CAREFUL = (
    "What this does not say: a column can matter to the model and be no cause. Of columns that say "
    "much the same the model needs one, so that each of them may seem to matter little."
)


# -- importance --------------------------------------------------------------------------------


def importance_table(importance: Importance, title: str = "") -> Table:
    """How much each column matters, the greatest first: at most 20, and how many more.

    Parameters
    ----------
    importance : of `kb.importance`
    title : above the table
    """
    shown = min(SHOWN, len(importance.columns))
    scale, name = _unit(importance)
    means, stds = scale * importance.mean[:shown], scale * importance.std[:shown]
    digits = _digits([*means, *stds])
    greatest = max(float(means.max(initial=0.0)), 1e-300)
    columns = (
        Column("column", tuple(map(str, importance.columns[:shown])), kind="code"),
        Column(f"{name} more without it", tuple(_signed(means, digits, stds)), str),
        Column("", tuple(max(mean, 0.0) / greatest for mean in means), kind="bar", spare=1),
    )
    notes = list(_importance_notes(importance))
    if rest := importance.mean[shown:].tolist():
        most = _signed([scale * max(rest)], digits)[0]
        notes.insert(0, f"... and {counted(len(rest), 'column')} more, none above {most}")
    return Table(columns, notes=tuple(notes), title=title)


def importance_json(importance: Importance) -> dict[str, Any]:
    """The same as plain values that `json.dumps(..., allow_nan=False)` takes: all columns.

    Parameters
    ----------
    importance : of `kb.importance`

    Returns
    -------
    dict with the keys measure, base, rows, repeats, n_rows, left_out and columns
    """
    names = ("measure", "base", "rows", "n_rows", "left_out")
    rows = zip(importance.columns, importance.mean, importance.std, strict=True)
    found = {name: plain(getattr(importance, name)) for name in names}
    found["repeats"] = importance.values.shape[1]
    found["columns"] = [
        {"column": str(column), "mean": plain(mean), "std": plain(std)}
        for column, mean, std in rows
    ]
    return found


def _unit(importance: Importance) -> tuple[float, str]:
    """What the measure is multiplied by, and how it is called then."""
    name = MEASURES[importance.measure]
    return (100.0, f"{name} in %") if importance.measure == "error" else (1.0, name)


def _importance_notes(importance: Importance) -> Sequence[str]:
    scale = _unit(importance)[0]
    digits = _digits([scale * importance.base])
    sign = " %" if importance.measure == "error" else ""
    base = f"{MEASURES[importance.measure]} {scale * importance.base:.{digits}f}{sign}"
    repeats = importance.values.shape[1]
    drawn = (
        f"all {importance.rows:,} rows"
        if importance.rows == importance.n_rows
        else f"{importance.rows:,} rows of {importance.n_rows:,}"
    )
    notes = [
        f"With all columns as they are: {base}.",
        f"Without a column: its values are exchanged between rows, {repeats} times.",
        f"Mean ± standard deviation, of {drawn}.",
    ]
    if not importance.values.any():
        notes.append("No column changes what the model says.")
    if importance.left_out:
        left = counted(importance.left_out, "row")
        notes.append(f"Left out: {left} without a label, or with one that the model does not know.")
    return notes


# -- one row -----------------------------------------------------------------------------------


def explanation_table(explanation: Explanation, title: str = "") -> Table:
    """What each column adds, the greatest first: at most 20, and all others in one line.

    Parameters
    ----------
    explanation : of `kb.explain`
    title : above the table
    """
    order = _by_size(explanation)
    first, rest = order[:SHOWN], order[SHOWN:]
    scale, unit = (100.0, " %") if explanation.what == "probability" else (1.0, "")
    parts = scale * explanation.contributions
    digits = 1 if unit else _digits(parts)
    names = ["usually", *(str(explanation.columns[i]) for i in first)]
    values = ["", *(written(explanation.values[i]) for i in first)]
    adds = [
        f"{scale * explanation.base:.{digits}f}",
        *_signed(parts[first], digits),
    ]
    sizes = [0.0, *np.abs(parts[first]).tolist()]
    if len(rest):
        names.append(f"{counted(len(rest), 'other column')}")
        values.append("")
        adds += _signed([parts[rest].sum()], digits)
        sizes.append(abs(float(parts[rest].sum())))
    names.append("this row")
    values.append("")
    adds.append(f"{scale * explanation.score:.{digits}f}")
    greatest = max(*sizes, 1e-300)
    columns = (
        Column("column", tuple(names), kind="code"),
        Column("value", tuple(values), kind="code"),
        Column(f"{score_name(explanation)}{unit}", tuple(adds), str),
        Column("", tuple(size / greatest for size in [*sizes, 0.0]), kind="bar", spare=1),
    )
    strong = frozenset((0, len(names) - 1))
    return Table(columns, strong=strong, notes=tuple(_row_notes(explanation)), title=title)


def explanation_json(explanation: Explanation) -> dict[str, Any]:
    """The same as plain values that `json.dumps(..., allow_nan=False)` takes: all columns.

    Parameters
    ----------
    explanation : of `kb.explain`

    Returns
    -------
    dict with the keys what, of_class, score, base, background and columns
    """
    names = ("what", "score", "base", "background")
    found = {name: plain(getattr(explanation, name)) for name in names}
    found["of_class"] = None if explanation.of_class is None else str(explanation.of_class)
    texts = [None if _is_gap(value) else str(value) for value in explanation.values]
    each = zip(
        map(str, explanation.columns), texts, explanation.contributions, explanation.errors,
        explanation.exact, strict=True,
    )  # fmt: skip
    keys = ("column", "value", "contribution", "error", "exact")
    found["columns"] = [dict(zip(keys, map(plain, one), strict=True)) for one in each]
    return found


def score_name(explanation: Explanation) -> str:
    """What is explained, in words.

    "chance of late", "decision for late", "prediction"
    """
    words = {"probability": "chance of", "decision": "decision for"}
    if explanation.what not in words:
        return explanation.what
    return f"{words[explanation.what]} {explanation.of_class}"


def said(explanation: Explanation) -> str:
    """What is said of the row, and usually, in words."""
    score, base = (_score(explanation, value) for value in (explanation.score, explanation.base))
    return f"{score_name(explanation)} {score}, usually {base}"


def _score(explanation: Explanation, value: float) -> str:
    """A score of that kind, in a text."""
    chance = explanation.what == "probability"
    return f"{100 * value:.1f} %" if chance else f"{value:.4g}"


def written(value: Any) -> str:
    """A value of a row, as a table shows it.

    Examples
    --------
    >>> written(None), written(0.1 + 0.2), written("UA"), written(3.0)
    ('(gap)', '0.3', 'UA', '3')
    """
    if _is_gap(value):
        return "(gap)"
    text = f"{value:.6g}" if isinstance(value, float) else " ".join(str(value).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _is_gap(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _by_size(explanation: Explanation) -> Any:
    return np.argsort(-np.abs(explanation.contributions), kind="stable")


def _row_notes(explanation: Explanation) -> Sequence[str]:
    exact, count = int(explanation.exact.sum()), len(explanation.exact)
    most = explanation.errors.max(initial=0.0)
    chance = explanation.what == "probability"
    error = "standard errors up to " + (f"{100 * most:.2g} points" if chance else f"{most:.2g}")
    if not explanation.contributions.any():
        kind = "No column changes what the model says of this row."
    elif exact == count:
        kind = "What a column adds is exact."
    elif exact == 0:
        kind = f"What a column adds is a mean over drawn orders of the columns: {error}."
    else:
        kind = f"What a column adds is exact for {exact} of {count} columns: else {error}."
    return [f"usually: the mean over {explanation.background}.", kind]


def why_json(
    model: str,
    data: str,
    n_rows: int,
    importance: Importance | None,
    explanation: Explanation | None,
    row: int | None,
) -> dict[str, Any]:
    """What `kernbrook explain` has found, as plain values.

    Parameters
    ----------
    model, data : names
    n_rows : of the data
    importance, explanation : None for what was not asked, or not found
    row : number of the one that is explained, from 1
    """
    return {
        "model": model,
        "data": data,
        "n_rows": n_rows,
        "importance": None if importance is None else importance_json(importance),
        "explanation": None
        if explanation is None
        else {"row": row, **explanation_json(explanation)},
    }


# -- a page ------------------------------------------------------------------------------------


def why_page(
    model: str,
    data: str,
    importance: Importance | None,
    explanation: Explanation | None = None,
    row: int | None = None,
) -> Page:
    """A page with what one row's prediction is made of, and with how much each column matters.

    Parameters
    ----------
    model, data : names
    importance : of `kb.importance`; None where the data have no labels
    explanation : of `kb.explain`, for one row
    row : its number, from 1
    """
    sections, title = [], f"Which columns matter to {model}"
    if explanation is not None:
        title = f"Row {row:,} of {data}: {said(explanation)}"
        own = _without_bars(explanation_table(explanation))
        sections.append(Section("What each column adds", "", _row_bars(explanation), own))
    heading, text = "How much each column matters", UNLABELLED
    if importance is None:
        sections.append(Section(heading, text))
    else:
        text = f"{LONGER}, in {MEASURES[importance.measure]}{MEANS[importance.measure]}. {CAREFUL}"
        own = _without_bars(importance_table(importance))
        sections.append(Section(heading, text, _importance_bars(importance), own))
    return Page(title.replace(" %", f"{NO_BREAK}%"), tuple(sections), f"{model} on {data}")


def _without_bars(table: Table) -> Table:
    """The same beside a figure."""
    return replace(table, columns=tuple(one for one in table.columns if one.kind != "bar"))


def _row_bars(explanation: Explanation) -> Bars:
    scale, unit = (100.0, ", points") if explanation.what == "probability" else (1.0, "")
    order = _by_size(explanation)[:SHOWN]
    names = [f"{explanation.columns[i]} = {written(explanation.values[i])}" for i in order]
    errors = np.where(explanation.exact, 0.0, scale * explanation.errors)[order]
    label = f"what it adds to the {score_name(explanation)}{unit}"
    return Bars(names, (scale * explanation.contributions[order]).tolist(), errors.tolist(), label)


def _importance_bars(importance: Importance) -> Bars:
    scale, name = _unit(importance)
    names = list(map(str, importance.columns[:SHOWN]))
    means, stds = (scale * part[:SHOWN] for part in (importance.mean, importance.std))
    return Bars(names, means.tolist(), stds.tolist(), f"{name} more without it")


# -- numbers -----------------------------------------------------------------------------------


def _digits(values: Any) -> int:
    """Decimals that leave the greatest number three significant digits."""
    greatest = float(np.abs(np.asarray(values, float)).max(initial=0.0))
    if not 0.0 < greatest < math.inf:
        return DIGITS
    return int(np.clip(DIGITS - 1 - math.floor(math.log10(greatest)), 0, 9))


def _signed(values: Any, digits: int, errors: Any = ()) -> list[str]:
    """Numbers with their signs, and errors behind them."""
    own = np.zeros(len(values)) if len(errors) == 0 else errors
    return [
        f"{value:+.{digits}f}" + (f" ± {error:.{digits}f}" if error > 0 else "")
        for value, error in zip(values, own, strict=True)
    ]
