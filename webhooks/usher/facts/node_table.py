"""Nodes of a cluster, by name."""

from collections.abc import Iterable, Mapping

from usher import paths


class NodeTable:
    """The nodes, and whether anybody has looked for them."""

    def __init__(self) -> None:
        self.known = False
        self.revision = 0
        self._nodes: Mapping[str, paths.Object] = {}

    def __len__(self) -> int:
        return len(self._nodes)

    def replace(self, values: Iterable[paths.Object]) -> None:
        """Takes all nodes that there are."""
        nodes = {_name(value): value for value in values}
        if not self.known or nodes != self._nodes:
            self.revision += 1
        self._nodes, self.known = nodes, True

    def put(self, value: paths.Object) -> None:
        """Takes a node as it is now."""
        self.replace([*(node for name, node in self._nodes.items() if name != _name(value)), value])

    def remove(self, name: str) -> None:
        self.replace(node for other, node in self._nodes.items() if other != name)

    def named(self, name: str) -> paths.Object | None:
        return self._nodes.get(name)


def _name(value: paths.Object) -> str:
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) else ""
