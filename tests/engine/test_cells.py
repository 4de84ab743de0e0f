"""Cells, and the store that changes arrays in place: the naive twin, chunks, copies, files."""

import copy
import io
import pickle
import tracemalloc

import hard_streams
import joblib
import numpy as np
import plain
import pytest
from covering import pairwise
from driving import learn
from estimators.test_model_files import assert_lives, at, put, rewrite
from inside import store_of
from naive import cells as naive
from naive.weights import relative

import kernbrook as kb
from kernbrook.engine.deciding import read
from kernbrook.engine.session import RowSession
from kernbrook.engine.stores import in_place
from kernbrook.errors import InputError, ModelFileError, NonFiniteError
from kernbrook.learners import cell_steps
from kernbrook.learners.cells import folded, most_cells

GRIDS = kb.RandomBinning(10, inputs=[2, None], cells=1024)
TREES = kb.GrownPartitions(5, nodes=60, inputs=4, slots=12)
FEW = kb.GrownPartitions(5, nodes=6, inputs=4, slots=6)  # which are soon used up
MAPS = {"both": [GRIDS, TREES], "grids": GRIDS, "trees": TREES, "few": [FEW, GRIDS]}
BOTH = kb.Cells(MAPS["both"])
TASKS = [2, 3, None]  # classes, or numbers


