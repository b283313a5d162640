"""Composition: settings to parts, and one run from request to events."""
