"""What a command line says of a model and its data, for a new model or beside its file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kernbrook.cli.bundles import Chosen, Rows
from kernbrook.errors import InputError

if TYPE_CHECKING:
    from kernbrook.evaluation.measuring.by_task import NewModel
    from kernbrook.evaluation.sessions.sources import Source


class Given(NamedTuple):
    """What makes a new model; its file then knows it, and what is given again must be the same.

    Attributes
    ----------
    chosen : the recipe, and its parameters
    classes : labels, or None
    rows : how the data are read
    """

    chosen: Chosen
    classes: list[str] | None
    rows: Rows

    def new_model(self) -> NewModel:
        """What is trained."""
        from kernbrook import recipes as book
        from kernbrook.evaluation.measuring.by_task import NewModel

        recipe = self.chosen.recipe
        new = NewModel(recipe, self.classes, **self.chosen.parameters)
        if recipe is not None and self.classes is not None and book.task(recipe) == "regression":
            raise InputError(f"--classes: {recipe} predicts numbers")
        return new

    def written(self) -> dict[str, Any] | None:
        """How values are written, as `TableEncoder.rewritten` takes it; None where nothing is."""
        encoder = self.rows.encoder
        if encoder is None:
            return None
        decimal = encoder.decimal if encoder.decimal != "." else None
        formats = {name: p for name, own in encoder.dates.items() for p in own if "%" in p}
        found = {
            "decimal": decimal, "thousands": encoder.thousands, "units": encoder.units,
            "dates": formats,
        }  # fmt: skip
        return found if any(found.values()) else None

    def check(self, path: Path, label: str | None, model: Any, source: Source) -> None:
        """InputError where the model, or what is known of its data, is not as given.

        label : the column that must be that of the labels, or None
        """
        from kernbrook.estimators.tasks import task_of
        from kernbrook.evaluation.measuring.by_task import OURS, make_online
        from kernbrook.evaluation.sessions.classes import named_classes
        from kernbrook.evaluation.sessions.session import check_same, check_same_settings

        if self.chosen.recipe is not None or self.chosen.settings:
            recipe = self.chosen.recipe or OURS[task_of(model)]
            made = make_online(recipe, **self.chosen.parameters)
            check_same_settings(path, (model, None), (made, None))
        named_classes(model, self.classes)
        rows, before = self.rows, source.settings()
        given = {"n_features": rows.n_features, "positive": rows.positive, "label": label}
        if rows.encoder is not None:
            before["dates"] = _parts(before["dates"])
            given |= self._columns(before)
        check_same(path, before, {name: one for name, one in given.items() if one is not None})

    def _columns(self, before: dict[str, Any]) -> dict[str, Any]:
        """What columns become: as before, but for those of which something else is given."""
        encoder = self.rows.encoder
        parts = {name: own for name, own in _parts(encoder.dates).items() if own}
        dates = {**{name: [] for name in encoder.dates}, **(before["dates"] or {}), **parts}
        dropped = before["drop"] or []
        return {
            "categorical": {**(before["categorical"] or {}), **encoder.categorical},
            "dates": dates,
            "drop": dropped + [name for name in encoder.drop if name not in dropped],
            "missing": None if encoder.missing == "error" else encoder.missing,
        }


def _parts(dates: dict[str, list[str]] | None) -> dict[str, list[str]]:
    """The parts of each column of dates, without the format."""
    return {name: [p for p in own if "%" not in p] for name, own in (dates or {}).items()}
