"""Boosted trees on the last rows: the naive twin, concepts that change, files."""

import copy
from itertools import pairwise

import numpy as np
import pytest
from driving import learn
from engine.test_cells import (
    MEASURED,
    TASKS,
    assert_same,
    compare_levels,
    file_of,
    follow,
    held,
    measured,
    one_by_one,
    stream,
)
from engine.test_cells import machine as machine_of
from estimators.test_model_files import at, rewrite
from inside import store_of
from naive import boosted_trees as naive

import kernbrook as kb
from kernbrook.errors import InputError, ModelFileError

SIZES = {"n": 4, "leaves": 5, "window": 150, "step": 0.5, "work": 400}
TREES = kb.BoostedTrees(**SIZES)


def test_values_go_when_bins_stay():
    """In blocks, in rows that began before, and in files; those of before have them still."""
    X, y = stream(2, 4300)
    models = [machine_of(2, TREES) for _ in range(4)]
    for model in models:
        learn(model, X[:4000], y[:4000], 2, 500)
    values, name = np.zeros((150, 5), np.float32), "stores.0.window.values"
    with pytest.raises(InputError, match="values: expected those of the first rows"):
        copy.deepcopy(models[0])._model.restore({**models[0].state(), name: values[:0]})
    for lo in range(4000, 4300, 50):
        own = slice(lo, lo + 50)
        for model in (models[0], *models[2:]):
            model.partial_fit(X[own], y[own])
        one_by_one(models[1], X[own], y[own], 2)
        there = models[0].state()[name]
        assert len(there) == (0 if lo + 50 >= 4096 else 150)
        for model in models[1:]:
            assert_same(model, models[0])
        models[2]._model.restore(copy.deepcopy(models[0].state()))
        older = {name: there if len(there) else values}
        models[3]._model.restore(copy.deepcopy({**models[0].state(), **older}))


# -- the twin --------------------------------------------------------------------------------------


def assert_equals_its_twin(C, X, y, weights=None, **sizes):
    """In the scores along the way, and in all that is kept at the end; the naive one."""
    sizes = SIZES | sizes

    def begin(model):
        setting = store_of(model)[0].setting
        return naive.BoostedTrees(setting.width, C, setting.seed, **sizes)

    found, twin = follow(kb.BoostedTrees(**sizes), begin, C, X, y, weights)
    compare(found, twin)
    return twin


def compare(found, twin):
    compare_levels(found.levels, twin)
    assert found.work.tolist() == [twin.credit, twin.turn, twin.gone]
    assert found.bins.met[0] == len(twin.rows)
    for g, tree in enumerate(twin.trees):
        compare_nodes(found.trees, g, 0, tree)
    window = found.window
    m = len(window.labels)
    np.testing.assert_array_equal(window.usual, twin.usual_bins)
    for t in range(max(0, len(twin.rows) - m), len(twin.rows)):
        row, i = twin.rows[t], t % m
        assert window.labels[i] == row.label
        assert window.weights[i] == row.weight
        assert window.bins[i].tolist() == row.bins
        own = np.flatnonzero(np.array(row.bins) != twin.usual_bins)
        codes = window.begins[own] + np.array(row.bins)[own]
        assert window.codes[i, : window.counts[i]].tolist() == codes.tolist()
        if t < twin.gone:
            continue
        np.testing.assert_allclose(window.sums[i], row.total, rtol=1e-5, atol=1e-6)
        for g, leaf in enumerate(row.leaves):
            own = found.trees.weights[g, window.leaves[g, i]]
            np.testing.assert_allclose(own, leaf.weights, rtol=1e-5, atol=1e-7)


def compare_nodes(trees, g, number, node):
    if node.children is None:
        assert trees.inputs[g, number] == -1
        np.testing.assert_allclose(trees.weights[g, number], node.weights, rtol=1e-5, atol=1e-7)
        return
    assert trees.inputs[g, number] == node.feature
    assert trees.cuts[g, number] == node.cut
    for i, child in enumerate(node.children):
        compare_nodes(trees, g, trees.links[g, number] + i, child)


@pytest.mark.parametrize("C", TASKS)
def test_naive_twin(C):
    n = 4200 if C == 3 else 1100  # edges are set for the last time after 4,096; before after 1,024
    X, y = stream(C, n)
    weights = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 1.0, 3.0], n) if C == 3 else None
    twin = assert_equals_its_twin(C, X, y, weights, work=100 if C == 3 else 250)
    assert twin.fits > n // 120
    assert max(sum(1 for _ in naive.every(tree)) for tree in twin.trees) == (7 if C == 2 else 9)


def test_naive_twin_where_errors_leap():
    """A concept that stays for 2,300 rows, and its opposite."""
    X = np.random.default_rng(3).normal(size=(2700, 3))
    y = (X[:, 0] + 0.5 * np.sin(3 * X[:, 1]) > 0) ^ (np.arange(2700) >= 2300)
    twin = assert_equals_its_twin(2, X, y.astype(int), window=500, work=150)
    assert twin.alarms == 1
    assert 2000 < twin.gone < 2400
    model = machine_of(2, kb.BoostedTrees(**SIZES))
    said, _ = model.learn(X, y.astype(int), classes=[0, 1])
    assert (said != y)[2500:].mean() < 0.15


