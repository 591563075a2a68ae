"""The daemon of Spark's Python workers during a proof: pyspark's own, with the socket guard in it and in every worker."""

import os
import runpy

from streamproof.prove import guard

if __name__ == "__main__":
    guard.install(filter(None, os.environ.get(guard.ALLOW_VARIABLE, "").split(",")))
    runpy.run_module("pyspark.daemon", run_name="__main__")
