"""When two Pods are one to every rule and mutation, and the digests by which answers are remembered.

The pods of a ReplicaSet or a Job differ in name, token volume and index labels only.
"""

import hashlib
import re
from typing import Final

import orjson

from usher import model, paths

SIZE: Final = 20

_PIECE: Final = 2000
"""Bytes. For more at once hashlib lets other threads run, and then waits for its turn, up to 5 ms."""


def of(text: bytes) -> bytes:
    """The digest of a text."""
    found = hashlib.blake2b(digest_size=SIZE)
    for start in range(0, len(text), _PIECE):
        found.update(text[start : start + _PIECE])
    return found.digest()


LARGEST: Final = 8192
"""Bytes of a key that is worth keeping."""

_OF_EACH: Final = ("name", "generateName", "uid", "creationTimestamp", "resourceVersion", "managedFields")
"""What no mutation reads of an object's metadata, and what differs from pod to pod."""

# The API server mounts a token into every pod, under a name of its own. Only where it is a whole name: within a text it
# may be part of what a mutation writes.
_TOKEN: Final = re.compile(rb'"name":"kube-api-access-[a-z0-9]{5}"')


def key(pod: paths.Object) -> bytes | None:
    """What tells a Pod from others; None for one that is too large to be remembered."""
    metadata = pod.get("metadata")
    if not isinstance(metadata, dict):
        return None
    kept = {name: value for name, value in metadata.items() if name not in _OF_EACH}
    text = orjson.dumps({**pod, "metadata": kept})
    return _TOKEN.sub(b'"name":"kube-api-access"', text) if len(text) <= LARGEST else None


_INDEXES: Final = frozenset(
    {
        "apps.kubernetes.io/pod-index",
        "batch.kubernetes.io/job-completion-index",
        "jobset.sigs.k8s.io/job-global-index",
        "jobset.sigs.k8s.io/job-index",
        "jobset.sigs.k8s.io/job-key",
        "leaderworkerset.sigs.k8s.io/worker-index",
        "statefulset.kubernetes.io/pod-name",
        "training.kubeflow.org/replica-index",
    }
)
"""Labels and annotations that differ from pod to pod of one workload, and that say nothing of the cluster."""


def of_pod(value: paths.Object, workload: model.Workload) -> bytes | None:
    """A digest of all by which what is known of the cluster matters to a Pod; None for one with device claims.

    Its variables are left out, in which each pod of a job has a rank: what it gets by them is in its requests.
    """
    spec, metadata = value.get("spec"), value.get("metadata")
    if not workload.is_pod or not isinstance(spec, dict) or not isinstance(metadata, dict) or "resourceClaims" in spec:
        return None
    asked = [
        (request.name, request.route.value, request.path, str(request.minimum), str(request.maximum))
        for pod_set in workload.pod_sets
        for request in pod_set.requests
    ]
    told = (
        workload.namespace,
        workload.role.value,
        workload.exists,
        workload.owner is None,
        [pod_set.whole for pod_set in workload.pod_sets],
        [pod_set.placed for pod_set in workload.pod_sets],
        asked,
        {key: _without_variables(item) for key, item in spec.items()},
        _without_indexes(metadata.get("labels")),
        _without_indexes(metadata.get("annotations")),
    )
    try:
        text = orjson.dumps(told)
    except orjson.JSONEncodeError:  # of what Python's own parser took: half surrogates, very large integers
        return None
    return of(_TOKEN.sub(b'"name":"kube-api-access"', text))


def _without_variables(item: paths.Json) -> paths.Json:
    if not isinstance(item, list):
        return item
    return [
        {key: each for key, each in entry.items() if key != "env"}
        if isinstance(entry, dict) and "env" in entry
        else entry
        for entry in item
    ]


def _without_indexes(item: paths.Json) -> paths.Json:
    return {key: each for key, each in item.items() if key not in _INDEXES} if isinstance(item, dict) else item
