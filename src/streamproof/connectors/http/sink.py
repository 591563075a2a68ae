"""Calls to an API: what is staged is the outbox, what became of each call is kept, and a batch is done when all are decided (K5)."""

from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from streamproof.connectors import carried
from streamproof.connectors.addresses import address_of
from streamproof.connectors.http.calling import NO_NAMES, NO_REQUEST, PENDING, RESULT, Calling
from streamproof.connectors.http.calls import Calls
from streamproof.connectors.json_records import WRITTEN
from streamproof.connectors.keys import key_text, null_key, require_key
from streamproof.connectors.sink import LaggingSink, SinkPlace, entry_of, gone, require_whole, same_publication
from streamproof.core.manifest import LedgerEntry, Manifest, Section
from streamproof.errors import SinkError, SinkUnavailable, TwoDrivers
from streamproof.stream.names import HIDDEN, quoted

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from streamproof.config import HttpSink

BY_KEY = (
    "exactly once, as far as the API honours Idempotency-Key (every call has one, of its row alone, and what became of it is kept)"
)
BY_LOOKUP = "exactly once, as far as the API tells which calls it has done (asked before a call is made again) and no two processes call at a time"
AT_LEAST = "at least once: a call that was cut off is made again, and the API would do it twice"


class CallSink(LaggingSink):
    """Makes a call for each row; `_calls`, in the folder `ledger` or beside what is staged, says which are confirmed, failed and pending."""

    def __init__(self, place: SinkPlace, config: "HttpSink") -> None:
        super().__init__(place)
        self._config = config
        self.guarantee = self.guarantee_of(config)
        self.exactly_once = config.idempotent
        self._calls = Calls(place.spark, place.storage, config.ledger or place.path)

    @classmethod
    def guarantee_of(cls, config: "HttpSink") -> str:
        """What is kept, in words: it depends on what the API can do."""
        return BY_KEY if config.idempotent else BY_LOOKUP if config.lookup else AT_LEAST

    @staticmethod
    def where(config: "HttpSink") -> str:
        """What the store is called."""
        found = address_of(config.url, "an http sink", ("http", "https"), "https://host/payments")
        return f"{found.scheme}://{found.host}{f':{found.port}' if found.port else ''}{found.path}"

    def require(self, columns: "StructType") -> None:
        require_key(self.place, self._config.key, columns)

    def published(self, batch: int) -> LedgerEntry | None:
        return self._calls.entry(batch)

    def begun(self, batch: int) -> bool:
        return self._calls.begun(batch)

    def owner(self) -> LedgerEntry | None:
        return self._calls.newest()

    def publish(self, manifest: Manifest, section: Section) -> None:
        batch = manifest.batch
        found = self.published(batch)
        if found is not None:
            same_publication(found, manifest, section)
            return
        if not self.staged_whole(section):
            raise gone(manifest, section)  # they are the outbox: which calls are still to be made is known from them alone
        again, number = self._calls.begun(batch), self._calls.next_try(batch)
        calls = self._outbox(self.staged(section), batch)
        require_whole(self.place, self._require_keys_apart(calls), section.digest.rows)
        if not self._calls.begin(batch, number):
            raise TwoDrivers(
                f"Another driver makes the calls of batch {batch} of {self.place.output}.",
                required="One driver works on a checkpoint at a time.",
                remedy="Stop one of them; the other asks what became of the calls before it makes one again.",
            )
        known = self._calls.known(batch)
        if known is not None:
            calls = calls.join(known.filter(F.col("status") != PENDING).select("key"), "key", "left_anti")
        made = calls.mapInArrow(self._calling(batch, calls.columns[2:], again=again).call, RESULT)
        self._calls.keep(batch, number, made)
        self.place.steps.after(f"{self.place.output}.kept", batch)
        self._require_decided(batch)
        self.place.steps.before(self.place.output, batch)
        self._calls.decide(entry_of(manifest, section))
        self.place.steps.after(self.place.output, batch)

    def clear(self) -> None:
        self._calls.clear()
        super().clear()

    def _outbox(self, rows: DataFrame, batch: int) -> DataFrame:
        """Key and body (binary) of each call, and what is sent as headers: carried columns, in proofs the hidden ones too."""
        hidden = [name for name in rows.columns if name in HIDDEN]
        key = key_text(rows, self._config.key).alias("key")
        sent = [name for name in rows.columns if carried.is_carried(name)]
        visible = [quoted(name) for name in rows.columns if name not in (*hidden, *sent)]
        body = F.to_json(F.struct(*visible), WRITTEN).cast("binary").alias("body")
        shown = [F.col(name).cast("string").cast("binary").alias(f"Streamproof{name.replace('_', '-')}") for name in hidden]
        shown += [F.lit(str(batch)).cast("binary").alias("Streamproof-batch")] if hidden else []
        shown += [F.col(quoted(name)).cast("string").cast("binary").alias(carried.header_of(name)) for name in sent]
        return rows.select(key, body, *shown)

    def _calling(self, batch: int, extra: list[str], *, again: bool) -> Calling:
        config = self._config
        return Calling(
            url=config.url,
            method=config.method,
            headers=config.headers,
            lookup=config.lookup or "",
            ask_first=again,
            timeout=config.timeout.total_seconds(),
            attempts=config.attempts,
            concurrency=config.concurrency,
            extra=tuple(extra),
            output=self.place.output,
            batch=batch,
            steps=self.place.steps,
        )

    def _require_keys_apart(self, calls: DataFrame) -> int:
        """SinkError if two rows of a batch have one idempotency key: the API would do one of them, and call it both. Gives their number."""
        twice, no_name = F.col("count") > 1, F.col("key").isin(*NO_NAMES, null_key(self._config.key))
        (found,) = (
            calls.groupBy("key")
            .count()
            .agg(
                F.count_if(twice).alias("keys"),
                F.sum(F.when(twice, F.col("count"))).alias("rows"),
                F.count_if(no_name).alias("no_names"),
                F.coalesce(F.sum("count"), F.lit(0)).alias("all"),
            )
            .collect()
        )
        if found["no_names"]:
            raise SinkError(
                f'A row for {self.place.where} has an idempotency key that is empty, "." or "..", or null in all columns of it.',
                required="A key names one effect; of an empty one APIs take no notice, asking for it asks for what is around it, and rows "
                "with null would share one effect. No call is made.",
                remedy="Reject such rows in the job with require(), or take more columns into the key.",
            )
        if found["keys"]:
            raise SinkError(
                f"A batch for {self.place.where} has {found['rows']:,} rows that share {found['keys']:,} idempotency keys.",
                required="A key stands for one effect: of several rows with one key an API that honours it does one. No call is made.",
                remedy=f"Take more columns into [sink.{self.place.output}] key, so that it tells rows apart, or deduplicate in the job.",
            )
        return int(found["all"])

    def _require_decided(self, batch: int) -> None:
        """SinkUnavailable while a call is neither confirmed nor refused; the others are not made again."""
        known = self._calls.known(batch)
        assert known is not None, "the try that has just ended is kept"
        decided = known.filter(F.col("status") != PENDING).select("key")
        pending = known.join(decided, "key", "left_anti").groupBy("http_status", "said").agg(F.countDistinct("key").alias("calls"))
        left = pending.orderBy(F.desc("calls")).limit(1).collect()
        if left and left[0]["said"] == NO_REQUEST:
            raise SinkError(
                f"{left[0]['calls']:,} calls to {self.place.where} cannot be sent: {NO_REQUEST}.",
                required="Nothing is lost: their rows are staged, and every call keeps its idempotency key.",
                remedy=f"Mend url, lookup and headers of [sink.{self.place.output}], and run again.",
            )
        if left:
            why = f"it answers {left[0]['http_status']} {left[0]['said']}" if left[0]["http_status"] else left[0]["said"]
            raise SinkUnavailable(
                f"{self.place.where}: {left[0]['calls']:,} calls of batch {batch} are pending: {why}.",
                required="Nothing is lost: their rows are staged, and every call keeps its idempotency key.",
            )
