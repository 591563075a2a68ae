"""The expressions of declared state as projections that Spark has analysed, for the Java that runs them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from streamproof.errors import JobDefinitionError
from streamproof.stream.keyed.declared import BEFORE, EACH, TIMER, Emit, Step, place_of
from streamproof.stream.keyed.rules import Rules, require_free
from streamproof.stream.names import quoted
from streamproof.stream.sql_texts import analysed, require_fits, why_unfit

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

_REQUIRED = (
    "Expressions are over the columns of the row and the fields of the state; those of a timer over the key, the fields and timer. emit sees "
    "the fields as they have become, and before.FIELD."
)
_TYPES = "A field has the type of what it starts as: 0L is bigint, 0D is double, 0.0 is decimal(1,1)."


@dataclass(frozen=True)
class CompiledStep:
    """A step: the fields after it, and the list of rows of each emission; which output each goes to, 0 for the main one."""

    fields: "DataFrame"
    emissions: "DataFrame"
    outputs: tuple[int, ...]


@dataclass(frozen=True)
class Compiled:
    """All expressions of the rules over rows with certain columns.

    Parameters
    ----------
    rows
        No rows, of the columns that expressions see.
    """

    rules: Rules
    rows: "DataFrame"

    @cached_property
    def starts(self) -> "DataFrame":
        """The fields as they are for a key without a state."""
        rows = self.rows.sparkSession.range(1).select()
        texts = {name: field.starts for name, field in self.rules.state.items()}
        # Whatever a field starts as, it can become null, and so can what is in it.
        return self._projected("state", rows, texts, (), self._projected("state", rows, texts, ()).schema.toNullable())

    @cached_property
    def state(self) -> "StructType":
        return self.starts.schema.toNullable()

    @property
    def key(self) -> "DataFrame":
        return self.rows.select(*map(quoted, self.rules.key))

    @cached_property
    def steps(self) -> list[CompiledStep]:
        """Of the row, and of each timer."""
        require_free(self.rules.state, self.rows.columns)
        outputs = (None, *self.rules.tags)
        found = []
        for where, step in self.rules.steps.items():
            over = self.rows if where == "on_row" else self.key
            emissions = self._emissions(where, over, step, of_timer=where != "on_row")
            numbers = tuple(outputs.index(one.to) for one in step.emits)
            found.append(CompiledStep(self._fields(where, over, step), emissions, numbers))
        self._require_same_types(found)
        return found

    @cached_property
    def bounds(self) -> "tuple[DataFrame, DataFrame] | None":
        """The fields as they are bounded, and the list of what each bounded one loses, as rows; None where none is."""
        if not self.rules.bounded:
            return None
        rows, kept, lost = self._empty(self.state), [], []
        from pyspark.sql import functions as F

        for name, field in self.rules.state.items():
            if field.at_most is None:
                kept.append(f"{quoted(name)} AS {quoted(name)}")
                continue
            elements = f"map_entries({quoted(name)})" if field.is_map else quoted(name)
            over = f"size({quoted(name)}) > {field.at_most}"
            rest = f"slice({elements}, size({quoted(name)}) - {field.at_most - 1}, {field.at_most})"
            rest = f"map_from_entries({rest})" if field.is_map else rest
            kept.append(f"IF({over}, {rest}, {quoted(name)}) AS {quoted(name)}")
            first = f"slice({elements}, 1, size({quoted(name)}) - {field.at_most})"
            row = "named_struct('key', each.key, 'value', each.value)" if field.is_map else "named_struct('value', each)"
            lost.append(f"IF({over}, transform({first}, each -> {row}), NULL) AS {quoted(name)}")
        return rows.select(*map(F.expr, kept)), rows.select(*map(F.expr, lost))

    def rows_of(self, output: int) -> "StructType":
        """The columns of the rows of an output."""
        from pyspark.sql.types import ArrayType, StructType

        if output > len(self.rules.tags):
            assert self.bounds is not None, "only bounded fields lose anything"
            made, place = self.bounds[1], output - len(self.rules.tags) - 1
        else:
            one = next(one for one in self.steps if output in one.outputs)
            made, place = one.emissions, one.outputs.index(output)
        type_ = made.schema.fields[place].dataType
        assert isinstance(type_, ArrayType), "an emission is a list"
        assert isinstance(type_.elementType, StructType), "of rows"
        return type_.elementType

    def _empty(self, schema: "StructType") -> "DataFrame":
        from streamproof._jvm import empty_rows

        return empty_rows(self.rows.sparkSession, schema)

    def _seen(self, over: "DataFrame", *, of_timer: bool, before: bool) -> "DataFrame":
        """A relation of what a step sees: the row, or the key; the fields; what they were; the timer."""
        from pyspark.sql.types import StructField, StructType, TimestampType

        fields = [*over.schema.fields, *self.state.fields]
        fields += [StructField(BEFORE, self.state)] if before else []
        fields += [StructField(TIMER, TimestampType())] if of_timer else []
        return self._empty(StructType(fields))

    def _fields(self, where: str, over: "DataFrame", step: Step) -> "DataFrame":
        rows = self._seen(over, of_timer=where != "on_row", before=False)
        texts = {name: quoted(name) for name in self.rules.state}
        for place, text in step.set.items():
            name, inside = place_of(place)
            texts[name] = text if inside is None else _entry(texts[name], inside, text)
        # What is in a step's text twice is set once: entries of one map are set one after another.
        found = self._projected(where, rows, texts, rows.columns)
        for name in self.rules.state:
            said = f"keyed(): {where}: {name}, {_shown(texts[name])},"
            require_fits(said, found.schema[name].dataType, self.state[name].dataType, _TYPES)
        return self._projected(where, rows, texts, rows.columns, self.state)

    def _emissions(self, where: str, over: "DataFrame", step: Step, *, of_timer: bool) -> "DataFrame":
        rows = self._seen(over, of_timer=of_timer, before=True)
        for one in step.emits:
            self._require_emission(where, rows, one)
        return self._projected(where, rows, {f"_{number}": _list(one) for number, one in enumerate(step.emits)}, rows.columns)

    def _require_emission(self, where: str, rows: "DataFrame", one: Emit) -> None:
        """Each part by itself, so that an error names it."""
        if one.when is not None:
            found = self._projected(where, rows, {"when": one.when}, rows.columns).schema["when"].dataType
            if found.simpleString() != "boolean":
                raise JobDefinitionError(
                    f"{where}: emit(when=...), {_shown(one.when)}, is {found.simpleString()}.", required="A condition is a boolean."
                )
        if one.each is not None:
            listed = self._projected(where, rows, {EACH: one.each}, rows.columns).schema[EACH].dataType
            if listed.typeName() != "array":
                raise JobDefinitionError(
                    f"{where}: emit(each=...), {_shown(one.each)}, is {listed.simpleString()}.", required="each= is a list."
                )
            return
        self._projected(where, rows, one.columns, rows.columns)

    def _projected(
        self, where: str, rows: "DataFrame", texts: Mapping[str, str], columns: Sequence[str], types: "StructType | None" = None
    ) -> "DataFrame":
        """Expressions over rows, in one projection, of these types; a JobDefinitionError names the one that does not fit."""
        from pyspark.sql import functions as F

        # The comment is in what Spark says of an expression that fails while it runs.
        made: dict[str, Column] = {name: F.expr(f"{_whole(text)} /* keyed {where}: {name} */") for name, text in texts.items()}
        for name, column in made.items() if types is None else ():
            said = f"keyed(): {where}: {name}, {_shown(texts[name])},"
            why = why_unfit(analysed(rows, column, said, columns, _REQUIRED))
            if why:
                raise JobDefinitionError(f"{said} cannot be used: {why}.", required=_REQUIRED)
        if types is not None:
            made = {name: column.cast(types[name].dataType) for name, column in made.items()}
        return rows.select(*[column.alias(name) for name, column in made.items()])

    def _require_same_types(self, steps: Sequence[CompiledStep]) -> None:
        found: dict[int, StructType] = {}
        for step in steps:
            for place, output in enumerate(step.outputs):
                made = step.emissions.schema.fields[place].dataType.elementType.toNullable()  # type: ignore[attr-defined]
                before = found.setdefault(output, made)
                if before != made:
                    raise JobDefinitionError(
                        f"keyed(): two emit() of one output give {before.simpleString()} and {made.simpleString()}.",
                        required="All rows of an output have columns of the same types.",
                        remedy="CAST one of them.",
                    )


def _list(one: Emit) -> str:
    """An emission as a list of rows."""
    row = f"named_struct({', '.join(f'{_text(name)}, {_whole(text)}' for name, text in one.columns.items())})"
    rows = f"array({row})" if one.each is None else f"transform({_whole(one.each)}, {EACH} -> {row})"
    return rows if one.when is None else f"CASE WHEN {_whole(one.when)} THEN {rows} END"


def _entry(field: str, inside: str, text: str) -> str:
    """A map with an entry set, which is then its last, or removed; a list with one more element."""
    text, inside = _whole(text), _whole(inside)
    if not inside.strip():
        return f"array_append({field}, {text})"
    others = f"map_filter({field}, (_k, _v) -> NOT _k <=> ({inside}))"
    return f"IF(({text}) IS NULL OR ({inside}) IS NULL, {others}, map_concat({others}, map({inside}, {text})))"


def _whole(text: str) -> str:
    """A text inside another one: a comment at its end takes nothing of that along."""
    return f"{text}\n"


def _text(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _shown(text: str) -> str:
    return f'"{text}"'
