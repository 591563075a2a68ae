"""Places of each scenario's own in services that a plain PySpark job calls by itself: a database, a numbered one of Redis, topics.

The job finds them by words in braces, in its arguments and its environment: `{postgres}` is the URL of the scenario's database.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from streamproof.prove.services.kind import OwnPlace
from streamproof.prove.services.kinds import KINDS
from streamproof.prove.services.services import Services

PLACES: Mapping[str, OwnPlace] = {name: kind.own_place for name, kind in KINDS.items() if kind.own_place is not None}
"""By the name of the service."""


@dataclass(frozen=True)
class OwnPlaces:
    """The places of all scenarios of a proof.

    Parameters
    ----------
    services
        Those that run.
    topics
        Of Kafka, what the job calls its topics.
    """

    services: Services
    topics: Sequence[str] = ()

    def values(self, scenario: str) -> dict[str, str]:
        """What stands for the words in a scenario: the same at each of its starts."""
        servers = self._servers
        if not servers:
            return {}
        number = self.services.number(scenario)
        return {
            word: value
            for name, server in servers.items()
            for word, value in PLACES[name].values(server, scenario, number, self.topics).items()
        }

    def open(self, scenario: str) -> None:
        """Makes the places of a scenario, empty."""
        values = self.values(scenario)
        for name, server in self._servers.items():
            PLACES[name].open(server, values)

    def close(self, scenario: str) -> None:
        """Removes them."""
        values = self.values(scenario)
        for name, server in self._servers.items():
            PLACES[name].close(server, values)
        self.services.release(scenario)

    @property
    def _servers(self) -> Mapping[str, str]:
        return self.services.urls() if self.services.names else {}
