"""Random Fourier features, for kernels that have a spectrum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import Flag, OneOf, Whole, or_none, parameters
from kernbrook.compiler.compiling import njit
from kernbrook.errors import InputError
from kernbrook.features.base import TILE, Arrays, Features, Map, Shapes, write_rows
from kernbrook.gram.arrays import Floats
from kernbrook.gram.rows import Rows
from kernbrook.kernels.base import Kernel
from kernbrook.kernels.spectra import WAYS, ShiftInvariant, over_subsets
from kernbrook.numerics.lanes import dense_inner
from kernbrook.numerics.trigonometry import LARGEST, sine_cosine


@njit(cache=True, nogil=True)
def fill_waves(angles, first, scale, starts, out):
    """The features [sin, cos] * scale of several kernels, from the angles of a few examples.

    Angles beyond `LARGEST` are done once more, by the library; infinity and NaN give NaN.

    angles : (b, f) of the examples, all kernels' side by side
    first : (m+1,) kernel i's angles are first[i] .. first[i+1]-1
    starts : (m,) where kernel i's features of the first example go in `out`, (any,); those of the
        others follow, 2 (first[i+1] - first[i]) numbers each
    """
    for s in range(np.uintp(angles.shape[0])):
        for i in range(len(scale)):
            lo = np.uintp(first[i])
            d = np.uintp(first[i + 1]) - lo
            sines = np.uintp(starts[i]) + s * (d + d)
            cosines = sines + d
            beyond = 0
            for k in range(d):
                x = angles[s, lo + k]
                beyond += not abs(x) <= LARGEST
                sine, cosine = sine_cosine(x)
                out[sines + k] = scale[i] * sine
                out[cosines + k] = scale[i] * cosine
            if beyond > 0:
                for k in range(d):
                    x = angles[s, lo + k]
                    if not abs(x) <= LARGEST:
                        out[sines + k] = scale[i] * math.sin(x)
                        out[cosines + k] = scale[i] * math.cos(x)


class WavePanel:
    """Random features of several kernels, whose angles are inner products computed together."""

    def __init__(self, maps: Sequence[Map]):
        frequencies = [wave_map.arrays()["frequencies"] for wave_map in maps]
        self._columns = np.ascontiguousarray(np.concatenate(frequencies).T)
        self._dims = np.array([wave_map.dim for wave_map in maps])
        self._first = np.concatenate([[0], np.cumsum(self._dims // 2)])
        self._scale = np.array([wave_map.features.scale() for wave_map in maps])
        self._place = np.arange(len(self._columns))

    def fill(self, rows: Rows, starts: NDArray[np.int64], out: Floats) -> None:
        """Write features in a flat array: map i's of the first row begin at starts[i]."""
        memory = np.empty((min(TILE, len(rows)), self._columns.shape[1]))
        for lo in range(0, len(rows), TILE):
            part = rows.part(lo, min(lo + TILE, len(rows)))
            angles = memory[: len(part)]
            part.inner(self._columns, self._place, angles)
            fill_waves(angles, self._first, self._scale, starts + lo * self._dims, out)

    def rule(self, starts: NDArray[np.int64], n: int) -> Waves:
        """The rule for which `write_rows` does so for n rows, of at most `TILE`."""
        angles = np.empty((n, self._columns.shape[1]))
        return Waves(self._columns, angles, self._first, self._scale, starts)


class Waves(NamedTuple):
    """Columns of the frequencies of a panel, and the rest as in `fill_waves`; angles : scratch."""

    columns: Floats
    angles: Floats
    first: NDArray[np.int64]
    scale: Floats
    starts: NDArray[np.int64]


@write_rows.of(Waves)
def _write_rows(rule, X, out):
    dense_inner(X, None, rule.columns, rule.angles)
    fill_waves(rule.angles, rule.first, rule.scale, rule.starts, out)


class WaveMap(Map):
    """[sin V x, cos V x], which a pool computes for all its kernels together."""

    panel = WavePanel

    def fill(self, rows: Rows, out: Floats) -> None:
        WavePanel([self]).fill(rows, np.zeros(1, dtype=np.int64), out.reshape(-1))


