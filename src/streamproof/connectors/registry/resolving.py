"""Which fields of a writer's message can be read as those of a reader's: by number, as Protobuf does, and only where no value changes."""

from typing import Any

from google.protobuf.descriptor import FieldDescriptor

from streamproof.connectors.registry.wire import Broken

_WIDER = {
    "int32": {"int64"},
    "uint32": {"uint64", "int64"},
    "sint32": {"sint64"},
    "bool": {"int32", "int64", "uint32", "uint64"},
    "enum": {"int32", "int64"},
    "string": {"bytes"},
    "bytes": {"string"},  # what is no text is refused record by record
}
"""From the type a field is written as to those that it may be read as besides: the same bytes, and no value is cut off or changed."""
_NAMES = {number: name.removeprefix("TYPE_").lower() for name, number in vars(FieldDescriptor).items() if name.startswith("TYPE_")}


def require_readable(writer: Any, reader: Any, behind: str = "", seen: frozenset[tuple[str, str]] = frozenset()) -> None:
    """Broken if a field that both messages have is written so that the reader would take it for another value; names the field.

    A field that only the writer has is left out. A field that only the reader has is null. That is Protobuf's own rule.

    Parameters
    ----------
    writer, reader
        Descriptors of messages.
    behind
        The path of fields that leads to them, with a dot after each.
    seen
        The pairs of messages that lead here: messages may hold themselves.
    """
    pair = (writer.full_name, reader.full_name)
    if pair in seen:
        return
    for field in reader.fields:
        written = writer.fields_by_number.get(field.number)
        if written is None:
            continue
        name = f"{behind}{field.name}"
        if written.is_repeated and not field.is_repeated:
            raise Broken(f"does not fit schema_file: {name} is repeated, and is not there")
        mine, theirs = _NAMES[field.type], _NAMES[written.type]
        if mine != theirs and mine not in _WIDER.get(theirs, ()):
            raise Broken(f"does not fit schema_file: {name} is {theirs}, and {mine} there")
        if field.message_type is not None:
            require_readable(written.message_type, field.message_type, f"{name}.", seen | {pair})
