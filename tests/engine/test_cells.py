"""Cells, and the store that changes arrays in place: the naive twin, chunks, copies, files."""

import copy
import pickle
import re
import tracemalloc
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import hard_streams
import numpy as np
import plain
import pytest
import scipy.sparse as sp
from covering import pairwise
from driving import learn, named
from estimators.test_model_files import assert_lives, put, rewrite, say
from inside import assert_equal_arrays, scores_of, store_of
from naive import cells as naive
from naive.weights import relative
from safetensors import safe_open

import kernbrook as kb
from kernbrook.engine.stores import in_place
from kernbrook.errors import InputError, ModelFileError, NonFiniteError
from kernbrook.learners import cell_steps
from kernbrook.learners.cells import CellsContent, fold_table
from kernbrook.learners.linear_cells import LinearContent

GRIDS = kb.RandomBinning(10, inputs=[2, None], cells=1024)
TREES = kb.GrownPartitions(5, nodes=60, inputs=4, slots=12)
FEW = kb.GrownPartitions(4, nodes=4, inputs=4, slots=4)  # which are soon used up
MAPS = {"both": [GRIDS, TREES], "grids": GRIDS, "trees": TREES, "few": [FEW, GRIDS]}
BOTH = kb.Cells(MAPS["both"])
TASKS = [2, 3, None]  # classes, or numbers


