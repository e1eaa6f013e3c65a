"""Reads manifests of any content. Values of a wrong type are recorded as unknown, never guessed.

An object is found, missing or unknown. Callers conclude nothing from an unknown object.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from msgspec import Struct

from usher import errors, model, paths, quantities
from usher.kinds.reading.templates import (
    RELEASES,
    Template,
    config_maps_of_release,
    policy_of_release,
    releases_of,
)

_Made = TypeVar("_Made")

COMPUTE_DOMAIN_GROUP: Final = "resource.nvidia.com"
COMPUTE_DOMAIN_KIND: Final = "ComputeDomain"


def claim_template_of_domain(value: paths.Object) -> paths.Object | None:
    """The ResourceClaimTemplate that `spec.channel.resourceClaimTemplate` names; None without a name.

    Its claims are for channels between the GPUs of several nodes, not for GPUs (kubernetes-sigs/dra-driver-nvidia-gpu
    templates/compute-domain-workload-claim-template.tmpl.yaml).
    """
    api_version = value.get("apiVersion")
    if not isinstance(api_version, str) or not api_version.startswith(f"{COMPUTE_DOMAIN_GROUP}/"):
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


class Reference(Struct, frozen=True, kw_only=True):
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

    def listed(self, group: str, kind: str, namespace: str | None) -> Mapping[str, paths.Object]:
        """The known objects of a kind by name: those of a namespace, or cluster-scoped ones where that is None."""
        ...


class _Nothing:
    def find(self, reference: Reference) -> paths.Object | Absence:  # noqa: ARG002 - knows no object at all
        return Absence.NOT_KNOWN

    def listed(self, group: str, kind: str, namespace: str | None) -> Mapping[str, paths.Object]:  # noqa: ARG002 - as above
        return {}


NO_OBJECTS: Lookup = _Nothing()
"""A lookup without any objects."""


def _name(value: paths.Object) -> str:
    return paths.text(paths.metadata(value).get("name"))


ObjectsOfFacts = Callable[[str, str], Mapping[str, paths.Object]]
"""The objects of a group and kind in the facts, by name; the name of one in a namespace is `NAMESPACE/NAME`."""

OF_FACTS: Final = "objects of the facts"
"""The key of `Objects.once` for the facts of the run."""


_WITHOUT_NAME: Final = "KubeletConfiguration"
"""A kind whose objects have no name."""


_RELEASE_KINDS: Final = frozenset(kind for _, kind in RELEASES)


class Objects:
    """Knows only the given objects, for example those of the same files."""

    def __init__(self, values: Iterable[paths.Object], *, namespace: str = "", others: "Objects | None" = None) -> None:
        """The last of several objects with one name is found, as after `kubectl apply`.

        Args:
            namespace: the namespace of objects without one.
            others: finds an object that is not among `values`.
        """
        self.others = others
        self._made: dict[str, Any] = {}
        self._found: defaultdict[tuple[str, str, str], dict[str, paths.Object]] = defaultdict(dict)
        """By group, kind and name, and then by namespace."""
        self._by_kind: defaultdict[tuple[str, str], dict[str, paths.Object]] = defaultdict(dict)
        made: list[paths.Object | None] = []
        for value in values:
            self._add(value, namespace)
            if value.get("kind") == COMPUTE_DOMAIN_KIND:
                made.append(claim_template_of_domain(value))
            elif paths.text(value.get("kind")) in _RELEASE_KINDS:
                for release in releases_of(value):
                    made += [release.as_object(value), policy_of_release(release), *config_maps_of_release(release)]
        for each in filter(None, made):
            within = paths.text(paths.metadata(each).get("namespace")) or namespace
            group = paths.text(each["apiVersion"]).rpartition("/")[0]
            if within not in self.namespaces(group, paths.text(each["kind"]), _name(each)):
                self._add(each, namespace)

    def _add(self, value: paths.Object, namespace: str) -> None:
        metadata = value.get("metadata")
        fields: Mapping[str, paths.Json] = metadata if isinstance(metadata, dict) else {}
        kind, name, within = (
            paths.text(value.get("kind")),
            paths.text(fields.get("name")),
            paths.text(fields.get("namespace")),
        )
        if kind and (name or kind == _WITHOUT_NAME):
            group = paths.text(value.get("apiVersion")).rpartition("/")[0]
            self._found[group, kind, name][within or namespace] = value
            self._by_kind[group, kind][name] = value

    def all(self) -> Iterator[tuple[str, paths.Object]]:
        """All objects, each with its namespace; empty for an object without one."""
        for within in self._found.values():
            yield from within.items()

    def of_kind(self, group: str, kind: str, namespace: str) -> Sequence[paths.Object]:
        found = self.once("objects by namespace", self._in_namespaces)
        return found.get((group, kind, namespace), ())

    def namespaces(self, group: str, kind: str, name: str) -> Sequence[str]:
        """The namespaces with an object of a name; the empty one for an object without one."""
        return [*self._found.get((group, kind, name), ())]

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

    def known(self, group: str, kind: str) -> Mapping[str, paths.Object]:
        """The objects of a kind among these and the facts of the run (`OF_FACTS`), by name."""

        def read() -> Mapping[str, paths.Object]:
            of_facts: ObjectsOfFacts | None = self._made.get(OF_FACTS)
            of_cluster = of_facts(group, kind) if of_facts else {}
            return {
                **{name.rpartition("/")[2]: value for name, value in of_cluster.items()},
                **self.cluster_scoped(group, kind),
            }

        return self.once(f"known objects of {group} {kind}", read)

    def in_namespaces(self, group: str, kind: str) -> Sequence[tuple[str, paths.Object]]:
        """The objects of a kind among these and the facts of the run, each with its namespace."""

        def read() -> Sequence[tuple[str, paths.Object]]:
            of_facts: ObjectsOfFacts | None = self._made.get(OF_FACTS)
            of_cluster = of_facts(group, kind) if of_facts else {}
            own = [
                each
                for (own_group, own_kind, _), within in self._found.items()
                if (own_group, own_kind) == (group, kind)
                for each in within.items()
            ]
            return [*((name.rpartition("/")[0], value) for name, value in of_cluster.items()), *own]

        return self.once(f"{group} {kind} with namespaces", read)

    def find(self, reference: Reference) -> paths.Object | Absence:
        """The object of the namespace; for a reference without a namespace, the only object with the name.

        Files do not show the scope of a kind, and the manifest of a cluster-scoped object may name a namespace. An
        object that the files do not have is looked up among the facts of the run (`OF_FACTS`).
        """
        found = self._found.get((reference.group, reference.kind, reference.name), {})
        if reference.namespace in found:
            return found[reference.namespace]
        if len(found) == 1 and not reference.namespace:
            return next(iter(found.values()))
        of_facts: ObjectsOfFacts | None = self._made.get(OF_FACTS)
        full = f"{reference.namespace}/{reference.name}" if reference.namespace else reference.name
        if of_facts and (known := of_facts(reference.group, reference.kind).get(full)) is not None:
            return known
        return Absence.NOT_KNOWN if self.others is None else self.others.find(reference)

    def listed(self, group: str, kind: str, namespace: str | None) -> Mapping[str, paths.Object]:
        """The objects by name, those of `others` below them."""
        if namespace is None:
            own = self.cluster_scoped(group, kind)
        else:
            own = {_name(value): value for value in self.of_kind(group, kind, namespace)}
        return own if self.others is None else {**self.others.listed(group, kind, namespace), **own}


class LookupsInTurn:
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

    def listed(self, group: str, kind: str, namespace: str | None) -> Mapping[str, paths.Object]:
        """The objects of all lookups; of two with one name the one that `find` finds."""
        found: dict[str, paths.Object] = {}
        for each in reversed(self._lookups):
            found |= each.listed(group, kind, namespace)
        return found


MAX_DEPTH: Final = 4
"""Workloads in workloads. Deeper ones, for example four AppWrappers around another, are a mistake or an attack."""


class Inner(Struct, frozen=True, kw_only=True):
    """An object of a known kind inside another object. Its paths begin at the inner object."""

    versions: tuple[str, ...]
    """The known versions of its kind."""
    is_template: bool
    """Whether its kind makes pods only when something else refers to it."""
    templates: tuple[Template, ...] | None
    """None if usher does not know the version of the object."""
    unknowns: tuple[model.Unknown, ...] = ()
    references: Mapping[str, Reference]
    """The objects that its names refer to, by the path of the name."""


class Context(NamedTuple):
    """The context of one object."""

    namespace: str = ""
    """The namespace for names without one."""
    objects: Lookup = NO_OBJECTS
    find_inner: "FindInner | None" = None
    """Reads objects inside the object; without it their kinds are unknown."""
    depth: int = 0
    """How many objects enclose the object."""

    @property
    def is_too_deep(self) -> bool:
        """Whether too many objects enclose the object, so that usher does not read objects inside it."""
        return self.depth >= MAX_DEPTH

    def find(self, reference: Reference) -> paths.Object | None:
        """The object that a reference names; None if it does not exist or is unknown."""
        found = self.objects.find(reference)
        return None if isinstance(found, Absence) else found

    def inner(self, value: Mapping[str, paths.Json]) -> Inner | None:
        """An object inside the object, read by its own kind; None if its kind is unknown."""
        if self.find_inner is None or self.is_too_deep:
            return None
        return self.find_inner(value, self._replace(depth=self.depth + 1))


FindInner = Callable[[Mapping[str, paths.Json], Context], Inner | None]
"""Reads an object of any kind in its own context; None if its kind is unknown."""

NO_CONTEXT: Final = Context()
"""A context without other objects and kinds."""

MAX_PODS = 10_000_000
"""More pods than any cluster holds: a larger count is a mistake and would distort totals."""

_EMPTY: Mapping[str, paths.Json] = {}

_TYPE_NAMES: Mapping[type, str] = {
    type(None): "null",
    bool: "a boolean",
    str: "a string",
    int: "a number",
    float: "a decimal number",
    list: "a list",
    dict: "an object",
}

_parse_quantity = lru_cache(maxsize=4096)(quantities.parse)


class Reading:
    """Typed values of one object; collects unreadable parts, and looks up objects that the object refers to."""

    __slots__ = ("context", "references", "unknowns")

    def __init__(self, context: Context = NO_CONTEXT) -> None:
        self.unknowns: list[model.Unknown] = []
        self.context = context
        self.references: dict[str, Reference] = {}
        """The objects that names refer to, by the path of the name."""

    def record_reference(self, path: str, reference: Reference) -> None:
        """Gives the parts of a referenced object paths below the text that names it.

        Problems in these parts are reported at the name.
        """
        self.references[path] = reference

    def unknown(self, path: str, reason: str) -> None:
        holder = path if self.references else paths.ROOT
        while holder:
            holder = holder.rpartition("/")[0]
            if holder in self.references:
                within = paths.readable(path.removeprefix(holder))
                path, reason = holder, f"{self.references[holder]}, {within}: {reason}"
        self.unknowns.append(model.Unknown(path=path, reason=reason))

    def unknown_once(self, path: str, reason: str) -> None:
        """Records an unknown for a place that is read twice: one reason for each path is enough."""
        if all(known.path != path for known in self.unknowns):
            self.unknown(path, reason)

    def found(self) -> tuple[model.Unknown, ...]:
        """The unreadable parts, each once, because some places are read several times."""
        return tuple(dict.fromkeys(self.unknowns))

    def look_up(self, reference: Reference, path: str, *, consequence: str) -> paths.Object | None:
        """The object that a name at a path refers to; None, and recorded as unknown, if it cannot be found.

        Args:
            consequence: the effect for the message, as in `its pods are not judged`.
        """
        found = self.context.objects.find(reference)
        if isinstance(found, Absence):
            self.unknown(path, f"{reference} {found.value}: {consequence}")
            return None
        return found

    def mapping(self, value: object, path: str) -> Mapping[str, paths.Json]:
        """The value as an object; empty for other values."""
        if isinstance(value, dict):
            return value
        if value is not None:
            self.unknown(path, f"expected an object, found {_type_name(value)}")
        return _EMPTY

    def descend(self, value: Mapping[str, paths.Json], pointer: str) -> Mapping[str, paths.Json]:
        """The object at a pointer of keys; empty where it is missing."""
        path = paths.ROOT
        for key in paths.split(pointer):
            path = paths.join(path, key)
            value = self.mapping(value.get(key), path)
        return value

    def sequence(self, value: object, path: str) -> Sequence[paths.Json]:
        """The value as a list; empty for other values."""
        if isinstance(value, list):
            return value
        if value is not None:
            self.unknown(path, f"expected a list, found {_type_name(value)}")
        return ()

    def items(self, value: object, path: str) -> Iterator[tuple[str, Mapping[str, paths.Json]]]:
        """The objects of a list, each with its path; other items are recorded and left out."""
        if isinstance(value, list):
            for index, item in enumerate(value):
                item_path = f"{path}/{index}"
                if isinstance(item, dict):
                    yield item_path, item
                else:
                    self.not_an_object(item, item_path)
        elif value is not None:
            self.unknown(path, f"expected a list, found {_type_name(value)}")

    def not_an_object(self, item: object, path: str) -> None:
        """Records an item that is not an object; even null is wrong in a list."""
        self.unknown(path, f"expected an object, found {_type_name(item)}")

    def entries(self, value: object, path: str) -> Iterator[tuple[str, str, Mapping[str, paths.Json]]]:
        """The objects of an object, each with its path and key; other items are recorded and left out."""
        for key, entry in self.mapping(value, path).items():
            entry_path = paths.join(path, key)
            if isinstance(entry, dict):
                yield entry_path, key, entry
            else:
                self.unknown(entry_path, f"expected an object, found {_type_name(entry)}")

    def strings(self, value: object, path: str) -> Mapping[str, str]:
        """An object of strings, for example labels, annotations or a node selector; null counts as empty, as in Go."""
        if value is None:
            return {}
        entries = self.mapping(value, path)
        result = {}
        for key, entry in entries.items():
            if isinstance(entry, str):
                result[key] = entry
            elif entry is None:
                result[key] = ""
            else:
                self.unknown(paths.join(path, key), _not_a_string(entry))
        return result

    def text(self, value: object, path: str) -> str:
        if isinstance(value, str):
            return value
        if value is not None:
            self.unknown(path, _not_a_string(value))
        return ""

    def texts(self, value: object, path: str) -> tuple[str, ...]:
        """The strings of a list; other items are recorded and left out."""
        if value is not None and not isinstance(value, list):
            self.unknown(path, f"expected a list, found {_type_name(value)}")
        items = value if isinstance(value, list) else []
        for index, item in enumerate(items):
            if not isinstance(item, str):
                self.unknown(f"{path}/{index}", _not_a_string(item))
        return tuple(item for item in items if isinstance(item, str))

    def flag(self, value: object, path: str) -> bool:
        """A boolean; false for other values."""
        if value is not None and not isinstance(value, bool):
            self.unknown(path, f"expected true or false, found {_type_name(value)}")
        return value is True

    def count(self, value: object, path: str, *, default: int, of: str = "pods") -> int:
        """A number of pods, or of the things that `of` names; the default replaces a missing or unusable one."""
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int):
            to_fill = isinstance(value, str) and value.startswith(("$", "{{"))
            found = "a placeholder; fill it in first, for example with envsubst" if to_fill else _type_name(value)
            self.unknown(path, f"expected a whole number, found {found}")
            return default
        if not 0 <= value <= MAX_PODS:
            self.unknown(path, f"expected a number of {of} from 0 to {MAX_PODS}")
            return default
        return value

    def resources(self, value: object, path: str) -> dict[str, quantities.Quantity]:
        """`requests` or `limits`; values that are not quantities are recorded and left out.

        Negative quantities are left out too: in a sum they would hide the request of another container.
        """
        result = {}
        for name, text in self.mapping(value, path).items():
            try:
                # Only texts are cached: to the cache 1, 1.0 and True are the same key.
                quantity = _parse_quantity(text) if isinstance(text, str) else quantities.parse(text)
            except errors.QuantityError as error:
                self.unknown(paths.join(path, name), str(error))
                continue
            if quantity.nanos < 0:
                self.unknown(paths.join(path, name), f"{quantity} is negative; no resource is")
            else:
                result[name] = quantity
        return result


def _type_name(value: object) -> str:
    return _TYPE_NAMES.get(type(value), type(value).__name__)


def _not_a_string(value: object) -> str:
    remedy = "; quote it" if isinstance(value, bool | int | float) else ""
    return f"expected a string, found {_type_name(value)}{remedy}"


def amount_in(written: Sequence[object]) -> int | None:
    """The first quantity of these values in billionths; None if it is missing or no quantity."""
    try:
        return quantities.parse(written[0]).nanos if written else None
    except errors.QuantityError:
        return None
