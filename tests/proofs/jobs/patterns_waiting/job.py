"""Orders of shops: the patterns whose rows leave when the watermark is there."""

import streamproof as sp

ORDERED = sp.patterns.event("kind = 'order'", id="string")


@sp.job
def orders_of_shops(events: sp.Stream) -> sp.Outputs:
    """Which order is paid in time and which is not, which shop falls silent, and all of it in order, with what is missing."""
    checked = events.require(number="number > 0")
    paid = sp.patterns.sequence(checked, "shop", time="ts", first=ORDERED, then="kind = 'pay'", within="30 seconds", at_most=100)
    silent = sp.patterns.inactivity(checked, "shop", time="ts", after="20 seconds")
    ordered = sp.patterns.reorder(
        checked, "shop", time="ts", columns={"id": "string", "kind": "string"}, number="number", ttl="never", at_most=6
    )
    return sp.Outputs(
        paid=paid,
        unpaid=paid.tagged("missing"),
        silent=silent,
        ordered=ordered,
        gaps=ordered.tagged("gaps"),
        crowded=ordered.overflow("waiting"),
        late=ordered.late,
        rejected=checked.rejected,
    )
