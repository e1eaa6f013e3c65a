"""All objects of an audit in the cluster, in the order to apply them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from usher import paths
from usher.manifests import roles
from usher.manifests.audits import jobs, network
from usher.manifests.audits.settings import NAME, Settings

REPORTS_NAME: Final = f"{NAME}-reports"
_REPORTS: Final = (
    ("openreports.io", "clusterreports"),
    ("openreports.io", "reports"),
    ("wgpolicyk8s.io", "clusterpolicyreports"),
    ("wgpolicyk8s.io", "policyreports"),
)
_API_GROUP: Final = "rbac.authorization.k8s.io"


def of(settings: Settings, *, others: Iterable[tuple[str, str]] = (), with_role: bool = True) -> Sequence[paths.Object]:
    """The objects.

    Args:
        settings: the choices of the site.
        others: groups and plurals of the kinds that only audits read.
        with_role: whether to add the ClusterRole that manifests/base has too.
    """
    return tuple(_objects(settings, roles.audit_role(others) if with_role else None))


def _objects(settings: Settings, role: paths.Object | None) -> Iterator[paths.Object]:
    yield {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": NAME, "namespace": settings.namespace},
        "automountServiceAccountToken": False,
    }
    # Other clusters give their rights to the accounts of their kubeconfigs.
    if not settings.clusters:
        if role is not None:
            yield role
        yield _binding(roles.AUDIT_NAME, settings.namespace)
    if settings.report_objects and not settings.clusters:
        yield reports_role()
        yield _binding(REPORTS_NAME, settings.namespace)
    yield network.policy(settings)
    yield jobs.scheduled(settings)


def reports_role() -> paths.Object:
    """A ClusterRole to write report objects, and to delete those that are stale. It changes nothing else."""
    verbs = ("get", "list", "create", "update", "patch", "delete")
    return {
        "apiVersion": f"{_API_GROUP}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": REPORTS_NAME},
        "rules": roles.rules(_REPORTS, verbs=verbs),
    }


def _binding(role: str, namespace: str) -> paths.Object:
    return {
        "apiVersion": f"{_API_GROUP}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": role},
        "roleRef": {"apiGroup": _API_GROUP, "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": namespace}],
    }
