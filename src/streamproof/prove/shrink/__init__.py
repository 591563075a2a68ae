"""A failing scenario is made as small as it can be: the fewest events, batches and faults that still fail with the same finding."""
