from .adaptive import AdaptiveSelection as AdaptiveSelection
from .best_of_prefix import BestOfPrefix as BestOfPrefix
from .drawn import Selection as Selection
