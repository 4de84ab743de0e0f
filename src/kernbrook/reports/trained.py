"""What one training came to: a few lines for the terminal, or plain values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbrook.estimators.tasks import task_of
from kernbrook.evaluation.oracles import Hindsight, hindsight
from kernbrook.reports.as_json import plain
from kernbrook.reports.measured import measures_json, measures_table, no_better
from kernbrook.reports.since import since_json
from kernbrook.reports.terminal import facts, rendered
from kernbrook.reports.words import ERROR_NAMES, error_value

if TYPE_CHECKING:
    from rich.console import Group

    from kernbrook.evaluation.training import Training

BEST_KERNELS = 5
_LEAST_WEIGHT = 0.0005  # 0.001 as shown


def training_table(training: Training, recipe: str, width: int = 80) -> Group:
    """Rows, online error, support vectors, seconds, and the kernels of the greatest weights.

    Rows and error are those of the data; after a comma of all that the model has learned from,
    where there were others before. Labels are shown where they are fewer than the rows.

    Parameters
    ----------
    training : at least one row
    recipe : the algorithm's title, or the name of the model's file
    width : columns of the terminal

    Returns
    -------
    what `rich.console.Console.print` takes; below stand the measures of the data beside those of
    trivial rules
    """
    from rich.console import Group

    model, task = training.estimator, task_of(training.estimator)
    rows, error = f"{training.rows:,}", error_value(training.error, task)
    in_all = training.in_all
    if training.past:
        rows += f", in all {in_all.rows:,}"
        if in_all.loss is not None and all(one.loss is not None for one in training.past):
            error += f", in all {error_value(in_all.loss / in_all.judged, task)}"
    lines = [("rows", rows)]
    if training.ahead is not None and training.ahead.model.rows:
        before = training.ahead.values()["model"]["error" if task == "classification" else "mse"]
        lines.append(("error before", f"{error_value(before, task)}, no label of these rows known"))
        if lost := no_better(training.ahead):
            lines.append(("", lost))
        error += ", each label known before the next row"
    lines += [
        ("online error" if task == "classification" else ERROR_NAMES[task], error),
    ]
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
    lines += [("" if i else "kernels", text) for i, text in enumerate(_kernels(model))]
    told = facts(lines, f"{training.name}: {recipe}")
    if training.judge is None or not training.judged:
        return Group(told)
    measures, tables = training.judge.measures, list[Any]()
    if training.ahead is not None and training.ahead.model.rows:
        whole = replace(
            measures_table(training.ahead), title="before, no label of these rows known"
        )
        tables += ["", rendered(whole, width)]
    table = measures_table(measures)
    if tables:
        table = replace(table, title="each label known before the next row")
    elif measures.model.rows == training.judged:  # as said above
        table = replace(table, title="")
    return Group(told, *tables, "", rendered(table, width))


def _kernels(model: Any) -> list[str]:
    """The kernels of the greatest weights, and what the others weigh; none of a trivial rule."""
    pairs = list(zip(model.kernel_weights_, model.kernels_, strict=True))
    pairs.sort(key=lambda pair: -pair[0])
    best = [pair for pair in pairs[:BEST_KERNELS] if pair[0] >= _LEAST_WEIGHT]
    shown = [f"{weight:.3f}  {kernel}" for weight, kernel in best]
    if rest := pairs[len(best) :]:
        shown.append(f"{sum(weight for weight, _ in rest):.3f}  {len(rest)} others")
    bare = float(np.sum(model.expert_weights_) - np.sum(model.kernel_weights_)) if pairs else 0.0
    if bare >= _LEAST_WEIGHT:
        shown.append(f"{bare:.3f}  experts without a kernel")
    return shown


def training_json(training: Training, recipe: str | None) -> dict[str, Any]:
    """A training as plain values that `json.dumps(..., allow_nan=False)` takes.

    The error is in per cent, or the mean squared error of numbers, which have neither `classes`
    nor `mistakes`. `seconds` is None where all was learned before. `level_counts` has the columns
    of declared levels, `first_left_out` what was wrong with rows that were left out, and `taken`
    what "auto" took columns for.

    Parameters
    ----------
    training : at least one row
    recipe : its name; None where the model came with its file

    Returns
    -------
    dict
    """
    model, task = training.estimator, task_of(training.estimator)
    values: dict[str, Any] = {
        "data": training.name,
        "recipe": recipe,
        "task": task,
        "n_rows": training.rows,
        "n_rows_before": sum(one.rows for one in training.past),
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
        "error": 100.0 * training.error if task == "classification" else training.error,
        "n_support_stored": model.n_support_stored_,
        "n_support_active": model.n_support_active_,
        "labels_asked": model.labels_asked_,
        "seconds": training.seconds or None,
        "level_counts": [one.described() for one in training.level_counts],
        "rows_without_label": training.n_unlabelled,
        "rows_left_out": len(bad.places) if (bad := training.bad_rows) else 0,
        "first_left_out": bad.told if bad else [],
        "taken": training.taken,
        "kernels": [str(kernel) for kernel in model.kernels_],
        "kernel_weights": model.kernel_weights_,
    }
    return {name: plain(value) for name, value in values.items()}


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
