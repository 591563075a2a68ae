"""An API in a proof: each scenario has a path on the lab's stand-in."""

from collections.abc import Mapping

from streamproof.config import HttpSink, ServiceSink
from streamproof.core.phases import Side
from streamproof.lab.api import tries_at
from streamproof.prove.services.kind import Kind, Reader, Store
from streamproof.prove.services.names import own_name


class Path(Store):
    """A path of the stand-in."""

    def url(self, server: str, scenario: str, number: int) -> str:
        return f"{server}/{own_name(scenario)}"

    def open(self, url: str) -> None:
        """Nothing has to be made."""

    def close(self, url: str) -> None:
        """It goes with the proof."""


class Api(Kind):
    """The lab's stand-in for an API."""

    name, called = "api", "the API"
    not_given = ("An API cannot be given to a proof.", "What a job made it do is read from the lab's stand-in.")
    store = Path()
    lost_answers = (Side.BEFORE, Side.AFTER)

    def bound(self, sink: ServiceSink, scenario: str, output: str, urls: Mapping[str, str]) -> ServiceSink:
        assert isinstance(sink, HttpSink), "a sink of this service"
        url = f"{urls['api']}{'' if sink.idempotent else '/careless'}/{scenario}/{output}"
        return sink.model_copy(
            update={"url": url, "lookup": f"{url}/{{key}}" if sink.lookup else None, "headers": {}, "ledger": None}
        )

    @property
    def reader(self) -> Reader:
        from streamproof.prove.services.effects import Effects

        return Effects()

    def tries(self, url: str, scenario: str) -> Mapping[str, int]:
        return tries_at(f"{url}/{own_name(scenario)}")
