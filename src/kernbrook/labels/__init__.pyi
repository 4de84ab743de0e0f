from .all_labels import AllLabels as AllLabels
from .disagreement import Disagreement as Disagreement
from .label_budget import LabelBudget as LabelBudget
from .margin_sampling import MarginSampling as MarginSampling
from .oracles import JSONLines as JSONLines
from .random_labels import RandomLabels as RandomLabels
