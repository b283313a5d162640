"""Models behind small protocols: one protocol file, one backend a file."""
