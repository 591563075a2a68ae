"""Card fraud: many payments of a card in ten minutes, and rules that analysts change while the job runs."""

import streamproof as sp

KNOWN = "exists(recent, one -> one.payment = payment)"
WITH_THIS = "array_append(filter(recent, one -> one.at > at - INTERVAL 11 MINUTES), struct(payment, at))"
PAYMENTS = "size(filter(recent, one -> one.at > at - INTERVAL 10 MINUTES AND one.at <= at))"
IS_COPY = "exists(before.recent, one -> one.payment = payment)"


@sp.job
def card_fraud(payments: sp.Stream) -> sp.Outputs:
    """A payment is suspicious if it is the third of its card within ten minutes, or if a rule holds for it."""
    sound = payments.require(euros="euros > 0")
    known = sound.lookup("cards", on="card", columns=("home", "usual"))
    judged = known.rules("fraud_rules", rule="rule", when="condition", into="hits")
    suspicious = f"NOT {IS_COPY} AND ({PAYMENTS} >= 3 OR size(hits) > 0)"
    watched = judged.keyed(
        "card",
        state={"recent": sp.list_of("struct<payment: string, at: timestamp>", at_most=50)},
        on_row=sp.step(
            set={"recent": f"IF({KNOWN}, recent, {WITH_THIS})"},
            emit=[
                sp.emit("payment", "card", "at", "euros", f"{PAYMENTS} AS payments", "hits", when=suspicious),
                sp.emit("payment", "card", when=IS_COPY, to="copies"),
            ],
        ),
        ttl="11 minutes",  # the ten that count, and the lag: a payment that comes a minute late still finds those before it
    )
    return sp.Outputs(
        suspicious=watched,
        copies=watched.tagged("copies"),
        unknown_cards=watched.unmatched,
        late=watched.late,
        rejected=watched.rejected,
    )
