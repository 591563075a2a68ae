"""The daemon of Spark's Python workers during a proof: pyspark's own, with the socket guard in it and in every worker."""

import runpy

from streamproof.prove import guard

if __name__ == "__main__":
    guard.install_in_worker()
    runpy.run_module("pyspark.daemon", run_name="__main__")
