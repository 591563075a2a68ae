"""Reading a configuration file: find it, lay a profile over it, fill in the environment, validate, say all problems at once."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from streamproof.config.backup import BackupConfig, check_backup
from streamproof.config.beside import Beside, OpenLineageConfig
from streamproof.config.columns import check_columns
from streamproof.config.connectors import CONNECTORS, model_of
from streamproof.config.entry import job_functions
from streamproof.config.models import JobConfig, JobTable
from streamproof.config.positions import KeyPath, key_lines
from streamproof.config.problems import TABLES, Origin, Problem, did_you_mean, key_of, one_of, raise_problems
from streamproof.config.profiles import with_profile
from streamproof.config.registry import RegistryConfig, with_registry
from streamproof.config.secret import SecretText, UnreadableReference, shown, strings, substitute
from streamproof.config.sinks import CUSTOM_SINK, is_several
from streamproof.config.sources import SourceConfig
from streamproof.config.tables import taken
from streamproof.config.upserts import check_upserts
from streamproof.core.paths import display
from streamproof.errors import ConfigurationError

FILE_NAME = "streamproof.toml"
_LATER_CONNECTORS = ("cdc", "delta")


def load(target: str | Path, *, profile: str | None = None) -> JobConfig:
    """The configuration of a job.

    Parameters
    ----------
    target
        A folder with `streamproof.toml`, that file itself, or `file.py` or `file.py:function` beside it.
    profile
        The name of a `[profile.NAME]` whose keys are laid over the file's.

    Raises
    ------
    ConfigurationError
        If anything is wrong: one error that names each problem with its line, what was found, what is required.
    """
    file, entry = _find(target)
    tree, lines = _read(file)
    origin = Origin(file, lines, profile)
    problems: list[Problem] = []
    tree = with_profile(tree, origin)
    if entry is not None and isinstance(tree.get("job", {}), dict):
        tree["job"] = {**tree.get("job", {}), "entry": _function_in(file.parent / entry, entry, tree)}
    tree = _with_environment(tree, problems)
    config = _validated(tree, origin, problems)
    raise_problems(origin, problems)
    assert config is not None, "no problem was found and no configuration was built"
    return config


def _find(target: str | Path) -> tuple[Path, str | None]:
    """The configuration file, and the entry if the target names one, as "job.py" or "job.py:function"."""
    text = str(target)
    path, function = (Path(text[: -len(colon[0])]), colon[0]) if (colon := re.search(r"(?<=\.py):\w+$", text)) else (Path(text), "")
    if path.suffix == ".py":
        if not path.is_file():
            raise ConfigurationError(f"There is no file {path}.", remedy=_USAGE)
        file = path.parent / FILE_NAME
        if not file.is_file():
            raise ConfigurationError(
                f"There is no {FILE_NAME} beside {path}.", remedy=f"streamproof init NEW_FOLDER writes one as an example. {_USAGE}"
            )
        return file, path.name + function
    if path.is_dir():
        file = path / FILE_NAME
        if not file.is_file():
            raise ConfigurationError(
                f"The folder {path} has no {FILE_NAME}.", remedy=f"streamproof init NEW_FOLDER writes one as an example. {_USAGE}"
            )
        return file, None
    if not path.is_file():
        raise ConfigurationError(f"There is no folder or file {path}.", remedy=_USAGE)
    if path.suffix != ".toml":
        raise ConfigurationError(f"{path} is neither a folder, nor a .toml file, nor a .py file.", remedy=_USAGE)
    return path, None


_USAGE = f"A target is a folder with {FILE_NAME}, that file, or file.py[:function] beside it."


def _read(file: Path) -> tuple[dict[str, Any], Mapping[KeyPath, int]]:
    try:
        text = file.read_bytes().decode("utf-8")
        return tomllib.loads(text), key_lines(text)
    except OSError as problem:
        raise ConfigurationError(f"{display(file)} cannot be read: {problem.strerror}.") from None
    except UnicodeDecodeError as problem:
        line = problem.object.count(b"\n", 0, problem.start) + 1
        raise ConfigurationError(f"{display(file)} line {line}: the file is not UTF-8 text.", remedy="Save it as UTF-8.") from None
    except tomllib.TOMLDecodeError as problem:
        raise _syntax_error(file, text, str(problem)) from None


def _syntax_error(file: Path, text: str, message: str) -> ConfigurationError:
    found = re.search(r"(.*) \(at line (\d+), column (\d+)\)", message, re.DOTALL)
    what, line = (found[1], int(found[2])) if found else (message.removesuffix(" (at end of document)"), text.count("\n") + 1)
    written = text.splitlines()[line - 1].strip() if line <= text.count("\n") + 1 and text else ""
    return ConfigurationError(
        f"{display(file)} line {line}: not valid TOML: {what[:1].lower()}{what[1:]}.",
        required=f"The line is: {written}" if written else "",
        remedy=""
        if "overwrite" in message
        else "A value is written as in TOML: texts in double quotes, numbers and true or false without.",
    )


def _function_in(path: Path, entry: str, tree: Mapping[str, Any]) -> str:
    """The entry of a target "job.py" or "job.py:function"; without a function the file's only job, or the one the file names."""
    if ":" in entry:
        return entry
    configured = str(tree.get("job", {}).get("entry", ""))
    if configured.partition(":")[0] == entry:
        return configured
    jobs = [function.name for function in job_functions(path) if function.is_job]
    if len(jobs) != 1:
        found = f"has the jobs {', '.join(jobs)}" if jobs else "has no function with @sp.job"
        raise ConfigurationError(
            f"{display(path)} {found}.",
            required="A target that names no function needs exactly one.",
            remedy=f"Name it: {entry}:function",
        )
    return f"{entry}:{jobs[0]}"


