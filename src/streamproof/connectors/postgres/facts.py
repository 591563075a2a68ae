"""Facts with versions: the table keeps of each key the greatest one, whatever the order in which they come.

What is greater is the same for all: by the version, then a tombstone above a row, then the hash of the row. Keeping the greatest can be
done in any order, in any batches, and again.
"""

from dataclasses import dataclass

from psycopg import sql


@dataclass(frozen=True)
class Facts:
    """How facts are held against each other.

    Parameters
    ----------
    columns, key
        The columns of the rows, and those that say what a fact is about.
    version
        The column with the version; no row lacks it.
    deleted
        The boolean column that makes a row a tombstone, where there is one. It stays in the table: else an older fact would come back.
    """

    columns: tuple[str, ...]
    key: tuple[str, ...]
    version: str
    deleted: str | None

    def rank(self, row: str) -> tuple[sql.Composable, ...]:
        """What is compared, in this order, of the row with this alias. Both sides are written as text in one session, in UTC."""
        of = sql.Identifier(row)
        names = sql.SQL(", ").join(sql.SQL("{}.{}").format(of, sql.Identifier(name)) for name in self.columns)
        deleted = sql.SQL("coalesce({}.{}, false)").format(of, sql.Identifier(self.deleted)) if self.deleted else sql.SQL("false")
        version = sql.SQL("{}.{}").format(of, sql.Identifier(self.version))
        return version, deleted, sql.SQL('md5(ROW({})::text) COLLATE "C"').format(names)

    def only_greatest(self, staged: sql.Identifier) -> sql.Composed:
        """Leaves of each key the greatest of the staged rows."""
        key = sql.SQL(", ").join(map(sql.Identifier, self.key))
        return sql.SQL(
            "DELETE FROM {staged} WHERE ctid IN (SELECT place FROM (SELECT s.ctid AS place, row_number() OVER (PARTITION BY {key} ORDER BY"
            " {rank}) AS n FROM {staged} s) numbered WHERE n > 1)"
        ).format(staged=staged, key=key, rank=sql.SQL(", ").join(sql.SQL("{} DESC").format(part) for part in self.rank("s")))

    def write(self, table: sql.Identifier, staged: sql.Identifier) -> sql.Composed:
        """Puts the staged rows into the table, each only where nothing greater is there; what somebody else wrote without a version is least."""
        names = sql.SQL(", ").join(map(sql.Identifier, self.columns))
        sets = sql.SQL(", ").join(
            sql.SQL("{0} = EXCLUDED.{0}").format(sql.Identifier(name)) for name in self.columns if name not in self.key
        )
        return sql.SQL(
            "INSERT INTO {table} AS t ({names}) SELECT {names} FROM {staged} ON CONFLICT ({key}) DO UPDATE SET {sets}"
            " WHERE coalesce(({new}) > ({old}), true)"
        ).format(
            table=table,
            names=names,
            staged=staged,
            key=sql.SQL(", ").join(map(sql.Identifier, self.key)),
            sets=sets,
            new=_row(self.rank("excluded")),
            old=_row(self.rank("t")),
        )

    def missing(self, table: sql.Identifier, staged: sql.Identifier) -> sql.Composed:
        """Counts the staged rows whose key has neither them nor a greater one in the table."""
        same = sql.SQL(" AND ").join(sql.SQL("t.{0} = s.{0}").format(sql.Identifier(name)) for name in self.key)
        return sql.SQL("SELECT count(*) FROM {} s WHERE NOT EXISTS (SELECT FROM {} t WHERE {} AND ({}) >= ({}))").format(
            staged, table, same, _row(self.rank("t")), _row(self.rank("s"))
        )


def _row(rank: tuple[sql.Composable, ...]) -> sql.Composed:
    return sql.SQL(", ").join(rank)
