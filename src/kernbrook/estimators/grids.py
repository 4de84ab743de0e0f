"""The values that the paper of voted kernel regularization searched, Cortes et al. (2015)."""

POWERS = tuple(10.0**-i for i in range(7))  # of lam and of beta
COSTS = tuple(10.0**i for i in range(-4, 8))  # of the L2-SVM's C
