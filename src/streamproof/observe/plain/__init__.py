"""Plain PySpark jobs, watched by Spark's own listener: `hearing.py` hears it and slows no query, `watch.py` is `sp.watch`."""
