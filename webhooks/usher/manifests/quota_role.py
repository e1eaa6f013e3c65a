"""The rights that the server needs to charge GPUQuotas: to read what makes pods, and to write the quotas' status."""

from collections.abc import Sequence
from typing import Final

from usher import paths
from usher.manifests.facts_role import ACCOUNT, VERBS, role_of_cluster, role_of_namespace
from usher.manifests.rules import rules
from usher.quota.definitions import GROUP
from usher.workloads.registry import KINDS

NAME: Final = "gpu-usher-quotas"


def of_cluster(*, namespace: str = ACCOUNT) -> Sequence[paths.Object]:
    """A ClusterRole for the server's account; without it no quota is charged, and whoever needs one is not let in."""
    workloads = [(kind.group, kind.plural) for kind in KINDS if kind.plural and not kind.is_template]
    written: paths.Object = {"apiGroups": [GROUP], "resources": ["gpuquotas/status"], "verbs": ["update"]}
    return role_of_cluster(NAME, [*rules(workloads, verbs=VERBS), written], namespace=namespace)


def of_accounts(*, namespace: str = ACCOUNT) -> Sequence[paths.Object]:
    """A Role for the ConfigMaps of the server's own namespace, which keep the accounts of the quotas of usher.yaml."""
    kept: paths.Object = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "create", "update"]}
    return role_of_namespace(NAME, [kept], place=namespace, account_namespace=namespace)
