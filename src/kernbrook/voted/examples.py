"""Examples of any kind, and the values of a pool of kernels between two lots of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeGuard

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernbrook.errors import InputError, NonFiniteError
from kernbrook.kernels import Callable, Cauchy, Gaussian, Kernel, NormalizedPolynomial, Polynomial
from kernbrook.numerics.lanes import dense_inner
from kernbrook.numerics.pairs import (
    NEAR_DOUBLE,
    dense_norms,
    dense_squared,
    sparse_norms,
    sparse_squared,
)

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

LARGEST = 1e100  # of kernel values: beyond it sums and quotients leave the range of doubles
SCALING = (
    "scale the examples, by unit_length=True or by dividing the features by their greatest size"
)


class Examples:
    """n examples: the rows of an array or of a CSR matrix, or objects of any kind.

    Parameters
    ----------
    items : (n, d) float64 array, (n, d) CSR matrix, or list of n objects
    """

    def __init__(self, items: Any):
        self.items = items
        if sp.issparse(items):
            self.norms = sparse_norms(items.data, items.indptr)
        elif isinstance(items, np.ndarray):
            # A read-only array would be compiled for anew.
            self.items = items = np.require(items, np.float64, ["C", "W"])
            self.norms = dense_norms(items)

    def __len__(self) -> int:
        return int(self.items.shape[0] if hasattr(self.items, "shape") else len(self.items))

    @property
    def are_objects(self) -> bool:
        return isinstance(self.items, list)

    def take(self, which: Indices | slice) -> Examples:
        """Some of the examples, by number or by slice."""
        if not self.are_objects:
            return Examples(self.items[which])
        chosen = range(len(self))[which] if isinstance(which, slice) else which
        return Examples([self.items[i] for i in chosen])

    @property
    def length(self) -> int:
        """d; 0 for objects."""
        return 0 if self.are_objects else int(self.items.shape[1])


def values(kernels: Sequence[Kernel], A: Examples, B: Examples) -> Iterator[Floats]:
    """The (a, b) values of one kernel after the other.

    Powers, Gaussians and Cauchy kernels share the inner products of A and B. A value depends
    on its two examples alone, bit for bit, and not on the others beside them.

    Raises
    ------
    NonFiniteError
        A value is NaN, or not below 1e100 in size.
    InputError
        A kernel of vectors is asked about objects, or a function gave an array of another shape.
    """
    pairs = _Pairs(A, B)
    for kernel in kernels:
        result = pairs.values(kernel)
        check_sizes(kernel, result, of_vectors=not A.are_objects)
        yield result


def check_sizes(kernel: Kernel, found: Floats, of_vectors: bool) -> None:
    """Refuse kernel values that are NaN or too large."""
    with np.errstate(invalid="ignore"):
        largest = np.abs(found).max(initial=0.0)
    if not largest < LARGEST:
        size = "NaN" if np.isnan(largest) else f"a value of size {largest:.3g}"
        advice = f"; {SCALING}" if of_vectors else ""
        raise NonFiniteError(f"kernel {kernel}: {size}, expected sizes below 1e100{advice}")


def inner(A: Examples, B: Examples) -> Floats:
    """(a, b) inner products of vectors."""
    if sp.issparse(A.items):
        return (A.items @ B.items.T).toarray()
    result = np.empty((len(A), len(B)))
    dense_inner(A.items, None, np.ascontiguousarray(B.items.T), result)
    return result


def is_power(kernel: Kernel) -> TypeGuard[Polynomial | NormalizedPolynomial]:
    """Whether a kernel is a power of what `base_of` gives."""
    return isinstance(kernel, (Polynomial, NormalizedPolynomial))


def base_of(kernel: Any, products: Floats, norms: Floats, others: Floats) -> Floats:
    """(a, b) numbers, new ones, whose power a kernel is.

    products, norms, others : inner products, (a, b), and squared lengths, (a,) and (b,)
    """
    base: Floats = products + kernel.offset
    if isinstance(kernel, NormalizedPolynomial):
        base *= kernel.shortening(norms)[:, None] * kernel.shortening(others)
    return base


def base_name(kernel: Any) -> tuple[bool, float]:
    """The same for powers of one base."""
    return isinstance(kernel, NormalizedPolynomial), float(kernel.offset)


def power(base: Floats, degree: int) -> Floats:
    """base ** degree, by squaring; base is overwritten."""
    result: Floats | None = None
    with np.errstate(over="ignore", invalid="ignore"):
        while True:
            if degree & 1:
                result = base.copy() if result is None else np.multiply(result, base, out=result)
            degree >>= 1
            if degree == 0:
                assert result is not None
                return result
            np.multiply(base, base, out=base)


class _Pairs:
    """Kernel values of A and B; inner products and squared distances are computed once."""

    def __init__(self, A: Examples, B: Examples):
        self.A, self.B = A, B
        self._inner: Floats | None = None
        self._squared: Floats | None = None
        self._bases: dict[Any, Floats] = {}

    def values(self, kernel: Kernel) -> Floats:
        if self.A.are_objects:
            return self._of_objects(kernel)
        with np.errstate(over="ignore", invalid="ignore"):
            if is_power(kernel):
                return power(self._base(kernel).copy(), int(kernel.degree))
            if isinstance(kernel, Gaussian):
                return np.exp(-kernel.gamma * self.squared)
            if isinstance(kernel, Cauchy):
                return 1.0 / (1.0 + kernel.gamma * self.squared)
            return kernel(self.A.items, self.B.items)

    def _base(self, kernel: Kernel) -> Floats:
        name = base_name(kernel)
        if name not in self._bases:
            norms = self.A.norms, self.B.norms
            self._bases[name] = base_of(kernel, self.inner, *norms)
        return self._bases[name]

    def _of_objects(self, kernel: Kernel) -> Floats:
        if not isinstance(kernel, Callable):
            raise InputError(
                f"kernel {kernel}: takes vectors, but X is a list of objects; give functions of "
                "two lists"
            )
        found = kernel.function(self.A.items, self.B.items)
        try:
            result = np.asarray(found, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"kernel {kernel}: expected an array of numbers: {error}") from error
        if result.shape != (len(self.A), len(self.B)):
            raise InputError(
                f"kernel {kernel}: expected an array of shape {(len(self.A), len(self.B))} for "
                f"lists of {len(self.A)} and {len(self.B)} objects, got shape {result.shape}"
            )
        return result

    @property
    def inner(self) -> Floats:
        if self._inner is None:
            self._inner = inner(self.A, self.B)
        return self._inner

    @property
    def squared(self) -> Floats:
        if self._squared is None:
            A, B, inner = self.A, self.B, self.inner
            self._squared = np.empty_like(inner)
            if sp.issparse(A.items):
                points, block = ((Z.items.data, Z.items.indices, Z.items.indptr) for Z in (A, B))
                sparse_squared(
                    *points, 0, A.norms, block, B.norms, inner, np.inf, NEAR_DOUBLE,
                    self._squared,
                )  # fmt: skip
            else:
                dense_squared(
                    A.items, A.norms, None, B.items, B.norms, inner, np.inf, NEAR_DOUBLE,
                    self._squared,
                )  # fmt: skip
        return self._squared
