"""The table [backup]: where a job copies its checkpoints to while it runs, how often, and how many copies stay."""

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated
from urllib.parse import parse_qsl, urlsplit

from pydantic import PlainValidator

from streamproof.config.fields import Duration, Table, Text, count
from streamproof.config.places import is_remote, resolved
from streamproof.config.problems import Problem

OFTEN = timedelta(minutes=15)
ALIASES: Mapping[str, str] = {"s3a": "s3", "s3n": "s3", "gcs": "gs"}
"""How Spark's people call a store, and how pyarrow does."""
SCHEMES = ("s3", "gs", "abfs", "abfss", "hdfs", "viewfs", *ALIASES)
"""Of the stores that backups can go to."""
_SECRET = re.compile(r"secret|token|password|access_key|account_key|sas|sig", re.IGNORECASE)


class BackupConfig(Table):
    """Backups of a job's checkpoints on a schedule.

    Parameters
    ----------
    to
        The folder, or a URI of a store; each query has one of its own in it.
    every
        How long after one backup the next is due.
    keep
        So many of each query stay.
    endpoint, region
        Where the store answers, if it is not Amazon's or Google's, and its region. Credentials are in the environment alone.
    """

    to: Text
    every: Duration = OFTEN
    keep: Annotated[int, PlainValidator(count)] = 3
    endpoint: Text | None = None
    region: Text | None = None


def check_backup(backup: BackupConfig, checkpoint: str, root: Path) -> Iterator[Problem]:
    """What is wrong with where and how often checkpoints are backed up; the checkpoint as the file has it, relative to `root`."""
    if not backup.every:
        yield Problem(("backup", "every"), "every is of no length.", 'Write how often, such as "15 minutes".')
    if is_remote(checkpoint):
        yield Problem(
            ("job", "checkpoint"),
            f"checkpoint is {checkpoint}, which is in a store.",
            "Checkpoints are backed up from a folder of this machine.",
            "Take [backup] out, and copy the checkpoint by the means of the store.",
        )
    named = [key for key in ("endpoint", "region") if getattr(backup, key) is not None]
    if is_remote(backup.to):
        wrong = wrong_with_store(backup.to, backup.endpoint)
        if wrong is not None:
            yield Problem(("backup", "to"), *wrong)
    elif named:
        yield Problem(
            ("backup", named[0]), f"{named[0]} is given, and to is a folder.", "It says where a store answers.", "Take it out."
        )
    if is_remote(checkpoint) or is_remote(backup.to):
        return
    here, there = (Path(resolved(path, root).removeprefix("file:")).resolve() for path in (checkpoint, backup.to))
    if here == there or here in there.parents or there in here.parents:
        yield Problem(
            ("backup", "to"),
            f"to is {backup.to}, and the checkpoints are in {checkpoint}.",
            "What destroys the one must leave the other: neither lies in the other, best on another disk.",
            "Name another folder; it is made if it is not there.",
        )


def wrong_with_store(uri: str, endpoint: str | None) -> tuple[str, str, str] | None:
    """Why no backup can go to a URI: what was found, what is required, what to do; None where one can. No secret is in it."""
    scheme, authority, _, options, _ = urlsplit(uri)
    user, at, _ = authority.rpartition("@")
    in_endpoint = endpoint is not None and "@" in urlsplit(endpoint).netloc
    if (
        ":" in user
        or (at and scheme in ("s3", "s3a", "s3n"))
        or in_endpoint
        or any(_SECRET.search(key) for key, _ in parse_qsl(options))
    ):
        return (
            "The address of the store has credentials in it.",
            "Addresses are in logs and messages. Credentials come from the environment alone, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, "
            "or from the role of the machine.",
            "Take them out of the address.",
        )
    if scheme not in SCHEMES or not authority:
        return (
            f"{uri.partition('?')[0]} is no address of a store that backups can go to.",
            f"It begins with one of {', '.join(f'{one}://' for one in SCHEMES)}, and a bucket or a host follows.",
            "Name such a place, or a folder.",
        )
    return None