def stream(C, n=700, d=5, seed=0):
    """What decides turns now and then; a feature of few values, and one of one value."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, 3], X[:, 4] = np.round(2 * X[:, 3]), 1.0
    value = 1.5 * np.sign(X[:, 0]) + np.sin(2 * X[:, 1])
    value = np.where(np.arange(n) // 900 % 2, -value, value) + 0.5 * X[:, 2]
    value += 0.3 * rng.normal(size=n)
    return X, value if C is None else np.digitize(value, [0.0] if C == 2 else [-0.7, 0.7])


def machine(C, learner=BOTH, **choices):
    kind = plain.regressor if C is None else plain.classifier
    return kind(kb.Linear(), learner, random_state=5, **choices)


def named(C):
    return {} if C is None else {"classes": np.arange(C)}


def learned(C, n=600, size=100, learner=BOTH, **choices):
    X, y = stream(C)
    model = machine(C, learner, **choices)
    learn(model, X[:n], y[:n], C, size)
    return model


def one_by_one(model, X, y, C):
    for row, label in zip(X, y, strict=True):
        model.learn_one(row, label, **({} if hasattr(model, "_model") else named(C)))
    return model


def held(model):
    """The arrays of the store."""
    store, state = store_of(model)
    return store.now(state)


def scores(model, X):
    """(n, c) of the expert."""
    views, raw = model._seen(X)
    return np.concatenate([board.scores for _, board in read(model._model, views, raw)])[:, 0]


def assert_same(one, other):
    ours, theirs = one.state(), other.state()
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        np.testing.assert_array_equal(array, theirs[name], err_msg=name)


# -- the twin --------------------------------------------------------------------------------------


def twin_of(model, C, maps):
    """The naive one, with the grids and the seed of a model."""
    store, _ = store_of(model)
    grids, setting = in_place.copied(held(model).grids), store.content.setting
    trees = [one for one in maps if isinstance(one, kb.GrownPartitions)]
    sizes = [(one.n, one.nodes, one.inputs, one.slots) for one in trees] or [(0, 0, 1, 0)]
    count = len(store.content.first.table)
    return naive.Cells(setting.width, C, setting.seed, grids, count, *sizes)


def assert_equals_its_twin(C, maps, X, y, weights=None, size=50):
    """In the scores along the way, and in all that is kept at the end; the naive one."""
    model, maps = machine(C, kb.Cells(maps)), maps if isinstance(maps, list) else [maps]
    weights = np.ones(len(y)) if weights is None else weights
    twin, counted = None, relative(weights, len(y))
    for lo in range(0, len(y), size):
        if twin is not None:
            found, wanted = scores(model, X[lo : lo + 1])[0], twin.scores(X[lo])
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6, err_msg=str(lo))
        own = slice(lo, lo + size)
        model.partial_fit(X[own], y[own], sample_weight=weights[own], **named(C))
        twin = twin_of(model, C, maps) if twin is None else twin
        for t in range(lo, min(lo + size, len(y))):
            if weights[t] > 0:
                twin.learn(X[t], y[t], counted[t])
    compare_bins(held(model).bins, twin.sample)
    compare_grids(held(model).table, twin)
    compare_trees(held(model).trees, twin)
    levels = [twin.mean, twin.span, twin.number * (C is None), twin.offset, twin.unit]
    levels += [twin.size, twin.error, twin.usual, twin.since]
    np.testing.assert_allclose(held(model).levels, levels, rtol=1e-9)
    np.testing.assert_array_equal(held(model).grids.inputs, twin.grids.inputs)
    return twin


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


@pytest.mark.parametrize(
    ("C", "maps"),
    [*((C, "both") for C in TASKS), (2, "grids"), (3, "few")],
)
def test_naive_twin(C, maps):
    n = 2400 if maps == "grids" else 4200  # edges are set for the fifth time after 4,096
    X, y = stream(C, n)
    weights = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 1.0, 3.0], n) if C == 3 else None
    twin = assert_equals_its_twin(C, MAPS[maps], X, y, weights)
    assert twin.sample.met > 2000
    if maps == "grids":
        return
    forest = twin.forest
    assert forest.restarts > 2
    assert forest.cuts > (3 if maps == "few" else 20)
    assert forest.given_up > 0 or maps != "few"


@pytest.mark.parametrize(("name", "C"), [("wdbc", 2), ("digits", 10)])
def test_naive_twin_on_rows_that_were_measured(name, C):
    if name == "wdbc":
        X, y = hard_streams.wdbc()
        X, y = np.tile(X, (4, 1)), np.tile((y > 0).astype(int), 4)
    else:
        X, y = hard_streams.of_scikit_learn(name, 1300)
    grown = kb.GrownPartitions(3, nodes=30, inputs=6, slots=4)
    twin = assert_equals_its_twin(C, [kb.RandomBinning(6, [3, None], 0.5, 300), grown], X, y)
    assert twin.forest.cuts > 0


@pytest.mark.data
def test_naive_twin_on_a_file_of_the_papers():
    X, y = hard_streams.real("magic04", 3000)
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X.toarray()[order], (y[order] > 0).astype(int)
    grown = kb.GrownPartitions(3, nodes=40, inputs=6, slots=6)
    assert_equals_its_twin(2, [kb.RandomBinning(6, [3, None], 0.5, 300), grown], X, y)


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


def named_arrays(model):
    store, state = store_of(model)
    return store.arrays(state)


@pytest.mark.parametrize("C", TASKS)
def test_rows_that_teach_nothing(C):
    """Without a label, or of weight 0; wherever they come, all is as without them."""
    X, y = stream(C)
    keep = np.arange(700) % 3 > 0
    weights, labels = np.where(keep, 1.0, 0.0), np.where(keep, y, None)
    found = [machine(C) for _ in "abc"]
    found[0].learn(X, y, sample_weight=weights, **named(C))
    found[1].learn(X, labels, **named(C))
    for row, label in zip(X, labels, strict=True):
        found[2].learn_one(row, label, **({} if hasattr(found[2], "_model") else named(C)))
    without = machine(C)
    learn(without, X[keep], y[keep], C, 100)
    wanted = named_arrays(without)
    for model in found:
        for name, array in named_arrays(model).items():
            np.testing.assert_array_equal(array, wanted[name], err_msg=name)


def test_predictions_change_nothing():
    X, _ = stream(2)
    model, other = learned(2), learned(2)
    for _ in range(2):
        np.testing.assert_array_equal(model.predict(X), other.predict(X))
        assert model.predict_one(X[3]) == other.predict(X[3:4])[0]
    np.testing.assert_array_equal(
        RowSession.of(model._model).decide(X[9])[0][0], model._lean(X[9:10]).decisions[0]
    )
    assert_same(model, learned(2))


# -- a block is learned as a whole or not at all ---------------------------------------------------

OVERFLOWING = {
    2: [BOTH, kb.Group(kb.BPAS(5, aggressiveness=1e9), kb.Polynomial(9))],
    3: [BOTH, kb.Group(kb.BPAS(5, aggressiveness=1e9), kb.Polynomial(9))],
    None: [BOTH, kb.Group(kb.GradientDescent(0.1, features=None), kb.Polynomial(9))],
}


@pytest.mark.sampled
@pytest.mark.parametrize("C", TASKS)
@pytest.mark.parametrize("copied", [7, 1024])
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


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, ZeroDivisionError])
@pytest.mark.parametrize("where", ["State", "Chunk", "copied"])
def test_an_error_in_Python(error, where, monkeypatch):
    """Before the block, where a table is copied, or after it was learned in place."""
    X, y = stream(3)
    whole = learned(3, 700, 100)
    model = learned(3, 300, 100)
    monkeypatch.setattr(in_place, "COPIED", 50)

    def fails(*_):
        raise error

    for lo in range(300, 700, 100):
        with monkeypatch.context() as patch:
            patch.setattr(in_place, where, fails)
            with pytest.raises(error):
                model.partial_fit(X[lo : lo + 100], y[lo : lo + 100])
        model.partial_fit(X[lo : lo + 100], y[lo : lo + 100])
    assert_same(model, whole)


# -- states ----------------------------------------------------------------------------------------


def by_joblib(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


COPIES = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "joblib": by_joblib,
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


def test_states_of_the_store_are_made_again():
    """Any state is what it was, whatever was learned from others, and in whatever order."""
    X, y = stream(2)
    model, states, arrays = machine(2), [], []
    for lo in range(0, 500, 50):
        learn(model, X[lo : lo + 50], y[lo : lo + 50], 2)
        store, state = store_of(model)
        states.append(state)
        arrays.append({k: v.copy() for k, v in store.arrays(state).items()})
    for i in (2, 9, 0, 5, 5, 8):
        for name, array in store.arrays(states[i]).items():
            np.testing.assert_array_equal(array, arrays[i][name], err_msg=name)


def test_memory_stays_level(monkeypatch):
    """A copy of the table, and some rows: no more after many than after few."""
    monkeypatch.setattr(in_place, "COPIED", 200)
    X, y = stream(2, 4000)
    model, found = machine(2), []
    for lo in range(0, 4000, 100):
        learn(model, X[lo : lo + 100], y[lo : lo + 100], 2)
        found.append(model.memory_bytes_)
    table = sum(array.nbytes for array in named_arrays(model).values())
    assert table < min(found)
    assert max(found[5:]) == max(found[20:])
    assert max(found) < 2.5 * table + 300 * X.shape[1] * 16 + 100_000
    assert sum(len(chunk.labels) for chunk in store_of(model)[1].since) <= 300


@pytest.mark.parametrize("C", TASKS)
def test_rows_far_from_the_last_label(C, monkeypatch):
    """Laps keep a table of their own, and are the same for all chunks."""
    for name, size in (("slots.BUDGET_BLOCK", 256), ("in_place.BLOCK", 256)):
        monkeypatch.setattr(f"kernbrook.engine.stores.{name}", size)
    monkeypatch.setattr(in_place, "COPIED", 100)
    X, y = stream(C, 900)
    pool = [BOTH, kb.LastLabel()]
    kind = kb.OnlineMKRegressor if C is None else kb.OnlineMKClassifier
    models = [kind(kb.Linear(), pool, random_state=5) for _ in range(4)]
    for model, size in zip(models, (60, 128, 900), strict=False):
        learn(model, X[:800], y[:800], C, size)
    one_by_one(models[3], X[:800], y[:800], C)
    assert models[0]._model.judged().soon.rows[0] > 0
    said = models[0].predict(X)
    for model in models[1:]:
        assert_same(model, models[0])
        np.testing.assert_array_equal(model.predict(X), said)
    for model in models:
        learn(model, X[800:], y[800:], C, 33)
        assert_same(model, models[0])


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
        (0, "table.rows", lambda a: a[1:], "expected uint8 of shape"),
        (0, "trees.links", lambda a: 0 * a, "expected trees"),
        (0, "trees.links", lambda a: a[:-1], "expected those of the same nodes"),
        (0, "trees.weights", lambda a: a[:2], "expected float32 of shape"),
        (0, "grids.inputs", lambda a: a + 9, "expected 0 to 4"),
        (0, "trees.sums", lambda a: np.zeros((2, 2)), "expected float32 of shape"),
        (1, "trees.inputs", lambda a: a + 9, "expected -1 to 4"),
        (1, "levels", lambda a: a - 9.0, "within their ranges"),
    ):
        arrays = {**good, f"now.says.{places[k]}.{name}": change(own[k][name])}
        with pytest.raises(InputError, match=f"now.says.{places[k]}.*{said}"):
            far.restore(run, arrays)


# -- files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", TASKS)
@pytest.mark.parametrize("n", [1, 17, 400])
def test_a_file_goes_on(C, n, tmp_path):
    X, y = stream(C)
    model = learned(C, n, 30)
    kb.save(model, tmp_path / "model")
    chunks, rows = kb.load(tmp_path / "model"), kb.load(tmp_path / "model")
    assert_same(chunks, model)
    learn(model, X[n:500], y[n:500], C, 100)
    learn(chunks, X[n:500], y[n:500], C, 29)
    one_by_one(rows, X[n:500], y[n:500], C)
    assert_same(chunks, model)
    assert_same(rows, model)


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    """The bytes of a model with cuts, leaves that collect, free pairs and free slots."""
    model = machine(2, kb.Cells([GRIDS, kb.GrownPartitions(5, nodes=90, inputs=4, slots=60)]))
    X, y = stream(2, 1800)
    learn(model, X, y, 2, 300)
    trees = held(model).trees
    assert (trees.inputs >= 0).sum() > 5
    assert min(trees.free) > 2
    path = tmp_path_factory.mktemp("cells") / "model"
    kb.save(model, path)
    return path.read_bytes()


def set_free(count, more):
    """So many pairs, or slots, are said to be free besides."""

    def change(model, tensors, header):
        tensors["stores.0.trees.free"][count] += more

    return change


def a_cut(tensors):
    """The number of a root that is a cut, and its first child."""
    root = int(np.flatnonzero(tensors["stores.0.trees.inputs"][:5] >= 0)[0])
    return root, int(tensors["stores.0.trees.links"][root])


def leaves(tensors):
    """The numbers of those that collect."""
    inputs, links = (tensors[f"stores.0.trees.{name}"] for name in ("inputs", "links"))
    found, at = [], list(range(5))
    while at:
        node = at.pop()
        if inputs[node] >= 0:
            at += [links[node], links[node] + 1]
        elif links[node] >= 0:
            found.append(int(node))
    return found


def change_trees(work):
    """work : given the arrays of the trees by name, and all tensors"""

    def change(model, tensors, header):
        begin = "stores.0.trees."
        own = {k.removeprefix(begin): v for k, v in tensors.items() if k.startswith(begin)}
        work(own, tensors)

    return change


def cycle(own, tensors):
    _, child = a_cut(tensors)
    own["inputs"][child], own["links"][child] = 0, child


def cycle_to_the_root(own, tensors):
    _, child = a_cut(tensors)
    own["inputs"][child], own["links"][child] = 0, 0


def two_parents(own, tensors):
    roots = np.flatnonzero(own["inputs"][:5] >= 0)
    own["links"][roots[1]] = own["links"][roots[0]]


def odd_child(own, tensors):
    root, child = a_cut(tensors)
    own["links"][root] = child + 1


def no_child(own, tensors):
    own["links"][a_cut(tensors)[0]] = -1


def last_child(own, tensors):
    own["links"][a_cut(tensors)[0]] = len(own["links"]) - 1


def far_child(own, tensors):
    own["links"][a_cut(tensors)[0]] = 2**31 - 1


def root_as_a_child(own, tensors):
    own["links"][a_cut(tensors)[0]] = 1


def slot_of_two(own, tensors):
    first, second = leaves(tensors)[:2]
    own["links"][first] = own["links"][second]


def slot_of_one_and_free(own, tensors):
    own["links"][leaves(tensors)[0]] = own["slots"][0]


def far_slot(own, tensors):
    own["links"][leaves(tensors)[0]] = 60


def negative_slot(own, tensors):
    own["links"][leaves(tensors)[0]] = -2


def lost_slot(own, tensors):
    own["links"][leaves(tensors)[0]] = -1


def free_twice(own, tensors):
    own["pairs"][0] = own["pairs"][1]


def free_and_used(own, tensors):
    own["pairs"][0] = a_cut(tensors)[1]


def a_bin_less(own, tensors):
    """Of the last feature that a leaf collects on."""
    slot = own["links"][leaves(tensors)[0]]
    own["begins"][slot][own["begins"][slot] == own["begins"][slot][-1]] -= 1


def bins_below_none(own, tensors):
    own["begins"][own["links"][leaves(tensors)[0]]] -= 1


def other_features(own, tensors):
    """The bins are of one with more values."""
    slot, inner = own["links"][leaves(tensors)[0]], tensors["stores.0.bins.inner"]
    few = [i for i, j in enumerate(own["features"][slot]) if inner[j] == min(inner[inner > 0])]
    own["features"][slot, few] = int(np.argmax(inner))


def free_slot_that_is_none(own, tensors):
    own["slots"][0], own["free"][1] = 99, max(own["free"][1], 1)


def unordered(model, tensors, header):
    edges = tensors["stores.0.bins.edges"]
    edges[0, [3, 4]] = edges[0, [4, 3]]


def greatest_below(model, tensors, header):
    inner = tensors["stores.0.bins.inner"][1]
    tensors["stores.0.bins.edges"][1, inner + 1] = -1e9


LIVES = None  # nothing is indexed by it
DISHONEST = {
    "NaN in the table": (at("stores.0.table", (3, 0), np.nan), "table: NaN or infinity"),
    "infinity in the table": (at("stores.0.table", (3, 1), np.inf), "table: NaN or infinity"),
    "weights that are huge": (
        at("stores.0.table", (3, 0), 1e25),
        "table: expected numbers of size",
    ),
    "huge weights of leaves": (at("stores.0.trees.weights", (0, 0), 1e25), "weights: expected"),
    "huge sums": (at("stores.0.trees.sums", (0, 1, 0), -1e35), "sums: expected"),
    "squares below 0": (at("stores.0.table", (3, 1), -1.0), "no sum of squares below 0"),
    "table of float64": (put("stores.0.table", lambda a: a.astype("f8")), "expected float32"),
    "a cell less": (put("stores.0.table", lambda a: a[1:]), r"expected table of shape \(1024"),
    "more scores": (put("stores.0.table", lambda a: np.hstack([a, a])), r"shape \(1024, 2\)"),
    "a level less": (put("stores.0.levels", lambda a: a[1:]), r"expected float64 of shape \(9,\)"),
    "levels of NaN": (at("stores.0.levels", 6, np.nan), "levels: expected"),
    "a span below 0": (at("stores.0.levels", 1, -1.0), "levels: expected"),
    "a size below 0": (at("stores.0.levels", 5, -1.0), "levels: expected"),
    "an error below 0": (at("stores.0.levels", 6, -1.0), "levels: expected"),
    "an error above 1": (at("stores.0.levels", 6, 1.5), "levels: expected"),
    "a usual error above 1": (at("stores.0.levels", 7, 1.5), "levels: expected"),
    "labels since below 0": (at("stores.0.levels", 8, -1.0), "levels: expected"),
    "labels beyond counting": (at("stores.0.levels", 2, 1e300), "levels: expected"),
    "huge levels": (at("stores.0.levels", 4, 1e308), "levels: expected"),
    "a grid of no feature": (at("stores.0.grids.inputs", 0, 5), "inputs: expected 0 to 4"),
    "a grid below the first": (at("stores.0.grids.inputs", 0, -1), "inputs: expected 0 to 4"),
    "grids beyond their end": (at("stores.0.grids.first", -1, 1000), "first: expected numbers"),
    "grids out of order": (at("stores.0.grids.first", 1, 30), "first: expected numbers"),
    "widths of NaN": (at("stores.0.grids.inverse", 0, np.nan), "inverse: NaN or infinity"),
    "widths below any": (at("stores.0.grids.inverse", 0, 1e9), "inverse: expected numbers of"),
    "a shift of NaN": (at("stores.0.grids.shift", 0, np.nan), "inverse, shift: expected"),
    "a grid less": (
        put("stores.0.grids.salt", lambda a: a[1:]),
        r"expected int32 of shape \(10,\)",
    ),
    "rows of NaN": (at("stores.0.bins.sample", (5, 1), np.nan), "sample: NaN or infinity"),
    "edges of infinity": (at("stores.0.bins.edges", (0, 2), np.inf), "edges: NaN or infinity"),
    "edges so far apart": (at("stores.0.bins.edges", (0, 0), -3e38), "size up to 1e"),
    "edges out of order": (unordered, LIVES),
    "a greatest value below": (greatest_below, LIVES),
    "shares out of order": (
        at("stores.0.bins.levels", (0, 2), 0.999),
        LIVES,
    ),
    "shares above 1": (put("stores.0.bins.levels", lambda a: a * 2), LIVES),
    "shares below 0": (put("stores.0.bins.levels", lambda a: a - 1), LIVES),
    "too many edges": (at("stores.0.bins.inner", 1, 32), "expected -1 to 31"),
    "edges below none": (at("stores.0.bins.inner", 1, -2), "expected -1 to 31"),
    "rows below 0": (at("stores.0.bins.met", 0, -1), "a number of rows"),
    "rows beyond counting": (at("stores.0.bins.met", 0, 2**63 - 1), "a number of rows"),
    "bins of int64": (put("stores.0.bins.inner", lambda a: a.astype("i8")), "expected int32"),
    "edges of another width": (put("stores.0.bins.edges", lambda a: a[:, 1:]), "expected float32"),
    "an input too far": (at("stores.0.trees.inputs", 0, 5), "inputs: expected -1 to 4"),
    "an input below none": (at("stores.0.trees.inputs", 0, -2), "inputs: expected -1 to 4"),
    "cuts of NaN": (at("stores.0.trees.cuts", 0, np.nan), "cuts: NaN or infinity"),
    "weights of NaN": (at("stores.0.trees.weights", (7, 0), np.nan), "weights: NaN or infinity"),
    "squares of leaves": (at("stores.0.trees.squares", 7, -1.0), "squares: expected no number"),
    "waits of NaN": (at("stores.0.trees.waits", 7, np.nan), "waits: NaN or infinity"),
    "waits below 0": (at("stores.0.trees.waits", 7, -1.0), LIVES),
    "sums of NaN": (at("stores.0.trees.sums", (0, 1, 0), np.nan), "sums: NaN or infinity"),
    "rows of leaves": (at("stores.0.trees.rows", (0, 0), -1.0), "rows: expected no number below"),
    "what was done": (at("stores.0.trees.done", (0, 1), np.inf), "done: NaN or infinity"),
    "a square that was done": (at("stores.0.trees.done", (0, 1), -1.0), LIVES),
    "features too far": (at("stores.0.trees.features", (0, 0), 5), "features: expected 0 to 4"),
    "features below 0": (at("stores.0.trees.features", (0, 0), -1), "features: expected 0 to 4"),
    "members below 0": (at("stores.0.trees.members", (0, 0), -1), "members, held: expected"),
    "too many members": (at("stores.0.trees.held", 0, 257), "members, held: expected"),
    "members held below 0": (at("stores.0.trees.held", 0, -1), "members, held: expected"),
    "a bin too far": (at("stores.0.trees.latest_bins", (3, 0), 200), "latest_bins: expected"),
    "gradients of NaN": (at("stores.0.trees.latest", (0, 0), np.nan), "latest: NaN or infinity"),
    "huge gradients": (at("stores.0.trees.latest", (0, 1), 1e35), "latest: expected"),
    "slots of int64": (put("stores.0.trees.slots", lambda a: a.astype("i8")), "expected int32"),
    "a slot less": (put("stores.0.trees.sums", lambda a: a[1:]), "expected trees.sums of shape"),
    "a pair less": (put("stores.0.trees.pairs", lambda a: a[1:]), "expected int32 of shape"),
    "more free pairs": (set_free(0, 1), "links: expected trees"),
    "fewer free pairs": (set_free(0, -1), "links: expected trees"),
    "pairs that are not there": (set_free(0, 1000), "free: more are free than there are"),
    "free pairs below 0": (set_free(0, -1000), "free: more are free than there are"),
    "slots that are not there": (set_free(1, 1000), "free: more are free than there are"),
    "free slots below 0": (set_free(1, -1000), "free: more are free than there are"),
    **{
        work.__name__.replace("_", " "): (change_trees(work), message)
        for work, message in (
            *((work, "links: expected trees") for work in (cycle, cycle_to_the_root, two_parents)),
            *((work, "links: expected trees") for work in (odd_child, no_child, last_child)),
            *((work, "links: expected trees") for work in (far_child, root_as_a_child)),
            *((work, "links: expected trees") for work in (free_twice, free_and_used)),
            *((work, "links, slots: expected each slot") for work in (slot_of_two, far_slot)),
            *((work, "links, slots: expected each slot") for work in (negative_slot, lost_slot)),
            (slot_of_one_and_free, "links, slots: expected each slot"),
            *((work, "begins: expected features") for work in (a_bin_less, bins_below_none)),
            (other_features, "begins: expected features"),
            (free_slot_that_is_none, "links, slots: expected each slot"),
        )
    },
}


def assert_is_refused(whole, path, change, message):
    """A file of these bytes is loaded, and no more once it was changed; without a message it is."""
    path.write_bytes(whole)
    model = kb.load(path)
    rewrite(path, change)
    if message is None:
        X = np.random.default_rng(0).normal(size=(300, model.n_features_in_))
        assert_lives(path, X, model.classes_[(X[:, 0] > 0) * 1])
        return
    with pytest.raises(ModelFileError, match=message):
        kb.load(path)


@pytest.mark.parametrize("name", DISHONEST)
def test_what_learning_cannot_lead_to(name, grown, tmp_path):
    """Compiled code trusts what a file says once it was looked at."""
    assert_is_refused(grown, tmp_path / "model", *DISHONEST[name])


def asks(number, kind, name):
    """10 million of what a map has, where its file has few."""

    def change(model, tensors, header):
        features = model["parameters"]["learner"]["learners.Cells"]["features"]
        own = features if number is None else features[number]
        own[f"features.{kind}"][name] = 10**7

    return change


def assert_refused_at_once(path, change, message):
    rewrite(path, change)
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match=message):
            kb.load(path)
        assert tracemalloc.get_traced_memory()[1] < 10e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("number", "kind", "name", "message"),
    [
        (0, "RandomBinning", "cells", "expected table of shape"),
        (1, "GrownPartitions", "nodes", "expected trees.inputs of shape"),
        (1, "GrownPartitions", "slots", "expected trees.sums of shape"),
    ],
)
def test_a_file_that_asks_for_much(number, kind, name, message, grown, tmp_path):
    """It is refused before so much is taken."""
    (tmp_path / "model").write_bytes(grown)
    assert_refused_at_once(tmp_path / "model", asks(number, kind, name), message)


def test_a_file_that_asks_for_many_hashed_inputs(tmp_path):
    kb.save(learned(2, 50, learner=kb.Cells(kb.HashedInputs(99))), tmp_path / "model")
    change = asks(None, "HashedInputs", "cells")
    assert_refused_at_once(tmp_path / "model", change, "expected table of shape")


def test_a_file_of_other_parameters(tmp_path):
    """Of which some were changed after learning had begun."""
    model = learned(2, 100)
    model.learner.features[0].width = 0.3
    try:
        with pytest.raises(InputError, match="the parameters were changed after learning"):
            kb.save(model, tmp_path / "model")
    finally:
        model.learner.features[0].width = (1.5, 1.0, 0.5, 0.25)
    kb.save(model, tmp_path / "model")
    model.set_params(learner=kb.Cells(MAPS["both"], step=0.3))
    with pytest.raises(InputError, match="the parameters were changed after learning"):
        kb.save(model, tmp_path / "model")


@pytest.mark.parametrize("name", ["first", "inverse", "salt"])
def test_a_file_has_its_own_grids(name, tmp_path):
    """Whatever the estimator's random_state is by now."""
    model = learned(2, 200)
    model.random_state = None
    kb.save(model, tmp_path / "model")
    other = kb.load(tmp_path / "model")
    ours, theirs = (getattr(held(one).grids, name) for one in (model, other))
    np.testing.assert_array_equal(ours, theirs)


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
    assert (
        held(model).trees.free[1]
        == TREES.slots - (held(model).trees.links[_leaves(model)] >= 0).sum()
    )
    model.partial_fit(X[1500:], y[1500:])
    assert model.score(X[2600:], y[2600:]) > 0.6
    one_by_one(model, X[:50], y[:50], 3)


