"""What of a table's keys goes together: rows that replace, delete and order need to know which row they mean."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from streamproof.config.problems import Problem
from streamproof.config.sinks import PostgresSink

if TYPE_CHECKING:
    from pydantic import BaseModel

    from streamproof.config.positions import KeyPath


def check_upserts(path: "KeyPath", sink: "BaseModel") -> "Iterator[Problem]":
    """The problems of a sink that writes to a table."""
    if not isinstance(sink, PostgresSink):
        return
    if sink.mode == "upsert" and not sink.key:
        yield Problem(
            (*path, "mode"), 'mode = "upsert" needs the key.', remedy='key = ["client", "window_start"], the table\'s primary key.'
        )
    for name in ("delete", "order_by"):
        if not getattr(sink, name):
            continue
        if sink.mode == "insert":
            yield Problem((*path, name), f'{name} is for mode = "upsert".')
        elif sink.shards > 1:
            yield Problem(
                (*path, name),
                f"{name} does not go with shards = {sink.shards}.",
                required="Rows of one key may be in two shards, which are two transactions: the one that ends last would count.",
                remedy=f"shards = 1; or one row of a key in a batch, as windows have, and no {name}.",
            )
    yield from _of_facts(path, sink)


def _of_facts(path: "KeyPath", sink: PostgresSink) -> "Iterator[Problem]":
    """The problems of a sink whose rows have versions."""
    if sink.deleted and not sink.version:
        yield Problem(
            (*path, "deleted"), "deleted needs a version.", remedy='version = "version"; without one, delete = "is_deleted".'
        )
    if not sink.version:
        return
    if sink.mode == "insert":
        yield Problem((*path, "version"), 'version is for mode = "upsert".')
    for name, column in (("version", sink.version), ("deleted", sink.deleted)):
        if column and column in sink.key:
            yield Problem(
                (*path, name), f'{name} = "{column}" is a column of the key.', required="A key has rows of several versions."
            )
    if sink.order_by:
        yield Problem((*path, "order_by"), "order_by does not go with version, which orders the rows of a batch too.")
    if sink.delete:
        yield Problem(
            (*path, "delete"),
            "delete does not go with version.",
            required="A row that is gone has no version: an older one that comes later would bring its key back.",
            remedy='deleted = "is_deleted", a boolean column: such rows stay in the table as tombstones.',
        )
    if sink.shards > 1:
        yield Problem((*path, "version"), f"version does not go with shards = {sink.shards}.", remedy="shards = 1.")
