"""Committees far from the last label learn from labels that were given, whatever the policy."""

import numpy as np

import kernbrook as kb

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(4000, 3))
Y = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int)


def committees(labels):
    model = kb.OnlineMKClassifier(
        [kb.Gaussian(sigma=1.0), kb.Gaussian(sigma=4.0)], kb.Ridge(), labels=labels, random_state=0
    )
    model.partial_fit(X, Y)
    return model._model.horizons


def test_given_labels_are_learned_far_ahead_as_well():
    """`partial_fit` learns from all labels, and so do the committees that judge from afar."""
    wanted, found = committees("all"), committees(kb.RandomLabels(0.2))
    assert wanted.soon.rows[0] > 50
    for one, other in ((wanted.soon, found.soon), (wanted.late, found.late)):
        assert one.rows[0] == other.rows[0]
        np.testing.assert_array_equal(one.progress.log_weights, other.progress.log_weights)
        np.testing.assert_array_equal(one.progress.state, other.progress.state)
