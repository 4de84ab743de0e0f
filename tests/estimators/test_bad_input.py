"""What is refused, in which words, and what stays usable afterwards."""

import copy

import hard_streams
import numpy as np
import plain
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import kernbrook as kb
from kernbrook.errors import InputError, NonFiniteError, UnknownNameError

X, Y = hard_streams.gaussian_clouds(60, 3)


def make(**parameters):
    return plain.classifier(**parameters)


def spoiled(value):
    bad = X.copy()
    bad[7, 1] = value
    return bad


def test_the_row_is_named():
    with pytest.raises(NonFiniteError, match=r"row 7 of the chunk"):
        make().learn(spoiled(np.nan), Y)
    with pytest.raises(NonFiniteError, match=r"row 7 of the chunk"):
        make().learn(spoiled(1e200), Y)


SHAPES = [
    (lambda m: m.learn(X[:, :2], Y), "X has 2 features, but OnlineMKClassifier is expecting 3"),
    (lambda m: m.learn(X, Y[:-1]), "X has 60 rows but y has 59 labels"),
    (lambda m: m.learn(X[0], Y[:1]), r"expected an array of shape \(n, d\), got 1 dimension"),
    (lambda m: m.learn(X, Y, sample_weight=np.ones(3)), r"\(3,\), expected \(60,\)"),
    (lambda m: m.learn(X, Y, sample_weight=-np.ones(60)), r"[Nn]egative"),
    (lambda m: m.learn(X, Y, sample_weight=np.full(60, np.nan)), "NaN"),
    (lambda m: m.learn(X, np.full(60, 5.0), classes=np.unique(Y)), "label 5.0 .row 0 of the chunk"),
    (lambda m: m.learn(X, np.r_[Y[:9], 3, Y[10:]], classes=np.unique(Y)), r"label 3.0 \(row 9 of"),
    (lambda m: m.learn(X, Y, classes=[0, 1]), r"is not the same as on last call"),
    (lambda m: m.learn(X, np.column_stack([Y, Y])), r"\(60, 2\)"),
    (
        lambda m: m.learn(X, np.array([1, "spam"] * 30, dtype=object)),
        r"label 'spam' \(row 1 of the",
    ),
    (lambda m: m.learn(X, lambda row: [0]), r"oracle: expected one label, or None, got \[0\]"),
    (lambda m: m.learn(X, lambda row: {"label": 1}), r"oracle: .* got \{'label': 1\}"),
    (lambda m: m.learn(X, Y, sample_weight=1e308), "or from 1e100 are not allowed, got 1e"),
    (lambda m: m.learn(X[:0], Y), "X has 0 rows but y has 60 labels"),
]


@pytest.mark.parametrize(
    ("wrong", "message"), SHAPES, ids=lambda part: part if isinstance(part, str) else ""
)
def test_data_that_does_not_fit(wrong, message):
    """Refused in words, and the model is as it was."""
    model = make(random_state=0).fit(X, Y)
    twin = copy.deepcopy(model)
    with pytest.raises(ValueError, match=message):
        wrong(model)
    assert model.labels_asked_ == 60
    np.testing.assert_array_equal(model.learn(X, Y)[0], twin.learn(X, Y)[0])
    np.testing.assert_array_equal(model.dual_coef_, twin.dual_coef_)
    np.testing.assert_array_equal(model.kernel_weights_, twin.kernel_weights_)


CLASSES = [
    (lambda: make().fit(X, np.ones(60)), "expected two classes or more, found one class, 1"),
    (lambda: make().learn(X, np.arange(60) % 4, classes=[0, 1, 2]), r"label 3 \(row 3 of the"),
    (lambda: make().learn(X, Y, classes=[-2, 0, 1]), r"label -1.0 .* classes -2, 0, 1$"),
    (lambda: make().fit(X, X[:, 0]), "Unknown label type: continuous"),
    (lambda: make().fit(X, X[:, 0]), r"y: expected classes, found -?\d.* OnlineMKRegressor\(\)"),
    (lambda: make().learn(X, Y, classes=["0", "1"]), r"label -1.0 .* the classes '0', '1'$"),
    (lambda: make().fit(X, np.array([1, "a"] * 30, dtype=object)), "found int and str"),
    (lambda: make().learn(X, ["a", 1] * 30), "one kind, numbers or text, found int and str"),
    (lambda: make().learn(X, Y, classes=["a", 1]), "classes: expected labels of one kind"),
    (lambda: make().learn(X, Y, classes=[1, -1, None]), "classes: None and NaN are none"),
    (lambda: make().learn(X.astype(complex), Y), "[Cc]omplex"),
]


