"""Rows far from the last label: the committees against their twin, chunks, files, merging."""

import copy

import hard_streams
import numpy as np
import pytest
import scipy.sparse as sp
from driving import learn, named, says
from inside import assert_equal_arrays, scores_of
from naive import horizons as naive
from sklearn.linear_model import SGDRegressor

import kernbrook as kb
from kernbrook.combiners.stack import split
from kernbrook.engine.deciding import decide, read_boards
from kernbrook.engine.horizons import horizons, kept
from kernbrook.engine.horizons.distant import Distant
from kernbrook.errors import InputError

KERNELS = [kb.Gaussian(gamma=0.05), kb.Linear()]
LEARNERS = {
    2: [kb.BPAS(9), kb.Ridge(), kb.LastLabel()],
    3: [kb.BPAS(9), kb.Ridge(), kb.LastLabel()],
    None: [kb.Ridge(), kb.LastLabel()],
}
FROM = 800  # rows after which there have been late ones


@pytest.fixture(autouse=True)
def _short_laps(monkeypatch):
    """As of pools that learn blocks of 256 rows: laps of 128."""
    monkeypatch.setattr("kernbrook.engine.stores.slots.BUDGET_BLOCK", 256)


def stream(C, n=900):
    """A target that walks, so that near and far experts are others."""
    X = hard_streams.gaussian_clouds(n, 4)[0]
    rng = np.random.default_rng(3)
    level = np.cumsum(0.2 * rng.normal(size=n))
    value = np.sin(2 * X[:, 0]) + X[:, 1] + level + 0.1 * rng.normal(size=n)
    if C is None:
        return X, value
    cuts = [0.0] if C == 2 else np.quantile(value, [0.33, 0.66])
    return X, np.digitize(value, cuts)


def machine(C, **choices):
    kind = kb.OnlineMKRegressor if C is None else kb.OnlineMKClassifier
    return kind(KERNELS, LEARNERS[C], random_state=0, **choices)


def learned(C, n=FROM, size=128, **choices):
    X, y = stream(C)
    model = machine(C, **choices)
    learn(model, X[:n], y[:n], C, size)
    return model


def arrays_of(model):
    """What the committees have learned."""
    begin = "horizons."
    return {
        name.removeprefix(begin): array.copy()
        for name, array in model.state().items()
        if name.startswith(begin)
    }


def far_of(model):
    return model._model.judged()


def all_said(model, X, C):
    """Everything that a model says of rows."""
    if C is None:
        return [model.predict(X), model.predict_interval(X), model.predict(X, return_std=True)[1]]
    return [model.predict(X), model.decision_function(X), model.predict_proba(X)]


def assert_same(one, other, X, C):
    assert_equal_arrays(one.state(), other.state())
    for own, its in zip(all_said(one, X, C), all_said(other, X, C), strict=True):
        np.testing.assert_array_equal(own, its)


@pytest.mark.parametrize("C", [2, None])
def test_naive_twin(C):
    X, y = stream(C)
    model, near = machine(C), machine(C, delay=0)
    m = 5 if C else 3

    def said(one, x):
        return scores_of(one, x[None])[0, :, 0]

    def decided(one, x):
        return decide(one._model, *one._seen(x[None])).decisions[0, 0]

    twin = naive.Horizons(m, C is None, said, decided)
    compared = {"next": 0, "soon": 0, "late": 0}
    for t in range(len(y)):
        if t and (t % 97 == 0 or t == len(y) - 1):
            rows = X[:200:7]
            places = np.arange(1, 201)[::7]
            views, raw = model._seen(rows)
            ours = decide(model._model, views, raw, places)
            for i, place in enumerate(places):
                expected = twin.decides(near, rows[i], place)
                np.testing.assert_allclose(
                    ours.decisions[i, 0], expected, rtol=1e-6, atol=1e-8, err_msg=f"{t} {place}"
                )
                compared[horizons.NAMES[ours.kinds[i]]] += 1
        for one in (model, near):
            says(one, X[t : t + 1], y[t : t + 1], C, 1)
        target = y[t] - model.offset_ if C is None else 2.0 * y[t] - 1.0
        twin.add(near, X[t], target)
    assert min(compared.values()) >= 8
    assert far_of(model).soon.rows[0] == twin.soon.own
    assert far_of(model).late.rows[0] == twin.late.own


@pytest.mark.parametrize("C", [2, 3, None])
def test_any_chunks(C):
    X, y = stream(C)
    model = learned(C)
    for size in (7, 48, 500):
        assert_same(learned(C, size=size), model, X[:300], C)
    one = machine(C)
    for t in range(FROM):
        one.learn_one(X[t], y[t], **({} if t else named(C)))
    assert_same(one, model, X[:300], C)


