"""The voted classifiers as scikit-learn expects them."""

import pytest
from expected_failures import checks_of
from sklearn.model_selection import GridSearchCV
from voted_problems import clouds

import kernbrook as kb

GAUSSIANS = [kb.Gaussian(sigma=1), kb.Gaussian(sigma=3)]
MODELS = [
    kb.VotedKernelClassifier(GAUSSIANS, unit_length=True, beta=0.001),
    kb.VotedKernelClassifierCV(GAUSSIANS, lams=[0.1, 0.01], betas=[0.01, 0.001], cv=2),
]


@pytest.mark.thinned
@checks_of({repr(model): model for model in MODELS})
def test_estimator_checks(estimator, check):
    check(estimator)


def test_grid_search():
    X, y = clouds(100)
    model = kb.VotedKernelClassifier(GAUSSIANS)
    search = GridSearchCV(model, {"beta": [10.0, 0.01]}, cv=3).fit(X, y)
    assert search.best_params_ == {"beta": 0.01}
