"""Whether a checkpoint is sound: what is torn, missing, swapped, foreign or in a gap. Nothing here writes."""
