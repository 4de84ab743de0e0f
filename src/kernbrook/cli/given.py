"""What a command line says of a model and its data, for a new model or beside its file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernbrook.evaluation.sessions.sources import Source
    from kernbrook.streams import TableEncoder


@dataclass(frozen=True)
class Given:
    """What makes a new model; its file then knows it, and what is given again must be the same.

    Attributes
    ----------
    recipe, chosen : a recipe, or None, and its parameters, of which the seed is always there
    classes : labels, or None
    n_features, positive : as the options have them, or None
    encoder : what the options for tables make together, or None
    """

    recipe: str | None
    chosen: dict[str, Any]
    classes: list[str] | None
    n_features: int | None
    positive: str | None
    encoder: TableEncoder | None

    def written(self) -> dict[str, Any] | None:
        """How values are written, as `TableEncoder.rewritten` takes it; None where nothing is."""
        if self.encoder is None:
            return None
        decimal = self.encoder.decimal if self.encoder.decimal != "." else None
        formats = {name: p for name, own in self.encoder.dates.items() for p in own if "%" in p}
        found = {
            "decimal": decimal, "thousands": self.encoder.thousands, "units": self.encoder.units,
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

        if self.recipe is not None or len(self.chosen) > 1:
            made = make_online(self.recipe or OURS[task_of(model)], **self.chosen)
            check_same_settings(path, (model, None), (made, None))
        named_classes(model, self.classes)
        before = source.settings()
        given = {"n_features": self.n_features, "positive": self.positive, "label": label}
        if self.encoder is not None:
            before["dates"] = _parts(before["dates"])
            given |= self._columns(before)
        check_same(path, before, {name: one for name, one in given.items() if one is not None})

    def _columns(self, before: dict[str, Any]) -> dict[str, Any]:
        """What columns become: as before, but for those of which something else is given."""
        assert self.encoder is not None
        encoder = self.encoder
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
