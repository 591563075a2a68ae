"""Lines of JSON by a seed, valid and broken ones, read in one pass and by Spark's parser: the same row, or the same reason."""
