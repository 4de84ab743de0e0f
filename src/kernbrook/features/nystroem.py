"""Features from the kernel values with a few examples."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from scipy.sparse import csr_matrix

from kernbrook.checks import Other, Whole, check, or_none, parameters, refusal
from kernbrook.errors import InputError
from kernbrook.features.base import Arrays, Features, Map, Shapes
from kernbrook.gram.arrays import Floats
from kernbrook.gram.rows import DenseRows, Rows
from kernbrook.kernels.base import Kernel
from kernbrook.kernels.planning import Layout
from kernbrook.numerics.lanes import dense_inner
from kernbrook.numerics.values import kernel_values
from kernbrook.sparse import as_csr


class NystroemMap(Map):
    """Kernel values with the landmarks, times the inverse root of those among them."""

    def __init__(self, kernel: Kernel, features: Nystroem, width: int, arrays: Arrays):
        super().__init__(kernel, features, width, arrays)
        self._landmarks = features.points(width)
        self._stored: dict[type[Any], Rows] = {}  # the landmarks, dense or sparse as rows are
        self._layout = Layout([kernel])

    def fill(self, rows: Rows, out: Floats) -> None:
        points = self._stored.get(type(rows))
        if points is None:
            dense = isinstance(rows, DenseRows)
            points = type(rows).of(self._landmarks if dense else csr_matrix(self._landmarks))
            self._stored[type(rows)] = points
        values = np.empty((len(rows), len(points)))
        kernel_values(self._layout.plan, rows.pairs(self._layout, points), values)
        dense_inner(values, None, self._arrays["root"], out)


@parameters
class Nystroem(Features):
    """z(x) = K^(-1/2) k(x): k(x) the kernel's values with m landmarks, K those among them.

    For any kernel. <z(x), z(x')> is the kernel wherever one of the two lies in the span of the
    landmarks: on the landmarks themselves, for one. Directions in which K is 0 to rounding, or
    negative (a kernel that is not positive definite), are left out.

    Parameters
    ----------
    n_components : int
        Landmarks to draw from the data where none are given, fewer if the data are fewer:
        `KernelFeatures` only. A machine that learns online has no data to draw from.
    landmarks : (m, d) array, or None

    Raises
    ------
    InputError
        No landmarks where they are needed, or not an array of finite numbers with the features
        of the examples.

    References
    ----------
    Williams and Seeger (2001), Using the Nyström method to speed up kernel machines.

    Examples
    --------
    >>> import numpy as np
    >>> import kernbrook as kb
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> Z = kb.KernelFeatures(kb.Gaussian(sigma=1), kb.Nystroem(landmarks=X)).fit_transform(X)
    >>> bool(np.allclose(Z @ Z.T, kb.Gaussian(sigma=1)(X, X)))
    True
    """

    map = NystroemMap
    n_components: Annotated[int, Whole()] = 100
    landmarks: Annotated[Any, or_none(Other("an (m, d) array of finite numbers"))] = None

    def points(self, width: int) -> Floats:
        """The landmarks, checked, (m, width)."""
        if self.landmarks is None:
            raise InputError(
                "Nystroem: landmarks must be given here, as an array of examples; only "
                "KernelFeatures draws them, from the data it is fitted to"
            )
        array = self.landmarks
        array = as_csr(array).toarray() if hasattr(array, "toarray") else array
        # A copy: a read-only array would be compiled for anew.
        try:
            array = np.array(array, dtype=np.float64, order="C")
        except (TypeError, ValueError):
            raise refusal(self, "landmarks", "be an array of numbers, (m, d)") from None
        if array.ndim != 2 or array.shape[1] != width or len(array) == 0:
            raise InputError(
                f"Nystroem: expected landmarks of shape (m, {width}), got {array.shape}"
            )
        if not np.isfinite(array).all():
            raise InputError("Nystroem: the landmarks have NaN or infinite values")
        return array

    def with_data(self, X: Any, generator: np.random.Generator) -> Nystroem:
        """The recipe with landmarks: its own, or rows drawn from X, (n, d), without repetition."""
        if self.landmarks is not None:
            return self
        check(self)
        m = min(int(self.n_components), X.shape[0])
        return Nystroem(m, X[np.sort(generator.choice(X.shape[0], m, replace=False))])

    def dim(self, kernel: Kernel, width: int) -> int:
        return len(self.points(width))

    def shapes(self, kernel: Kernel, width: int) -> Shapes:
        m = self.dim(kernel, width)
        return {"root": ((m, m), np.float64)}

    def draw(self, kernel: Kernel, width: int, generator: np.random.Generator) -> Arrays:
        points = self.points(width)
        with np.errstate(all="ignore"):
            values = kernel(points, points)
        if not np.isfinite(values).all():
            raise InputError(f"Nystroem: {kernel} of the landmarks gave NaN or infinity")
        sizes, directions = np.linalg.eigh((values + values.T) / 2.0)
        kept = sizes > len(points) * np.finfo(np.float64).eps * max(sizes[-1], 0.0)
        directions = directions[:, kept]
        return {"root": directions / np.sqrt(sizes[kept]) @ directions.T}
