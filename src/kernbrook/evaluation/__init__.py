"""What the commands do, from Python: comparisons, trainings, labellings, the papers' tables again.

`kb.prequential` runs one model; its module has that name here.

>>> from kernbrook.evaluation import best_fixed
>>> best_fixed([[0, 1], [1, 1], [0, 1]]).loss
1.0
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernbrook.evaluation.checkpoints import Checkpoint, load_checkpoint
    from kernbrook.evaluation.comparing import compare
    from kernbrook.evaluation.labelling import Labelling, Question, label
    from kernbrook.evaluation.oracles import best_fixed, best_shifting
    from kernbrook.evaluation.predicting import predict
    from kernbrook.evaluation.records import Comparison, Record
    from kernbrook.evaluation.sessions import Quit
    from kernbrook.evaluation.sources import Source, open_like, open_source
    from kernbrook.evaluation.training import Training, train

# Public name -> module here that defines it. Imported on first use: each needs others.
_HOMES = {
    "Checkpoint": "checkpoints",
    "Comparison": "records",
    "Labelling": "labelling",
    "Question": "labelling",
    "Quit": "sessions",
    "Record": "records",
    "Source": "sources",
    "Training": "training",
    "best_fixed": "oracles",
    "best_shifting": "oracles",
    "compare": "comparing",
    "label": "labelling",
    "load_checkpoint": "checkpoints",
    "open_like": "sources",
    "open_source": "sources",
    "predict": "predicting",
    "train": "training",
}

__all__ = [
    "Checkpoint",
    "Comparison",
    "Labelling",
    "Question",
    "Quit",
    "Record",
    "Source",
    "Training",
    "best_fixed",
    "best_shifting",
    "compare",
    "label",
    "load_checkpoint",
    "open_like",
    "open_source",
    "predict",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'kernbrook.evaluation' has no attribute {name!r}")
    value = getattr(import_module(f"kernbrook.evaluation.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
