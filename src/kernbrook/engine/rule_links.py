"""Links to rules: what compiled passes call the verbs of factors through."""

from kernbrook.compiler.compiling import njit
from kernbrook.compiler.links import fill_in, fills
from kernbrook.engine.verbs import expand, fit_in, predict, select, update, wants


@fills(expand)
@njit(cache=True)
def link_expander(rule, link):
    """Fill in the link to a rule of kernel expansions."""
    fill_in(expand, rule, link)


@fills(fit_in)
@njit(cache=True)
def link_budgeted(rule, link):
    """Fill in the link to a rule under a budget."""
    fill_in(fit_in, rule, link)


@fills(predict)
@njit(cache=True)
def link_linear(rule, link):
    """Fill in the link to a rule on features."""
    fill_in(predict, rule, link)


@fills(update)
@njit(cache=True)
def link_combiner(rule, link):
    """Fill in the link to a combiner."""
    fill_in(update, rule, link)


@fills(select)
@njit(cache=True)
def link_selection(rule, link):
    """Fill in the link to a selection."""
    fill_in(select, rule, link)


@fills(wants)
@njit(cache=True)
def link_policy(rule, link):
    """Fill in the link to a label policy."""
    fill_in(wants, rule, link)
