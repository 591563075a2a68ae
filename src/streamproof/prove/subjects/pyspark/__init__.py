"""A PySpark job that was not written for us: a function of streaming DataFrames, or a program that starts its own queries."""
