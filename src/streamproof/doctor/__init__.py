"""What is found by looking at a job without running it: classic mistakes, and the skew of its event time."""
