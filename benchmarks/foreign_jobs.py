"""The correct jobs of examples/plain_pyspark, with what each takes: jobs that were not written for us."""

from pathlib import Path

from streamproof.prove.subjects.pyspark.preparation import Wanted

FOLDER = Path(__file__).parents[1] / "examples" / "plain_pyspark"
_CLICKS = {"clicks": str(FOLDER / "clicks.jsonl")}


def _job(target: str, **more: object) -> Wanted:
    return Wanted(str(FOLDER / target), **{"inputs": _CLICKS, **more})  # type: ignore[arg-type]


SESSIONS = _job("sessions.py:click_sessions")
JOBS = {
    "sessions": SESSIONS,
    "upsert": _job(
        "upsert.py:spending",
        arguments={"database": "{folder}/spending.db"},
        tables={"customers": str(FOLDER / "customers.csv")},
        readers=("spending=upsert:read_spending",),
    ),
    "detector": _job("detector.py:payments"),
    "pairs": _job("pairs.py:paid_clicks", inputs={**_CLICKS, "payments": str(FOLDER / "payments.jsonl")}),
    "topics": _job("topics.py:main"),
    "script": _job("script.py", words=("50",)),
}
"""By name."""
