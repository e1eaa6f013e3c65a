"""The rights that `usher audit` needs on a cluster, from the workload registry."""

from usher import paths
from usher.facts.kinds import FACT_KINDS
from usher.manifests.rules import rules
from usher.workloads.registry import LISTED

NAME = "gpu-usher-audit"


def role() -> paths.Object:
    """A ClusterRole that may list every kind that usher knows or reads, and nothing else; for who runs audits."""
    resources = [(kind.group, kind.plural) for kind in (*LISTED, *FACT_KINDS)]
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": NAME},
        "rules": rules(resources, verbs=["list"]),
    }
