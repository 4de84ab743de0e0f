"""Estimators as scikit-learn expects them; what fails is declared in `expected_failures.py`."""

import inspect
import pickle
import re

import hard_streams
import numpy as np
import pytest
from beside import beside_the_tests
from expected_failures import FAILURES, checks_of, of_each_class, table, that_fail
from sklearn.base import clone
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import check_regressors_train

import kernbrook as kb

RECIPES = {check: own.recipes for own in FAILURES for check in own.checks}


@pytest.mark.long
@checks_of(of_each_class())
def test_estimator_checks(estimator, check):
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


@pytest.mark.sampled
@pytest.mark.parametrize("name", [name for name in kb.recipes.names() if name != "l2-svm"])  # long
def test_every_recipe_clones_and_fits(name):
    X, y = hard_streams.gaussian_clouds()
    if kb.recipes.batch(name):  # a whole grid of settings
        X, y = hard_streams.far_apart()
    model = clone(kb.recipes.make(name, random_state=3)).fit(X, y)
    if kb.recipes.task(name) == "classification":
        assert set(model.predict(X)) <= {-1.0, 1.0}
    assert np.isfinite(model.predict(X)).all()
    assert pickle.loads(pickle.dumps(model)).predict(X).tolist() == model.predict(X).tolist()


@pytest.mark.parametrize("kind", [kb.OnlineMKClassifier, kb.OnlineMKRegressor])
def test_every_parameter_has_its_words(kind):
    """Also those that both kinds share, and in a subclass that has no words of its own."""
    for name in inspect.signature(kind).parameters:
        assert re.search(rf"^    {name} : \S", kind.__doc__, re.MULTILINE), name
    for verb in (kind.learn, kind.partial_fit):
        assert ("classes : " in verb.__doc__) == ("classes" in inspect.signature(verb).parameters)
    assert inspect.getdoc(type("Mine", (kind,), {})) == inspect.getdoc(kind)
    assert not re.search(r"^ +\{", kind.__doc__, re.MULTILINE)  # all entries were found


def test_a_subclass_may_show_a_set_in_its_words():
    said = "Mine.\n\n    >>> print(names)\n    {a, b}\n    {labels}\n    "
    mine = type("Mine", (kb.OnlineMKClassifier,), {"__doc__": said})
    assert mine.__doc__.startswith(said.partition("    {labels}")[0] + "    labels : ")
