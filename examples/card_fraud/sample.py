"""Payments of three cards in a quarter of an hour: each batch is what the terminals sent until then."""

BATCHES = [
    [
        {"payment": "p-1", "card": "c1", "country": "DE", "euros": 12.50, "at": "2026-01-05T09:00:00Z"},
        {"payment": "p-2", "card": "c2", "country": "FR", "euros": 80.00, "at": "2026-01-05T09:01:00Z"},
        {
            "payment": "p-3",
            "card": "c9",
            "country": "DE",
            "euros": 15.00,
            "at": "2026-01-05T09:01:30Z",
        },  # of a card that nobody knows
    ],
    [
        {"payment": "p-4", "card": "c1", "country": "DE", "euros": 9.99, "at": "2026-01-05T09:04:00Z"},
        {"payment": "p-4", "card": "c1", "country": "DE", "euros": 9.99, "at": "2026-01-05T09:04:00Z"},  # sent twice
        {"payment": "p-5", "card": "c3", "country": "US", "euros": 220.00, "at": "2026-01-05T09:05:00Z"},  # far from home
        {"payment": "p-6", "card": "c3", "country": "DE", "euros": -3.00, "at": "2026-01-05T09:05:10Z"},
    ],
    [
        {"payment": "p-7", "card": "c1", "country": "DE", "euros": 30.00, "at": "2026-01-05T09:08:00Z"},  # the third in ten minutes
        {"payment": "p-8", "card": "c3", "country": "DE", "euros": 251.00, "at": "2026-01-05T09:09:00Z"},  # ten times what is usual
        '{"payment": "p-9", "card"',
    ],
    [
        {"payment": "p-10", "card": "c1", "country": "DE", "euros": 20.00, "at": "2026-01-05T09:15:00Z"},  # two in ten minutes
        {"payment": "p-11", "card": "c2", "country": "FR", "euros": 90.00, "at": "2026-01-05T09:15:30Z"},
    ],
    [{"payment": "p-12", "card": "c2", "country": "FR", "euros": 95.00, "at": "2026-01-05T09:16:00Z"}],
    [
        {"payment": "p-13", "card": "c1", "country": "DE", "euros": 25.00, "at": "2026-01-05T09:07:00Z"}
    ],  # of a terminal that was offline
]
