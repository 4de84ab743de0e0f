"""The data sets that need no file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from kernbrook.errors import UnknownNameError
from kernbrook.streams.array_stream import ArrayStream
from kernbrook.streams.generators import (
    Checkerboard,
    Friedman,
    FriedmanDrift,
    GeneratedStream,
    Hyperplane,
    Waveform,
)
from kernbrook.streams.random_tree import RandomTree, RandomTreeDrift
from kernbrook.streams.stream import FirstRows, Stream


class _Entry(NamedTuple):
    """A built-in stream: what draws it, or what gives all of its rows."""

    make: type[GeneratedStream] | Callable[[], Stream]
    description: str


def _wdbc() -> Stream:
    from sklearn.datasets import load_breast_cancer

    X, target = load_breast_cancer(return_X_y=True)
    # There, 0 is malignant.
    return ArrayStream(X, np.where(target == 0, 1, -1), "wdbc")


def _digits() -> Stream:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return ArrayStream(X, y, "digits")


def _diabetes() -> Stream:
    from sklearn.datasets import load_diabetes

    X, target = load_diabetes(return_X_y=True)
    return ArrayStream(X, target / 100, "sklearn-diabetes")  # whole numbers would be classes


_ENTRIES = {
    "checkerboard": _Entry(
        Checkerboard,
        "4 x 4 board, 2 features, 2 classes; drawn, 10,000 rows unless :N is given",
    ),
    "digits": _Entry(_digits, "handwritten digits, 64 features, 10 classes; 1,797 rows"),
    "friedman": _Entry(
        Friedman,
        "a smooth function, 10 features, numbers; drawn, 10,000 rows unless :N is given",
    ),
    "friedman-drift": _Entry(
        FriedmanDrift,
        "the same, of other features every 250,000 rows; drawn, 1,000,000 rows unless :N is given",
    ),
    "hyperplane": _Entry(
        Hyperplane,
        "a plane that turns, 10 features, 2 classes; drawn, 100,000 rows unless :N is given",
    ),
    "random-tree": _Entry(
        RandomTree,
        "leaves of a tree, 30 features, 2 classes; drawn, 100,000 rows unless :N is given",
    ),
    "random-tree-drift": _Entry(
        RandomTreeDrift,
        "the same, another tree every 250,000 rows; drawn, 1,000,000 rows unless :N is given",
    ),
    "sklearn-diabetes": _Entry(
        _diabetes,
        "diabetes after a year, in hundreds, 10 scaled features, numbers; 442 rows",
    ),
    "waveform": _Entry(
        Waveform,
        "noisy waves, 21 features, 3 classes; drawn, 5,000 rows unless :N is given",
    ),
    "wdbc": _Entry(_wdbc, "breast cancer, 30 raw features, malignant = +1; 569 rows"),
}


def stream_names() -> tuple[str, ...]:
    """The built-in streams, sorted.

    Examples
    --------
    >>> names = stream_names()
    >>> len(names), names[:4]
    (10, ('checkerboard', 'digits', 'friedman', 'friedman-drift'))
    """
    return tuple(sorted(_ENTRIES))


def describe_stream(name: str) -> str:
    """One line about a built-in stream.

    Raises
    ------
    UnknownNameError
        There is no such stream.

    Examples
    --------
    >>> describe_stream("wdbc")
    'breast cancer, 30 raw features, malignant = +1; 569 rows'
    """
    return _entry(name).description


def make_builtin(name: str, rows: int | None, seed: int) -> Stream:
    """A built-in stream, with its usual number of rows or the first `rows`."""
    make: Any = _entry(name).make
    few = () if rows is None else (rows,)
    if isinstance(make, type):
        stream: Stream = make(*few, seed=seed)
    else:
        stream = FirstRows(make(), *few) if few else make()
    stream.name = name if rows is None else f"{name}:{rows}"
    return stream


def _entry(name: str) -> _Entry:
    if name not in _ENTRIES:
        raise UnknownNameError("stream", name, stream_names())
    return _ENTRIES[name]
