"""Several recipes over the same random orders of the same data."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy import stats

from kernbrook.checks import is_whole
from kernbrook.engine.sums import available_cores
from kernbrook.errors import DataFileError, InputError, KernbrookWarning, NonFiniteError
from kernbrook.evaluation.choosing import SHORT_LISTS, named, settings_of, task_of_recipes
from kernbrook.evaluation.prequential import prequential
from kernbrook.evaluation.records import Comparison, Record, Row
from kernbrook.evaluation.tasks import (
    CHUNK,
    check_no_fraction,
    check_numbers,
    classes_of,
    recipes_for,
    task_of_labels,
)
from kernbrook.evaluation.warming import compile_together, few_rows
from kernbrook.models import recipes as book
from kernbrook.models.tasks import Task
from kernbrook.streams import Stream, open_stream

Progress = Callable[[int], None]
Settings = dict[str, dict[str, Any]]  # parameters by recipe


def compare(
    data: Any,
    recipes: str | Sequence[str] | None = None,
    permutations: int | None = None,
    seed: int = 0,
    orders: NDArray[np.int64] | None = None,
    jobs: int | None = None,
    in_order: bool = False,
    progress: Callable[[int], Progress] | None = None,
    so_far: Callable[[Comparison], None] | None = None,
    say: Callable[[str], None] | None = None,
    **overrides: Any,
) -> Comparison:
    """Run every recipe once over each of several orders of the data.

    Parameters
    ----------
    data : what `open_stream` takes, or a `Stream`
    recipes : a name, or names of one task; "all" that go with the data; None, a short list of them.
        Labels are numbers where one has a fraction, else classes.
    permutations : number of orders; 20 by default, or as many as `orders` has
    seed : of the orders and of the recipes' draws
    orders : (p, n) int, the orders themselves, rows counted from 0
    jobs : processes; one a core by default
    in_order : one run in the data's own order, read in chunks and never held whole;
        `perceptron-best` then does not look ahead, see `prequential`
    progress : called with the number of rounds to come; gives what is called as they are done
    so_far : called whenever a recipe is done but the last, with the comparison of those that are
    say : called with a line for the user where code has to be compiled first
    **overrides : such as discount=0.9, for each recipe that has such a parameter

    Returns
    -------
    Comparison

    Raises
    ------
    KernbrookError
        Unknown names, recipes for another task than the data's, a parameter that no recipe has,
        unreadable data, orders that do not fit, numbers that overflow in every recipe: one that
        diverges alone is left out.

    Examples
    --------
    >>> result = compare("checkerboard:300", ["omkc-dd", "majority"], permutations=2, jobs=1)
    >>> [row.title for row in result.rows]
    ['OMKC(D,D)', 'majority so far']
    """
    names = named(recipes)
    task = None if names is None else task_of_recipes(names, overrides)
    _check_count("seed", seed, 0)
    if jobs is not None:
        _check_count("jobs", jobs, 1)
    if permutations is not None:
        _check_count("permutations", permutations, 1)
    if in_order and (orders is not None or permutations not in (None, 1)):
        raise InputError("in_order: the data's own order is one order; give no others")
    stream = data if isinstance(data, Stream) else open_stream(data)
    if names is None or task is None:
        task = task_of_labels(stream)
        names = SHORT_LISTS[task] if recipes is None else recipes_for(task)
        task_of_recipes(names, overrides)
    settings, jobs = settings_of(names, overrides), jobs or available_cores()
    facts = manifest(seed) | {
        "data": stream.name,
        "parameters": {key: repr(value) for key, value in overrides.items()},
    }
    if in_order:
        n_rows, n_orders = stream.n_rows or 0, 1
        facts |= {"permutations": 1, "orders": "as stored"}
        X, y = next(stream.chunks(CHUNK))
        classes = _classes(y if task == "numbers" else classes_of(stream), task)
    else:
        X, y = stream.read()
        classes = _classes(y, task)
        sequence = orders_of(orders, permutations, seed, len(y))
        n_rows, n_orders = len(y), len(sequence)
        facts |= {
            "data_sha256": _digest(X, y),
            "permutations": n_orders,
            "orders": "given" if orders is not None else "seeded",
        }

    def made(rows: tuple[Row, ...], best: tuple[str, ...], left_out: dict[str, str]) -> Comparison:
        rounds = len(rows[0].runs[0].predictions)
        return Comparison(
            stream.name, rounds, stream.n_features, n_orders, rows, best, facts, left_out
        )

    advance = progress(len(names) * n_orders * n_rows) if progress else _silent
    few = few_rows(y)
    machines = [book.make(name, **own) for name, own in settings.items()]
    compile_together(machines, X[few], y[few], classes, jobs, say or _silent)
    if in_order:
        results = _as_stored(stream, settings, seed, classes, advance)
    else:
        calls = [(name, run) for name in names for run in range(n_orders)]
        results = _runs(calls, X, y, sequence, seed, settings, jobs, advance)
    return _collected(names, n_orders, results, made, so_far)


def _check_count(name: str, value: Any, least: int) -> None:
    if not is_whole(value) or isinstance(value, bool) or value < least:
        raise InputError(f"{name}: expected {least} or more, got {value!r}")


def _classes(labels: NDArray[Any], task: Task) -> NDArray[Any] | None:
    """The labels, each once, if they fit the task; None of numbers."""
    if task == "numbers":
        check_numbers(labels)
        return None
    check_no_fraction(labels)
    classes = np.unique(labels)
    if len(classes) < 2:
        found = ", ".join(map(str, classes)) or "none"
        raise InputError(f"data: expected labels of two classes or more, found {found}")
    return classes


def _silent(anything: object) -> None:
    return None


Outcome = Record | NonFiniteError
Result = tuple[tuple[str, int], Outcome]  # of a recipe's numbered run


def _collected(
    names: Sequence[str],
    runs: int,
    results: Iterable[Result],
    made: Callable[[tuple[Row, ...], tuple[str, ...], dict[str, str]], Comparison],
    so_far: Callable[[Comparison], None] | None,
) -> Comparison:
    """The comparison that results come to, in any order; `so_far` as `compare` has it."""
    found: dict[str, dict[int, Outcome]] = {name: {} for name in names}
    for (name, run), outcome in results:
        found[name][run] = outcome
        done = {name: own for name, own in found.items() if len(own) == runs}
        if so_far and len(found[name]) == runs and len(done) < len(names):
            rows, left_out = _rows(done)
            if rows:
                so_far(made(rows, (), left_out))
    rows, left_out = _rows(found)
    if not rows:
        raise NonFiniteError("; ".join(f"{name}: {problem}" for name, problem in left_out.items()))
    return made(rows, best_rows(rows), left_out)


def _rows(found: dict[str, dict[int, Outcome]]) -> tuple[tuple[Row, ...], dict[str, str]]:
    """The rows of recipes whose runs all came to their end, and why others did not."""
    rows, left_out = [], {}
    for name, own in found.items():
        outcomes = [own[run] for run in sorted(own)]
        errors = [outcome for outcome in outcomes if isinstance(outcome, NonFiniteError)]
        if errors:
            left_out[name] = str(errors[0])
        else:
            records = tuple(outcome for outcome in outcomes if isinstance(outcome, Record))
            rows.append(Row(name, book.title(name), records))
    return tuple(rows), left_out


def _attempt(estimator: Any, *arguments: Any, **options: Any) -> Outcome:
    """A prequential run, or why it came to no end: one recipe must not cost the others' results."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KernbrookWarning)  # the table shows what has become large
        try:
            return prequential(estimator, *arguments, **options)
        except NonFiniteError as error:
            return error


