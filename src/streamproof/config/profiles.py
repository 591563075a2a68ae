"""A profile: its keys are laid over those of the file, table by table."""

from collections.abc import Mapping
from typing import Any

from streamproof.config.connectors import COMMON, CONNECTORS, model_of
from streamproof.config.problems import Origin, did_you_mean, one_of
from streamproof.config.sinks import is_several
from streamproof.config.tables import keys_of
from streamproof.core.paths import display
from streamproof.errors import ConfigurationError


def with_profile(tree: dict[str, Any], origin: Origin) -> dict[str, Any]:
    """The tree of a file without its profiles, with the keys of the one that is asked for.

    Raises
    ------
    ConfigurationError
        If the file has no such profile.
    """
    profiles = tree.pop("profile", {})
    if not isinstance(profiles, dict):
        profiles = {}
    if origin.profile is None:
        return tree
    if origin.profile not in profiles:
        there = f"It has {one_of(profiles)}." if profiles else "It has no [profile.NAME] at all."
        raise ConfigurationError(
            f'{display(origin.file)} has no profile "{origin.profile}".{did_you_mean(origin.profile, profiles)}', required=there
        )
    overlay = profiles[origin.profile]
    return _overlaid(_without_keys_of_former_connectors(tree, overlay), overlay) if isinstance(overlay, dict) else tree


def _without_keys_of_former_connectors(tree: dict[str, Any], overlay: Mapping[str, Any]) -> dict[str, Any]:
    """The tree without the keys of connectors that the overlay replaces by another: they would mean something else there, or nothing."""
    kept = dict(tree)
    for kind in CONNECTORS:
        for name, table in _tables_of(overlay.get(kind)):
            below = dict(_tables_of(kept.get(kind))).get(name)
            if below:
                kept[kind] = {**kept[kind], name: _fitting(kind, below, table)}
    return kept


def _fitting(kind: str, below: dict[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a [source.NAME], a [sink.NAME] or several sinks that remains when a profile's table is laid over it."""
    if kind == "sink" and is_several(below):
        inner = dict(_tables_of(table))
        if len(inner) < len(table):
            return {}  # one sink instead of several
        return {name: _fitting(kind, sink, inner.get(name, {})) for name, sink in below.items()}
    if kind == "sink" and is_several(table):
        return {}  # several instead of one
    if table.get("connector", below.get("connector")) == below.get("connector"):
        return below
    took = keys_of(model) if (model := model_of(kind, below)) else {}
    return {key: value for key, value in below.items() if key in COMMON[kind] or key not in took}


def _overlaid(base: dict[str, Any], overlay: dict[str, Any]) -> dict[str, Any]:
    """The base with single keys replaced, table by table."""
    merged = dict(base)
    for key, value in overlay.items():
        below = merged.get(key)
        merged[key] = _overlaid(below, value) if isinstance(value, dict) and isinstance(below, dict) else value
    return merged


def _tables_of(kind: Any) -> list[tuple[str, dict[str, Any]]]:
    return [(name, table) for name, table in kind.items() if isinstance(table, dict)] if isinstance(kind, dict) else []
