"""Everything compiled ahead, for images and for machines that test."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernbrook import recipes as book
from kernbrook.checks import each_name
from kernbrook.engine.scalers import LARGEST_FILLED
from kernbrook.errors import InputError
from kernbrook.evaluation.running.parallel import crew_of
from kernbrook.evaluation.running.warming import Family, Tell, compiled, family, try_out
from kernbrook.streams import open_stream

ROWS = 12  # a grid's five folds need as many of each class


def compile_ahead(
    recipes: str | Sequence[str] = "all", jobs: int | None = None, compiling: Tell | None = None
) -> int:
    """Compile what recipes run on: dense and sparse rows, two classes and more, numbers.

    Parameters
    ----------
    recipes : names, in a list or in a text with commas, or "all"
    jobs : processes; one a core by default
    compiling : as `compare` has it

    Returns
    -------
    The number of functions compiled, by all processes; 0 where all was in the disk cache.

    Raises
    ------
    InputError
        There is no name.
    UnknownNameError
        No recipe has such a name.

    Examples
    --------
    >>> compile_ahead(["majority"], jobs=1)
    0
    """
    names = book.names() if recipes == "all" else each_name(recipes)
    if not names:
        raise InputError("recipes: expected one or more names, got none")
    trials: dict[Family, Callable[[], Any]] = {frozenset({"svmlight"}): _read}
    for name in names:
        machine = book.make(name)
        if book.batch(name):
            trials[frozenset({name})] = partial(_fit, machine)
            continue
        for sparse in (False, True):
            one = family(machine, sparse)
            if one is not None:
                trials.setdefault(one, partial(_try, machine, sparse, book.task(name)))
    with crew_of(jobs, len(trials)) as crew:
        return compiled(trials, crew, compiling)


def _try(machine: Any, sparse: bool, task: str) -> None:
    for n_classes in (2, 3) if task == "classification" else (0,):
        X, y = _rows(n_classes)
        if sparse:  # so wide that they stay sparse where they are scaled
            X = sp.hstack([sp.csr_array(X), sp.csr_array((ROWS, LARGEST_FILLED))]).tocsr()
        try_out(machine, X, y, np.unique(y) if n_classes else None)


def _fit(machine: Any) -> None:
    X, y = _rows(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few rows are learned badly
        machine.fit(X, y).predict(X)


def _read() -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "some.svm"
        path.write_text("1 1:0.5\n-1 2:0.5\n")
        open_stream(path).read()


def _rows(n_classes: int) -> tuple[Any, Any]:
    X = np.random.default_rng(0).normal(size=(ROWS, 3))
    return X, np.arange(ROWS) % n_classes if n_classes else X.sum(axis=1)
