"""Payments of a card: how many in ten minutes, a balance, and cards that fall silent."""

import streamproof as sp


@sp.job
def keyed(payments: sp.Stream) -> sp.Outputs:
    """A row for each payment beyond the second within a minute, and one when a card has been silent for two."""
    checked = payments.require(amount="amount > 0")
    watched = checked.keyed(
        "card",
        state={
            "recent": sp.list_of("timestamp", at_most=3),
            "total": "CAST(0 AS DECIMAL(18, 2))",
            "shops": sp.map_of("string", "bigint", at_most=4),
        },
        on_row=sp.step(
            set={
                "recent": "array_append(filter(recent, at -> at > ts - INTERVAL 1 MINUTE), ts)",
                "total": "CAST(total + CAST(amount AS DECIMAL(9, 2)) AS DECIMAL(18, 2))",
                "shops[shop]": "coalesce(shops[shop], 0) + 1",
                "silence": "greatest(silence, ts + INTERVAL 2 MINUTES)",
            },
            emit=[
                sp.emit("card", "ts", "size(recent) AS payments", "total", when="size(recent) > 1"),
                sp.emit("payment_id", "card", "shop", "shops[shop] AS times", when="shops[shop] > 1", to="again"),
            ],
        ),
        on_timer={
            "silence": sp.step(
                set={"recent": "CAST(array() AS array<timestamp>)"}, emit=sp.emit("card", "timer AS ts", "0 AS payments", "total")
            )
        },
        ttl="3 minutes",
    )
    return sp.Outputs(
        watched=watched,
        again=watched.tagged("again"),
        forgotten=watched.overflow("shops"),
        late=watched.late,
        rejected=checked.rejected,
    )
