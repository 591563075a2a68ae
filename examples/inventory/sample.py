"""Half an hour of a shop with two articles: each batch is what its servers sent until then."""

BATCHES = [
    [
        {"id": "d-1", "kind": "deliver", "sku": "tent", "quantity": 3, "at": "2026-01-05T09:00:00Z"},
        {"id": "d-2", "kind": "deliver", "sku": "stove", "quantity": 1, "at": "2026-01-05T09:00:30Z"},
        {"id": "r-1", "kind": "reserve", "sku": "tent", "quantity": 2, "at": "2026-01-05T09:02:00Z"},
    ],
    [
        {"id": "r-1", "kind": "reserve", "sku": "tent", "quantity": 2, "at": "2026-01-05T09:02:00Z"},  # sent twice
        {"id": "r-2", "kind": "reserve", "sku": "tent", "quantity": 2, "at": "2026-01-05T09:05:00Z"},  # one is free
        {"id": "r-3", "kind": "reserve", "sku": "tent", "quantity": 1, "at": "2026-01-05T09:06:00Z"},
    ],
    [
        {"id": "r-3", "kind": "confirm", "sku": "tent", "at": "2026-01-05T09:10:00Z"},
        {"id": "r-4", "kind": "reserve", "sku": "stove", "quantity": -1, "at": "2026-01-05T09:10:30Z"},
        '{"id": "r-4", "kind"',
    ],
    [{"id": "r-5", "kind": "reserve", "sku": "stove", "quantity": 1, "at": "2026-01-05T09:12:00Z"}],
    [{"id": "r-6", "kind": "reserve", "sku": "tent", "quantity": 1, "at": "2026-01-05T09:18:00Z"}],  # r-1 may still be confirmed
    [{"id": "r-5", "kind": "confirm", "sku": "stove", "at": "2026-01-05T09:25:00Z"}],
    [{"id": "r-8", "kind": "confirm", "sku": "stove", "at": "2026-01-05T09:27:00Z"}],  # of what was never reserved
    [{"id": "r-7", "kind": "reserve", "sku": "tent", "quantity": 2, "at": "2026-01-05T09:30:00Z"}],  # r-1 has expired
    [
        {"id": "r-1", "kind": "confirm", "sku": "tent", "at": "2026-01-05T09:16:00Z"},  # of a server that was offline
        {"id": "r-7", "kind": "cancel", "sku": "tent", "at": "2026-01-05T09:33:00Z"},
    ],
]
