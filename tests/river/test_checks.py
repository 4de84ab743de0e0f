"""River's own checks, of every class."""

import pytest

import kernbrook as kb

checks = pytest.importorskip("river.checks")

CLASSES = [getattr(kb.river, name) for name in kb.river.__all__]
LONG = [pytest.mark.slow, pytest.mark.long]
CHECKS = [
    pytest.param(
        *(cls(**parameters), check),
        id=f"{cls.__name__}-{i}-{check.__name__}",
        # Its dictionaries grow or do not, whatever the parameters: once a class does.
        marks=LONG if which and check.__name__ == "check_bounded_memory_growth" else (),
    )
    for cls in CLASSES
    for which, parameters in enumerate(cls._unit_test_params())
    for i, check in enumerate(checks.yield_checks(cls(**parameters)))
]


@pytest.mark.sampled
@pytest.mark.parametrize(("model", "check"), CHECKS)
def test_a_check_of_river(model, check):
    check(model.clone())


def test_there_are_checks_of_what_is_promised():
    """Those that were asked for by name are among them, and none is skipped."""
    names = {test.id.split("-")[0] + " " + test.id.split("-")[2] for test in CHECKS}
    for name in ("MKClassifier", "MKRegressor", "KernelFeatures"):
        for check in ("emerging_features", "disappearing_features", "pickling"):
            assert f"{name} check_{check}" in names
    assert "MKClassifier check_learn_many_matches_learn_one" in names
    assert "MKRegressor check_learn_many_matches_learn_one" in names
    assert all(not cls(**next(iter(cls._unit_test_params())))._unit_test_skips() for cls in CLASSES)
