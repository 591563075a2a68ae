"""Zero delay: the small job that has the mistake, and its twin."""

import pytest

from streamproof.doctor.finding import Code, Severity
from unit.doctor.patients import found, keeping, ours, plain, severities

TIME = 'event_time = {{ column = "at", unit = "milliseconds"{} }}'


@pytest.mark.parametrize("delay", ["0 seconds", "0 minutes", "INTERVAL 0 SECONDS", "0 hours 0 minutes"])
def test_a_watermark_without_delay(tmp_path, delay):
    text = f'DELAY = "{delay}"\ndef timed(clicks):\n    return clicks.withWatermark("at", DELAY)\n'

    assert severities(plain(tmp_path, text, "timed"), Code.ZERO_DELAY) == [Severity.WARN]


@pytest.mark.parametrize("delay", ["10 seconds", "0 hours 5 minutes", "100 milliseconds"])
def test_a_watermark_with_one(tmp_path, delay):
    assert not found(plain(tmp_path, f'def timed(c):\n    return c.withWatermark("at", "{delay}")\n', "timed"), Code.ZERO_DELAY)


@pytest.mark.parametrize("lag", [', lag = "0 seconds"', ""])
def test_a_source_of_ours_without_lag(tmp_path, lag):
    (one,) = found(ours(tmp_path, source=TIME.format(lag), keeping=[keeping()]), Code.ZERO_DELAY)

    assert one.severity == Severity.WARN
    assert one.symptom.where.line
    assert not found(ours(tmp_path, source=TIME.format(', lag = "1 second"'), keeping=[keeping()]), Code.ZERO_DELAY)


def test_allowed_lateness_is_a_delay_too_and_a_job_without_state_needs_none(tmp_path):
    assert not found(ours(tmp_path, source=TIME.format(""), keeping=[keeping(lateness=60.0)]), Code.ZERO_DELAY)
    assert not found(ours(tmp_path, source=TIME.format("")), Code.ZERO_DELAY)
