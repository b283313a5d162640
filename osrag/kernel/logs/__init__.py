"""Error logs: read, searched for, explained."""
