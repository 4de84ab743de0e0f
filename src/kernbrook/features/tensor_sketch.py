"""A sketch of the monomials of polynomial kernels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import Whole
from kernbrook.compiler.compiling import njit
from kernbrook.errors import InputError
from kernbrook.features.base import Arrays, Features, Floats, Map, Rows, Shapes
from kernbrook.kernels.base import Kernel
from kernbrook.kernels.constant import without_constant
from kernbrook.kernels.polynomial import Polynomial, polynomial_variables


@njit(cache=True, nogil=True)
def count_sketches(rows, constant, buckets, signs, out):
    """out[j, s] = the sketch j of row s: signs[j, k] x_k added to the bucket buckets[j, k].

    A last column of buckets and signs, after those of the inputs, is that of the constant.

    rows : (b, d); buckets, signs : (degree, d or d + 1); out : (degree, b, n)
    """
    b, d = rows.shape
    for j in range(buckets.shape[0]):
        for s in range(b):
            for k in range(out.shape[2]):
                out[j, s, k] = 0.0
            for k in range(d):
                out[j, s, buckets[j, k]] += signs[j, k] * rows[s, k]
            for k in range(d, buckets.shape[1]):
                out[j, s, buckets[j, k]] += signs[j, k] * constant


@njit(cache=True, nogil=True)
def multiply_spectra(spectra):
    """spectra[0] *= spectra[1] * ...; not by NumPy, which may round by the place in the array."""
    for j in range(1, spectra.shape[0]):
        for s in range(spectra.shape[1]):
            for k in range(spectra.shape[2]):
                spectra[0, s, k] *= spectra[j, s, k]


class SketchMap(Map):
    """Count sketches of a row, convolved; 1 where that was added to the kernel."""

    def fill(self, rows: Rows, out: Floats) -> None:
        kernel, ones = without_constant(self.kernel)
        assert isinstance(kernel, Polynomial)
        buckets, signs = self._arrays["buckets"], self._arrays["signs"]
        n = self.dim - ones
        sketches = np.empty((len(buckets), len(out), n))
        count_sketches(rows.dense(), math.sqrt(kernel.offset), buckets, signs, sketches)
        spectra = np.fft.rfft(sketches)
        multiply_spectra(spectra)
        out[:, :n], out[:, n:] = np.fft.irfft(spectra[0], n), 1.0


class TensorSketch(Features):
    """A sketch of a polynomial kernel's monomials: E <z(x), z(x')> = (x . x' + offset)^degree.

    `degree` count sketches of x, convolved with one another by the Fourier transform. The cost
    grows with degree (d + D log D), however many monomials there are; the error falls like
    1 / sqrt(D).

    Parameters
    ----------
    n_components : int, D
        Features. One more, which is 1, where a regressor has added 1 to the kernel (`center`).

    References
    ----------
    Pham and Pagh (2013), Fast and scalable polynomial kernels via explicit feature maps,
    algorithm 1. Hashes are drawn as tables, one entry an input.

    Examples
    --------
    >>> import kernbrook as kb
    >>> kb.TensorSketch(128).dim(kb.Polynomial(3), 1000)
    128
    """

    map = SketchMap
    parameter_ranges: ClassVar = {"n_components": Whole()}

    def __init__(self, n_components: int = 256):
        self.n_components = n_components

    def dim(self, kernel: Kernel, width: int) -> int:
        kernel, ones = without_constant(kernel)
        polynomial_variables("TensorSketch", kernel, width)
        return int(self.n_components) + ones

    def shapes(self, kernel: Kernel, width: int) -> Shapes:
        kernel, _ = without_constant(kernel)
        assert isinstance(kernel, Polynomial)
        shape = int(kernel.degree), polynomial_variables("TensorSketch", kernel, width)
        return {"buckets": (shape, np.int64), "signs": (shape, np.float64)}

    def draw(self, kernel: Kernel, width: int, generator: np.random.Generator) -> Arrays:
        shape = self.shapes(kernel, width)["buckets"][0]
        buckets = generator.integers(int(self.n_components), size=shape)
        return {"buckets": buckets, "signs": generator.choice([-1.0, 1.0], size=shape)}

    def with_features(
        self, kernel: Kernel, arrays: Arrays, width: int, generator: np.random.Generator
    ) -> Arrays | None:
        drawn, kernel = self.draw(kernel, width, generator), without_constant(kernel)[0]
        assert isinstance(kernel, Polynomial)
        for name, array in drawn.items():
            inputs = arrays[name].shape[1] - (kernel.offset > 0)
            array[:, :inputs] = arrays[name][:, :inputs]
            array[:, width:] = arrays[name][:, inputs:]  # of the constant
        return drawn

    def check(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        buckets, signs = arrays["buckets"], arrays["signs"]
        if not ((buckets >= 0) & (buckets < self.n_components)).all():
            raise InputError(f"buckets: expected numbers from 0 to {self.n_components - 1}")
        if not (np.abs(signs) == 1).all():
            raise InputError("signs: expected -1 and 1")
