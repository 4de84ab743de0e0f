"""A folder of Parquet files to a model's file, by the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any

from kernbrook.distributed.fitting import Fitted, crew_of, fit_parts
from kernbrook.distributed.parts import Parts
from kernbrook.estimators.tasks import Task
from kernbrook.evaluation.measures import Sums
from kernbrook.evaluation.recipes_wanted import NewModel, task_of_labels
from kernbrook.evaluation.sessions.checkpoints import Checkpoint, save_checkpoint
from kernbrook.evaluation.sessions.classes import named_classes
from kernbrook.evaluation.sessions.locking import locked
from kernbrook.evaluation.sessions.training import Training, check_target
from kernbrook.evaluation.windows import Past
from kernbrook.streams import open_stream
from kernbrook.streams.stream import has_label


def train_parts(
    parts: Parts,
    new: NewModel,
    path: str | PathLike[str],
    client: Any,
    *,
    rounds: int = 1,
    classes: Any = None,
    overwrite: bool = False,
    progress: Callable[[Fitted], None] | None = None,
) -> Training:
    """`fit`, and the model to a file that `predict` takes.

    Parameters
    ----------
    parts : of a folder
    new : the model
    client, rounds, classes : as `fit` has them
    path, overwrite : as `kernbrook.evaluation.train` has them; the file is no place to go on from
    progress : called after each round
    """
    with locked(path):
        check_target(path, False, overwrite)
        estimator = new.fitting(lambda: _task_of(parts))
        crew, kind = crew_of(client), parts.first[1].dtype
        classes = named_classes(estimator, classes, kind)
        fitted = fit_parts(estimator, parts, crew, rounds, crew.size, classes, progress)
        data = Sums(fitted.rows, fitted.judged, {"loss": fitted.loss})
        result = Training(
            estimator, name=parts.name, rows=fitted.rows, rows_read=fitted.rows, data=data,
            finished=True, windows=None, seconds=fitted.seconds,
            level_counts=fitted.level_counts, n_unlabelled=fitted.rows - fitted.judged,
        )  # fmt: skip
        assert parts.like is not None
        past = [Past(**vars(data), name=parts.name)]
        save_checkpoint(parts.like.set_params(model=estimator), Checkpoint(past, True), path)
        return result


def _task_of(parts: Parts) -> Task:
    """Numbers where a label of the first rows has a fraction, else classes."""
    X, y = parts.first
    there = has_label(y)
    return task_of_labels(open_stream((X[there], y[there]))) if there.any() else "classification"
