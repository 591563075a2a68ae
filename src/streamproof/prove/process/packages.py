"""Jars that Spark is to fetch by itself (`spark.jars.packages`): fetched before the proof, which has no network to fetch them by."""

import json
import subprocess
import sys
from collections.abc import Mapping

from streamproof.errors import EnvironmentProblem
from streamproof.prove.process import apart

PACKAGES = "spark.jars.packages"
_FETCH_SECONDS = 900.0
_FETCHED = ("spark.jars", "spark.submit.pyFiles")
_SCRIPT = """
import json, sys
from pyspark import SparkConf
from pyspark.java_gateway import launch_gateway
gateway = launch_gateway(SparkConf().setAll(json.loads(sys.argv[1]).items()))
print(json.dumps({key: gateway.jvm.System.getProperty(key) for key in sys.argv[2:]}))
gateway.shutdown()
"""


def fetched(settings: Mapping[str, str]) -> dict[str, str]:
    """Settings that name the same packages by their files, where this proof has a network of its own; else the same settings.

    Raises
    ------
    EnvironmentProblem
        If Spark cannot fetch one.
    """
    if PACKAGES not in settings or not apart.has_own_network():
        return dict(settings)
    files = apart.do_outside(_by_spark, {key: value for key, value in settings.items() if key.startswith("spark.jars")})
    return {**{key: value for key, value in settings.items() if key != PACKAGES}, **files}


def _by_spark(settings: Mapping[str, str]) -> dict[str, str]:
    try:
        done = subprocess.run(
            [sys.executable, "-c", _SCRIPT, json.dumps({**settings, "spark.ui.enabled": "false"}), *_FETCHED],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=_FETCH_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise EnvironmentProblem(
            f"Spark has not fetched {settings[PACKAGES]} within {_FETCH_SECONDS:.0f} seconds.",
            required="Maven Central, or the repositories that spark.jars.repositories names, can be reached.",
            remedy="Look at the network and its proxy; what was fetched already is kept for the next time.",
        ) from None
    if done.returncode:
        said = [
            line.strip() for line in done.stderr.splitlines() if "UNRESOLVED" in line or "not found" in line or "Exception" in line
        ]
        raise EnvironmentProblem(
            f"Spark cannot fetch {settings[PACKAGES]}{f': {said[0]}' if said else '.'}",
            required="Each package is there as group:name:version, in Maven Central or in the repositories that spark.jars.repositories names.",
            remedy="Look at its name and its version; they fit one version of Spark and of Scala.",
        )
    found = json.loads(done.stdout.strip().splitlines()[-1])
    return {key: value for key, value in found.items() if value}
