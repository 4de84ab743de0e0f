"""Every label policy, with its naive twin: the list that the tests of policies run over."""

from functools import partial

from naive import policies

import kernbrook as kb

# name -> (the policy, its twin)
POLICIES = {
    "disagreement": (kb.Disagreement(0.05, window=3), policies.disagreement(0.05, 3)),
    "disagreement, patient": (kb.Disagreement(0.3, window=8), policies.disagreement(0.3, 8)),
    "margin": (kb.MarginSampling(0.3), policies.margin(0.3)),
    "random": (kb.RandomLabels(0.4), policies.at_random(0.4)),
    "budget": (kb.LabelBudget(0.4, 5), partial(policies.LabelBudget, 0.4, 5)),
    "budget, strict": (
        kb.LabelBudget(0.2, 100, 0.8, 1.0),
        partial(policies.LabelBudget, 0.2, 100, 0.8, 1.0),
    ),
    "all": (kb.AllLabels(), policies.everything),
}


def fresh(policy):
    """The twin of a policy; one that keeps something begins anew."""
    return policy() if isinstance(policy, partial) else policy
