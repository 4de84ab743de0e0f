"""Does a wheel with compiled code compile anything? A program: `nox -s wheel` runs it.

It counts what is compiled in an environment where the wheel was installed. Then it takes away half
of the shipped files, so that the other half meets code compiled here, and compares all predictions
with those of before.
"""

import copy
import os
import pickle
import shutil
import subprocess
import sys
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pyarrow as pa
import scipy.sparse as sp
from numba.core.event import Listener, install_listener

import kernbrook as kb
from kernbrook.compiler import shipped
from kernbrook.engine.scalers import LARGEST_FILLED
from kernbrook.errors import KernbrookError

ROWS = 120


class Names(Listener):
    """Of the functions of this package that are compiled."""

    def __init__(self):
        self.found, self.quiet = [], False

    def on_start(self, event):
        function = event.data["dispatcher"].py_func
        if function.__module__.startswith("kernbrook"):
            self.found.append(
                f"{function.__module__}.{function.__qualname__} {event.data['args']}"[:300]
            )

    def on_end(self, event):
        pass


names = Names()


@contextmanager
def counted(what):
    before = len(names.found)
    yield
    new = names.found[before:]
    if new and not names.quiet:
        print(f"{what}: compiles {len(new)}", *new, sep="\n  ", flush=True)


def rows_of(task):
    draw = np.random.default_rng(0)
    X = draw.normal(size=(ROWS, 4))
    score = X[:, 0] + np.sin(2 * X[:, 1]) + 0.3 * draw.normal(size=ROWS)
    return X, {"two": score > 0, "three": np.digitize(score, [-0.7, 0.7]), "numbers": score}[task]


def recipe(name, task, wide):
    """One pass of a recipe, in chunks and in rows, and what it predicts."""
    X, y = rows_of(task)
    rows = X
    if wide:  # so wide that they stay sparse where they are scaled
        rows = sp.hstack([sp.csr_array(X), sp.csr_array((ROWS, LARGEST_FILLED))]).tocsr()
    model = kb.recipes.make(name, random_state=0)
    if not hasattr(model, "partial_fit"):
        return model.fit(rows[:40], y[:40]).predict(rows)
    told = {} if task == "numbers" else {"classes": np.unique(y)}
    for at in range(0, ROWS, 40):
        model.partial_fit(rows[at : at + 40], y[at : at + 40], **told)
        told = {}
    said = [model.predict(rows)]
    if not wide and hasattr(model, "learn_one"):
        for i in range(20):
            said.append([model.predict_one(rows[i])])
            model.learn_one(rows[i], y[i])
        said.append(model.predict(rows))
    return np.concatenate([np.asarray(one).ravel() for one in said])


def recipes():
    for name in kb.recipes.names():
        numbers = kb.recipes.task(name) == "regression"
        for task in ("numbers",) if numbers else ("two", "three"):
            for wide in (False, True):
                yield f"{name}, {task}, {'CSR' if wide else 'dense'}", (name, task, wide)


def as_they_come(X):
    """Rows of one meaning: read-only, mapped, in another order or type, in frames."""
    yield "rows", X
    fixed = X.copy()
    fixed.flags.writeable = False
    yield "read-only rows", fixed
    with TemporaryDirectory() as folder:
        np.save(f"{folder}/rows.npy", X)
        yield "mapped rows", np.load(f"{folder}/rows.npy", mmap_mode="r")
    yield "float32", X.astype(np.float32)
    yield "Fortran's order", np.asfortranarray(X)
    yield "every second row", np.repeat(X, 2, axis=0)[::2]
    frame = pd.DataFrame(X, columns=list("abcd"))
    yield "a frame of pandas", frame
    yield "a table of Arrow", pa.Table.from_pandas(frame)


def lives():
    """What users do with both defaults."""
    for Model, task in ((kb.OnlineMKClassifier, "two"), (kb.OnlineMKRegressor, "numbers")):
        X, y = rows_of(task)
        told = {} if task == "numbers" else {"classes": [False, True]}
        for what, rows in as_they_come(X):
            with counted(f"{Model.__name__}, {what}"):
                model = Model().fit(rows, y)
                model.predict(rows)
                model.predict_interval(rows) if task == "numbers" else model.predict_proba(rows)
                model.partial_fit(rows, y)
        with counted(f"{Model.__name__}, rows alone, copies and files"):
            model.predict_one(X[0])
            model.learn_one(X[0], y[0])
            for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
                other.learn_one(X[0], y[0])
                other.partial_fit(X, y).predict(X)
            with TemporaryDirectory() as folder:
                kb.save(model, f"{folder}/model")
                other = kb.load(f"{folder}/model")
            other.learn_one(X[0], y[0])
            other.partial_fit(X, y).predict(X)
            other = Model()
            other.partial_fit(X[:1], y[:1], **told)
            other.learn_one(X[1], y[1])
        with counted(f"{Model.__name__}, a table"):
            table = pd.DataFrame(X, columns=list("abcd")).assign(e=list("xy") * (ROWS // 2), y=y)
            fitted = kb.fit_table(table, "y")
            fitted.predict(table.drop(columns="y"))
            (*columns, last), record = table.columns, table.to_dict("records")[0]
            fitted.learn_one({name: record[name] for name in columns}, record[last])


def all_of_it():
    """What recipes predict, by what they learned; what is compiled is counted."""
    said = {}
    for what, chosen in recipes():
        with counted(what), suppress(KernbrookError):  # some take no wide rows
            said[what] = recipe(*chosen)
    return said


def with_shipped(folder, share):
    """What recipes predict, and how much is compiled, with a part of the lowest level's files."""
    shutil.copytree(Path(kb.__file__).parent, folder / "kernbrook")
    shipped_there = folder / "kernbrook" / "_compiled"
    *higher, lowest = (level for level in shipped.LEVELS if (shipped_there / level).exists())
    for level in higher:
        shutil.rmtree(shipped_there / level)
    files = sorted((shipped_there / lowest).rglob("*.outer.*.nbc"))
    for file in np.random.default_rng(0).permutation(files)[int(share * len(files)) :]:
        file.unlink()
    paths = {"PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(folder / "cache")}
    command = [sys.executable, __file__, str(folder / "said")]
    subprocess.run(command, env=os.environ | paths, check=True)
    return pickle.loads((folder / "said").read_bytes())


def main():
    warnings.simplefilter("ignore")
    print(f"level: {shipped.level and shipped.level[0]}", flush=True)
    with install_listener("numba:compile", names):
        if sys.argv[1:]:
            names.quiet = True
            said = all_of_it()
            Path(sys.argv[1]).write_bytes(pickle.dumps((said, len(names.found))))
            return
        lives()
        said = all_of_it()
    print(f"{len(said)} passes of recipes; compiled: {len(names.found)}", flush=True)
    with TemporaryDirectory() as one, TemporaryDirectory() as other:
        whole, none = with_shipped(Path(one), 1.0)
        mixed, some = with_shipped(Path(other), 0.5)
    print(f"the lowest level: compiled {none}; with half of it: {some}")
    other = [what for what in whole if not np.array_equal(whole[what], mixed[what])]
    print(*(f"{what}: mixed code predicts other numbers" for what in other), sep="\n")
    sys.exit(bool(names.found or none or not some or other))


if __name__ == "__main__":
    main()
