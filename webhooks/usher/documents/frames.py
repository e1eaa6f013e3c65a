"""The open mappings and lists, and the anchors, while a document is composed."""

from typing import TYPE_CHECKING

from usher import paths

if TYPE_CHECKING:
    from yaml import events

Collection = dict[str, paths.Json] | list[paths.Json]


class Node:
    """The places of a value and its key: offsets into the chunk, with exclusive ends."""

    __slots__ = ("children", "end", "key", "start")

    def __init__(self, start: int, end: int, children: "dict[str, Node] | list[Node] | None" = None) -> None:
        self.start = start
        self.end = end
        self.children = children
        self.key: tuple[int, int] | None = None


class Anchor:
    """The value of an alias."""

    __slots__ = ("cost", "node", "text", "value")

    def __init__(self, value: paths.Json, node: Node | None) -> None:
        self.value = value
        """A scalar as resolved, not yet as key or value."""
        self.node = node
        self.text = ""
        """A scalar as written."""
        self.cost: int | None = None
        """How many characters the alias stands for; None while the value is open."""


class Frame:
    """An open mapping or list. A mapping waits for a key, for the value of `key`, or for that of `<<`."""

    __slots__ = ("aliased", "anchor", "due", "key", "keys", "merging", "node", "start", "value")

    def __init__(self, value: Collection, *, start: int, aliased: int, node: Node | None) -> None:
        self.value = value
        self.start = start
        self.aliased = aliased
        """The aliased characters up to the start of this frame."""
        self.node = node
        self.anchor: Anchor | None = None
        self.due = type(value) is dict
        self.merging = False
        self.key = ""
        self.keys: dict[str, events.Event] = {}
        """The keys written here, without merged keys."""

    def place(self, value: paths.Json, node: Node | None) -> None:
        """Puts an item into the list, or the value of the key into the mapping."""
        container = self.value
        if isinstance(container, list):
            container.append(value)
        else:
            container[self.key] = value
            self.due = True
        if node is None or self.node is None:
            return
        self.node.end = node.end
        if isinstance(self.node.children, list):
            self.node.children.append(node)
        elif self.node.children is not None:
            node.key = span(self.keys[self.key])
            self.node.children[self.key] = node

    def merge(self, value: paths.Json, node: Node | None) -> bool:
        """Puts the value of a `<<` into the mapping; False if it is neither a mapping nor a list of mappings.

        Later values win, written or merged. In a list of mappings the earlier item wins.
        """
        parts = value if isinstance(value, list) else [value]
        for part in reversed(parts):
            if not isinstance(part, dict) or not isinstance(self.value, dict):
                return False
            self.value.update(part)
        if node is not None and self.node is not None and isinstance(self.node.children, dict):
            self.node.end = node.end
            for item in reversed(node.children) if isinstance(node.children, list) else [node]:
                if isinstance(item.children, dict):
                    self.node.children.update(item.children)
        self.due, self.merging = True, False
        return True


def span(event: "events.Event") -> tuple[int, int]:
    """Offsets of an event's text; the types allow events without marks, but the parsers always set them."""
    start, end = event.start_mark, event.end_mark
    return start.index if start else 0, end.index if end else 0
