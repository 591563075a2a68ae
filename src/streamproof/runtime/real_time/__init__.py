"""Spark's real-time trigger: rows go from topic to topic while their batch still runs, and are accounted for once it is over."""