def _leaves(model):
    """Numbers of all leaves."""
    trees, found, at = held(model).trees, [], list(range(TREES.n))
    while at:
        node = at.pop()
        inner = trees.inputs[node] >= 0
        at += [trees.links[node], trees.links[node] + 1] if inner else []
        found += [] if inner else [node]
    return found


@pytest.mark.parametrize(("more", "times"), [(1, 2.0), (28, 0.5)])
def test_cells_go_over_to_another_table(more, times):
    """Three classes have twice the cells, many have fewer; nothing is lost where none had met."""
    X, y = stream(2, 300)
    model = machine(2, kb.Cells(kb.RandomBinning(8, [1, 2])))
    learn(model, X, y, 2)
    before, size = scores(model, X)[:, 0], len(held(model).table)
    model.partial_fit(X[:more], range(5, 5 + more), sample_weight=np.full(more, 1e-12))
    assert len(held(model).table) == times * size
    after = scores(model, X)
    np.testing.assert_allclose(after[:, 1] - after[:, 0], before, atol=0.2)


def test_rows_of_more_features_begin_anew():
    X, y = stream(None)
    model = machine(None, [BOTH, kb.LastLabel()])
    model.partial_fit(X[:600, :3], y[:600])
    model._widen(5)
    assert not scores(model, X[:9]).any()
    for lo in range(600, 700, 20):
        model.partial_fit(X[lo : lo + 20], y[lo : lo + 20])
    found = scores(model, X)
    assert found.std() > 0.3  # long before the 1,024th label
    assert np.mean((found[:, 0] - y) ** 2) < np.var(y)


