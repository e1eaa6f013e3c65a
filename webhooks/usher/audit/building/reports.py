"""Reads what controllers report about their pods in the status of a workload.

A Deployment and a ReplicaSet have the condition ReplicaFailure while pods are refused (pkg/controller/replicaset and
pkg/controller/deployment of Kubernetes). A StatefulSet makes a pod only after the pods before it are ready, unless its
pods are made in parallel. A job whose status counts pods has made some. It waits before it replaces a failed one.
"""

from collections.abc import Iterator
from typing import Final

from usher import paths
from usher.audit.building import fields
from usher.audit.estate import NOTHING_REPORTED, Reported

_FAILURE: Final = "ReplicaFailure"
_SUSPENDED: Final = ("Suspended", "RayClusterSuspended")
_COUNTS: Final = ("active", "succeeded", "failed")
_LONGEST: Final = 300


def read(value: paths.Object) -> Reported:
    """The report in the status of an object of any kind."""
    status, spec = fields.mapping(value.get("status")), fields.mapping(value.get("spec"))
    if not status:
        return NOTHING_REPORTED
    conditions = {paths.text(each.get("type")): each for each in fields.mappings(status.get("conditions"))}
    failure = conditions.get(_FAILURE, {})
    suspended = next((conditions[name] for name in _SUSPENDED if name in conditions), {})
    found = Reported(
        refused=_refused(value, spec, status, failure),
        refusal=paths.text(failure.get("message"))[:_LONGEST] if _holds(failure) else "",
        refused_since=fields.time(failure.get("lastTransitionTime")) if _holds(failure) else None,
        suspended_since=fields.time(suspended.get("lastTransitionTime")) if _holds(suspended) else None,
    )
    return NOTHING_REPORTED if found == NOTHING_REPORTED else found


def _refused(value: paths.Object, spec: paths.Object, status: paths.Object, failure: paths.Object) -> bool | None:
    if value.get("kind") == "StatefulSet":
        there, ready = _whole(status.get("replicas")), _whole(status.get("readyReplicas"))
        return False if ready < there and spec.get("podManagementPolicy") != "Parallel" else None
    if paths.text(value.get("apiVersion")).startswith("apps/") and "replicas" in spec:
        return _holds(failure)
    return False if any(_whole(each) for each in _counts(status)) else None


def _counts(status: paths.Object) -> Iterator[paths.Json]:
    """The numbers of pods or jobs in the status of a Job, of the jobs of Kubeflow, and of a JobSet."""
    by_type = fields.mapping(status.get("replicaStatuses"))
    for part in (status, *by_type.values(), *fields.mappings(status.get("replicatedJobsStatus"))):
        for name in _COUNTS:
            yield fields.mapping(part).get(name)


def _holds(condition: paths.Object) -> bool:
    return condition.get("status") == "True"


def _whole(value: paths.Json) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
