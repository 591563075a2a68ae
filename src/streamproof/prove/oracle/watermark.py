"""The watermark as Spark moves it: from batch to batch, never back (R13)."""


class Watermark:
    """Predicts the watermark of the next batch from the newest event times read so far.

    A restart changes nothing for a query with one watermark: Spark forgets the maximum of the source, and keeps the global
    value, which it takes from the offset log. A batch that reads nothing leaves it as it is.

    Parameters
    ----------
    delay_us
        Lag + allowed lateness, microseconds; None for a query without a watermark, for which Spark logs 0.
    """

    def __init__(self, delay_us: int | None) -> None:
        self._delay_ms = None if delay_us is None else delay_us // 1_000
        self.predicted_ms = 0

    def saw(self, newest_us: int | None) -> None:
        """A batch has read event times up to `newest_us` (None: no record with one)."""
        if self._delay_ms is not None and newest_us is not None:
            self.predicted_ms = max(self.predicted_ms, newest_us // 1_000 - self._delay_ms)
