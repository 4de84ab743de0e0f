"""Several recipes and models over the same random orders of the same data."""

from __future__ import annotations

import os
import platform
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import check_count
from kernbrook.errors import InputError, KernbrookError, KernbrookWarning, NonFiniteError, cut
from kernbrook.estimators.outside import OutsideMachine
from kernbrook.estimators.tasks import Task
from kernbrook.evaluation.content import dates_of, digest_of
from kernbrook.evaluation.late import Lateness
from kernbrook.evaluation.measures import COVERAGE, measure_named
from kernbrook.evaluation.parallel import (
    Crew,
    Jobs,
    check_jobs,
    crew_of,
    orders_of,
    results,
    state_of,
)
from kernbrook.evaluation.ranks import best_rows
from kernbrook.evaluation.recipes_wanted import (
    CHUNK,
    Plan,
    are_recipes,
    check_no_fraction,
    check_number,
    check_numbers,
    classes_of,
    seeded,
)
from kernbrook.evaluation.record import Comparison, Record, Row
from kernbrook.evaluation.run import prequential
from kernbrook.evaluation.warming import Reporter, compile_trials, trials_of
from kernbrook.streams import Stream, open_stream
from kernbrook.streams.opening import is_frame
from kernbrook.streams.stream import LabelledRows

Progress = Callable[[int], None]


def _with_labels_inside(function: Callable[..., Comparison]) -> Callable[..., Comparison]:
    """Where data have labels of their own, what follows them is not y but the recipes."""

    @wraps(function)
    def called(data: Any, *arguments: Any, **options: Any) -> Comparison:
        inside = isinstance(data, (str, os.PathLike, Stream, tuple))
        if arguments and (inside or (is_frame(data) and are_recipes(arguments[0], data.shape[0]))):
            arguments = (None, *arguments)
        return function(data, *arguments, **options)

    return called


