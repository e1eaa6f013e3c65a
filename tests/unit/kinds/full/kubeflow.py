"""Full objects of the training jobs in kinds/job_groups.py."""

from usher import paths

OBJECTS: dict[str, paths.Object] = {}

REFERENCED: list[paths.Object] = []
"""Objects that the templates refer to by name."""
