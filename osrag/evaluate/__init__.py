"""Measures and reports."""
