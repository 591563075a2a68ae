"""Whether the tables that a job looks rows up in are those of its configuration."""

from typing import TYPE_CHECKING

from streamproof.config.problems import did_you_mean
from streamproof.errors import ConfigurationError

if TYPE_CHECKING:
    from streamproof.config import JobConfig
    from streamproof.stream.outputs import Outputs


def require_tables(config: "JobConfig", outputs: "Outputs") -> None:
    """ConfigurationError if the job names a table that the configuration does not have, or a table is there that it does not name."""
    used = {use.table: use.call for root in outputs.main.values() for use in root.uses}
    for name, call in used.items():
        if name not in config.table:
            raise ConfigurationError(
                f"{config.file}: {config.name} calls {call}, and there is no [table.{name}].{did_you_mean(name, config.table)}",
                required=f"The tables are {', '.join(config.table)}." if config.table else "",
                remedy=f'Add:\n[table.{name}]\nconnector = "files"\npath = "tables/{name}"\nformat = "parquet"',
            )
    for name in config.table:
        if name not in used:
            raise ConfigurationError(
                f"{config.where('table', name)}: [table.{name}] is a table that {config.name} takes nothing from.{did_you_mean(name, used)}",
                required=f"It names {', '.join(used)}." if used else "It calls no lookup(), no rules() and no sp.initial().",
                remedy="Take it out, or mend its name.",
            )
