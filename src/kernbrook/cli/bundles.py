"""Options that belong together: each is said once, and commands take them as one value."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from inspect import Parameter, signature
from typing import Any, NamedTuple

from kernbrook.cli.options import (
    Budget,
    Features,
    Label,
    MaxBytes,
    Positive,
    Recipe,
    Seed,
    Sep,
    Settings,
    parameters,
)
from kernbrook.cli.table_options import OF_ENCODER, OF_LAGS, WRITTEN, as_written, encoder_of
from kernbrook.errors import InputError


class Bundle(NamedTuple):
    """Options that make one value.

    options : of each its annotation for typer and its default, by its name in Python
    make : called with what was given, by these names
    """

    options: dict[str, tuple[Any, Any]]
    make: Callable[..., Any]


def takes(**bundles: Bundle) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command whose parameters of these names are each made of a bundle's options.

    The options stand in the place of the parameter. Where the command has a parameter of an
    option's name itself, the command says what the option is, and the bundle is given it, too.
    """

    def taking(command: Callable[..., None]) -> Callable[..., None]:
        own = signature(command, eval_str=True)
        shown: list[Parameter] = []
        for name, parameter in own.parameters.items():
            if name not in bundles:
                shown.append(parameter)
                continue
            shown += [
                parameter.replace(name=option, default=default, annotation=kind)
                for option, (kind, default) in bundles[name].options.items()
                if option not in own.parameters
            ]

        @wraps(command)
        def run(**given: Any) -> None:
            made = {
                name: bundle.make(**{option: given[option] for option in bundle.options})
                for name, bundle in bundles.items()
            }
            command(**made, **{key: given[key] for key in own.parameters if key not in bundles})

        run.__signature__ = own.replace(parameters=shown)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
        return run

    return taking


class Chosen(NamedTuple):
    """A recipe, or None, with its parameters, and the seed of all that is drawn."""

    recipe: str | None
    settings: dict[str, Any]
    seed: int

    @property
    def parameters(self) -> dict[str, Any]:
        """Those that are set, and the seed."""
        return {**self.settings, "random_state": self.seed}


def _chosen(settings: Any, budget: int | None, seed: int, recipe: str | None = None) -> Chosen:
    return Chosen(recipe, parameters(settings, budget), seed)


class Rows(NamedTuple):
    """How data are read, see `open_stream`.

    encoder : what the options for tables make together, or None
    """

    label: str | None
    encoder: Any
    sep: str | None
    n_features: int | None
    positive: str | None
    max_bytes: int | None


def _rows(checked: bool, **given: Any) -> Rows:
    of_encoder = {name: given.pop(name) for name in OF_ENCODER if name in given}
    for name in OF_LAGS[1:]:
        if checked and of_encoder.get("lags") is None and of_encoder.get(name) is not None:
            raise InputError(f"--{name.replace('_', '-')}: goes with --lags")
    return Rows(encoder=encoder_of(**of_encoder), **{"positive": None} | given)


def _new_rows(label: Any, sep: Any, max_bytes: Any, **written: Any) -> dict[str, Any]:
    """How data are read that are like those of a model, as `open_like` takes it."""
    read = {"label": label, "sep": sep, "max_bytes": max_bytes}
    return {**read, "written": as_written(**written)}


_OF_RECIPE: dict[str, tuple[Any, Any]] = {
    "settings": (Settings, None), "budget": (Budget, None), "seed": (Seed, 0)
}  # fmt: skip
RECIPE = Bundle({"recipe": (Recipe, None), **_OF_RECIPE}, _chosen)
RECIPES = Bundle(_OF_RECIPE, _chosen)

_TABLE: dict[str, tuple[Any, Any]] = {name: (kind, None) for name, kind in OF_ENCODER.items()}
_WITHOUT_LAGS = {name: one for name, one in _TABLE.items() if name not in OF_LAGS}
_READ: dict[str, tuple[Any, Any]] = {"sep": (Sep, None), "n_features": (Features, None)}
_LABEL, _MOST = {"label": (Label, None)}, {"max_bytes": (MaxBytes, None)}
_POSITIVE = {"positive": (Positive, None)}
ROWS = Bundle({**_POSITIVE, **_LABEL, **_TABLE, **_READ, **_MOST}, partial(_rows, True))
LATE_ROWS = Bundle(ROWS.options, partial(_rows, False))  # of commands that know of delays
UNLABELLED_ROWS = Bundle({**_LABEL, **_WITHOUT_LAGS, **_READ, **_MOST}, partial(_rows, True))
NEW_ROWS = Bundle(
    {**_LABEL, **{name: _TABLE[name] for name in WRITTEN}, "sep": (Sep, None), **_MOST}, _new_rows
)
