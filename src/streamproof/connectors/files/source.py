"""A folder of files, as whoever reads it asks (see `connectors.source`)."""

import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from streamproof.config.columns import columns_of, require_said
from streamproof.connectors.source import Holding, Looked, Past, Source
from streamproof.core.file_formats import TYPED
from streamproof.core.folders import left_out, listing
from streamproof.core.paths import display, path_of
from streamproof.core.places import is_below
from streamproof.errors import ConfigurationError, WrongCheckpoint

if TYPE_CHECKING:
    from typing import Self

    from pyspark.sql import DataFrame, SparkSession

    from streamproof.config import FilesSource, JobConfig
    from streamproof.connectors.files.noticing import FolderNotices
    from streamproof.core.manifest import Fingerprint

_LOCAL = re.compile(r"^file:/+")


@dataclass(frozen=True)
class FolderSource(Source):
    """A folder: each file in it is read once."""

    config: "FilesSource"

    counts: ClassVar[str] = "files"

    @property
    def most(self) -> int | None:
        return self.config.files_per_batch

    def taken(self, number: int, batch: "Fingerprint") -> int:
        return len(batch.files.get(str(number), ()))

    @property
    def path(self) -> str:
        """The whole path of the folder."""
        return self.resolve(self.config.path)

    def read(self, spark: "SparkSession", *, stream: bool, trace: bool, intake: str = "", timed: bool = False) -> "DataFrame":
        from streamproof.connectors.files.reading import read

        return read(spark, self.name, self.config, self.path, stream=stream, trace=trace, intake=intake)

    def look(self, job: "JobConfig") -> Looked:
        path = self.config.path
        if job.is_remote(path):
            return Looked.not_from_here(path)
        where, local = job.where("source", self.name, "path"), _LOCAL.sub("/", self.path)
        folder, found = Path(local), listing(local)
        if found is None and any(character in local for character in "{\\"):
            return Looked.not_from_here(path)  # a pattern of Hadoop's that Python does not know
        if found is None:
            raise ConfigurationError(
                f"{where}: [source.{self.name}] path is {display(folder)}, and there is no such folder.",
                remedy="Make it, or mend the path.",
            )
        if folder.exists() and not os.access(folder, os.R_OK):
            raise ConfigurationError(f"{where}: [source.{self.name}] {display(folder)} cannot be read: no permission.")
        if self.config.format == "text" and self.config.schema_ddl and found.files:
            columns = list(columns_of(self.config.schema_ddl))
            require_said(self.name, columns, found.named, job.where("source", self.name, "schema"))
        unread = f"\nnote: {left_out(path, found.left_out)}" if found.left_out else ""
        return Looked(f"{path}, {found.files:,} file{'' if found.files == 1 else 's'}{unread}")

    def holding(self) -> Sequence[Holding]:
        from streamproof.core.folders import files_below

        local = Path(_LOCAL.sub("/", self.path))
        if not local.is_dir():
            return ()
        files, size = files_below(local)
        return (Holding(self.config.path, files, size),)

    @property
    def whole_files(self) -> str:
        return self.config.format if self.config.format in TYPED else ""

    @classmethod
    def require_same(
        cls, sources: "Mapping[int, Self]", past: Past, spark: "SparkSession", accepted: Collection[str]
    ) -> Mapping[str, str]:
        """WrongCheckpoint if a source is bound to another folder than the one that was read last, as in a copied or moved job.

        Spark knows the files it has read by their whole paths: in a copy it would take every event in again.
        """
        for number, source in sources.items():
            for uri in _newest_files(past, number):
                if not is_below(uri, source.path):
                    raise WrongCheckpoint(
                        f"The checkpoint {past.checkpoint} has read {path_of(uri)}; the source is bound to {source.path} now.",
                        required="Spark knows files by their whole paths: those that it has read would be taken in again under another.",
                        remedy="Bind the source to where it was. A copy of a job, or another source, starts with a checkpoint and outputs of its own.",
                    )
        return {}

    def notices(self, spark: "SparkSession") -> "FolderNotices":
        from streamproof.connectors.files.noticing import FolderNotices

        return FolderNotices(spark, self.name, self.config, self.path)


def _newest_files(past: Past, number: int) -> tuple[str, ...]:
    """The URIs of the files that the newest batch with files of a source has read; a few of them tell."""
    read = (manifest.fingerprint.files.get(str(number), ()) for manifest in past.newest_first())
    return next((tuple(files[:3]) for files in read if files), ())
