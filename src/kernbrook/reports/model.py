"""What is known of a model: how it is made, what it learned, how good it was and since when."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from inspect import signature
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import kernbrook
from kernbrook import recipes as book
from kernbrook.checks import shown
from kernbrook.estimators.by_name import NamedColumns
from kernbrook.estimators.late import LateLabels
from kernbrook.estimators.table_model import TableModel
from kernbrook.estimators.tasks import task_of
from kernbrook.evaluation.checkpoint import Checkpoint
from kernbrook.evaluation.measures import COVERAGE, DEFAULT, LAST, LEARNED, RULES, shortfall
from kernbrook.evaluation.oracles import Hindsight, hindsight
from kernbrook.kernels import Kernel
from kernbrook.recipes.catalogue import RECIPES
from kernbrook.recipes.describing import Parameter, describe
from kernbrook.recipes.making import make
from kernbrook.reports.table import (
    LEAST,
    Column,
    Table,
    below_each_other,
    by_weight,
    facts,
    rendered,
)
from kernbrook.reports.words import (
    IN_PERCENT,
    NAMES,
    TRIVIAL,
    counted,
    error_value,
    few,
    iso,
    listed,
    measure_cell,
    measure_value,
    plain,
    sized,
    spark,
)

if TYPE_CHECKING:
    from os import PathLike

    from rich.console import Group
    from rich.pretty import Node

    from kernbrook.estimators.tasks import Task
    from kernbrook.evaluation.measures import Measures, Sums, Tally
    from kernbrook.evaluation.training import Training
    from kernbrook.evaluation.windows import Judge, Past, Windows


def as_python(value: Any, width: int = 80, few: float = 4) -> str:
    """The Python that makes an estimator, parameters that are not the defaults alone.

    few : values that a list shows: of more the first two and the last, or the first where it is 1.
        With infinity numbers have all their digits too

    Examples
    --------
    >>> import kernbrook as kb
    >>> print(as_python(kb.OnlineMKClassifier(kb.Linear(), kb.BPAS(50))))
    kb.OnlineMKClassifier(kernels=kb.Linear(), learner=kb.BPAS(budget=50))
    """
    return _node(value, few).render(width, indent_size=4).rstrip("\n")


def in_lines(value: Any, width: int, lines: int) -> str:
    """The Python of an estimator, with shorter lists where it has so many lines or more."""
    texts = [as_python(value, width, few) for few in (4, 1)]
    return next((text for text in texts if text.count("\n") < lines), texts[-1])


def _node(value: Any, few: float, name: str = "", equals: str = "") -> Node:
    from rich.pretty import Node

    if isinstance(value, Kernel) or hasattr(value, "get_params"):
        kind = type(value)
        public = getattr(kernbrook, kind.__name__, None) is kind  # whoever imports it as kb
        left, right = f"{'kb.' * public}{kind.__name__}(", ")"
        children = [_node(given, few, parameter, "=") for parameter, given in _given(value)]
    elif isinstance(value, dict):
        left, right = "{", "}"
        children = [_node(item, few, repr(key), ": ") for key, item in value.items()]
    elif isinstance(value, (list, tuple)):
        left, right = "[]" if isinstance(value, list) else "()"
        children = [_node(item, few) for item in value]
        if len(children) > few:
            more = Node(value_repr="...")
            children = [children[0], more] if few == 1 else [*children[:2], more, children[-1]]
    else:
        return Node(value_repr=_text(value, few), key_repr=name, key_separator=equals)
    for child in children:
        child.last = child is children[-1]
    return Node(
        key_repr=name,
        key_separator=equals,
        open_brace=left,
        close_brace=right,
        empty=left + right,
        children=children,
        is_tuple=left == "(",
    )


def _text(value: Any, few: float) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and few < math.inf and value != int(value):
        return f"{value:.6g}"
    return repr(value) if few == math.inf else shown(value)


def _given(value: Any) -> Iterator[tuple[str, Any]]:
    """The arguments of an object that are not those by default, in the signature's order."""
    defaults = signature(type(value)).parameters
    held = value.parameters() if isinstance(value, Kernel) else value.get_params(deep=False)
    order = {name: place for place, name in enumerate(defaults)}
    for name in sorted(held, key=lambda name: order.get(name, len(order))):
        default = defaults[name].default if name in defaults else None
        if repr(held[name]) != repr(default):
            yield name, held[name]


RECIPE_LINES = 14  # of the machine
RECIPE_LABELS = 10  # columns of a terminal that the names of the facts take
NUMBERS = 4  # of a list of defaults that is shown whole


