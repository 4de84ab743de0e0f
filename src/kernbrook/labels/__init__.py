"""Label policies, which decide whose label is asked for, and oracles, which are asked."""

from kernbrook.labels.oracles import JSONLines
from kernbrook.labels.policies import (
    AllLabels,
    Disagreement,
    LabelBudget,
    MarginSampling,
    RandomLabels,
    VarianceSampling,
)

__all__ = [
    "AllLabels",
    "Disagreement",
    "LabelBudget",
    "JSONLines",
    "MarginSampling",
    "RandomLabels",
    "VarianceSampling",
]
