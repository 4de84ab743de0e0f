"""What the recipes and the default pools are made of, as it was measured.

Whoever changes a recipe, in `recipes.ours` or elsewhere, changes `settled.txt`, too, and measures
again what the pages say:

    python tests/test_settled.py
"""

from pathlib import Path

import kernbrook as kb
from kernbrook.estimators.pool import default_pool
from kernbrook.estimators.tasks import task_of
from kernbrook.recipes.catalogue import RECIPES

SETTLED = Path(__file__).with_name("settled.txt")


# whether of numbers; features; scores
POOLS = [
    *((False, 8, 1), (False, 8, 7), (False, 200, 1), (False, 600, 1)),
    *((True, 8, 1), (True, 600, 1)),
]


def written():
    """All recipes, then the pools of the defaults, a paragraph each."""
    parts = {name: text(kb.recipes.make(name)) for name in kb.recipes.names()}
    for numbers, width, scores in POOLS:
        name = f"{'numbers' if numbers else 'classes'}, {scores} scores, {width} features"
        parts[name] = "\n".join(map(text, default_pool(numbers, width, scores)))
    return "\n".join(f"{name}\n{made}\n" for name, made in parts.items())


def text(made):
    """All parameters, those of parts within."""
    if isinstance(made, (list, tuple)):
        return f"[{', '.join(map(text, made))}]"
    if not hasattr(made, "get_params"):
        return repr(made)
    own = made.get_params(deep=False)
    return f"{type(made).__name__}({', '.join(f'{k}={text(v)}' for k, v in own.items())})"


def test_recipes_are_what_was_measured():
    assert written() == SETTLED.read_text("utf-8")


def test_the_catalogue_says_what_the_recipes_are():
    assert set(RECIPES) == set(kb.recipes.names())
    for name, recipe in RECIPES.items():
        made = kb.recipes.make(name)
        assert (recipe.task, recipe.batch) == (task_of(made), not hasattr(made, "learn")), name


if __name__ == "__main__":
    SETTLED.write_text(written(), "utf-8")
