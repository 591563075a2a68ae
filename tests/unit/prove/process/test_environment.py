"""Variables of this process for a while: one place at a time, whoever asks for them."""

import os
import threading

from streamproof.prove.process.environment import in_environment
from streamproof.prove.subjects.pyspark.readback import ReadBack


def test_variables_are_there_meanwhile_and_then_as_before(monkeypatch):
    monkeypatch.setenv("TOTALS", "of production")
    monkeypatch.delenv("ROWS", raising=False)
    with in_environment({"TOTALS": "a", "ROWS": "b"}):
        assert (os.environ["TOTALS"], os.environ["ROWS"]) == ("a", "b")

    assert os.environ["TOTALS"] == "of production"
    assert "ROWS" not in os.environ


def test_rows_are_read_back_once_the_variables_of_another_scenario_are_gone(tmp_path):
    """Scenarios are judged side by side in threads of one process, and each has a database of its own."""
    file = tmp_path / "checks.py"
    file.write_text("import os\ndef rows():\n    return [(os.environ['DATABASE'],)]\n")
    read = ReadBack("rows", file, "rows")
    found = []
    with in_environment({"DATABASE": "of one scenario"}):
        other = threading.Thread(target=lambda: found.extend(read.rows({}, {"DATABASE": "of the other"}, tmp_path)))
        other.start()
        other.join(0.5)
        assert (os.environ["DATABASE"], found) == ("of one scenario", [])
    other.join(60)

    assert found == [{"column 1": "of the other"}]
    assert "DATABASE" not in os.environ
