"""Identifiers: random ones for incarnations, attempts and manifests; the only module that may call uuid4."""

import uuid


def new_id() -> str:
    """A fresh random id, 32 hexadecimal digits."""
    return uuid.uuid4().hex


def short(identifier: str) -> str:
    """The first eight digits of an id, for people and for directory names."""
    return identifier[:8]
