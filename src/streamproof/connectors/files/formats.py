"""The formats of files by the names that Spark knows them by."""

AVRO = "org.apache.spark.sql.avro.AvroFileFormat"
"""Spark 4.3 brings it, and gives it no short name: that one stands for a jar that need not be there."""
