"""Why a model says what it says: which columns matter, and what each adds to one prediction."""

from kernbrook.explaining.contributions import Explanation
from kernbrook.explaining.importance import Importance

__all__ = ["Explanation", "Importance"]
