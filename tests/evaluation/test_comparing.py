"""Several recipes over the same orders."""

import os
import sys

import hard_streams
import numpy as np
import pytest
from scipy import stats

import kernbrook as kb
from kernbrook.errors import DataFileError, InputError, NonFiniteError, UnknownNameError
from kernbrook.evaluation.comparing import compare, manifest
from kernbrook.evaluation.parallel import load_orders
from kernbrook.evaluation.ranks import best_rows
from kernbrook.evaluation.record import History, Record, Row
from kernbrook.streams.arrays import ArrayStream

pytestmark = pytest.mark.usefixtures("few_samples")
NAMES = ["omkc-dd", "omkc-ss", "perceptron-best", "majority"]


@pytest.fixture
def data():
    return ArrayStream(*hard_streams.gaussian_clouds(120), "clouds")


def errors_of(result):
    return {row.recipe: row.errors.tolist() for row in result.rows}


def predictions_of(result):
    return {
        (row.recipe, i): run.predictions.tolist()
        for row in result.rows
        for i, run in enumerate(row.runs)
    }


def test_processes_change_nothing(data):
    one = compare(data, NAMES, permutations=3, seed=5, jobs=1)
    two = compare(data, NAMES, permutations=3, seed=5, jobs=2)
    assert predictions_of(one) == predictions_of(two)
    for a, b in zip(one.rows, two.rows, strict=True):
        for name in ("n_support_stored", "n_support_active", "labels_asked"):
            np.testing.assert_array_equal(a.values(name), b.values(name))
    assert one.best == two.best
    assert one.manifest["data_sha256"] == two.manifest["data_sha256"]
    other = compare(data, NAMES, permutations=3, seed=6, jobs=1)
    assert predictions_of(other) != predictions_of(one)


def test_orders(data):
    """Each run is the prequential run of that order."""
    X, y = data.read()
    orders = np.array([np.random.default_rng(i).permutation(120) for i in range(3)])
    result = compare(data, ["omkc-dd", "perceptron-best"], orders=orders, jobs=1)
    assert result.permutations == 3
    for row in result.rows:
        for run, order in zip(row.runs, orders, strict=True):
            expected = kb.prequential(kb.recipes.make(row.recipe), X, y, order)
            np.testing.assert_array_equal(run.predictions, expected.predictions)
    fewer = compare(data, ["omkc-dd"], permutations=2, orders=orders, jobs=1)
    assert errors_of(fewer)["omkc-dd"] == errors_of(result)["omkc-dd"][:2]


def test_progress(data):
    for jobs in (1, 2):
        announced, done = [], []

        def begin(rounds, announced=announced, done=done):
            announced.append(rounds)
            return done.append

        compare(data, ["omkc-dd", "majority"], permutations=2, jobs=jobs, progress=begin)
        assert announced == [480]
        assert sum(done) == 480


@pytest.mark.parametrize(("jobs", "in_order"), [(1, False), (2, False), (2, True)])
def test_rows_are_shown_as_they_are_complete(data, jobs, in_order):
    parts = []
    options = {"in_order": True} if in_order else {"permutations": 3}
    result = compare(data, NAMES, **options, jobs=jobs, so_far=parts.append)
    assert [len(part.rows) for part in parts] == [1, 2, 3]
    for part in parts:
        named = [row.recipe for row in part.rows]
        assert named == [name for name in NAMES if name in named]
        whole = {row.recipe: row for row in result.rows}
        assert all(
            errors == whole[name].errors.tolist() for name, errors in errors_of(part).items()
        )
        assert part.best == ()
        assert (part.n_rows, part.permutations) == (result.n_rows, result.permutations)
    if in_order or jobs == 1:
        assert [row.recipe for row in parts[-1].rows] == NAMES[:3]


def row_of(recipe, errors, numbers=False):
    history = History(*(np.empty(0),) * 5, np.empty((0, 0)), ())
    mistakes, scale = (None, 1) if numbers else (np.empty(0, bool), 100)
    runs = tuple(
        Record(np.empty(0), mistakes, error / scale, 0, 0, 0, 0.0, history) for error in errors
    )
    return Row(recipe, recipe, runs)


