"""What a call of keyed() says as a whole: fields, steps, timers, and what does not fit together."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Any

from streamproof.core.durations import format_duration
from streamproof.errors import JobDefinitionError
from streamproof.stream.keyed.declared import BEFORE, EACH, TIMER, Field, Initial, Step, place_of
from streamproof.stream.names import own_name
from streamproof.stream.windows.durations import duration_of

NEVER = "never"
_LONGEST = timedelta(days=36_500)


@dataclass(frozen=True)
class Rules:
    """The declared state of a key.

    Parameters
    ----------
    fields
        By name; without the timers.
    on_row
        What a row does.
    on_timer
        By the name of each timer what it does when it is due.
    ttl
        How long a key is remembered after the latest event time of its rows; None for ever.
    order_by
        By what rows of one event time are put in order, before a hash decides; None where that does at once.
    initial
        The state that keys have before the first batch; None where none has any.
    """

    key: tuple[str, ...]
    fields: Mapping[str, Field]
    on_row: Step
    on_timer: Mapping[str, Step]
    ttl: timedelta | None
    order_by: str | None = None
    initial: Initial | None = None

    @cached_property
    def state(self) -> Mapping[str, Field]:
        """All fields; timers are the last."""
        return {**self.fields, **{name: Field("CAST(NULL AS TIMESTAMP)", "timer") for name in self.on_timer}}

    @property
    def steps(self) -> Mapping[str, Step]:
        """By how errors call it: the one of rows first, then those of timers in their order."""
        return {"on_row": self.on_row, **{f"on_timer {name}": step for name, step in self.on_timer.items()}}

    @property
    def bounded(self) -> Mapping[str, Field]:
        """The fields that hold many elements."""
        return {name: field for name, field in self.fields.items() if field.at_most is not None}

    @property
    def tags(self) -> tuple[str, ...]:
        """The side outputs that steps give rows to, in the order in which they are named."""
        return tuple(dict.fromkeys(one.to for step in self.steps.values() for one in step.emits if one.to is not None))

    @property
    def kept(self) -> str:
        return NEVER if self.ttl is None else format_duration(self.ttl)


def rules_of(
    key: tuple[Any, ...], state: Any, on_row: Any, on_timer: Any, ttl: Any, order_by: Any = None, initial: Any = None
) -> Rules:
    """JobDefinitionError unless the arguments of keyed() make sense together."""
    if not key:
        raise JobDefinitionError(
            "keyed() needs the columns of the key.", remedy='For example: keyed("card", state=..., on_row=...).'
        )
    for name in key:
        if not isinstance(name, str):
            raise JobDefinitionError(f"keyed() got a {type(name).__name__}.", required='It takes names of columns, such as "card".')
    fields = {name: _field(name, given) for name, given in _mapping("state", state).items()}
    steps = {"on_row": on_row, **{f"on_timer {name}": one for name, one in _mapping("on_timer", on_timer or {}).items()}}
    for where, one in steps.items():
        if not isinstance(one, Step):
            raise JobDefinitionError(f"keyed({where}) is a {type(one).__name__}.", required="It takes sp.step(set=..., emit=...).")
    if order_by is not None and not isinstance(order_by, str):
        raise JobDefinitionError(f"keyed(order_by=...) got a {type(order_by).__name__}.", required="It takes the name of a column.")
    found = Rules(key, fields, on_row, dict(on_timer or {}), _ttl(ttl), order_by, initial)
    _require_initial(found)
    for name in found.on_timer:
        _require_name("timer", name, fields)
    _require_same_key(found)
    for where, one in found.steps.items():
        _require_places(found, where, one)
    if not any(step.emits for step in found.steps.values()):
        raise JobDefinitionError(
            "keyed() gives no row: no step emits any.",
            required="A stream has an output.",
            remedy="Add emit=sp.emit(...) to a step.",
        )
    if all(one.to is not None for step in found.steps.values() for one in step.emits):
        raise JobDefinitionError(
            "keyed() gives no row of its main output: each emit() names another by to=.", remedy="Leave to= out of one of them."
        )
    _require_alike(found)
    return found


def require_free(fields: Iterable[str], columns: Iterable[str]) -> None:
    """JobDefinitionError where rows have a column that is called as a field, or as something of ours in expressions."""
    own, there = tuple(fields), {column.lower() for column in columns}
    for name in (*own, BEFORE, TIMER, EACH):
        if name.lower() in there:
            raise JobDefinitionError(
                f"keyed() {'has a field' if name in own else 'calls something of its own'} {name}, and the rows have a column of that name.",
                required="Expressions name both.",
                remedy="Give the column another name by transform(); or the field, where it is yours and not one of sp.patterns.",
            )


def _mapping(part: str, given: Any) -> Mapping[str, Any]:
    if not isinstance(given, Mapping) or (part == "state" and not given):
        raise JobDefinitionError(
            f"keyed({part}=...) is {'empty' if isinstance(given, Mapping) else f'a {type(given).__name__}'}.",
            required='It names fields: {"total": "0D"}.' if part == "state" else 'It names timers: {"silence": sp.step(...)}.',
        )
    return given


def _field(name: Any, given: Any) -> Field:
    _require_name("field", name, ())
    if isinstance(given, Field):
        return given
    if isinstance(given, str) and given.strip():
        return Field(given, given)
    raise JobDefinitionError(
        f"keyed(state=...): {name} is {'empty' if isinstance(given, str) else f'a {type(given).__name__}'}.",
        required='A field is what it starts as, "0D"; a list is sp.list_of(...), a map sp.map_of(...), each with a bound.',
    )


def _require_name(what: str, name: Any, taken: Any) -> None:
    if not isinstance(name, str) or not name.isidentifier() or name.startswith("_"):
        raise JobDefinitionError(
            f"keyed(): {name!r} is no name of a {what}.", required="Letters, digits, underscores, a letter first."
        )
    if name in taken or name.lower() in (BEFORE, EACH, TIMER):
        why = "a field has it" if name in taken else "expressions call something of our own so"
        raise JobDefinitionError(f"keyed(): a {what} cannot be called {name}: {why}.", remedy="Give it another name.")


def _ttl(given: Any) -> timedelta | None:
    if given == NEVER:
        return None
    call = f"keyed(ttl={given!r})"
    if given is None:
        raise JobDefinitionError(
            "keyed() does not say how long a key is remembered.",
            required='ttl="30 days" forgets a key so long after its latest row. State without an end grows until the job fails.',
            remedy='Where each key is needed for ever, say so: ttl="never".',
        )
    found = duration_of(call, given)
    if found <= timedelta() or found > _LONGEST:
        said = "nothing" if found <= timedelta() else "longer than a hundred years"
        raise JobDefinitionError(f"{call}: a key is remembered for {said}.", remedy='Write how long, or ttl="never".')
    return found


def _require_same_key(rules: Rules) -> None:
    taken = next((name for name in rules.state if name.lower() in map(str.lower, rules.key)), None)
    if taken is not None:
        raise JobDefinitionError(f"keyed(): the field {taken} has the name of a column of the key.", remedy="Give it another name.")


def _require_initial(rules: Rules) -> None:
    """Where a key is forgotten some time after its latest row, it is known when that was."""
    begins = rules.initial
    if begins is not None and not isinstance(begins, Initial):
        raise JobDefinitionError(
            f"keyed(initial=...) is a {type(begins).__name__}.", remedy='It takes sp.initial("balances"), the name of a table.'
        )
    if begins is not None and begins.at is None and rules.ttl is not None:
        raise JobDefinitionError(
            f'keyed(initial=sp.initial("{begins.table}"), ttl="{rules.kept}"): it is not known from when the time to live of these keys counts.',
            required="It counts from the event time of the latest row of a key, which is before the job.",
            remedy=f'Name the column of the table that has it, sp.initial("{begins.table}", at="..."); or keep each key, ttl="never".',
        )


def _require_places(rules: Rules, where: str, step: Step) -> None:
    """Each thing that a step sets is a field, and a field is set once."""
    whole = set[str]()
    for place in step.set:
        name, inside = place_of(place)
        if name not in rules.state:
            raise JobDefinitionError(
                f"{where} sets {name}, which is no field.", required=f"The fields are {', '.join(rules.state)}."
            )
        field = rules.state[name]
        if inside is not None and (field.at_most is None or field.is_map != bool(inside)):
            needed = 'A map is set by "field[key]", a list gets an element by "field[]"; any field is set by its name.'
            raise JobDefinitionError(f"{where} sets {place}, and {name} is a {field.said}.", required=needed)
        if inside is None and name in whole:
            raise JobDefinitionError(f"{where} sets {name} twice.", remedy="Say it in one expression.")
        whole.add(name)


def _require_alike(rules: Rules) -> None:
    """All rows of an output have the same columns."""
    columns: dict[str | None, tuple[str, ...]] = {}
    for where, step in rules.steps.items():
        for one in step.emits:
            if (taken := own_name(one.columns)) is not None:
                raise JobDefinitionError(
                    f"{where} emits a column {taken}, which is a name of Streamproof's own.", remedy="Give the column another name."
                )
            before = columns.setdefault(one.to, tuple(one.columns))
            if before != tuple(one.columns):
                output = "the main output" if one.to is None else f'the output "{one.to}"'
                raise JobDefinitionError(
                    f"{where} gives {output} the columns {', '.join(one.columns)}, and another emit() {', '.join(before)}.",
                    required="All rows of an output have the same columns, in the same order.",
                    remedy='Name another output by to=, or give a column as "CAST(NULL AS ...) AS name".',
                )
