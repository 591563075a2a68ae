"""Hashes of Redis: each row replaces that of its key, the ledger entry comes last (K4)."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import redis
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, BinaryType, MapType, StructType

from streamproof.connectors import ledgers
from streamproof.connectors.json_records import WRITTEN
from streamproof.connectors.keys import key_text, null_key, require_key
from streamproof.connectors.ledgers import behind, overtaken
from streamproof.connectors.redis.writing import DELETED, RESULT, LostWrites, Writing, client, sink_error, where_of
from streamproof.connectors.sink import LaggingSink, SinkPlace, behind_us, entry_of, gone, require_whole, same_publication
from streamproof.core.manifest import LedgerEntry, Manifest, Section
from streamproof.errors import ConfigurationError, OutputInUse, SinkError, StoreEmptied

if TYPE_CHECKING:
    from streamproof.config import RedisSink

LEDGER = "streamproof:ledger:"
COUNTS = "streamproof:writing:"
"""What the name of the hash begins with that counts, task by task, what a batch that is being written has sent."""
_BEGIN = """
local newest = redis.call('HGET', KEYS[1], ARGV[4])
if newest and tonumber(newest) > tonumber(ARGV[5]) then return {-2, newest} end
if ARGV[3] ~= '' and redis.call('HEXISTS', KEYS[1], ARGV[3]) == 0 then return {0} end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return {1}
"""
"""Marks a batch as begun, unless a later one is published (-2), or the entry of the one before it is gone (0): then so are its rows."""
_END = """
if redis.call('HEXISTS', KEYS[1], ARGV[3]) == 0 then return {0} end
for task, sent in pairs(cjson.decode(ARGV[4])) do
  if tonumber(redis.call('HGET', KEYS[2], task)) ~= sent then return {-1} end
