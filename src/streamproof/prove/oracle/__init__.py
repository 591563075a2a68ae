"""The oracle: a model in plain Python that knows batches and watermarks, and nothing of Spark."""
