"""Recipes as scikit-learn expects estimators; what fails is declared in `expected_failures.py`."""

import pytest
from beside import beside_the_tests
from expected_failures import FAILURES, checks_of, of_recipes, table, that_fail
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import check_regressors_train

import kernbrook as kb

RECIPES = {check: own.recipes for own in FAILURES for check in own.checks}


@pytest.mark.long
@checks_of(of_recipes())
def test_checks_of_a_recipe_of_each_kind(estimator, check):
    check(estimator)


@pytest.mark.long
@pytest.mark.parametrize(("check", "name"), list(that_fail()))
def test_what_is_said_to_fail_fails(check, name):
    with pytest.raises(AssertionError):
        getattr(estimator_checks, check)(name, kb.recipes.make(name, random_state=0))


@pytest.mark.parametrize("name", RECIPES["check_regressors_train"])
def test_a_line_is_learned_with_a_linear_kernel(name):
    """The reason that is given for the failure: with this it passes."""
    check_regressors_train(name, kb.recipes.make(name, kernels=[kb.Linear()], random_state=0))


def test_the_page_has_the_checks_that_fail_and_the_reasons():
    text = beside_the_tests("docs/streams.md").read_text("utf-8")
    lines = text.split("## Checks of scikit-learn")[1].splitlines()
    assert [line for line in lines if line.startswith("|")] == list(table())
