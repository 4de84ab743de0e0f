"""The counter-based draws, in Python's own integers."""

BITS = 2**64 - 1
VOTE, UPDATE = 0, 1


def mix(z):
    """The finaliser of SplitMix64: Steele, Lea, Flood (2014), figure 17, mix64 variant 13."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & BITS
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & BITS
    return z ^ (z >> 31)


def uniform(seed, round_, slot):
    """A number in [0, 1) with 53 bits, from (seed, round, slot) alone."""
    golden = 0x9E3779B97F4A7C15
    z = mix((seed + golden) & BITS)
    z = mix((z + round_ * golden) & BITS)
    z = mix((z + slot * golden) & BITS)
    return (z >> 11) / 2**53


def bernoulli(seed, round_, purpose, expert, probability):
    return uniform(seed, round_, purpose * 2**20 + expert) < probability
