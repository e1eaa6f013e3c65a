"""Rules of RBAC."""

from collections.abc import Iterable, Sequence

from usher import paths


def rules(resources: Iterable[tuple[str, str]], *, verbs: Sequence[str]) -> list[paths.Json]:
    """One rule for each group of the API that has resources (group, plural), in a stable order."""
    plurals: dict[str, set[str]] = {}
    for group, plural in resources:
        plurals.setdefault(group, set()).add(plural)
    return [
        {"apiGroups": [group], "resources": [*sorted(found)], "verbs": [*verbs]}
        for group, found in sorted(plurals.items())
    ]