@pytest.mark.parametrize("C", TASKS)
def test_models_that_are_merged(C):
    X, y = stream(C)
    one, other = learned(C, 500), learned(C, 200)
    wanted = named_arrays(one)
    both = [copy.deepcopy(one).merge(other), copy.deepcopy(other).merge(one)]
    for model in both:
        for name, array in named_arrays(model).items():
            np.testing.assert_array_equal(array, wanted[name], err_msg=name)
        learn(model, X[500:], y[500:], C)
    assert_same(one, learned(C, 500))  # nothing is shared
    learn(one, X[500:], y[500:], C)
    np.testing.assert_array_equal(held(one).bins.sample, held(both[0]).bins.sample)


def test_the_only_expert_that_is_left():
    """The best of a prefix is chosen for good, and goes on alone."""
    X, y = stream(2)
    pool = [BOTH, kb.LastLabel()]
    models = [machine(2, pool, selection=kb.BestOfPrefix(200)) for _ in "ab"]
    learn(models[0], X, y, 2, 50)
    one_by_one(models[1], X, y, 2)
    assert_same(*models)
    assert np.argmax(models[0].expert_weights_) == 0
    assert held(models[0]).bins.met[0] == 700


@pytest.mark.parametrize(
    "choices",
    [
        {"selection": kb.Selection(update="drawn", smoothing=0.3)},
        {"labels": kb.RandomLabels(0.4)},
        {"labels": kb.Disagreement(0.3)},
    ],
    ids=str,
)
def test_others_decide_from_which_labels_it_learns(choices):
    X, y = stream(2)
    pool = [BOTH, kb.BPAS(9)]
    whole = machine(2, pool, **choices)
    learn(whole, X, y, 2)
    for size in (1, 90):
        model = machine(2, pool, **choices)
        learn(model, X, y, 2, size)
        assert_same(model, whole)
    assert 50 < held(whole).bins.met[0] < 700


