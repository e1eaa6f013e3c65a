"""All objects of an audit in the cluster, in the order to apply them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from usher import paths
from usher.manifests import roles
from usher.manifests.audits import jobs, network
from usher.manifests.audits.settings import NAME, Settings

POLICIES_NAME: Final = f"{NAME}-policies"
REPORTS_NAME: Final = f"{NAME}-reports"
_REPORTS: Final = (
    ("openreports.io", "clusterreports"),
    ("openreports.io", "reports"),
    ("wgpolicyk8s.io", "clusterpolicyreports"),
    ("wgpolicyk8s.io", "policyreports"),
)
_API_GROUP: Final = "rbac.authorization.k8s.io"


def of(
    settings: Settings,
    *,
    others: Iterable[tuple[str, str]] = (),
    of_policies: Sequence[paths.Json] = (),
    with_role: bool = True,
) -> Sequence[paths.Object]:
    """The objects.

    Args:
        settings: the choices of the site.
        others: groups and plurals of the kinds that only audits read.
        of_policies: the rules for what policies of the site read. They are a role of their own, because manifests/base
            has the other one and would take them away again.
        with_role: whether to add the ClusterRole that manifests/base has too.
    """
    return tuple(_objects(settings, roles.audit_role(others) if with_role else None, of_policies))


def helm_values(of_policies: Sequence[paths.Json]) -> paths.Object:
    """The rules for objects that policies of a site read, as values of the Helm chart."""
    return {"policies": {"auditRules": [*of_policies]}}


def _objects(
    settings: Settings, role: paths.Object | None, of_policies: Sequence[paths.Json]
) -> Iterator[paths.Object]:
    yield {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": NAME, "namespace": settings.namespace},
        "automountServiceAccountToken": False,
    }
    # Rights in other clusters belong to the accounts of their kubeconfigs.
    if not settings.clusters:
        if role is not None:
            yield role
        yield _binding(roles.AUDIT_NAME, settings.namespace)
        if of_policies:
            yield _role(POLICIES_NAME, of_policies)
            yield _binding(POLICIES_NAME, settings.namespace)
    if settings.report_objects and not settings.clusters:
        yield reports_role()
        yield _binding(REPORTS_NAME, settings.namespace)
    yield network.policy(settings)
    yield jobs.scheduled(settings)


def reports_role() -> paths.Object:
    """A ClusterRole to write report objects, and to delete those that are stale. It changes nothing else."""
    verbs = ("get", "list", "create", "update", "patch", "delete")
    return _role(REPORTS_NAME, roles.rules(_REPORTS, verbs=verbs))


def _role(name: str, rules: Sequence[paths.Json]) -> paths.Object:
    return {
        "apiVersion": f"{_API_GROUP}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name},
        "rules": [*rules],
    }


def _binding(role: str, namespace: str) -> paths.Object:
    return {
        "apiVersion": f"{_API_GROUP}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": role},
        "roleRef": {"apiGroup": _API_GROUP, "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": namespace}],
    }
