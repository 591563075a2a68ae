"""`--service postgres --env DSN={postgres}`: the services that a plain job asks for, and the words by which it finds its places there."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from streamproof.connectors.extras import library
from streamproof.errors import ScenarioError
from streamproof.prove.services.names import TOPIC
from streamproof.prove.services.own_places import PLACES

_WORD = re.compile(rf"\{{((?:{'|'.join(PLACES)})(?:[.:][^{{}}]*)?)\}}")
_TOPIC_NAME = re.compile(r"[A-Za-z0-9._-]+")


def words_in(texts: Iterable[str]) -> list[str]:
    """The words in braces that name a service, or a part of one."""
    return [word for text in texts for word in _WORD.findall(text)]


def topics_in(texts: Iterable[str]) -> tuple[str, ...]:
    """What the job calls its topics, each once."""
    return tuple(dict.fromkeys(word.removeprefix(TOPIC) for word in words_in(texts) if word.startswith(TOPIC)))


def required(services: Sequence[str], texts: Sequence[str], settings: Mapping[str, str]) -> None:
    """That each service is one that there is and has a word, and each word a service that is asked for.

    Parameters
    ----------
    texts
        The values of arguments, of the environment, and the words of the command line.
    settings
        Those of Spark, which are the same for all scenarios.

    Raises
    ------
    ScenarioError, MissingExtra
        Where that is not so, or the library is not installed by which a place is made.
    """
    for problem in _problems(services, texts, settings):
        raise problem
    for name in services:
        library(*PLACES[name].client, f"--service {name}")


def _problems(services: Sequence[str], texts: Sequence[str], settings: Mapping[str, str]) -> Iterator[ScenarioError]:
    for name in services:
        if name not in PLACES:
            yield ScenarioError(
                f'"{name}" is no service that a proof can start for a plain PySpark job.',
                required=f"Those are {', '.join(PLACES)}.",
                remedy="Name one of them: --service postgres",
            )
    for word in words_in(texts):
        yield from _problems_of_word(word, services)
    for key, value in settings.items():
        if words_in([value]):
            yield ScenarioError(
                f"--conf {key}={value} names a place of a scenario.",
                required="Settings of Spark are the same for every scenario; its places are not.",
                remedy="Give it to the job by --env, --set or --argument.",
            )
    found = words_in(texts)
    for name in services:
        if not any(_service_of(word) == name for word in found):
            yield ScenarioError(
                f"--service {name} is asked for, and the job is not told where it is.",
                required=f"Each scenario has {PLACES[name].means} of its own, which the job finds by a word in braces.",
                remedy=f"Say it in --env, --set or --argument: --env {PLACES[name].example}",
            )
    if "kafka" in services and not topics_in(texts):
        yield ScenarioError(
            "--service kafka is asked for, and no topic is named.",
            required="All scenarios have the same brokers; each has topics of its own, which are made before the job starts.",
            remedy=f"Name each topic that the job writes: --env {PLACES['kafka'].example}",
        )


def _problems_of_word(word: str, services: Sequence[str]) -> Iterator[ScenarioError]:
    name = _service_of(word)
    topic = word.removeprefix(TOPIC) if word.startswith(TOPIC) else None
    if topic is not None and not _TOPIC_NAME.fullmatch(topic):
        yield ScenarioError(
            f"{{{word}}} names no topic.",
            required="A name has letters, digits, dots, dashes and underscores.",
            remedy="{kafka.topic:totals}",
        )
    elif topic is None and word not in PLACES[name].words:
        known = ", ".join(f"{{{each}}}" for each in (*PLACES[name].words, *([f"{TOPIC}NAME"] if name == "kafka" else [])))
        yield ScenarioError(
            f"{{{word}}} means nothing here.", required=f"Of {name} there are {known}.", remedy="Write one of them."
        )
    if name not in services:
        yield ScenarioError(
            f"{{{word}}} names a service that the proof does not start.",
            required="A service is asked for by its name; then each scenario has a place of its own there.",
            remedy=f"Add --service {name}",
        )


def _service_of(word: str) -> str:
    return re.split(r"[.:]", word, maxsplit=1)[0]
