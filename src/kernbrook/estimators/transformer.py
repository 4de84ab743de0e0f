"""Kernel features as a scikit-learn transformer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from kernbrook.checks import Other, Seed, check, parameters
from kernbrook.errors import InputError
from kernbrook.estimators.base import checked
from kernbrook.features import RandomFeatures
from kernbrook.features.base import Features
from kernbrook.features.pools import PoolMap, draw, widen
from kernbrook.gram.arrays import Floats
from kernbrook.gram.rows import DenseRows, Rows, SparseRows
from kernbrook.kernels import Gaussian, resolve

ROWS = 512  # taken together


_KERNEL = Other("None, a dictionary's name, a kernel, a function, or a list of these")
_FEATURES = Other("None, a map such as RandomFeatures(), or a list, one for each kernel")


@parameters
class KernelFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Features z(x) with <z(x), z(x')> near a kernel k(x, x'), for one kernel or several.

    Parameters
    ----------
    kernel : str, kernel, function or list of these
        As `kernels` of `OnlineMKClassifier`; `Gaussian(sigma=1)` by default. The features of
        several kernels stand side by side.
    features : RandomFeatures, Monomials or Nystroem, or a list, one for each kernel
        `RandomFeatures()` by default.
    random_state : int, RandomState or None

    Attributes
    ----------
    kernels_ : (m,) tuple of kernels
    dims_ : (m,) int, how many of the features are each kernel's
    n_features_in_, feature_names_in_ : as in scikit-learn

    Raises
    ------
    InputError
        A kernel has no features of the kind asked for, or a parameter is not what was expected.

    Notes
    -----
    The features of a row depend on nothing but the row and the fitted draws: not on the other
    rows, and not on sparsity, bit for bit.

    Examples
    --------
    >>> import numpy as np
    >>> import kernbrook as kb
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> maps = kb.KernelFeatures(kb.Gaussian(sigma=2), kb.RandomFeatures(2000), random_state=0)
    >>> Z = maps.fit_transform(X)
    >>> Z.shape
    (20, 4000)
    >>> bool(np.abs(Z @ Z.T - kb.Gaussian(sigma=2)(X, X)).max() < 0.1)
    True
    """

    kernel: Annotated[Any, _KERNEL] = None
    features: Annotated[Any, _FEATURES] = None
    random_state: Annotated[Any, Seed()] = None

    def fit(self, X: Any, y: Any = None) -> KernelFeatures:
        """Draw the features for examples of the width of X.

        Only Nystroem without landmarks looks at the values: it draws rows.

        Parameters
        ----------
        X : (n, d) array, frame or sparse matrix
        y : ignored
        """
        check(self)
        X = checked(X, self, reset=True)
        kernels = resolve(Gaussian(sigma=1) if self.kernel is None else self.kernel)
        recipes = self._recipes(len(kernels))
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        maps = []
        for i, (kernel, recipe) in enumerate(zip(kernels, recipes, strict=True)):
            recipe = recipe.with_data(X, np.random.default_rng([seed, len(kernels) + i]))
            maps.append(draw(kernel, recipe, X.shape[1], seed, i))
        self.kernels_ = kernels
        self._pool = PoolMap(maps)
        self.dims_ = self._pool.dims
        return self

    def _widen(self, width: int) -> bool:
        """Take rows of so many features from now on, those so far as 0 there; whether it can."""
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        held = [widen(feature_map, width, seed, i) for i, feature_map in enumerate(self._pool.maps)]
        maps = [feature_map for feature_map in held if feature_map is not None]
        if grows := len(maps) == len(held):
            self._pool, self.n_features_in_ = PoolMap(maps), width
        return grows

    def transform(self, X: Any) -> Floats:
        """The features of each row of X, (n, d): (n, sum of dims_)."""
        check_is_fitted(self)
        X = checked(X, self)
        rows: Rows = SparseRows.of(X) if sp.issparse(X) else DenseRows.of(X)
        result = np.empty((len(rows), self._n_features_out))
        edges = self._pool.offsets
        for lo in range(0, len(rows), ROWS):
            hi = min(lo + ROWS, len(rows))
            for i, block in enumerate(self._pool.blocks(rows.part(lo, hi))):
                result[lo:hi, edges[i] : edges[i + 1]] = block
        return result

    @property
    def _n_features_out(self) -> int:
        return int(self._pool.offsets[-1])

    def _recipes(self, kernels: int) -> Sequence[Features]:
        given = RandomFeatures() if self.features is None else self.features
        recipes = [given] * kernels if isinstance(given, Features) else given
        if not isinstance(recipes, (list, tuple)) or not all(
            isinstance(recipe, Features) for recipe in recipes
        ):
            raise InputError(
                "features: expected RandomFeatures, Monomials or Nystroem, or a "
                f"list of these, got {given!r}"
            )
        if len(recipes) != kernels:
            raise InputError(f"features: got {len(recipes)} of them for {kernels} kernels")
        return recipes

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
