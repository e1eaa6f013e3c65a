"""Findings about a cluster as a whole, beside the checks on single objects: what waits, what is dead, what is open."""
