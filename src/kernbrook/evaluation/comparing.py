"""Several recipes over the same random orders of the same data."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy import stats

from kernbrook.errors import DataFileError, InputError
from kernbrook.evaluation.prequential import classes_of, prequential
from kernbrook.evaluation.records import Comparison, Record, Row
from kernbrook.models import recipes as book
from kernbrook.models.engine import available_cores
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
    recipes : names; all of them by default
    permutations : number of orders; 20 by default, or as many as `orders` has
    seed : of the orders and of the recipes' draws
    orders : (p, n) int, the orders themselves, rows counted from 0
    jobs : processes; one a core by default
    in_order : one run in the data's own order, read in chunks and never held whole
    progress : called with the number of rounds to come; gives what is called as they are done
    **overrides : passed to every recipe, such as discount=0.9

    Returns
    -------
    Comparison

    Raises
    ------
    KernbrookError
        Unknown names, unreadable data, orders that do not fit.

    Examples
    --------
    >>> result = compare("checkerboard:300", ["omkc-dd", "majority"], permutations=2, jobs=1)
    >>> [row.title for row in result.rows]
    ['OMKC(D,D)', 'majority so far']
    """
    names = tuple(book.names() if recipes is None else recipes)
    if not names:
        raise InputError("recipes: expected one or more names, got none")
    for name in names:
        book.make(name, **overrides)  # a wrong name or parameter is found before any work
    if jobs is not None and jobs < 1:
        raise InputError(f"jobs: expected 1 or more, got {jobs}")
    stream = data if isinstance(data, Stream) else open_stream(data)
    if in_order:
        if orders is not None or permutations not in (None, 1):
            raise InputError("in_order: the data's own order is one order; give no others")
        return _one_pass(stream, names, seed, progress, overrides)

    X, y = stream.read()
    _check_classes(np.unique(y))
    sequence = orders_of(orders, permutations, seed, len(y))
    tasks = [(name, run) for run in range(len(sequence)) for name in names]
    advance = progress(len(tasks) * len(y)) if progress else _silent
    _warm_up(names, X, y, overrides)
    runs: dict[tuple[str, int], Record] = {}
    for task, record in _runs(tasks, X, y, sequence, seed, overrides, jobs, advance):
        runs[task] = record
    rows = [
        Row(name, book.title(name), tuple(runs[name, run] for run in range(len(sequence))))
        for name in names
    ]
    facts = manifest(seed) | {
        "data": stream.name,
        "data_sha256": _digest(X, y),
        "permutations": len(sequence),
        "orders": "given" if orders is not None else "seeded",
        "parameters": {key: repr(value) for key, value in overrides.items()},
    }
    return Comparison(
        stream.name, len(y), X.shape[1], len(sequence), tuple(rows), best_rows(rows), facts
    )


def _check_classes(classes: NDArray[Any]) -> None:
    if len(classes) < 2:
        found = ", ".join(map(str, classes)) or "none"
        raise InputError(f"data: expected labels of two classes or more, found {found}")
    if classes.dtype.kind == "f" and (fractions := np.mod(classes, 1) != 0).any():
        raise InputError(
            f"data: expected labels of classes, found the number {classes[fractions][0]}"
        )


def _silent(rounds: int) -> None:
    return None


def _one_pass(
    stream: Stream,
    names: Sequence[str],
    seed: int,
    progress: Callable[[int], Progress] | None,
    overrides: dict[str, Any],
) -> Comparison:
    classes = classes_of(stream)
    _check_classes(classes)
    advance = progress(len(names) * (stream.n_rows or 0)) if progress else _silent
    rows = []
    for name in names:
        estimator = book.make(name, random_state=state_of(seed, 0), **overrides)
        record = prequential(estimator, stream, classes=classes, progress=advance)
        rows.append(Row(name, book.title(name), (record,)))
    facts = manifest(seed) | {"data": stream.name, "permutations": 1, "orders": "as stored"}
    rounds = len(rows[0].runs[0].mistakes)
    best = best_rows(rows)
    return Comparison(stream.name, rounds, stream.n_features, 1, tuple(rows), best, facts)


def _run(
    task: tuple[str, int],
    X: Any,
    y: NDArray[Any],
    order: NDArray[np.int64],
    seed: int,
    overrides: dict[str, Any],
    advance: Progress | None = None,
) -> tuple[tuple[str, int], Record]:
    name, run = task
    estimator = book.make(name, random_state=state_of(seed, run), **overrides)
    return task, prequential(estimator, X, y, order, progress=advance)


def _runs(
    tasks: list[tuple[str, int]],
    X: Any,
    y: NDArray[Any],
    orders: NDArray[np.int64],
    seed: int,
    overrides: dict[str, Any],
    jobs: int | None,
    advance: Progress,
) -> Iterator[tuple[tuple[str, int], Record]]:
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
    classes = np.unique(y)
    one_of_each = [int(np.argmax(y == label)) for label in classes]
    for name in names:
        estimator = book.make(name, random_state=0, **overrides)
        for rows in (one_of_each, one_of_each):  # the second time with support vectors
            estimator.learn(X[rows], y[rows], classes=classes)


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
    """Recipes that a Student t-test (5 %, two-sided) does not tell from the least mean error."""
    least = min(rows, key=lambda row: row.errors.mean())
    return tuple(row.recipe for row in rows if not _differs(row.errors, least.errors))


def _differs(a: NDArray[np.float64], b: NDArray[np.float64]) -> bool:
    if a.mean() == b.mean():
        return False
    if len(a) < 2 or (np.ptp(a) == 0 and np.ptp(b) == 0):
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
