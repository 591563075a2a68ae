"""The mistakes that the doctor knows: one module for each, in the order in which a job is written."""

from streamproof.doctor.findings.no_watermark import NO_WATERMARK
from streamproof.doctor.findings.unbounded_state import UNBOUNDED_STATE
from streamproof.doctor.findings.zero_delay import ZERO_DELAY
from streamproof.doctor.mistake import Mistake

MISTAKES: tuple[Mistake, ...] = (NO_WATERMARK, ZERO_DELAY, UNBOUNDED_STATE)
