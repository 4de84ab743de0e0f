"""Component learners: one short file each, with its parameters, its paper and its step."""

from kernbrook.learners.ahpatron import Ahpatron
from kernbrook.learners.bogd import BOGD
from kernbrook.learners.boosted_trees import BoostedTrees
from kernbrook.learners.bpas import BPAS
from kernbrook.learners.cells import Cells
from kernbrook.learners.external import Advice, External
from kernbrook.learners.forgetron import Forgetron
from kernbrook.learners.gradient_descent import GradientDescent
from kernbrook.learners.group import Group
from kernbrook.learners.last_label import LastLabel
from kernbrook.learners.passive_aggressive import PassiveAggressive
from kernbrook.learners.pegasos import Pegasos
from kernbrook.learners.perceptron import Perceptron
from kernbrook.learners.projectron import Projectron, ProjectronPlusPlus
from kernbrook.learners.rbp import RBP
from kernbrook.learners.ridge import Ridge
from kernbrook.learners.sparse_pa import SparsePA

__all__ = [
    "BOGD",
    "BPAS",
    "RBP",
    "Advice",
    "Ahpatron",
    "BoostedTrees",
    "Cells",
    "External",
    "Forgetron",
    "GradientDescent",
    "Group",
    "LastLabel",
    "PassiveAggressive",
    "Pegasos",
    "Perceptron",
    "Projectron",
    "ProjectronPlusPlus",
    "Ridge",
    "SparsePA",
]