# -- parameters ------------------------------------------------------------------------------------

FEATURES = r"^Cells: features must be .*, or a list with one of each, got "
WRONG = [
    (kb.Cells([]), FEATURES),
    (kb.Cells([GRIDS, TREES, GRIDS]), FEATURES),
    (kb.Cells([TREES, TREES]), FEATURES),
    (kb.Cells(kb.RandomFeatures()), FEATURES),
    (kb.Cells(kb.RandomBinning), FEATURES),
    (kb.Cells("grids"), FEATURES),
    (kb.Cells(None), FEATURES),
    (kb.Cells(step=0), r"^Cells: step must be a number in \(0, 100\], got 0$"),
    (kb.Cells(step=101), r"^Cells: step must be a number in \(0, 100\], got 101$"),
    (kb.Cells(kb.RandomBinning(0)), "^RandomBinning: n must be an integer from 1 to 1,000, got 0$"),
    (
        kb.Cells(kb.RandomBinning(10**6)),
        "^RandomBinning: n must be an integer from 1 to 1,000, got",
    ),
    (kb.Cells(kb.RandomBinning(inputs=0)), "^RandomBinning: inputs must be None or an integer"),
    (kb.Cells(kb.RandomBinning(inputs=[])), "^RandomBinning: inputs must be .* a list of these"),
    (
        kb.Cells(kb.RandomBinning(inputs=[2, 0])),
        "^RandomBinning: inputs must be .* a list of these",
    ),
    (kb.Cells(kb.RandomBinning(width=0)), r"^RandomBinning: width must be a number in \(0, 100\]"),
    (kb.Cells(kb.RandomBinning(width=[])), "^RandomBinning: width must be .* a list of these"),
    (
        kb.Cells(kb.RandomBinning(cells=0)),
        "^RandomBinning: cells must be None or an integer from 1",
    ),
    (kb.Cells([TREES, kb.RandomBinning(2.5)]), "^RandomBinning: n must be an integer"),
    (kb.Cells(kb.GrownPartitions(0)), "^GrownPartitions: n must be an integer from 1 to 1,000"),
    (kb.Cells(kb.GrownPartitions(nodes=1)), "^GrownPartitions: nodes must be an integer from 2"),
    (kb.Cells(kb.GrownPartitions(inputs=0)), "^GrownPartitions: inputs must be an integer from 1"),
    (kb.Cells(kb.GrownPartitions(slots=0)), "^GrownPartitions: slots must be None or an integer"),
    (kb.Cells(kb.GrownPartitions(True)), "^GrownPartitions: n must be an integer"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_parameters_that_are_none(number):
    learner, message = WRONG[number]
    X, y = stream(2, 9)
    with pytest.raises(InputError, match=message):
        learn(machine(2, learner), X, y, 2)


def test_rows_that_are_too_wide():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 513)), np.arange(40) % 2
    said = r"is for rows of 512 features at most, got 513; take HashedInputs\(\)$"
    with pytest.raises(InputError, match=said):
        learn(machine(2), X, y, 2)
    model = machine(2)
    learn(model, X[:, :512], y, 2)
    assert np.isfinite(scores(model, X[:, :512])).all()