@_with_labels_inside
def compare(
    data: Any,
    y: Any = None,
    recipes: Any = None,
    permutations: int | None = None,
    seed: int = 0,
    orders: NDArray[np.int64] | None = None,
    jobs: Jobs = None,
    in_order: bool = False,
    delay: int = 0,
    every: int = 1,
    baselines: str | Sequence[str] | None = None,
    measure: str | None = None,
    progress: Callable[[int], Progress] | None = None,
    so_far: Callable[[Comparison], None] | None = None,
    compiling: Reporter | None = None,
    **overrides: Any,
) -> Comparison:
    """Run recipes and models once over each of several orders of the data.

    Parameters
    ----------
    data : (n, d) array, frame or sparse matrix; or what `open_stream` takes, or a `Stream`
    y : (n,) labels of an array; other data have their own, and the recipes are their next argument.
        Of a frame that has its labels in a column, too
    recipes : what is compared, all for one task, by the names of the rows: a mapping of each name
        to a recipe or a model. Or recipes, in a text with commas or a list, such as
        "spa(divisor=30), spa, bpas(budget=500)", and models in the list; "all" recipes that go with
        the data; None, a short list of them. Labels are numbers where one has a fraction, else
        classes. A model is ours, or of scikit-learn with `partial_fit`, or of River, which learn
        row by row; or an `External`, which takes what has nothing but `fit`. Each run learns a
        fresh copy
    permutations : number of orders; 20 by default, or as many as `orders` has
    seed : of the orders and of the recipes' draws
    orders : (p, n) int, the orders themselves, rows counted from 0
    jobs : processes, one a core by default; or the address of a Dask cluster, "tcp://HOST:PORT",
        or "local:4" for one of so many processes here. The numbers are the same, whoever runs
    in_order : one run in the data's own order, read in chunks and never held whole;
        `perceptron-best` then does not look ahead, see `prequential`
    delay, every : how late labels come, see `prequential`
    baselines : "sklearn", "river" or both: some of their models are compared, too
    measure : by which they are compared: of classes "error", "log_loss" or "auc", of numbers "mse",
        "rmse", "mae" or "coverage" of intervals that are to cover .9; None: "error" or "mse".
        Records have them all, but "coverage" only where it is asked for, or labels come late
    progress : called with the number of rounds to come; gives what is called as they are done
    so_far : called whenever a recipe is done but the last, with the comparison of those that are
    compiling : called again and again while code is compiled, with how far it is: `Compiling` has
        the attributes seconds, ready and parts; with None as soon as it has stopped. Not called
        where all is in the disk cache
    **overrides : such as discount=0.9, for each recipe that has such a parameter

    Returns
    -------
    Comparison

    Raises
    ------
    KernbrookError
        Unknown names, recipes for another task than the data's, a parameter that no recipe has,
        unreadable data, orders that do not fit, numbers that overflow in every recipe: one that
        diverges alone is left out, and a model of another library that fails.

    Examples
    --------
    >>> result = compare("checkerboard:300", ["omkc-dd", "majority"], permutations=2, jobs=1)
    >>> [row.title for row in result.rows]
    ['OMKC(D,D)', 'majority so far']

    >>> from sklearn.linear_model import SGDClassifier
    >>> X, y = open_stream("checkerboard:300").read()
    >>> models = {"mine": SGDClassifier(), "small": "bpas(budget=20)", "large": "bpas(budget=50)"}
    >>> [(row.recipe, row.title) for row in compare(X, y, models, permutations=2, jobs=1).rows]
    [('mine', 'SGDClassifier'), ('small', 'BPAS(budget=20)'), ('large', 'BPAS(budget=50)')]
    """
    check_count("seed", seed, 0)
    check_jobs(jobs)
    if measure is not None:
        measure_named(measure)
    lateness = Lateness(delay, every)
    lateness.check()
    if permutations is not None:
        check_count("permutations", permutations, 1)
    if in_order and (orders is not None or permutations not in (None, 1)):
        raise InputError("in_order: the data's own order is one order; give no others")
    # Who compares on several data sets has it already, and gives no baselines or overrides.
    plan = recipes if isinstance(recipes, Plan) else Plan(recipes, baselines, overrides)
    stream = _opened(data, y)
    choices = plan.choices(stream)
    if stream.in_turn and not in_order:
        raise InputError("lags: rows go in their own order alone; in_order (--in-order) takes that")
    task = next(iter(choices.values())).task
    measure = None if measure is None else measure_named(measure, task)
    facts = manifest(seed) | {"data": stream.name}
    facts["parameters"] = {key: repr(value) for key, value in plan.overrides.items()}
    facts |= {} if lateness.at_once else lateness._asdict()
    facts |= {} if measure is None else {"measure": measure}
    models = [name for name, given in (plan.rows or {}).items() if name != given]
    facts |= {"models": {name: choices[name].text for name in models}} if models else {}
    sequence: NDArray[np.int64] | None = None
    if in_order:
        n_rows, n_orders = stream.n_rows or 0, 1
        facts |= {"permutations": 1, "orders": "as stored"}
        dates = dates_of(stream)
        X, y = next(stream.chunks(CHUNK))
        classes = _classes(y if task == "regression" else classes_of(stream), task)
    else:
        X, y = stream.read()
        classes, dates = _classes(y, task), None
        check_number(0 if classes is None else len(classes), stream.label_name)
        sequence = orders_of(orders, permutations, seed, len(y))
        n_rows, n_orders = len(y), len(sequence)
        facts |= {
            "data_sha256": digest_of(X, y),
            "permutations": n_orders,
            "orders": "given" if orders is not None else "seeded",
        }

    def made(rows: tuple[Row, ...], best: tuple[str, ...], left_out: dict[str, str]) -> Comparison:
        rounds = len(rows[0].runs[0].predictions)
        return Comparison(
            stream.name, rounds, stream.n_features, n_orders, rows, best, facts, left_out, measure,
            in_order, dates,
        )  # fmt: skip

    advance = progress(len(choices) * n_orders * n_rows) if progress else None
    machines = {name: choice.estimator for name, choice in choices.items()}
    trials = trials_of(machines.values(), X, y, classes)
    titles = {name: choice.title for name, choice in choices.items()}
    how = lateness._asdict() | {"intervals": COVERAGE if measure == "coverage" else None}
    with crew_of(jobs, max(len(trials), len(machines) * n_orders)) as crew:
        compile_trials(trials, crew, compiling)
        if in_order:  # by this process, which reads the stream
            how |= {"classes": classes}
            crew, X, y = Crew(), stream, None
        names = [(name, run) for name in machines for run in range(n_orders)]
        calls = [(machines[name], run, X, y, sequence, seed, how) for name, run in names]
        found = results(crew, _run, calls, advance, lambda _: n_rows)
        done = ((names[number], outcome) for number, outcome in found)
        return _collected(titles, n_orders, done, made, so_far, measure)


