"""The rights that `usher audit` needs on a cluster, from the workload registry."""

from usher import paths
from usher.workloads.registry import LISTED

NAME = "gpu-usher-audit"


def role() -> paths.Object:
    """A ClusterRole that may list every kind that usher knows, and nothing else; bind it to whoever runs the audits."""
    plurals: dict[str, set[str]] = {}
    for kind in LISTED:
        plurals.setdefault(kind.group, set()).add(kind.plural)
    rules: list[paths.Json] = [
        {"apiGroups": [group], "resources": [*sorted(resources)], "verbs": ["list"]}
        for group, resources in sorted(plurals.items())
    ]
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": NAME},
        "rules": rules,
    }