def test_more_room_than_there_is():
    X, y = stream(3, 9)
    grown = kb.GrownPartitions(9, nodes=10**8, slots=10**8, inputs=10**8)
    with pytest.raises(InputError, match=r"^Cells\(.* takes [\d,.]+ GB, and there is not so much"):
        learn(machine(3, kb.Cells(grown)), X, y, 3)


# -- numbers at the ends ---------------------------------------------------------------------------


def extreme(name, X):
    """Rows at the ends of what features may be."""
    if name == "huge":
        return X * np.where(np.arange(len(X))[:, None] % 2, 1e150, 1e-150)
    if name == "huge here and there":
        X[::7, 0] = 1e153
        return X
    if name == "tiny":
        return X * 1e-310
    return np.ones_like(X) if name == "constant" else np.tile(X[:1], (len(X), 1))


@pytest.mark.parametrize("C", TASKS)
@pytest.mark.parametrize("name", ["huge", "huge here and there", "tiny", "constant", "equal"])
def test_rows_at_the_ends(C, name, tmp_path):
    X, y = stream(C, 600)
    X = extreme(name, X)
    model = machine(C, [BOTH, kb.LastLabel()] if C is None else BOTH)
    learn(model, X, y, C, 60)
    assert np.isfinite(scores(model, X)).all()
    kb.save(model, tmp_path / "model")  # which checks all that is kept


