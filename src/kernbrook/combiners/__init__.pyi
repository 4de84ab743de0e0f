from .ada_raker import AdaRaker as AdaRaker
from .exp import EXP as EXP
from .fixed_share import FixedShare as FixedShare
from .group_norm import GroupNorm as GroupNorm
from .hedge import Hedge as Hedge
from .ml_poly import MLPoly as MLPoly
from .stack import Stack as Stack
from .uniform import Uniform as Uniform
