"""Importance: the right columns, by their source, and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression

import kernbrook as kb
from kernbrook.errors import DataFileError, DataFileWarning, InputError, UnknownNameError
from kernbrook.evaluation import train
from kernbrook.explaining.asked import asked_of
from kernbrook.explaining.importance import _exchanged


def drawn(n=900, d=4, seed=0):
    """Rows, and a number that is 3 x_1 - 2 x_2."""
    X = np.random.default_rng(seed).normal(size=(n, d))
    return X, 3 * X[:, 1] - 2 * X[:, 2]


@pytest.fixture(scope="module")
def linear():
    """A quick model of numbers, which has learned the first 300 rows."""
    X, y = drawn()
    return kb.OnlineMKRegressor([kb.Linear()], kb.Ridge()).fit(X[:300], y[:300])


@pytest.fixture(scope="module")
def quick():
    """A quick model of classes: a linear one, which has learned the first 300 rows."""
    X, y = drawn()
    model = kb.OnlineMKClassifier([kb.Linear()], kb.BPAS(50))
    return model.fit(X[:300], np.where(y[:300] > 0, "up", "down"))


def flights(n=600, seed=0):
    """A table: levels, dates, gaps; the label hangs on the carrier and the wind."""
    rng = np.random.default_rng(seed)
    carrier = rng.choice(["UA", "AA", "DL", "B6"], n)
    wind = rng.gamma(2.0, 4.0, n).round(1)
    return pd.DataFrame({
        "day": pd.date_range("2024-01-01", periods=n, freq="h").strftime("%Y-%m-%d"),
        "noise": rng.normal(size=n).round(3), "carrier": carrier,
        "gust": np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n).round(2)), "wind": wind,
        "late": np.where(wind + 10 * (carrier == "B6") > 9, "late", "on time"),
    })  # fmt: skip


@pytest.fixture(scope="module")
def of_flights(tmp_path_factory):
    """A model's file that was trained on the first 400 flights."""
    path = tmp_path_factory.mktemp("models") / "flights.kb"
    encoder = kb.TableEncoder({"carrier": 4}, dates=["day"], missing="indicator")
    stream = kb.open_stream(flights()[:400], label="late", encoder=encoder)
    train(stream, kb.recipes.make("kernbrook-small", random_state=0), path)
    return path


# -- the right columns -----------------------------------------------------------------------------


def test_encoded_columns_go_back_to_their_source(of_flights):
    table = flights(1000, seed=5)
    found = kb.importance(of_flights, table, rows=400)
    assert set(found.columns) == {"day", "noise", "carrier", "gust", "wind"}
    assert found.columns[:2] == ("wind", "carrier")
    assert found.mean[1] > 5 * found.mean[2]
    assert found.measure == "log_loss"
    assert (found.n_rows, found.left_out, found.rows) == (1000, 0, 400)


# -- the definition --------------------------------------------------------------------------------


def test_it_is_what_scikit_learn_measures():
    X, y = drawn(200, seed=4)
    model = LinearRegression().fit(X, y + X[:, 0] ** 2)
    options = {"random_state": 0, "n_repeats": 200}
    theirs = permutation_importance(model, X, y, scoring="neg_mean_absolute_error", **options)
    ours = kb.importance(model, X, y, measure="mae", rows=None, repeats=200)
    means = np.array([m for _, m in sorted(zip(ours.columns, ours.mean, strict=True))])
    errors = np.hypot(ours.std.max(), theirs.importances_std.max()) / np.sqrt(200)
    assert np.abs(means - theirs.importances_mean).max() < 4 * errors


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("moved", [0, 1, 2])
def test_numbers_of_rows_stand_for_their_columns(moved, storage):
    """Of one column, which may be several of the rows; a column of no source stays."""
    X, group_of = np.arange(50.0).reshape(10, 5), np.array([0, 1, 1, -1, 2])
    numbers = np.tile(np.arange(10)[:, None], 3)
    numbers[:, moved] = numbers[::-1, moved]
    expected = X.copy()
    expected[:, group_of == moved] = X[::-1, group_of == moved]
    found = _exchanged(storage(X), group_of, numbers)
    np.testing.assert_array_equal(found.toarray() if sp.issparse(found) else found, expected)


def test_rows_without_a_label_do_not_count_against_one_label(tmp_path):
    """Of one label against the rest they are no rest."""
    rng = np.random.default_rng(0)
    a = rng.normal(size=120)
    frame = pd.DataFrame({"a": a, "y": np.where(a > 0, "hit", np.where(a > -1, "near", "far"))})
    frame.loc[::2, "y"] = None
    stream = kb.open_stream(frame, label="y", positive="hit")
    train(stream, kb.recipes.make("bpas", random_state=0), tmp_path / "m", positive="hit")
    found = kb.importance(tmp_path / "m", frame)
    assert (found.n_rows, found.left_out) == (60, 60)
    assert found.mean[0] > 0.1
    model = kb.OnlineMKRegressor([kb.Linear()], kb.Ridge(), missing_label=-1.0)
    found = kb.importance(model.fit(a[:, None], a), a[:, None], np.append([-1.0] * 5, a[5:]))
    assert (found.left_out, found.n_rows) == (5, 115)


