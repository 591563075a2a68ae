"""The skew of event time in a sample, and the lag that loses no more of it than is wanted (S3)."""
