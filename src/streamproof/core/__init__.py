"""What everything stands on: durations, ids, seeded randomness, clocks, verdicts, phases, manifests. Standard library only."""
