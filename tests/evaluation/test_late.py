"""Labels that come late: who is told what, when, and what the record says of it."""

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier, SGDRegressor

import kernbrook as kb
from kernbrook.errors import InputError
from kernbrook.reports import comparison_table

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 3))
NUMBERS = X[:, 0] + np.cumsum(0.1 * rng.normal(size=300))
TWO = (NUMBERS > 0).astype(int)


class Told:
    """Remembers how many labels it knew when it predicted."""

    n_support_stored_ = n_support_active_ = labels_asked_ = 0
    kernel_weights_ = np.empty(0)
    kernels_ = ()

    def __init__(self):
        self.known, self.when = 0, []
        self.n_rounds_ = 0

    def __sklearn_tags__(self):
        return SGDRegressor().__sklearn_tags__()

    def predict(self, X):
        self.when += [self.known] * len(X)
        return np.zeros(len(X))

    def learn(self, X, y):
        self.known += len(y)
        return np.zeros(len(y)), np.ones(len(y), dtype=bool)


def test_no_label_comes_before_the_last_row():
    with pytest.raises(InputError, match="none of 300 labels came before the last row"):
        kb.prequential(Told(), X, NUMBERS, delay=7, every=1000)


@pytest.mark.parametrize(("delay", "every"), [(1, 1), (0, 5), (7, 48), (40, 5)])
def test_what_is_known_when(delay, every):
    """Row t is predicted by the labels of rows up to t - delay at the last batch before it."""
    told = Told()
    record = kb.prequential(told, X, NUMBERS, delay=delay, every=every)
    expected = [max(t - t % every - delay, 0) for t in range(300)]
    assert told.when == expected
    np.testing.assert_array_equal(record.places, np.arange(300) - expected + 1)


def test_the_same_as_a_loop():
    record = kb.prequential(kb.OnlineMKRegressor(random_state=0), X, NUMBERS, every=30)
    model, said = kb.OnlineMKRegressor(random_state=0), np.zeros(300)
    for at in range(0, 300, 30):
        rows = slice(at, at + 30)
        if at:
            said[rows] = model.predict(X[rows])
            low, high = model.predict_interval(X[rows]).T
            np.testing.assert_array_equal(record.intervals[rows], np.column_stack([low, high]))
        model.learn(X[rows], NUMBERS[rows])
    np.testing.assert_array_equal(record.predictions, said)
    assert record.error == pytest.approx(np.mean((said - NUMBERS) ** 2))


def test_rows_that_wait_are_places():
    """As `LateLabels` has it: the second call's rows stand behind those of the first."""
    model = kb.OnlineMKClassifier(random_state=0).partial_fit(X[:256], TWO[:256])
    whole = model.decision_function(X[256:296])
    late = kb.LateLabels(model)
    for at in range(256, 296, 10):
        late.predict(X[at : at + 10], keys=range(at, at + 10))
    said = late.learn_scored(range(256, 296), TWO[256:296])
    np.testing.assert_array_equal(said.scores[:, 0], whole)


def test_by_horizon():
    record = kb.prequential(kb.OnlineMKClassifier(random_state=0), X, TWO, every=20, delay=10)
    parts = record.by_horizon()
    assert [(part["first"], part["last"]) for part in parts] == [(1, 1), (2, 16), (17, 30)]
    assert sum(part["rows"] for part in parts) == 300
    for part in parts:
        own = (record.places >= part["first"]) & (record.places <= part["last"])
        assert part["error"] == record.mistakes[own].mean()
        chances = record.probabilities[own, TWO[own]]
        assert part["log_loss"] == pytest.approx(-np.log(chances).mean())
    numbers = kb.prequential(kb.OnlineMKRegressor(random_state=0), X, NUMBERS, every=20)
    for part in numbers.by_horizon():
        own = (numbers.places >= part["first"]) & (numbers.places <= part["last"])
        low, high = numbers.intervals[own].T
        assert part["coverage"] == ((low <= NUMBERS[own]) & (NUMBERS[own] <= high)).mean()
    with pytest.raises(InputError, match="each label came before the next row"):
        kb.prequential(kb.recipes.make("mean"), X, NUMBERS).by_horizon()


@pytest.mark.parametrize(
    "make", [lambda: SGDClassifier(loss="log_loss"), lambda: kb.recipes.make("majority")]
)
def test_models_of_others_and_rules(make):
    record = kb.prequential(make(), X, TWO, every=25)
    assert record.error < 0.6
    assert record.labels_asked == 300  # the last batch comes with the last row
    assert record.measures["log_loss"] > 0  # of the first batch, too


def test_a_comparison():
    result = kb.compare(
        (X, TWO), ["kernbrook-small", "majority"], permutations=2, jobs=1, every=50, delay=3
    )
    assert (result.manifest["every"], result.manifest["delay"]) == (50, 3)
    for cell in result.results().cells:
        assert [part["first"] for part in cell.facts["horizons"]] == [1, 2, 17]
    record = result.rows[0].runs[0]
    assert record.places is None
    assert len(record.by_horizon()) == 3
    headers = [column.header for column in comparison_table(result).columns]
    assert "labels asked" not in headers  # nobody asks, and some labels came too late


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"delay": -1}, "delay: expected an integer from 0, got -1"),
        ({"every": True}, "every: expected an integer from 1, got True"),
    ],
)
def test_what_is_no_delay(wrong, said):
    for run in (kb.prequential, kb.compare):
        with pytest.raises(InputError, match=said):
            run(kb.OnlineMKClassifier(), X, TWO, **wrong) if run is kb.prequential else run(
                (X, TWO), ["majority"], **wrong
            )
