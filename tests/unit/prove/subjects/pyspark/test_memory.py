"""What a job keeps in the memory of its process is named with its line; what is a function's own is not."""

import pytest

from streamproof.prove.subjects.pyspark.memory import Kept, kept_in_memory

HELD = {
    "a dict of the module": ("totals = {}\ndef write(rows, n):\n    totals['a'] = n\n", ("totals", 3)),
    "a sum": ("totals = {}\ndef write(rows, n):\n    totals['a'] += n\n", ("totals", 3)),
    "a list": ("seen = []\ndef job(spark):\n    def write(rows, n):\n        seen.extend(rows.collect())\n", ("seen", 4)),
    "a number": ("last = 0\ndef write(rows, n):\n    global last\n    last = n\n", ("last", 4)),
    "a name of the function around it": (
        "def job(spark):\n    seen = set()\n    def write(rows, n):\n        seen.add(n)\n    return write\n",
        ("seen", 4),
    ),
    "a counter of the function around it": (
        "def job(spark):\n    count = 0\n    def write(rows, n):\n        nonlocal count\n        count += 1\n",
        ("count", 5),
    ),
}
NOT_HELD = {
    "its own": "def write(rows, n):\n    seen = []\n    seen.append(n)\n    seen[0] = 1\n",
    "a parameter": "rows = []\ndef write(rows, n):\n    rows.append(n)\n",
    "a constant that is read": "RATE = {'a': 1}\ndef write(rows, n):\n    return RATE['a']\n",
    "a method of a module": "import os\ndef write(rows, n):\n    os.environ.update({})\n",
    "of the module alone": "seen = []\nseen.append(1)\n",
    "no Python": "def write(:\n",
}


@pytest.mark.parametrize(("text", "kept"), HELD.values(), ids=HELD.keys())
def test_what_is_kept_is_named_with_its_line(text, kept, tmp_path):
    (tmp_path / "job.py").write_text(text)
    function = "job" if "def job" in text else "write"
    name, line = kept

    found = kept_in_memory(tmp_path / "job.py", function)

    assert found == Kept(name, tmp_path / "job.py", line)
    assert f"job.py line {line} keeps {name} in the memory" in found.said()


@pytest.mark.parametrize("text", NOT_HELD.values(), ids=NOT_HELD.keys())
def test_what_is_a_functions_own_is_not(text, tmp_path):
    (tmp_path / "job.py").write_text(text)

    assert kept_in_memory(tmp_path / "job.py", "write") is None


def test_a_file_that_is_not_there_keeps_nothing(tmp_path):
    assert kept_in_memory(tmp_path / "job.py", "job") is None


TWO_JOBS = """
totals = {}

def sums(rows, n):
    totals["a"] = n

def broken_append(clicks):
    def write(rows, n):
        rows.write.mode("append").parquet("/lake")
    clicks.writeStream.foreachBatch(write).start()

def kept_totals(clicks):
    clicks.writeStream.foreachBatch(sums).start()

if __name__ == "__main__":
    kept_totals(None)
"""


def test_a_line_of_another_function_is_not_named(tmp_path):
    (tmp_path / "job.py").write_text(TWO_JOBS)

    assert kept_in_memory(tmp_path / "job.py", "broken_append") is None
    assert kept_in_memory(tmp_path / "job.py", "kept_totals") == Kept("totals", tmp_path / "job.py", 5)
    assert kept_in_memory(tmp_path / "job.py", "") == Kept("totals", tmp_path / "job.py", 5), "a script runs its last lines too"
