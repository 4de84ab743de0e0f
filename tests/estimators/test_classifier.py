"""What the classifier keeps, tells and promises."""

import hard_streams
import numpy as np
import plain
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernbrook as kb


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    n=st.integers(1, 150),
    tie=st.sampled_from(["margin", "label"]),
    discount=st.sampled_from([0.05, 0.5, 0.8, 0.99]),
    noise=st.floats(0, 1),
)
def test_theorem_1(seed, n, tie, discount, noise):
    """M <= 2 ln(1/beta)/(1-beta) min_i M_i + 2 ln m/(1-beta), on any stream; (D,D)."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(n, 3)).astype(float)
    y = np.where(X[:, 0] > X[:, 1], 1, -1) * np.where(rng.random(n) < noise, -1, 1)
    model = plain.classifier("omkc16", kb.Perceptron(tie), kb.Hedge(discount))
    predictions, _ = model.learn(X, y, classes=[-1, 1])
    least, m = model.expert_mistakes_.min(), len(model.kernels_)
    bound = 2 * np.log(1 / discount) / (1 - discount) * least + 2 * np.log(m) / (1 - discount)
    assert (predictions != y).sum() <= bound


@pytest.mark.parametrize("name", ["omkc-dd", "omkc-u"])
def test_predict_is_what_learn_would_say(name):
    """Where the vote is not drawn: the next example's prediction, asked for or learned from."""
    X, y = hard_streams.binary_features(120)
    model = kb.recipes.make(name, random_state=0)
    model.learn(X[:60], y[:60])
    for t in range(60, 120):
        foreseen = model.predict(X[t : t + 1])
        said, _ = model.learn(X[t : t + 1], y[t : t + 1])
        assert foreseen == said


def test_what_is_shown_is_not_the_state():
    """Writing to an attribute's array must not change the model behind its back."""
    X, y = hard_streams.gaussian_clouds(100)
    model = plain.classifier().fit(X, y)
    before = model.decision_function(X)
    for name in ("dual_coef_", "support_vectors_", "kernel_weights_", "expert_mistakes_"):
        shown = getattr(model, name)
        if shown.flags.writeable:
            shown *= -3.0
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_library_mode():
    """`mode="library"` is the constructors' defaults: the printed tie rule."""
    for name in kb.recipes.names():
        if name.startswith(("omkc", "perceptron")):
            assert kb.recipes.make(name, mode="library").learner.tie == "margin"
            assert kb.recipes.make(name).learner.tie == "label"


def test_recipe_parameters():
    model = kb.recipes.make("omkc-sd", discount=0.5, smoothing=0.2, random_state=9)
    assert model.combiner.discount == 0.5
    assert (model.selection.update, model.selection.vote) == ("drawn", "all")
    assert model.selection.smoothing == 0.2
    assert model.random_state == 9
    table = kb.recipes.make("omkc-dd")
    assert (table.combiner.discount, table.selection.smoothing, table.learner.tie) == (
        *(0.8, 0.01, "label"),
    )
    for name in kb.recipes.names():
        kb.recipes.make(name, random_state=1, kernels=[kb.Linear()])
        assert kb.recipes.title(name)
