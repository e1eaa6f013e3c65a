"""Objects as an API server has them: with a uid, and with the owner that a controller writes."""

from typing import Any

import builders
from builders.objects import GPU
from usher import paths


def existing(value: paths.Object, *, uid: str = "", owner: paths.Object | None = None) -> paths.Object:
    """The object with a uid, which follows from kind and name unless it is given."""
    metadata = paths.metadata(value)
    found = builders.replaced(value, "/metadata/uid", uid or f"{value['kind']}-{metadata.get('name')}".lower())
    return found if owner is None else owned(found, owner)


def owned(value: paths.Object, owner: paths.Object, **fields: Any) -> paths.Object:
    """The object with a controlling owner; fields replace those of the reference."""
    metadata = paths.metadata(owner)
    reference: paths.Object = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
    }
    return builders.replaced(value, "/metadata/ownerReferences", [{**reference, **fields}])


def running(
    name: str = "pod-0", gpus: int | None = 1, *, node: str = "node-0", owner: paths.Object | None = None, **more: Any
) -> paths.Object:
    """A pod on a node."""
    pod = existing(_pod(name, gpus, **more), owner=owner)
    pod = builders.replaced(pod, "/spec/nodeName", node)
    condition = {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-11-23T05:00:00Z"}
    return builders.replaced(pod, "/status", builders.objects.as_json({"phase": "Running", "conditions": [condition]}))


def waiting(
    name: str = "pod-0", gpus: int | None = 1, *, why: str = "", owner: paths.Object | None = None, **more: Any
) -> paths.Object:
    """A pod that the scheduler does not place."""
    condition = {"type": "PodScheduled", "status": "False", "message": why}
    status = builders.objects.as_json({"phase": "Pending", "conditions": [condition]})
    return builders.replaced(existing(_pod(name, gpus, **more), owner=owner), "/status", status)


def _pod(name: str, gpus: int | None, **more: Any) -> paths.Object:
    limits = None if gpus is None else {GPU: gpus}
    return builders.pod(builders.container(limits=limits), name=name, **more)
