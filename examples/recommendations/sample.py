"""What two users of a shop did in a day: each batch is what its servers sent until then."""

BATCHES = [
    [
        {"action": "a-1", "user": "u1", "kind": "view", "item": "tent", "at": "2026-01-05T09:00:00Z"},
        {"action": "a-2", "user": "u2", "kind": "view", "item": "novel", "at": "2026-01-05T09:00:00Z"},
        {"action": "a-3", "user": "u2", "kind": "view", "item": "kite", "at": "2026-01-05T09:05:00Z"},  # which is in no table
    ],
    [
        {"action": "a-4", "user": "u1", "kind": "view", "item": "novel", "at": "2026-01-05T15:00:00Z"},
        '{"action": "a-5", "user"',
    ],
    [
        {"action": "a-6", "user": "u2", "kind": "cart", "item": "stove", "at": "2026-01-05T15:00:00Z"},
        {"action": "a-7", "user": "u2", "kind": "hover", "item": "stove", "at": "2026-01-05T15:01:00Z"},
    ],
    [{"action": "a-8", "user": "u1", "kind": "buy", "item": "atlas", "at": "2026-01-05T21:00:00Z"}],
    [{"action": "a-9", "user": "u2", "kind": "view", "item": "lamp", "at": "2026-01-05T21:00:00Z"}],
    [
        {"action": "a-10", "user": "u1", "kind": "view", "item": "tent", "at": "2026-01-05T20:58:00Z"},  # after one of 21:00
        {
            "action": "a-11",
            "user": "u1",
            "kind": "view",
            "item": "lamp",
            "at": "2026-01-05T14:00:00Z",
        },  # of a phone that was offline
    ],
    [{"action": "a-12", "user": "u1", "kind": "view", "item": "tent", "at": "2026-01-06T09:00:00Z"}],
]