@pytest.mark.parametrize("C", [2, None])
def test_single_rows_are_judged_before_the_end_of_a_lap(C, tmp_path, monkeypatch):
    """By models as they were; copies and files from the midst of a lap go on to the same bits."""
    X, y = stream(C)
    model, reads = learned(C, 300), []
    monkeypatch.setattr(kept, "read_boards", lambda *a: reads.append(a) or read_boards(*a))
    for t in range(300, 450):
        model.learn_one(X[t], y[t])
    kb.save(model, tmp_path / "model")
    others = [copy.deepcopy(model), kb.load(tmp_path / "model")]
    reads.clear()
    for t in range(450, 700):
        model.learn_one(X[t], y[t])
        if t - 512 in (0, 1, 2, 127):  # what is left of the lap before is being done
            assert model._model.horizons.over.step == (t - 512) % 127
            if t > 513:
                others.append(copy.deepcopy(model))
    assert not reads
    for other in others:
        assert_same(other, learned(C, other.n_rounds_), X[:300], C)
        for t in range(other.n_rounds_, 650):
            other.learn_one(X[t], y[t])
        other.partial_fit(X[650:700], y[650:700])
        assert_same(model, other, X[:300], C)


def test_the_next_row_is_as_ever():
    """What is said of each row before its label does not depend on the other horizons."""
    X, y = stream(2)
    ours, without = machine(2), machine(2, delay=0)
    np.testing.assert_array_equal(says(ours, X, y, 2, 50), says(without, X, y, 2, 50))
    assert far_of(without) is None
    np.testing.assert_array_equal(ours.predict_proba(X[:1]), without.predict_proba(X[:1]))
    assert not np.array_equal(ours.decision_function(X), without.decision_function(X))


def wide(C):
    rng = np.random.default_rng(0)
    X = sp.random(800, 300, density=0.03, format="csr", random_state=rng)
    value = np.asarray(X[:, :150].sum(axis=1) - X[:, 150:].sum(axis=1)).ravel()
    return X, value if C is None else (value > 0).astype(int)


@pytest.mark.parametrize(("C", "dense"), [(2, True), (None, False)])
def test_rows_of_many_features(C, dense, tmp_path):
    """Of which the rows alone are kept that are judged, and the regressions know a constant."""
    X, y = wide(C)
    X = X.toarray() if dense else X
    kind = kb.OnlineMKRegressor if C is None else kb.OnlineMKClassifier
    learner = [kb.GradientDescent(0.5, "normalized", features=kb.Monomials()), kb.LastLabel()]
    models = [kind(kb.Linear(), learner, random_state=0) for _ in range(2)]
    for at in range(0, 800, 50):
        models[0].partial_fit(X[at : at + 50], y[at : at + 50])
    models[1].partial_fit(X, y)
    assert far_of(models[0]).lap.all is False
    assert far_of(models[0]).late.rows[0] > 0
    assert_same(*models, X[:200], C)
    kb.save(models[0], tmp_path / "model")
    assert_same(kb.load(tmp_path / "model"), models[1], X[:200], C)


def test_a_file_of_before_goes_on_with_a_constant(tmp_path, monkeypatch):
    """The regressions took 128 features at most then."""
    X, y = wide(2)
    model, X = kb.OnlineMKClassifier(kb.Linear(), LEARNERS[2][::2], random_state=0), X[:, :200]
    with monkeypatch.context() as before:
        before.setattr("kernbrook.engine.horizons.lines.MOST_FEATURES", 128)
        model.partial_fit(X[:700], y[:700])
    kb.save(model, tmp_path / "model")
    other = kb.load(tmp_path / "model")
    for one in (model, other):
        one.partial_fit(X[700:], y[700:])
        assert far_of(one).lap.all is False
    assert_same(model, other, X[:200], 2)


@pytest.mark.parametrize("C", [2, None])
def test_labels_that_are_not_there(C):
    """Rows without labels, or that weigh nothing, are rows; and nothing is judged by them."""
    X, y = stream(C)
    weights = np.where(np.arange(len(y)) % 3 == 1, 0.0, 2.0)
    found = []
    for some in (True, False):
        model = machine(C)
        labels = np.where(weights > 0, y, None) if some else y
        model.learn(X, labels, sample_weight=weights, **named(C))
        arrays = arrays_of(model).items()
        found.append({k: v for k, v in arrays if not k.endswith("progress.counters")})
    assert_equal_arrays(*found)
    assert found[0]["soon.rows"] > 0


