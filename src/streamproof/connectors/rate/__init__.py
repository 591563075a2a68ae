"""Rows that Spark makes itself, so many a second."""
