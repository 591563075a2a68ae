"""Directories of files: JSON and Parquet, in and out."""
