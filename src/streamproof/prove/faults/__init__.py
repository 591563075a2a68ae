"""Faults on services: each is done at a named step, while the step waits for it."""
