"""Chunks to searchable collections on disk."""
