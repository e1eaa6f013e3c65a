"""The digests under which usher remembers answers about Pods.

Two Pods with the same digest are equal for every rule, mutation and fact. The pods of a Job or a ReplicaSet have the
same digest: they differ only in name, uid, token volume, and the labels and variables with their number.
"""

import re
from collections.abc import Set as AbstractSet
from typing import Final

import orjson
from msgspec.structs import replace

from usher import memo, model, paths

LARGEST: Final = 8192
"""The most bytes of a Pod that is worth remembering."""

_NAMES: Final = ("name", "generateName", "uid")
"""Texts in a Pod's metadata that differ from pod to pod. Rules only read whether there is a uid."""

_UNREAD: Final = frozenset({*_NAMES, "creationTimestamp", "resourceVersion", "managedFields"})
"""Fields of a Pod's metadata that rules and mutations do not read."""

_NUMBERED: Final = ("labels", "annotations")

NUMBERS: Final = frozenset(
    {
        "apps.kubernetes.io/pod-index",
        "batch.kubernetes.io/job-completion-index",
        "jobset.sigs.k8s.io/job-global-index",
        "jobset.sigs.k8s.io/job-index",
        "jobset.sigs.k8s.io/job-key",
        "statefulset.kubernetes.io/pod-name",
        "training.kubeflow.org/replica-index",
    }
)
"""Labels and annotations that hold the number of a pod within its workload. Rules do not read them."""

RANKS: Final = frozenset({"GROUP_RANK", "JOB_COMPLETION_INDEX", "NODE_RANK", "PET_NODE_RANK", "RANK", "TF_CONFIG"})
"""Variables that hold this number. Rules do not read them, and our mutations do not set them."""

_PARTS_OF_RANKS: Final = (b'RANK","value":', b"JOB_COMPLETION_INDEX", b"TF_CONFIG")
"""Parts of these variables as API servers write them: a Pod without any of these parts need not be searched."""

_LOOKED_UP: Final = frozenset({"resourceClaims", "schedulingGroup"})
"""Fields of a pod spec that name device claims, whose contents are not in the Pod."""

_TOKEN_PREFIX: Final = b'"name":"kube-api-access-'

# The API server mounts a token into every pod from a volume with a random name.
_TOKEN: Final = re.compile(
    rb'"name":"(kube-api-access-[a-z0-9]{5})"'
    rb'(?=,"projected":\{|,(?:"readOnly":true,)?"mountPath":"/var/run/secrets/kubernetes\.io/serviceaccount")'
)


def of_pod(pod: paths.Object, *, ranks: AbstractSet[str] = RANKS) -> bytes | None:
    """The digest of a Pod; None if its answer is not worth remembering or depends on other objects.

    Args:
        ranks: variables whose values no rule reads.
    """
    metadata, spec = pod.get("metadata"), pod.get("spec")
    if not isinstance(metadata, dict) or not isinstance(spec, dict) or not _LOOKED_UP.isdisjoint(spec):
        return None
    kept = {key: value for key, value in metadata.items() if key not in _UNREAD}
    for field in _NUMBERED:
        if field in kept:
            kept[field] = _without_numbers(kept[field])
    for name in _NAMES:
        if not isinstance(metadata.get(name, ""), str):
            return None  # a name of a wrong type is reported
    exists = bool(metadata.get("uid"))
    try:
        text = orjson.dumps((exists, {**pod, "metadata": kept}))
        if any(map(text.__contains__, _PARTS_OF_RANKS)):
            text = orjson.dumps((exists, {**pod, "metadata": kept, "spec": _without_ranks(spec, ranks)}))
    except orjson.JSONEncodeError:  # Python's own parser accepts half surrogates and very large integers
        return None
    if _TOKEN_PREFIX in text:
        text = _without_token(text)
    return memo.digest(text) if len(text) <= LARGEST else None


def renamed(workload: model.Workload, value: paths.Object) -> model.Workload:
    """The workload with the name of its own object, if it comes from another Pod with the same digest."""
    metadata = value.get("metadata")
    if not workload.is_pod or not isinstance(metadata, dict):
        return workload
    prefix = metadata.get("generateName")
    name = metadata.get("name") or (f"{prefix}*" if prefix and isinstance(prefix, str) else "")
    return replace(workload, name=name) if isinstance(name, str) and name != workload.name else workload


def _without_numbers(entries: paths.Json) -> paths.Json:
    if not isinstance(entries, dict) or NUMBERS.isdisjoint(entries):
        return entries
    return {key: "" if key in NUMBERS and isinstance(value, str) else value for key, value in entries.items()}


def _without_ranks(spec: paths.Object, ranks: AbstractSet[str]) -> paths.Object:
    changed = {
        field: [_without_ranks_of_container(each, ranks) for each in containers]
        for field in ("initContainers", "containers")
        if isinstance(containers := spec.get(field), list)
    }
    return {**spec, **changed}


def _without_ranks_of_container(container: paths.Json, ranks: AbstractSet[str]) -> paths.Json:
    environment = container.get("env") if isinstance(container, dict) else None
    if not isinstance(container, dict) or not isinstance(environment, list):
        return container
    return {**container, "env": [_without_rank(each, ranks) for each in environment]}


def _without_rank(variable: paths.Json, ranks: AbstractSet[str]) -> paths.Json:
    if not isinstance(variable, dict) or not isinstance(variable.get("value"), str):
        return variable
    name = variable.get("name")
    return {**variable, "value": ""} if isinstance(name, str) and name in ranks else variable


def _without_token(text: bytes) -> bytes:
    token = _TOKEN.search(text)
    # With two token volumes, it makes a difference which of them a container mounts.
    if token is None or text.count(_TOKEN_PREFIX) != text.count(b'"name":"%b"' % token[1]):
        return text
    return _TOKEN.sub(b'"name":"kube-api-access"', text)
