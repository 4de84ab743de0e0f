"""What a model's file holds: plain values, and one screen of them."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from kernbrook.estimators.by_name import NamedColumns
from kernbrook.estimators.late import LateLabels
from kernbrook.estimators.table_model import TableModel
from kernbrook.estimators.tasks import task_of
from kernbrook.reports.as_json import plain
from kernbrook.reports.code import as_python, in_lines
from kernbrook.reports.measured import measures_json
from kernbrook.reports.since import past_table, since_json, since_lines
from kernbrook.reports.table import Column, Table
from kernbrook.reports.terminal import facts, rendered
from kernbrook.reports.words import ERROR_NAMES, counted, few, sized

if TYPE_CHECKING:
    from os import PathLike

    from rich.console import Group

    from kernbrook.estimators.tasks import Task
    from kernbrook.evaluation.checkpoint import Checkpoint

KERNELS, LEARNERS = 10, 5  # shown, by weight
SHOWN = 0.0005  # weights that are 0.001 or more as they are written
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
    """A model and its training as plain values that `json.dumps(..., allow_nan=False)` takes.

    Errors are in per cent, or mean squared errors of numbers. What is not known is None; what a
    model of its kind does not have is not there.

    Parameters
    ----------
    estimator : what `kb.load` gives
    checkpoint : that is beside it in the file; None where `kb.save` wrote the file

    Returns
    -------
    dict with the keys estimator, machine, task, learned, source, finished, seconds, measures of the
    last data, and those of `since_json`; of what has learned n_rows, labels_asked, kernels, experts
    and others
    """
    model, around = _around(estimator)
    found: dict[str, Any] = {
        "estimator": type(_machine_of(estimator)).__name__,
        "machine": as_python(_machine_of(estimator), few=math.inf),
        "task": task_of(model),
        "learned": _has_learned(model),
        "source": _source(estimator, model),
        "finished": None if checkpoint is None else checkpoint.finished,
        "seconds": (checkpoint.seconds or None) if checkpoint is not None else None,
        **_since(checkpoint, task_of(model)),
        **around,
    }
    if found["learned"]:
        found |= _learned(model)
    return {name: plain(value) for name, value in found.items()}


def model_page(found: dict[str, Any], estimator: Any, width: int = 80) -> Group:
    """The same on one screen.

    Parameters
    ----------
    found : `model_json`, with `file_facts` and written_by
    estimator : what `kb.load` gives
    width : columns of the terminal
    """
    from rich.console import Group

    shown: list[Any] = [facts(list(_lines(found, estimator, width)), found["file"])]
    tables = (past_table(found), _kernels(found), _learners(found))
    for table in tables:
        if table is not None:
            shown += ["", rendered(table, width)]
    return Group(*shown)


# -- what is known ----------------------------------------------------------------------------


def _source(estimator: Any, model: Any) -> dict[str, Any]:
    """What a model knows of the data that it was trained on."""
    like = estimator if isinstance(estimator, TableModel) else TableModel._around(model)
    encoder, named = like.encoder_, like.named_classes_
    width = None if encoder is None else len(encoder.get_feature_names_out())
    own = isinstance(estimator, TableModel)
    return {
        "n_features": getattr(model, "n_features_in_", width),
        "positive": like.positive_,
        # What an encoder makes of the columns may be very many.
        "features": encoder.columns_ if encoder is not None and not own else None,
        "label": like.label_,
        "encoder": encoder.described() if encoder is not None and own else None,
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


def _since(checkpoint: Checkpoint | None, task: Task) -> dict[str, Any]:
    """What is known of the model's past."""
    if checkpoint is None:
        return since_json([], None, None, task) | {"data": None}
    found = since_json(checkpoint.past, checkpoint.windows, checkpoint.judge, task)
    judge = checkpoint.judge
    return found | {"measures": None if judge is None else measures_json(judge.measures)}


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
    own = {name: getattr(model, f"{name}_") for name in names if hasattr(model, f"{name}_")}
    if hasattr(model, "grid_"):
        chosen = model.errors_.mean(axis=1).min()
        own |= {"validation_error": 100.0 * chosen, "folds": model.errors_.shape[1]}
    weights = model.kernel_weights_
    order = np.argsort(-weights, kind="stable")
    kernels = [{"kernel": str(model.kernels_[k]), "weight": weights[k]} for k in order]
    asked = rows if voted else model.labels_asked_
    found = {"n_rows": rows, "labels_asked": asked, **own, "kernels": kernels}
    return found if voted or not kernels else found | {"experts": _experts(model)}


