"""Rows on their way through a batch: the doors that they leave by, what they add up to, those that wait."""
