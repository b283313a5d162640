"""Exercises: bank, judge, explanation."""
