"""Readers of single formats: Word, PowerPoint, HTML, EPUB, notebooks, and pictures by text recognition."""
