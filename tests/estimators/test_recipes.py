"""The catalogue says what the recipes are, and ours are the estimators without arguments."""

from kernbrook.estimators.tasks import is_batch, task_of
from kernbrook.recipes import making as recipes
from kernbrook.recipes.catalogue import RECIPES


def test_the_catalogue_is_that_of_the_recipes():
    assert set(RECIPES) == set(recipes._RECIPES)
    for name, recipe in RECIPES.items():
        made = recipes.make(name)
        assert (recipe.task, recipe.batch) == (task_of(made), is_batch(made)), name