def recipe_page(name: str, width: int = 80) -> Group:
    """What a recipe is, its paper, its machine, when to take it, and its parameters."""
    from rich.console import Group

    entry = RECIPES[name]
    kind = f"{entry.task}, from all data at once" if entry.batch else entry.task
    lines = [
        ("what", entry.what),
        ("paper", entry.paper),
        ("take it", entry.take),
        ("not", entry.leave),
        ("machine", in_lines(make(name), width - RECIPE_LABELS, RECIPE_LINES)),
    ]
    blocks: list[Any] = [facts(lines, f"{name}: {entry.title}, for {kind}")]
    if known := describe(name):
        header = "parameter" if entry.batch else "--set"
        columns = (
            Column(header, tuple(parameter.name for parameter in known), kind="code"),
            Column("default", tuple(map(_default, known)), kind="code"),
            Column("may be", tuple(parameter.words for parameter in known), kind="text"),
        )
        blocks += ["", rendered(Table(columns), width)]
    return Group(*blocks)


def _default(parameter: Parameter) -> str:
    value: Any = parameter.default
    if parameter.name == "kernels" and value is None:
        return "as above"
    if isinstance(value, (list, tuple)) and len(value) > NUMBERS:
        return f"{value[0]:g}, {value[1]:g} ... {value[-1]:g}"
    return str(value)


ONLINE = {"classification": "online error", "regression": "mean squared error"}
MAIN = {"classification": "error", "regression": "rmse"}
MEASURES = ("error", "log_loss", "auc", "mae", "rmse", "coverage", "width")  # in tables
TOLD = ("error", "rmse", "mae", "log_loss", "auc")  # in words


def measures_table(measures: Measures) -> Table:
    """A row for the model and for each trivial rule, a column for each measure that is known."""
    found, title = measures.values(), ""
    error = DEFAULT[measures.task]
    if error in found["model"]:
        value = measure_value(error, found["model"][error])
        title = f"{NAMES[error]} {value} on {counted(measures.model.rows, 'labelled row')}"
    columns = [Column("", tuple(_row_of(measures, name) for name in found), kind="text")]
    for name in (name for name in MEASURES if name in found["model"]):
        header = f"{NAMES[name]} %" if name in IN_PERCENT else NAMES[name]
        if name == "coverage":
            header = f"covered, of {100 * (measures.coverage or 0):g} %"
        of = tuple(values.get(name) for values in found.values())
        columns.append(Column(header, of, partial(measure_cell, name)))
    return Table(tuple(columns), strong=frozenset([0]), title=title)


def _row_of(measures: Measures, who: str) -> str:
    if who in (LEARNED, LAST):
        how = "as learned" if who == LEARNED else "the last label"
        return f"always {_says(measures, who)}, {how}"
    return who if who == "model" else book.title(who) + _where(measures)


def _says(measures: Measures, who: str) -> str:
    """What a rule says that knows what the model has learned."""
    says = measures.rules[who].prediction
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
    return tuple(f"not counted: {counted(n, 'row')} {reason}" for reason, n in rows.items() if n)


def no_better(measures: Measures) -> str:
    """What the model is no better at than a trivial rule, in a sentence; empty where nothing is.

    The rule is that of the labels that the model has learned, where it is known; else the one with
    the least error. Where the model beats that one, but the labels of the rows themselves make a
    better rule, this one is named.
    """
    found = measures.values()
    model = found.pop("model")
    main = MAIN[measures.task]
    if main not in model:
        return ""
    worse = {name: _no_better_in(model, values) for name, values in found.items()}
    beaten_by = [name for name in found if main in worse[name]]
    first = next(iter(found))
    if not beaten_by:
        if not (lost := worse[first]):
            return ""
        than = f"Better than {_rule(measures, first)} by {NAMES[main]}, but no better by"
        return f"{than} {_against(model, found[first], lost)}."
    least = min(beaten_by, key=lambda name: found[name][main])
    rule = LEARNED if LEARNED in beaten_by else least
    text = f"No better than {_rule(measures, rule)}: {_against(model, found[rule], worse[rule])}"
    won = [k for k in TOLD if k in model and k in found[rule] and k not in worse[rule]]
    return f"{text}; better by {_against(model, found[rule], won)}." if won else f"{text}."


def _no_better_in(model: dict[str, float], rule: dict[str, float]) -> list[str]:
    """The measures in which a model is no better than a rule; what is NaN says nothing."""
    both = [name for name in TOLD if name in model and name in rule]
    return [name for name in both if shortfall(name, model[name]) >= shortfall(name, rule[name])]


