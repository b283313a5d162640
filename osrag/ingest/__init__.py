"""Documents and source files to chunks."""
