"""Learning from exercises: hints before answers, and what an instructor allows."""
