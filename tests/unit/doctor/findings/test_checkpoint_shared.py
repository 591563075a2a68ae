"""Two queries on one checkpoint, and two ways to start one query."""

import pytest

from streamproof.doctor.finding import Code, Severity
from unit.doctor.patients import plain, severities

STOP, WARN, NOTE = Severity.STOP, Severity.WARN, Severity.NOTE


TWO = """
rows = spark.readStream.json("/in")
if ever:
    rows.writeStream.option("checkpointLocation", "/c/1").start()
{otherwise}
    rows.writeStream.option("checkpointLocation", "{second}").start()
"""


@pytest.mark.parametrize(
    ("otherwise", "second", "severity"), [("if True:", "/c/1", [STOP]), ("if True:", "/c/2", []), ("else:", "/c/1", [])]
)
def test_a_checkpoint_is_shared_or_not(tmp_path, otherwise, second, severity):
    assert severities(plain(tmp_path, TWO.format(otherwise=otherwise, second=second)), Code.CHECKPOINT_SHARED) == severity


TWO_WAYS = """
PLACE = "/c/1"
rows = spark.readStream.json("/in")

def once(rows):
    return rows.writeStream.trigger(availableNow=True).option("checkpointLocation", PLACE).start()

def for_ever(rows):
    return rows.writeStream.option("checkpointLocation", PLACE).start()

{chooses}
"""


@pytest.mark.parametrize(
    ("chooses", "severity"),
    [
        ("once(rows)\nfor_ever(rows)", [STOP]),
        ("for way in (once, for_ever):\n    way(rows)", [WARN]),
        ("(once if ever else for_ever)(rows)", []),
        ("way = once if ever else for_ever\nway(rows)", []),
        ("once(rows) if ever else for_ever(rows)", []),
        ("if ever:\n    once(rows)\nelse:\n    for_ever(rows)", []),
        ("if ever == 'once':\n    once(rows)\nelif ever == 'always':\n    for_ever(rows)", []),
        ("if ever == 'once':\n    once(rows)\nif ever == 'always':\n    for_ever(rows)", []),
        ("if ever:\n    once(rows)\nif not ever:\n    for_ever(rows)", []),
        ("if ever:\n    once(rows)\nif never:\n    for_ever(rows)", [WARN]),
        ("if ever:\n    once(rows)\nif ever:\n    for_ever(rows)", [STOP]),
        ("if ever:\n    once(rows)\nfor_ever(rows)", [STOP]),
        ("try:\n    once(rows)\nexcept ValueError:\n    for_ever(rows)", []),
        ("try:\n    once(rows)\nfinally:\n    for_ever(rows)", [STOP]),
        ("match ever:\n    case 'once':\n        once(rows)\n    case _:\n        for_ever(rows)", []),
        ("def main():\n    if ever:\n        return once(rows)\n    return for_ever(rows)\nmain()", []),
        ("import sys\nif ever:\n    once(rows)\n    sys.exit()\nfor_ever(rows)", []),
        ("for way in ways:\n    if way:\n        once(rows)\n        continue\n    for_ever(rows)", []),
        ("{{'once': once, 'always': for_ever}}[ever](rows)", []),
        ("ever and once(rows) or for_ever(rows)", [WARN]),
        ("", [WARN]),  # nobody calls them here
    ],
)
def test_two_ways_to_start_one_query(tmp_path, chooses, severity):
    assert (
        severities(plain(tmp_path, TWO_WAYS.format(chooses=chooses.replace("{{", "{").replace("}}", "}"))), Code.CHECKPOINT_SHARED)
        == severity
    )


def test_two_ways_in_a_class(tmp_path):
    text = """
    class Job:
        def once(self):
            return rows.writeStream.trigger(availableNow=True).option("checkpointLocation", "/c").start()

        def for_ever(self):
            return rows.writeStream.option("checkpointLocation", "/c").start()

        def run(self, ever):
            {}

    Job().run(True)
    """

    assert not severities(plain(tmp_path, text.format("return self.once() if ever else self.for_ever()")), Code.CHECKPOINT_SHARED)
    assert severities(plain(tmp_path, text.format("return self.once(), self.for_ever()")), Code.CHECKPOINT_SHARED) == [STOP]
