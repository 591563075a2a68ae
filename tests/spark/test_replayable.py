"""Whether a batch can be computed again is said of state in each checkpoint format, whichever one the session has."""

import pytest

from streamproof._jvm import Storage
from streamproof.runtime.journal.logs import QueryLogs
from streamproof.runtime.recovery.replayable import obstacle
from streamproof.runtime.spark.session import STATE_FORMAT
from unit.checkpoint.written import OURS, WINDOWS, copy_of


@pytest.mark.parametrize("session", ["1", "2"])
@pytest.mark.parametrize(
    ("checkpoint", "below", "batch"), [(WINDOWS, "", 4), (OURS, "checkpoint/sums", 3)], ids=["format 1", "format 2"]
)
def test_state_in_another_format_than_the_sessions(checkpoint, below, batch, session, spark, tmp_path):
    path = copy_of(checkpoint, tmp_path) / below
    own = spark.newSession()
    own.conf.set(STATE_FORMAT, session)
    storage = Storage(own)

    assert obstacle(storage, QueryLogs(storage, str(path)), batch, own) is None


def test_state_that_is_torn(spark, tmp_path):
    path = copy_of(WINDOWS, tmp_path)
    snapshot = path / "state" / "0" / "0" / "4.zip"
    snapshot.write_bytes(snapshot.read_bytes()[:1000])
    own = spark.newSession()
    own.conf.set(STATE_FORMAT, "2")
    storage = Storage(own)

    found = obstacle(storage, QueryLogs(storage, str(path)), 4, own)

    assert found is not None
    assert "cannot be read" in found.says
