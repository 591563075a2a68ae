"""What is wrong with a scenario file, in sentences: file and line, table, key, what was found, what is required."""

from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from streamproof.config.positions import KeyPath
from streamproof.config.problems import Origin, did_you_mean, one_of
from streamproof.config.secret import shown


def sentence_for(model: type[BaseModel], detail: Any, origin: Origin) -> tuple[str, str]:
    """Message and requirement for one error that pydantic found in a model of the scenario."""
    path, table = _resolved(model, tuple(detail["loc"]))
    key, kind, context = (path[-1] if path else ""), detail["type"], detail.get("ctx", {})
    keys = list(table.model_fields) if table else []
    takes = f"It takes {', '.join(_with_required(table))}." if table else ""
    inside = _section(path[:-1])
    if kind == "extra_forbidden":
        return f'{origin.where(path)}: {inside} has no key "{key}".{did_you_mean(key, keys)}', takes
    if kind == "missing":
        return f'{origin.where(path[:-1])}: {inside} needs the key "{key}".', takes
    if kind == "union_tag_invalid":
        names = _quoted(context["expected_tags"])
        found = str(context["tag"])
        where = f"{origin.where((*path, 'kind'))}: {_section(path)}"
        return f'{where} kind is "{found}".{did_you_mean(found, names)}', f"It must be {one_of(names)}."
    if kind == "union_tag_not_found":
        kinds = 'It must be "id", "key", "number", "choice" or "event_time".'
        return f'{origin.where(path)}: {_section(path)} needs the key "kind".', kinds
    if kind == "literal_error":
        names = _quoted(context["expected"])
        found = detail["input"]
        hint = did_you_mean(found, names) if isinstance(found, str) else ""
        return f"{origin.where(path)}: {inside} {key} is {shown(found)}.{hint}", f"It must be {one_of(names)}."
    if kind == "sentence":
        where = f"{inside} {key}" if table and key in keys else _section(path)
        return f"{origin.where(path)}: {where} {context['sentence']}.", context["required"]
    message = str(detail["msg"]).removeprefix("Input ").removeprefix("should ")
    required = f"It must {message}." if message.startswith("be") else f"{message}."
    return f"{origin.where(path)}: {inside} {key} is {shown(detail['input'])}.", required


def _section(path: KeyPath) -> str:
    return f"[{'.'.join(path)}]" if path else "the scenario"


def _with_required(table: type[BaseModel]) -> Iterator[str]:
    for name, field in table.model_fields.items():
        if not field.exclude:
            yield f"{name} (required)" if field.is_required() else name


def _quoted(listed: str) -> list[str]:
    """The names in a text such as "'id', 'key' or 'number'"."""
    return [part.strip().strip("'") for part in listed.replace(" or ", ", ").split(",")]


def _resolved(model: type[BaseModel], loc: tuple[int | str, ...]) -> tuple[KeyPath, type[BaseModel] | None]:
    """The place of an error as keys of the file, without the names pydantic puts in, and the table that the last key stands in."""
    path: list[str] = []
    here: Any = model
    table: type[BaseModel] | None = None
    for part in loc:
        if members := _members(here):
            here = members.get(str(part))
            table = here
            continue
        table = here if isinstance(here, type) and issubclass(here, BaseModel) else None
        path.append(str(part))
        here = _below(here, str(part))
    return tuple(path), table


def _members(annotation: Any) -> Mapping[str, Any]:
    """The models of a union that is told apart by `kind`, by that kind."""
    arguments = get_args(annotation)
    if not arguments:
        return {}
    if getattr(annotation, "__metadata__", None):
        return _members(arguments[0])
    models = [part for part in arguments if isinstance(part, type) and issubclass(part, BaseModel) and "kind" in part.model_fields]
    return {get_args(part.model_fields["kind"].annotation)[0]: part for part in models}


def _below(annotation: Any, key: str) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        field = annotation.model_fields.get(key)
        return field.annotation if field else None
    if get_origin(annotation) is dict:
        return get_args(annotation)[1]
    return None