def _experts(model: Any) -> list[dict[str, Any]]:
    """The experts in their order: learner, kernel, scaling, weight; what each errs alone."""
    classes = hasattr(model, "expert_mistakes_")
    errors = model.expert_mistakes_ if classes else model.expert_errors_
    known = len(errors) == len(model.experts_)
    return [
        {
            "learner": None if one.learner is None else as_python(one.learner, 10**6),
            "kernel": None if one.kernel is None else str(one.kernel),
            "scaling": one.scaling,
            "weight": weight,
            "mistakes" if classes else "squared_error": errors[i] if known else None,
        }
        for i, (one, weight) in enumerate(zip(model.experts_, model.expert_weights_, strict=True))
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
    """Its Python, shortened to a few lines."""
    lines = in_lines(_machine_of(estimator), width, LINES).split("\n")
    return "\n".join(lines if len(lines) <= LINES else [*lines[: LINES - 1], "..."])


def _data(found: dict[str, Any]) -> str:
    names = [NOT_RECORDED if name is None else name for name in found["data"] or [None]]
    source, n_data = found["source"], sum(one["data"] for one in found["past"])
    parts = [", then ".join(names) if n_data <= NAMED else f"{n_data:,} data up to {names[-1]}"]
    if source["n_features"] is not None:
        parts.append(counted(source["n_features"], "feature"))
    if source["label"] is not None:
        parts.append(f"labels in {source['label']!r}")
    if source["positive"] is not None:
        parts.append(f"{source['positive']!r} against the rest")
    return ", ".join(parts)


def _rows(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Rows, labels and errors so far."""
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
        task = found["task"]
        yield "online error" if task == "classification" else ERROR_NAMES[task], NOT_RECORDED
        return
    yield from since_lines(found)


def _kernels(found: dict[str, Any]) -> Table | None:
    """Kernels by weight; with what each errs alone, where it is one expert."""
    kernels = found.get("kernels")
    if not kernels:
        return None
    names, weights = ([one[name] for one in kernels] for name in ("kernel", "weight"))
    experts = found.get("experts", [])
    alone = {one["kernel"]: one.get("mistakes") for one in experts}
    more = []
    if len(experts) == len(alone) == len(names) and None not in alone.values():
        shares = [100 * alone[name] / max(found["labels_asked"], 1) for name in names]
        more = [("alone, error %", shares)]
    return _by_weight("kernel", names, weights, more, KERNELS)


def _learners(found: dict[str, Any]) -> Table | None:
    """Learners by the weight of their experts, where there are several."""
    sums: dict[str, list[float]] = {}
    for one in found.get("experts", []):
        scaling = f" of {one['scaling']}" if one["scaling"] else ""
        name = f"{one['learner']}{scaling}".replace("kb.", "")
        sums.setdefault(name, []).append(one["weight"])
    if len(sums) < 2:
        return None
    names = sorted(sums, key=lambda name: -sum(sums[name]))
    weights, numbers = ([of(sums[name]) for name in names] for of in (sum, len))
    return _by_weight("learner", names, weights, [("experts", numbers)], LEARNERS)


def _by_weight(
    what: str,
    names: Sequence[str],
    weights: Sequence[float],
    more: Sequence[tuple[str, Sequence[float]]],
    most: int,
) -> Table:
    """Things with falling weights, the first of them with bars, and what the others weigh."""
    shown = max(1, sum(weight >= SHOWN for weight in weights[:most]))
    greatest = max(weights[0], 1e-12)
    columns = [
        Column(what, tuple(names[:shown]), kind="code"),
        Column("weight", tuple(weights[:shown]), "{:.3f}".format),
        Column("", tuple(max(w, 0.0) / greatest for w in weights[:shown]), kind="bar", spare=1),
    ]
    for header, values in more:
        form = "{:,}".format if isinstance(values[0], int) else "{:.2f}".format
        columns.append(Column(header, tuple(values[:shown]), form))
    rest = weights[shown:]
    note = f"... and {len(rest)} more, {100 * sum(rest):.0f} % together"
    return Table(tuple(columns), notes=(note,) if rest else ())
