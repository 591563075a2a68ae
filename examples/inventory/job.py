"""Inventory: goods are reserved for fifteen minutes, then sold or free again; never is more promised than there is."""

import streamproof as sp

KNOWN, UNTIL = "entries[id]", "at + INTERVAL 15 MINUTES"
HELD = f"{KNOWN}.state = 'held'"
ANSWER = f"""CASE
    WHEN kind = 'deliver' AND {KNOWN} IS NULL THEN 'delivered'
    WHEN kind = 'reserve' AND {KNOWN} IS NULL THEN IF(quantity <= free AND size(entries) < 1000, 'held', 'refused')
    WHEN kind = 'cancel' AND {HELD} THEN 'cancelled'
    WHEN kind = 'confirm' AND {HELD} AND at <= {KNOWN}.until THEN 'sold'
    WHEN kind = 'confirm' AND ({HELD} OR {KNOWN} IS NULL) THEN 'refused'
    ELSE 'ignored'
END"""
ADDED = f"CASE {ANSWER} WHEN 'delivered' THEN quantity WHEN 'held' THEN -quantity WHEN 'cancelled' THEN {KNOWN}.quantity ELSE 0 END"
ENTRY = f"struct(coalesce({KNOWN}.quantity, quantity) AS quantity, coalesce({KNOWN}.until, {UNTIL}) AS until, {ANSWER} AS state)"
EXPIRED = "it -> it.value.until <= timer AND it.value.state = 'held'"


@sp.job
def inventory(requests: sp.Stream) -> sp.Outputs:
    """Each request has an answer; what nobody confirms in time leaves by `expired`, and is free again."""
    sound = requests.require(
        kind="kind IN ('deliver', 'reserve', 'confirm', 'cancel')",
        id="id IS NOT NULL",
        quantity="quantity > 0 OR kind IN ('confirm', 'cancel')",
    )
    answers = sound.keyed(
        "sku",
        state={
            "free": "0L",
            "entries": sp.map_of("string", "struct<quantity: bigint, until: timestamp, state: string>", at_most=2000),
            "answer": "CAST(NULL AS STRING)",  # emit sees fields as they have become, so it can show it
        },
        on_row=sp.step(
            set={
                "answer": ANSWER,
                "free": f"free + {ADDED}",
                "entries[id]": f"IF({ANSWER} IN ('refused', 'ignored'), {KNOWN}, {ENTRY})",
                "expire": f"IF({ANSWER} IN ('delivered', 'held'), least(expire, {UNTIL}), expire)",
            },
            emit=sp.emit("id", "sku", "kind", "at", "answer", "free"),
        ),
        on_timer={
            "expire": sp.step(
                set={
                    "free": f"free + aggregate(filter(map_entries(entries), {EXPIRED}), 0L, (sum, it) -> sum + it.value.quantity)",
                    "entries": "map_filter(entries, (_, it) -> it.until > timer)",
                    "expire": "array_min(filter(transform(map_values(entries), it -> it.until), it -> it > timer))",
                },
                emit=sp.emit(
                    *("each.key AS id", "sku", "each.value.quantity AS quantity", "timer AS at"),
                    each=f"filter(map_entries(before.entries), {EXPIRED})",
                    to="expired",
                ),
            )
        },
        ttl="never",
    )
    return sp.Outputs(answers=answers, expired=answers.tagged("expired"), late=answers.late, rejected=answers.rejected)
