"""Findings in the files of the state: for each batch that is kept, whether every file is there that its state stands on, and whole."""

from collections.abc import Mapping

from streamproof.checkpoint.folder import STATE
from streamproof.checkpoint.inspection import PARTITIONS, STORES, Inspection, ids_of, stores_of
from streamproof.checkpoint.stores import DEFAULT, Operator, StateFile, Store, tables_of
from streamproof.checkpoint.verify.finding import Harm, Look
from streamproof.core.manifest import NONE

_OF_STATE = "The state of these batches cannot be loaded: windows, keys or rows that wait would be lost, and Spark stops."


def look_at_state(look: Look) -> None:
    found = look.found
    if found.logs.committed:  # before that the first batch may have made a part of it
        _operators(look)
    for operator in found.operators:
        _partitions(look, operator)
        _names(look, operator)
        for store in operator.stores:
            _kinds(look, store)
            ids = ids_of(found.logs, store, stores_of(operator, store.partition))
            for number in reversed(look.committed):
                _version(look, store, number, ids)
    there = {str(operator.number) for operator in found.operators}
    for number, commit in found.logs.committed.items():
        for operator_id in commit.state_ids:
            if operator_id not in there:
                path = f"{STATE}/{operator_id}"
                batches = {other for other, one in found.logs.committed.items() if operator_id in one.state_ids}
                look.add(
                    Harm.MISSING, path, f"The folder {path} is not there, and batch {number} names its state.", _OF_STATE, batches
                )


def _operators(look: Look) -> None:
    """Operators that have to be there: Spark numbers them from 0 on without a gap, and a job of ours says how many keep state."""
    found = look.found
    there = {operator.number for operator in found.operators}
    newest = found.own.newest if found.own is not None else None
    said = newest.made_by.get("operators", NONE) if newest is not None else NONE
    count = 0 if said == NONE else len(said.split(", "))
    if (found.path / STATE).is_dir():  # Spark makes it with the folder of an operator
        count = max(count, 1)
    for number in sorted(set(range(max(count, max(there, default=-1) + 1))) - there):
        path = f"{STATE}/{number}"
        look.add(Harm.MISSING, path, f"The folder {path} is not there.", _OF_STATE, None)


def _names(look: Look, operator: Operator) -> None:
    """Stores that each partition has to have: those that another one has, and all of a join."""
    wanted = {store.name for store in operator.stores if store.files}
    wanted |= {name for name in _OF_JOIN if wanted & {*_OF_JOIN}}
    for partition in sorted({store.partition for store in operator.stores}):
        for name in sorted(wanted - {store.name for store in operator.stores if store.partition == partition}):
            path = f"{STATE}/{operator.number}/{partition}{'' if name == DEFAULT else f'/{name}'}"
            look.add(Harm.MISSING, path, f"The folder {path} is not there.", _OF_STATE, None)


_OF_JOIN = tuple(f"{side}-{store}" for side in ("left", "right") for store in ("keyToNumValues", "keyWithIndexToValue"))
"""The stores of a join, where each is a folder of its own."""


def may_have_lost_its_state(found: Inspection) -> bool:
    """Whether a plain job has a watermark that moves, and no state: a job without state may have that, and so has one whose state is all gone."""
    moves = any(log.watermark_ms for log in found.logs.planned.values()) or any(
        commit.next_watermark_ms for commit in found.logs.committed.values()
    )
    return found.own is None and not found.operators and moves


def _partitions(look: Look, operator: Operator) -> None:
    for partition in partitions_gone(look.found, operator):
        path = f"{STATE}/{operator.number}/{partition}"
        look.add(Harm.MISSING, path, f"The folder {path} is not there.", _OF_STATE, None)


def partitions_gone(found: Inspection, operator: Operator) -> list[int]:
    """The partitions of an operator that have to be there and are not."""
    there = {store.partition for store in operator.stores}
    return [partition for partition in range(_count(found, operator)) if partition not in there]


def _count(found: Inspection, operator: Operator) -> int:
    """How many partitions an operator has: as its commits name, else as its metadata say; one where its key has no column."""
    named = [len(commit.state_ids.get(str(operator.number), ())) for commit in found.logs.committed.values()]
    if any(named):
        return max(named)
    if not any(column.type != "void" for schema in operator.schemas for column in schema.key):
        return min(1, len(operator.stores))
    said = found.settings.get(PARTITIONS, "")
    return operator.partitions or (int(said) if said.isdigit() else 0)


def _kinds(look: Look, store: Store) -> None:
    """Files of another kind of store than the checkpoint fixes: they came from elsewhere, or somebody has changed the setting by hand."""
    provider = look.found.settings.get(STORES, "")
    for file in files_of_another_store(look.found, store):
        path = str(file.path.relative_to(look.found.path))
        says = f"{path} is a file of another state store than {provider.rpartition('.')[2]}, which the checkpoint fixes."
        look.of_state(Harm.FOREIGN, path, says, _OF_STATE, file.version - 1)


def files_of_another_store(found: Inspection, store: Store) -> list[StateFile]:
    """The files of a store that are of another kind than the class of state stores writes that the checkpoint fixes."""
    provider = found.settings.get(STORES, "")
    wanted = next((kinds for word, kinds in _KINDS.items() if word in provider), ())
    return [file for file in store.files if wanted and file.kind not in wanted]


_KINDS: Mapping[str, tuple[str, ...]] = {"HDFSBacked": ("delta", "snapshot"), "RocksDB": ("zip", "changelog")}


def _version(look: Look, store: Store, batch: int, ids: Mapping[int, str]) -> None:
    """The files that the state after a batch stands on."""
    needed, folder = store.needed(batch + 1, ids), store.folder.relative_to(look.found.path)
    for name in needed.missing:
        version = int(name.partition("_")[0])
        if batch != look.committed[-1] and not any(file.version < version for file in store.files):
            look.not_kept.add(batch)  # Spark removes the oldest versions
            continue
        others = [file for file in store.files if file.version == version]
        path = f"{folder}/{name}"
        if others and name != str(version):
            says = f"{folder}/{others[0].path.name} is there, and the commit of batch {version - 1} names {name}."
            look.of_state(Harm.FOREIGN, path, says, _OF_STATE, batch)
        else:
            look.of_state(Harm.MISSING, path, f"The state file {path} is not there.", _OF_STATE, batch)
    for file in needed.files:
        path = str(file.path.relative_to(look.found.path))
        damage = look.damage(file.path)
        if damage is not None:
            look.of_state(Harm.TORN, path, f"{path} {damage}.", _OF_STATE, batch)
            continue
        for table, size in tables_of(file).items():
            _table(look, store, table, size, file.path.name, batch)


def _table(look: Look, store: Store, name: str, size: int, snapshot: str, batch: int) -> None:
    path = store.folder / "SSTs" / name
    shown = str(path.relative_to(look.found.path))
    if name not in store.tables:
        look.of_state(Harm.MISSING, shown, f"{shown} is not there, and the snapshot {snapshot} names it.", _OF_STATE, batch)
    elif store.tables[name] != size:
        look.of_state(
            Harm.TORN,
            shown,
            f"{shown} has {store.tables[name]:,} bytes, and the snapshot {snapshot} says {size:,}.",
            _OF_STATE,
            batch,
        )
    else:
        damage = look.damage(path)
        if damage is not None:
            look.of_state(Harm.TORN, shown, f"{shown} {damage}.", _OF_STATE, batch)
