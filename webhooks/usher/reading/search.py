"""Finds pod specs and requests for accelerators in objects of unknown kinds.

Why: docs/domain/principles.md#unknown-kinds.
"""

from collections.abc import Callable

from usher import paths

MAX_NODES = 100_000
"""Objects and lists to look at; the largest published CRDs have 25,000."""

_AMOUNTS = ("requests", "limits")

# Where a node is: the place of its holder, and its key there. A pointer is built only for the nodes that are found.
Place = tuple["Place", str | int] | None


def pod_specs(value: paths.Json) -> list[str] | None:
    """Paths of all objects with a `containers` list, in document order, without nested ones.

    None when the object is too large to be searched to its end.
    """
    return _all(value, _is_pod_spec)


def resource_requests(value: paths.Json, is_accelerator: Callable[[str], bool]) -> list[str] | None:
    """Paths of all objects whose `requests` or `limits` name an accelerator; None for an object that is too large.

    Kinds whose operators build the pods have these fields outside of containers.
    """
    return _all(value, lambda node: any(is_accelerator(name) for field in _AMOUNTS for name in _dict(node.get(field))))


def _all(value: paths.Json, is_wanted: Callable[[dict[str, paths.Json]], bool]) -> list[str] | None:
    found: list[str] = []
    stack: list[tuple[Place, paths.Json]] = [(None, value)]
    for _ in range(MAX_NODES):
        if not stack:
            break
        place, node = stack.pop()
        if isinstance(node, dict) and is_wanted(node):
            found.append(_pointer(place))
            continue
        children = reversed(node.items()) if isinstance(node, dict) else reversed(list(enumerate(_list(node))))
        stack.extend(((place, key), child) for key, child in children if isinstance(child, dict | list))
    return None if stack else found


def _is_pod_spec(node: dict[str, paths.Json]) -> bool:
    return any(isinstance(container, dict) and "image" in container for container in _list(node.get("containers")))


def _dict(value: paths.Json) -> dict[str, paths.Json]:
    return value if isinstance(value, dict) else {}


def _list(value: paths.Json) -> list[paths.Json]:
    return value if isinstance(value, list) else []


def _pointer(place: Place) -> str:
    keys: list[str | int] = []
    while place is not None:
        place, key = place
        keys.append(key)
    return paths.join(paths.ROOT, *reversed(keys))
