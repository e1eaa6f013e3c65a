"""The rights that the server needs to know its cluster, from the registry of facts: to read, and no Secrets."""

from collections.abc import Sequence
from typing import Final

from usher import paths
from usher.facts.kinds import FACT_KINDS, KUEUE_CONFIGURATION
from usher.manifests.rules import rules

NAME: Final = "gpu-usher-facts"

ACCOUNT: Final = "gpu-usher"
"""Name of the server's service account, and of its namespace."""

VERBS: Final = ("get", "list", "watch")
_VERBS_OF_LISTS: Final = ("list", "watch")

_API_VERSION: Final = "rbac.authorization.k8s.io/v1"
_API_GROUP: Final = "rbac.authorization.k8s.io"


def of_cluster(*, namespace: str = ACCOUNT) -> Sequence[paths.Object]:
    """A ClusterRole that may read every kind that decisions look at, bound to the server's account.

    Of ConfigMaps only the names are asked for. RBAC knows no such right: who may list them may read them. A site that
    does not want that leaves out their rule; then nothing is known of them, but for what `of_kueue` lets be read.
    """
    whole = rules(_resources(presence_only=False), verbs=VERBS)
    names = rules(_resources(presence_only=True), verbs=_VERBS_OF_LISTS)
    return role_of_cluster(NAME, [*whole, *names], namespace=namespace)


def role_of_cluster(name: str, allowed: Sequence[paths.Json], *, namespace: str) -> Sequence[paths.Object]:
    """A ClusterRole with these rules, bound to the server's account."""
    role: paths.Object = {
        "apiVersion": _API_VERSION,
        "kind": "ClusterRole",
        "metadata": {"name": name},
        "rules": [*allowed],
    }
    return role, _binding("ClusterRole", name, "", account_namespace=namespace)


def of_kueue(*, namespace: str = ACCOUNT) -> Sequence[paths.Object]:
    """A Role in Kueue's namespace that may read Kueue's own configuration, bound to the server's account."""
    place, name = KUEUE_CONFIGURATION
    read: paths.Object = {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": [name], "verbs": [*VERBS]}
    return role_of_namespace(NAME, [read], place=place, account_namespace=namespace)


def role_of_namespace(
    name: str, allowed: Sequence[paths.Json], *, place: str, account_namespace: str
) -> Sequence[paths.Object]:
    """A Role with these rules in a namespace, bound to the server's account."""
    role: paths.Object = {
        "apiVersion": _API_VERSION,
        "kind": "Role",
        "metadata": {"name": name, "namespace": place},
        "rules": [*allowed],
    }
    return role, _binding("Role", name, place, account_namespace=account_namespace)


def _resources(*, presence_only: bool) -> list[tuple[str, str]]:
    return [(kind.group, kind.plural) for kind in FACT_KINDS if kind.presence_only is presence_only]


def _binding(kind: str, name: str, namespace: str, *, account_namespace: str) -> paths.Object:
    metadata: paths.Object = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {
        "apiVersion": _API_VERSION,
        "kind": f"{kind}Binding",
        "metadata": metadata,
        "roleRef": {"apiGroup": _API_GROUP, "kind": kind, "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": account_namespace}],
    }
