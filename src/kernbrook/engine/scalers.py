"""Scaling of features as they come, by what is known at the time and nothing of the future."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernbrook.checks import COUNTED, shown
from kernbrook.engine.state import Field, Table, copy_arrays, flatten, pick
from kernbrook.engine.uniting import Apart, oldest_first
from kernbrook.errors import InputError
from kernbrook.gram.arrays import Floats, Ints, pad, within
from kernbrook.numerics import scaling
from kernbrook.numerics.scaling import METHODS
from kernbrook.snapshots import copy_with

LARGEST_FILLED = 4096  # features of a sparse row that is filled in
LARGEST_RANKED = 512  # features of a row that is ranked: each keeps its last values


class ScalerState(NamedTuple):
    """The state of a scaler, changed in place; see `scale_rows` and `rank_rows`.

    seen : (1,) rows so far
    first, second : (d,) of each feature; of ranks the last rows, and the same in order
    """

    seen: Ints
    first: Floats
    second: Floats


SCALED = Table(
    ScalerState,
    seen=Field((1,), int, least=0, most=COUNTED, merged="added"),
    first=Field(("feature",)),
    second=Field(("feature",)),
)
RANKED = Table(
    ScalerState,
    seen=Field((1,), int, least=0, most=COUNTED),
    first=Field((scaling.WINDOW, "feature")),
    second=Field(("feature", scaling.WINDOW)),
)


class OnlineScaler:
    """Scales each feature by its running maximum, its running mean and deviation, or its rank.

    A row is scaled by the rows before it and itself: its features are known before its label is.

    Parameters
    ----------
    method : "maximum", "moments" or "ranks"
        "maximum": x / max |x|, which keeps zeros. "moments": (x - mean) / deviation, 0 where
        nothing has varied yet. "ranks": (r - 1/2) sqrt(12), where r is the share of smaller values
        among the last 1,000, itself included, and half of equal ones. The last two fill in sparse
        rows.
    width : int, number of features

    Raises
    ------
    InputError
        No such method, sparse rows of more than 4,096 features for "moments", or any of more
        than 512 for "ranks".

    Examples
    --------
    >>> import numpy as np
    >>> scaler = OnlineScaler("maximum", 1)
    >>> scaler.learn(np.array([[2.0], [1.0], [4.0]])).ravel()
    array([1. , 0.5, 1. ])
    >>> scaler.transform(np.array([[1.0], [8.0]])).ravel()
    array([0.25, 1.  ])
    """

    def __init__(self, method: str, width: int):
        if not isinstance(method, str) or method not in METHODS:
            known = "'auto', 'moments', 'maximum', 'ranks' or None"
            raise InputError(f"scaling: expected {known}, got {shown(method)}")
        if method == "ranks" and width > LARGEST_RANKED:
            raise InputError(
                f"scaling: 'ranks' takes at most {LARGEST_RANKED} features, found {width}"
            )
        self.method, self._code, self.leap = method, METHODS[method], scaling.NO_LEAP
        self.known: ScalerState = self._table.begun(feature=width)

    @property
    def _table(self) -> Table:
        return RANKED if self.method == "ranks" else SCALED

    def learn(self, X: Any) -> Any:
        """(n, d) the rows scaled, each by those before it and itself, which are then known."""
        X = self._filled(X)
        if sp.issparse(X):
            return self._sparse(X, self.known.first)
        out = np.empty(X.shape)
        if self.method == "ranks":
            scaling.rank_rows(np.array(X), *self.known, out)
        else:
            self.leap = scaling.scale_rows(self._code, np.array(X), *self.known, out)
        return out

    def transform(self, X: Any) -> Any:
        """(n, d) each row scaled as if it came next; nothing changes."""
        X = self._filled(X)
        if sp.issparse(X):
            each = (X[i : i + 1] for i in range(X.shape[0]))
            rows = [self._sparse(row, self.known.first.copy()) for row in each]
            return sp.vstack(rows, format="csr") if rows else X
        out = np.empty(X.shape)
        if self.method == "ranks":
            scaling.rank_each(np.array(X), *self.known, out)
        else:
            scaling.scale_each(self._code, np.array(X), *self.known, out)
        return out

    def _filled(self, X: Any) -> Any:
        """Dense rows where zeros do not stay zeros."""
        if self.method == "maximum" or not sp.issparse(X):
            return X
        if X.shape[1] > LARGEST_FILLED:
            raise InputError(
                f"scaling: {self.method!r} fills in sparse rows, of at most {LARGEST_FILLED} "
                f"features, found {X.shape[1]}; take 'maximum'"
            )
        return X.toarray()

    def _sparse(self, X: Any, largest: NDArray[np.float64]) -> Any:
        out = np.empty(X.nnz)
        indices, indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
        scaling.scale_sparse(X.data, indices, indptr, largest, out)
        return type(X)((out, X.indices, X.indptr), shape=X.shape)

    def unite(self, apart: Apart) -> None:
        """Know what several together know: exactly, but of ranks the last rows of all in turn."""
        known = apart.of("known")
        if self.method == "ranks":
            last = known.over(lambda state: oldest_first(state.first, int(state.seen[0])))
            if len(rows := last.newest(scaling.WINDOW)):
                self.learn(rows)
            return
        seen = SCALED.merged(known)["seen"]
        if self.method == "maximum":
            greatest = np.max([state.first for state in known.each], axis=0)
            self.known = ScalerState(seen, greatest, np.zeros_like(greatest))
            return
        great = np.min([state.second for state in (*known.each, known.before)], axis=0) < 0
        moments = known.over(lambda state: _moments(state, great))
        origin = moments.before[0]  # sums of differences from it lose no digits
        sums = moments.over(lambda moment: moment[2] * (moment[0] - origin)).added()
        squares = moments.over(lambda moment: moment[1] + moment[2] * (moment[0] - origin) ** 2)
        n = max(int(seen[0]), 1)
        square = np.maximum(squares.added() - sums**2 / n, 0.0)
        self.known = ScalerState(seen, origin + sums / n, np.where(great, -square, square))

    def copy(self) -> OnlineScaler:
        """A scaler that goes on from here by itself."""
        return self.on(copy_arrays(self.known))

    def snapshot(self) -> OnlineScaler:
        """A scaler that transforms rows as this one does now, and learns none."""
        known = self.known
        if self.method == "ranks":  # the last rows are asked for the one that would leave
            leaves = int(known.seen[0]) % len(known.first)
            known = known._replace(first=known.first[leaves : leaves + 1])
        return self.on(copy_arrays(known))

    def on(self, known: ScalerState) -> OnlineScaler:
        """A scaler that learns in these arrays."""
        return copy_with(self, known=known, leap=scaling.NO_LEAP)

    def with_features(self, width: int) -> OnlineScaler:
        """A scaler that goes on with more features, which were 0 so far."""
        wide = self._table.along("feature", self.known._asdict(), partial(pad, size=width))
        return self.on(copy_arrays(ScalerState(**wide)))

    def restored(self, arrays: Mapping[str, NDArray[Any]]) -> OnlineScaler:
        """A scaler with copies of these arrays; InputError if they are none of this kind."""
        given: Any = arrays.get("first")
        rows = self.known.first
        if self.method == "ranks" and len(rows) == 1 and np.shape(given) != rows.shape:
            whole = OnlineScaler("ranks", rows.shape[1])  # a snapshot of before could learn, too
            return whole.restored(arrays).snapshot()
        known = copy_arrays(self._table.restored(self.known, arrays))
        if self.method == "ranks":  # compiled code looks for places in what is in order
            held = min(max(int(known.seen[0]), 0), scaling.WINDOW)
            ordered = np.sort(known.second[:, :held] if len(rows) == 1 else known.first[:held].T)
            if not np.array_equal(known.second[:, :held], ordered):
                known.second[:, :held] = ordered
        self._table.check(known)
        return self.on(known)


class Scalers:
    """The same rows, scaled in several ways at once; methods as of `OnlineScaler`.

    Parameters
    ----------
    methods : of each view, as of `OnlineScaler`; None: the rows as they are
    width : int, number of features
    """

    def __init__(self, methods: Sequence[str | None], width: int):
        self.methods = tuple(methods)
        self._each = [None if method is None else OnlineScaler(method, width) for method in methods]

    @property
    def fills(self) -> bool:
        """Whether sparse rows are filled in."""
        return any(method not in (None, "maximum") for method in self.methods)

    def learn(self, X: Any) -> list[Any]:
        """The rows in each view, each scaled by those before it and itself; None: as they are."""
        return [None if scaler is None else scaler.learn(X) for scaler in self._each]

    def transform(self, X: Any) -> list[Any]:
        """Each row in each view as if the row came next; nothing changes."""
        return [None if scaler is None else scaler.transform(X) for scaler in self._each]

    @property
    def leap(self) -> int:
        """The leap of the last rows, as `scale_rows` gives it, in the first view that has one."""
        found = [scaler.leap for scaler in self._each if scaler is not None]
        return next((leap for leap in found if leap != scaling.NO_LEAP), scaling.NO_LEAP)

    def copy(self) -> Scalers:
        return self._of(OnlineScaler.copy)

    def snapshot(self) -> Scalers:
        return self._of(OnlineScaler.snapshot)

    def unite(self, apart: Apart) -> None:
        for i, scaler in enumerate(self._each):
            if scaler is not None:
                scaler.unite(apart.over(lambda scalers, i=i: scalers._each[i]))  # type: ignore[misc]

    def on(self, arrays: Iterable[NDArray[Any]]) -> Scalers:
        """Scalers that learn in these arrays, which are like those of `arrays`, in their order."""
        left = iter(arrays)
        return self._of(lambda scaler: scaler.on(ScalerState(next(left), next(left), next(left))))

    def _of(self, change: Callable[[OnlineScaler], OnlineScaler]) -> Scalers:
        """Scalers that a change makes of these, view by view."""
        each = [None if scaler is None else change(scaler) for scaler in self._each]
        return copy_with(self, _each=each)

    def with_features(self, width: int) -> Scalers:
        return self._of(lambda scaler: scaler.with_features(width))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that was learned, by name."""
        each = [(i, scaler.known) for i, scaler in enumerate(self._each) if scaler is not None]
        return flatten({f"scaler.{i}": known._asdict() for i, known in each})

    def restored(self, arrays: Mapping[str, NDArray[Any]]) -> Scalers:
        """Scalers with copies of these arrays; InputError if they are none of these."""
        other = self.copy()
        for i, scaler in enumerate(self._each):
            if scaler is not None:
                with within(f"scaler.{i}."):
                    other._each[i] = scaler.restored(pick(arrays, f"scaler.{i}"))
        return other

    def load(self, other: Scalers) -> None:
        """Copy what others know into the arrays in use."""
        for array_here, array in zip(self.arrays().values(), other.arrays().values(), strict=True):
            np.copyto(array_here, array)


def _moments(known: ScalerState, great: Any) -> tuple[Any, Any, Any]:
    """Means, sums of squared deviations and the number of rows; `great`: which in units."""
    units = np.where(great & (known.second >= 0), scaling.GREAT, 1.0)
    return known.first / units, np.abs(known.second) / units / units, known.seen
