"""One table of a configuration, as its model takes it; what the model does not take is said as a problem."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from streamproof.config.positions import KeyPath
from streamproof.config.problems import Problem, did_you_mean, nearest
from streamproof.config.secret import redact, shown


def taken(model: type[BaseModel], path: KeyPath, table: Any, problems: list[Problem]) -> BaseModel | None:
    """A table as its model; None where that does not take it, and then `problems` has what is wrong, each once."""
    if not isinstance(table, dict):
        problems.append(Problem(path, f"is {shown(table)}.", "It must be a table."))
        return None
    try:
        return model.model_validate(table)
    except ValidationError as error:
        details = error.errors(include_url=False)
        misspelt = {_meant(model, detail["loc"]) for detail in details if detail["type"] == "extra_forbidden"}
        already = {problem.path for problem in problems}
        for detail in details:
            problem = _problem(model, path, detail)
            if problem.path not in already and not (detail["type"] == "missing" and detail["loc"] in misspelt):
                problems.append(problem)
        return None


def _meant(model: type[BaseModel], loc: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """The place of the key that a misspelt one stands for: it need not be reported as missing as well."""
    parent = tuple(str(part) for part in loc[:-1])
    return (*loc[:-1], nearest(str(loc[-1]), keys_of(model, parent)) or "")


def _problem(model: type[BaseModel], table: KeyPath, detail: Any) -> Problem:
    inside = tuple(str(part) for part in detail["loc"] if not _is_union_member(part))
    path, key = (*table, *inside), inside[-1] if inside else ""
    parent = ".".join(inside[:-1])
    lead = f"{parent} " if parent else ""
    if detail["type"] == "extra_forbidden":
        keys = keys_of(model, inside[:-1])
        return Problem(path, f'{lead}has no key "{key}".{did_you_mean(key, keys)}', _takes(keys))
    if detail["type"] == "missing":
        return Problem((*table, *inside[:-1]), f'{lead}needs the key "{key}".', _takes(keys_of(model, inside[:-1])))
    if detail["type"] == "sentence":
        context = detail["ctx"]
        sentence = context["sentence"]
        return Problem(
            path, f"{'.'.join(inside)} {sentence}{'' if sentence.endswith('?') else '.'}", context["required"], context["remedy"]
        )
    if detail["type"] in ("model_type", "model_attributes_type"):
        keys = keys_of(model, inside)
        return Problem(
            path,
            f"{'.'.join(inside)} is {shown(detail['input'])}.",
            f"It must be a table such as {{ {next(iter(keys))} = ... }}. {_takes(keys)}",
        )
    return Problem(path, f"{'.'.join(inside)} is {shown(detail['input'])}: {redact(detail['msg'])}.")


def _is_union_member(part: object) -> bool:
    """Whether pydantic put the name of a type, not of a key, into the place of an error."""
    return isinstance(part, str) and ("[" in part or "(" in part)


def keys_of(model: type[BaseModel], path: KeyPath = ()) -> dict[str, bool]:
    """The keys that the table at the path takes, with whether they are required."""
    fields = {field.alias or name: field for name, field in model.model_fields.items()}
    if path and path[0] in fields:
        inner = [
            part for part in (fields[path[0]].annotation, *getattr(fields[path[0]].annotation, "__args__", ())) if _is_model(part)
        ]
        return keys_of(inner[0], path[1:]) if inner else {}
    return {name: field.is_required() for name, field in fields.items() if not field.exclude}


def _is_model(part: object) -> bool:
    return isinstance(part, type) and issubclass(part, BaseModel)


def _takes(keys: Mapping[str, bool]) -> str:
    return f"It takes {', '.join(f'{name} (required)' if required else name for name, required in keys.items())}."
