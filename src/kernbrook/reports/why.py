"""Why a model says what it says: tables, plain values and a page of importance and explanations."""

from __future__ import annotations

import math
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
MEASURES = {  # their names, and what they mean
    "log_loss": ("log loss", ": how far the chance that it gives to the true label is from 1"),
    "error": ("error", ": the share of rows that it gets wrong"),
    "rmse": ("root mean squared error", ", in the unit of the label; great errors count most"),
    "mae": ("mean absolute error", ", in the unit of the label"),
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

    Examples
    --------
    >>> import numpy as np
    >>> import kernbrook as kb
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> y = (X[:, 1] > 0).astype(int)
    >>> model = kb.OnlineMKClassifier(kb.Linear(), kb.PassiveAggressive(), random_state=0).fit(X, y)
    >>> found = kb.importance(model, X, y, random_state=0)
    >>> kb.reports.importance_table(found).columns[0].values
    ('1', '0', '2')
    """
    bars = _importance_bars(importance)
    digits = _digits([*bars.values, *bars.errors])
    greatest = max([0.0, *bars.values]) or 1.0
    columns = (
        Column("column", tuple(bars.names), kind="code"),
        Column(bars.x_label, tuple(_signed(bars.values, digits, bars.errors))),
        Column("", tuple(max(v, 0.0) / greatest for v in bars.values), kind="bar", spare=1),
    )
    scale, unit = _unit(importance)
    base = scale * importance.base
    name, repeats = MEASURES[importance.measure][0], importance.values.shape[1]
    drawn, every = f"{importance.rows:,} rows", importance.rows == importance.n_rows
    drawn = f"all {drawn}" if every else f"{drawn} of {importance.n_rows:,}"
    notes = [
        f"With all columns as they are: {name} {base:.{_digits([base])}f}{unit}.",
        f"Without a column: its values are exchanged between rows, {repeats} times.",
        f"Mean ± standard deviation, of {drawn}.",
    ]
    if rest := importance.mean[SHOWN:].tolist():
        most = _signed([scale * max(rest)], digits)[0]
        notes.insert(0, f"... and {counted(len(rest), 'column')} more, none above {most}")
    if not importance.values.any():
        notes.append("No column changes what the model says.")
    if importance.left_out:
        left = counted(importance.left_out, "row")
        notes.append(f"Left out: {left} without a label, or with one that the model does not know.")
    return Table(columns, notes=tuple(notes), title=title)


def importance_json(importance: Importance) -> dict[str, Any]:
    """The same as plain values that `json.dumps(..., allow_nan=False)` takes: all columns.

    Parameters
    ----------
    importance : of `kb.importance`

    Returns
    -------
    dict with the keys measure, base, rows, repeats, n_rows, left_out and columns

    Examples
    --------
    >>> import numpy as np
    >>> import kernbrook as kb
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> y = (X[:, 1] > 0).astype(int)
    >>> model = kb.OnlineMKClassifier(kb.Linear(), kb.PassiveAggressive(), random_state=0).fit(X, y)
    >>> found = kb.importance(model, X, y, random_state=0)
    >>> kb.reports.importance_json(found)["columns"][0]["column"]
    '1'
    """
    names = ("measure", "base", "rows", "n_rows", "left_out")
    rows = zip(map(str, importance.columns), importance.mean, importance.std, strict=True)
    found: dict[str, Any] = {name: getattr(importance, name) for name in names}
    found["repeats"] = importance.values.shape[1]
    found["columns"] = [dict(zip(("column", "mean", "std"), row, strict=True)) for row in rows]
    return dict(plain(found))


def _unit(importance: Importance) -> tuple[float, str]:
    """What the measure is multiplied by, and what is behind it then."""
    return (100.0, " %") if importance.measure == "error" else (1.0, "")


def _importance_bars(importance: Importance) -> Bars:
    scale, unit = _unit(importance)
    name = MEASURES[importance.measure][0] + (" in %" if unit else "")
    means, stds = (scale * part[:SHOWN] for part in (importance.mean, importance.std))
    names = list(map(str, importance.columns[:SHOWN]))
    return Bars(names, means.tolist(), stds.tolist(), f"{name} more without it")


# -- one row -----------------------------------------------------------------------------------


def explanation_table(explanation: Explanation, title: str = "") -> Table:
    """What each column adds, the greatest first: at most 20, and all others in one line.

    Parameters
    ----------
    explanation : of `kb.explain`
    title : above the table

    Examples
    --------
    >>> import numpy as np
    >>> import kernbrook as kb
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> y = (X[:, 1] > 0).astype(int)
    >>> model = kb.OnlineMKClassifier(kb.Linear(), kb.PassiveAggressive(), random_state=0).fit(X, y)
    >>> one = kb.explain(model, X[0], random_state=0)
    >>> kb.reports.explanation_table(one).columns[0].values
    ('usually', '1', '0', '2', 'this row')
    """
    order = _by_size(explanation)
    first, rest = order[:SHOWN], order[SHOWN:]
    scale, unit = _score_unit(explanation)
    parts = scale * explanation.contributions
    digits = 1 if unit else _digits(parts)
    rows = [
        (str(explanation.columns[i]), written(explanation.values[i]), float(parts[i]))
        for i in first
    ]
    if len(rest):
        rows.append((counted(len(rest), "other column"), "", float(parts[rest].sum())))
    names, values, added = zip(*rows, strict=True) if rows else ((), (), ())
    ends = (explanation.base, explanation.score)
    begin, end = (f"{scale * value:.{digits}f}" for value in ends)
    greatest = max(map(abs, added), default=0.0) or 1.0
    columns = (
        Column("column", ("usually", *names, "this row"), kind="code"),
        Column("value", ("", *values, ""), kind="code"),
        Column(f"{score_name(explanation)}{unit}", (begin, *_signed(added, digits), end)),
        Column("", (0.0, *(abs(part) / greatest for part in added), 0.0), kind="bar", spare=1),
    )
    notes = (f"usually: the mean over {explanation.background}.", _how_exact(explanation))
    return Table(columns, strong=frozenset((0, len(rows) + 1)), notes=notes, title=title)


def explanation_json(explanation: Explanation) -> dict[str, Any]:
    """The same as plain values that `json.dumps(..., allow_nan=False)` takes: all columns.

    Parameters
    ----------
    explanation : of `kb.explain`

    Returns
    -------
    dict with the keys what, of_class, score, base, background and columns

    Examples
    --------
    >>> import numpy as np
    >>> import kernbrook as kb
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> y = (X[:, 1] > 0).astype(int)
    >>> model = kb.OnlineMKClassifier(kb.Linear(), kb.PassiveAggressive(), random_state=0).fit(X, y)
    >>> one = kb.explain(model, X[0], random_state=0)
    >>> list(kb.reports.explanation_json(one))
    ['what', 'score', 'base', 'background', 'of_class', 'columns']
    """
    names = ("what", "score", "base", "background")
    found: dict[str, Any] = {name: getattr(explanation, name) for name in names}
    found["of_class"] = None if explanation.of_class is None else str(explanation.of_class)
    texts = [None if _is_gap(value) else str(value) for value in explanation.values]
    each = zip(
        map(str, explanation.columns), texts, explanation.contributions, explanation.errors,
        explanation.exact, strict=True,
    )  # fmt: skip
    keys = ("column", "value", "contribution", "error", "exact")
    found["columns"] = [dict(zip(keys, row, strict=True)) for row in each]
    return dict(plain(found))


def score_name(explanation: Explanation) -> str:
    """What is explained, in words: "chance of late", "decision for late", "prediction"."""
    words = {"probability": "chance of", "decision": "decision for"}
    if explanation.what not in words:
        return explanation.what
    return f"{words[explanation.what]} {explanation.of_class}"


def describe(explanation: Explanation) -> str:
    """What is said of the row, and usually, in words."""
    _, unit = _score_unit(explanation)
    ends = (explanation.score, explanation.base)
    score, base = (f"{100 * value:.1f} %" if unit else f"{value:.4g}" for value in ends)
    return f"{score_name(explanation)} {score}, usually {base}"


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


def _score_unit(explanation: Explanation) -> tuple[float, str]:
    """What the score is multiplied by, and what is behind it then."""
    return (100.0, " %") if explanation.what == "probability" else (1.0, "")


def _how_exact(explanation: Explanation) -> str:
    exact, count = int(explanation.exact.sum()), len(explanation.exact)
    scale, unit = _score_unit(explanation)
    most = scale * explanation.errors.max(initial=0.0)
    error = f"standard errors up to {most:.2g}{' points' if unit else ''}"
    if not explanation.contributions.any():
        return "No column changes what the model says of this row."
    if exact == count:
        return "What a column adds is exact."
    if exact == 0:
        return f"What a column adds is a mean over drawn orders of the columns: {error}."
    return f"What a column adds is exact for {exact} of {count} columns: else {error}."


def why_json(
    model: str,
    data: str,
    n_rows: int,
    importance: Importance | None,
    explanation: Explanation | None,
    row: int | None,
) -> dict[str, Any]:
    """What `kernbrook explain` has found, as plain values; None is what was not asked, or found.

    row : number of the one that is explained, from 1
    """
    return {
        "model": model,
        "data": data,
        "n_rows": n_rows,
        "importance": importance and importance_json(importance),
        "explanation": explanation and {"row": row, **explanation_json(explanation)},
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

    Examples
    --------
    >>> import numpy as np
    >>> import kernbrook as kb
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> y = (X[:, 1] > 0).astype(int)
    >>> model = kb.OnlineMKClassifier(kb.Linear(), kb.PassiveAggressive(), random_state=0).fit(X, y)
    >>> found = kb.importance(model, X, y, random_state=0)
    >>> kb.reports.why_page("model.kb", "new rows", found).title
    'Which columns matter to model.kb'
    """
    sections, title = [], f"Which columns matter to {model}"
    if explanation is not None:
        title = f"Row {row:,} of {data}: {describe(explanation)}"
        table = _without_bars(explanation_table(explanation))
        sections.append(Section("What each column adds", "", _row_bars(explanation), table))
    heading = "How much each column matters"
    if importance is None:
        sections.append(Section(heading, UNLABELLED))
    else:
        text = f"{LONGER}, in {''.join(MEASURES[importance.measure])}. {CAREFUL}"
        table = _without_bars(importance_table(importance))
        sections.append(Section(heading, text, _importance_bars(importance), table))
    return Page(title.replace(" %", f"{NO_BREAK}%"), tuple(sections), f"{model} on {data}")


def _without_bars(table: Table) -> Table:
    return replace(table, columns=tuple(column for column in table.columns if column.kind != "bar"))


def _row_bars(explanation: Explanation) -> Bars:
    scale, unit = _score_unit(explanation)
    order = _by_size(explanation)[:SHOWN]
    names = [f"{explanation.columns[i]} = {written(explanation.values[i])}" for i in order]
    errors = np.where(explanation.exact, 0.0, scale * explanation.errors)[order]
    label = f"what it adds to the {score_name(explanation)}{', points' if unit else ''}"
    return Bars(names, (scale * explanation.contributions[order]).tolist(), errors.tolist(), label)


# -- numbers -----------------------------------------------------------------------------------


def _digits(values: Any) -> int:
    """Decimals that leave the greatest number three significant digits."""
    greatest = float(np.abs(np.asarray(values, float)).max(initial=0.0))
    if not 0.0 < greatest < math.inf:
        return DIGITS
    return int(np.clip(DIGITS - 1 - math.floor(math.log10(greatest)), 0, 9))


def _signed(values: Any, digits: int, errors: Any = None) -> list[str]:
    """Numbers with their signs, and errors behind them."""
    return [
        f"{value:+.{digits}f}" + (f" ± {error:.{digits}f}" if error > 0 else "")
        for value, error in zip(values, errors or [0.0] * len(values), strict=True)
    ]
