"""A schema registry in a proof: subjects are those of the proof's topics, so scenarios need no place of their own."""

from streamproof.prove.services.kind import Given, Kind

_HTTP_SECONDS = 10.0
_NOT_THERE = 404


class GivenRegistry(Given):
    """A schema registry, without login."""

    example, schemes, port = "http://host:8081", ("http",), 80

    def ask(self) -> None:
        self._subjects()

    def leave(self, begins: str) -> None:
        import httpx

        for subject in self._subjects():
            if subject.startswith(begins):
                for query in ("", "?permanent=true"):
                    answer = httpx.delete(f"{self.url.rstrip('/')}/subjects/{subject}{query}", timeout=_HTTP_SECONDS)
                    if answer.status_code != _NOT_THERE:
                        answer.raise_for_status()

    def _subjects(self) -> list[str]:
        import httpx

        answer = httpx.get(f"{self.url.rstrip('/')}/subjects", timeout=_HTTP_SECONDS)
        return [str(subject) for subject in answer.raise_for_status().json()]


class Registry(Kind):
    """A schema registry."""

    name, called = "registry", "the registry"
    given = GivenRegistry
    remembered = True
