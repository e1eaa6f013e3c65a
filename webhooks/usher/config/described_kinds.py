"""Kinds that usher.yaml describes, in the format of those that ship with usher (docs/kinds-of-your-own.md)."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, NamedTuple

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, model_validator

from usher import memo
from usher.config.selection import ResourceName, Role, Section, VariableName

KindName = Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Za-z0-9]*(\.[a-z0-9][-a-z0-9.]*)?$", max_length=317)]
"""A kind and its group, as in `StormService.orchestration.aibrix.ai`."""


def _of_author(path: str) -> str:
    """The path, if the author of an object writes the field there."""
    first, _, rest = path.partition(".")
    if first == "status":
        raise ValueError("the operator writes status; name a field of the spec")
    if first == "metadata" and rest.partition(".")[0] not in ("", "labels", "annotations"):
        raise ValueError("of metadata usher reads labels and annotations alone; name one of them")
    return path


def _fields(path: Any) -> Any:  # noqa: ANN401 - before pydantic has looked at it
    if isinstance(path, str) and (path.startswith((".", "$", "/")) or "[" in path):
        raise ValueError("a path is fields with dots between them, as in spec.workers.template; `each` names lists")
    return path


def _holder_of_labels(path: str) -> str:
    if path.rpartition(".")[2] in ("labels", "annotations"):
        raise ValueError("name the metadata that holds the labels, as in metadata or spec.template.metadata")
    return path


_FIELDS: Final = r"[A-Za-z_][-A-Za-z0-9_]*(\.[A-Za-z_][-A-Za-z0-9_]*)*"
FieldPath = Annotated[
    str,
    BeforeValidator(_fields),
    StringConstraints(pattern=rf"^{_FIELDS}$", max_length=400),
    AfterValidator(_of_author),
]
"""Fields from the object or the entry on, with dots between them."""
OwnPath = Annotated[
    str,
    BeforeValidator(_fields),
    StringConstraints(pattern=rf"^({_FIELDS})?$", max_length=400),
    AfterValidator(_of_author),
]
"""A path, or an empty text for the object or the entry itself."""
EntriesPath = Annotated[
    str,
    BeforeValidator(_fields),
    StringConstraints(pattern=rf"^{_FIELDS}(\.\*)?$", max_length=400),
    AfterValidator(_of_author),
]
"""A list, or a map with `.*` at its end."""
Expression = Annotated[str, StringConstraints(min_length=1, max_length=500)]
"""A read-only expression; `kinds.reading.expressions` has its grammar."""


class DescribedContainer(Section):
    """A container that stands beside the others and not in a list."""

    name: str = Field(default="", max_length=253, description="The name that the operator gives the container.")
    named: Expression | None = Field(default=None, description="This name, where it depends on the object.")
    at: OwnPath = Field(description="The field that holds the container; empty for the entry itself.")

    @model_validator(mode="after")
    def _check_one_name(self) -> "DescribedContainer":
        if bool(self.name) == bool(self.named):
            raise ValueError("give the container either name or named")
        return self


class DescribedContainers(Section):
    """A list of containers outside the pod spec."""

    list: FieldPath = Field(description="The field with the list.")
    keep: tuple[str, ...] = Field(
        default=(),
        max_length=32,
        description="The fields that are those of a container of Kubernetes, if the others have a form of their own.",
    )


class DescribedSource(Section):
    """A pod template that another list of the same object holds."""

    list: FieldPath = Field(description="The list, from the object on; its entries have a `name`.")
    name: FieldPath = Field(description="The field with the name of the entry.")
    pod_template: FieldPath = Field(description="The pod template, from the entry of the list on.")
    patch: FieldPath | None = Field(default=None, description="The field with a patch of that template.")


class DescribedPods(Section):
    """Pods that share one template."""

    each: list[EntriesPath] = Field(
        default=[],
        max_length=3,
        description="Lists, or maps with `.*` at the end, each from the entry of the one before on. There is a pod set "
        "for each entry.",
    )
    when: Expression | None = Field(default=None, description="Only entries for which this is true.")
    let: dict[VariableName, Expression] = Field(
        default={}, max_length=16, description="Values with names, for the expressions below."
    )
    name: Expression = Field(default="''", description="The name of the pod set.")
    pod_template: FieldPath | None = Field(default=None, description="The field with metadata and spec of the pods.")
    pod_spec: FieldPath | None = Field(default=None, description="The field with the fields of a pod spec.")
    metadata: OwnPath | None = Field(
        default=None, description="The field with labels and annotations, beside podSpec; empty for the entry itself."
    )
    place: OwnPath | None = Field(
        default=None,
        description="The field by which findings name the pods, beside podSpec; by default podSpec itself.",
    )
    fields: dict[str, FieldPath] = Field(
        default={}, max_length=16, description="Fields of the pod spec that stand elsewhere: containers, tolerations."
    )
    without: tuple[str, ...] = Field(
        default=(), max_length=32, description="Fields of the pod spec that the operator leaves out."
    )
    containers: DescribedContainers | None = Field(default=None, description="The list of containers, beside podSpec.")
    container: DescribedContainer | None = Field(default=None, description="A container outside the pod spec.")
    devices: dict[ResourceName, FieldPath] = Field(
        default={}, max_length=16, description="Fields with numbers of devices that the operator asks for."
    )
    template_from: DescribedSource | None = Field(
        default=None, description="Where the template stands if podTemplate is missing."
    )
    patch: FieldPath | None = Field(default=None, description="The field with a patch of the template.")
    pods: Expression = Field(default="1", description="How many pods there are.")
    most: Expression | None = Field(
        default=None, description="How many there may become, or `unbounded`; by default as `pods`."
    )
    scheduler: Expression | None = Field(
        default=None, description="The scheduler of pods whose template leaves it out; by default that of the kind."
    )
    least: Expression | None = Field(default=None, description="How few there may become; by default as `pods`.")
    because: Expression | None = Field(default=None, description="Why the number may change, in words.")
    groups: Expression | None = Field(default=None, description="How many groups the pods form that start apart.")
    together: Expression | None = Field(
        default=None, description="How many of the pods a group of the operator waits for; by default all pods."
    )
    in_turns: Expression | None = Field(
        default=None, description="Whether later pods start when earlier ones have ended."
    )
    later: Expression | None = Field(default=None, description="Whether the pods begin when others have started.")
    serves_as: Expression | None = Field(
        default=None,
        description="The work of the pods in serving a model, as a type or a name tells it: prefill, decode, router, "
        "planner, frontend.",
    )
    inherits: Expression | None = Field(
        default=None, description="Whether ranks see the environment of their container; by default true."
    )
    alternates: bool = Field(
        default=False,
        description="Whether its pods follow those of the pod set before, entry by entry; they share `each` and `let`.",
    )

    @model_validator(mode="after")
    def _check_one_form(self) -> "DescribedPods":
        if not (self.pod_template or self.pod_spec or self.fields or self.containers or self.container):
            raise ValueError("say where the pods stand: podTemplate, podSpec, or containers")
        if self.pod_template and (self.pod_spec or self.fields or self.containers or self.metadata is not None):
            raise ValueError("podTemplate already says it all; leave out podSpec, metadata, containers and fields")
        return self


class DescribedObject(Section):
    """A whole object of a known kind inside the object."""

    object: FieldPath = Field(description="The field with the object.")
    kind: KindName | None = Field(default=None, description="Its kind, if it has neither apiVersion nor kind.")
    version: str = Field(default="v1", max_length=63, description="The version of that kind.")
    times: Expression = Field(default="1", description="How many of them run at one time.")
    most: Expression | None = Field(default=None, description="How many there may become; by default as `times`.")


class DescribedGang(Section):
    """How the pods become a gang."""

    by: list[str] = Field(
        default=[],
        max_length=8,
        description="Schedulers for which the operator makes a group; empty if only its configuration says which.",
    )
    minimum: FieldPath | None = Field(
        default=None, description="The field with the number of pods that start together."
    )


class DescribedQueue(Section):
    """Where the names of queues stand."""

    kueue: Annotated[FieldPath, AfterValidator(_holder_of_labels)] | None = Field(
        default=None, description="The metadata whose label `kueue.x-k8s.io/queue-name` Kueue reads: metadata."
    )
    volcano_annotation: str | None = Field(
        default=None, max_length=317, description="The annotation of the object with the name of a queue of Volcano."
    )


class DescribedKind(Section):
    """A kind that makes pods: where its templates stand, and how many pods each has."""

    kind: KindName = Field(description="The kind with its group: StormService.orchestration.aibrix.ai.")
    versions: list[Annotated[str, StringConstraints(pattern=r"^v[a-z0-9]+$", max_length=63)]] = Field(
        min_length=1, max_length=8, description="The versions with these fields, the best first."
    )
    plural: str = Field(
        default="",
        pattern=r"^[a-z0-9]*$",
        max_length=63,
        description="The resource of the CRD; by default the kind in small letters with an s.",
    )
    role: Role = Field(default="unknown", description="The role of its workloads, where their programs do not tell it.")
    pod_sets: list[DescribedPods] = Field(default=[], max_length=16, description="The pods, by their templates.")
    embedded: DescribedObject | None = Field(default=None, description="A whole object that it makes, several times.")
    scale: FieldPath | None = Field(default=None, description="The number that `/scale` writes.")
    elsewhere: list[FieldPath] = Field(
        default=[],
        max_length=16,
        description="Fields that name another object with pods of it: an object that has one is unknown there.",
    )
    makes: list[KindName] = Field(
        default=[], max_length=16, description="Known kinds that its controller makes, for chains of owners."
    )
    scheduler: FieldPath | None = Field(default=None, description="The field with the scheduler of all pods.")
    priority: FieldPath | None = Field(default=None, description="The field with the priority class of the gang.")
    suspend: FieldPath | None = Field(default=None, description="The boolean that holds the pods back.")
    queue: DescribedQueue | None = Field(default=None, description="Where the names of queues stand.")
    gang: DescribedGang | None = Field(default=None, description="Its pods start together, and who makes their group.")
    trains: str = Field(
        default="", max_length=253, description="The container that does the work; by default each with accelerators."
    )
    environment: list[str] = Field(
        default=[], max_length=64, description="Variables that the operator sets; `*` ends a prefix."
    )
    changeable: bool = Field(default=True, description="Whether a change of the template reaches the pods.")
    waits: bool = Field(default=False, description="Whether its pods wait for each other.")
    counted: str = Field(default="", max_length=500, description="The number of pods in words, for documentation.")
    source: str = Field(default="", max_length=500, description="Where its author read this, for documentation.")

    @model_validator(mode="after")
    def _check_it_has_pods(self) -> "DescribedKind":
        if bool(self.pod_sets) == (self.embedded is not None):
            raise ValueError("a kind has either podSets or embedded; write one of them")
        if self.pod_sets and self.pod_sets[0].alternates:
            raise ValueError("the first of podSets alternates with no other; leave out alternates")
        return self


class ShippedKind(DescribedKind):
    """A kind that ships with usher: it also has fields of its record (`kinds.kind.Pods`) that sites need not know."""

    record: dict[str, Any] = Field(default={})


MAP_KINDS: Final = frozenset({("run.ai", "Karta"), ("optimization.nvidia.com", "ResourceInterface")})
"""Group and kind of Workload-Map documents under their names, which run-ai/karta had until 2026-09."""

_JQ_WAY: Final = memo.pattern(r"\.[A-Za-z_][-\w]*(?:\[\])?(?:\.[A-Za-z_][-\w]*(?:\[\])?)*")
_JQ_PIPE: Final = memo.pattern(r" *\| *\(?\.")
_JQ_OR: Final = memo.pattern(r"\(?\s*(\.[^\s()]+)\s*//\s*(\d{1,9})\s*\)?")


class _Way(NamedTuple):
    """The lists that a path of jq goes through, and the path from the entry of the last one on."""

    each: tuple[str, ...]
    rest: str


def _way(text: object) -> _Way | None:
    """The way of a path of jq; None for other expressions."""
    path = _JQ_PIPE.sub(".", text) if isinstance(text, str) else ""
    if not _JQ_WAY.fullmatch(path):
        return None
    *each, rest = path.split("[]")
    return _Way(tuple(one.removeprefix(".") for one in each), rest.removeprefix("."))


def of_workload_map(document: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The description that a Workload-Map document (Karta) gives, and the components that it leaves out, with reasons.

    Its counts are a lower bound: those in its own catalogue leave out what levels above multiply.

    Raises:
        ValueError: it names no kind, or no component whose pod template usher can read.
    """
    structure = _mapping(_mapping(document.get("spec")).get("structureDefinition"))
    root = _mapping(structure.get("rootComponent"))
    named = _mapping(root.get("kind"))
    if not named.get("kind") or not named.get("version"):
        raise ValueError("it names no kind under spec.structureDefinition.rootComponent")
    pod_sets, left_out = list[dict[str, Any]](), list[str]()
    children = structure.get("childComponents")
    for component in (root, *(children if isinstance(children, list) else ())):
        definition = _mapping(_mapping(component).get("specDefinition"))
        found = _pods_of_component(_mapping(component), definition) if definition else None
        if found is not None:
            pod_sets.append(found)
        elif definition:
            left_out.append(f"{component.get('name')}: usher does not read the place of its pods")
    if not pod_sets:
        raise ValueError("it has no component with podTemplateSpecPath or podSpecPath that usher can read")
    name = ".".join(filter(None, (str(named["kind"]), str(named.get("group") or ""))))
    found = {"kind": name, "versions": [str(named["version"])], "podSets": pod_sets}
    actions = _mapping(root.get("suspendDefinition")).get("suspendActions")
    suspended = _way(_mapping(actions[0]).get("path")) if isinstance(actions, list) and len(actions) == 1 else None
    return found | ({"suspend": suspended.rest} if suspended is not None and not suspended.each else {}), left_out


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _pods_of_component(component: Mapping[str, Any], definition: Mapping[str, Any]) -> dict[str, Any] | None:
    field = next((key for key in ("podTemplateSpecPath", "podSpecPath") if definition.get(key)), "")
    way, beside = _way(definition.get(field)), _way(definition.get("metadataPath"))
    if way is None:
        return None
    found: dict[str, Any] = {"each": list(way.each)} if way.each else {}
    name = _way(component.get("instanceIdPath"))
    is_inside = name is not None and way.each and name.each == way.each
    found["name"] = f"item.{name.rest}" if name is not None and is_inside else f"'{component.get('name')}'"
    found["podTemplate" if field == "podTemplateSpecPath" else "podSpec"] = way.rest
    if field == "podSpecPath" and beside is not None and beside.each == way.each:
        found["metadata"] = beside.rest
    found["pods"] = _count(_mapping(component.get("scaleDefinition")).get("replicasPath"), way)
    return found | {"most": "unbounded", "because": "'a Workload-Map counts at least these'"}


def _count(text: object, way: _Way) -> str:
    default = _JQ_OR.fullmatch(_JQ_PIPE.sub(".", str(text).strip()))
    number = _way(default[1] if default else text)
    if number is not None and number.each in ((), way.each):
        return f"at({'item' if number.each else 'object'}, '{number.rest}', {default[2] if default else 1})"
    return str(text) if str(text).isdecimal() and len(str(text)) < _MOST_DIGITS else "1"


_MOST_DIGITS: Final = 10
