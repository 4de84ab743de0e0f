"""The voted classifiers as scikit-learn expects them."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import kernbrook as kb

GAUSSIANS = [kb.Gaussian(sigma=1), kb.Gaussian(sigma=3)]


@parametrize_with_checks(
    [
        kb.VotedKernelClassifier(),
        kb.VotedKernelClassifier(GAUSSIANS, unit_length=True, beta=0.001),
        kb.VotedKernelClassifier([kb.Linear(), *GAUSSIANS], solver="cd", max_iter=50),
    ]
)
def test_estimator_checks(estimator, check):
    check(estimator)
