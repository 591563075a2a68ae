"""PostgreSQL: tables out, exactly once."""
