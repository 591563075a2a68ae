"""Whether a batch that is to be discarded may be visible somewhere (R4)."""

from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from streamproof.connectors import Sink
from streamproof.core.manifest import Digest, Fingerprint, Manifest, Section
from streamproof.errors import SinkUnavailable
from streamproof.runtime.batch.contradictions import may_be_visible


@dataclass
class Store:
    """A sink that says whether it has begun, and what it was told."""

    answers: list[bool]
    is_down: bool = False
    told: list[str] = field(default_factory=list)

    def begun(self, batch: int) -> bool:
        return self.answers.pop(0)

    def fence(self, manifest: Manifest, section: Section) -> None:
        if self.is_down:
            raise SinkUnavailable("it does not answer")
        self.told.append("fence")

    def unfence(self, manifest: Manifest) -> None:
        self.told.append("unfence")


MANIFEST = Manifest(
    job="job",
    query="kept",
    incarnation="i",
    batch=1,
    id="m",
    attempt="a",
    fingerprint=Fingerprint(0, (), {}),
    offset_log="",
    source_logs={},
    counts={},
    sections=tuple(Section(name, "main", "_staging/1", (), Digest(rows=1, hash=1)) for name in ("table", "files")),
)


def visible(table: Store, files: Store) -> bool:
    return may_be_visible(MANIFEST, cast("dict[str, Sink]", cast("Any", {"table": table, "files": files})))


def test_r4_no_output_is_fenced_where_another_has_begun():
    """The manifest stays then, and a fenced table would refuse it for ever."""
    table, files = Store([False]), Store([True])

    assert visible(table, files)
    assert table.told == files.told == []


def test_r4_where_none_has_begun_all_are_fenced():
    table, files = Store([False, False]), Store([False, False])

    assert not visible(table, files)
    assert (table.told, files.told) == (["fence"], ["fence"])


def test_r4_a_fence_is_taken_back_where_another_output_cannot_be_fenced():
    """The manifest stays then, too."""
    table, files = Store([False]), Store([False], is_down=True)

    with pytest.raises(SinkUnavailable):
        visible(table, files)
    assert table.told == ["fence", "unfence"]


def test_r4_a_fence_is_taken_back_where_a_publication_was_faster():
    table, files = Store([False, False]), Store([False, True])

    assert visible(table, files)
    assert table.told == ["fence", "unfence"]