def stream(C, n=700, d=5, seed=0, turns=900):
    """What decides turns now and then; a feature of few values, and one of one value."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, 3], X[:, 4] = np.round(2 * X[:, 3]), 1.0
    value = 1.5 * np.sign(X[:, 0]) + np.sin(2 * X[:, 1])
    value = np.where(np.arange(n) // turns % 2, -value, value) + 0.5 * X[:, 2]
    value += 0.3 * rng.normal(size=n)
    return X, value if C is None else np.digitize(value, [0.0] if C == 2 else [-0.7, 0.7])


def machine(C, learner=BOTH, **choices):
    kind = plain.regressor if C is None else plain.classifier
    return kind(kb.Linear(), learner, random_state=5, **choices)


def learned(C, n=600, size=100, learner=BOTH, **choices):
    X, y = stream(C, max(n, 700))
    model = machine(C, learner, **choices)
    learn(model, X[:n], y[:n], C, size)
    return model


def one_by_one(model, X, y, C):
    for row, label in zip(X, y, strict=True):
        model.learn_one(row, label, **({} if hasattr(model, "_model") else named(C)))
    return model


def scores(model, X):
    """(n, c) of the expert."""
    return scores_of(model, X)[:, 0]


def assert_same(one, other):
    assert_equal_arrays(one.state(), other.state())


def held(model):
    """The arrays of the store."""
    store, state = store_of(model)
    return store.now(state)


def arrays(model):
    """The same by name."""
    store, state = store_of(model)
    return store.arrays(state)


# -- the twin --------------------------------------------------------------------------------------


def follow(learner, begin, C, X, y, weights=None, size=50):
    """A model, and the twin that `begin` makes of it, learn side by side and say the same."""
    model, rows = machine(C, learner), hard_streams.dense(X)
    weights = np.ones(len(y)) if weights is None else weights
    twin, counted = None, relative(weights, len(y))
    for lo in range(0, len(y), size):
        if twin is not None:
            found, wanted = scores(model, X[lo : lo + 1])[0], twin.scores(rows[lo])
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6, err_msg=str(lo))
        own = slice(lo, lo + size)
        model.partial_fit(X[own], y[own], sample_weight=weights[own], **named(C))
        twin = begin(model) if twin is None else twin
        for t in range(lo, min(lo + size, len(y))):
            if weights[t] > 0:
                twin.learn(rows[t], y[t], counted[t])
    return held(model), twin


def assert_equals_its_twin(C, maps, X, y, weights=None):
    """In the scores along the way, and in all that is kept at the end; the naive one."""
    maps = maps if isinstance(maps, list) else [maps]
    trees = [one for one in maps if isinstance(one, kb.GrownPartitions)]
    sizes = [(one.n, one.nodes, one.inputs, one.slots) for one in trees] or [(0, 0, 1, 0)]

    def begin(model):
        """With the grids and the seed of the model."""
        content, grids = store_of(model)[0].content, in_place.copy_arrays(held(model).grids)
        setting, count = content.setting, len(content.first.table)
        return naive.Cells(setting.width, C, setting.seed, grids, count, *sizes)

    found, twin = follow(kb.Cells(maps), begin, C, X, y, weights)
    compare_bins(found.bins, twin.sample)
    compare_grids(found.table, twin)
    compare_trees(found.trees, twin)
    compare_levels(found.levels, twin)
    np.testing.assert_array_equal(found.grids.inputs, twin.grids.inputs)
    return twin


def compare_levels(levels, twin):
    wanted = [twin.mean, twin.span, twin.number * (twin.C is None), twin.offset, twin.unit]
    wanted += [twin.size, twin.error, twin.usual, twin.since]
    np.testing.assert_allclose(levels, wanted, rtol=1e-9)


def compare_bins(bins, sample):
    assert bins.met[0] == sample.met
    rows = np.array(sample.rows)
    np.testing.assert_array_equal(bins.sample[: len(rows)], rows)
    for j, own in enumerate(sample.features):
        n = len(own.between)
        assert bins.inner[j] == n
        np.testing.assert_array_equal(bins.edges[j, : n + 2], own.edges)
        np.testing.assert_array_equal(bins.levels[j, : n + 2], own.shares)


def compare_grids(table, twin):
    met = sorted(twin.squares)
    assert np.flatnonzero(table[:, -1]).tolist() == [i for i in met if twin.squares[i] > 0]
    for i in met:
        np.testing.assert_allclose(table[i], [*twin.weights[i], twin.squares[i]], rtol=1e-5)


def compare_trees(trees, twin):
    forest = twin.forest
    assert trees.free.tolist() == [forest.pairs, forest.slots]
    np.testing.assert_allclose(trees.done, np.array(forest.done).reshape(-1, 2), rtol=1e-4)
    for g, root in enumerate(forest.roots):
        compare_nodes(trees, g, root)


def compare_nodes(trees, number, node):
    link = trees.links[number]
    if node.children is not None:
        assert trees.inputs[number] == node.feature
        assert trees.cuts[number] == node.cut
        for i, child in enumerate(node.children):
            compare_nodes(trees, link + i, child)
        return
    assert trees.inputs[number] == -1
    np.testing.assert_allclose(trees.weights[number], node.weights, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(trees.squares[number], node.square, rtol=1e-5)
    if node.collected is None:
        assert link == -1
        np.testing.assert_allclose(trees.waits[number], node.wait, rtol=1e-5)
        return
    assert trees.rows[link].tolist() == [node.collected.rows, node.collected.due]
    members = trees.members[link, : trees.held[link]]
    assert members.tolist() == [met for met, _, _ in node.collected.members]
    begins = trees.begins[link]
    n = (np.diff(begins) > 0).sum()
    assert trees.features[link][:n].tolist() == list(node.collected.sums)
    for i, sums in enumerate(node.collected.sums.values()):
        own = trees.sums[link, begins[i] : begins[i + 1]]
        np.testing.assert_allclose(own, sums, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("C", "maps"), [*((C, "both") for C in TASKS), (2, "grids"), (3, "few")])
def test_naive_twin(C, maps):
    n = {"grids": 2400, "few": 6500}.get(maps, 4200)  # edges are set for the last time after 4,096
    X, y = stream(C, n, turns=1200 if maps == "few" else 900)
    weights = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 1.0, 3.0], n) if C == 3 else None
    twin = assert_equals_its_twin(C, MAPS[maps], X, y, weights)
    assert twin.sample.met > 2000
    if maps == "grids":
        return
    forest = twin.forest
    assert forest.restarts > 2
    assert forest.cuts > (3 if maps == "few" else 20)
    assert forest.given_up > 0 or maps != "few"


MEASURED = [("wdbc", 2), ("digits", 10), pytest.param("magic04", 2, marks=pytest.mark.data)]


def measured(name, n):
    """Rows of a data set in some order, perhaps several times; classes from 0."""
    if name == "digits":
        return hard_streams.of_scikit_learn(name, n)
    X, y = hard_streams.wdbc() if name == "wdbc" else hard_streams.real(name)
    rows = np.random.default_rng(0).permutation(max(n, len(y)))[:n] % len(y)
    return hard_streams.dense(X)[rows], (y[rows] > 0).astype(int)


@pytest.mark.parametrize(("name", "C"), MEASURED)
def test_naive_twin_on_rows_that_were_measured(name, C):
    grown = kb.GrownPartitions(3, nodes=30, inputs=6, slots=4)
    X, y = measured(name, 1300 if name == "digits" else 2300)
    twin = assert_equals_its_twin(C, [kb.RandomBinning(6, [3, None], 0.5, 300), grown], X, y)
    assert twin.forest.cuts > 0


def test_cells_that_meet_share_their_weights():
    """A table of 3 cells for 10 grids."""
    X, y = stream(2, 300)
    for maps in (kb.RandomBinning(10, [1, None], cells=3), kb.RandomBinning(4, None, cells=1)):
        assert_equals_its_twin(2, maps, X, y)


# -- chunks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("C", "maps"), [(2, "trees"), (3, "both"), (None, "grids")])
def test_any_chunks(C, maps):
    X, y = stream(C)
    learner = kb.Cells(MAPS[maps])
    whole = learned(C, 700, 700, learner)
    for size in (1, 7, 128):
        assert_same(learned(C, 700, size, learner), whole)
    rows = one_by_one(machine(C, learner), X, y, C)
    assert rows._model.session is not None
    assert rows.why_not_quick_ is None
    assert_same(rows, whole)
    mixed = machine(C, learner)
    for lo in range(0, 700, 70):
        learn(mixed, X[lo : lo + 30], y[lo : lo + 30], C)
        one_by_one(mixed, X[lo + 30 : lo + 70], y[lo + 30 : lo + 70], C)
    assert_same(mixed, whole)
    np.testing.assert_array_equal(scores(mixed, X), scores(whole, X))


# -- a block is learned as a whole or not at all ---------------------------------------------------

OVERFLOWING = {
    2: [BOTH, kb.Group(kb.BPAS(5, aggressiveness=1e9), kb.Polynomial(9))],
    3: [BOTH, kb.Group(kb.BPAS(5, aggressiveness=1e9), kb.Polynomial(9))],
    None: [BOTH, kb.Group(kb.GradientDescent(0.1, features=None), kb.Polynomial(9))],
}


@pytest.mark.sampled
@pytest.mark.parametrize(("C", "copied"), [(2, 7), (3, 1024), (None, 7)])
def test_an_overflow_in_mid_block_changes_nothing(C, copied, monkeypatch):
    monkeypatch.setattr(in_place, "COPIED", copied)
    X, y = stream(C)
    bad = X.copy()
    bad[30] *= 1e80
    models = [learned(C, 100, 20, OVERFLOWING[C]) for _ in "ab"]
    for lo in range(100, 600, 50):
        own = slice(lo, lo + 50)
        with pytest.raises(NonFiniteError, match="overflow"):
            models[0].partial_fit(bad[:60], y[:60])
        if lo % 100:
            with pytest.raises(NonFiniteError, match="overflow"):
                models[0].learn_one(bad[30], y[30])
        for model in models:
            if lo % 150:
                model.partial_fit(X[own], y[own])
            else:
                one_by_one(model, X[own], y[own], C)
        assert_same(*models)
    np.testing.assert_array_equal(models[0].predict(X), models[1].predict(X))


# -- states ----------------------------------------------------------------------------------------


COPIES = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
}


@pytest.mark.parametrize(("C", "how", "copied"), pairwise(TASKS, COPIES, [1, 90, 1024]))
def test_an_old_copy_goes_on(C, how, copied, monkeypatch):
    """While the original goes on, too, in chunks and by single rows."""
    monkeypatch.setattr(in_place, "COPIED", copied)
    X, y = stream(C)
    model, old = machine(C), []
    for lo in range(0, 600, 60):
        learn(model, X[lo : lo + 40], y[lo : lo + 40], C)
        if lo % 120:
            one_by_one(model, X[lo + 40 : lo + 60], y[lo + 40 : lo + 60], C)
        else:
            learn(model, X[lo + 40 : lo + 60], y[lo + 40 : lo + 60], C, 9)
        old.append(COPIES[how](model))
    for i in (0, 3, 4, 9, 3):  # one of them twice
        other = copy.deepcopy(old[i]) if i == 3 else old[i]
        learn(other, X[60 * i + 60 : 600], y[60 * i + 60 : 600], C, 77)
        if 60 * i + 60 < 600:
            assert_same(other, model)
    one_by_one(old[-1], X[600:], y[600:], C)
    learn(model, X[600:], y[600:], C)
    assert_same(old[-1], model)
    assert_same(model, learned(C, 700, 700))


def test_memory_stays_level(monkeypatch):
    """A copy of the table, and some rows: no more after many than after few."""
    monkeypatch.setattr(in_place, "COPIED", 200)
    X, y = stream(2, 4000)
    model, found = machine(2), []
    for lo in range(0, 4000, 100):
        learn(model, X[lo : lo + 100], y[lo : lo + 100], 2)
        found.append(model.memory_bytes_)
    table = sum(array.nbytes for array in arrays(model).values())
    assert table < min(found)
    assert max(found[5:]) == max(found[20:])
    assert max(found) < 2.5 * table + 300 * X.shape[1] * 16 + 100_000
    assert sum(len(chunk.labels) for chunk in store_of(model)[1].since) <= 300


@pytest.mark.parametrize("C", TASKS)
def test_what_is_kept_is_what_predicts(C, monkeypatch):
    """Of cells the weights, where there are some, of boosted trees the trees; a file with others is
    refused."""
    X, y = stream(C, 900)
    kind = kb.OnlineMKRegressor if C is None else kb.OnlineMKClassifier
    grids = kb.RandomBinning(10, inputs=[2, None], cells=2**14)
    pool = [kb.Cells([grids, TREES]), kb.BoostedTrees(3, 4, 200), kb.Ridge(), kb.LastLabel()]
    model, other = (kind(kb.Linear(), pool, random_state=5, delay=50) for _ in range(2))
    learn(other, X, y, C)
    monkeypatch.setattr("kernbrook.engine.state.WORTH_IT", 1 << 10)
    learn(model, X, y, C)
    packed = model.state()
    for name, array in other.state().items():
        assert ".says." in name or np.array_equal(packed[name], array)
    run, far = model._model, model._model.judged()
    stores = [getattr(store, "learner", None) for store in run.stores]
    places = [i for i, one in enumerate(stores) if isinstance(one, kb.Cells | kb.BoostedTrees)]
    own = [run.stores[i].arrays(far.now.model.states[i]) for i in places]
    assert own[0]["table"].shape[1] == run.setting.scores
    assert len(own[0]["table"]) < 0.75 * 2**14
    learning = ["bins.sample", "trees.sums"], ["bins.sample", "work"]
    for i, arrays, names in zip(places, own, learning, strict=True):
        assert not any(len(arrays[name]) for name in names)
        live = sum(array.nbytes for array in run.stores[i].arrays(run.states[i]).values())
        assert 2 * sum(array.nbytes for array in arrays.values()) < live
    good = far.arrays(run)
    far.restore(run, good)
    for k, name, change, said in (
        (0, "table", lambda a: a * np.nan, "NaN or infinity"),
        (0, "table", lambda a: a[1:], "expected float32 of shape"),
        (0, "table.rows", lambda a: a | 1, "expected float32 of shape"),
        (0, "trees.links", lambda a: 0 * a, "expected trees"),
        (0, "trees.links", lambda a: a[:-1], "expected those of the same nodes"),
        (0, "grids.inputs", lambda a: a + 9, "expected 0 to 4"),
        (0, "trees.sums", lambda a: np.zeros((2, 2)), "expected float32 of shape"),
        (1, "trees.inputs", lambda a: a + 9, "expected -1 to 4"),
        (1, "levels", lambda a: a - 9.0, "within their ranges"),
    ):
        arrays = {**good, f"now.says.{places[k]}.{name}": change(own[k][name])}
        with pytest.raises(InputError, match=f"now.says.{places[k]}.*{said}"):
            far.restore(run, arrays)


# -- files -----------------------------------------------------------------------------------------


GROWN = {
    "cells": (kb.Cells([GRIDS, kb.GrownPartitions(5, nodes=90, inputs=4, slots=60)]), 1800),
    "boosted trees": (kb.BoostedTrees(4, 5, 150, 0.5, work=400), 650),
}


@cache
def file_of(name):
    """The bytes of a model with cuts; of cells with leaves that collect, free pairs and slots."""
    model = learned(2, GROWN[name][1], 100, GROWN[name][0])
    trees = held(model).trees
    assert (trees.inputs >= 0).sum() > 5
    assert name != "cells" or min(trees.free) > 2
    with TemporaryDirectory() as folder:
        kb.save(model, Path(folder) / "model")
        return (Path(folder) / "model").read_bytes()


class Forest:
    """The arrays of the trees, and nodes of each kind."""

    def __init__(self, tensors):
        begin = "stores.0.trees."
        self.own = {k.removeprefix(begin): v for k, v in tensors.items() if k.startswith(begin)}
        self.inputs, self.links = self.own["inputs"], self.own["links"]
        self.roots = np.flatnonzero(self.inputs[:5] >= 0)  # that are cuts
        self.root, self.child = self.roots[0], self.links[self.roots[0]]
        self.leaves, at = [], list(range(5))  # that collect
        while at:
            node = at.pop()
            if self.inputs[node] >= 0:
                at += [self.links[node], self.links[node] + 1]
            elif self.links[node] >= 0:
                self.leaves.append(int(node))
        self.slot = self.links[self.leaves[0]]
        free = np.append(pairs := self.own["pairs"][: self.own["free"][0]], pairs + 1)
        self.nobody = free[self.inputs[free] < 0][0]  # a leaf of no tree


TREES_ARE_NONE, SLOTS_ARE_NONE = "links: expected trees", "links, slots: expected each slot"
TOO_MANY = "free: more are free than there are"
# name -> (an array of the trees, a place in it, what comes there, what is said)
DISHONEST = {
    "a cycle": ("links", lambda f: f.roots[1], lambda f: 0, TREES_ARE_NONE),
    "two parents": ("links", lambda f: f.roots[1], lambda f: f.child, TREES_ARE_NONE),
    "an odd child": ("links", lambda f: f.root, lambda f: f.child + 1, TREES_ARE_NONE),
    "free twice": ("pairs", lambda f: 0, lambda f: f.own["pairs"][1], TREES_ARE_NONE),
    "free and used": ("pairs", lambda f: 0, lambda f: f.child, TREES_ARE_NONE),
    "more free pairs": ("free", lambda f: 0, lambda f: f.own["free"][0] + 1, TREES_ARE_NONE),
    "fewer free pairs": ("free", lambda f: 0, lambda f: f.own["free"][0] - 1, TREES_ARE_NONE),
    "pairs that are not there": ("free", lambda f: 0, lambda f: 1000, TOO_MANY),
    "a slot of two": (
        "links", lambda f: f.leaves[0], lambda f: f.links[f.leaves[1]], SLOTS_ARE_NONE
    ),
    "a slot of one and free": ("slots", lambda f: 0, lambda f: f.slot, SLOTS_ARE_NONE),
    "a slot of no leaf": ("links", lambda f: f.nobody, lambda f: f.slot, SLOTS_ARE_NONE),
    "a slot that is lost": ("links", lambda f: f.leaves[0], lambda f: -1, SLOTS_ARE_NONE),
    "a bin less": (
        "begins", lambda f: (f.slot, -1), lambda f: f.own["begins"][f.slot, -1] - 1,
        "begins: expected features",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DISHONEST)
def test_trees_that_learning_cannot_lead_to(name, tmp_path):
    """Compiled code trusts what a file says once it was looked at."""
    array, place, value, message = DISHONEST[name]

    def change(model, tensors, header):
        forest = Forest(tensors)
        forest.own[array][place(forest)] = value(forest)

    (tmp_path / "model").write_bytes(file_of("cells"))
    rewrite(tmp_path / "model", change)
    with pytest.raises(ModelFileError, match=message):
        kb.load(tmp_path / "model")


def number(place, of_floats, of_integers=None):
    """An array with another number at a place; None: for arrays that have no such number."""

    def change(array):
        value = of_floats if array.dtype.kind == "f" else of_integers
        if value is None or not array.size:
            return array
        array = array.copy()
        array.flat[place] = value(np.iinfo(array.dtype)) if callable(value) else value
        return array

    return change


SPOILED = {
    "NaN at first": number(0, np.nan),
    "NaN at last": number(-1, np.nan),
    "great at first": number(0, 1e35, lambda kind: kind.max),
    "great at last": number(-1, 1e35, lambda kind: kind.max),
    "small at first": number(0, -1e35, lambda kind: kind.min),
    "small at last": number(-1, -1e35, lambda kind: kind.min),
    "of another type": lambda array: np.zeros(array.shape, "f2"),
    "shorter": lambda array: array[1:],
}


@pytest.mark.parametrize("name", GROWN)
@pytest.mark.parametrize("how", SPOILED)
def test_arrays_that_learning_cannot_lead_to(name, how, tmp_path):
    """Spoiled, one at a time: the file is refused by its name, or it lives."""
    path, whole = tmp_path / "model", file_of(name)
    path.write_bytes(whole)
    with safe_open(path, framework="np") as file:
        arrays = {k: file.get_tensor(k) for k in file.keys() if k.startswith("stores.0.")}  # noqa: SIM118
    X, refused, spoiled = np.random.default_rng(0).normal(size=(300, 5)), set(), set()
    for own, array in arrays.items():
        if SPOILED[how](array) is array:
            continue
        spoiled.add(own)
        path.write_bytes(whole)
        rewrite(path, put(own, SPOILED[how]))
        try:
            assert_lives(path, X, (X[:, 0] > 0) * 1)
        except ModelFileError as error:
            refused |= {own} if own.rsplit(".", 1)[-1] in str(error) else set()
    harmless = how.startswith(("great", "small"))
    assert refused == spoiled or (harmless and len(refused) > 0.6 * len(spoiled))


TREES_SAY = "learners.Cells", "features", 1, "features.GrownPartitions"


@pytest.mark.parametrize(
    ("name", "keys", "value", "message"),
    [
        ("cells", ("learners.Cells", "features", 0, "features.RandomBinning", "cells"), 10**7,
         "expected table of shape"),
        ("cells", (*TREES_SAY, "nodes"), 10**7, "expected trees.inputs of shape"),
        ("cells", (*TREES_SAY, "slots"), 10**7, "expected trees.sums of shape"),
        ("boosted trees", ("learners.BoostedTrees", "window"), 2**16, "window.bins of shape"),
        ("boosted trees", ("learners.BoostedTrees", "n"), 1000, "trees.weights of shape"),
    ],
)  # fmt: skip
def test_a_file_that_asks_for_much(name, keys, value, message, tmp_path):
    """It is refused before so much is taken."""
    (tmp_path / "model").write_bytes(file_of(name))
    rewrite(tmp_path / "model", say("parameters", "learner", *keys, value=value))
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match=message):
            kb.load(tmp_path / "model")
        assert tracemalloc.get_traced_memory()[1] < 10e6
    finally:
        tracemalloc.stop()


def test_a_file_of_other_parameters(tmp_path):
    """Of which some were changed after learning had begun."""
    model = learned(2, 100)
    kb.save(model, tmp_path / "model")
    model.set_params(learner=kb.Cells(MAPS["both"], step=0.3))
    with pytest.raises(InputError, match="the parameters were changed after learning"):
        kb.save(model, tmp_path / "model")


# -- other classes, other widths, other models -----------------------------------------------------


def test_a_third_class_that_comes_later():
    """Two classes share one score, of which each has half; and learning goes on."""
    X, y = stream(3, 3000)
    two = y < 2
    model = machine(2)
    learn(model, X[:1500][two[:1500]], y[:1500][two[:1500]], 2)
    before = scores(model, X)[:, 0]
    cuts = np.array(held(model).trees.inputs)
    assert (cuts >= 0).sum() > 5
    model.partial_fit(X[two][:1], [2])
    after = scores(model, X)
    sure = abs(before) > 1.0
    assert ((after[sure, 1] > after[sure, 0]) == (before[sure] > 0)).all()
    assert abs(after[:, 1] - after[:, 0] - before).mean() < 0.5
    np.testing.assert_array_equal(held(model).trees.inputs, cuts)
    model.partial_fit(X[1500:], y[1500:])
    assert model.score(X[2600:], y[2600:]) > 0.6
    one_by_one(model, X[:50], y[:50], 3)


@pytest.mark.parametrize("C", TASKS)
def test_models_that_are_merged(C):
    X, y = stream(C)
    one, other = learned(C, 500), learned(C, 200)
    wanted = arrays(one)
    both = [copy.deepcopy(one).merge(other), copy.deepcopy(other).merge(one)]
    for model in both:
        assert_equal_arrays(arrays(model), wanted)
        learn(model, X[500:], y[500:], C)
    assert_same(one, learned(C, 500))  # nothing is shared
    learn(one, X[500:], y[500:], C)
    np.testing.assert_array_equal(held(one).bins.sample, held(both[0]).bins.sample)


# -- parameters ------------------------------------------------------------------------------------

FEATURES = r"^Cells: features must be .*, or a list with one of each, got "
WRONG = [
    *((kb.Cells(maps), FEATURES) for maps in ([], [TREES, TREES], kb.RandomFeatures(), "grids")),
    (kb.Cells([TREES, kb.RandomBinning(2.5)]), "^RandomBinning: n must be an integer"),
    (kb.Cells(kb.RandomBinning(inputs=[2, 0])), "^RandomBinning: inputs must be .* a list of"),
    (kb.Cells(kb.RandomBinning(width=[])), "^RandomBinning: width must be .* a list of these"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_parameters_that_are_none(number):
    learner, message = WRONG[number]
    X, y = stream(2, 9)
    with pytest.raises(InputError, match=message):
        learn(machine(2, learner), X, y, 2)


@pytest.mark.parametrize(
    ("learner", "other"), [(BOTH, "HashedInputs()"), (kb.BoostedTrees(), "Cells(HashedInputs())")]
)
def test_rows_that_are_too_wide(learner, other):
    X, y = np.random.default_rng(0).normal(size=(40, 513)), np.arange(40) % 2
    with pytest.raises(
        InputError, match="of 512 features at most, got 513; take " + re.escape(other)
    ):
        learn(machine(2, learner), X, y, 2)
    model = machine(2, learner)
    learn(model, X[:, :512], y, 2)
    assert np.isfinite(scores(model, X[:, :512])).all()


# -- numbers at the ends ---------------------------------------------------------------------------


@pytest.mark.parametrize("C", TASKS)
@pytest.mark.parametrize("learner", [BOTH, kb.Cells(kb.HashedInputs())], ids=["both", "words"])
def test_rows_and_weights_at_the_ends(learner, C, tmp_path):
    X, y = stream(C) if learner is BOTH else words(C)
    X = hard_streams.dense(X)
    X[::7] *= 1e-300
    X[3::7] *= 1e100
    X[5::70, 0] = 1e153
    model = machine(C, learner)
    learn(model, X, y, C, 50)
    model.partial_fit(X[:2], y[:2], sample_weight=[1e99, 1e-99])
    assert np.isfinite(scores(model, X)).all()
    kb.save(model, tmp_path / "model")  # which checks all that is kept


@pytest.mark.parametrize(
    ("size", "weight", "step"),
    [(1e-300, None, 0.2), (1e-100, 1e99, 100.0), (1e99, 1e-99, 1e-100), (1e99, None, 0.2)],
)
def test_labels_weights_and_steps_at_the_ends(size, weight, step, tmp_path):
    X, y = stream(None)
    y = y * size
    y[::50] *= 1e-3
    weights = None if weight is None else np.where(np.arange(700) % 5, weight, 0.0)
    model = machine(None, kb.Cells(MAPS["both"], step=step))
    for lo in range(0, 700, 70):
        own = slice(lo, lo + 70)
        model.partial_fit(X[own], y[own], sample_weight=None if weights is None else weights[own])
    found = scores(model, X)[:, 0]
    assert np.isfinite(found).all()
    if weight is None and size > 1e-200:
        assert np.corrcoef(found / size, y / size)[0, 1] > 0.5
    kb.save(model, tmp_path / "model")


def test_labels_that_jump():
    """Of numbers: equal ones at first, then others, then far ones; units follow."""
    X, _ = stream(None, 600)
    y = np.concatenate([np.full(100, 3.0), 3.0 + X[100:300, 0], 1e9 + 1e6 * X[300:, 0]])
    model = machine(None)
    learn(model, X[:100], y[:100])
    np.testing.assert_array_equal(scores(model, X), 3.0)
    learn(model, X[100:], y[100:])
    assert abs(scores(model, X[500:])[:, 0] - 1e9).max() < 1e9


# -- drift -----------------------------------------------------------------------------------------


def test_errors_that_leap_are_noticed_as_the_twin_does():
    """After a fall from .5 to .1 a leap, and another one later; a fall is none."""
    rng = np.random.default_rng(0)
    chance = np.repeat([0.5, 0.1, 0.4, 0.1, 0.6], [3000, 9000, 9000, 9000, 3000])
    errors = np.clip(rng.normal(chance, 0.1), 0, 1)
    twin, levels = naive.Cells(1, 2, 0, None, 1, (0, 0, 1, 0)), cell_steps.no_levels()
    found = [cell_steps.follow_error(levels, error) for error in errors]
    assert found == [twin.follow_error(error) for error in errors]
    leaps = np.flatnonzero(found)
    assert len(leaps) == 2
    assert 12_000 < leaps[0] < 12_200
    assert 30_000 < leaps[1] < 30_200


def test_noise_is_no_leap():
    """Errors of classes that are drawn with a chance, whatever it is: some 1,000,000 in all."""
    for chance in (0.01, 0.1, 0.3, 0.5):
        draws = np.random.default_rng(0).random(250_000) < chance
        levels = cell_steps.no_levels()
        likely = np.where(draws, 1 - chance, chance)  # of a model that knows the chance
        assert not any(cell_steps.follow_error(levels, error) for error in likely)


@pytest.mark.parametrize("cells", [32, 8, 2])
def test_a_table_of_more_or_fewer_cells_says_the_same_of_what_lies_apart(cells):
    table = np.repeat(np.random.default_rng(0).uniform(1, 2, (2, 3)), 4, axis=0).astype(np.float32)
    found = fold_table(table, cells)
    np.testing.assert_allclose(found[:, :2], np.repeat(table[::4, :2], cells // 2, axis=0), 1e-6)
    assert found.shape == (cells, 3)


# -- hashed inputs ---------------------------------------------------------------------------------

WORDS = 40


def words(C, n=300, d=WORDS, seed=0):
    """Rows of few words, of which some tell the label."""
    rng = np.random.default_rng(seed)
    X = sp.random(n, d, density=0.1, format="csr", random_state=rng)
    value = np.asarray(X[:, : d // 2].sum(axis=1) - X[:, d // 2 :].sum(axis=1)).ravel()
    value += 0.05 * rng.normal(size=n)
    return X, value if C is None else np.digitize(value, [0.0] if C == 2 else [-0.4, 0.4])


@pytest.mark.parametrize(("C", "cells"), [(2, None), (3, 16), (None, None), (None, 16)])
def test_naive_twin_of_hashed_inputs(C, cells):
    X, y = words(C)
    weights = np.random.default_rng(1).choice([0.0, 1.0, 2.5], len(y))
    begin = lambda model: naive.Hashed(WORDS, C, cells or WORDS)  # noqa: E731
    (table, *_), twin = follow(kb.Cells(kb.HashedInputs(cells)), begin, C, X, y, weights, 1)
    for cell, own in enumerate(table):
        np.testing.assert_allclose(own[:-1], twin.weights[cell], rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(own[-1], twin.squares[cell], rtol=1e-6)
    assert np.abs(table[:, 0]).max() > 0.1


def test_a_class_of_words_that_appears_later():
    X, y = words(3)
    early = np.flatnonzero(y < 2)[:80]
    model = machine(3, kb.Cells(kb.HashedInputs()))
    model.partial_fit(X[early], y[early])
    assert np.abs(scores(model, X)).max() > 0
    model.partial_fit(X, y)
    assert scores(model, X).shape == (300, 3)
    assert model.score(X, y) > 0.6


def test_rows_of_many_features_are_hashed_by_default():
    X, y = words(2, 600, 3000)
    model, linear, few = (machine(2, kb.Cells(*maps)) for maps in ((), (kb.HashedInputs(),), ()))
    for one in (model, linear):
        learn(one, X, y, 2, 50)
    assert_same(linear, model)
    learn(few, X[:, :100], y, 2, 50)
    assert [type(store_of(one)[0].content) for one in (model, few)] == [LinearContent, CellsContent]
