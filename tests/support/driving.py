"""How tests drive a machine: chunk by chunk, with the seed that its draws come from."""

import numpy as np

SIGNS = (-1, 1)


def seed_of(random_state):
    """The seed of the draws that an estimator's random_state stands for."""
    return int(np.random.RandomState(random_state).randint(2**31 - 1))


def named(C):
    """The classes, as arguments: 0 ... C - 1, or their labels; none for numbers."""
    return {} if C is None else {"classes": np.arange(C) if isinstance(C, int) else C}


def learn(model, X, y, C=None, size=None, importance=None):
    """Predictions and whose label was asked for, in chunks of `size` rows; all at once by default.

    C : as `named` takes it
    """
    size = size or max(len(y), 1)
    told = []
    for start in range(0, len(y), size):
        part = slice(start, start + size)
        weights = None if importance is None else importance[part]
        told.append(model.learn(X[part], y[part], sample_weight=weights, **named(C)))
    return tuple(np.concatenate(column) for column in zip(*told, strict=True))


def says(model, X, y, C=None, size=None, importance=None):
    """What the model says of each row before it learns it; see `learn`."""
    return learn(model, X, y, C, size, importance)[0]


def waves(n=120, d=3, seed=0):
    """Numbers that follow two of the features, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.normal(size=n)
