"""One micro-batch after Spark's work phase: stage, decide, publish (R2-R8)."""