def _opened(data: Any, y: Any) -> Stream:
    if isinstance(data, (str, os.PathLike, Stream, tuple)) and y is not None:
        raise InputError("y: the data have their own labels; give none")
    return LabelledRows.of(open_stream(data if y is None else (data, y)))


def _classes(labels: NDArray[Any], task: Task) -> NDArray[Any] | None:
    """The labels, each once, if they fit the task; None of numbers."""
    if task == "regression":
        check_numbers(labels)
        return None
    check_no_fraction(labels)
    classes = np.unique(labels)
    if len(classes) < 2:
        found = cut(", ".join(map(str, classes))) or "none"
        raise InputError(f"data: expected labels of two classes or more, found {found}")
    return classes


Outcome = Record | InputError
Result = tuple[tuple[str, int], Outcome]  # of a recipe's numbered run


def _collected(
    titles: Mapping[str, str],
    runs: int,
    results: Iterable[Result],
    made: Callable[[tuple[Row, ...], tuple[str, ...], dict[str, str]], Comparison],
    so_far: Callable[[Comparison], None] | None,
    measure: str | None,
) -> Comparison:
    """The comparison that results come to, in any order; `so_far` as `compare` has it."""
    found: dict[str, dict[int, Outcome]] = {name: {} for name in titles}
    for (name, run), outcome in results:
        found[name][run] = outcome
        done = {name: records for name, records in found.items() if len(records) == runs}
        if so_far and len(found[name]) == runs and len(done) < len(titles):
            rows, left_out = _rows(done, titles)
            if rows:
                so_far(made(rows, (), left_out))
    rows, left_out = _rows(found, titles)
    if not rows:
        raise NonFiniteError("; ".join(f"{name}: {problem}" for name, problem in left_out.items()))
    return made(rows, best_rows(rows, measure), left_out)


def _rows(
    found: dict[str, dict[int, Outcome]], titles: Mapping[str, str]
) -> tuple[tuple[Row, ...], dict[str, str]]:
    """The rows of recipes whose runs all came to their end, and why others did not."""
    rows, left_out = [], {}
    for name, by_run in found.items():
        outcomes = [by_run[run] for run in sorted(by_run)]
        errors = [outcome for outcome in outcomes if isinstance(outcome, InputError)]
        if errors:
            left_out[name] = str(errors[0])
        else:
            records = tuple(outcome for outcome in outcomes if isinstance(outcome, Record))
            rows.append(Row(name, titles[name], records))
    return tuple(rows), left_out


def _run(
    machine: Any,
    run: int,
    X: Any,
    y: NDArray[Any] | None,
    orders: NDArray[np.int64] | None,
    seed: int,
    how: dict[str, Any],
    progress: Progress | None = None,
) -> Outcome:
    """One run over one order, or why it came to no end: it must not cost the others' results."""
    estimator, outside = seeded(machine, state_of(seed, run)), isinstance(machine, OutsideMachine)
    order = None if orders is None else orders[run]
    with warnings.catch_warnings():
        # The table shows what has become large; others may warn at each row.
        warnings.simplefilter("ignore", Warning if outside else KernbrookWarning)
        try:
            record = prequential(estimator, X, y, order, progress=progress, **how)
        except NonFiniteError as error:
            return error
        except Exception as error:
            if not outside or isinstance(error, KernbrookError):
                raise
            return InputError(f"{type(error).__name__}: {error}")
    # Of many runs they are too much.
    return replace(record, scores=None, probabilities=None, places=None, intervals=None)


def manifest(seed: int) -> dict[str, Any]:
    """What it takes to run the same again: command, seed, versions, machine."""
    program = Path(sys.argv[0])
    name = f"python -m {program.parent.name}" if program.name == "__main__.py" else program.name
    packages = ("kernbrook", "numpy", "scipy", "scikit-learn", "numba")
    return {
        "command": " ".join([name, *sys.argv[1:]]),
        "seed": seed,
        "versions": {"python": platform.python_version()}
        | {package: version(package) for package in packages},
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
    }
