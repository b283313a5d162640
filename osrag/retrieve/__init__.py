"""Questions to hits."""