def _with_environment(tree: dict[str, Any], problems: list[Problem]) -> dict[str, Any]:
    replaced = dict(tree)
    for path, text in strings(tree):
        try:
            value = substitute(text)
        except UnreadableReference as problem:
            problems.append(Problem(path, f"{key_of(path)} {problem.found}.", remedy=problem.remedy))
            continue
        if value is not text:
            replaced = _replaced(replaced, path, value)
    return replaced


def _replaced(tree: Any, path: KeyPath, value: str) -> Any:
    if not path:
        return value
    if isinstance(tree, list):
        return [_replaced(element, path[1:], value) if str(index) == path[0] else element for index, element in enumerate(tree)]
    return {**tree, path[0]: _replaced(tree[path[0]], path[1:], value)}


def _validated(tree: dict[str, Any], origin: Origin, problems: list[Problem]) -> JobConfig | None:
    problems.extend(
        Problem(
            (key,),
            f"has no table [{key}].{did_you_mean(key, TABLES, '[{}]')}",
            f"A file has {', '.join(f'[{top}]' for top in TABLES)}.",
        )
        for key in tree
        if key not in TABLES
    )
    job = _job(tree, problems)
    registry = taken(RegistryConfig, ("registry",), tree["registry"], problems) if "registry" in tree else None
    assert registry is None or isinstance(registry, RegistryConfig)
    backup = taken(BackupConfig, ("backup",), tree["backup"], problems) if "backup" in tree else None
    assert backup is None or isinstance(backup, BackupConfig)
    catalogue = taken(OpenLineageConfig, ("openlineage",), tree["openlineage"], problems) if "openlineage" in tree else None
    assert catalogue is None or isinstance(catalogue, OpenLineageConfig)
    sections: dict[str, dict[str, BaseModel]] = {"source": {}, "sink": {}, "table": {}}
    for kind in CONNECTORS:
        for name, table in _each(kind, _named_tables(tree, kind, problems), problems):
            found = _connected(kind, name, table, problems)
            if found is not None:
                sections[kind][name] = with_registry((kind, name), found, registry, origin.file.absolute().parent, problems)
    for name, sink in sections["sink"].items():
        problems.extend(check_upserts(("sink", name), sink))
    for name, source in sections["source"].items():
        assert isinstance(source, SourceConfig)
        problems.extend(check_columns(("source", name), source))
    if job is not None:
        problems.extend(_not_paced(job, sections["source"].values()))
    spark = _spark(tree.get("spark", {}), problems)
    file = origin.file.absolute()
    if job is not None and backup is not None:
        problems.extend(check_backup(backup, job.checkpoint or "checkpoints", file.parent))
    if job is None or problems:
        return None
    name = job.entry.rpartition(":")[2]
    if isinstance(job.entry, SecretText):
        name = SecretText(name, job.entry.shown)
    if not (file.parent / job.entry.rpartition(":")[0]).is_file():
        problems.append(
            Problem(("job", "entry"), f"entry names {job.entry.rpartition(':')[0]}, and there is no such file beside it.")
        )
        return None
    config = JobConfig(
        file=file,
        name=name,
        entry=job.entry,
        checkpoint=job.checkpoint or f"checkpoints/{name}",
        trigger=job.paced,
        source=sections["source"],
        sink=sections["sink"],
        table=sections["table"],
        registry=registry,
        spark=spark,
        beside=Beside(backup, catalogue),
        profile=origin.profile,
    )
    return config.with_origin(origin)


