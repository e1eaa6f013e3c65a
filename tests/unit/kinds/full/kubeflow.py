"""Full objects of the kinds in adapters/kubeflow.py."""

from usher import paths

OBJECTS: dict[str, paths.Object] = {}

REFERENCED: list[paths.Object] = []
"""What they refer to by name."""
