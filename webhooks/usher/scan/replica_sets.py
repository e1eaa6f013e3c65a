"""Makes the ReplicaSets between Deployments and their pods, for files that hold both but no ReplicaSet.

`kubectl get deployments,pods` leaves them out. Without them, each pod would count in addition to its Deployment, and
not as part of it.
"""

from collections.abc import Iterator
from typing import ClassVar, Final

from usher import paths
from usher.kinds.kind import Key
from usher.scan import ownership

_HASH: Final = "pod-template-hash"
"""The label by which the Deployment controller distinguishes its ReplicaSets; their names end with its value."""


class ReplicaSets:
    """The ReplicaSets that pods name as their owner."""

    KEY: ClassVar[Key] = ("apps", "ReplicaSet")

    def __init__(self) -> None:
        self._deployments: dict[tuple[str, str], paths.Object] = {}
        """By namespace and name."""
        self._named: dict[str, tuple[str, str, str]] = {}
        """Namespace, name and Deployment of ReplicaSets, by uid."""

    def add(self, value: paths.Object, key: Key) -> None:
        """Takes an object of any kind."""
        metadata = paths.metadata(value)
        namespace, name = paths.text(metadata.get("namespace")), paths.text(metadata.get("name"))
        if key == ("apps", "Deployment"):
            identity = {each: value[each] for each in ("apiVersion", "kind")}
            self._deployments[namespace, name] = {**identity, "name": name, "uid": metadata["uid"], "controller": True}
        elif key == ("", "Pod"):
            owner, labels = ownership.controller(value), metadata.get("labels")
            suffix = paths.text(labels.get(_HASH)) if isinstance(labels, dict) else ""
            made, found = paths.text(owner.get("name")), ownership.key(owner)
            if found == self.KEY and suffix and made.endswith(f"-{suffix}"):
                self._named[paths.text(owner.get("uid"))] = (namespace, made, made.removesuffix(f"-{suffix}"))

    def made(self) -> Iterator[paths.Object]:
        """The ReplicaSets of Deployments in the files, without their templates."""
        for uid, (namespace, name, deployment) in self._named.items():
            owner = self._deployments.get((namespace, deployment))
            if owner is not None:
                metadata: paths.Object = {
                    "name": name,
                    "namespace": namespace,
                    "uid": uid,
                    "ownerReferences": [owner],
                }
                yield {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata}
