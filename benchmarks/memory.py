"""Bytes of the defaults after 10,000 rows, by store and array: of the model, and of what it keeps.

    python benchmarks/memory.py [NAME[:ROWS] ...] [--least BYTES]

Of each stream the default for its labels, in chunks of 500; for classes the small recipe, too. What
is kept for predictions far ahead is as of some row before.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import machine
import numpy as np

import kernbrook as kb

STREAMS = "magic04", "a9a", "energy", "covtype"
OF_CLASSES = "kernbrook-classification", "kernbrook-small"
ROWS, CHUNK = 10_000, 500


def learned(recipe: str, X: Any, y: Any) -> Any:
    """The model of a recipe after all rows."""
    model = kb.recipes.make(recipe, random_state=0)
    named = {} if recipe.endswith("regression") else {"classes": np.unique(y)}
    for at in range(0, len(y), CHUNK):
        some = slice(at, at + CHUNK)
        model.partial_fit(machine.dense(X[some]), y[some], **named)
    return model


def parts(model: Any) -> Iterator[tuple[str, str, Any]]:
    """(whose it is, name, array) of each array; kept ones that the model has, too, are left out."""
    known: list[Any] = []
    run = model._model
    for name, one in (("model", run), ("old", run.horizons.old), ("now", run.horizons.now)):
        for i, store in enumerate(run.stores if one is not None else ()):
            for own, array in store.arrays(one.states[i]).items():
                if not any(array is other for other in known):
                    known.append(array)
                    yield name, f"{i} {type(store).__name__} {own}", array


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("streams", nargs="*", default=STREAMS)
    parser.add_argument("--least", type=int, default=50_000)
    given = parser.parse_args()
    print(machine.describe())
    for text in machine.present(given.streams):
        X, y = machine.read(text)
        X, y = X[:ROWS], y[:ROWS]
        numbers = (y % 1 != 0).any()
        for recipe in ["kernbrook-regression"] if numbers else OF_CLASSES:
            model = learned(recipe, X, y)
            with TemporaryDirectory() as folder:
                kb.save(model, Path(folder) / "model")
                size = (Path(folder) / "model").stat().st_size
            print(f"\n{text}, {recipe}: {model.memory_bytes_ / 1e6:.2f} MB, file {size / 1e6:.2f}")
            found = [[*named, a.nbytes] for *named, a in parts(model) if a.nbytes >= given.least]
            print(machine.table(["", "array", "bytes"], found))


if __name__ == "__main__":
    main()
