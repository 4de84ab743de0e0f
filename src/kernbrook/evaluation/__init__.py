"""What the commands do, from Python: comparisons, trainings, labellings, predictions.

>>> from kernbrook.evaluation import best_fixed
>>> best_fixed([[0, 1], [1, 1], [0, 1]]).loss
1.0
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