def test_each_measure(quick, linear):
    X, y = drawn(seed=6)
    labels = np.where(y > 0, "up", "down")
    said = linear.set_params(delay=float("inf")).predict(X)
    linear.set_params(delay=None)
    everything = {"rows": None, "repeats": 2}
    found = kb.importance(linear, X, y, **everything)
    assert repr(found).startswith("<Importance by rmse: 1 ")
    assert found.base == pytest.approx(np.sqrt(np.mean((said - y) ** 2)))
    found = kb.importance(linear, X, y, measure="mae", **everything)
    assert found.base == pytest.approx(np.abs(said - y).mean())
    found = kb.importance(quick, X, labels, measure="error", **everything)
    assert found.base == pytest.approx(np.mean(quick.predict(X) != labels))
    voted = kb.VotedKernelClassifier(lam=0.1).fit(X[:60], labels[:60])
    assert kb.importance(voted, X, labels, **everything).measure == "error"
    with pytest.raises(InputError, match=r"^measure: VotedKernelClassifier has no probabilities"):
        kb.importance(voted, X, labels, measure="log_loss")
    with pytest.raises(InputError, match=r"predicts numbers, expected 'rmse' or 'mae', got 'erro"):
        kb.importance(linear, X, y, measure="error")
    with pytest.raises(InputError, match=r"^y: expected finite numbers, found infinity"):
        kb.importance(linear, X, np.append(y[1:], np.inf))


def test_all_rows_have_one_horizon():
    """What is said of a row hangs neither on its place nor on the rows beside it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 2))
    y = X[:, 0] + np.cumsum(0.1 * rng.normal(size=1500))
    pool = [kb.Linear(), kb.Gaussian(sigma=4.0)]
    model = kb.OnlineMKRegressor(pool, [kb.Ridge(), kb.LastLabel()]).fit(X, y)
    asked = asked_of(model)
    whole = asked.ask(model.predict, X[:300])
    parts = np.concatenate([asked.ask(model.predict, X[i : i + 6]) for i in range(0, 300, 6)])
    np.testing.assert_allclose(whole, parts, rtol=1e-9)
    assert np.abs(whole - model.predict(X[:300])).max() > 1e-3  # by their places


# -- what may be asked -----------------------------------------------------------------------------


def test_spread_is_of_rows_too(linear):
    """Each repeat draws its own rows."""
    X, y = drawn(seed=8)
    some, others = (kb.importance(linear, X, y, rows=50, random_state=s) for s in (0, 1))
    again = kb.importance(linear, X, y, rows=50, random_state=0)
    np.testing.assert_array_equal(some.values, again.values)
    assert not np.array_equal(some.values, others.values)
    assert some.base != others.base  # of other rows
    assert some.std[0] > kb.importance(linear, X, y, rows=600).std[0]


def test_sparse_rows():
    X, y = drawn(400, d=6)
    X[np.abs(X) < 0.7] = 0.0
    rows = sp.csr_matrix(X)
    model = kb.OnlineMKRegressor([kb.Linear()], kb.GradientDescent(), scaling=None)
    model.fit(rows[:200], y[:200])
    sparse = kb.importance(model, rows[200:], y[200:])
    dense = kb.importance(model, X[200:], y[200:])
    assert sparse.columns[:2] == (1, 2)
    np.testing.assert_allclose(sparse.mean, dense.mean, atol=1e-9)


def test_frames_and_records_go_by_names():
    X, y = drawn(500)
    names = ["a", "b", "c", "d"]
    frame = pd.DataFrame(X, columns=names)
    model = kb.OnlineMKRegressor([kb.Linear()], kb.Ridge()).fit(frame[:200], y[:200])
    rows = frame[200:]
    found = kb.importance(model, rows, y[200:])
    assert found.columns[:2] == ("b", "c")
    turned = rows[["d", "c", "b", "a"]]
    for given in (turned, pl.from_pandas(turned), turned.to_dict("records"), X[200:]):
        np.testing.assert_array_equal(kb.importance(model, given, y[200:]).values, found.values)
    whole = frame.assign(label=y)[200:]
    np.testing.assert_array_equal(kb.importance(model, whole).values, found.values)
    stream = kb.open_stream(turned.assign(label=y[200:]))
    np.testing.assert_array_equal(kb.importance(model, stream).values, found.values)


def test_models_around_models():
    X, y = drawn(500)
    frame = pd.DataFrame(X, columns=list("abcd"))
    named = kb.NamedColumns(kb.OnlineMKRegressor([kb.Linear()], kb.Ridge()), spare=2)
    named.partial_fit(frame[:200], y[:200])
    alone = kb.OnlineMKRegressor([kb.Linear()], kb.Ridge()).fit(X[:200], y[:200])
    ours = kb.importance(named, frame[200:], y[200:])
    theirs = kb.importance(alone, X[200:], y[200:])
    assert ours.columns[:2] == ("b", "c")
    assert len(ours.columns) == 4
    np.testing.assert_allclose(ours.mean, theirs.mean, rtol=1e-6)
    late = kb.LateLabels(alone)
    late.predict(X[200:210], range(10))
    np.testing.assert_array_equal(kb.importance(late, X[200:], y[200:]).mean, theirs.mean)
    assert len(late.waiting_) == 10


# -- what is refused -------------------------------------------------------------------------------

X, Y = drawn(40)
LABELS = np.where(Y > 0, "up", "down")


@pytest.mark.parametrize(
    ("rows", "labels", "options", "told"),
    [
        (X[:, :3], LABELS, {}, "X: expected 4 columns, found 3"),
        (np.where(X[3, 2] == X, np.nan, X), LABELS, {}, "X has nan at row 3, column 2"),
        (X, LABELS[:30], {}, "X has 40 rows but y has 30 labels"),
        (X, [None] * 40, {}, "y: there are no labels"),
        (X, ["up"] * 40, {}, "y: expected two classes or more to tell apart, found 'up' alone"),
        (X, ["UP"] * 40, {}, "y: expected labels of the model, 'down', 'up', found 'UP'"),
        (X, LABELS, {"repeats": 1}, "Importance: repeats must be an integer from 2"),
        (X, LABELS, {"measure": "auc"}, "Importance: measure must be None or one of log_loss"),
        ([{"a": 1.0}], ["up"], {}, "X: expected numbers in the order of the columns"),
        (np.zeros((0, 4)), [], {}, "X must have at least one row"),
        (3, [1], {}, "X: expected rows of numbers, got 3"),
    ],
)
def test_one_sentence(quick, rows, labels, options, told):
    with pytest.raises(InputError) as error:
        kb.importance(quick, rows, labels, **options)
    assert str(error.value).startswith(told)
    assert "\n" not in str(error.value)


def test_columns_that_are_left_out(tmp_path):
    """By a model's file, which knows its columns; a model alone does not."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    lines = [f"{a:.3f},{b:.3f},{'up' if a > 0 else 'down'}" for a, b in X]
    (tmp_path / "a.csv").write_text("\n".join(["a,b,label", *lines]))
    (tmp_path / "more.csv").write_text("\n".join(["c,a,b,label", *(f"1,{one}" for one in lines)]))
    stream = kb.open_stream(tmp_path / "a.csv")
    train(stream, kb.recipes.make("bpas"), tmp_path / "m")
    data = tmp_path / "more.csv"
    with pytest.raises(DataFileError, match="unknown 'c'; ignore_extra"):
        kb.importance(tmp_path / "m", data)
    with pytest.warns(DataFileWarning, match="left out 1 column: 'c'"):
        found = kb.importance(kb.load(tmp_path / "m"), data, ignore_extra=True)
    assert found.columns == ("a", "b")
    with pytest.raises(InputError, match="ignore_extra: expected the path of a model's file"):
        kb.importance(kb.load(tmp_path / "m").model, data, ignore_extra=True)


