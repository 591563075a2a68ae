"""S3Proxy, a gateway that speaks S3 and keeps its objects as files. It verifies the signature of each request."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Self

from streamproof.lab.answering import by_s3
from streamproof.lab.process import Process, java
from streamproof.lab.service import SingleProcess, empty
from streamproof.runtime.spark.artifacts import Progress, fetched

BUCKET = "streamproof"
CREDENTIALS: Mapping[str, str] = MappingProxyType({"AWS_ACCESS_KEY_ID": "streamproof", "AWS_SECRET_ACCESS_KEY": "streamproof-lab"})
"""The environment of its clients: it takes these, and no others."""


@dataclass
class S3(SingleProcess):
    """A store of its own with one bucket, `streamproof`, empty at its start; its objects survive `kill` and `restart`."""

    progress: Progress | None = None

    def start(self) -> Self:
        empty(self.data)
        (self.data / BUCKET).mkdir()
        return super().start()

    @property
    def data(self) -> Path:
        """The buckets, as folders."""
        return self.folder / "s3-data"

    @property
    def url(self) -> str:
        """The endpoint that clients are told."""
        return f"http://127.0.0.1:{self._port}"

    @staticmethod
    def answers(address: str) -> bool:
        return by_s3(address)

    def _launch(self) -> None:
        (jar,) = fetched("s3", self.progress).glob("s3proxy-*.jar")
        settings = {
            "s3proxy.endpoint": self.url,
            "s3proxy.authorization": "aws-v2-or-v4",
            "s3proxy.identity": CREDENTIALS["AWS_ACCESS_KEY_ID"],
            "s3proxy.credential": CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
            "jclouds.provider": "filesystem-nio2",
            "jclouds.filesystem.basedir": str(self.data.absolute()),
        }
        told = self.folder / "s3.properties"
        told.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        command = [*java(), "-Xmx256m", "-XX:TieredStopAtLevel=1", "-jar", jar, "--properties", told.absolute()]
        self._run(Process("S3Proxy", command, self.folder / "s3.log"))
