"""Reading checkpoints: offsets, commits, sources and state. Nothing here writes."""