def test_best_rows():
    """A two-sided paired t-test at 5 % against the least mean, as scipy has it."""
    rng = np.random.default_rng(0)
    for spread in (0.1, 1.0, 3.0):
        means = rng.uniform(10, 12, size=8)
        samples = {f"r{i}": rng.normal(mean, spread, 20) for i, mean in enumerate(means)}
        least = min(samples, key=lambda name: samples[name].mean())
        expected = {
            name
            for name, sample in samples.items()
            if name == least or stats.ttest_rel(sample, samples[least]).pvalue >= 0.05
        }
        rows = [row_of(name, sample) for name, sample in samples.items()]
        assert set(best_rows(rows)) == expected


def test_a_difference_in_each_order_is_told():
    """Orders that are hard for both hide it from a test of two independent samples."""
    hard = np.linspace(10, 20, 20)
    more = 0.1 + 0.01 * np.cos(np.arange(20))
    rows = [row_of("least", hard), row_of("other", hard + more), row_of("even", hard + 0.1)]
    assert best_rows(rows) == ("least",)
    assert best_rows(rows, paired=False) == ("least", "other", "even")
    assert best_rows([row_of("a", [10.0]), row_of("b", [11.0])]) == ("a",)
    assert best_rows([row_of("a", [10.0, 10]), row_of("b", [10.0, 10])]) == ("a", "b")
    assert best_rows([row_of("a", [10.0, 10]), row_of("b", [11.0, 11])]) == ("a",)


def test_best_rows_of_numbers():
    """The t-test is of the logarithms: a recipe that diverges now and then is told apart."""
    rng = np.random.default_rng(0)
    samples = {
        "least": np.exp(rng.normal(0, 0.1, 20)),
        "near": np.exp(rng.normal(0.01, 0.1, 20)),
        "far": np.exp(rng.normal(0.3, 0.1, 20)),
        "wild": np.exp(rng.normal(50, 20, 20)),
    }
    assert stats.ttest_ind(samples["wild"], samples["least"]).pvalue > 0.05
    rows = [row_of(name, sample, numbers=True) for name, sample in samples.items()]
    assert best_rows(rows) == ("least", "near")
    endless = row_of("endless", [np.inf, 1.0], numbers=True)
    perfect = row_of("perfect", [0.0, 0.0], numbers=True)
    assert best_rows([endless, row_of("a", [1.0, 2.0], True)]) == ("a",)
    assert best_rows([perfect, row_of("a", [1.0, 2.0], True)]) == ("perfect",)
    assert best_rows([row_of("huge", [1e200, 3e300], True)]) == ("huge",)


NUMBERS = ["kernbrook-active", "omkl", "mean", "last-value"]


@pytest.fixture
def waves():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(150, 3))
    return ArrayStream(X, np.sin(3 * X[:, 0]) + 0.1 * rng.standard_normal(150), "waves")


def test_numbers(waves):
    result = compare(waves, NUMBERS, permutations=2, seed=5, jobs=1)
    again = compare(waves, NUMBERS, permutations=2, seed=5, jobs=2)
    assert predictions_of(result) == predictions_of(again)
    assert result.task == "regression"
    assert result.best[0] == "kernbrook-active"
    _, y = waves.read()
    for i in range(2):
        order = np.random.default_rng([5, i]).permutation(150)
        for row in result.rows:
            run = row.runs[i]
            assert row.errors[i] == run.error
            assert run.error == pytest.approx(((run.predictions - y[order]) ** 2).mean())
    assert (result.rows[0].values("labels_asked") < 150).all()
    assert (result.rows[1].values("labels_asked") == 150).all()


def test_the_data_say_which_recipes_by_default(waves):
    X, y = waves.read()
    whole = compare(ArrayStream(X, np.rint(3 * y)), permutations=1, jobs=1)
    assert whole.task == "classification"
    named = compare(ArrayStream(X, np.rint(3 * y).astype(int)), ["mean"], permutations=1, jobs=1)
    assert named.task == "regression"


def test_recipes_for_another_task(waves, data):
    X, _ = waves.read()
    text, ones = (ArrayStream(X, y) for y in (np.where(X[:, 0] > 0, "yes", "no"), np.ones(150)))
    for stream, recipes, said in (
        (waves, ["spa"], r"of classes, found the number .*; recipes for regression: .*mean"),
        (text, ["mean"], r"as labels, found (yes|no); recipes for classification: kernbrook-"),
        (waves, ["mean", "spa"], "got for regression mean and for classification spa"),
        (ones, ["majority"], r"labels of two classes or more, found 1\.0$"),
    ):
        for in_order in (False, True):
            with pytest.raises(InputError, match=said):
                compare(stream, recipes, in_order=in_order)


class Unread(ArrayStream):
    """Data that nobody may look at."""

    def _pieces(self):
        pytest.fail("read")


