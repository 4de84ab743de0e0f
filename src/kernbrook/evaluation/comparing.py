"""Several recipes over the same random orders of the same data."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy import stats

from kernbrook.errors import DataFileError, InputError, NonFiniteError
from kernbrook.evaluation.prequential import prequential
from kernbrook.evaluation.records import Comparison, Record, Row
from kernbrook.evaluation.tasks import (
    check_no_fraction,
    check_numbers,
    check_settings,
    classes_of,
    make_online,
    recipes_for,
    task_of_labels,
)
from kernbrook.models import recipes as book
from kernbrook.models.engine import available_cores
from kernbrook.models.tasks import Task
from kernbrook.streams import Stream, open_stream

Progress = Callable[[int], None]
Order = NDArray[np.int64] | None


def compare(
    data: Any,
    recipes: Sequence[str] | None = None,
    permutations: int | None = None,
    seed: int = 0,
    orders: NDArray[np.int64] | None = None,
    jobs: int | None = None,
    in_order: bool = False,
    progress: Callable[[int], Progress] | None = None,
    **overrides: Any,
) -> Comparison:
    """Run every recipe once over each of several orders of the data.

    Parameters
    ----------
    data : what `open_stream` takes, or a `Stream`
    recipes : names, all of one task; by default those for numbers where a label has a fraction,
        else those for classes
    permutations : number of orders; 20 by default, or as many as `orders` has
    seed : of the orders and of the recipes' draws
    orders : (p, n) int, the orders themselves, rows counted from 0
    jobs : processes; one a core by default
    in_order : one run in the data's own order, read in chunks and never held whole;
        `perceptron-best` then does not look ahead, see `prequential`
    progress : called with the number of rounds to come; gives what is called as they are done
    **overrides : passed to every recipe, such as discount=0.9

    Returns
    -------
    Comparison

    Raises
    ------
    KernbrookError
        Unknown names, recipes for another task than the data's, unreadable data, orders that do
        not fit, numbers that overflow in every recipe: one that diverges alone is left out.

    Examples
    --------
    >>> result = compare("checkerboard:300", ["omkc-dd", "majority"], permutations=2, jobs=1)
    >>> [row.title for row in result.rows]
    ['OMKC(D,D)', 'majority so far']
    """
    task = None if recipes is None else task_of_recipes(recipes, overrides)
    if jobs is not None and jobs < 1:
        raise InputError(f"jobs: expected 1 or more, got {jobs}")
    if in_order and (orders is not None or permutations not in (None, 1)):
        raise InputError("in_order: the data's own order is one order; give no others")
    stream = data if isinstance(data, Stream) else open_stream(data)
    if task is None:
        task = task_of_labels(stream)
        recipes = recipes_for(task)
        task_of_recipes(recipes, overrides)
    names = tuple(recipes or ())
    if in_order:
        return _one_pass(stream, names, task, seed, progress, overrides)

    X, y = stream.read()
    if task == "numbers":
        check_numbers(y)
    else:
        check_no_fraction(y)
        _check_classes(np.unique(y))
    sequence = orders_of(orders, permutations, seed, len(y))
    calls = [(name, run) for run in range(len(sequence)) for name in names]
    advance = progress(len(calls) * len(y)) if progress else _silent
    _warm_up(names, X, y, overrides)
    runs = dict(_runs(calls, X, y, sequence, seed, overrides, jobs, advance))
    rows, left_out = _rows(
        names, [[runs[name, run] for run in range(len(sequence))] for name in names]
    )
    facts = manifest(seed) | {
        "data": stream.name,
        "data_sha256": _digest(X, y),
        "permutations": len(sequence),
        "orders": "given" if orders is not None else "seeded",
        "parameters": {key: repr(value) for key, value in overrides.items()},
    }
    return Comparison(
        stream.name, len(y), X.shape[1], len(sequence), rows, best_rows(rows), facts, left_out
    )


def task_of_recipes(names: Sequence[str], overrides: dict[str, Any] | None = None) -> Task:
    """What recipes predict; a wrong name, parameter or value is found before any data are read.

    Raises
    ------
    InputError
        There are none, some predict classes and others numbers, or a parameter is wrong.
    UnknownNameError
        No recipe has such a name.
    """
    if not names:
        raise InputError("recipes: expected one or more names, got none")
    for name in names:
        check_settings(make_online(name, **(overrides or {})))
    by_task: dict[Task, list[str]] = {}
    for name in names:
        by_task.setdefault(book.task(name), []).append(name)
    if len(by_task) > 1:
        told = " and ".join(f"for {task} {', '.join(own)}" for task, own in by_task.items())
        raise InputError(f"recipes: expected all for classes or all for numbers, got {told}")
    (task,) = by_task
    return task


def _check_classes(classes: NDArray[Any]) -> None:
    if len(classes) < 2:
        found = ", ".join(map(str, classes)) or "none"
        raise InputError(f"data: expected labels of two classes or more, found {found}")


def _silent(rounds: int) -> None:
    return None


def _one_pass(
    stream: Stream,
    names: Sequence[str],
    task: Task,
    seed: int,
    progress: Callable[[int], Progress] | None,
    overrides: dict[str, Any],
) -> Comparison:
    classes = None
    if task == "numbers":
        check_numbers(next(stream.chunks(1))[1])
    else:
        classes = classes_of(stream)
        _check_classes(classes)
    advance = progress(len(names) * (stream.n_rows or 0)) if progress else _silent
    runs = []
    for name in names:
        estimator = book.make(name, random_state=state_of(seed, 0), **overrides)
        runs.append([_attempt(estimator, stream, classes=classes, progress=advance)])
    rows, left_out = _rows(names, runs)
    facts = manifest(seed) | {"data": stream.name, "permutations": 1, "orders": "as stored"}
    rounds = len(rows[0].runs[0].predictions)
    best = best_rows(rows)
    return Comparison(stream.name, rounds, stream.n_features, 1, rows, best, facts, left_out)


Outcome = Record | NonFiniteError


def _attempt(estimator: Any, *arguments: Any, **options: Any) -> Outcome:
    """A prequential run, or why it came to no end: one recipe must not cost the others' results."""
    try:
        return prequential(estimator, *arguments, **options)
    except NonFiniteError as error:
        return error


