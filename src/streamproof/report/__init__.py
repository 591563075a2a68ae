"""What a proof shows: terminal, page, JUnit and JSON, each drawn from a stored report and from nothing else. Never imports pyspark."""
