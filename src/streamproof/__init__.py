"""Streamproof builds, runs and proves PySpark Structured Streaming jobs: no event unaccounted for."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streamproof.errors import StreamproofError
    from streamproof.inspection import inspect
    from streamproof.observe.plain.watch import watch
    from streamproof.operator_test import OperatorTest
    from streamproof.proof import Proof, prove
    from streamproof.prove.scenario.declared import sample
    from streamproof.runtime.target import run
    from streamproof.stream import (
        Outputs,
        Stream,
        calendar,
        emit,
        gap_of,
        hopping,
        initial,
        list_of,
        map_of,
        patterns,
        session,
        shifts,
        step,
        tumbling,
    )
    from streamproof.stream.aggregates import accumulator, sketch
    from streamproof.stream.job import job

__version__ = "0.1.0"

__all__ = [
    "OperatorTest",
    "Outputs",
    "Proof",
    "Stream",
    "StreamproofError",
    "__version__",
    "accumulator",
    "calendar",
    "emit",
    "gap_of",
    "hopping",
    "initial",
    "inspect",
    "job",
    "list_of",
    "map_of",
    "patterns",
    "prove",
    "run",
    "sample",
    "session",
    "shifts",
    "sketch",
    "step",
    "tumbling",
    "watch",
]

# Imported when first asked for: `import streamproof` brings in neither PySpark nor pydantic.
_HOMES = {
    "OperatorTest": "streamproof.operator_test",
    "Outputs": "streamproof.stream",
    "Proof": "streamproof.proof",
    "Stream": "streamproof.stream",
    "StreamproofError": "streamproof.errors",
    "accumulator": "streamproof.stream.aggregates",
    "calendar": "streamproof.stream",
    "emit": "streamproof.stream",
    "gap_of": "streamproof.stream",
    "hopping": "streamproof.stream",
    "inspect": "streamproof.inspection",
    "job": "streamproof.stream",
    "initial": "streamproof.stream",
    "list_of": "streamproof.stream",
    "map_of": "streamproof.stream",
    "patterns": "streamproof.stream",
    "run": "streamproof.runtime.target",
    "sample": "streamproof.prove.scenario.declared",
    "session": "streamproof.stream",
    "shifts": "streamproof.stream",
    "sketch": "streamproof.stream.aggregates",
    "step": "streamproof.stream",
    "tumbling": "streamproof.stream",
    "watch": "streamproof.observe.plain.watch",
}


def __getattr__(name: str) -> object:
    if name == "prove":  # a package, and callable: it is the function and cannot be hidden by an import of what lies in it
        return import_module("streamproof.prove")
    if name not in _HOMES:
        raise AttributeError(f"module 'streamproof' has no attribute '{name}'")
    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
