"""The engine's kernel sums, for tests."""

import numpy as np
import scipy.sparse as sp
from inside import sums_of, support_of

from kernbrook.gram.rows import DenseRows, SparseRows
from kernbrook.gram.stored_points import StoredPoints
from kernbrook.gram.sums import KernelSums
from kernbrook.kernels.planning import Layout


def rows_of(X):
    return SparseRows.of(X) if sp.issparse(X) else DenseRows.of(np.ascontiguousarray(X, float))


def sums(kernels, Z, coefficients, X):
    """(m, n) sums over the points Z of coefficients[:, i] * kernel i, and of their sizes."""
    kernels = tuple(kernels)
    layout = Layout(kernels)
    support = StoredPoints(len(kernels), Z.shape[1], sp.issparse(Z))
    coefficients = np.asarray(coefficients, float)
    support = support.appended(rows_of(Z), np.arange(Z.shape[0]), coefficients)
    return KernelSums(kernels, layout).sums(support, rows_of(X))


def values(kernels, squares):
    """(m, n) kernel values at the given squared lengths: of points on a line, seen from 0.

    The squared distance of x from 0 is x * x, rounded once; for Laplacians the distance is x.
    """
    X = np.sqrt(np.asarray(squares, float))[:, None]
    return sums(kernels, np.zeros((1, 1)), np.ones((1, len(kernels))), X)[0]


def of_model(model, X):
    """The scores of a fitted model's experts, (m, n)."""
    return sums_of(model).sums(support_of(model), rows_of(X))
