"""Our machines as models of River: rows are dicts, whose features come and go by name."""

try:
    import river as river
except ImportError as error:
    raise ImportError("kb.river needs River: pip install river") from error

from kernbrook.river.models import MKClassifier, MKRegressor
from kernbrook.river.sampler import PolicySampler
from kernbrook.river.transformer import KernelFeatures
from kernbrook.snapshots import moved

moved(__name__, classifier="models", regressor="models", feature_columns="models")

__all__ = ["KernelFeatures", "MKClassifier", "MKRegressor", "PolicySampler"]
