"""What a job is bound to: the place of each output, and of each query its source, its checkpoint and its outputs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamproof.config import ServiceSink, output_of
from streamproof.config.sinks import FILES
from streamproof.connectors import services
from streamproof.connectors.sources import sources_of
from streamproof.core.sides import REJECTED, Side
from streamproof.errors import JobDefinitionError
from streamproof.stream.node import Branch, Node
from streamproof.stream.outputs import Outputs

if TYPE_CHECKING:
    from streamproof.config import JobConfig, SourceConfig
    from streamproof.connectors.source import Source


@dataclass(frozen=True)
class OutputPlace:
    """Where an output goes, or one of its several sinks: "exposure", "exposure.postgres".

    Parameters
    ----------
    side
        Which side output it is; None of a main output.
    path
        Where its rows are staged; for files where they are published too.
    format
        How they are staged.
    connector
        As configured.
    bound
        Whether the configuration has a sink for it.
    service
        What a sink of a service is configured with; None for files.
    home
        Where rows are staged that several sinks of an output have in common; empty where the sink has its output to itself.
    published
        The format of published files, where it is another than that of staged ones.
    """

    name: str
    side: Side | None
    path: str
    format: str
    connector: str
    bound: bool
    service: ServiceSink | None = None
    home: str = ""
    published: str = ""

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder of files: no service, and no class of the user's."""
        return self.connector == FILES

    @property
    def where(self) -> str:
        """What it is called: a path, or a table, a topic."""
        return self.path if self.service is None else services.where(self.service)

    @property
    def shown_format(self) -> str:
        """How readers find the rows: the format of files, the name of a service."""
        return (self.published or self.format) if self.service is None else self.connector


@dataclass(frozen=True)
class BoundQuery:
    """What the query of one main output is bound to; it bears the name of that output.

    Parameters
    ----------
    sides
        Its side outputs, with the name of each.
    targets
        By output the names of its sinks: its own, or several such as "exposure.postgres".
    places
        Where the outputs go, of the whole job.
    """

    config: "JobConfig"
    name: str
    root: Node
    checkpoint: str
    sides: Mapping[Side, str]
    targets: Mapping[str, Sequence[str]]
    places: Mapping[str, OutputPlace]

    @property
    def job(self) -> str:
        return self.config.name

    @property
    def source(self) -> "SourceConfig":
        return self.config.source[self.root.sources[0]]

    @property
    def sources(self) -> "Mapping[str, SourceConfig]":
        """Its sources by name, in the order in which Spark numbers them."""
        return {name: self.config.source[name] for name in self.root.sources}

    @property
    def inputs(self) -> "Mapping[str, Source]":
        """The same, as what reads them."""
        inputs = sources_of(self.config)
        return {name: inputs[name] for name in self.root.sources}

    @property
    def checkpoints(self) -> str:
        """The folder with the checkpoints of all queries; what is staged for services lies beside it."""
        return self.config.resolve(self.config.checkpoint)


@dataclass(frozen=True)
class BoundJob:
    """A job with its configuration; every output has a place."""

    config: "JobConfig"
    outputs: Outputs
    places: dict[str, OutputPlace]

    @property
    def name(self) -> str:
        return self.config.name

    @property
    def inputs(self) -> "Mapping[str, Source]":
        """The sources that its queries read, by their names."""
        inputs = sources_of(self.config)
        return {name: inputs[name] for name in dict.fromkeys(name for root in self.outputs.main.values() for name in root.sources)}

    def query(self, name: str) -> BoundQuery:
        """What the query of one main output is bound to."""
        sides = self.sides_of(name)
        return BoundQuery(
            config=self.config,
            name=name,
            root=self.outputs.main[name],
            checkpoint=self.checkpoint(name),
            sides=sides,
            targets={output: self.targets(output) for output in (name, *sides.values())},
            places=self.places,
        )

    def checkpoint(self, query: str) -> str:
        return f"{self.config.resolve(self.config.checkpoint)}/{query}"

    def targets(self, output: str) -> tuple[str, ...]:
        """The names of an output's sinks: its own, or several such as "exposure.postgres"."""
        return tuple(name for name in self.places if output_of(name) == output)

    def sides_of(self, query: str) -> dict[Side, str]:
        """The side outputs of a query, with the name of each; those the job does not return go to a default place."""
        sides = self.outputs.sides_of(query)
        for side in self.outputs.main[query].sides:
            if side in sides or side.if_returned or (side == REJECTED and self._rejected_before(query)):
                continue
            sides[side] = self._default_name(query, side)
        return sides

    def _default_name(self, query: str, side: Side) -> str:
        """What a side output is called that the job does not return: by its side alone where no other query could have it too."""
        taken = {*self.outputs.main, *self.outputs.side}
        first, *others = self.outputs.main
        alone = query == first if side == REJECTED else not others  # what several reject alike, the first one delivers
        name = side.output if alone and side.output not in taken else f"{query}_{side.output}"
        if name in taken:
            raise JobDefinitionError(
                f"The job has an output {name}, and the {side.said} rows of {query} would go to an output of that name.",
                required="Each output has a name of its own.",
                remedy=f"Rename it, or return the {side.said} output of {query} too, under a name of your own.",
            )
        return name

    def _rejected_before(self, query: str) -> bool:
        """Whether an earlier query delivers everything that this one rejects: the same source, and the same requirements (R14)."""
        root = self.outputs.main[query]
        earlier = list(self.outputs.main)[: list(self.outputs.main).index(query)]
        return any(_rejects_all_of(self.outputs.main[other], root) for other in earlier)


def _rejects_all_of(other: Node, root: Node) -> bool:
    """Whether every record that a query rejects is rejected by the other, by the same steps."""
    others = {branch.source: branch for branch in other.branches}
    return all(branch.source in others and _has_requirements_of(others[branch.source], branch) for branch in root.branches)


def _has_requirements_of(other: Branch, branch: Branch) -> bool:
    requirements = [number for number, step in enumerate(branch.steps) if step.rejects]
    shared = branch.steps[: requirements[-1] + 1] if requirements else ()
    return len(shared) <= len(other.steps) and all(one.is_same(theirs) for one, theirs in zip(shared, other.steps, strict=False))
