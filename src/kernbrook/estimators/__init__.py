"""Estimators in the manner of scikit-learn."""

from kernbrook.snapshots import moved

moved(
    __name__, calibration="confidence", intervals="confidence", named="by_name", voted_grid="voted"
)
