"""One model from rows that lie on many machines: train apart, merge, and go on from there."""

from kernbrook.distributed.fitting import Fitted, fit, fit_parts

__all__ = ["Fitted", "fit", "fit_parts"]
