"""Two machines and their sensors: each batch is what had arrived until then."""

BATCHES = [
    [
        {"sensor": "s1", "celsius": 60.0, "at": "2026-01-05T09:00:00Z"},
        {"sensor": "s2", "celsius": 41.0, "at": "2026-01-05T09:01:00Z"},
        {"sensor": "s2", "celsius": 43.0, "at": "2026-01-05T09:02:00Z"},
        {"sensor": "s1", "celsius": 64.0, "at": "2026-01-05T09:03:00Z"},
        {"sensor": "s1", "celsius": 71.0, "at": "2026-01-05T09:07:00Z"},
    ],
    [
        {"sensor": "s1", "celsius": 68.0, "at": "2026-01-05T09:13:30Z"},
        {"sensor": "s1", "celsius": 999.0, "at": "2026-01-05T09:13:40Z"},  # what a broken wire measures
        '{"sensor": "s1", "celsius": ',
    ],
    [{"sensor": "s1", "celsius": 70.0, "at": "2026-01-05T09:10:00Z"}],  # it joins what seemed to be two runs
    [{"sensor": "s1", "celsius": 20.0, "at": "2026-01-05T09:30:00Z"}],
    [{"sensor": "s1", "celsius": 35.0, "at": "2026-01-05T09:32:00Z"}],
    [{"sensor": "s1", "celsius": 66.0, "at": "2026-01-05T09:16:00Z"}],  # too late: the run has been written
]