def _against(model: dict[str, float], rule: dict[str, float], names: list[str]) -> str:
    pairs = [(k, *(measure_value(k, values[k]) for values in (model, rule))) for k in names]
    return listed([f"{NAMES[name]} {first} against {second}" for name, first, second in pairs])


def _rule(measures: Measures, name: str) -> str:
    if name not in (LEARNED, LAST):
        return TRIVIAL[name] + _where(measures)
    rule = "label learned most often" if measures.task == "classification" else "mean learned"
    rule = "last label learned" if name == LAST else rule
    return f"always saying {_says(measures, name)}, the {rule}"


def measures_json(measures: Measures) -> dict[str, Any]:
    """The same as plain values; errors are in per cent, coverage is a share."""
    found = measures.values()
    for name, costs in found.items():
        if "error" in costs:
            costs["error"] *= 100
        if name in (LEARNED, LAST):
            found[name] = {"says": measures.rules[name].prediction, **costs}
    values = {
        "rows": measures.model.rows,
        "unlabelled": measures.unlabelled,
        "unknown": measures.unknown,
        "coverage": measures.coverage,
        "model": found.pop("model"),
        "rules": found,
        "no_better": no_better(measures),
    }
    return dict(plain(values))


def predictions_json(tally: Tally, model: str, data: str, rows: int) -> dict[str, Any]:
    """Predictions as plain values: what they are of, and their measures.

    model, data : names of the model's file and of the data
    """
    judged = tally.judged
    return {
        "model": model,
        "data": data,
        "task": tally.measures.task,
        "n_rows": rows,
        "level_counts": plain([counts.described() for counts in tally.level_counts]),
        "measures": None if judged is None else measures_json(judged),
    }


DATA, CHANGES = 8, 3  # shown: the last ones, the greatest
LATE = 0.125  # of the rows are the last ones
_KEYS = {"log_loss": "log_loss", "absolute": "mae", "covered": "coverage"}
_SHOWN = (
    ("log_loss", "log loss", "{:.4f}".format, 0.0),
    ("coverage", f"{100 * COVERAGE:g} % cover", lambda share: f"{100 * share:.1f} %", 1.0),
)  # of windows, besides the error: key, name, how it is written, and the highest bar


def since_json(
    past: Sequence[Past], windows: Windows | None, judge: Judge | None, task: Task
) -> dict[str, Any]:
    """What is known of a model's past, as plain values; errors as `model_json` has them.

    windows : what rows cost over time; None where that was not recorded
    judge : whose windows these are; None of a model that was labelled
    """
    entries, first = list[dict[str, Any]](), 1 + judge.before if judge else 1
    for span in windows.spans if windows else []:
        entries.append({"first_row": first, "n_rows": span.rows, **_costs(span, task)})
        first += span.rows
    known, scale = [data for data in past if data.loss is not None], _scale(task)
    rows, changes = sum(data.judged for data in known), judge.changes if judge else None
    return {
        "data": [data.name for data in past],
        "past": [
            {"name": data.name, "data": data.data, "n_rows": data.rows, **_costs(data, task)}
            for data in past
        ],
        "error": scale * sum(data.loss or 0 for data in known) / rows if rows else None,
        "error_rows": rows or None,
        "window_rows": windows.length if windows and entries else None,
        "window_errors": [entry["error"] for entry in entries] or None,
        "windows": entries,
        "n_changes": changes and changes.n_changes,
        "changes": [
            {
                "row": change.row, "date": iso(change.date), "noticed": change.noticed,
                "before": scale * change.before, "after": scale * change.after,
                "rose": change.after > change.before if change.rose is None else change.rose,
            }
            for change in (changes.found if changes else [])
        ],
    }  # fmt: skip


def _scale(task: str) -> float:
    return 100.0 if task == "classification" else 1.0


def _costs(span: Sums, task: Task) -> dict[str, Any]:
    means = {name: span.mean(name) for name in ("loss", *RULES[task])}
    errors = {k: None if mean is None else _scale(task) * mean for k, mean in means.items()}
    found: dict[str, Any] = {"judged": span.judged, "error": errors.pop("loss")}
    found["rules"] = {name: error for name, error in errors.items() if error is not None}
    found |= {key: span.mean(name) for name, key in _KEYS.items() if name in span.sums}
    return found | {"began": iso(span.began), "ended": iso(span.ended)}


# -- in lines ---------------------------------------------------------------------------------


