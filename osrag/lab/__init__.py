"""Exercises that are computed: parameters lead to steps, an answer and a drawing."""
