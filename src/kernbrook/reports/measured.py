"""Measures of predictions beside those of trivial rules: as a table, in words, as plain values."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from kernbrook import recipes as book
from kernbrook.evaluation.measures import LAST, LEARNED, shortfall
from kernbrook.reports.as_json import plain
from kernbrook.reports.forms import IN_PERCENT, NAMES, measure_cell, measure_value
from kernbrook.reports.table import Column, Table
from kernbrook.reports.words import TRIVIAL, counted, listed

if TYPE_CHECKING:
    from kernbrook.evaluation.measures import Measures, Tally

MAIN = {"classification": "error", "regression": "rmse"}
SHOWN = ("error", "log_loss", "auc", "mae", "rmse", "coverage", "width")  # in tables
TOLD = ("error", "rmse", "mae", "log_loss", "auc")  # in words


def measures_table(measures: Measures) -> Table:
    """A row for the model and for each trivial rule, a column for each measure that is known."""
    found, task = measures.values(), measures.task
    error = {"classification": "error", "regression": "mse"}[task]
    title = ""
    if error in found["model"]:
        value = measure_value(error, found["model"][error])
        title = f"{NAMES[error]} {value} on {counted(measures.model.rows, 'labelled row')}"
    names = [name for name in SHOWN if name in found["model"]]
    who = [_row_of(measures, one) for one in found]
    columns = [Column("", tuple(who), kind="text")]
    for name in names:
        of = tuple(own.get(name) for own in found.values())
        header = f"{NAMES[name]} %" if name in IN_PERCENT else NAMES[name]
        if name == "coverage":
            header = f"covered, of {100 * (measures.coverage or 0):g} %"
        columns.append(Column(header, of, partial(measure_cell, name)))
    return Table(tuple(columns), strong=frozenset([0]), title=title)


def _row_of(measures: Measures, who: str) -> str:
    """Who predicts, as the row of a table names it."""
    if who == "model":
        return "model"
    if who in (LEARNED, LAST):
        return (
            f"always {_says(measures, who)}, {'as learned' if who == LEARNED else 'the last label'}"
        )
    return book.title(who) + _where(measures)


def _says(measures: Measures, who: str) -> str:
    """What a rule says that knows what the model has learned."""
    says = measures.rules[who].says
    return f"{says:.4g}" if measures.task == "regression" else repr(says.item())


def _where(measures: Measures) -> str:
    """Which labels the rules know that learn, where there is one of others beside them."""
    return " in these rows" if LEARNED in measures.rules else ""


def left_out(measures: Measures) -> tuple[str, ...]:
    """Which rows are not counted, in words, a line each."""
    rows = {
        "without a label": measures.unlabelled,
        "with a label that the model does not know": measures.unknown,
    }
    return tuple(f"not counted: {counted(n, 'row')} {what}" for what, n in rows.items() if n)


def no_better(measures: Measures) -> str:
    """What the model is no better at than a trivial rule, in a sentence; empty where nothing is.

    The rule is that of the labels that the model has learned, where it is known; else the one with
    the least error. Where the model beats that one, but the labels of the rows themselves make a
    better rule, this one is named.
    """
    found = measures.values()
    own = found.pop("model")
    main = MAIN[measures.task]
    if main not in own:
        return ""
    worse = {name: _no_better_in(own, values) for name, values in found.items()}
    beaten_by = [name for name in found if main in worse[name]]
    first = next(iter(found))
    if not beaten_by:
        if not (lost := worse[first]):
            return ""
        than = f"Better than {_rule(measures, first)} by {NAMES[main]}, but no better by"
        return f"{than} {_against(own, found[first], lost)}."
    least = min(beaten_by, key=lambda name: found[name][main])
    rule = LEARNED if LEARNED in beaten_by else least
    text = f"No better than {_rule(measures, rule)}: {_against(own, found[rule], worse[rule])}"
    won = [name for name in TOLD if name in own and name in found[rule] and name not in worse[rule]]
    return f"{text}; better by {_against(own, found[rule], won)}." if won else f"{text}."


def _no_better_in(own: dict[str, float], rule: dict[str, float]) -> list[str]:
    """The measures in which a model is no better than a rule; what is NaN says nothing."""
    both = [name for name in TOLD if name in own and name in rule]
    return [name for name in both if shortfall(name, own[name]) >= shortfall(name, rule[name])]


def _against(own: dict[str, float], rule: dict[str, float], names: list[str]) -> str:
    """Measures of both, in words."""
    pairs = [(name, *(measure_value(name, one[name]) for one in (own, rule))) for name in names]
    return listed([f"{NAMES[name]} {first} against {second}" for name, first, second in pairs])


def _rule(measures: Measures, name: str) -> str:
    """A trivial rule in words."""
    if name not in (LEARNED, LAST):
        return TRIVIAL[name] + _where(measures)
    what = "label learned most often" if measures.task == "classification" else "mean learned"
    what = "last label learned" if name == LAST else what
    return f"always saying {_says(measures, name)}, the {what}"


def measures_json(measures: Measures) -> dict[str, Any]:
    """The same as plain values that `json.dumps(..., allow_nan=False)` takes.

    Errors are in per cent, coverage is a share. `rows` are those that are counted.

    Returns
    -------
    dict with rows, unlabelled, unknown, coverage (that is wanted), model, rules and no_better
    """
    found = measures.values()
    for name, own in found.items():
        if "error" in own:
            own["error"] *= 100
        if name in (LEARNED, LAST):
            found[name] = {"says": measures.rules[name].says, **own}
    return {
        name: plain(value)
        for name, value in {
            "rows": measures.model.rows,
            "unlabelled": measures.unlabelled,
            "unknown": measures.unknown,
            "coverage": measures.coverage,
            "model": found.pop("model"),
            "rules": found,
            "no_better": no_better(measures),
        }.items()
    }


def predictions_json(tally: Tally, model: str, data: str, rows: int) -> dict[str, Any]:
    """Predictions as plain values: what they are of, and their measures.

    Parameters
    ----------
    tally : of the predictions
    model, data : names of the model's file and of the data
    rows : that were predicted

    Returns
    -------
    dict with model, data, task, n_rows, level_counts and measures, None where there are no labels
    """
    judged = tally.judged
    return {
        "model": model,
        "data": data,
        "task": tally.measures.task,
        "n_rows": rows,
        "level_counts": plain([one.described() for one in tally.level_counts]),
        "measures": None if judged is None else measures_json(judged),
    }
