"""One micro-batch behind Spark's work phase: stage, decide, publish (R2-R8)."""
