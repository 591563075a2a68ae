"""Directories of files: JSON, CSV, text, Parquet, ORC and Avro in; JSON, CSV, Parquet and Avro out."""
