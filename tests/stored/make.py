"""Store a model file of each kind, and what the models say: `python tests/stored/make.py NAME`.

Run once, at the commit whose files later ones are to load; what is stored is not made again. The
paths are those of the tests: `PYTHONPATH=tests:tests/support`.
"""

import json
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from fuzz.zoo import kept, records, rows, zoo

import kernbrook as kb

WORDS = ["one", "seven", "eleven"]  # of the model whose examples are words


def said_by(model, name):
    """What a model says of some rows: labels, and scores where it has them."""
    inner = model.model if isinstance(model, kb.LateLabels) else model
    X = rows(20, "sparse" in name)
    if isinstance(inner, kb.NamedColumns):
        X = records(20)
    elif name == "voted, objects":
        X = WORDS
    said = {"predict": inner.predict(X)}
    if hasattr(inner, "decision_function"):
        said["decision_function"] = inner.decision_function(X)
    return {verb: np.asarray(values).tolist() for verb, values in said.items()}


def names():
    """Of the kinds that are stored: not the defaults, sparse learners, and those of many rows."""
    left = [name for name in zoo() if name.startswith(("default", "active", "not fitted"))]
    left += [name for name in zoo() if name.startswith("learner") and "sparse" in name]
    left += [name for name in zoo() if "long" in name and name != "cells, long"]
    return [name for name in zoo() if name not in left]


def main(place):
    said = {}
    with zipfile.ZipFile(place, "w", zipfile.ZIP_LZMA) as stored, TemporaryDirectory() as folder:
        for name in names():
            path = Path(folder) / "model"
            path.write_bytes(kept(name))
            model = kb.load(path)
            if name != "late, new":
                said[name] = said_by(model, name)
            stored.writestr(zipfile.ZipInfo(name), path.read_bytes(), zipfile.ZIP_LZMA)
        stored.writestr(zipfile.ZipInfo("said.json"), json.dumps(said), zipfile.ZIP_LZMA)


if __name__ == "__main__":
    main(Path(__file__).with_name(f"{sys.argv[1]}.zip"))
