"""A disk in memory, with what `_jvm.Storage` can do of it: files by their paths."""

from typing import Any


class Disk(dict[str, str]):
    """Files and their texts."""

    def read(self, path: str) -> str | None:
        return self.get(path)

    def exists(self, path: str) -> bool:
        return path in self

    def list(self, path: str) -> dict[str, int]:
        found: dict[str, int] = {}
        for name, text in self.items():
            if name.startswith(f"{path}/"):
                first, slash, _ = name.removeprefix(f"{path}/").partition("/")
                found[first] = -1 if slash else len(text)
        return dict(sorted(found.items()))

    def create_atomic(self, path: str, text: str) -> bool:
        return self.setdefault(path, text) is text

    def delete(self, path: str) -> Any:
        self.pop(path, None)

    def names(self, path: str) -> Any:
        return [*self.list(path)]