def test_values_beyond_1e30_are_equal():
    X, y = stream(2, 300)
    model = machine(2)
    learn(model, X, y, 2)
    store, state = store_of(model)
    found = []
    for size in (1e30, 1e31, 1e300):
        arrays, one = in_place.copied(store.now(state)), np.ones(1)
        row = in_place.Dense(np.full((1, 5), size))
        store._learn_again(arrays, in_place.Chunk(row, one, one, np.array([301]), 5))
        found.append(dict(in_place.named(arrays)))
    for other in found[1:]:
        for name, array in found[0].items():
            np.testing.assert_array_equal(array, other[name])
            assert np.isfinite(array).all()


@pytest.mark.parametrize("size", [1e-300, 1e-100, 1e99])
@pytest.mark.parametrize("weight", [None, 1e99, 1e-99])
def test_labels_and_weights_at_the_ends(size, weight, tmp_path):
    X, y = stream(None)
    y = y * size
    y[::50] *= 1e-3
    weights = None if weight is None else np.where(np.arange(700) % 5, weight, 0.0)
    model = machine(None)
    for lo in range(0, 700, 70):
        own = slice(lo, lo + 70)
        model.partial_fit(X[own], y[own], sample_weight=None if weights is None else weights[own])
    found = scores(model, X)[:, 0]
    assert np.isfinite(found).all()
    if weight is None and size > 1e-200:
        assert np.corrcoef(found / size, y / size)[0, 1] > 0.5
    kb.save(model, tmp_path / "model")


