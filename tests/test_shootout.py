"""The shoot-out's competitors look at no label before its row is predicted; its tests are right."""

import json
import subprocess
import sys

import numpy as np
import pytest
from beside import beside_the_tests, module_of

import kernbrook as kb


@pytest.fixture(scope="module")
def benchmark():
    """Gives a program of the benchmarks by its name."""
    folder = str(beside_the_tests("benchmarks"))
    sys.path.insert(0, folder)
    yield lambda name: module_of(f"benchmarks/{name}.py")
    sys.path.remove(folder)


def stream(classes, rows=150):
    rng = np.random.default_rng(classes)
    X = rng.normal(size=(rows, 4)) * [1, 10, 0.1, 1] + [0, 100, 0, 1]
    score = X[:, 0] * X[:, 3] + X[:, 2]
    return X, (np.digitize(score, [-0.5, 0.7][: classes - 1]) if classes else score)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of libraries that are not ours
@pytest.mark.parametrize("classes", [0, 2, pytest.param(3, marks=pytest.mark.long)])
def test_predictions_come_before_labels_and_chunks_do_not_matter(benchmark, classes):
    competitors, learned = benchmark("competitors"), benchmark("shootout").learned
    X, y = stream(classes, 100)
    other = y.copy()
    other[60:] = np.bincount(y).argmin() if classes else 5 - y[60:]
    known = competitors.CLASSES if classes else competitors.NUMBERS
    tried = 0
    ours = "kernbrook", "kernbrook-small", *competitors.OF_CLASSES, *competitors.OF_NUMBERS
    for name, make in known.items():
        if name in ours:
            continue
        if competitors.missing(name):
            continue
        whole = learned(make(0, 4, classes), X, y, classes)
        changed = learned(make(0, 4, classes), X, other, classes)
        np.testing.assert_array_equal(whole[:61], changed[:61], name)
        assert not np.array_equal(whole, changed), name
        parts = make(0, 4, classes)
        pieces = slice(1), slice(1, 70), slice(70, 100)
        cut = [learned(parts, X[rows], y[rows], classes) for rows in pieces]
        np.testing.assert_allclose(np.concatenate(cut), whole, err_msg=name)
        tried += 1
    assert tried >= 3


@pytest.mark.parametrize("labels", ["48", "frozen"])
def test_labels_that_come_late(benchmark, labels):
    """Rows are predicted before their labels, and those of the rows until then, are known."""
    said = benchmark("shootout").said
    X, y = stream(0, 200)
    other = y.copy()
    other[96:] += 5.0
    for make in (lambda: kb.recipes.make("mean"), lambda: benchmark("competitors").Nearest(4, 0)):
        one, two = (said(make(), X, labels_, 0, labels) for labels_ in (y, other))
        if labels == "48":
            assert len(one) == 200
            np.testing.assert_array_equal(one[:144], two[:144])
            assert (one[144:] != two[144:]).any()
        else:
            assert len(one) == 100
            assert (one != two).any()  # four labels of the first half are others
    line = said(kb.recipes.make("mean"), X, y, 0, labels)
    expected = y[:100].mean() if labels == "frozen" else y[:144].mean()
    np.testing.assert_allclose(line[-60 if labels == "frozen" else 150], expected)


LONG = ("--long", "--rows", "1500", "--streams", "random-tree,friedman-drift")


@pytest.fixture
def long_run(tmp_path):
    """Runs the long mode; gives what it says, and the pairs that are stored."""
    script, results = beside_the_tests("benchmarks/shootout.py"), tmp_path / "long.json"

    def call(*more):
        command = [sys.executable, script, *LONG, "--json", results, "--cache", tmp_path, *more]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stderr, json.loads(results.read_text())["pairs"]

    return call


@pytest.mark.long
@pytest.mark.slow
def test_the_long_mode_from_end_to_end(long_run, tmp_path, benchmark):
    said, pairs = long_run("--methods", "majority,mean,last-value")
    assert len(said.splitlines()) == 3
    found = {(pair["stream"], pair["method"]): pair for pair in pairs}
    wanted = {("random-tree", "majority"), *(("friedman-drift", m) for m in ("mean", "last-value"))}
    assert set(found) == wanted
    for (stream, method), pair in found.items():
        X, y = benchmark("drawn").open_stream(f"{stream}:1500").read()
        record = kb.prequential(kb.recipes.make(method), X, y)
        unit = 0.01 if method == "majority" else y.var()
        assert (pair["rows"], pair["reached"]) == (1500, 1500)
        assert pair["error"] == pytest.approx(record.error / unit)
        assert np.mean(pair["tenths"]) == pytest.approx(pair["error"])
        assert len(pair["tenths"]) == 10
        assert pair["bytes"] > 0
        assert pair["version"] == f"kernbrook {kb.__version__}"
    assert long_run("--methods", "majority,mean") == ("", pairs)
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    long_run("--draw", "--pictures", pictures)
    names = {path.name for path in pictures.iterdir()}
    assert names == {"shootout_long_drawn.svg", "shootout_long_numbers.svg"}
