"""Component learners: one short file each, with its parameters, its paper and its step."""

from kernbrook.learners.perceptron import Perceptron

__all__ = ["Perceptron"]
