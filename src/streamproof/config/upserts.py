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
