"""Whether the tables that a job looks rows up in are those of its configuration."""

from typing import TYPE_CHECKING

from streamproof.config.problems import did_you_mean
from streamproof.errors import ConfigurationError

if TYPE_CHECKING:
    from streamproof.config import JobConfig
    from streamproof.stream.outputs import Outputs


def require_tables(config: "JobConfig", outputs: "Outputs") -> None:
    """ConfigurationError if the job names a table that the configuration does not have, or a table is there that none names."""
    used = dict.fromkeys(use.table for root in outputs.main.values() for use in root.uses)
    for name in used:
        if name not in config.table:
            raise ConfigurationError(
                f'{config.file}: {config.name} names the table "{name}", and there is no [table.{name}].{did_you_mean(name, config.table)}',
                required=f"The tables are {', '.join(config.table)}." if config.table else "",
                remedy=f'Add:\n[table.{name}]\nconnector = "files"\npath = "tables/{name}"\nformat = "parquet"',
            )
    for name in config.table:
        if name not in used:
            raise ConfigurationError(
                f"{config.where('table', name)}: [table.{name}] is a table that {config.name} does not name.{did_you_mean(name, used)}",
                required=f"It names {', '.join(used)}." if used else "It names none.",
                remedy="Take it out, or mend its name.",
            )