@pytest.mark.parametrize(
    ("wrong", "message"), CLASSES, ids=lambda part: part if isinstance(part, str) else ""
)
def test_first_data_that_does_not_fit(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()


def test_row_numbers_are_not_scaled():
    rows = np.arange(4.0)[:, None]
    model = make(kernels=kb.Precomputed(np.eye(4)), scaling="maximum")
    with pytest.raises(InputError, match=r"scaling: is for vectors, but the kernel .* row numbers"):
        model.learn(rows, [0, 1, 0, 1])


def test_unknown_names():
    with pytest.raises(UnknownNameError, match=r"unknown kernel dictionary 'omkc17'.*omkc16"):
        make(kernels="omkc17").fit(X, Y)
    with pytest.raises(UnknownNameError, match=r"unknown recipe 'omkc-d'.*omkc-d"):
        kb.recipes.make("omkc-d")
    with pytest.raises(InputError, match="recipe omkc-dd: no parameter 'budget'; it has"):
        kb.recipes.make("omkc-dd", budget=3)
    with pytest.raises(InputError, match="mode: expected one of table, library, got 'fast'"):
        kb.recipes.make("omkc-dd", mode="fast")
    with pytest.raises(InputError, match="perceptron: kernels must be one kernel, got 16"):
        kb.recipes.make("perceptron", kernels="omkc16")


@pytest.mark.parametrize(("storage", "factor"), [(np.asarray, 1e20), (sp.csr_matrix, 1e40)])
def test_a_kernel_that_overflows(storage, factor):
    """The kernel is named, and the model is what it was before the block.

    At 1e40 it overflows between the block and the stored points, at 1e20 within the block only.
    """
    pool = [kb.Linear(), kb.Gaussian(sigma=1), kb.Polynomial(10)]
    model = make(kernels=pool, random_state=0).fit(storage(X), Y)
    twin = copy.deepcopy(model)
    before = model.decision_function(X)
    huge = X.copy()
    huge[20:] *= factor
    with pytest.raises(NonFiniteError, match=r"kernel \(x\.z\)\^10"):
        model.learn(storage(huge), Y)
    np.testing.assert_array_equal(model.decision_function(X), before)
    for name in ("kernel_weights_", "expert_mistakes_", "labels_asked_", "n_support_active_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(twin, name), err_msg=name)
    np.testing.assert_array_equal(model.learn(X, Y)[0], twin.learn(X, Y)[0])
    np.testing.assert_array_equal(model.dual_coef_, twin.dual_coef_)
    with pytest.raises(NonFiniteError, match=r"kernel \(x\.z\)\^10"):
        model.predict(X * 1e40)


def test_values_that_are_large_but_fit():
    """1e45 squared is finite: nothing overflows, nothing warns."""
    pool = [kb.Linear(), kb.Polynomial(3), kb.Gaussian(sigma=1e45), kb.Cauchy(sigma=1e45)]
    model = make(kernels=pool).fit(X * 1e45, Y)
    assert np.isfinite(model.decision_function(X * 1e45)).all()
    tiny = make().fit(X * 1e-160, Y)  # squares underflow
    assert np.isfinite(tiny.decision_function(X * 1e-160)).all()


def test_scores_whose_squares_overflow():
    """Of numbers, where errors are squared; the model is what it was before."""
    learner = kb.GradientDescent(0.1, features=None)
    model = kb.OnlineMKRegressor([kb.Polynomial(3)], learner, scaling=None).fit(X, X[:, 0])
    before = model.predict(X)
    huge = X * 1e55  # the cube of a product of it and an ordinary row is 1e165
    for learn in (lambda: model.learn_one(huge[0], 1.0), lambda: model.partial_fit(huge, X[:, 0])):
        with pytest.raises(NonFiniteError, match=r"kernel \(x\.z\)\^3"):
            learn()
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize(
    ("x", "y", "weight", "said"),
    [
        (["a", "b", "c", "d"], 1, None, "x: expected numbers, one a feature, found"),
        ([1, [2], 3, 4], 1, None, "x: expected numbers, one a feature, found"),
        (X[0], {"a": 1}, None, "y: expected numbers or text, found what cannot be a label"),
        (X[0], 1, "much", "sample_weight: expected numbers, found 'much'"),
        (X[0], 1, -1.0, "sample_weight: negative values"),
        (X[0], 1, 5e-324, "sample_weight: .* sizes below 1e-100 .*, got 4.94066e-324"),
        (X[0], 1, [1.0, 2.0], "sample_weight: got an array of shape"),
    ],
)
def test_one_row_that_makes_no_sense(x, y, weight, said):
    model = make(random_state=0).fit(X, Y)
    before = model.decision_function(X)
    with pytest.raises(InputError, match=said):
        model.learn_one(x, y, sample_weight=weight)
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_choose_kernel_is_for_best_of_prefix_before_the_first_example():
    with pytest.raises(InputError, match=r"needs selection=BestOfPrefix\(\), got None"):
        make().choose_kernel(X, Y)
    model = make(selection=kb.BestOfPrefix()).fit(X, Y)
    with pytest.raises(InputError, match="already learned"):
        model.choose_kernel(X, Y)


GREAT = 10**400  # no float holds it
GREAT_ROWS = np.full((60, 2), GREAT, dtype=object)
NUMBERS = kb.OnlineMKRegressor([kb.Gaussian(sigma=1)], kb.Ridge(), random_state=0)
TOO_LARGE = {
    "learn": lambda: make().learn(GREAT_ROWS, Y),
    "learn_one": lambda: make().fit(X, Y).learn_one([GREAT, 0, 0], 1),
    "sample_weight": lambda: make().fit(X, Y, sample_weight=[GREAT] * 60),
    "class_weight": lambda: make(class_weight=dict.fromkeys(set(Y), GREAT)).fit(X, Y),
    "y": lambda: clone(NUMBERS).fit(X, [GREAT] * 60),
    "y of one": lambda: clone(NUMBERS).fit(X, X[:, 0]).learn_one(X[0], GREAT),
    "missing_label": lambda: clone(NUMBERS).set_params(missing_label=GREAT).fit(X, X[:, 0]),
}


@pytest.mark.parametrize("call", TOO_LARGE)
def test_numbers_that_no_float_holds(call):
    with pytest.raises(InputError, match=r"float|expected"):
        TOO_LARGE[call]()