end
redis.call('DEL', KEYS[2])
redis.call('HDEL', KEYS[1], ARGV[3])
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2], ARGV[5], ARGV[6])
for i = 7, #ARGV do redis.call('HDEL', KEYS[1], ARGV[i]) end
return {1}
"""
"""Enters a batch, unless its mark is gone (0), or rows that its tasks have written (-1). Old entries go with it."""
_LACKS_ROWS, _IS_OVERTAKEN = -1, -2


class HashSink(LaggingSink):
    """Writes `PREFIX + key`; the hash `streamproof:ledger:PREFIX` says which batches are begun, and which are published."""

    guarantee = "effectively once (each key holds its newest row whatever is repeated; a reader can see a batch half written)"
    exactly_once = False

    def __init__(self, place: SinkPlace, config: "RedisSink") -> None:
        super().__init__(place)
        self._config = config
        self._ledger = f"{LEDGER}{config.prefix}"
        self._counts = f"{COUNTS}{config.prefix}"
        self._last: int | None = None
        self._there: list[int] = []  # the batches that have an entry, as far as they are known, oldest first

    @staticmethod
    def where(config: "RedisSink") -> str:
        """What the store is called."""
        return f"{where_of(config.url)}/{config.prefix}"

    def require(self, columns: StructType) -> None:
        require_key(self.place, self._config.key, columns)
        with self._answers() as connection:
            connection.ping()

    def published(self, batch: int) -> LedgerEntry | None:
        fields = [self._field(batch), self._field(batch, "begun")]
        with self._answers() as connection:
            texts = connection.hmget(self._ledger, fields)
        found, _ = (self._entry(field, text) for field, text in zip(fields, texts, strict=True))
        return found

    def begun(self, batch: int) -> bool:
        with self._answers() as connection:
            return any(connection.hmget(self._ledger, [self._field(batch), self._field(batch, "begun")]))

    def owner(self) -> LedgerEntry | None:
        with self._answers() as connection:
            fields = {field: key for field in connection.hkeys(self._ledger) if (key := _key_in(str(field)))}
            newest = max(fields, key=lambda field: (fields[field][:3] == self._whose, fields[field][3]), default=None)
            text = None if newest is None else connection.hget(self._ledger, newest)
        if self._last is None:
            self._there = sorted(key[3] for key in fields.values() if key[:3] == self._whose and len(key) == 4)
            self._last = self._there[-1] if self._there else None
        return self._entry(str(newest), text)

    def publish(self, manifest: Manifest, section: Section) -> None:
        found = self.published(manifest.batch)
        if found is not None:
            same_publication(found, manifest, section)
            self._has_entered(manifest.batch)
            return
        if not self.staged_whole(section):
            raise gone(manifest, section) if self.begun(manifest.batch) else _emptied(self.place.where, manifest.batch)
        rows = self.staged(section)
        keyed = self._keyed(rows)
        self._require_keys(keyed)
        entry, begun = entry_of(manifest, section).to_json(), self._field(manifest.batch, "begun")
        before = "" if self._last is None else self._field(self._last)
        # Before the first hash: from here on a part of the batch may be seen.
        newest = [self._field_of("newest"), str(manifest.batch)]
        self._require(_BEGIN, [begun, entry, before, *newest], manifest)
        self.place.steps.after(f"{self.place.output}.begun", manifest.batch)
        writing = Writing(self._config.url, manifest.batch, tuple(rows.columns), self._ttl_ms, self._counts)
        said = keyed.mapInArrow(writing.write, RESULT).collect()
        for row in said:
            if row["message"] is not None:
                raise sink_error(row["kind"], row["message"], self.place.where)
        written = sum(row["rows"] for row in said)
        if not self._config.order_by:  # which leaves some of them out
            require_whole(self.place, written, section.digest.rows)
        self.place.steps.before(self.place.output, manifest.batch)
        sent = {row["task"]: row["sent"] for row in said if row["sent"]}
        old = [batch for batch in self._there if batch <= manifest.batch - ledgers.KEPT][: ledgers.AT_ONCE]
        self._require(
            _END, [self._field(manifest.batch), entry, begun, json.dumps(sent), *newest, *map(self._field, old)], manifest
        )
        del self._there[: len(old)]
        self._has_entered(manifest.batch)
        self.place.steps.after(self.place.output, manifest.batch)

    def _has_entered(self, batch: int) -> None:
        if self._last is None or batch > self._last:
            self._there.append(batch)
            self._last = batch

    def _require(self, script: str, arguments: list[str], manifest: Manifest) -> None:
        """Takes a step in the ledger; StoreEmptied where earlier batches are gone, SinkUnavailable where rows of this one are, TwoDrivers where a
        later one is published.
        """
        with self._answers() as connection:
            done, *newest = connection.eval(script, 2, self._ledger, self._counts, *arguments)
        if done == _IS_OVERTAKEN:
            raise overtaken(self.place.where, behind(manifest.batch, *map(int, newest)))
        if done == _LACKS_ROWS:
            raise sink_error(LostWrites.__name__, f"parts of batch {manifest.batch} are gone", self.place.where)
        if not done:
            raise _emptied(self.place.where, manifest.batch if self._last is None else self._last)

    def require_clearable(self) -> None:
        """OutputInUse where hashes of this prefix may be another output's too."""
        with self._answers() as connection:
            self._require_prefix_of_its_own(connection)

    def clear(self) -> None:
        """Removes the hashes of this prefix."""
        self.require_clearable()
        with self._answers() as connection:
            for begins in (self._config.prefix, f"{DELETED}{self._config.prefix}"):
                for key in connection.scan_iter(f"{_escaped(begins)}*", count=1_000):
                    connection.delete(key)
            connection.delete(self._ledger, self._counts)
        super().clear()

    def _require_prefix_of_its_own(self, connection: redis.Redis) -> None:
        mine = self._config.prefix
        for ledger in map(str, connection.scan_iter(f"{LEDGER}*", count=1_000)):
            other = ledger.removeprefix(LEDGER)
            if other != mine and (other.startswith(mine) or mine.startswith(other)):
                raise OutputInUse(
                    f"What begins with {mine} in {self.place.where} cannot be replaced: the output with the prefix {other} lies there too.",
                    required="Prefixes of which none begins like the other: else the hashes of both would go.",
                    remedy="Delete the hashes of this output by hand, with its ledger, or give one of them another prefix.",
                )

    def _entry(self, field: str, text: object) -> LedgerEntry | None:
        """What a field of the ledger says: a mark that a batch has begun is of the format of an entry too."""
        where = f"The field {field} of {self._ledger} in {self.place.where}"
        return LedgerEntry.from_json(str(text), where=where) if text else None

    @property
    def _whose(self) -> list[str]:
        return [self.place.job, self.place.output, self.place.incarnation]

    @property
    def _ttl_ms(self) -> int:
        return int(self._config.ttl.total_seconds() * 1000) if self._config.ttl else 0

    def _field(self, batch: int, *state: str) -> str:
        return self._field_of(batch, *state)

    def _field_of(self, *what: int | str) -> str:
        return json.dumps([*self._whose, *what])

    def _keyed(self, rows: DataFrame) -> DataFrame:
        """The key, whether the row deletes it, and every column as text; of several rows of a key `order_by` says which counts."""
        key = F.concat(F.lit(self._config.prefix), key_text(rows, self._config.key))
        deletes: Column = F.coalesce(F.expr(self._config.delete), F.lit(False)) if self._config.delete else F.lit(False)
        columns = [key.alias("_key"), deletes.alias("_delete"), *[_text(rows, name) for name in rows.columns]]
        if not self._config.order_by:
            return rows.select(*columns)
        newest = F.row_number().over(Window.partitionBy(key).orderBy(F.desc_nulls_last(self._config.order_by)))
        return rows.withColumn("_n", newest).filter("_n = 1").select(*columns)

    def _require_keys(self, keyed: DataFrame) -> None:
        """SinkError if a row has nothing in its key, where one such row would take the place of the other unseen, or if nothing says which of
        several rows of a key counts: each time a batch is written it could be another one.
        """
        config = self._config
        unnamed = F.col("_key") == F.lit(f"{config.prefix}{null_key(config.key)}")
        found = keyed.filter(unnamed) if config.order_by else keyed.groupBy("_key").count().filter(unnamed | (F.col("count") > 1))
        first = found.select(unnamed.alias("unnamed")).orderBy(F.desc("unnamed")).first()
        if first is not None and first["unnamed"]:
            raise SinkError(
                f"A row for {self.place.where} has null in {' and in '.join(config.key)}, which its key is made of.",
                required="A hash holds one row of a key: such rows would take each other's place. None of the batch is written.",
                remedy=f"Take a column into [sink.{self.place.output}] key that every row has (of records of Kafka that cannot be read: "
                'include = ["partition", "offset"] in the source), or reject such rows in the job with require().',
            )
        if first is not None:
            raise SinkError(
                f"A batch for {self.place.where} has several rows of one key.",
                required="A hash holds one row of a key. None of the batch is written.",
                remedy="Say which counts: order_by = a column, the greatest value wins. Or deduplicate in the job.",
            )

    @contextmanager
    def _answers(self) -> Iterator[redis.Redis]:
        try:
            connection = client(self._config.url)
        except ValueError:
            raise ConfigurationError(
                f"[sink.{self.place.output}] url cannot be read.",
                required='It is written "redis://user:password@host:6379/0", with TLS "rediss://...".',
            ) from None
        try:
            with connection:
                yield connection
        except redis.RedisError as problem:
            raise sink_error(type(problem).__name__, str(problem), self.place.where) from None


def _key_in(field: str) -> list[Any] | None:
    """Job, output, incarnation, batch and its state of a field of the ledger; None where somebody else has written it."""
    try:
        found = json.loads(field)
    except ValueError:
        return None
    return found if isinstance(found, list) and len(found) >= 4 and isinstance(found[3], int) else None


def _text(rows: DataFrame, name: str) -> Column:
    type_ = rows.schema[name].dataType
    if isinstance(type_, ArrayType | MapType | StructType):
        return F.to_json(name, WRITTEN).alias(name)
    return F.base64(name).alias(name) if isinstance(type_, BinaryType) else F.col(name).cast("string").alias(name)


def _escaped(prefix: str) -> str:
    return "".join(f"\\{character}" if character in "*?[]\\" else character for character in prefix)


def _emptied(where: str, batch: int) -> StoreEmptied:
    return behind_us(f"{where} knows nothing of batch {batch}")
