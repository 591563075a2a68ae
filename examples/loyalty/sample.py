"""Purchases of the Sunday on which summer time ends in Berlin: each batch is what the shops sent until then."""

BATCHES = [
    [
        {"receipt": "r-1", "member": "m1", "euros": 20.40, "at": "2026-10-25T01:30:00+02:00"},
        {"receipt": "r-2", "member": "m1", "euros": 12.00, "at": "2026-10-25T02:30:00+02:00"},
        {"receipt": "r-3", "member": "m1", "euros": 7.90, "at": "2026-10-25T02:30:00+01:00"},  # the second half past two
    ],
    [
        {"receipt": "r-4", "member": "m1", "euros": 35.00, "at": "2026-10-25T22:45:00+01:00"},
        {"receipt": "r-4", "member": "m1", "euros": 35.00, "at": "2026-10-25T22:45:00+01:00"},  # sent twice
        {"receipt": "r-5", "member": "m2", "euros": 18.20, "at": "2026-10-25T22:50:00+01:00"},
        {"receipt": "r-6", "member": "m2", "euros": -5.00, "at": "2026-10-25T22:51:00+01:00"},
        '{"receipt": "r-7", "member"',
    ],
    [{"receipt": "r-8", "member": "m2", "euros": 9.50, "at": "2026-10-26T00:05:00+01:00"}],
    [{"receipt": "r-9", "member": "m2", "euros": 2.00, "at": "2026-10-26T00:20:00+01:00"}],
    [{"receipt": "r-10", "member": "m1", "euros": 50.00, "at": "2026-10-25T23:10:00+01:00"}],  # of a shop that was offline
    [{"receipt": "r-11", "member": "m2", "euros": 3.00, "at": "2026-10-26T01:40:00+01:00"}],
    [{"receipt": "r-12", "member": "m2", "euros": 4.00, "at": "2026-10-26T01:45:00+01:00"}],
    [{"receipt": "r-13", "member": "m1", "euros": 80.00, "at": "2026-10-25T23:55:00+01:00"}],  # of a shop that was offline too long
]
