"""Options that belong together: each is said once, and commands take them as one value."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from inspect import Parameter, signature
from typing import Any, NamedTuple

from kernbrook.cli.options import (
    Budget,
    Features,
    GivenSeed,
    Label,
    MaxBytes,
    Positive,
    Recipe,
    Sep,
    Settings,
    parameters,
)
from kernbrook.cli.table_options import (
    OF_ENCODER,
    OF_LAGS,
    WRITTEN,
    as_written,
    check_formats,
    columns_of,
    encoder_of,
)
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
    """A recipe, or None, with its parameters, and the seed of all that is drawn.

    seeded : whether the seed is given
    """

    recipe: str | None
    settings: dict[str, Any]
    seed: int
    seeded: bool

    def parameters(self, model: Any = None) -> dict[str, Any]:
        """Those that are set, and the seed, which is that of a model that is there if not given."""
        seed = self.seed if self.seeded else getattr(model, "random_state", self.seed)
        return {**self.settings, "random_state": seed}


def _chosen(settings: Any, budget: int | None, seed: int | None, recipe: Any = None) -> Chosen:
    return Chosen(recipe, parameters(settings, budget), seed or 0, seed is not None)


class Rows(NamedTuple):
    """How data are read, see `open_stream`.

    columns : the parameters of a TableEncoder that are given
    encoder : what they make together, or None
    """

    label: str | None
    columns: dict[str, Any]
    encoder: Any
    sep: str | None
    n_features: int | None
    positive: str | None
    max_bytes: int | None

    @property
    def reading(self) -> dict[str, Any]:
        """As `open_stream` takes it."""
        return {name: value for name, value in self._asdict().items() if name != "columns"}


def _rows(checked: bool, **given: Any) -> Rows:
    of_encoder = {name: given.pop(name) for name in OF_ENCODER if name in given}
    if not of_encoder.get("lags"):
        for name in OF_LAGS[1:]:
            if of_encoder.pop(name, None) is not None and checked:
                raise InputError(f"--{name.replace('_', '-')}: goes with --lags")
    columns = columns_of(**of_encoder)
    return Rows(columns=columns, encoder=encoder_of(columns), **{"positive": None} | given)


def _new_rows(label: Any, sep: Any, max_bytes: Any, **written: Any) -> dict[str, Any]:
    """How data are read that are like those of a model, as `open_like` takes it."""
    columns = columns_of(**written)
    check_formats(columns)
    read = {"label": label, "sep": sep, "max_bytes": max_bytes}
    return {**read, "written": as_written(columns)}


_OF_RECIPE: dict[str, tuple[Any, Any]] = {
    "settings": (Settings, None), "budget": (Budget, None), "seed": (GivenSeed, None)
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