def _rows(
    names: Sequence[str], runs: Sequence[Sequence[Outcome]]
) -> tuple[tuple[Row, ...], dict[str, str]]:
    """The rows of recipes whose runs all came to their end, and why others did not."""
    rows, left_out = [], {}
    for name, own in zip(names, runs, strict=True):
        errors = [outcome for outcome in own if isinstance(outcome, NonFiniteError)]
        if errors:
            left_out[name] = str(errors[0])
        else:
            records = tuple(outcome for outcome in own if isinstance(outcome, Record))
            rows.append(Row(name, book.title(name), records))
    if not rows:
        raise NonFiniteError("; ".join(f"{name}: {problem}" for name, problem in left_out.items()))
    return tuple(rows), left_out


def _run(
    task: tuple[str, int],
    X: Any,
    y: NDArray[Any],
    order: NDArray[np.int64],
    seed: int,
    overrides: dict[str, Any],
    advance: Progress | None = None,
) -> tuple[tuple[str, int], Outcome]:
    name, run = task
    estimator = book.make(name, random_state=state_of(seed, run), **overrides)
    return task, _attempt(estimator, X, y, order, progress=advance)


def _runs(
    tasks: list[tuple[str, int]],
    X: Any,
    y: NDArray[Any],
    orders: NDArray[np.int64],
    seed: int,
    overrides: dict[str, Any],
    jobs: int | None,
    advance: Progress,
) -> Iterator[tuple[tuple[str, int], Outcome]]:
    """The results, in any order; several processes where there are several tasks."""
    jobs = min(jobs or available_cores(), len(tasks))
    if jobs == 1:
        for task in tasks:
            yield _run(task, X, y, orders[task[1]], seed, overrides, advance)
        return
    from joblib import Parallel, delayed

    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered")
    calls = (delayed(_run)(task, X, y, orders[task[1]], seed, overrides) for task in tasks)
    for result in parallel(calls):
        advance(len(y))
        yield result


