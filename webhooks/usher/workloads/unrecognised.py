"""Objects of kinds that usher does not know: those with pod templates are judged by them, others that ask for
accelerators are named.

Why: docs/domain/principles.md#unknown-kinds.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from usher import memo, model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.config import described_kinds
from usher.kinds import registry
from usher.kinds.kind import Key, Kind, KueueUnit, Pods, Starts
from usher.kinds.reading import pod_templates
from usher.kinds.reading.templates import RELEASES, Place, Template, Traits
from usher.kinds.reading.values import Reading
from usher.workloads import identity

_PARTS: Final = frozenset({
    ("apps.kruise.io", "SidecarSet"),
    ("gateway.envoyproxy.io", "EnvoyProxy"),
    ("workloads.x-k8s.io", "ClusterEngineRuntimeProfile"),
})  # fmt: skip
"""Kinds with containers or patches that an operator adds to the pods of other objects."""

_GPUS: Final = frozenset({"gpu", "gpus"})
"""Words for GPUs in kinds of operators that choose the resource themselves."""

_OF_MACHINES: Final = "gets the accelerators of its machines"

_HIDDEN: Final[Mapping[tuple[str, str], tuple[str, str]]] = {
    ("inference.sagemaker.aws.amazon.com", "InferenceEndpointConfig"): ("/spec", _OF_MACHINES),
    ("inference.sagemaker.aws.amazon.com", "JumpStartModel"): ("/spec", _OF_MACHINES),
    ("nvidia.com", "DynamoGraphDeploymentRequest"): (
        "/spec",
        "profiles on GPUs and then makes a DynamoGraphDeployment",
    ),
    ("kubeai.org", "Model"): ("/spec/resourceProfile", "gets the accelerators of a resource profile"),
    ("inference.llmaz.io", "Playground"): ("/spec/modelClaim", "gets the accelerators of its model's flavor"),
    **{
        ("run.ai", f"{kind}Workload"): ("/spec/gpu", "asks for GPUs in a field of Run:ai")
        for kind in ("Training", "Interactive", "Distributed", "Inference")
    },
}
"""Kinds that show neither a pod template nor accelerators, each with the field that decides them. Without an entry they
would pass unseen.

