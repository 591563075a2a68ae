"""Redis: a hash for each key, written so that a repetition changes nothing."""