@pytest.mark.parametrize(
    ("recipes", "overrides", "message"),
    [
        (["spa", "bpas"], {"discount": "much"}, "discount must be a number in"),
        (["spa", "mean"], {}, "for classification spa and for regression mean"),
        (["spa", "raker", "spam"], {}, "unknown recipe 'spam'"),
        (["spa", "vkr-trace"], {}, "vkr-trace learns from all data at once, not from a stream; in"),
    ],
)
def test_what_is_wrong_is_found_before_the_data_are_read(recipes, overrides, message):
    with pytest.raises((InputError, UnknownNameError), match=message):
        compare(Unread(*hard_streams.gaussian_clouds(9)), recipes, **overrides)


def test_a_recipe_that_diverges_is_left_out(waves):
    """Of several the others are shown; where none is left, the error says why."""
    X, y = waves.read()
    huge = ArrayStream(X * 1e120, y)
    for jobs in (1, 2):
        result = compare(huge, ["kl-poly", "mean"], permutations=2, jobs=jobs)
        assert [row.recipe for row in result.rows] == ["mean"]
        assert list(result.left_out) == ["kl-poly"]
        assert "(x.z)^2" in result.left_out["kl-poly"]
    for in_order in (False, True):
        with pytest.raises(NonFiniteError, match=r"kl-poly: .*\(x\.z\)\^2"):
            compare(huge, ["kl-poly"], permutations=1, in_order=in_order, jobs=1)


def test_load_orders(tmp_path):
    path = tmp_path / "orders.npz"
    orders = np.array([[1, 0, 2], [2, 1, 0]], dtype=np.int32)
    np.savez(path, clouds=orders, real=orders + 0.5, flat=orders[0])
    np.testing.assert_array_equal(load_orders(path, "clouds"), orders)
    (tmp_path / "text").write_text("1 0 2\n")
    (tmp_path / "torn").write_bytes(path.read_bytes()[:-40])
    os.mkfifo(tmp_path / "pipe")  # which would be waited for
    np.savez(tmp_path / "pickled.npz", clouds=np.array([{}], dtype=object))
    for wrong, name, message in (
        ("orders.npz", "sonar", "no orders named 'sonar'; it has clouds, real, flat"),
        ("orders.npz", "real", "real: expected a .* integer array, got .* float64"),
        ("text", "clouds", "text: expected an .npz file"),
        ("torn", "clouds", "torn: "),
        ("pickled.npz", "clouds", "pickled.npz: "),
        ("none.npz", "clouds", "none.npz: no such file"),
        ("pipe", "clouds", "it is not an ordinary file"),
    ):
        with pytest.raises(DataFileError, match=message):
            load_orders(tmp_path / wrong, name)


BAD = [
    ({"recipes": []}, "recipes: expected one or more names"),
    ({"permutations": 0}, "permutations: expected an integer from 1, got 0"),
    ({"orders": np.zeros((1, 120), int)}, "expected permutations of 0..119"),
    ({"orders": np.arange(5)}, r"expected permutations of 0..119, one a row, got shape \(1, 5\)"),
    ({"orders": np.arange(120)[None], "permutations": 2}, "2 permutations wanted, only 1 given"),
    ({"in_order": True, "permutations": 3}, "in_order"),
    ({"jobs": 0}, "^jobs: expected an integer from 1, got 0$"),
    ({"jobs": "here"}, "^scheduler: expected .*tcp://HOST"),
    ({"seed": -1}, "^seed: expected an integer from 0, got -1$"),
    ({"permutations": "3"}, "^permutations: expected an integer from 1, got '3'$"),
    ({"orders": "sorted"}, "^orders: expected permutations of 0..119"),
]


@pytest.mark.parametrize(
    ("arguments", "message"), BAD, ids=lambda part: part if isinstance(part, str) else ""
)
def test_bad_input(data, arguments, message):
    with pytest.raises((InputError, UnknownNameError), match=message):
        compare(data, **{"jobs": 1, "recipes": ["majority"]} | arguments)


@pytest.mark.parametrize(
    ("program", "shown"),
    [("/bin/kernbrook", "kernbrook"), ("/lib/kernbrook/__main__.py", "python -m kernbrook")],
)
def test_the_command_as_it_can_be_typed(monkeypatch, program, shown):
    monkeypatch.setattr(sys, "argv", [program, "compare", "wdbc"])
    assert manifest(0)["command"] == f"{shown} compare wdbc"