@pytest.mark.parametrize("C", [2, None])
def test_models_that_are_merged(C):
    X, y = stream(C)
    one, other = learned(C, 800), learned(C, 400)
    rows = far_of(one).soon.rows[0] + far_of(other).soon.rows[0]
    one.merge(other)
    assert far_of(one).soon.rows[0] == rows
    assert all(np.isfinite(said).all() for said in all_said(one, X[:200], C))
    one.partial_fit(X[800:], y[800:])
    assert all(np.isfinite(said).all() for said in all_said(one, X[:200], C))


def test_models_of_older_files_that_are_merged():
    """Their far regressions were begun with less: what they know is averaged, not added up."""
    models = [learned(None, 800), learned(None, 400)]

    def matrix_of(model):
        return split(far_of(model).late.progress.state, far_of(model).late.committee.n_experts)[3]

    for model in models:
        known = np.linalg.inv(matrix_of(model))
        known[np.diag_indices_from(known)] -= np.where(np.diag(known) > 9000, 8000.0, 0.0)
        matrix_of(model)[:] = np.linalg.inv(known)
    models[0].merge(models[1])
    assert np.linalg.eigvalsh(matrix_of(models[0]))[0] > 0


def test_rows_of_hardly_judged_classes_have_the_line_in_the_place_of_votes(monkeypatch):
    """What the committee leans to is not taken there; the line is."""
    model, X = learned(3), stream(3)[0][:50]
    views, raw = model._seen(X)
    usual = decide(model._model, views, raw, np.full(50, 60)).leanings
    monkeypatch.setattr(Distant, "knows", lambda self, leading: np.zeros(len(leading), dtype=bool))
    now = decide(model._model, views, raw, np.full(50, 60)).leanings
    assert usual.shape == (50, 12)  # own leanings and votes, those of the committee and the line
    np.testing.assert_array_equal(now[:, 6:9], now[:, :3])
    assert not np.array_equal(usual[:, 6:9], now[:, 6:9])
    np.testing.assert_array_equal(usual[:, 9:], now[:, 9:])


def test_a_new_class_and_more_features_begin_anew():
    X, y = stream(2)
    model = learned(2)
    assert far_of(model).soon.rows[0] > 0
    model.partial_fit(X[:1], [7])
    assert far_of(model).soon.rows[0] == 0
    model.partial_fit(X, y)
    assert far_of(model).soon.rows[0] > 0
    other = kb.OnlineMKRegressor(KERNELS, [kb.GradientDescent(0.1, budget=9, features=None)])
    other.partial_fit(X, y)
    assert far_of(other).soon.rows[0] > 0
    other._widen(6)
    assert far_of(other).soon.rows[0] == 0


@pytest.mark.parametrize("C", [2, 3, None])
def test_delays(C):
    X, _ = stream(C)
    model, near = learned(C), learned(C, delay=0)
    model.delay = 0
    for one, other in zip(all_said(model, X[:300], C), all_said(near, X[:300], C), strict=True):
        np.testing.assert_array_equal(one, other)
    for delay, places in ((5, 6), (np.inf, 2**53)):
        model.delay = delay
        views, raw = model._seen(X[:300])
        expected = decide(model._model, views, raw, np.full(300, places)).decisions
        np.testing.assert_array_equal(model._decide(X[:300]).decisions, expected)
        order = np.arange(300)[::-1]
        np.testing.assert_array_equal(model.predict(X[:300])[order], model.predict(X[:300][order]))


def test_who_has_no_horizons():
    """One expert, and combiners that are named, as the papers have them; unless it is asked for."""
    X, y = stream(2)
    for model in (
        kb.OnlineMKClassifier(kb.Linear(), kb.BPAS(9)),
        kb.OnlineMKClassifier(KERNELS, kb.BPAS(9), kb.Hedge()),
        kb.recipes.make("omkc-dd"),
        kb.recipes.make("spa"),
    ):
        assert far_of(model.partial_fit(X[:9], y[:9], classes=[0, 1])) is None
    asked = kb.OnlineMKClassifier(KERNELS, kb.BPAS(9), kb.Hedge(), delay=48)
    asked.partial_fit(X, y)
    assert far_of(asked).soon.rows[0] > 0
    drawn = kb.OnlineMKClassifier(
        KERNELS, kb.BPAS(9), kb.Hedge(), kb.Selection(vote="drawn"), delay=9
    )
    with pytest.raises(InputError, match="delay: needs all experts in each vote"):
        drawn.fit(X, y)


