"""Random numbers that depend on (seed, round, slot) alone, so that chunking cannot matter.

A slot is an expert's number plus a multiple of `PURPOSE`, one multiple for each kind of draw.
"""

import numpy as np

from kernbrook.compiler.compiling import njit

PURPOSE = 1 << 20
DRAW_VOTE = 0
DRAW_UPDATE = 1
DRAW_ADMISSION = 2
DRAW_REMOVAL = 3
DRAW_LABEL = 4
DRAW_SUBSET = 5
DRAW_COPIES = 6
DRAW_INPUTS = 7
DRAW_SAMPLE = 8
DRAW_GRIDS = 9
FIRST_OWN = 1 << 10  # kinds from here on are for parts of others

# 2^64 over the golden ratio: near numbers go far apart.
STRIDE = np.uint64(0x9E3779B97F4A7C15)
_MIX_A = np.uint64(0xBF58476D1CE4E5B9)
_MIX_B = np.uint64(0x94D049BB133111EB)
_30, _27, _31, _11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)


@njit(inline="always")
def mix(z):
    """The finaliser of SplitMix64 (Steele, Lea, Flood, 2014)."""
    z = (z ^ (z >> _30)) * _MIX_A
    z = (z ^ (z >> _27)) * _MIX_B
    return z ^ (z >> _31)


@njit(cache=True, nogil=True)
def uniform(seed, round_, slot):
    """A number in [0, 1), a function of its three arguments only."""
    z = mix(np.uint64(seed) + STRIDE)
    z = mix(z + np.uint64(round_) * STRIDE)
    z = mix(z + np.uint64(slot) * STRIDE)
    return np.float64(z >> _11) * (1.0 / 9007199254740992.0)


@njit(cache=True, nogil=True)
def own_uniform(seed, round_, slot, kind):
    """`uniform` for a part that is none of kernbrook's: no draw of kernbrook is the same.

    slot : number of the expert, or another from 0, below `PURPOSE`
    kind : from 0, of draws of one part that must not be the same
    """
    return uniform(seed, round_, (FIRST_OWN + kind) * PURPOSE + slot)
