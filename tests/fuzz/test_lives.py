"""Some lives, always the same; `python tests/fuzz --areas lives` has others. And real sets."""

import numpy as np
import pytest
from fuzz.lives import kinds, live, saved_on

NAMES = list(kinds())
ROWS = 700  # of a life, at most
SETS = {"letter": 800, "elec2": 1500, "kin8nm": 1500}


@pytest.mark.parametrize("number", range(4 * 7 + len(NAMES)))
def test_lives(number, tmp_path):
    """A life of each kind, and four more of the defaults, the small recipes, cells and trees."""
    name = NAMES[number % 7] if number < 4 * 7 else NAMES[number - 4 * 7]
    live(np.random.default_rng(number), tmp_path, name, ROWS)


@pytest.mark.data
@pytest.mark.parametrize("name", SETS)
def test_real_sets(name, tmp_path):
    saved_on(name, SETS[name], tmp_path)
