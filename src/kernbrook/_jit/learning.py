"""Component learners: what one expert does with one example, as codes and rows of parameters."""

from kernbrook._jit.compiling import njit
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
PEGASOS = 10  # (regularization, upkeep, ball, printed); see `pegasos`
N_PARAMETERS = 4

TIE_MARGIN = 0.0  # errs where the margin is not positive
TIE_LABEL = 1.0  # errs where another class is predicted

PA, PA_I, PA_II = 0.0, 1.0, 2.0

SMALLEST_DIAGONAL = 1e-12  # an example with k(x, x) below it is a zero vector: nothing to add


@njit(cache=True, nogil=True)
def needs_diagonal(code, parameters):
    """Does the learner look at k(x, x)?"""
    if code == PASSIVE_AGGRESSIVE:
        return parameters[2] == 0.0
    return code == SPARSE_PA and parameters[3] == 0.0


@njit(inline="always")
def errs(code, parameters, margin, wrong):
    """Is it a mistake, by the learner's own rule? Only the perceptrons' ties vary."""
    by_tie = code in (PERCEPTRON, RBP, FORGETRON, PROJECTRON, PROJECTRON_PLUS)
    if by_tie and parameters[0] == TIE_MARGIN:
        return margin <= 0.0
    return wrong


@njit(cache=True, nogil=True)
def step_size(code, parameters, margin, wrong, size, diagonal, copies, seed, round_, expert):
    """What the example is added with, by `add_step`; 0 where it is not.

    margin, size, wrong : as `margin_of` gives them; a loss within the rounding of the size is
        none, or an example that comes again would be added for ever
    diagonal : k(x, x), where `needs_diagonal`
    copies : squared length of an update by 1, in units of k(x, x)
    seed, round_, expert : of the learner's own draws
    """
    if code == PERCEPTRON:
        return 1.0 if errs(code, parameters, margin, wrong) else 0.0
    loss = max(0.0, 1.0 - margin)
    if loss <= ZERO * (1.0 + size):
        return 0.0
    if code == PASSIVE_AGGRESSIVE:  # Crammer et al. (2006), figure 1
        square = copies * (diagonal if parameters[2] == 0.0 else 1.0)
        if square <= SMALLEST_DIAGONAL:
            return 0.0
        if parameters[0] == PA_II:
            return loss / (square + 0.5 / parameters[1])
        step = loss / square
        return min(parameters[1], step) if parameters[0] == PA_I else step
    # SPARSE_PA: Lu et al. (2015), algorithm 1 and proposition 1
    square = copies * (diagonal if parameters[3] == 0.0 else 1.0)
    chance = min(parameters[1], loss) / parameters[2]
    drawn = uniform(seed, round_, DRAW_ADMISSION * PURPOSE + expert) < chance
    if square <= SMALLEST_DIAGONAL or not drawn:
        return 0.0
    return min(parameters[0] / chance, loss / square)
