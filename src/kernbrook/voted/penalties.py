"""Complexities r_k of the kernels, and what a coefficient costs: Lambda_k = lam r_k + beta.

Cortes, Goyal, Kuznetsov, Mohri (2015), section 5.3.
"""

from __future__ import annotations

from collections.abc import Callable as Function
from math import comb
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh

from kernbrook.checks import is_number
from kernbrook.errors import InputError
from kernbrook.kernels import NormalizedPolynomial, Polynomial
from kernbrook.voted.examples import Examples, Floats
from kernbrook.voted.kernel_columns import Columns
from kernbrook.voted.kernel_pool import values

POWERS = Polynomial, NormalizedPolynomial  # bounded by their degree
SAMPLE = 200  # examples on which a kernel is tested for being positive definite


def complexities(complexity: Any, columns: Columns, s: float = 0.1) -> Floats:
    """(p,) complexities of the kernels on the training points.

    Parameters
    ----------
    complexity : "trace", lemma 3: r_k = kappa_k sqrt(Tr K_k) / n, kappa_k^2 = max K_k(x, x);
        "pdim", lemma 4: r_k = kappa_k^2 sqrt(C(d + k, k)), for polynomials of degree k;
        "local", section 5.3: r_k = sqrt((2 / n) sum_j min(s lambda_1, lambda_j)), with the
        eigenvalues lambda_1 >= lambda_2 >= ... of K_k / n;
        "max": r_k = max |K_k| / sqrt(n), which needs no positive definite kernel;
        p numbers; or a function of a kernel and the training examples
    s : for "local", in (0, 1]

    Raises
    ------
    InputError
        The bound does not hold for one of the kernels, or the numbers are not p numbers from 0.
    """
    p = len(columns.kernels)
    if isinstance(complexity, str):
        if complexity not in COMPLEXITIES:
            names = ", ".join(map(repr, COMPLEXITIES))
            raise InputError(
                f"complexity: expected {names}, {p} numbers or a function, got {complexity!r}"
            )
        return COMPLEXITIES[complexity](columns, s)
    if callable(complexity):
        found = [complexity(kernel, columns.examples.items) for kernel in columns.kernels]
    else:
        found = complexity
    try:
        numbers = np.array(found, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.array(np.nan)
    if numbers.shape != (p,) or not (np.isfinite(numbers) & (numbers >= 0)).all():
        raise InputError(f"complexity: expected {p} numbers from 0, one a kernel, got {found!r}")
    return numbers


def penalties(complexity: Floats, lam: float, beta: float) -> Floats:
    """(p,) Lambda_k = lam r_k + beta.

    Raises
    ------
    InputError
        lam or beta is negative or not finite, or some Lambda_k is 0.
    """
    for name, value in (("lam", lam), ("beta", beta)):
        if not (is_number(value) and 0 <= value < np.inf):
            raise InputError(f"{name}: expected a finite number from 0, got {value!r}")
    result = float(lam) * complexity + float(beta)
    if not (result > 0).all():
        raise InputError(
            f"lam={lam:g}, beta={beta:g}: kernel number {int((result <= 0).argmax())} would cost "
            "nothing (lam r_k + beta = 0), so that coefficients have no bound; "
            "give beta > 0, or lam > 0 and complexities r_k > 0"
        )
    return result


def _trace(columns: Columns, s: float) -> Floats:
    _check_definite(columns, "trace")
    kappa = np.sqrt(columns.diagonals.max(axis=1))
    return kappa * np.sqrt(columns.diagonals.mean(axis=1) / columns.n)


def _pdim(columns: Columns, s: float) -> Floats:
    dimensions = [_dimension(kernel, columns.examples.length) for kernel in columns.kernels]
    _check_definite(columns, "pdim")
    return columns.diagonals.max(axis=1) * np.sqrt(dimensions)


def _dimension(kernel: Any, features: int) -> float:
    if not isinstance(kernel, POWERS):
        raise InputError(
            f"complexity='pdim' is for polynomials, got the kernel {kernel}; "
            "take 'trace', 'local' or your own numbers"
        )
    return float(min(comb(features + int(kernel.degree), int(kernel.degree)), 10**300))


def _local(columns: Columns, s: float) -> Floats:
    if not (is_number(s) and 0 < s <= 1):
        raise InputError(f"s: expected a share of the greatest eigenvalue, in (0, 1], got {s!r}")
    _check_definite(columns, "local")
    result = np.empty(len(columns.kernels))
    for k in range(len(result)):
        matrix = columns.take(np.arange(k * columns.n, (k + 1) * columns.n))
        eigenvalues = eigvalsh(matrix, overwrite_a=True, check_finite=False) / columns.n
        kept = np.clip(eigenvalues, 0.0, s * eigenvalues[-1])
        result[k] = np.sqrt(2.0 / columns.n * kept.sum())
    return result


def _max(columns: Columns, s: float) -> Floats:
    return columns.sizes.max(axis=1) / np.sqrt(columns.n)


COMPLEXITIES: dict[str, Function[[Columns, float], Floats]] = {
    "trace": _trace,
    "pdim": _pdim,
    "local": _local,
    "max": _max,
}


def _check_definite(columns: Columns, complexity: str) -> None:
    """The bounds are for symmetric positive definite kernels, as powers are: test each other one on
    some examples."""
    kernels = [k for k in columns.kernels if not (isinstance(k, POWERS) and k.offset >= 0)]
    if not kernels:
        return
    chosen = np.unique(np.linspace(0, columns.n - 1, min(columns.n, SAMPLE)).astype(np.intp))
    some: Examples = columns.examples.take(chosen)
    for kernel, matrix in zip(kernels, values(kernels, some, some), strict=True):
        size = np.abs(matrix).max(initial=0.0)
        fault = ""
        if np.abs(matrix - matrix.T).max(initial=0.0) > 1e-9 * size:
            fault = "not symmetric"
        elif eigvalsh(matrix, subset_by_index=[0, 0])[0] < -1e-7 * len(matrix) * size:
            fault = "not positive definite"
        if fault:
            raise InputError(
                f"complexity={complexity!r} bounds positive definite kernels only, and the kernel "
                f"{kernel} is {fault}; take complexity='max' or give your own numbers"
            )
