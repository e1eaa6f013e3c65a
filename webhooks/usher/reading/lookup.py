"""Objects that an object refers to by name: claims, runtimes, templates. The caller says where to look.

An object is found, missing or unknown. Callers conclude nothing from an unknown object.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, Final, Protocol, TypeVar

from usher import paths
from usher.dataclass import dataclass

_Made = TypeVar("_Made")

GROUP: Final = "resource.nvidia.com"
KIND: Final = "ComputeDomain"


def claim_template(value: paths.Object) -> paths.Object | None:
    """The ResourceClaimTemplate that `spec.channel.resourceClaimTemplate` names; None without a name.

    Its claims are for channels between the GPUs of several nodes, not for GPUs (kubernetes-sigs/dra-driver-nvidia-gpu
    templates/compute-domain-workload-claim-template.tmpl.yaml).
    """
    api_version = value.get("apiVersion")
    if not isinstance(api_version, str) or not api_version.startswith(f"{GROUP}/"):
        return None
    try:
        name = paths.resolve(value, "/spec/channel/resourceClaimTemplate/name")
        metadata = paths.resolve(value, "/metadata")
    except LookupError:
        return None
    if not isinstance(name, str) or not isinstance(metadata, dict):
        return None
    request: paths.Object = {"exactly": {"deviceClassName": "compute-domain-default-channel.nvidia.com"}}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": metadata.get("namespace")},
        "spec": {"spec": {"devices": {"requests": [{"name": "channel", **request}]}}},
    }


class Absence(Enum):
    MISSING = "does not exist"
    """The lookup knows all objects of the kind, and this one does not exist."""
    NOT_KNOWN = "is not known here"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """An object by name; `namespace` is empty for cluster-scoped objects."""

    group: str
    kind: str
    name: str
    namespace: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


class Lookup(Protocol):
    def find(self, reference: Reference) -> paths.Object | Absence:
        """The object, which callers must not change."""
        ...


class _Nothing:
    def find(self, reference: Reference) -> paths.Object | Absence:  # noqa: ARG002 - knows no object at all
        return Absence.NOT_KNOWN


NOTHING: Lookup = _Nothing()
"""A lookup without any objects."""


class Objects:
    """Knows only the given objects, for example those of the same files."""

    def __init__(self, values: Iterable[paths.Object], *, namespace: str = "") -> None:
        """The last of several objects with one name is found, as after `kubectl apply`.

        Args:
            values: the objects.
            namespace: the namespace of objects without one.
        """
        self._made: dict[str, Any] = {}
        self._found: defaultdict[tuple[str, str, str], dict[str, paths.Object]] = defaultdict(dict)
        """By group, kind and name, and then by namespace."""
        self._by_kind: defaultdict[tuple[str, str], dict[str, paths.Object]] = defaultdict(dict)
        for value in values:
            self._add(value, namespace)
            if value.get("kind") == KIND:
                made = claim_template(value)
                if made is not None:
                    self._add(made, namespace)

    def _add(self, value: paths.Object, namespace: str) -> None:
        metadata = value.get("metadata")
        fields: Mapping[str, paths.Json] = metadata if isinstance(metadata, dict) else {}
        kind, name, within = _text(value.get("kind")), _text(fields.get("name")), _text(fields.get("namespace"))
        if kind and name:
            group = _text(value.get("apiVersion")).rpartition("/")[0]
            self._found[group, kind, name][within or namespace] = value
            self._by_kind[group, kind][name] = value

    def all(self) -> Iterator[tuple[str, paths.Object]]:
        """All objects, each with its namespace; empty for an object without one."""
        for within in self._found.values():
            yield from within.items()

    def of_kind(self, group: str, kind: str, namespace: str) -> Sequence[paths.Object]:
        """The objects of a kind in a namespace."""
        found = self.once("objects by namespace", self._in_namespaces)
        return found.get((group, kind, namespace), ())

    def _in_namespaces(self) -> Mapping[tuple[str, str, str], list[paths.Object]]:
        found: defaultdict[tuple[str, str, str], list[paths.Object]] = defaultdict(list)
        for (group, kind, _), within in self._found.items():
            for namespace, value in within.items():
                found[group, kind, namespace].append(value)
        return found

    def once(self, name: str, make: Callable[[], _Made]) -> _Made:
        """A value that `make` derives from the objects; made once and kept under its name."""
        if name not in self._made:
            self._made[name] = make()
        result: _Made = self._made[name]
        return result

    def names(self, group: str, kind: str) -> frozenset[str]:
        """Names of the objects of a kind."""
        return frozenset(self.cluster_scoped(group, kind))

    def cluster_scoped(self, group: str, kind: str) -> Mapping[str, paths.Object]:
        """The objects of a cluster-scoped kind, by name."""
        return self._by_kind.get((group, kind), {})

    def find(self, reference: Reference) -> paths.Object | Absence:
        """The object of the namespace; for a reference without a namespace, the only object with the name.

        Files do not show the scope of a kind, and the manifest of a cluster-scoped object may name a namespace.
        """
        found = self._found.get((reference.group, reference.kind, reference.name), {})
        if reference.namespace in found:
            return found[reference.namespace]
        if len(found) == 1 and not reference.namespace:
            return next(iter(found.values()))
        return Absence.NOT_KNOWN


class InTurn:
    """Asks several lookups in turn, until one knows the object."""

    def __init__(self, *lookups: Lookup) -> None:
        self._lookups = lookups

    def find(self, reference: Reference) -> paths.Object | Absence:
        """The object of the first lookup that has it; else MISSING if any lookup knows that, or NOT_KNOWN."""
        absence = Absence.NOT_KNOWN
        for each in self._lookups:
            found = each.find(reference)
            if not isinstance(found, Absence):
                return found
            if found is Absence.MISSING:
                absence = found
        return absence


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
