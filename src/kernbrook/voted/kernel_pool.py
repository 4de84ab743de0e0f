"""A pool of kernels between two lots of examples: values and sums, by the engine's steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from kernbrook.errors import InputError, NonFiniteError
from kernbrook.gram.sums import LANES, share, threads_for
from kernbrook.kernels import Callable, Kernel
from kernbrook.kernels.callable import is_given
from kernbrook.kernels.planning import Layout
from kernbrook.kernels.polynomial import PolynomialStep
from kernbrook.numerics.values import add_points, kernel_rows
from kernbrook.voted.examples import Examples, Floats, Indices
from kernbrook.voted.powers import add_powers

MOST = 4  # the degrees may go up to so many times their number, for all powers to be quick at once
LARGEST = 1e100  # of kernel values: beyond it sums and quotients leave the range of doubles
SCALING = (
    "scale the examples, by unit_length=True or by dividing the features by their greatest size"
)


class Pool:
    """Several kernels of the same examples; what they are functions of is computed once.

    Parameters
    ----------
    kernels : p kernels
    """

    def __init__(self, kernels: Sequence[Kernel]):
        self.kernels = tuple(kernels)
        self._layout = Layout(self.kernels)
        self._powers = self._grouped()
        grouped = {k for group in self._powers.values() for k in group}
        self._others = np.array([k for k in range(len(self.kernels)) if k not in grouped], int)

    def _grouped(self) -> dict[tuple[int, float], dict[int, int]]:
        """The degrees of kernels that are powers of one base, by the base's channel and offset."""
        parts, found = self._layout.parts, dict[tuple[int, float], dict[int, int]]()
        for k, kernel in enumerate(self.kernels):
            step, part = kernel.step(), parts.first[k]
            if step is not None and step.kind is PolynomialStep:
                base = int(parts.channel[part]), float(parts.parameter[part])
                found.setdefault(base, {})[k] = step.power
        return {
            base: group for base, group in found.items() if max(group.values()) <= MOST * len(group)
        }

    def pairs(self, A: Examples, B: Examples) -> Floats:
        """(c, a, b) what the kernels are functions of: pair values of two lots of examples.

        A pair value depends on its two examples alone, bit for bit, and not on others beside them.
        """
        if A.rows is None or B.rows is None:
            for kernel in self.kernels:
                if not isinstance(kernel, Callable):
                    raise InputError(
                        f"kernel {kernel}: takes vectors, but X is a list of objects; give "
                        "functions of two lists"
                    )
            return np.stack([_of_objects(k, A.items, B.items) for k in self._layout.given])
        if not any(is_given(kernel) or not kernel.of_vectors for kernel in self._layout.given):
            return B.rows.pairs(self._layout, A.rows)
        # Functions and matrices need not be symmetric: k(a, b) is of the point b and the row a.
        turned = A.rows.pairs(self._layout, B.rows).transpose(0, 2, 1)
        return np.ascontiguousarray(turned)

    def values(self, k: int, pairs: Floats) -> Floats:
        """(a, b) values of kernel k, of pair values. Nothing is said of their sizes."""
        _, a, b = pairs.shape
        out = np.empty((a, b))
        kernel_rows(self._layout.parts, k, pairs, np.arange(a), 0, b, np.empty((2, b)), out)
        return out

    def sizes(self, pairs: Floats) -> Floats:
        """(p, b) the greatest |values| over the a examples."""
        out = np.empty((len(self.kernels), pairs.shape[2]))
        for k in self._others:
            out[k] = _largest(self.values(k, pairs))
        with np.errstate(over="ignore"):
            for (channel, added), group in self._powers.items():
                base = _largest(pairs[channel], added)
                for k, degree in group.items():
                    out[k] = base**degree
        return out

    def sums(self, pairs: Floats, rows: Indices, weights: Floats) -> Floats:
        """(p, b) sums over some of the a examples of weights times the values of each kernel.

        rows, weights : (r,) numbers among the a examples, and their weights
        """
        p, b = len(self.kernels), pairs.shape[2]
        out, sizes = np.zeros((p, b)), np.zeros((p, b))
        coefficients = np.zeros((pairs.shape[1], p))
        coefficients[np.ix_(rows, self._others)] = weights[:, None]

        def add(lo: int) -> None:
            hi = min(lo + LANES, b)
            if len(self._others):
                add_points(
                    self._layout.plan, pairs, 0, pairs.shape[1], lo, hi, coefficients, out, sizes,
                    np.empty((2, hi)),
                )  # fmt: skip
            for (channel, added), group in self._powers.items():
                top = max(group.values())
                powers = np.zeros((top + top % 2, hi - lo))
                add_powers(pairs[channel], added, rows, weights, lo, powers)
                for k, degree in group.items():
                    out[k, lo:hi] = powers[degree - 1]

        share(threads_for(p * len(rows) * b), add, range(0, b, LANES))
        return out


def values(kernels: Sequence[Kernel], A: Examples, B: Examples) -> Iterator[Floats]:
    """The (a, b) values of one kernel after the other.

    Raises
    ------
    NonFiniteError
        A value is NaN, or not below 1e100 in size.
    InputError
        A kernel of vectors is asked about objects, or a function gave an array of another shape.
    """
    pool = Pool(kernels)
    pairs = pool.pairs(A, B)
    for k, kernel in enumerate(kernels):
        found = pool.values(k, pairs)
        check_sizes(kernel, _largest(found), of_vectors=not A.are_objects)
        yield found


def check_sizes(kernel: Kernel, sizes: Floats, of_vectors: bool) -> None:
    """Refuse kernel values that are NaN or too large, by their sizes."""
    largest = sizes.max(initial=0.0)
    if not largest < LARGEST:
        size = "NaN" if np.isnan(largest) else f"a value of size {largest:.3g}"
        advice = f"; {SCALING}" if of_vectors else ""
        raise NonFiniteError(f"kernel {kernel}: {size}, expected sizes below 1e100{advice}")


def _largest(values: Floats, added: float = 0.0) -> Floats:
    """(b,) the greatest |values + added| of each column."""
    most, least = values.max(axis=0, initial=-added), values.min(axis=0, initial=-added)
    return np.asarray(np.maximum(most + added, -(least + added)))


def _of_objects(kernel: Any, A: list[Any], B: list[Any]) -> Floats:
    """(a, b) what a function gives for two lists."""
    found = kernel.function(A, B)
    try:
        result = np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"kernel {kernel}: expected an array of numbers: {error}") from error
    if result.shape != (len(A), len(B)):
        raise InputError(
            f"kernel {kernel}: expected an array of shape {(len(A), len(B))} for "
            f"lists of {len(A)} and {len(B)} objects, got shape {result.shape}"
        )
    return result
