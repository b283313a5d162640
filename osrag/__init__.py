"""osrag: a study assistant for operating-systems courses."""

__version__ = "0.1.0"