def best_rule(spans: Sequence[dict[str, Any]]) -> tuple[str, float, float] | None:
    """The trivial rule that errs least over entries of `since_json`, its error and the model's own.

    None where there is no rule.
    """
    sums: dict[str, tuple[int, float]] = {}
    for span in spans:
        for name, error in {**span["rules"], "": span["error"]}.items():
            if error is not None:
                rows, cost = sums.get(name, (0, 0.0))
                sums[name] = rows + span["judged"], cost + error * span["judged"]
    means = {name: cost / max(rows, 1) for name, (rows, cost) in sums.items()}
    model_error = means.pop("", 0.0)
    rules = ((name, error, model_error) for name, error in means.items())
    return min(rules, key=itemgetter(1), default=None)


def since_lines(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Error, errors by window beside those of a trivial rule, and when they changed."""
    task = found["task"]
    every = found["error_rows"] == found["n_rows"]
    rows = counted(found["error_rows"], "row" if every else "label")
    past = [data for data in found["past"] if data["judged"]]
    best = best_rule(past) if all(data["rules"] for data in past) else None
    beside = f"; {_error_text(best[1], task)} of {TRIVIAL[best[0]]}" if best else ""
    yield ONLINE[task], f"{_error_text(found['error'], task)} of {rows}{beside}"
    judged = [window for window in found["windows"] if window["judged"]]
    if len(judged) > 1:
        text: Callable[[float], str] = partial(_error_text, task=task)
        errors, best = [window["error"] for window in judged], best_rule(judged)
        theirs = [window["rules"].get(best[0], 0.0) for window in judged] if best else []
        most = max([*errors, *theirs])
        yield "", _by_window(judged, errors, text, most)
        if best:
            yield "", f"{_by_window(judged, theirs, text, most)}: {book.title(best[0])}"
        for key, name, form, most in _SHOWN:
            if all(key in window for window in judged):
                yield name, _by_window(judged, [window[key] for window in judged], form, most)
    if sentence := no_better_of_late(found):
        yield "", sentence
    yield from _changes(found)


def _by_window(
    spans: Sequence[dict[str, Any]],
    values: Sequence[float],
    form: Callable[[float], str],
    most: float,
) -> str:
    first, last = (f"{spans[i]['judged']:,}" for i in (0, -1))
    bars, (begin, *_, end) = spark(values, most), map(form, values)
    return f"{bars}  {begin} of the first {first}, {end} of the last {last}"


def no_better_of_late(found: dict[str, Any]) -> str:
    """That the model was no better than a trivial rule in all rows, or in the last ones; or ""."""
    judged = [window for window in found["windows"] if window["judged"]]
    total, cut = sum(window["judged"] for window in judged), len(judged)
    while cut and sum(window["judged"] for window in judged[cut:]) < LATE * total:
        cut -= 1
    for spans, which in ((judged, "all"), (judged[cut:], "the last")):
        if (best := best_rule(spans)) and best[2] >= best[1]:
            rows = counted(sum(span["judged"] for span in spans), "row")
            theirs, ours = (_error_text(error, found["task"]) for error in best[1:])
            return f"No better than {TRIVIAL[best[0]]}: {ours} against {theirs} of {which} {rows}."
    return ""


def _error_text(error: float, task: str) -> str:
    return error_value(error / _scale(task), task)


def _changes(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    task, kept, total = found["task"], found["changes"], found["n_changes"]
    greatest = sorted(kept, key=lambda change: -_size(change, task))[:CHANGES]
    shown = [change for change in reversed(kept) if change in greatest]
    for i, change in enumerate(shown):
        before, after = (_error_text(change[name], task) for name in ("before", "after"))
        rose = change["rose"]
        movement = f"{'rose' if rose else 'fell'} from {before} to {after}"
        if rose != (change["after"] > change["before"]):
            movement = f"{'rose' if rose else 'fell'}, a few great errors aside,"
        date = f", {change['date'].replace('T', ' ')}" if change["date"] else ""
        yield "" if i else "error", f"{movement} at row {change['row']:,}{date}"
    if shown and total > len(shown):
        last = f"the last {len(kept)} of " if total > len(kept) else ""
        yield "", f"the greatest of {last}{counted(total, 'change')}"


def _size(change: dict[str, Any], task: str) -> float:
    """How far an error went: mistakes as they are, squared errors by what they are."""
    before, after = change["before"], change["after"]
    scale = 1.0 if task == "classification" else max(before, after) or 1.0
    return float(abs(after - before) / scale)


# -- tables -----------------------------------------------------------------------------------


def past_table(found: dict[str, Any]) -> Table | None:
    """The last data, one a row; None where there are no two."""
    past, task = found["past"], found["task"]
    if len(past) < 2:
        return None
    kept, more = past[-DATA:], past[:-DATA]
    names = (f"{data['data']:,} data" if data["data"] > 1 else data["name"] for data in kept)
    form = "{:.2f}".format if task == "classification" else "{:.4g}".format
    error = "error %" if task == "classification" else NAMES["mse"]
    columns = [
        Column("data", tuple(name or NOT_RECORDED for name in names), kind="text"),
        Column("rows", tuple(data["n_rows"] for data in kept), "{:,}".format),
        Column(error, tuple(data["error"] for data in kept), form),
    ]
    if best := best_rule(kept):
        errors = tuple(data["rules"].get(best[0]) for data in kept)
        columns.append(Column(book.title(best[0]), errors, form, spare=1))
    if any(data["began"] for data in kept):
        ends = (dict.fromkeys((data[at] or "")[:10] for at in ("began", "ended")) for data in kept)
        columns.append(Column("dates", tuple(map(" to ".join, ends)), kind="text", spare=2))
    note = f"... and {sum(data['data'] for data in more):,} data before"
    return Table(tuple(columns), notes=(note,) if more else ())


BEST_KERNELS = 5


def training_table(training: Training, recipe: str, width: int = 80) -> Group:
    """Rows, online error, support vectors, seconds, and the kernels of the greatest weights.

    Rows and error are those of the data; after a comma of all that the model has learned from,
    where there were others before. Labels are shown where they are fewer than the rows. Below
    stand the measures of the data beside those of trivial rules.

    recipe : the algorithm's title, or the name of the model's file
    """
    from rich.console import Group

    model, task, in_all = training.estimator, task_of(training.estimator), training.in_all
    rows, error = f"{training.rows:,}", error_value(training.error, task)
    if training.past:
        rows += f", in all {in_all.rows:,}"
        if in_all.loss is not None and all(data.loss is not None for data in training.past):
            error += f", in all {error_value(in_all.loss / in_all.judged, task)}"
    lines, tables = [("rows", rows)], list[Table]()
    if training.ahead is not None and training.ahead.model.rows:
        before = training.ahead.values()["model"][DEFAULT[task]]
        lines.append(("error before", f"{error_value(before, task)}, no label of these rows known"))
        if lost := no_better(training.ahead):
            lines.append(("", lost))
        error += ", each label known before the next row"
        title = "before, no label of these rows known"
        tables.append(replace(measures_table(training.ahead), title=title))
    lines.append((ONLINE[task], error))
    trivial = hasattr(model, "strategy")
    if training.judge is not None and not trivial and (worse := no_better(training.judge.measures)):
        lines.append(("", worse))
    if known := _hindsight(training):
        share = error_value(known.mistakes / in_all.rows, task)
        lines.append(("best expert alone", f"{share}, {_expert(model, known.expert)}"))
        bound = f", at most {known.bound - known.mistakes:,.0f} by theory" if known.bound else ""
        lines.append(("regret to it", f"{known.regret:+,.0f} mistakes{bound}"))
    if task == "classification" or model.n_support_stored_:
        lines.append(("support vectors", f"{model.n_support_stored_:,}"))
    if (asked := model.labels_asked_) < in_all.rows:
        name = "labels asked" if asked < in_all.judged else "rows with a label"
        lines.append((name, f"{asked:,} ({100 * asked / in_all.rows:.1f} %)"))
    if training.seconds:
        lines.append(("seconds", f"{training.seconds:.1f}"))
    lines += [("" if i else "kernels", text) for i, text in enumerate(_kernel_lines(model))]
    summary = facts(lines, f"{training.name}: {recipe}")
    if training.judge is None or not training.judged:
        return Group(summary)
    measured = measures_table(training.judge.measures)
    if tables:
        measured = replace(measured, title="each label known before the next row")
    elif training.judge.measures.model.rows == training.judged:  # as said above
        measured = replace(measured, title="")
    return Group(summary, "", below_each_other([*tables, measured], width))


def _kernel_lines(model: Any) -> list[str]:
    """The kernels of the greatest weights, and what the others weigh; none of a trivial rule."""
    pairs = list(zip(model.kernel_weights_, model.kernels_, strict=True))
    pairs.sort(key=lambda pair: -pair[0])
    best = [pair for pair in pairs[:BEST_KERNELS] if pair[0] >= LEAST]
    shown = [f"{weight:.3f}  {kernel}" for weight, kernel in best]
    if rest := pairs[len(best) :]:
        shown.append(f"{sum(weight for weight, _ in rest):.3f}  {len(rest)} others")
    bare = float(np.sum(model.expert_weights_) - np.sum(model.kernel_weights_)) if pairs else 0.0
    if bare >= LEAST:
        shown.append(f"{bare:.3f}  experts without a kernel")
    return shown


def training_json(training: Training, recipe: str | None) -> dict[str, Any]:
    """A training as plain values; recipe : its name, None where the model came with its file.

    The error is in per cent, or the mean squared error of numbers, which have neither `classes`
    nor `mistakes`. `seconds` is None where all was learned before. `level_counts` has the columns
    of declared levels, `first_left_out` what was wrong with rows that were left out, and `taken`
    what "auto" took columns for.
    """
    model, task = training.estimator, task_of(training.estimator)
    values: dict[str, Any] = {
        "data": training.name,
        "recipe": recipe,
        "task": task,
        "n_rows": training.rows,
        "n_rows_before": sum(data.rows for data in training.past),
        "resumed_at": training.resumed_at,
    }
    if task == "classification":
        new = [{"label": label, "row": row} for label, row in training.new_classes.items()]
        values |= {"classes": model.classes_, "new_classes": new, "mistakes": training.loss}
    if known := _hindsight(training):
        values |= {
            "best_expert": _expert(model, known.expert),
            "best_expert_mistakes": known.mistakes,
            "regret": known.regret,
            "mistake_bound": known.bound,
        }
    if training.judge is not None:
        past = [*training.past, training.as_past]
        since = since_json(past, training.judge.windows, training.judge, task)
        values |= {name: since[name] for name in ("windows", "n_changes", "changes")}
        values["measures"] = measures_json(training.judge.measures)
    if training.ahead is not None:
        values["ahead"] = measures_json(training.ahead)
    values |= {
        "error": _scale(task) * training.error,
        "n_support_stored": model.n_support_stored_,
        "n_support_active": model.n_support_active_,
        "labels_asked": model.labels_asked_,
        "seconds": training.seconds or None,
        "level_counts": [counts.described() for counts in training.level_counts],
        "rows_without_label": training.n_unlabelled,
        "rows_left_out": len(bad.places) if (bad := training.bad_rows) else 0,
        "first_left_out": bad.problems if bad else [],
        "taken": training.taken,
        "kernels": [str(kernel) for kernel in model.kernels_],
        "kernel_weights": model.kernel_weights_,
    }
    return dict(plain(values))


def _hindsight(training: Training) -> Hindsight | None:
    """Of a run that was learned from its beginning, and by one model."""
    model, in_all = training.estimator, training.in_all
    if in_all.loss is None or model.n_rounds_ != in_all.judged or training.windows is None:
        return None
    return hindsight(model, in_all.loss)


def _expert(model: Any, number: int) -> str:
    """An expert in words: its kernel, where each kernel is one."""
    if len(model.expert_weights_) == len(model.kernels_):
        return str(model.kernels_[number])
    return f"expert {number + 1} of {len(model.expert_weights_)}"


KERNELS, LEARNERS = 10, 5  # shown, by weight
LINES = 8  # of the machine
NAMED = 3  # of the data
LABELS = 14  # columns of a terminal that the names of the facts take
NOT_RECORDED = "not recorded"


def file_facts(path: str | PathLike[str]) -> dict[str, Any]:
    """Name, bytes and time of a file, where there is one."""
    try:
        found = os.stat(path)
    except OSError:
        return {"file": os.fspath(path)}  # reading it says what is wrong
    written = datetime.fromtimestamp(found.st_mtime).astimezone()
    return {
        "file": os.fspath(path),
        "bytes": found.st_size,
        "written_at": written.isoformat(timespec="seconds"),
    }


def model_json(estimator: Any, checkpoint: Checkpoint | None) -> dict[str, Any]:
    """A model and its training as plain values; docs/json_schema.md has the keys.

    Errors are in per cent, or mean squared errors of numbers. What is not known is None; what a
    model of its kind does not have is not there.

    checkpoint : that is beside it in the file; None where `kb.save` wrote the file
    """
    model, around = _around(estimator)
    task, known = task_of(model), checkpoint or Checkpoint([], finished=False)
    since = since_json(known.past, known.windows, known.judge, task)
    if checkpoint is None:
        since["data"] = None
    else:
        since["measures"] = known.judge and measures_json(known.judge.measures)
    found: dict[str, Any] = {
        "estimator": type(_machine_of(estimator)).__name__,
        "machine": as_python(_machine_of(estimator), few=math.inf),
        "task": task,
        "learned": _has_learned(model),
        "source": _source(estimator, model),
        "finished": None if checkpoint is None else checkpoint.finished,
        "seconds": known.seconds or None,
        **since,
        **around,
    }
    if found["learned"]:
        found |= _learned(model)
    return dict(plain(found))


def model_page(found: dict[str, Any], estimator: Any, width: int = 80) -> Group:
    """The same on one screen; found : `model_json`, with `file_facts` and written_by."""
    from rich.console import Group

    blocks: list[Any] = [facts(list(_lines(found, estimator, width)), found["file"])]
    for table in (past_table(found), _kernels(found), _learners(found)):
        if table is not None:
            blocks += ["", rendered(table, width)]
    return Group(*blocks)


# -- what is known ----------------------------------------------------------------------------


def _source(estimator: Any, model: Any) -> dict[str, Any]:
    like = estimator if isinstance(estimator, TableModel) else TableModel._around(model)
    encoder, named = like.encoder_, like.named_classes_
    width = None if encoder is None else len(encoder.get_feature_names_out())
    is_table = isinstance(estimator, TableModel)
    return {
        "n_features": getattr(model, "n_features_in_", width),
        "positive": like.positive_,
        # What an encoder makes of the columns may be very many.
        "features": encoder.columns_ if encoder is not None and not is_table else None,
        "label": like.label_,
        "encoder": encoder.described() if encoder is not None and is_table else None,
        "aside": like.aside_ or None,
        "classes": None if named is None else named.tolist(),
    }  # fmt: skip


def _machine_of(estimator: Any) -> Any:
    """What learns in a `TableModel`; any other estimator itself."""
    return estimator.model if isinstance(estimator, TableModel) else estimator


def _has_learned(model: Any) -> bool:
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def _around(estimator: Any) -> tuple[Any, dict[str, Any]]:
    """The model that others are around, and what these hold."""
    found: dict[str, Any] = {}
    while isinstance(estimator, (LateLabels, NamedColumns, TableModel)):
        if isinstance(estimator, TableModel):
            encoder = estimator._unwrapped()[1]
            found |= {} if encoder is None else {"columns": encoder.columns_}
        elif isinstance(estimator, LateLabels):
            dropped = vars(estimator).get("n_dropped_", 0)
            found |= {"n_waiting": len(estimator.waiting_), "n_dropped": dropped}
        else:
            found["columns"] = vars(estimator).get("names_", [])
        estimator = estimator.model
    return estimator, found


def _learned(model: Any) -> dict[str, Any]:
    """What a model of any kind has learned, as far as it has it."""
    voted = hasattr(model, "dual_")
    rows = len(model.dual_) if voted else model.n_rounds_
    names = (
        "classes", "n_rows_skipped", "memory_bytes", "n_support_stored", "n_support_active",
        "n_terms", "objective", "gap", "lam", "beta",
    )  # fmt: skip
    learned = {name: getattr(model, f"{name}_") for name in names if hasattr(model, f"{name}_")}
    if hasattr(model, "grid_"):
        chosen = model.errors_.mean(axis=1).min()
        learned |= {"validation_error": 100.0 * chosen, "folds": model.errors_.shape[1]}
    weights = model.kernel_weights_
    order = np.argsort(-weights, kind="stable")
    kernels = [{"kernel": str(model.kernels_[k]), "weight": weights[k]} for k in order]
    asked = rows if voted else model.labels_asked_
    found = {"n_rows": rows, "labels_asked": asked, **learned, "kernels": kernels}
    return found if voted or not kernels else found | {"experts": _experts(model)}


def _experts(model: Any) -> list[dict[str, Any]]:
    classes = hasattr(model, "expert_mistakes_")
    errors = model.expert_mistakes_ if classes else model.expert_errors_
    known = len(errors) == len(model.experts_)
    pairs = zip(model.experts_, model.expert_weights_, strict=True)
    return [
        {
            "learner": None if expert.learner is None else as_python(expert.learner, 10**6),
            "kernel": None if expert.kernel is None else str(expert.kernel),
            "scaling": expert.scaling,
            "weight": weight,
            "mistakes" if classes else "squared_error": errors[i] if known else None,
        }
        for i, (expert, weight) in enumerate(pairs)
    ]


# -- on a screen ------------------------------------------------------------------------------


def _lines(found: dict[str, Any], estimator: Any, width: int) -> Iterator[tuple[str, str]]:
    yield "machine", _machine(estimator, width - LABELS)
    written = datetime.fromisoformat(found["written_at"]).strftime("%Y-%m-%d %H:%M:%S")
    yield "written", f"{written} by kernbrook {found['written_by'] or NOT_RECORDED}"
    memory = found.get("memory_bytes")
    inside = f", {sized(memory)} in memory" if memory else ""
    yield "size", f"{sized(found['bytes'])} on disk{inside}"
    yield "trained on", _data(found)
    if names := found.get("columns") or found["source"]["features"]:
        yield "columns", few(list(map(str, names)))
    if "n_waiting" in found:
        dropped = f", {counted(found['n_dropped'], 'row')} dropped" if found["n_dropped"] else ""
        yield "waiting", f"{counted(found['n_waiting'], 'row')} for labels{dropped}"
    if not found["learned"]:
        yield "learned", "nothing yet"
        return
    yield from _rows(found)
    if found["kernels"] and (found["n_support_stored"] or found["task"] == "classification"):
        stored, active = found["n_support_stored"], found.get("n_support_active")
        some = "" if active in (None, stored) else f", {active:,} of them in the last vote"
        terms = f", {found['n_terms']:,} terms" if "n_terms" in found else ""
        yield "vectors", f"{stored:,} support vectors{some}{terms}"
    if "validation_error" in found:
        error = f"{found['validation_error']:.2f} % wrong in {found['folds']} folds"
        yield "chosen", f"lam {found['lam']:g}, beta {found['beta']:g}: {error}"
    if isinstance(found.get("objective"), float):
        yield "objective", f"{found['objective']:.6g}, at most {found['gap']:.1g} from the optimum"


def _machine(estimator: Any, width: int) -> str:
    lines = in_lines(_machine_of(estimator), width, LINES).split("\n")
    return "\n".join(lines if len(lines) <= LINES else [*lines[: LINES - 1], "..."])


def _data(found: dict[str, Any]) -> str:
    names = [NOT_RECORDED if name is None else name for name in found["data"] or [None]]
    source, n_data = found["source"], sum(data["data"] for data in found["past"])
    parts = [", then ".join(names) if n_data <= NAMED else f"{n_data:,} data up to {names[-1]}"]
    if source["n_features"] is not None:
        parts.append(counted(source["n_features"], "feature"))
    if source["label"] is not None:
        parts.append(f"labels in {source['label']!r}")
    if source["positive"] is not None:
        parts.append(f"{source['positive']!r} against the rest")
    return ", ".join(parts)


def _rows(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if "classes" in found:
        yield "classes", few(list(map(str, found["classes"])))
    rows, asked = found["n_rows"], found["labels_asked"]
    so_far = " so far: a checkpoint" if found["finished"] is False else ""
    skipped = found.get("n_rows_skipped")
    left_out = f", and {counted(skipped, 'row')} skipped" if skipped else ""
    yield "rows", f"{rows:,}{so_far}{left_out}"
    yield "labels", "all" if asked == rows else f"{asked:,} ({100 * asked / max(rows, 1):.1f} %)"
    if "n_terms" in found:  # from all data at once
        return
    if found["error"] is None:
        yield ONLINE[found["task"]], NOT_RECORDED
        return
    yield from since_lines(found)


def _kernels(found: dict[str, Any]) -> Table | None:
    kernels = found.get("kernels")
    if not kernels:
        return None
    names, weights = ([kernel[name] for kernel in kernels] for name in ("kernel", "weight"))
    experts = found.get("experts", [])
    alone = {expert["kernel"]: expert.get("mistakes") for expert in experts}
    more = {}
    if len(experts) == len(alone) == len(names) and None not in alone.values():
        shares = [100 * alone[name] / max(found["labels_asked"], 1) for name in names]
        more = {"alone, error %": shares}
    return by_weight("kernel", names, weights, KERNELS, more)


def _learners(found: dict[str, Any]) -> Table | None:
    """Learners by the weight of their experts, where there are several."""
    sums: dict[str, list[float]] = {}
    for expert in found.get("experts", []):
        scaling = f" of {expert['scaling']}" if expert["scaling"] else ""
        name = f"{expert['learner']}{scaling}".replace("kb.", "")
        sums.setdefault(name, []).append(expert["weight"])
    if len(sums) < 2:
        return None
    names = sorted(sums, key=lambda name: -sum(sums[name]))
    weights, numbers = ([of(sums[name]) for name in names] for of in (sum, len))
    return by_weight("learner", names, weights, LEARNERS, {"experts": numbers})
