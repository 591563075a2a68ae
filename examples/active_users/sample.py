"""A morning of visits from Germany: each batch is what had arrived until then."""

BATCHES = [
    [
        {"user": "ada", "country": "DE", "agent": "browser", "at": "2026-01-05T09:00:20Z"},
        {"user": "bob", "country": "DE", "agent": "browser", "at": "2026-01-05T09:10:05Z"},
        {"user": "crawler", "country": "DE", "agent": "robot", "at": "2026-01-05T09:10:30Z"},
        {"user": "ada", "country": "DE", "agent": "browser", "at": "2026-01-05T09:20:00Z"},
    ],
    [
        {"user": "cleo", "country": "DE", "agent": "browser", "at": "2026-01-05T10:00:40Z"},
        '{"user": "dan", "country": "DE", "ag',
    ],
    [{"user": "ada", "country": "DE", "agent": "browser", "at": "2026-01-05T10:01:10Z"}],
    [{"user": "eve", "country": "DE", "agent": "browser", "at": "2026-01-05T09:30:00Z"}],  # half an hour older than the others
    [{"user": "bob", "country": "DE", "agent": "browser", "at": "2026-01-05T10:02:40Z"}],
]
