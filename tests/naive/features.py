"""Feature maps, one example at a time, in Python's own numbers."""

import math
from collections import Counter
from itertools import combinations_with_replacement


def random_features(frequencies, x, normalize=True):
    """Rahimi and Recht (2007), in the form with both sine and cosine: 2 D numbers."""
    angles = [sum(float(v) * float(a) for v, a in zip(row, x, strict=True)) for row in frequencies]
    scale = 1.0 / math.sqrt(len(angles)) if normalize else 1.0
    sines = [scale * math.sin(angle) for angle in angles]
    return sines + [scale * math.cos(angle) for angle in angles]


def deal(n, inputs, width, shuffled):
    """The inputs of n frequencies, `inputs` each: cards from one deck of all inputs after another.

    shuffled : a function that gives a new deck. Cards that are still in hand go to its end.
    """
    hands, deck = [], []
    while len(hands) < n:
        hand = [deck.pop(0) for _ in range(min(inputs, len(deck)))]
        if len(hand) < inputs:
            fresh = shuffled(width)
            deck = [card for card in fresh if card not in hand]
            deck += [card for card in fresh if card in hand]
            hand += [deck.pop(0) for _ in range(inputs - len(hand))]
        hands.append(sorted(hand))
    return hands


def monomials(degree, offset, x):
    """The multinomial theorem: one product for each multiset of `degree` of x and the constant."""
    variables = [float(value) for value in x]
    if offset > 0:
        variables.append(math.sqrt(offset))
    features = []
    for chosen in combinations_with_replacement(range(len(variables)), degree):
        orders = math.factorial(degree)
        for times in Counter(chosen).values():
            orders //= math.factorial(times)
        features.append(math.sqrt(orders) * math.prod(variables[k] for k in chosen))
    return features
