"""The catalogue says what the recipes are."""

from kernbrook.models import recipes
from kernbrook.models.catalogue import RECIPES
from kernbrook.models.tasks import is_batch, task_of


def test_the_catalogue_is_that_of_the_recipes():
    assert tuple(RECIPES) == recipes.names()
    for name, recipe in RECIPES.items():
        made = recipes.make(name)
        assert recipe == (recipes.title(name), task_of(made), is_batch(made)), name
