"""The twins of the operators that keep state, in plain Python: one module each, of the same name as in `stream/operators`."""
