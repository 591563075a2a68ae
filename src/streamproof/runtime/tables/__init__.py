"""Tables that rows are looked up in: read, kept in versions, and which version each batch uses."""
