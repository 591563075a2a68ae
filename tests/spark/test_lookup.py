"""R32: rows are looked up in a table, in a stream: which version a batch uses is fixed before its work, and kept."""
