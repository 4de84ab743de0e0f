"""Component learners: what one expert does with one example, as codes and rows of parameters."""

from numba import njit

from kernbrook._jit.draws import DRAW_ADMISSION, PURPOSE, uniform
from kernbrook._jit.zero import ZERO

PERCEPTRON = 0  # (tie,)
PASSIVE_AGGRESSIVE = 1  # (variant, aggressiveness, unit diagonal)
SPARSE_PA = 2  # (step, cap, divisor, unit diagonal)
# Under a budget; their steps are in `budget` and `projecting`.
RBP = 3  # (tie,)
FORGETRON = 4  # (tie,)
BOGD = 5  # (step, regularization)
BPAS = 6  # (aggressiveness,)
PROJECTRON = 7  # (tie, threshold)
PROJECTRON_PLUS = 8  # (tie, threshold)
AHPATRON = 9  # (margin, step, radius, ridge)
N_PARAMETERS = 4

TIE_MARGIN = 0.0  # errs where y f <= 0
TIE_LABEL = 1.0  # errs where sign(f) != y, with sign(0) = +1

PA, PA_I, PA_II = 0.0, 1.0, 2.0

SMALLEST_DIAGONAL = 1e-12  # an example with k(x, x) below it is a zero vector: nothing to add


@njit(cache=True, nogil=True)
def needs_diagonal(code, parameters):
    """Does the learner look at k(x, x)?"""
    if code == PASSIVE_AGGRESSIVE:
        return parameters[2] == 0.0
    return code == SPARSE_PA and parameters[3] == 0.0


@njit(inline="always")
def errs(code, parameters, score, label):
    """Is the score a mistake, by the learner's own rule? Only the perceptrons' ties vary."""
    by_tie = code in (PERCEPTRON, RBP, FORGETRON, PROJECTRON, PROJECTRON_PLUS)
    if by_tie and parameters[0] == TIE_MARGIN:
        return label * score <= 0.0
    return (score >= 0.0) != (label > 0.0)


@njit(cache=True, nogil=True)
def coefficient(code, parameters, score, size, diagonal, label, seed, round_, expert):
    """What the example is added with; 0 where it is not.

    size : sum of |coefficient * kernel| behind the score; a loss within its rounding is none, or
        an example that comes again would be added for ever
    diagonal : k(x, x), where `needs_diagonal`
    seed, round_, expert : of the learner's own draws
    """
    if code == PERCEPTRON:
        return label if errs(code, parameters, score, label) else 0.0
    loss = max(0.0, 1.0 - label * score)
    if loss <= ZERO * (1.0 + size):
        return 0.0
    if code == PASSIVE_AGGRESSIVE:  # Crammer et al. (2006), figure 1
        square = diagonal if parameters[2] == 0.0 else 1.0
        if square <= SMALLEST_DIAGONAL:
            return 0.0
        if parameters[0] == PA_II:
            return label * loss / (square + 0.5 / parameters[1])
        step = loss / square
        return label * (min(parameters[1], step) if parameters[0] == PA_I else step)
    # SPARSE_PA: Lu et al. (2015), algorithm 1 and proposition 1
    square = diagonal if parameters[3] == 0.0 else 1.0
    chance = min(parameters[1], loss) / parameters[2]
    drawn = uniform(seed, round_, DRAW_ADMISSION * PURPOSE + expert) < chance
    if square <= SMALLEST_DIAGONAL or not drawn:
        return 0.0
    return label * min(parameters[0] / chance, loss / square)
