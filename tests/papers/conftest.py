"""A folder of small data sets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest


def write(path: Path, X: np.ndarray, y: np.ndarray) -> None:
    """In svmlight format, five digits each."""
    lines = (
        " ".join([f"{label:.5g}", *(f"{j}:{value:.5f}" for j, value in enumerate(row, 1))])
        for label, row in zip(y, X, strict=True)
    )
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Writes data sets of given names, of two classes or as given, in the folder KERNBROOK_DATA."""
    monkeypatch.setenv("KERNBROOK_DATA", str(tmp_path))

    def fill(*names: str, rows: int = 120, **given: tuple[np.ndarray, np.ndarray]) -> Path:
        for seed, name in enumerate(names):
            rng = np.random.default_rng(seed)
            X = 10 * rng.normal(size=(rows, 3)) + 50
            y = np.where(X[:, 0] + X[:, 1] + 3 * rng.normal(size=rows) > 92, 1, -1)  # most are 1
            write(tmp_path / f"{name}.libsvm", X, y)
        for name, (X, y) in given.items():
            write(tmp_path / f"{name.replace('_', '.')}.libsvm", X, y)
        return tmp_path

    return fill


class Told:
    """What `reproduce` announces, and the rounds that it is told of."""

    def __init__(self) -> None:
        self.announced: list[tuple[str, int]] = []
        self.done: list[int] = []

    def announce(self, name: str, rounds: int) -> Callable[[int], None]:
        self.announced.append((name, rounds))
        return self.done.append


@pytest.fixture
def told() -> Told:
    return Told()
