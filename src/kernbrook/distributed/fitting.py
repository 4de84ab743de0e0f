"""Rounds of training apart, merging, and handing on."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial, reduce
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from kernbrook.checks import shown
from kernbrook.distributed.parts import Part, Parts, computed, has_delayed, parts_of, pieces
from kernbrook.errors import InputError
from kernbrook.estimators.base import OnlineMachine
from kernbrook.estimators.labels import as_labels, distinct, present
from kernbrook.estimators.merge import begin
from kernbrook.estimators.tasks import task_of
from kernbrook.evaluation.measures import added, losses
from kernbrook.evaluation.running.orders import check_count
from kernbrook.evaluation.running.parallel import Cluster, Crew
from kernbrook.evaluation.running.warming import ROWS, few_rows, warm_up
from kernbrook.streams.booleans import of_one_kind, spelled_as
from kernbrook.streams.tables.levels import LevelCounts, together, warn_of


@dataclass
class Fitted:
    """A model of rows that lay apart.

    Attributes
    ----------
    model : the estimator
    rows : that were learned
    judged : those of them with a label
    loss : on them, each predicted by its shard before it was learned: mistakes, or squared errors
    rounds : merged so far
    seconds : from the first round on
    level_counts : of each column of declared levels, how often each came in the rows so far
    """

    model: Any
    rows: int = 0
    judged: int = 0
    loss: float = 0
    rounds: int = 0
    seconds: float = 0.0
    level_counts: Sequence[LevelCounts] = ()


def fit(
    model: Any,
    data: Any,
    rounds: int = 1,
    client: Any = None,
    *,
    shards: int | None = None,
    classes: Any = None,
    label: str | None = None,
    encoder: Any = None,
) -> Any:
    """Learn from data in parts: in each round workers go on from one model apart, and are merged.

    Each row is learned once. The first round has the first parts, so that a stream is met in its
    order, but for the parts of one round. What merging keeps exactly and what it averages is said
    at `OnlineMKClassifier.merge`.

    Parameters
    ----------
    model : an `OnlineMKClassifier` or `OnlineMKRegressor`, also a recipe's; a fitted one goes on
    data : what to learn from:

        - a folder of Parquet files, which all workers see at the same place. A part is a row group
        - a Dask frame, of which a part is a partition
        - a pair (X, y) of arrays of Dask in blocks of rows, or of arrays, also sparse ones
    rounds : how often models are merged
    client : a client of Dask, an address such as "tcp://10.0.0.1:8786", or "local:4" for as many
        processes of this machine. None: all is done here, one shard after the other
    shards : models that learn apart; one for each thread of the workers by default, or one
    classes : all labels of a classifier; None to read the data once for them
    label : a table's column with the label, see `kb.open_stream`
    encoder : what a table's columns become, see `kb.TableEncoder`. What it learns, such as means
        for gaps, it learns from the first part

    Returns
    -------
    model, which has learned all rows; where something is raised, nothing

    Raises
    ------
    InputError
        The model cannot be merged, the data have fewer parts than there are rounds, or Dask is not
        installed.
    DataFileError
        A file cannot be read.

    Warns
    -----
    DataFileWarning
        A declared level never came, or a column has values that are no declared level, in one row
        of a hundred or more.

    References
    ----------
    McDonald, Hall, Mann (2010), Distributed training strategies for the structured perceptron:
    iterative parameter mixing.

    Examples
    --------
    >>> import kernbrook as kb
    >>> X, y = kb.open_stream("checkerboard:1000").read()
    >>> model = kb.OnlineMKClassifier(random_state=0)
    >>> kb.distributed.fit(model, (X, y), rounds=2, shards=2).n_rounds_
    1000
    """
    check_count("rounds", rounds, 1)
    crew = crew_of(client)
    count = crew.size if shards is None else shards
    check_count("shards", count, 1)
    parts = parts_of(data, count * rounds, label, encoder)
    fitted = fit_parts(model, parts, crew, rounds, count, classes)
    warn_of(fitted.level_counts, parts.name)
    return fitted.model


def crew_of(client: Any) -> Crew:
    """Who does the work; see `fit`."""
    if client is None:
        return Crew()
    if not isinstance(client, str) and not hasattr(client, "get_executor"):
        raise InputError(f"client: expected a client of Dask or an address, got {shown(client)}")
    return Cluster(client)


def fit_parts(
    model: Any,
    parts: Parts,
    crew: Crew,
    rounds: int,
    shards: int,
    classes: Any = None,
    progress: Callable[[Fitted], None] | None = None,
) -> Fitted:
    """`fit`, told after each round."""
    if not isinstance(model, OnlineMachine):
        raise InputError(f"model: expected an online machine of ours, got {shown(model)}")
    if len(parts.parts) < rounds:
        raise InputError(
            f"rounds: expected at most {len(parts.parts)}, the parts of the data, got {rounds}"
        )
    with crew:
        X, y = parts.first
        told = _classes(model, parts.parts, crew, classes)
        fitted = Fitted(_begun(model, X, told), level_counts=deepcopy(parts.levels))
        if shards > 1:  # refused, if at all, before any work
            deepcopy(fitted.model).merge(deepcopy(fitted.model), since=fitted.model)
        which = few_rows(y[:1024])[:ROWS]
        warm = partial(warm_up, clone(model), X[which], y[which], told)
        for call in [] if crew.here else crew.everywhere(warm):
            call.result()
        bounds, start = np.linspace(0, len(parts.parts), rounds + 1).astype(int), time.monotonic()
        for first, last in pairwise(bounds):
            own = [parts.parts[i:last:shards] for i in range(first, min(first + shards, last))]
            _round(fitted, own, crew, told)
            fitted.seconds = time.monotonic() - start
            if progress is not None:
                progress(fitted)
    model.__dict__.update(vars(fitted.model))
    fitted.model = model
    return fitted


def _begun(model: Any, X: Any, classes: Any) -> Any:
    """A copy that has met no row yet, or goes on: all shards begin with the same draws."""
    copied = deepcopy(model)
    if not hasattr(copied, "_model"):
        begin(copied, X[:1], classes)
    return copied


def _classes(model: Any, parts: Sequence[Part], crew: Crew, classes: Any) -> NDArray[Any] | None:
    """All labels of a classifier; None of numbers, and of a classifier that knows them."""
    if task_of(model) == "regression":
        if classes is not None:
            raise InputError(f"classes: {type(model).__name__} predicts numbers; give none")
        return None
    if classes is not None:
        return distinct(as_labels(classes), "classes")
    if hasattr(model, "classes_"):
        return None
    found = _all(crew, _labels, [([part],) for part in parts])
    return distinct(as_labels(list(of_one_kind(chain.from_iterable(found)))))


def _labels(parts: Sequence[Part]) -> list[Any]:
    """The labels in some parts, each once."""
    found: set[Any] = set()
    for _, y in chain.from_iterable(map(pieces, parts)):
        found.update(y[present(y)].tolist())
    return list(found)


def _round(fitted: Fitted, dealt: Sequence[Sequence[Part]], crew: Crew, classes: Any) -> None:
    """All shards go on from the model, and become one."""
    since = fitted.model
    held = crew.share(since)
    results = _all(crew, _go_on, [(held, classes, own) for own in dealt])
    models = [model for model, *_ in results]
    if len(models) > 1:
        models[0].merge(*models[1:], since=since)
    fitted.model, fitted.rounds = models[0], fitted.rounds + 1
    for _, rows, judged, loss, counts in results:
        fitted.rows, fitted.judged = fitted.rows + rows, fitted.judged + judged
        fitted.loss = added(fitted.loss, np.array([loss]))
        fitted.level_counts = together(fitted.level_counts, counts)


def _go_on(
    model: Any, classes: Any, parts: Sequence[Part]
) -> tuple[Any, int, int, float, Sequence[LevelCounts]]:
    """A copy of the model once it has learned some parts: with rows, labels, loss, and levels."""
    model, rows, judged, loss = deepcopy(model), 0, 0, 0.0
    met: list[Sequence[LevelCounts]] = []
    named = {} if classes is None else {"classes": classes}
    for X, y in chain.from_iterable(pieces(part, met) for part in parts):
        y = spelled_as(y, getattr(model, "classes_", ()) if classes is None else classes)
        predicted, _ = model.learn(X, y, **named)
        known = present(y)
        rows, judged = rows + len(y), judged + int(known.sum())
        loss = added(loss, losses(predicted[known], y[known], task_of(model)))
    return model, rows, judged, loss, reduce(together, met, ())


def _all(crew: Crew, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> list[Any]:
    """The results of calls, whose last argument is parts; here one by one, else by workers."""
    if crew.here:
        return [function(*first, computed(parts)) for *first, parts in calls]
    begun = [crew.submit(function, *first, _at_workers(crew, parts)) for *first, parts in calls]
    return [call.result() for call in begun]


def _at_workers(crew: Any, parts: Sequence[Part]) -> list[Any]:
    """Parts, where what Dask has yet to make is made by the workers."""
    return [
        [crew.client.compute(one) if has_delayed(one) else one for one in part] for part in parts
    ]
