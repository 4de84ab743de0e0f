"""Label policies, which decide whose label is asked for, and oracles, which are asked."""

from kernbrook.labels.all_labels import AllLabels
from kernbrook.labels.disagreement import Disagreement
from kernbrook.labels.label_budget import LabelBudget
from kernbrook.labels.margin_sampling import MarginSampling
from kernbrook.labels.oracles import JSONLines
from kernbrook.labels.random_labels import RandomLabels

__all__ = [
    "AllLabels",
    "Disagreement",
    "LabelBudget",
    "JSONLines",
    "MarginSampling",
    "RandomLabels",
]
