"""Payments of cards: the patterns whose rows leave with the record that gives them; and of sliding windows those that wait."""

import streamproof as sp


@sp.job
def payments_of_cards(payments: sp.Stream) -> sp.Outputs:
    """Many in a short time, what they add up to in a minute and altogether, and where a card is in another country."""
    checked = payments.require(amount="amount > 0")
    fast = sp.patterns.velocity(
        checked, "card", time="ts", at_least=3, within="1 minute", at_most=100, columns=["payment_id", "ts"]
    )
    slid = sp.patterns.sliding(checked, "card", "amount", time="ts", over="1 minute", at_most=5, columns=["payment_id", "ts"])
    balances = sp.patterns.running(
        checked, "card", ttl="never", columns=["payment_id", "ts"], cents=("0L", "amount"), payments=("0L", "1L")
    )
    moves = sp.patterns.changes(
        checked, "card", "country", time="ts", starts="CAST(NULL AS STRING)", ttl="1 hour", columns=["payment_id", "ts"]
    )
    whole = sp.patterns.sliding_complete(
        checked, "card", "amount", time="ts", over="1 minute", at_most=100, columns={"payment_id": "string"}
    )
    return sp.Outputs(
        fast=fast,
        slid=slid,
        whole=whole,
        forgotten=slid.overflow("recent"),
        balances=balances,
        moves=moves,
        late=fast.late,
        rejected=checked.rejected,
    )
