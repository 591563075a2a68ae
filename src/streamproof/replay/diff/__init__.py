"""Where two outputs disagree: row by row, by key, and in sums (S17)."""
