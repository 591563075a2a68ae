"""Recommendations: what each user is interested in now, as weights of categories that lose half of themselves in six hours."""

import streamproof as sp

NEWEST = "greatest(known, at)"  # an action may come after a later one
POINTS = "CASE kind WHEN 'buy' THEN 5D WHEN 'cart' THEN 3D ELSE 1D END"


def decay(since: str) -> str:
    """What is left at the newest action of a weight of an instant."""
    return f"pow(0.5D, (unix_millis({NEWEST}) - unix_millis({since})) / 21600000D)"


@sp.job
def recommendations(actions: sp.Stream) -> sp.Outputs:
    """A row for each action, with all weights of its user as they are then."""
    known = actions.require(kind="kind IN ('view', 'cart', 'buy')").lookup("items", on="item", columns=("category",))
    features = known.keyed(
        "user",
        state={
            "known": "CAST(NULL AS TIMESTAMP)",
            "weights": sp.map_of("string", "double", at_most=50),
            "actions": "0L",
        },
        on_row=sp.step(
            set={
                "known": NEWEST,
                "weights": f"transform_values(weights, (_, weight) -> weight * {decay('known')})",
                "weights[category]": f"coalesce(weights[category] * {decay('known')}, 0D) + {POINTS} * {decay('at')}",
                "actions": "actions + 1",
            },
            emit=sp.emit("user", "known AS at", "weights", "actions"),
        ),
        ttl="30 days",
    )
    return sp.Outputs(
        features=features,
        unknown_items=features.unmatched,
        late=features.late,
        rejected=features.rejected,
    )
