"""Checkpoints that plain jobs have written on each version of Spark, and what `inspect` shows of them."""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from versions import states
from versions.environments import Environment
from versions.inspected import NO_READER, YES

NOT_THERE = "does not exist"
HERE = Path(__file__).parent


def table(environments: Sequence[Environment], readers: Sequence[Environment], only: str, folder: Path) -> dict[str, list[str]]:
    """A row for each kind of state: for each environment that has written it, and the one that reads it, what came of it.

    Parameters
    ----------
    readers
        In the order of `environments`, what reads the checkpoint of each.
    only
        A glob over the kinds.
    folder
        Where the checkpoints are kept; one that is there is not written again.
    """
    found = {
        one.version: _of_version(one, reader, only, folder / one.version) for one, reader in zip(environments, readers, strict=True)
    }
    kinds = [name for name in states.KINDS if any(kind == name for said in found.values() for kind, _ in said)]
    return {states.KINDS[name].says: [_cell(name, found[one.version]) for one in environments] for name in kinds}


def _of_version(wrote: Environment, reads: Environment, only: str, folder: Path) -> Mapping[tuple[str, str], str]:
    failed = dict(_written(wrote, only, folder))
    done = reads.run(reads.python, "-m", "versions.inspected", folder, "--only", f"{only}/*", cwd=HERE.parent)
    said = {(one["kind"], one["store"]): one["said"] for one in map(json.loads, done.stdout.splitlines())}
    wanted = {*states.cases(wrote.version, f"{only}/*")}
    ended = " ".join((done.stderr.strip() or "nothing was said").splitlines()[-1:])
    return {one: failed.get(one) or said.get(one) or f"not looked at: {ended}" for one in sorted(wanted)}


def _written(environment: Environment, only: str, folder: Path) -> Iterator[tuple[tuple[str, str], str]]:
    """Those that could not be written, with the reason."""
    kept = folder / "written.json"
    fresh = kept.is_file() and kept.stat().st_mtime > Path(states.__file__).stat().st_mtime
    there = {tuple(one) for one in json.loads(kept.read_text())} if fresh else set()
    if {*states.cases(environment.version, f"{only}/*")} <= there:
        return
    shutil.rmtree(folder, ignore_errors=True)
    done = environment.run(environment.python, states.__file__, folder, "--only", f"{only}/*", cwd=HERE)
    wrote = []
    for one in map(json.loads, done.stdout.splitlines()):
        if one["said"] == states.WRITTEN:
            wrote.append((one["kind"], one["store"]))
        else:
            yield (one["kind"], one["store"]), f"not written: {one['said']}"
    folder.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(wrote))


def _cell(kind: str, said: Mapping[tuple[str, str], str]) -> str:
    """What all stores say, once where they agree."""
    of = {store: text for (name, store), text in said.items() if name == kind}
    if not of:
        return NOT_THERE
    told = dict.fromkeys(of.values())
    if len(told) == 1 and (*told,)[0] in (YES, NO_READER):
        return (*told,)[0]
    return "; ".join(f"{store}: {text}" for store, text in of.items() if text != YES)
