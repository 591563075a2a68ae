"""Directories of files: JSON, CSV, text, Parquet and Avro, in and out."""
