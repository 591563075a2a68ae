"""Ads that three users were shown, and what they bought, over three days: each batch is what both systems sent until then."""

BATCHES = [
    {
        "impressions": [
            {"impression": "i-1", "user": "u1", "campaign": "spring", "at": "2026-01-05T09:00:00Z"},
            {"impression": "i-2", "user": "u2", "campaign": "brand", "at": "2026-01-05T10:00:00Z"},
        ],
        "purchases": [
            {"purchase": "b-1", "user": "u3", "euros": 30.00, "at": "2026-01-05T10:30:00Z"},  # of a user who was shown no ad
        ],
    },
    {
        "impressions": [{"impression": "i-3", "user": "u1", "campaign": "brand", "at": "2026-01-05T20:00:00Z"}],
        "purchases": [{"purchase": "b-2", "user": "u2", "euros": 45.00, "at": "2026-01-05T19:00:00Z"}],
    },
    {
        "impressions": [{"impression": "i-4", "user": "u3", "campaign": "spring", "at": "2026-01-06T09:00:00Z"}],
        "purchases": [{"purchase": "b-3", "user": "u1", "euros": 120.00, "at": "2026-01-06T08:00:00Z"}],  # after two ads
    },
    {
        "impressions": [
            {"impression": "i-5", "user": "u2", "campaign": "spring", "at": "2026-01-06T12:30:00Z"},
            '{"impression": "i-6", "user"',
        ],
        "purchases": [
            {"purchase": "b-4", "user": "u2", "euros": 25.00, "at": "2026-01-06T11:30:00Z"},  # 25 hours and a half after i-2
            {"purchase": "b-5", "user": "u2", "euros": -3.00, "at": "2026-01-06T11:40:00Z"},
        ],
    },
    {
        "impressions": [{"impression": "i-7", "user": "u1", "campaign": "spring", "at": "2026-01-06T20:00:00Z"}],
        "purchases": [{"purchase": "b-6", "user": "u3", "euros": 60.00, "at": "2026-01-06T20:10:00Z"}],
    },
    {
        "impressions": [
            {"impression": "i-8", "user": "u3", "campaign": "brand", "at": "2026-01-06T20:05:00Z"},  # came after its purchase
            {"impression": "i-9", "user": "u1", "campaign": "brand", "at": "2026-01-06T10:00:00Z"},  # of a server that was offline
            {"impression": "i-10", "user": "u2", "campaign": "brand", "at": "2026-01-07T09:00:00Z"},
        ],
        "purchases": [{"purchase": "b-7", "user": "u1", "euros": 80.00, "at": "2026-01-07T08:00:00Z"}],
    },
    {
        "impressions": [{"impression": "i-11", "user": "u1", "campaign": "spring", "at": "2026-01-07T12:00:00Z"}],
        "purchases": [{"purchase": "b-8", "user": "u2", "euros": 15.00, "at": "2026-01-07T10:00:00Z"}],
    },
]
