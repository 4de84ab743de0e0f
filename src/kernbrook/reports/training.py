"""What one training came to: a few lines for the terminal, or plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernbrook.estimators.tasks import task_of
from kernbrook.evaluation.oracles import Hindsight, hindsight
from kernbrook.reports.as_json import plain
from kernbrook.reports.terminal import facts
from kernbrook.reports.words import ERROR_NAMES, error_value

if TYPE_CHECKING:
    from rich.table import Table

    from kernbrook.evaluation.training import Training

BEST_KERNELS = 5


def training_table(training: Training, data: str, recipe: str) -> Table:
    """Rows, online error, support vectors, seconds, and the kernels of the greatest weights.

    Labels asked for are shown where they are fewer than the rows.

    Parameters
    ----------
    training : at least one row
    data : name of the data
    recipe : the algorithm's title

    Returns
    -------
    a table for `rich.console.Console.print`
    """
    model, task = training.estimator, task_of(training.estimator)
    lines = [
        ("rows", f"{training.rows:,}"),
        (
            "online error" if task == "classification" else ERROR_NAMES[task],
            error_value(training.error, task),
        ),
    ]
    if known := _hindsight(training):
        share = error_value(known.mistakes / training.rows, task)
        lines.append(("best expert alone", f"{share}, {_expert(model, known.expert)}"))
        bound = f", at most {known.bound - known.mistakes:,.0f} by theory" if known.bound else ""
        lines.append(("regret to it", f"{known.regret:+,.0f} mistakes{bound}"))
    if task == "classification" or model.n_support_stored_:
        lines.append(("support vectors", f"{model.n_support_stored_:,}"))
    if (asked := model.labels_asked_) < training.rows:
        share = 100 * asked / training.rows
        lines.append(("labels asked", f"{asked:,} ({share:.1f} %)"))
    if training.seconds:
        lines.append(("seconds", f"{training.seconds:.1f}"))
    pairs = list(zip(model.kernel_weights_, model.kernels_, strict=True))
    pairs.sort(key=lambda pair: -pair[0])
    best = [pair for pair in pairs[:BEST_KERNELS] if pair[0] >= 0.0005]  # 0.001 as shown
    shown = [f"{weight:.3f}  {kernel}" for weight, kernel in best]
    if rest := pairs[len(best) :]:
        shown.append(f"{sum(weight for weight, _ in rest):.3f}  {len(rest)} others")
    lines += [("" if i else "kernels", text) for i, text in enumerate(shown)]
    return facts(lines, f"{data}: {recipe}")


def training_json(training: Training, data: str, recipe: str) -> dict[str, Any]:
    """A training as plain values that `json.dumps(..., allow_nan=False)` takes.

    The error is in per cent, or the mean squared error of numbers, which have neither `classes`
    nor `mistakes`. `seconds` is None where all was learned before. `level_counts` has the columns
    of declared levels.

    Parameters
    ----------
    training : at least one row
    data : name of the data
    recipe : its name

    Returns
    -------
    dict
    """
    model, task = training.estimator, task_of(training.estimator)
    values: dict[str, Any] = {
        "data": data,
        "recipe": recipe,
        "task": task,
        "n_rows": training.rows,
        "resumed_at": training.resumed_at,
    }
    if task == "classification":
        values |= {"classes": model.classes_, "mistakes": training.loss}
    if known := _hindsight(training):
        values |= {
            "best_expert": _expert(model, known.expert),
            "best_expert_mistakes": known.mistakes,
            "regret": known.regret,
            "mistake_bound": known.bound,
        }
    values |= {
        "error": 100.0 * training.error if task == "classification" else training.error,
        "n_support_stored": model.n_support_stored_,
        "n_support_active": model.n_support_active_,
        "labels_asked": model.labels_asked_,
        "seconds": training.seconds or None,
        "level_counts": [one.described() for one in training.level_counts],
        "kernels": [str(kernel) for kernel in model.kernels_],
        "kernel_weights": model.kernel_weights_,
    }
    return {name: plain(value) for name, value in values.items()}


def _hindsight(training: Training) -> Hindsight | None:
    """Of a run that was learned from its beginning, and by one model."""
    model = training.estimator
    if model.n_rounds_ != training.rows or training.windows is None:
        return None
    return hindsight(model, training.loss)


def _expert(model: Any, number: int) -> str:
    """An expert in words: its kernel, where each kernel is one."""
    if len(model.expert_weights_) == len(model.kernels_):
        return str(model.kernels_[number])
    return f"expert {number + 1} of {len(model.expert_weights_)}"