def _not_paced(job: JobTable, sources: Iterable[BaseModel]) -> Iterator[Problem]:
    """What is wrong with the time that a batch should take."""
    path, leave_out = ("job", "batch_time"), "Take batch_time out."
    if job.batch_time is None:
        return
    if not job.batch_time:
        yield Problem(path, "batch_time is of no length.", remedy='Write how long a batch should take, such as "30 seconds".')
    if job.trigger.real_time:
        required = "A batch of this trigger has a length in time, and takes whatever comes."
        yield Problem(path, "batch_time is there, and the trigger is real-time.", required, leave_out)
    if not any(isinstance(source, SourceConfig) and source.can_be_limited for source in sources):
        yield Problem(
            path,
            "batch_time is there, and no source of the job can give a batch less than there is.",
            "Files and topics can; rows of the connector rate come by the clock.",
            leave_out,
        )


def _job(tree: Mapping[str, Any], problems: list[Problem]) -> JobTable | None:
    if "job" not in tree:
        problems.append(Problem((), "has no table [job].", 'It needs [job] with entry = "job.py:function".'))
        return None
    found = taken(JobTable, ("job",), tree["job"], problems)
    return found if isinstance(found, JobTable) else None


def _named_tables(tree: Mapping[str, Any], kind: str, problems: list[Problem]) -> list[tuple[str, Any]]:
    tables = tree.get(kind, {})
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        problems.append(
            Problem((kind,), f"{kind} must hold one table for each name.", remedy=f"Write [{kind}.NAME], and its keys below it.")
        )
        return []
    if not tables and kind == "source":
        problems.append(Problem((), "has no table [source.NAME].", "A job reads at least one stream."))
    problems.extend(
        Problem((kind, name), f'"{name}" is not a name that Python can use.', "It must be letters, digits and underscores.")
        for name in tables
        if not name.isidentifier()
    )
    return list(tables.items())


def _each(kind: str, tables: list[tuple[str, Any]], problems: list[Problem]) -> Iterator[tuple[str, Any]]:
    """The tables of sources and sinks; of an output with several sinks each by its whole name, "exposure.postgres"."""
    for name, table in tables:
        if kind != "sink" or not is_several(table):
            yield name, table
            continue
        problems.extend(
            Problem((kind, f"{name}.{inner}"), f'"{inner}" is not a name.', "It must be letters, digits and underscores.")
            for inner in table
            if not inner.isidentifier()
        )
        for inner, sink in table.items():
            if CUSTOM_SINK.fullmatch(str(sink.get("connector", ""))):
                problems.append(
                    Problem(
                        (kind, f"{name}.{inner}", "connector"),
                        "is a sink class of your own, one of several sinks of an output.",
                        "Several sinks of an output are files and services; one of your own has its output to itself.",
                    )
                )
                continue
            yield f"{name}.{inner}", sink


def _connected(kind: str, name: str, table: Any, problems: list[Problem]) -> BaseModel | None:
    """A [source.NAME], [sink.NAME] or [table.NAME] as its connector takes it."""
    model = model_of(kind, table)
    if model is not None or not isinstance(table, dict) or not isinstance(table.get("connector"), str):
        return taken(model or CONNECTORS[kind]["files"], (kind, name), table, problems)
    known = CONNECTORS[kind]
    of_your_own = ', or a sink class of your own as "file.py:ClassName"' if kind == "sink" else ""
    required = f"It must be {one_of(known)}{of_your_own}."
    connector = table["connector"]
    what = "is not there yet" if connector in _LATER_CONNECTORS else f"is no connector{' of tables' if kind == 'table' else ''}"
    said = f"connector is {shown(connector)}, which {what}.{did_you_mean(connector, known)}"
    problems.append(Problem((kind, name, "connector"), said, required))
    return None


def _spark(table: Any, problems: list[Problem], path: KeyPath = ("spark",)) -> dict[str, str]:
    """Settings of the Spark session: nested tables are what TOML makes of dotted keys; every name begins with "spark."."""
    if not isinstance(table, dict):
        problems.append(Problem(path, f"is {shown(table)}.", "It must be a table."))
        return {}
    settings: dict[str, str] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            settings |= _spark(value, problems, (*path, key))
            continue
        name = ".".join((*path[1:], key))
        if isinstance(value, list) or not isinstance(value, str | int | float):
            problems.append(Problem((*path, key), f"{name} is {shown(value)}.", "It must be a text, a number, or true or false."))
            continue
        text = str(value).lower() if isinstance(value, bool) else value if isinstance(value, str) else str(value)
        settings[name if name.startswith("spark.") else f"spark.{name}"] = text
    return settings
