"""The skew of event time in a sample, and the delay that loses no more of it than is wanted (S3)."""
