"""Balances of accounts that were there before the job: they begin with a table, which a later restart finds changed."""

import streamproof as sp


@sp.job
def balances(entries: sp.Stream) -> sp.Outputs:
    """A row for each entry, with the balance after it; an account without entries for four minutes is forgotten."""
    checked = entries.require(amount="amount <> 0")
    booked = checked.keyed(
        "account",
        state={"balance": "CAST(0 AS DECIMAL(18, 2))", "last": sp.list_of("string", at_most=2)},
        on_row=sp.step(
            set={
                "balance": "CAST(balance + CAST(amount AS DECIMAL(9, 2)) AS DECIMAL(18, 2))",
                "last[]": "entry_id",
                "silence": "greatest(silence, ts + INTERVAL 1 MINUTE)",
            },
            emit=sp.emit("entry_id", "account", "ts", "balance", "before.last AS last", when="account <> 'a01'"),
        ),
        on_timer={"silence": sp.step(emit=sp.emit("account", "timer AS ts", "balance", to="silent"))},
        ttl="4 minutes",
        initial=sp.initial("opening", at="booked_at"),
    )
    return sp.Outputs(
        booked=booked, silent=booked.tagged("silent"), gone=booked.overflow("last"), late=booked.late, rejected=checked.rejected
    )
