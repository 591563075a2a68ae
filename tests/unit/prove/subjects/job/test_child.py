"""What a child says of an error that is nobody's but Streamproof's."""

from streamproof.prove.artifacts.reading import read_state
from streamproof.prove.subjects.job.child import failed_in
from streamproof.runtime.spark.session import weaker_state


def raised_by(call, argument):
    try:
        call(argument)
    except Exception as problem:  # noqa: BLE001 -- whichever it is
        return problem
    raise AssertionError("it does not fail")


def test_where_what_users_ship_has_failed_is_said_and_a_failure_of_the_proof_is_not_taken_for_one(tmp_path):
    where = failed_in(raised_by(weaker_state, None))

    assert where is not None
    assert where.startswith("runtime/spark/session.py line ")
    assert failed_in(raised_by(read_state, tmp_path / "state.json")) is None
    assert failed_in(raised_by(int, "no number")) is None
