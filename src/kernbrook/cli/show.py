"""`kernbrook show` and `kernbrook recipes`: what a model's file holds, what a recipe is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kernbrook.cli.options import Json, check_outputs
from kernbrook.cli.output import show_result, terminal


def show(
    model: Annotated[Path, typer.Argument(help="A file that `train`, `label` or kb.save wrote.")],
    json: Json = None,
) -> None:
    """Say what a model's file holds.

    Its kernels and learners by weight, what it was trained on and when, rows, labels, sizes, and
    the errors so far. A model that is being trained or labelled is shown as its last checkpoint
    has it.
    """
    from kernbrook.estimators.table_model import TableModel
    from kernbrook.evaluation.checkpoint import checkpoint_of
    from kernbrook.persistence.saving import read
    from kernbrook.reports.model import file_facts, model_json, model_page

    check_outputs({"--json": json}, [str(model)])
    file = file_facts(model)
    estimator, header = read(model)
    known = None
    if isinstance(estimator, TableModel):
        known = checkpoint_of(estimator, model)
    found = {**file, **model_json(estimator, known), "written_by": header.get("written_by")}
    show_result(json, lambda: found, lambda width: model_page(found, estimator, width))


def recipes(
    name: Annotated[str | None, typer.Argument(help="Say more of this one.")] = None,
) -> None:
    """List the recipes, or say what one is: its paper, its machine, and when to take it.

    Those marked batch learn from all data at once: they go with `reproduce`, and in Python with
    fit and predict, but not with `compare`, `train` and `label`.
    """
    from kernbrook.recipes.catalogue import RECIPES

    if name is not None:
        from kernbrook.errors import UnknownNameError

        if name not in RECIPES:
            raise UnknownNameError("recipe", name, RECIPES)
        from kernbrook.reports.model import recipe_page

        console = terminal()
        console.print(recipe_page(name, console.width))
        return
    for each, recipe in RECIPES.items():
        note = " (batch)" if recipe.batch else ""
        typer.echo(f"{each:24} {recipe.task:14}  {recipe.title}{note}")
    typer.echo("\n`kernbrook recipes NAME` says more of one.")
