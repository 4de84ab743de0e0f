"""Kernels as functions of the stored points Z, (s, d), and one example x, (d,): (s,) values."""

from itertools import combinations

import numpy as np


class Values:
    """k(x_i, x_j) for all rows x_i of X, the values of an x_j worked out when first asked for."""

    def __init__(self, kernel, X):
        self.kernel, self.X, self.known = kernel, X, {}

    def __getitem__(self, j):
        if j not in self.known:
            self.known[j] = self.kernel(self.X, self.X[j])
        return self.known[j]


def polynomial(degree, offset=0.0):
    return lambda Z, x: (Z @ x + offset) ** degree


def linear():
    return polynomial(1)


def gaussian(gamma):
    return lambda Z, x: np.exp(-gamma * ((Z - x) ** 2).sum(axis=1))


def laplacian(gamma):
    return lambda Z, x: np.exp(-gamma * np.abs(Z - x).sum(axis=1))


def cauchy(gamma):
    return lambda Z, x: 1.0 / (1.0 + gamma * ((Z - x) ** 2).sum(axis=1))


def anova(order, gamma):
    """The definition: a mean of Gaussians of some inputs each, one for each set of them."""

    def values(Z, x):
        sets = [list(chosen) for chosen in combinations(range(len(x)), min(order, len(x)))]
        return sum(gaussian(gamma)(Z[:, chosen], x[chosen]) for chosen in sets) / len(sets)

    return values


def sigmoid(gamma, offset):
    return lambda Z, x: np.tanh(gamma * (Z @ x) + offset)


def mean(kernels):
    return lambda Z, x: sum(kernel(Z, x) for kernel in kernels) / len(kernels)


def omkc16():
    """Hoi, Jin, Zhao, Yang (2013), section 5.1: (x.z)^p and sigma = 2^-6 ... 2^6."""
    gaussians = [gaussian(1.0 / (2.0 * (2.0**i) ** 2)) for i in range(-6, 7)]
    return [polynomial(1), polynomial(2), polynomial(3), *gaussians]


def amkl17():
    """Chae and Hong (2021): sigma_i^2 = 10^((i - 9) / 2), i = 1 ... 17."""
    return [gaussian(1.0 / (2.0 * 10.0 ** ((i - 9) / 2))) for i in range(1, 18)]
