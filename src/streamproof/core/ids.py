"""Identifiers: random ones for incarnations, attempts and manifests; the only module that may call uuid4."""

import uuid


def new_id() -> str:
    """A fresh random id, 32 hexadecimal digits."""
    return uuid.uuid4().hex


def new_uuid() -> str:
    """A fresh random id as a UUID is written, as Spark wants its own."""
    return str(uuid.uuid4())


def short(identifier: str) -> str:
    """The first eight digits of an id, for people and for directory names."""
    return identifier[:8]
