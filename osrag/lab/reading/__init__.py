"""Reading an exercise in words, Chinese or English."""

from osrag.lab.reading.reader import Reading, read

__all__ = ["Reading", "read"]