def _warm_up(names: Sequence[str], X: Any, y: NDArray[Any], overrides: dict[str, Any]) -> None:
    """Compile, or load from the disk cache, once and outside every clock."""
    if book.task(names[0]) == "numbers":
        few, labels = list(range(min(2, len(y)))), {}
    else:
        classes = np.unique(y)
        few, labels = [int(np.argmax(y == label)) for label in classes], {"classes": classes}
    for name in names:
        estimator = book.make(name, random_state=0, **overrides)
        with suppress(NonFiniteError):  # its runs will say it again
            for _ in range(2):  # the second time with support vectors
                estimator.learn(X[few], y[few], **labels)


def state_of(seed: int, run: int) -> int:
    """The random_state of the recipes in that run."""
    return int(np.random.SeedSequence([seed, run, 1]).generate_state(1)[0] >> 1)


def orders_of(
    given: NDArray[np.int64] | None, permutations: int | None, seed: int, n: int
) -> NDArray[np.int64]:
    """(p, n) the orders that `compare` takes the n rows in: those given, or seeded ones."""
    if permutations is not None and permutations < 1:
        raise InputError(f"permutations: expected 1 or more, got {permutations}")
    if given is None:
        rngs = [np.random.default_rng([seed, run]) for run in range(permutations or 20)]
        return np.array([rng.permutation(n) for rng in rngs])
    given = np.atleast_2d(given)
    if given.shape[1] != n or not (np.sort(given, axis=1) == np.arange(n)).all():
        raise InputError(
            f"orders: expected permutations of 0..{n - 1}, one a row, got shape {given.shape}"
        )
    if permutations is not None and permutations > len(given):
        raise InputError(f"orders: {permutations} permutations wanted, only {len(given)} given")
    return given[:permutations]


def load_orders(path: str | Path, name: str) -> NDArray[np.int64]:
    """The orders of one data set in an .npz file of (p, n) integer arrays by name.

    Raises
    ------
    DataFileError
        The file cannot be read, or has no orders of that name.
    """
    if Path(path).is_file() and not zipfile.is_zipfile(path):
        raise DataFileError(path, "expected an .npz file of orders, found something else")
    try:
        with np.load(path, allow_pickle=False) as archive:
            if name not in archive.files:
                raise DataFileError(
                    path, f"no orders named {name!r}; it has {', '.join(archive.files)}"
                )
            orders = archive[name]
    except DataFileError:
        raise
    except FileNotFoundError:
        raise DataFileError(path, "no such file") from None
    except Exception as error:
        raise DataFileError(path, f"not a readable .npz file: {error}") from None
    if orders.ndim != 2 or orders.dtype.kind not in "iu":
        raise DataFileError(
            path, f"{name}: expected a (p, n) integer array, got {orders.shape} {orders.dtype}"
        )
    return orders.astype(np.int64)


def best_rows(rows: Sequence[Row]) -> tuple[str, ...]:
    """Recipes that a Student t-test (5 %, two-sided) does not tell from the least mean error.

    The test is of the mistakes, or of the logarithms of mean squared errors: where a recipe
    diverges, their spread hides every difference.
    """
    finite = [row for row in rows if np.isfinite(row.errors).all()]
    least = min(finite or rows, key=lambda row: row.errors.mean())
    return tuple(row.recipe for row in rows if not _differs(_tested(row), _tested(least)))


def _tested(row: Row) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        return row.errors if row.task == "classes" else np.log(row.errors)


def _differs(a: NDArray[np.float64], b: NDArray[np.float64]) -> bool:
    if a.mean() == b.mean():
        return False
    if len(a) < 2 or not np.isfinite([a, b]).all() or (np.ptp(a) == 0 and np.ptp(b) == 0):
        return True
    first, second = ((v.mean(), v.std(ddof=1), len(v)) for v in (a, b))
    return bool(stats.ttest_ind_from_stats(*first, *second).pvalue < 0.05)


def _digest(X: Any, y: NDArray[Any]) -> str:
    digest = hashlib.sha256()
    arrays = (X.data, X.indices, X.indptr, y) if sp.issparse(X) else (X, y)
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def manifest(seed: int) -> dict[str, Any]:
    """What it takes to run the same again: command, seed, versions, machine."""
    packages = ("kernbrook", "numpy", "scipy", "scikit-learn", "numba")
    return {
        "command": " ".join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        "seed": seed,
        "versions": {"python": platform.python_version()}
        | {package: version(package) for package in packages},
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
    }
