"""The page on streams has every public method with its parameters, and its examples make a job that can be called."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from streamproof.cli.main import main
from streamproof.runtime.checks.rehearsal import Rehearsed
from streamproof.stream import Outputs, SideOutput, Stream, WindowedStream

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "stream.md").read_text(encoding="utf-8")
OF_THE_RUNTIME = {"sides_of"}
"""Asked by what runs a job, and by no job."""
METHODS = [
    (kind, name, value)
    for kind in (Stream, WindowedStream, SideOutput, Outputs)
    for one in kind.__mro__[:-1]
    for name, value in vars(one).items()
    if not name.startswith("_") and name not in OF_THE_RUNTIME and (inspect.isfunction(value) or isinstance(value, property))
]
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def below(heading: str) -> str:
    """What stands between a heading and the next of its depth or above."""
    depth = len(heading.split(" ", 1)[0])
    found = re.search(rf"^{re.escape(heading)}\n(.*?)(?=^#{{2,{depth}}} |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    assert found is not None, f"no {heading}"
    return found[1]


def parameters_in(text: str) -> set[str]:
    return set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))


@pytest.mark.parametrize(("kind", "name", "value"), METHODS, ids=lambda value: value if isinstance(value, str) else "")
def test_a_method_stands_on_the_page_with_its_parameters(kind, name, value):
    assert f"### {name}\n" in below(f"## {kind.__name__}")
    parameters = set() if isinstance(value, property) else set(inspect.signature(value).parameters) - {"self"}

    assert parameters_in(below(f"### {name}")) == parameters


def test_what_a_job_returns_stands_on_the_page():
    assert parameters_in(below("## Outputs")) == set(inspect.signature(Outputs).parameters)


def test_there_are_no_other_methods_on_it_and_no_numbers_of_rules():
    assert set(re.findall(r"^### (\w+)$", PAGE, re.MULTILINE)) == {name for _, name, _ in METHODS}
    assert not re.search(r"\bR\d+\b", PAGE)


def test_the_examples_are_a_job(tmp_path):
    folder = tmp_path / "my_job"
    assert main(["init", str(folder)]) == 0
    whole, *lines = BLOCKS
    body = "".join(f"    {line}\n" for block in lines for line in block.splitlines())
    text = f"from pyspark.sql import functions as F\n{whole}\n\n@sp.job\ndef risk_exposure(trades):\n{body}    return outputs\n"
    (folder / "job.py").write_text(text)
    configuration = folder / "streamproof.toml"
    configuration.write_text(configuration.read_text().replace("notional double,", "notional double, venue string,"))

    answer = tmp_path / "answer.json"
    subprocess.run([sys.executable, "-m", "streamproof.runtime.checks.rehearse_main", str(answer), str(folder), ""], check=True)

    assert Rehearsed.from_json(answer.read_text()) == Rehearsed(("exposure", "late", "rejected", "again"))
