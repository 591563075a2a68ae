"""What must be on the machine before a JVM is started: Java 17 or later, and Spark: 4.0 to 4.3 for jobs of ours, from 3.5 for plain ones."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from streamproof._jvm import INSTALL, SPARK_VERSIONS, installed_spark, minor_version
from streamproof.errors import EnvironmentProblem

OLDEST_JAVA = 17
SPARK_OF_PLAIN_JOBS = ("3.5", *SPARK_VERSIONS)
"""Where jobs that were not written for us are proved: the proof itself stands on what these have in common."""
_JAVA_INSTALL = "Debian: apt install openjdk-17-jdk-headless. macOS: brew install openjdk@17."
_ANSWERS_WITHIN_SECONDS = 20


@dataclass(frozen=True)
class Java:
    """A Java runtime: its feature version (17), and its home, or None where it is the `java` of the PATH."""

    version: int
    home: Path | None

    @property
    def command(self) -> str:
        """What starts it."""
        return "java" if self.home is None else str(self.home / "bin" / "java")


def find_java() -> Java:
    """The Java runtime that Spark will take: that of JAVA_HOME, else the `java` of the PATH.

    Raises
    ------
    EnvironmentProblem
        If there is none, it cannot be started, or it is older than 17.
    """
    home = os.environ.get("JAVA_HOME") or None
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    named = f"JAVA_HOME={home}" if home else "JAVA_HOME is not set"
    if java is None or not Path(java).is_file():
        raise EnvironmentProblem(
            f"No Java found ({named}{'' if home else ', no java on the PATH'}); Streamproof needs {OLDEST_JAVA} or later. {_JAVA_INSTALL}"
        )
    answer = _answer(java, named)
    found = re.search(r'version "(?:1\.)?(\d+)', answer)
    if found is None:
        raise EnvironmentProblem(
            f"{java} does not say its version ({named}).", required=f"Streamproof needs Java {OLDEST_JAVA} or later."
        )
    version = int(found[1])
    if version < OLDEST_JAVA:
        raise EnvironmentProblem(f"Java {version} found ({named}); Streamproof needs {OLDEST_JAVA} or later. {_JAVA_INSTALL}")
    return Java(version, Path(home) if home else None)


def find_spark() -> str:
    """The version of the installed PySpark, for a job of ours.

    Raises
    ------
    EnvironmentProblem
        If it is not there, or another one than such a job needs.
    """
    version = installed_spark()
    if not is_own_spark(version):
        raise EnvironmentProblem(
            f"PySpark {version} found; a job written with Streamproof needs {', '.join(SPARK_VERSIONS[:-1])} or {SPARK_VERSIONS[-1]}.",
            required=f"Plain PySpark jobs are proved on {SPARK_OF_PLAIN_JOBS[0]} to {SPARK_OF_PLAIN_JOBS[-1]}: "
            "streamproof prove file.py:function --input NAME=FILE",
            remedy=INSTALL,
        )
    return version


def find_spark_of_plain_jobs() -> str:
    """The version of the installed PySpark, for the proof of a job that was not written for us.

    Raises
    ------
    EnvironmentProblem
        If it is not there, or a version that no proof runs on.
    """
    version = installed_spark()
    if minor_version(version) not in SPARK_OF_PLAIN_JOBS:
        raise EnvironmentProblem(
            f"PySpark {version} found; plain PySpark jobs are proved on {', '.join(SPARK_OF_PLAIN_JOBS)}.", remedy=INSTALL
        )
    return version


def is_own_spark(version: str) -> bool:
    """Whether jobs of ours run on this version."""
    return minor_version(version) in SPARK_VERSIONS


def spark_jars() -> Path:
    """The folder of jars that the installed PySpark brings, without importing it; EnvironmentProblem where it is not there."""
    find_spark()
    found = find_spec("pyspark")
    assert found is not None, "it was found"
    assert found.origin is not None, "it is a package with files"
    return Path(found.origin).parent / "jars"


def _answer(java: str, named: str) -> str:
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=_ANSWERS_WITHIN_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise EnvironmentProblem(
            f"{java} cannot be started ({named}): {problem}.",
            required=f"Streamproof needs Java {OLDEST_JAVA} or later. {_JAVA_INSTALL}",
        ) from None
    return done.stderr + done.stdout
