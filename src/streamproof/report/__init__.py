"""What a proof shows: terminal, page, JUnit and JSON, each drawn from a stored report alone. Never imports pyspark."""
