"""What must be on the machine before a JVM is started: Java 17 or later, and Spark: 4.3 for jobs of ours, 3.5 to 4.3 for plain ones."""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from streamproof.errors import EnvironmentProblem

OLDEST_JAVA = 17
SPARK = "4.3"
"""What jobs of ours need: our Java classes extend classes that Spark keeps to itself and changes from version to version."""
SPARK_OF_PLAIN_JOBS = ("3.5", "4.0", "4.1", "4.2", SPARK)
"""Where jobs that were not written for us are proved: the proof itself stands on what these have in common."""
_JAVA_INSTALL = "Debian: apt install openjdk-17-jdk-headless. macOS: brew install openjdk@17."
_INSTALL = f"{sys.executable} -m pip install 'pyspark=={SPARK}.*'"
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
            f"PySpark {version} found; a job written with Streamproof needs {SPARK}.",
            required=f"Plain PySpark jobs are proved on {SPARK_OF_PLAIN_JOBS[0]} to {SPARK}: streamproof prove file.py:function --input NAME=FILE",
            remedy=_INSTALL,
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
    if not _is_one_of(version, SPARK_OF_PLAIN_JOBS):
        raise EnvironmentProblem(
            f"PySpark {version} found; plain PySpark jobs are proved on {', '.join(SPARK_OF_PLAIN_JOBS)}.", remedy=_INSTALL
        )
    return version


def installed_spark() -> str:
    """The version of the installed PySpark, whichever it is; it is imported only where no package manager knows it."""
    try:
        return importlib.metadata.version("pyspark")
    except importlib.metadata.PackageNotFoundError:
        if find_spec("pyspark") is None:
            raise EnvironmentProblem("PySpark is not installed in this environment.", remedy=_INSTALL) from None
    import pyspark  # of a Spark that lies on the machine: SPARK_HOME, spark-submit

    return pyspark.__version__


def is_own_spark(version: str) -> bool:
    """Whether jobs of ours run on this version."""
    return _is_one_of(version, (SPARK,))


def _is_one_of(version: str, known: tuple[str, ...]) -> bool:
    return ".".join(version.split(".")[:2]) in known


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