def _as_stored(
    stream: Stream,
    settings: Settings,
    seed: int,
    classes: NDArray[Any] | None,
    advance: Progress,
) -> Iterator[Result]:
    """The results of one run each in the data's own order."""
    for name, own in settings.items():
        estimator = book.make(name, random_state=state_of(seed, 0), **own)
        yield (name, 0), _attempt(estimator, stream, classes=classes, progress=advance)


def _run(
    task: tuple[str, int],
    X: Any,
    y: NDArray[Any],
    order: NDArray[np.int64],
    seed: int,
    own: dict[str, Any],
    advance: Progress | None = None,
) -> Result:
    name, run = task
    estimator = book.make(name, random_state=state_of(seed, run), **own)
    return task, _attempt(estimator, X, y, order, progress=advance)


def _runs(
    tasks: list[tuple[str, int]],
    X: Any,
    y: NDArray[Any],
    orders: NDArray[np.int64],
    seed: int,
    settings: Settings,
    jobs: int,
    advance: Progress,
) -> Iterator[Result]:
    """The results, in any order; several processes where there are several tasks."""
    jobs = min(jobs, len(tasks))
    if jobs == 1:
        for name, run in tasks:
            yield _run((name, run), X, y, orders[run], seed, settings[name], advance)
        return
    from joblib import Parallel, delayed

    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered")
    calls = (
        delayed(_run)((name, run), X, y, orders[run], seed, settings[name]) for name, run in tasks
    )
    for result in parallel(calls):
        advance(len(y))
        yield result


def state_of(seed: int, run: int) -> int:
    """The random_state of the recipes in that run."""
    return int(np.random.SeedSequence([seed, run, 1]).generate_state(1)[0] >> 1)


def orders_of(
    given: NDArray[np.int64] | None, permutations: int | None, seed: int, n: int
) -> NDArray[np.int64]:
    """(p, n) the orders that `compare` takes the n rows in: those given, or seeded ones."""
    if permutations is not None:
        _check_count("permutations", permutations, 1)
    if given is None:
        rngs = [np.random.default_rng([seed, run]) for run in range(permutations or 20)]
        return np.array([rng.permutation(n) for rng in rngs])
    given = np.atleast_2d(given)
    if (
        given.dtype.kind not in "iu"
        or given.shape[1:] != (n,)
        or not (np.sort(given, axis=1) == np.arange(n)).all()
    ):
        raise InputError(
            f"orders: expected permutations of 0..{n - 1}, one a row, got shape {given.shape} "
            f"of {given.dtype}"
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
