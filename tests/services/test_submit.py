"""A job through spark-submit, in client mode, on a master and workers that are processes of their own (docs/guides/deploying.md)."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from streamproof.cli.init import write_templates
from streamproof.lab.spark import SparkCluster

pytestmark = pytest.mark.service
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "deploying.md"


@pytest.mark.full
def test_a_job_runs_on_a_cluster_as_the_guide_says(tmp_path: Path) -> None:
    write_templates(tmp_path / "my_job")
    (program,) = re.findall(r"```python[^\n]*\n(# submit\.py\n.*?)```", GUIDE.read_text(), re.DOTALL)
    (tmp_path / "submit.py").write_text(program)
    tools = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "PYSPARK_PYTHON": sys.executable}
    environment.pop("PYSPARK_SUBMIT_ARGS", None)
    jars = subprocess.check_output([sys.executable, "-m", "streamproof", "jars", "my_job"], cwd=tmp_path, text=True)

    with SparkCluster(tmp_path) as cluster:
        submit = ["spark-submit", "--master", cluster.url, "--conf", "spark.log.level=ERROR", "--jars", jars.strip()]
        done = subprocess.run(
            [*submit, "submit.py", "run", "my_job"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        with urlopen(f"{cluster.page}/json/", timeout=10) as answer:
            applications = json.load(answer)["completedapps"]

    assert done.returncode == 0, done.stderr[-4000:]
    assert re.search(r"account\s+emitted .* = 200\n", done.stdout), done.stdout
    assert [each["name"] for each in applications] == ["risk_exposure"], "it ran on the cluster"
