"""Finds objects that the files of a cluster seem to lack, so that a number of an audit may be too small."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Final

from usher import paths
from usher.kinds.kind import Key
from usher.scan.findings import Note

_POD: Final[Key] = ("", "Pod")
_NODE: Final[Key] = ("", "Node")
_SLICE: Final[Key] = ("resource.k8s.io", "ResourceSlice")

_SYSTEM: Final = ("kube-system", "openshift-")
"""Nearly every cluster has pods in namespaces with these names."""

_SHOWN: Final = 3


class Gaps:
    """Compares the kinds and namespaces of the files."""

    def __init__(self) -> None:
        self._namespaces = set[str]()
        """The namespaces of pods."""
        self._claiming = 0

    def add(self, value: paths.Object, key: Key) -> None:
        """Takes an object that comes from a cluster."""
        if key != _POD:
            return
        self._namespaces.add(paths.text(paths.metadata(value).get("namespace")))
        spec = value.get("spec")
        self._claiming += isinstance(spec, dict) and bool(spec.get("resourceClaims"))

    def notes(self, kinds: AbstractSet[Key]) -> Iterator[Note]:
        """The gaps.

        Args:
            kinds: the kinds in the files.
        """
        if _NODE in kinds and self._namespaces and not any(each.startswith(_SYSTEM) for each in self._namespaces):
            names = sorted(self._namespaces)
            more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
            yield Note(
                source="pods",
                reason=f"the files have those of {', '.join(names[:_SHOWN])}{more}, and not one of kube-system; if the "
                "cluster has other namespaces (kubectl get -A), more GPUs are allocated and fewer are free",
            )
        if self._claiming and _SLICE not in kinds:
            pods = "1 pod claims" if self._claiming == 1 else f"{self._claiming:,} pods claim"
            yield Note(
                source="resourceslices.resource.k8s.io",
                reason=f"{pods} devices, and the devices of nodes are not in the files: they count in no number; add "
                "resourceslices,resourceclaims,resourceclaimtemplates to the dump",
            )
