"""When two Pods are one to all mutations: the pods of a ReplicaSet or a Job differ in their names and nothing else."""

import re
from typing import Final

import orjson

from usher import paths

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
