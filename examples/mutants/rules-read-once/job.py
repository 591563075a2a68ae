"""Suspicious payments by rules of the analysts: the job of both, which says nothing of how often the rules are read."""

import streamproof as sp


@sp.job
def fraud(payments: sp.Stream) -> sp.Outputs:
    """A payment is suspicious if a rule holds for it."""
    checked = payments.rules("fraud_rules", rule="rule", when="condition", into="hits")
    return sp.Outputs(suspicious=checked.filter("size(hits) > 0", name="harmless"))