@pytest.mark.parametrize("C", [2, 3])
@pytest.mark.parametrize("weight", [1e99, 1e-99, 1e6])
@pytest.mark.parametrize("step", [100.0, 1e-100])
def test_weights_and_steps_at_the_ends(C, weight, step, tmp_path):
    X, y = stream(C)
    model = machine(C, kb.Cells(MAPS["both"], step=step))
    weights = np.where(np.arange(700) % 5, weight, 0.0)
    model.partial_fit(X, y, sample_weight=weights, **named(C))
    assert np.isfinite(scores(model, X)).all()
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


@pytest.mark.parametrize("C", TASKS)
def test_it_learns(C):
    """More than what is the same for all rows."""
    X, y = stream(C, 900)
    model = machine(C)
    said = learn(model, X, y, C)[0]
    late = slice(300, 900)
    if C is None:
        assert np.mean((said[late] - y[late]) ** 2) < 0.6 * np.var(y)
    else:
        assert np.mean(said[late] == y[late]) > 0.75


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


def test_a_rule_that_turns_round():
    """What was learned goes, at once: soon after, the model is as good as one that begins there."""
    X = np.random.default_rng(0).random((18_000, 3))
    y = (np.floor(3 * X[:, 0]) + np.floor(3 * X[:, 1])).astype(int) % 2
    y[12_000:] = 1 - y[12_000:]
    model, fresh = machine(2), machine(2)
    said = learn(model, X, y, 2, 1000)[0]
    before, late = slice(9000, 12_000), slice(15_000, 18_000)
    assert np.mean(said[before] != y[before]) < 0.1
    assert 5000 < held(model).levels[cell_steps.SINCE] < 6000
    wanted = learn(fresh, X[12_000:], y[12_000:], 2, 1000)[0][3000:]
    assert np.mean(said[late] != y[late]) < np.mean(wanted != y[late]) + 0.02
    other = machine(2)
    learn(other, X[:12_500], y[:12_500], 2, 77)
    whole = machine(2)
    learn(whole, X[:12_500], y[:12_500], 2, 12_500)
    assert_same(other, whole)
    assert held(whole).levels[cell_steps.SINCE] < 500


# -- which inputs grids cut ------------------------------------------------------------------------


def test_grids_cut_features_that_tell_of_rows():
    """After 256 rows: of 30 features, 25 are nearly always 0."""
    rng = np.random.default_rng(0)
    X = np.hstack([rng.random((300, 5)), rng.random((300, 25)) < 0.003])
    y = (X[:, 0] > 0.5).astype(int)
    learner = kb.Cells(kb.RandomBinning(60, inputs=[4, None]))
    model = machine(2, learner)
    learn(model, X[:255], y[:255], 2)
    grids = held(model).grids
    few = np.repeat(np.diff(grids.first) == 4, np.diff(grids.first))
    before = grids.inputs.copy()
    assert 0.05 < (before[few] < 5).mean() < 0.3
    model.partial_fit(X[255:256], y[255:256])
    assert not held(model).table.any()
    after = held(model).grids.inputs
    assert (after[few] < 5).mean() > 0.8
    for g in np.flatnonzero(np.diff(grids.first) == 4):
        assert len(set(after[grids.first[g] : grids.first[g + 1]])) == 4
    np.testing.assert_array_equal(after[~few], before[~few])
    model.partial_fit(X[256:], y[256:])
    np.testing.assert_array_equal(held(model).grids.inputs, after)


def test_grids_that_cut_all_features_stay():
    X, y = stream(2, 300)
    model = machine(2, kb.Cells(kb.RandomBinning(8, inputs=[5, None])))
    learn(model, X[:255], y[:255], 2)
    before = held(model).grids.inputs.copy()
    model.partial_fit(X[255:256], y[255:256])
    np.testing.assert_array_equal(held(model).grids.inputs, before)
    assert held(model).table.any()


# -- features of few values ------------------------------------------------------------------------


def test_a_leaf_collects_on_many_features_of_few_values():
    """128 bins are four features of 32, or sixteen of two."""
    rng = np.random.default_rng(0)
    for values, features in ((rng.random((400, 20)), 4), (rng.random((400, 20)) < 0.5, 16)):
        model = machine(2, kb.Cells(kb.GrownPartitions(3, nodes=60)))
        learn(model, values.astype(float), np.arange(400) % 2, 2)
        trees = held(model).trees
        taken = trees.links[_roots(trees)]
        assert ((np.diff(trees.begins[taken], axis=1) > 0).sum(axis=1) == features).all()


def _roots(trees):
    """Those that are leaves and collect."""
    n = len(trees.done)
    return np.flatnonzero((trees.inputs[:n] == -1) & (trees.links[:n] >= 0))


@pytest.mark.parametrize("cells", [32, 8, 2])
def test_a_table_of_more_or_fewer_cells_says_the_same_of_what_lies_apart(cells):
    table = np.repeat(np.random.default_rng(0).uniform(1, 2, (2, 3)), 4, axis=0).astype(np.float32)
    found = folded(table, cells)
    np.testing.assert_allclose(found[:, :2], np.repeat(table[::4, :2], cells // 2, axis=0), 1e-6)
    assert found.shape == (cells, 3)


def test_many_classes_have_twice_the_cells_of_two():
    assert most_cells(7) == 2 * most_cells(1)
    assert most_cells(100) < most_cells(1)