def test_a_model_of_another_library():
    X, y = stream(None)
    model = kb.OnlineMKRegressor(
        kb.Linear(), [kb.External(SGDRegressor(random_state=0)), kb.LastLabel()]
    )
    model.partial_fit(X, y)
    assert far_of(model).soon.rows[0] > 0
    assert np.isfinite(model.predict(X[:200])).all()


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("soon.losses", lambda a: a * np.nan, "losses: NaN or infinity"),
        ("soon.progress.log_weights", lambda a: a + 1, "expected 0 as the greatest"),
        ("lines.scale", lambda a: a * np.inf, "NaN or infinity"),
        ("lap.X", lambda a: a * np.nan, "X: NaN or infinity"),
        ("lap.weights", lambda a: -a, "no weight below 0"),
        ("lap.labels", lambda a: a + 0.5, "labels: expected some that there are"),
        ("lap.labels", lambda a: a - 2.0, "labels: expected some that there are"),
    ],
)
def test_what_learning_cannot_lead_to(name, change, said):
    model = learned(2 if name == "lap.labels" else None, 700)
    arrays = arrays_of(model)
    with np.errstate(all="ignore"):
        arrays[name] = change(arrays[name])
    with pytest.raises(InputError, match=said):
        far_of(model).restore(model._model, arrays)


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("which", lambda a: a + 12, "which: expected rows of the lap"),
        ("which", lambda a: a[1:], "scores: expected float64 of shape"),
        ("sizes", lambda a: a[:, 1:], "sizes: expected float64 of shape"),
        ("chances", lambda a: a + 1.0, "chances: expected probabilities"),
    ],
)
def test_the_model_that_judges_the_first_rows_is_given_up(name, change, said):
    far = far_of(learned(2, 640 + 116))
    assert far.now is not None
    assert far.said == ()
    model = learned(2, 640 + 117)
    far, arrays = far_of(model), arrays_of(model)
    assert far.now is None
    assert len(far.said[0].which) == 17
    assert not any(name.startswith("now.") for name in arrays)
    far.restore(model._model, arrays)
    arrays[f"said.{name}"] = change(arrays[f"said.{name}"])
    with pytest.raises(InputError, match=said):
        far.restore(model._model, arrays)


@pytest.mark.parametrize("C", [2, 3])
def test_the_probabilities_judged_are_those_of_then(C, tmp_path):
    """The calibration has not seen the labels of the rows that it is judged by."""
    X, y = stream(C)
    model, near = learned(C, 640), learned(C, 640, delay=0)
    kb.save(model, tmp_path / "model")
    for one in (model, kb.load(tmp_path / "model")):
        learn(one, X[640:757], y[640:757], C, 13)
        (said,) = far_of(one).said
        leanings = decide(near._model, *near._seen(X[640 + said.which])).leanings
        np.testing.assert_array_equal(said.chances, near._model.certain().probabilities(leanings))


@pytest.mark.parametrize("C", [2, None])
def test_files_with_what_was_said_in_another_form_go_on(C, tmp_path, monkeypatch):
    """These rows are not judged; the file loads."""
    arrays_now = horizons.Horizons.arrays

    def older(self, model):
        arrays = arrays_now(self, model)
        arrays["said.leanings"] = arrays.pop("said.chances")
        return arrays

    with monkeypatch.context() as before:
        before.setattr(horizons.Horizons, "arrays", older)
        kb.save(learned(C, 640 + 117), tmp_path / "model")
    model = kb.load(tmp_path / "model")
    assert far_of(model).said == ()
    X, y = stream(C)
    learn(model, X[757:], y[757:], C)
    assert all(np.isfinite(said).all() for said in all_said(model, X[:200], C))


def test_a_file_of_before():
    """It has none of all this, which begins with the next lap."""
    model = learned(None, 300)
    far_of(model).restore(model._model, {})
    assert far_of(model).start == 256
    X, y = stream(None)
    model.partial_fit(X[300:], y[300:])
    assert far_of(model).soon.rows[0] > 0


def test_a_lap_that_an_interruption_left_open():
    """It is closed before the next row is noted."""
    X, y = stream(None, 300)
    whole, cut = machine(None), machine(None)
    for model in (whole, cut):
        model.partial_fit(X[:60], y[:60])
        for i in range(60, 127):
            model.learn_one(X[i], y[i])
    whole.learn_one(X[127], y[127])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(cut._model), "settle", interrupt)
        with pytest.raises(KeyboardInterrupt):
            cut.learn_one(X[127], y[127])
    assert cut.n_rounds_ == 128
    for model in (whole, cut):
        for i in range(128, 300):
            model.learn_one(X[i], y[i])
    assert_equal_arrays(whole.state(), cut.state())


def interrupt(*_, **__):
    raise KeyboardInterrupt
