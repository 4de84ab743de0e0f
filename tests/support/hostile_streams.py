"""Streams at the ends of what numbers can be: (X, y) with y in {0, 1}."""

import numpy as np

N = 160


def _rows(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 3))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def _sized(size):
    def stream():
        X, y = _rows()
        return X / np.abs(X).max() * size, y

    return stream


def tiny():
    X, _ = _rows()
    return np.where(X > 0, 1e-320, -1e-320), (X[:, 0] > 0).astype(int)


def alternating():
    """Every second row 200 orders of magnitude larger."""
    X, y = _rows()
    return X * np.where(np.arange(N)[:, None] % 2, 1e100, 1e-100), y


def constant_then_moves():
    X, y = _rows()
    Z = np.full((N, 3), 1e15)
    Z[3 * N // 4 :] += np.round(X[3 * N // 4 :])
    return Z, y


def contradicting():
    """One row, with both labels in turn."""
    X, _ = _rows()
    return np.tile(X[:1], (N, 1)), np.arange(N) % 2


def signed_zeros():
    X, y = _rows()
    return np.where(X > 0, 0.0, -0.0), y


def growing():
    X, y = _rows()
    return X * np.logspace(-6, 6, N)[:, None], y


def falling():
    X, y = _rows()
    return X * np.logspace(6, -6, N)[:, None], y


def one_outlier():
    X, y = _rows()
    X[N // 2] = 8e153
    return X, y


def nanoseconds():
    """A time in nanoseconds beside ordinary features."""
    X, y = _rows()
    X[:, 0] = 1.7e18 + np.arange(N) * 1e9
    return X, y


STREAMS = {
    "1e153": _sized(1e153),
    "9e153": _sized(4.5e153),
    "1e-160": _sized(1e-160),
    **{
        function.__name__: function
        for function in (
            *(tiny, alternating, constant_then_moves, contradicting, signed_zeros),
            *(growing, falling, one_outlier, nanoseconds),
        )
    },
}
