"""Finds what looks like a pod spec in an object of a kind that we do not know (gpu-domain 0.9)."""

from usher import paths

MAX_NODES = 20_000
"""Where to stop looking in an object that is far larger than any manifest."""


def pod_specs(value: paths.Json) -> list[str]:
    """Paths of all maps with a `containers` list of named containers, outermost first; those inside them left out."""
    found: list[str] = []
    stack: list[tuple[str, paths.Json]] = [(paths.ROOT, value)]
    for _ in range(MAX_NODES):
        if not stack:
            break
        path, node = stack.pop()
        if isinstance(node, dict):
            if _is_pod_spec(node):
                found.append(path)
                continue
            stack.extend(
                (paths.join(path, key), child) for key, child in node.items() if isinstance(child, dict | list)
            )
        elif isinstance(node, list):
            stack.extend(
                (f"{path}/{index}", child) for index, child in enumerate(node) if isinstance(child, dict | list)
            )
    return sorted(found)


def _is_pod_spec(node: dict[str, paths.Json]) -> bool:
    containers = node.get("containers")
    return (
        isinstance(containers, list)
        and bool(containers)
        and all(isinstance(container, dict) and "image" in container for container in containers)
    )
