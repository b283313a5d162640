"""Programming exercises in C: what belongs to one, what a parser sees in an answer, what its tests say, the marks."""