Sources: deploy/operator/config/crd/bases of ai-dynamo/dynamo,
docs/concepts/resource-profiles.md of kubeai-project/kubeai, the reference of inference.llmaz.io/v1alpha1 of
InftyAI/llmaz, and the workload parameters of run.ai/v2alpha1 in the documentation of Run:ai.
"""


_SUBJECTS_OF_POLICIES: Final = (
    "apiextensions.crossplane.io", "gatekeeper.sh", "kro.run", "kustomize.config.k8s.io", "kuttl.dev", "kyverno.io",
)  # fmt: skip
"""Groups, with those below them, whose objects hold parts of other objects: patterns, patches, expectations."""

_CONTAINER_NAME: Final = memo.pattern(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_OF_TEMPLATES: Final = ("${", "{{", "*")
_PLAIN_STEPS: Final = frozenset({"spec", "template", "templates", "podTemplate", "podTemplateSpec", "podSpec", "pod"})
_FIELDS_OF_TEMPLATES: Final = frozenset({"apiVersion", "kind", "metadata", "spec", "status"})
_AT_LEAST_ONE: Final = model.Count(
    minimum=1, maximum=None, reason="usher does not know its kind, so it counts at least one pod"
)
_OWN_TRAITS: Final = Traits(changeable=False, fully_known=False)
"""The operator may add anything to the pods, and may refuse what a mutation would write."""


def kind_by_shape(value: paths.Object) -> Kind | None:
    """A record for the kind of a custom resource with whole pod templates; None for any other object.

    How many pods its operator makes of each is unknown, and so are its queue and its gangs.
    """
    group, version, kind = identity.group_version_kind(value)
    if (
        "." not in group
        or (group, kind) in RELEASES.keys() | _PARTS
        or any(group == each or group.endswith(f".{each}") for each in _SUBJECTS_OF_POLICIES)
    ):
        return None
    found = pod_templates.find_pod_specs(value) or ()
    specs = [path for path in found if _is_whole(paths.resolve(value, path))]
    if not specs or identity.excess(value) is not None:
        return None
    templates = [_template(value, path) for path in specs]
    places = [paths.readable(each.path) for each in templates]
    what = f"the pod template at {places[0]}" if len(places) == 1 else f"its {len(places)} pod templates"
    judged_as = f"{_full_name(value)}: judged by {what}; describe it under workloads: of usher.yaml to have counts"

    def read(_value: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
        reading.unknown(specs[0], f"unrecognised kind {judged_as}")
        for path in found:
            if path not in specs:
                reading.unknown(path, f"unrecognised kind {_full_name(value)} holds a pod spec, which is not judged")
        yield from templates

    pods = Pods(
        templates=read,
        template_paths=tuple(places),
        counted="at least one",
        source="",
        runs_any_program=True,
        kueue_unit=KueueUnit.POD,
        starts=Starts.MAY_WAIT,
        shrinks=False,
        minimum_from="",
    )
    return Kind(group=group, kind=kind, versions=(version,), pods=pods)


_MOST_MAPS: Final = 256


def kinds_of_maps(documents: Iterable[paths.Object]) -> Mapping[Key, Kind]:
    """The kinds that Workload-Map documents (Karta) describe, with their counts as the least, except kinds that usher
    knows.

    Of two documents about one version of a kind neither counts (KAI:pkg/podgrouper/podgrouper/plugins/karta).
    """
    found: defaultdict[tuple[str, str], list[tuple[described_kinds.DescribedKind, Sequence[str]]]] = defaultdict(list)
    for document in islice(documents, _MOST_MAPS):
        try:
            made, left_out = described_kinds.of_workload_map(document)
            each = described_kinds.DescribedKind.model_validate(made)
        except ValueError:  # pydantic's errors are among them
            continue
        if not any(registry.problems([each])):
            found[each.kind, each.versions[0]].append((each, left_out))
    single = [entries[0] for entries in found.values() if len(entries) == 1]
    missing = {each.kind: left_out for each, left_out in single if left_out}
    kinds = registry.kinds_of(each for each, _ in single)
    return {kind.group_and_kind: _as_mapped(kind, missing.get(f"{kind.kind}.{kind.group}", ())) for kind in kinds}


def _as_mapped(kind: Kind, left_out: Sequence[str]) -> Kind:
    """A described kind whose operator may do more than the description says."""
    if kind.pods is None:
        return kind
    templates = kind.pods.templates

    def read(value: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
        for each in left_out:
            reading.unknown("/spec", f"its Workload-Map document has a component that usher cannot read: {each}")
        for template in templates(value, reading):
            yield replace(template, traits=template.traits._replace(changeable=False, fully_known=False))

    return replace(kind, pods=replace(kind.pods, templates=read))


def description(value: paths.Object) -> dict[str, Any]:
    """A description of the kind of an object, to begin with: its pod templates, each with one pod.

    Raises:
        ValueError: the object has no pod templates, or usher knows its kind.
    """
    group, version, kind = identity.group_version_kind(value)
    if (group, kind) in registry.BY_KEY:
        raise ValueError(f"usher knows {kind}.{group} itself")
    found = kind_by_shape(value)
    if found is None or found.pods is None:
        raise ValueError(
            f"{_full_name(value)} holds no pod template that usher recognises. If fields of it become pods, describe "
            "these by container, containers or devices (docs/kinds-of-your-own.md#paths)"
        )
    places = [_PlaceOfPods.of(each, value) for each in found.pods.templates(value, Reading())]
    pod_sets = dict.fromkeys(each.described(together=_in_a_map(each, places)) for each in places)
    described = [dict(fields) for fields in sorted(pod_sets)]
    return {"kind": f"{kind}.{group}", "versions": [version], "podSets": described}


_COUNTS: Final = ("replicas", "size", "count", "parallelism", "instances", "numWorkers", "nodes")
"""Fields beside a pod template that usually hold the number of its pods."""


class _PlaceOfPods(NamedTuple):
    """Where a template stands in an object: the fields between entries of lists, and a number beside it."""

    ways: tuple[tuple[str, ...], ...]
    name: str
    key: str
    number: str
    """The field beside the template with a number of pods; empty without one."""

    @classmethod
    def of(cls, template: Template, value: paths.Object) -> "_PlaceOfPods":
        ways: list[list[str]] = [[]]
        for step in paths.split(template.path):
            if step.isdecimal():
                ways.append([])
            else:
                ways[-1].append(step)
        holder = paths.mapping(paths.resolve(value, template.path.rpartition("/")[0]))
        number = next((each for each in _COUNTS if type(holder.get(each)) is int), "")
        key = "podTemplate" if template.spec.path != template.path else "podSpec"
        return cls(tuple(map(tuple, ways)), template.name, key, number)

    def described(self, *, together: bool) -> tuple[tuple[str, Any], ...]:
        """The fields of a description; those of several entries of a list, or `together` of a map, are equal."""
        *each, rest = self.ways
        if together:
            each, rest = [(*rest[:-2], "*")], rest[-1:]
        holder = "item" if each else "object"
        counted = f"at({holder}, '{'.'.join((*rest[:-1], self.number))}', 1)" if self.number else "1"
        fields: list[tuple[str, Any]] = [(self.key, ".".join(rest)), ("pods", counted)]
        if each:
            name = "key" if together else "item.name"
            return (("each", tuple(".".join(way) for way in each)), ("name", name), *fields)
        return (("name", f"'{self.name}'"), *fields)


def _in_a_map(place: _PlaceOfPods, places: Sequence[_PlaceOfPods]) -> bool:
    """Whether other templates stand in the same map, each in an entry of its own."""
    if len(place.ways) > 1 or len(place.ways[0]) < _LEAST_STEPS_OF_MAP:
        return False
    alike = [
        each
        for each in places
        if len(each.ways) == 1
        and (each.ways[0][:-2], each.ways[0][-1], each.number) == (place.ways[0][:-2], place.ways[0][-1], place.number)
    ]
    return len(alike) > 1


_LEAST_STEPS_OF_MAP: Final = 4
"""spec, the map, the entry and the template: the fields of a spec itself are not entries of a map."""


def is_unknown(workload: model.Workload) -> bool:
    """Whether usher does not know the kind of a workload, so that its pods may be more than its templates say."""
    return (workload.group, workload.kind) not in registry.PODS


def _is_whole(spec: paths.Json) -> bool:
    """Whether a pod spec is one of pods, and neither a pattern nor a patch of one."""
    containers = paths.elements(paths.mapping(spec).get("containers"))
    return all(
        _CONTAINER_NAME.fullmatch(paths.text(paths.mapping(each).get("name")))
        and (image := paths.text(paths.mapping(each).get("image")))
        and not any(mark in image for mark in _OF_TEMPLATES)
        for each in containers
    )


def _template(value: paths.Object, spec: str) -> Template:
    """The template of a pod spec: with the metadata beside it, if its holder is a pod template."""
    holder, _, key = spec.rpartition("/")
    held = paths.mapping(paths.resolve(value, holder))
    is_template = bool(holder) and key == "spec" and held.keys() <= _FIELDS_OF_TEMPLATES
    path = holder if is_template else spec
    return Template(
        name=_name(value, path),
        path=path,
        spec=Place(paths.resolve(value, spec), spec),
        metadata=Place(held.get("metadata") if is_template else None, f"{path}/metadata"),
        count=_AT_LEAST_ONE,
        traits=_OWN_TRAITS,
    )


def _name(value: paths.Object, path: str) -> str:
    """The name of the innermost entry or field that holds a template, without the words that all templates have."""
    steps = paths.split(path)
    for end in range(len(steps), 0, -1):
        if steps[end - 1] not in _PLAIN_STEPS:
            held = paths.mapping(paths.resolve(value, paths.join(paths.ROOT, *steps[:end])))
            named = paths.text(held.get("name"))
            if named or not steps[end - 1].isdecimal():
                return named or steps[end - 1]
    return ""


def _full_name(value: paths.Object) -> str:
    group, version, kind = identity.group_version_kind(value)
    return f"{kind or 'object without kind'} ({'/'.join(filter(None, (group, version))) or 'no apiVersion'})"


def read_unrecognised(
    value: paths.Object, *, known: Kind | None, namespace: str, vocabulary: Vocabulary
) -> model.Workload | None:
    """A workload for an unknown kind that holds pod templates or requests accelerators; rules do not judge it.

    A known kind in an unknown version is treated in the same way: it makes pods, wherever this version has its
    templates.
    """
    group, version, kind = identity.group_version_kind(value)
    found = pod_templates.find_pod_specs(value)
    full_name = _full_name(value)
    reason = f"unrecognised kind {full_name} holds a pod spec, which is not judged"
    if found == [] and known is None:
        found = pod_templates.find_resource_requests(value, lambda name: name in _GPUS or vocabulary.contains(name))
        reason = f"unrecognised kind {full_name} asks for accelerators, which is not judged"
    if found and (group, kind) in RELEASES:
        reason = (
            f"{full_name} has values for a chart that asks for accelerators: render the chart, "
            "e.g. helm template | usher check -"
        )
    if found == [] and known is None and _may_make_pods(group, kind):
        found = _own_fields(value)
        reason = (
            f"unrecognised kind {full_name} asks for accelerators in a field of its own, which is not judged; "
            "describe it under workloads: of usher.yaml"
        )
    hidden, why = _HIDDEN.get((group, kind), ("", ""))
    if found == [] and hidden and _holds_field(value, hidden):
        found = [hidden]
        reason = f"{full_name} {why}, which is not judged"
    if found is None:
        found, reason = [paths.ROOT], f"{full_name} is too large to be searched for pod specs: not judged"
    if known is not None:
        found = found or ["/apiVersion" if "apiVersion" in value else paths.ROOT]
        here = f"in {version}" if version else "without a version"
        reason = f"{kind} is known in {' and '.join(known.versions)}, not {here}: not judged"
    if not found or (group, kind) in _PARTS:
        return None
    reading = Reading()
    for path in found:
        reading.unknown(path, reason)
    metadata = reading.mapping(value.get("metadata"), "/metadata")
    unjudged = identity.without_pods(
        value,
        namespace=reading.text(metadata.get("namespace"), "/metadata/namespace") or namespace,
        name=identity.object_name(metadata, reading, value),
    )
    return replace(
        unjudged,
        deleting=bool(reading.text(metadata.get("deletionTimestamp"), "/metadata/deletionTimestamp")),
        exists=bool(paths.metadata(value).get("uid")),
        unknowns=reading.found(),
    )


_OWN_COUNT: Final = memo.pattern(
    r"(?:num|n|total|requested)?[_-]?(?:gpus?|accelerators?)(?:[_-]?(?:count|num|number|quantity))?", re.IGNORECASE
)
_OWN_COUNTS: Final = ("count", "number", "quantity", "num")


def _may_make_pods(group: str, kind: str) -> bool:
    """Whether a custom kind is one that usher knows nothing of: no chart, no part of pods, no subject of policies."""
    return (
        "." in group
        and (group, kind) not in registry.BY_KEY
        and (group, kind) not in RELEASES.keys() | _PARTS
        and not any(group == each or group.endswith(f".{each}") for each in _SUBJECTS_OF_POLICIES)
    )


def _own_fields(value: paths.Object) -> list[str]:
    """The fields by which an operator that starts an image may give it accelerators, as `gpus: 2`."""
    if not pod_templates.find_objects(value, lambda node: bool(paths.text(node.get("image")))):
        return []
    holders = pod_templates.find_objects(value, lambda node: any(_is_own_count(*each) for each in node.items()))
    return [
        paths.join(holder, key)
        for holder in holders
        for key, each in paths.mapping(paths.resolve(value, holder)).items()
        if _is_own_count(key, each)
    ]


def _is_own_count(key: str, value: paths.Json) -> bool:
    if not _OWN_COUNT.fullmatch(key):
        return False
    numbers = [value.get(each) for each in _OWN_COUNTS] if isinstance(value, dict) else [value]
    return any(_COUNT.fullmatch(str(each)) for each in numbers if isinstance(each, int | str))


_COUNT: Final = memo.pattern(r"[1-9][0-9]{0,5}", re.ASCII)


def _holds_field(value: paths.Object, pointer: str) -> bool:
    try:
        return paths.resolve(value, pointer) is not None
    except LookupError:
        return False
