"""One model from rows that lie on many machines: train apart, merge, and go on from there."""

from kernbrook.distributed.fitting import fit

__all__ = ["fit"]