@pytest.mark.parametrize("sizes", [{"window": 16, "leaves": 2}, {"window": 2000}, {"n": 1}])
def test_naive_twin_of_other_sizes(sizes):
    assert_equals_its_twin(2, *stream(2, 600), **sizes)


@pytest.mark.parametrize(("name", "C"), MEASURED)
def test_naive_twin_on_rows_that_were_measured(name, C):
    twin = assert_equals_its_twin(C, *measured(name, 300), work=1000)
    assert twin.fits > 5


def test_naive_twin_of_labels_far_away(monkeypatch):
    """Residuals are cut at 20 of their mean sizes: one label in fifty is beyond that."""
    X, y = stream(None, 600)
    y[::50] += 1e4
    cut, slopes_of = [], naive.BoostedTrees.slopes_of

    def slopes_and_cuts(self, row):
        found = slopes_of(self, row)
        cut.append(abs(found[0]) == 20 * self.size)
        return found

    monkeypatch.setattr(naive.BoostedTrees, "slopes_of", slopes_and_cuts)
    assert_equals_its_twin(None, X, y)
    assert 0.01 < np.mean(cut) < 0.1


def tied(name, n=4200):
    """Rows of few values: then bins become fewer where they are set anew, and codes others."""
    rng = np.random.default_rng(4)
    match name:
        case "mostly zeros":
            return np.where(rng.random((n, 3)) < 0.95, 0.0, rng.normal(size=(n, 3)))
        case "zipf":
            return rng.zipf(1.5, (n, 3)).clip(max=1000) * 1.0
        case "one of twelve":
            return np.eye(12)[np.minimum(rng.geometric(0.3, n), 12) - 1]
        case _:  # the mean of what was there, for gaps
            X, gap = rng.choice([-1.0, 0.0, 1.0], (n, 3), p=[0.1, 0.8, 0.1]), rng.random((n, 3))
            means = np.cumsum(X, axis=0) / np.arange(1, n + 1)[:, None]
            return np.where(gap < 0.15, means, X)


@pytest.mark.parametrize(
    ("name", "window"),
    [("mostly zeros", 150), ("zipf", 5000), ("one of twelve", 150), ("gaps", 5000)],
)
def test_codes_are_those_of_the_bins_as_they_are(name, window):
    """Of all rows that are kept, as computed afresh, each time that the bins have moved."""
    X = tied(name)
    y = (X.sum(axis=1) > np.median(X.sum(axis=1))).astype(int)
    model, fewer, before = machine_of(2, kb.BoostedTrees(**SIZES | {"window": window})), 0, 0
    for lo, hi in pairwise([0, *(2**k for k in range(4, 13)), 4200]):
        model.partial_fit(X[lo:hi], y[lo:hi], classes=[0, 1])
        bins, found = held(model).bins, held(model).window
        kept = range(max(0, hi - window), hi)
        at = [t % window for t in kept]
        begins = np.concatenate([[0], np.cumsum(np.maximum(bins.inner, 0) + 1)])
        edges = [bins.edges[j, 1 : inner + 1] for j, inner in enumerate(bins.inner)]
        own = [
            (X[kept, j, None].astype(np.float32) > edge).sum(axis=1) for j, edge in enumerate(edges)
        ]
        np.testing.assert_array_equal(found.bins[at], np.transpose(own))
        for i, row in zip(at, np.transpose(own), strict=True):
            coded = (row + begins[:-1])[row != found.usual].tolist()
            assert found.codes[i, : found.counts[i]].tolist() == coded
        assert found.total == found.counts.sum()
        fewer, before = fewer + (bins.inner.sum() < before), bins.inner.sum()
    assert fewer or name != "mostly zeros"


# -- other classes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("known", [2, 3])
def test_a_class_that_comes_later(known, tmp_path):
    """Trees go over, and bins keep their numbers; 400 rows later the new class is known."""
    X, y = stream(3, 1100)
    y = np.where(y < known, y, 0)
    y[520:] = np.where(X[520:, 1] > 0.5, known, y[520:])
    model = machine_of(known, TREES)
    model.partial_fit(X[:520], y[:520], classes=np.arange(known))
    bins = held(model).bins.inner.copy()
    model.learn(X[520:920], y[520:920])
    assert (held(model).bins.inner == bins).all()
    kb.save(model, tmp_path / "model")
    assert_same(kb.load(tmp_path / "model"), model)
    said = model.predict(X[920:])
    assert (said[y[920:] == known] == known).mean() > 0.8


# -- files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "place", "value", "message"),
    [
        ("window.labels", 3, 0.5, "labels: expected classes"),
        ("window.counts", 3, 6, "counts: expected 0 to 5"),
        ("window.leaves", (0, 3), 9, "leaves: expected 0 to 8"),
        ("window.usual", 0, 64, "usual: expected a bin"),
        ("window.begins", 2, 1, "begins: expected where"),
        ("trees.inputs", (0, 0), 5, "inputs: expected -1 to 4"),
        ("trees.links", (0, 0), 8, "links: expected trees"),
        ("work", 2, 651, "work: expected"),
    ],
)
def test_numbers_just_beyond_what_learning_leads_to(name, place, value, message, tmp_path):
    """Compiled code trusts what a file says once it was looked at."""
    (tmp_path / "model").write_bytes(file_of("boosted trees"))
    rewrite(tmp_path / "model", at(f"stores.0.{name}", place, value))
    with pytest.raises(ModelFileError, match=message):
        kb.load(tmp_path / "model")
