"""Recipes that are an estimator, of which some parameters can be given by their names."""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import Any

from sklearn.base import clone

from kernbrook.recipes.catalogue import Recipe

_PLACES = {"step": ["learner__step"], "cap": ["learner__cap"], "weight_step": ["combiner__step"]}


def recipe(model: Any, *names: str, **library: Any) -> Recipe:
    """The recipe of an estimator: its kernels, its seed and what has these names can be given.

    A name is that of a parameter of its parts, of all that have it, else its own. The default of
    `kernels` is None where it has a list of them.

    library : settings of mode="library"
    """
    known = model.get_params()
    places = {
        name: _PLACES.get(name) or [path for path in known if path.endswith(f"__{name}")] or [name]
        for name in ("kernels", "random_state", *names)
    }
    defaults = {name: known[paths[0]] for name, paths in places.items()}
    if isinstance(model.kernels, list):
        defaults["kernels"] = None

    def build(**settings: Any) -> Any:
        if settings.get("kernels", model) is defaults["kernels"]:
            del settings["kernels"]
        given = {path: value for name, value in settings.items() for path in places[name]}
        return clone(model).set_params(**given)

    kind = Parameter.POSITIONAL_OR_KEYWORD
    build.__signature__ = Signature(  # type: ignore[attr-defined]
        [Parameter(name, kind, default=default) for name, default in defaults.items()]
    )
    return build, library
