"""What release 0.1.0 reads: of each record its format and every key that it knows.

That release takes a record for torn, and removes it, if the format is another or a single key is not listed here. So these lists are a contract: a
key that is added, renamed or left out breaks the way back to that release, and needs a new format that both sides know.
"""

import json
from collections.abc import Mapping
from typing import Any

FORMAT = 1
DIGEST = {"rows", "records", "hash", "floats", "steps"}
FILE = {"name", "size", "checksum", "digest"}
CHAIN = {"newest", "count", "sum", "lost", "lost_sum"}
SECTION = {"output", "kind", "directory", "files", "digest", "shards", "earlier"}
FINGERPRINT = {"watermark_ms", "offsets", "files", "starts"}
MANIFEST = {
    *("format", "id", "job", "query", "incarnation", "batch", "attempt", "fingerprint", "offset_log", "source_logs", "sections"),
    *("counts", "places", "connectors", "topics", "made_by", "version", "unknown_since"),
}
LEDGER_ENTRY = {
    *("format", "job", "output", "incarnation", "batch", "shard", "manifest", "fingerprint", "rows", "hash", "shards"),
    *("files", "earlier"),
}
LOSS = {"count", "sum", "behind", "chain"}
INCARNATION = {"job", "query", "incarnation"}
"""What it needs there; it takes no notice of others."""


def require_manifest(text: str) -> None:
    """AssertionError unless release 0.1.0 takes a manifest for whole."""
    found = _of_format(text)
    assert found.keys() == MANIFEST
    assert found["fingerprint"].keys() == FINGERPRINT
    for section in found["sections"]:
        assert section.keys() == SECTION
        assert section["digest"].keys() == DIGEST
        assert section["earlier"] is None or section["earlier"].keys() == CHAIN
        _require_files(section["files"])


def require_ledger_entry(text: str) -> None:
    """AssertionError unless release 0.1.0 takes a ledger entry for whole."""
    found = _of_format(text)
    assert LEDGER_ENTRY - {"files", "earlier"} <= found.keys() <= LEDGER_ENTRY
    assert not found.get("earlier") or found["earlier"].keys() == CHAIN
    _require_files(found.get("files", []))


def require_losses(text: str) -> None:
    """AssertionError unless release 0.1.0 takes the accepted losses for whole."""
    found = _of_format(text)
    assert found.keys() == {"format", "losses"}
    for loss in found["losses"].values():
        assert loss.keys() == LOSS
        assert loss["chain"].keys() == CHAIN


def require_incarnation(text: str) -> None:
    """AssertionError unless release 0.1.0 takes an incarnation for whole."""
    assert json.loads(text).keys() >= INCARNATION


def _of_format(text: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(text)
    assert found["format"] == FORMAT
    return found


def _require_files(files: list[Mapping[str, Any]]) -> None:
    for file in files:
        assert file.keys() == FILE
        assert file["digest"] is None or file["digest"].keys() == DIGEST