@parameters
class RandomFeatures(Features):
    """z(x) = [sin V x, cos V x] / sqrt(D), D frequencies V drawn from the kernel's own spectrum.

    For the shift-invariant kernels Gaussian, Laplacian, Cauchy and Matern. z(x) . z(x') is
    then the mean of cos v . (x - x') over the frequencies, whose expectation is k(x, x'); its
    error falls like 1 / sqrt(D).

    Parameters
    ----------
    n_components : int, D
        Frequencies; there are 2 D features, the sines first.
    frequencies : "random" or "orthogonal"
        Independent; or orthogonal in blocks of as many as there are input features, each of the
        length that an independent one has, which is nearer to the kernel with as many frequencies.
        A Laplacian has no orthogonal ones.
    normalize : bool
        Divide by sqrt(D). Without, as in the tables of Chae and Hong (2021), z(x) . z(x') is near
        D k(x, x'), and gradient steps are D times as long.
    inputs : int or None, k
        Inputs that a frequency looks at: at the others it is 0. All where there are no more than
        k, or for None. z(x) . z(x') is then near the mean of the kernel over all sets of k
        inputs S; for a Gaussian that of exp(-gamma sum_{i in S} (x_i - z_i)^2), the ANOVA kernel
        of order k.

    Notes
    -----
    Frequencies v with E exp(i v . delta) = k(delta): for a Gaussian, normal with variance
    2 gamma; for the Laplacian, of the distance ||x - z||_1, Cauchy with scale gamma in each
    coordinate; Cauchy and Matern kernels are mixtures of Gaussians over gamma, so theirs are
    normal ones, each lengthened by a random factor: sqrt(e), e exponential with mean 1, for the
    Cauchy kernel, sqrt(nu / g), g of the gamma distribution with shape nu, for Matern. Beside
    orthogonal directions these factors are stratified, which the paper, of Gaussians, has no need
    for; it lowers the error by a tenth.

    The k inputs of a frequency are dealt from shuffled decks of all inputs, one deck after the
    other: each input occurs as often as any other, or once more. Every set of k is as likely, so
    the expectation is exact. Orthogonal frequencies have the same inputs within a block, which is
    of k then; there an input may occur k times more than another.

    References
    ----------
    Rahimi and Recht (2007), Random features for large-scale kernel machines. Yu, Suresh,
    Choromanski, Holtmann-Rice, Kumar (2016), Orthogonal random features, section 3. Hashemi,
    Schaeffer, Shi, Topcu, Tran, Ward (2023), Generalization bounds for sparse random feature
    expansions: frequencies of few inputs.

    Examples
    --------
    >>> import kernbrook as kb
    >>> kb.RandomFeatures(100, frequencies="orthogonal")
    RandomFeatures(frequencies='orthogonal', n_components=100)
    """

    map = WaveMap
    n_components: Annotated[int, Whole()] = 50
    frequencies: Annotated[str, OneOf(WAYS)] = "random"
    normalize: Annotated[bool, Flag()] = True
    inputs: Annotated[int | None, or_none(Whole())] = None

    def scale(self) -> float:
        """The factor of sines and cosines."""
        return 1.0 / math.sqrt(self.n_components) if self.normalize else 1.0

    def dim(self, kernel: Kernel, width: int) -> int:
        if not isinstance(kernel, ShiftInvariant):
            names = ", ".join(sorted(kind.__name__ for kind in ShiftInvariant.__subclasses__()))
            raise InputError(
                f"RandomFeatures: expected a shift-invariant kernel ({names}), got {kernel!r}; "
                "Nystroem has features for any kernel, Monomials for polynomials"
            )
        if self.frequencies == "orthogonal" and not kernel.isotropic:
            raise InputError(
                f"RandomFeatures: a {type(kernel).__name__} has no orthogonal frequencies, its "
                "spectrum is not the same in every direction; take 'random'"
            )
        return 2 * int(self.n_components)

    def shapes(self, kernel: Kernel, width: int) -> Shapes:
        return {"frequencies": ((self.n_components, width), np.float64)}

    def draw(self, kernel: Kernel, width: int, generator: np.random.Generator) -> Arrays:
        n = self.dim(kernel, width) // 2
        assert isinstance(kernel, ShiftInvariant)
        inputs = width if self.inputs is None else self.inputs
        way = self.frequencies
        return {"frequencies": over_subsets(kernel, inputs, n, width, way, generator)}

    def with_features(
        self, kernel: Kernel, arrays: Arrays, width: int, generator: np.random.Generator
    ) -> Arrays | None:
        """The map of all inputs, for kernels that are products over them."""
        assert isinstance(kernel, ShiftInvariant)
        if not kernel.product or (self.inputs is not None and self.inputs < width):
            return None
        old = arrays["frequencies"]
        more = kernel.frequencies(len(old), width - old.shape[1], self.frequencies, generator)
        return {"frequencies": np.concatenate([old, more], axis=1)}
