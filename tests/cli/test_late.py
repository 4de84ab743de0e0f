"""Late labels on the command line: compare with a delay, and models that learn no more."""

import json

import numpy as np


def stream_of(path, n=900):
    """A level that walks, with the last value among the features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    y = X[:, 0] + np.cumsum(0.2 * rng.normal(size=n))
    rows = "\n".join(",".join(map(repr, map(float, row))) for row in np.column_stack([X, y]))
    path.write_text("a,b,label\n" + rows + "\n")
    return X, y


def test_compare_with_late_labels(kernbrook, tmp_path):
    stream_of(tmp_path / "walk.csv", 300)
    command = ["compare", tmp_path / "walk.csv", "--recipes", "mean,last-value", "--in-order"]
    found = {}
    for name, late in (("now", []), ("late", ["--every", "48", "--delay", "5"])):
        done = kernbrook(*command, *late, "--json", tmp_path / name)
        assert done[0] == 0, done[2]
        found[name] = json.loads((tmp_path / name).read_text())
    assert "horizons" not in json.dumps(found["now"])
    assert '"every": 48' in json.dumps(found["late"])
    assert "horizons" in json.dumps(found["late"])
    for wrong in (["--delay", "-1"], ["--every", "0"]):
        assert kernbrook(*command, *wrong)[0] == 2