def test_columns_that_are_not_the_models(of_flights):
    table, late = flights(100).drop(columns="late"), flights(100)["late"]
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = kb.OnlineMKClassifier([kb.Linear()], kb.BPAS(50)).fit(frame, LABELS)
    for asked, rows, labels, told in (
        (of_flights, table.assign(brand=1), late, "unknown column 'brand': known: day, noise"),
        (of_flights, table.drop(columns="wind"), late, "X: expected a column 'wind', found none"),
        (of_flights, np.zeros((100, 5)), late, "X: expected a frame or records such as"),
        (model, frame.assign(b=np.nan), LABELS, "'b', row 0: expected a number, found a gap"),
        (model, frame.assign(b="x"), LABELS, "X: column 'b': .* go with kb.TableEncoder"),
        (model, frame[["a", "b", "c"]], LABELS, "X: expected a column 'd', found none"),
    ):
        with pytest.raises((InputError, UnknownNameError), match=told):
            kb.importance(asked, rows, labels)


def test_no_model():
    for given in (kb.OnlineMKClassifier, 3, kb.KernelFeatures()):
        with pytest.raises(InputError, match=r"^model: expected a fitted model with predict, got"):
            kb.importance(given, X, LABELS)
    with pytest.raises(ValueError, match=r"not fitted|nothing was learned"):
        kb.importance(kb.OnlineMKClassifier(), X, LABELS)
    with pytest.raises(ValueError, match=r"nothing was learned"):
        kb.importance(kb.NamedColumns(kb.OnlineMKClassifier()), X, LABELS)
    wide = LinearRegression().fit(np.zeros((2, 5000)), [0.0, 1.0])
    with pytest.raises(InputError, match=r"model: 5,000 columns are too many to look at one by"):
        kb.importance(wide, np.zeros((2, 5000)), [0.0, 1.0])
