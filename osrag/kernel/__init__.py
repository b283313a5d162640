"""The Linux source: C to chunks, search over functions, call graph, logs."""
