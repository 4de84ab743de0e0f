"""Orders of the rows, given or seeded, and the seeds of the recipes."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import is_whole
from kernbrook.errors import DataFileError, InputError


def check_count(name: str, value: Any, least: int) -> None:
    if not is_whole(value) or isinstance(value, bool) or value < least:
        raise InputError(f"{name}: expected {least} or more, got {value!r}")


def state_of(seed: int, run: int) -> int:
    """The random_state of the recipes in that run."""
    return int(np.random.SeedSequence([seed, run, 1]).generate_state(1)[0] >> 1)


def orders_of(
    given: NDArray[np.int64] | None, permutations: int | None, seed: int, n: int
) -> NDArray[np.int64]:
    """(p, n) the orders that `compare` takes the n rows in: those given, or seeded ones."""
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
    if Path(path).exists() and not Path(path).is_file():
        raise DataFileError(path, "it is not an ordinary file")
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
