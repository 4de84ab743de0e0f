"""Contributions: they sum to the score, are exact where they say so, and go back to columns."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from naive.explaining import shapley_values
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeRegressor

import kernbrook as kb
from kernbrook.errors import InputError, UnknownNameError
from kernbrook.evaluation import train
from kernbrook.explaining.asked import asked_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 4))
NUMBERS = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2])
LABELS = np.where(NUMBERS > 0.2, "yes", "no")
THREE = np.digitize(NUMBERS, [-0.5, 0.5])


def learned(model, y=NUMBERS, rows=300):
    return model.fit(X[:rows], y[:rows])


def far(model, X, verb="predict"):
    """What a model says of rows far from its last label, one by one."""
    asked = asked_of(model)
    return np.array([asked.ask(getattr(model, verb), X[i : i + 1])[0] for i in range(len(X))])


# -- they sum to the score -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (kb.OnlineMKClassifier(random_state=0), LABELS),
        (kb.OnlineMKClassifier(random_state=0), THREE),
        (kb.OnlineMKRegressor(random_state=0), NUMBERS),
        (kb.OnlineMKClassifier([kb.Linear()], kb.Perceptron(), kb.Hedge()), LABELS),
        (kb.VotedKernelClassifier([kb.Gaussian(sigma=1.0)], lam=0.01), LABELS),
    ],
    ids=lambda value: getattr(type(value), "__name__", ""),
)
def test_base_and_contributions_sum_to_the_score(model, y):
    model = learned(model, y, 200)
    for row in X[200:203]:
        found = kb.explain(model, row, orders=40)
        assert found.base + found.contributions.sum() == pytest.approx(found.score, abs=1e-9)
        assert len(found.contributions) == len(found.columns) == len(found.values) == 4
        if found.what == "probability":
            place = model.classes_.tolist().index(found.of_class)
            assert found.score == far(model, row[None], "predict_proba")[0, place]
            assert found.of_class == far(model, row[None])[0]
        elif found.what == "prediction":
            assert found.score == far(model, row[None])[0]
    assert found.values == tuple(X[202])


# -- exact, or with an error -----------------------------------------------------------------------


def test_a_linear_score_is_exact():
    """Of a linear function: its coefficient times how far the row is from the mean."""
    machine = kb.OnlineMKClassifier([kb.Linear()], kb.Perceptron(), kb.Uniform(), scaling=None)
    model, others = learned(machine, LABELS), X[300:340]
    found = kb.explain(model, X[0], score="decision", of_class="yes", background=others)
    expected = model.decision_function(np.eye(4)) * (X[0] - others.mean(axis=0))
    np.testing.assert_allclose(found.contributions, expected, rtol=1e-9)
    assert found.exact.all()
    assert found.base == pytest.approx(model.decision_function(others).mean())
    turned = kb.explain(model, X[0], score="decision", of_class="no", background=others)
    np.testing.assert_allclose(turned.contributions, -found.contributions, rtol=1e-9)


@pytest.mark.parametrize(
    "model",
    [
        kb.OnlineMKRegressor([kb.Linear()], kb.GradientDescent()),
        kb.OnlineMKRegressor(
            kb.Gaussian(sigma=1.0), kb.GradientDescent(features=kb.RandomFeatures(40, inputs=1))
        ),
        kb.OnlineMKRegressor(learner=kb.Cells(kb.HashedInputs())),
        kb.OnlineMKRegressor([kb.Polynomial(2, 1.0)], kb.GradientDescent(), kb.Uniform()),
        LinearRegression(),
    ],
    ids=["linear", "waves of one", "linear cells", "pairs", "scikit-learn"],
)
def test_sums_over_columns_and_over_pairs_are_exact(model):
    model = learned(model)
    others, row = X[300:312], X[350] / 4  # nothing is cut at the greatest label so far
    found = kb.explain(model, row, background=others, orders=48)
    twin, base = shapley_values(lambda x: far(model, x[None])[0], row, others, range(4))
    np.testing.assert_allclose(found.contributions, twin, rtol=1e-8, atol=1e-10)
    assert found.base == pytest.approx(base)
    assert found.exact.all()
    assert found.errors.max() < 1e-9


def first_three(rows):
    return rows[:, :3]


def test_a_column_is_exact_where_only_sums_look_at_it():
    """A committee of a linear expert, and of a tree that sees three columns."""
    tree = make_pipeline(FunctionTransformer(first_three), DecisionTreeRegressor(random_state=0))
    pool = [kb.Group(kb.GradientDescent(), kb.Linear()), kb.External(tree, every=50, window=200)]
    model = kb.OnlineMKRegressor(learner=pool, combiner=kb.Uniform(), scaling=None)
    found = kb.explain(learned(model), X[320], background=X[300:310])
    assert found.exact.tolist() == [False, False, False, True]
    assert found.contributions[3] != 0.0
    assert (found.errors[:3] > 1e-6).all()


def test_errors_are_those_that_there_are():
    machine = kb.OnlineMKRegressor([kb.Gaussian(sigma=0.7)], kb.GradientDescent(), random_state=0)
    model, others, row = learned(machine), X[300:308], X[350]
    twin, _ = shapley_values(lambda x: far(model, x[None])[0], row, others, range(4))
    asked = {"background": others, "orders": 64}
    found = [kb.explain(model, row, **asked, random_state=seed) for seed in range(30)]
    again = kb.explain(model, row, **asked, random_state=1)
    np.testing.assert_array_equal(again.contributions, found[1].contributions)
    assert not np.array_equal(again.contributions, found[0].contributions)
    off = np.array([(one.contributions - twin) / one.errors for one in found])
    assert 0.6 < np.sqrt(np.mean(off**2)) < 1.5
    more = kb.explain(model, row, background=others, orders=6400)
    assert more.errors.max() < 0.2 * found[0].errors.max()
    assert np.abs(more.contributions - twin).max() < 4 * more.errors.max()


def test_a_column_where_nothing_differs_adds_nothing():
    model = learned(kb.OnlineMKRegressor([kb.Gaussian(sigma=0.7)], kb.GradientDescent()))
    others, row = X[300:308].copy(), X[350]
    others[:, 2] = row[2]
    found = kb.explain(model, row, background=others)
    assert (found.contributions[2], found.errors[2], found.exact[2]) == (0.0, 0.0, True)
    same = kb.explain(model, row, background=row)
    assert not same.contributions.any()
    assert same.base == same.score


# -- by source column ------------------------------------------------------------------------------


def table(n=400):
    rng = np.random.default_rng(1)
    carrier = rng.choice(["UA", "AA", "B6"], n)
    wind = rng.gamma(2.0, 4.0, n).round(1)
    late = wind + 8 * (carrier == "B6") > 9
    gust = np.where(rng.random(n) < 0.3, np.nan, 1.0)
    rows = {"carrier": carrier, "gust": gust, "wind": wind, "late": late}
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "late.kb"
    encoder = kb.TableEncoder({"carrier": 5}, missing="indicator")
    stream = kb.open_stream(table(), label="late", encoder=encoder)
    train(stream, kb.recipes.make("kernbrook-small", random_state=0), path)
    return path


def test_encoded_columns_go_back_to_their_source(trained):
    row = {"carrier": "B6", "gust": None, "wind": 3.5}
    found = kb.explain(trained, row)
    assert found.columns == ("carrier", "gust", "wind")
    assert found.values == ("B6", None, 3.5)
    assert re.fullmatch(r"100 of \d+ support vectors, scaled back as .*", found.background)
    assert found.of_class is True
    adds = dict(zip(found.columns, found.contributions, strict=True))
    assert adds["carrier"] > 0.2
    assert abs(adds["gust"]) < 0.1
    whole = pd.DataFrame([row | {"late": True}])  # as in the table that was learned
    for given in (pl.DataFrame([row]), [row], whole, whole.iloc[0]):
        again = kb.explain(trained, given)
        np.testing.assert_array_equal(again.contributions, found.contributions)
        assert again.values[0] == "B6"


def test_groups_of_columns_go_together(trained):
    model = kb.load(trained).model
    encoder = kb.TableEncoder({"carrier": 5}, missing="indicator").fit(table().drop(columns="late"))
    rows = encoder.transform(table()[:8].drop(columns="late"))
    groups = [encoder.columns_.index(name) for name in encoder.sources()]
    assert encoder.sources() == ["carrier"] * 5 + ["gust", "wind", "carrier", "gust", "wind"]
    asked = asked_of(model, encoder)
    twin, _ = shapley_values(
        lambda x: asked.ask(model.predict_proba, x[None])[0, 1], rows[0], rows[1:], groups
    )
    first = table().drop(columns="late")
    found = kb.explain(trained, first[:1], background=first[1:8], of_class="True", orders=4000)
    np.testing.assert_allclose(found.contributions, twin, atol=5 * found.errors.max() + 1e-3)


def test_named_columns_and_late_labels():
    frame = pd.DataFrame(X[:300], columns=list("abcd"))
    named = kb.NamedColumns(kb.OnlineMKRegressor([kb.Linear()], kb.GradientDescent()), spare=1)
    late = kb.LateLabels(named.partial_fit(frame, NUMBERS[:300]))
    found = kb.explain(late, {"d": 1.0, "a": 2.0}, background=frame[:20])
    assert found.columns == ("a", "b", "c", "d")
    assert found.values == (2.0, None, None, 1.0)
    assert found.base + found.contributions.sum() == pytest.approx(found.score, abs=1e-9)
    with pytest.raises(UnknownNameError, match="unknown column 'e'"):
        kb.explain(late, {"e": 1.0}, background=frame[:20])


# -- what it is compared with ----------------------------------------------------------------------


def test_the_rows_that_a_model_keeps():
    ranks = learned(kb.OnlineMKRegressor([kb.Linear()], kb.Ridge(), scaling="ranks"))
    found = kb.explain(ranks, X[350])
    assert found.background == "100 of the last 300 rows learned"
    which = np.linspace(0, 299, 100).round().astype(int)
    given = kb.explain(ranks, X[350], background=X[which])
    assert given.background == "the background that was given"
    np.testing.assert_array_equal(given.contributions, found.contributions)

    plain = learned(kb.OnlineMKClassifier([kb.Linear()], kb.BPAS(20), scaling=None), LABELS)
    found = kb.explain(plain, X[350])
    assert found.background == "20 support vectors"
    given = kb.explain(plain, X[350], background=plain.support_vectors_)
    np.testing.assert_array_equal(given.contributions, found.contributions)

    without = learned(kb.OnlineMKRegressor([kb.Linear()], kb.Ridge(), scaling="moments"))
    found = kb.explain(without, X[350])
    assert found.background == "the mean of all rows learned"
    assert found.base == pytest.approx(far(without, X[:300].mean(axis=0)[None])[0])

    voted = learned(kb.VotedKernelClassifier([kb.Gaussian(sigma=1.0)], lam=0.01), LABELS, 80)
    assert kb.explain(voted, X[350]).background.endswith("support vectors")
    for model in (LinearRegression(), kb.recipes.make("mean")):
        with pytest.raises(InputError, match=r"^background: .* keeps none of its rows; give some"):
            kb.explain(learned(model), X[350])


def test_the_class_that_is_asked_for():
    model = learned(kb.OnlineMKClassifier([kb.Linear()], kb.BPAS(20)), THREE)
    each = [kb.explain(model, X[350], of_class=c) for c in range(3)]
    assert sum(one.score for one in each) == pytest.approx(1.0)
    own = kb.explain(model, X[350])
    assert own.score == max(one.score for one in each)
    assert repr(own).startswith(f"<Explanation of the probability of {own.of_class}: 0.")
    votes = kb.explain(model, X[350], of_class=2, score="decision")
    assert votes.score == pytest.approx(far(model, X[350:351], "decision_function")[0, 2])


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "options", "told"),
    [
        (X[0, :3], {}, "row: expected 4 columns, found 3"),
        (X[:2], {}, "row: expected one row, got 2"),
        ([[0.0, 1.0], [2.0]], {}, "row: expected rows of one length"),
        ([1.0, np.nan, 0.0, 0.0], {}, "row has nan at row 0, column 1"),
        (X[0], {"background": X[:3, :2]}, "background: expected 4 columns, found 2"),
        (X[0], {"of_class": "maybe"}, "of_class: expected one of 'no', 'yes', got 'maybe'"),
        (X[0], {"score": "prediction"}, "score: expected 'probability' or 'decision' of Online"),
        (X[0], {"orders": 3}, "Explanation: orders must be None or an integer from 4"),
    ],
)
def test_one_sentence(row, options, told):
    model = learned(kb.OnlineMKClassifier([kb.Linear()], kb.BPAS(20)), LABELS)
    with pytest.raises(InputError) as error:
        kb.explain(model, row, **options)
    assert str(error.value).startswith(told)
    assert "\n" not in str(error.value)


def test_what_a_model_does_not_have(trained):
    numbers = learned(kb.OnlineMKRegressor([kb.Linear()], kb.Ridge()))
    for options in ({"of_class": 1}, {"score": "decision"}):
        with pytest.raises(InputError, match=r"of_class: OnlineMKRegressor predicts numbers"):
            kb.explain(numbers, X[0], **options)
    trivial = learned(kb.recipes.make("last-label"), LABELS)
    with pytest.raises(InputError, match=r"^model: .* has neither probabilities nor dec"):
        kb.explain(trivial, X[0], background=X[:3])
    with pytest.raises(UnknownNameError, match=r"unknown column 'carier': did you mean carrier"):
        kb.explain(trained, {"carier": "UA", "gust": 1.0, "wind": 2.0})
    words = kb.VotedKernelClassifier([kb.Callable(lambda a, b: np.ones((len(a), len(b))))])
    words.fit(["a", "b", "c"], [0, 1, 0])
    with pytest.raises(InputError, match=r"does not say how many columns its rows have"):
        kb.explain(words, "a")
