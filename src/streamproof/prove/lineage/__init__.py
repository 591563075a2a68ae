"""Lineage: where an event of a proof went, and which events made a row. A proof keeps what it takes; nothing here needs Spark."""
