"""Our machines as models of River: rows are dicts, whose features come and go by name."""

try:
    import river as river
except ImportError as error:
    raise ImportError("kb.river needs River: pip install river") from error

from kernbrook.river.models import KernelFeatures, MKClassifier, MKRegressor, PolicySampler

__all__ = ["KernelFeatures", "MKClassifier", "MKRegressor", "PolicySampler"]
