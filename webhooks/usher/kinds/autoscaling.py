"""Kinds that set how many pods run: autoscalers, provisioning requests, quotas, AppWrappers and pools of nodes.

Sources: k8s.io/api/autoscaling, pkg/apis/autoscaling and pkg/controller/podautoscaler of Kubernetes 1.36;
apis/keda/v1alpha1 and controllers/keda of KEDA at 8b4f083c; api/disaggregatedset/v1 of LWS 0.10.

A VerticalPodAutoscaler is not here: it changes what pods ask of CPU and memory, never their number. KEDA makes a
HorizontalPodAutoscaler for every ScaledObject; of the two the wider one counts, and nothing counts twice. How fast an
autoscaler works, and that it may only shrink (`behavior`, `paused-scale-out`), is not looked at: its bounds stay.

Source: https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/proposals/provisioning-request.md

`usher.cluster.facts.autoscaled_pools` says what pools of Karpenter, GKE and Cluster API mean.

Sources: https://github.com/kubernetes-sigs/karpenter/tree/main/pkg/apis (v1/nodepool.go, v1/nodeclaim.go,
v1alpha1/nodeoverlay.go), https://github.com/kubernetes/autoscaler/tree/master/cluster-autoscaler/apis/capacitybuffer,
https://docs.cloud.google.com/kubernetes-engine/docs/reference/crds/computeclass, NodeClasses of
aws/karpenter-provider-aws, Azure/karpenter-provider-azure and cloudpilot-ai/karpenter-provider-gcp (pkg/apis), and
https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/cloudprovider/clusterapi/README.md
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson
from msgspec import Struct, convert
from msgspec.structs import replace
from pydantic import BeforeValidator

from usher import errors, memo, model, paths, quantities
from usher.accelerators import boards, mig
from usher.accelerators.names import meaning_of
from usher.config.pools import QuotaSpec
from usher.kinds.kind import Code
from usher.kinds.reading import counts as reading_counts
from usher.kinds.reading import known_keys, pod_templates, value_forms, values
from usher.kinds.reading.counts import UNUSABLE, Growth, concurrent_pods, nearest_pointer, object_in
from usher.kinds.reading.environment import misread
from usher.kinds.reading.pod_templates import pod_template
from usher.kinds.reading.shapes import amount_of
from usher.kinds.reading.templates import Place, Template
from usher.kinds.reading.values import Objects, Reading
from usher.model import placement

_TARGET = "/spec/scaleTargetRef"


class BoundFields(Struct, frozen=True, kw_only=True):
    """The field names that one kind has for its bounds, and its defaults for missing fields."""

    minimum: str
    maximum: str
    default_minimum: int
    default_maximum: int | None
    """None where the kind requires a maximum."""
    default_api_version: str = ""
    default_kind: str = ""


def growth_of_autoscaler(value: paths.Object, growth: Growth, reading: Reading, names: BoundFields) -> Growth:
    """The growth with the target and the bounds of `spec`."""
    if isinstance(value.get("spec"), dict):
        return _with_bounds(value, _with_target(value, growth, reading, names), reading, names)
    if value.get("spec") is None:
        reading.unknown(nearest_pointer(value, "/spec"), "has no spec")
    else:
        reading.mapping(value["spec"], "/spec")
    return growth


def _with_target(value: paths.Object, growth: Growth, reading: Reading, names: BoundFields) -> Growth:
    """The growth with its target; without a target if any part of the reference is invalid.

    No API group means the core group, in which only a ReplicationController can be scaled.
    """
    growth = replace(growth, target_path=nearest_pointer(value, _TARGET))
    before = len(reading.unknowns)
    reference = reading.mapping(object_in(value, "spec").get("scaleTargetRef"), _TARGET)
    api_version = reading.text(reference.get("apiVersion"), _TARGET + "/apiVersion") or names.default_api_version
    kind = reading.text(reference.get("kind"), _TARGET + "/kind") or names.default_kind
    name = reading.text(reference.get("name"), _TARGET + "/name")
    if len(reading.unknowns) > before:
        return growth
    if not (kind and name):
        reading.unknown(growth.target_path, "scaleTargetRef must give the kind and the name of the object to scale")
        return growth
    group = api_version.rpartition("/")[0]
    if not group and kind != "ReplicationController":
        path = nearest_pointer(value, _TARGET + "/apiVersion")
        reading.unknown(path, f"apiVersion must give the API group of {kind}: without one it is not found")
        return growth
    return replace(
        growth, target=values.Reference(group=group, kind=kind, name=name, namespace=growth.source.namespace)
    )


def _with_bounds(value: paths.Object, growth: Growth, reading: Reading, names: BoundFields) -> Growth:
    """The growth with its minimum and its maximum. Autoscalers do not allow a maximum of 0."""
    spec = object_in(value, "spec")
    path = f"/spec/{names.maximum}"
    growth = replace(growth, maximum_path=nearest_pointer(value, path))
    given = spec.get(names.maximum)
    maximum = reading.count(given, path, default=UNUSABLE)
    if given is None and names.default_maximum is not None:
        growth = replace(growth, maximum=names.default_maximum, reason=f"the default of {names.maximum}")
    elif given is None:
        reading.unknown(growth.maximum_path, f"{names.maximum} is required")
    elif maximum == 0:
        reading.unknown(path, "must be at least 1")
    elif maximum != UNUSABLE:
        growth = replace(growth, maximum=maximum, reason="")
    return replace(growth, minimum=_minimum(spec.get(names.minimum), growth.maximum, reading, names))


def _minimum(given: paths.Json, maximum: int | None, reading: Reading, names: BoundFields) -> int:
    """The minimum: 0 if it is invalid, and at most the maximum."""
    if given is None:
        return names.default_minimum
    path = f"/spec/{names.minimum}"
    minimum = reading.count(given, path, default=0)
    if maximum is None or minimum <= maximum:
        return minimum
    reading.unknown(path, f"is more than the maximum of {maximum}")
    return maximum


class Parent(Struct, frozen=True, kw_only=True):
    """A kind whose operator makes objects that can be scaled, and sets their replicas again and again."""

    group: str
    kind: str
    children: tuple[tuple[str, str, str], ...]
    """Group, kind and name of each child; {} is the name of the parent."""
    remedy: str
    source: str
    external: str = ""
    """The annotation whose value `external` leaves the replicas to others."""
    reference: str = ""
    """A field of `spec` that names a child which people make; "" if the operator makes all children."""
    parts: str = ""
    """A field of `spec` with a child for each key, which {part} of the names is, in small letters."""

    def children_of(self, parent: paths.Object) -> Iterator[tuple[str, str, str]]:
        """The group, kind and name of each object whose replicas a parent sets."""
        metadata, spec = paths.metadata(parent), paths.mapping(parent.get("spec"))
        name = paths.text(metadata.get("name"))
        if named := paths.mapping(spec.get(self.reference)):
            group = paths.text(named.get("apiVersion")).rpartition("/")[0]
            yield group, paths.text(named.get("kind")), paths.text(named.get("name"))
        if name and paths.mapping(metadata.get("annotations")).get(self.external) != "external":
            for part in map(str.lower, paths.mapping(spec.get(self.parts))) if self.parts else ("",):
                yield from ((group, kind, pattern.format(name, part=part)) for group, kind, pattern in self.children)


_CHILDREN: Final = Path(__file__).with_name("scaled_children.json")
PARENTS: Final = convert(orjson.loads(_CHILDREN.read_bytes()), tuple[Parent, ...])

PAUSED = "autoscaling.keda.sh/paused"
PAUSED_REPLICAS = "autoscaling.keda.sh/paused-replicas"

_ANNOTATIONS = "/metadata/annotations"

# strconv.ParseBool takes these for false; KEDA takes all that it cannot parse for true.
_FALSE = frozenset({"0", "f", "F", "false", "FALSE", "False"})
_WHOLE_NUMBER = memo.pattern(r"[+-]?[0-9]{1,10}", re.ASCII)

_HORIZONTAL_POD_AUTOSCALER = BoundFields(
    minimum="minReplicas", maximum="maxReplicas", default_minimum=1, default_maximum=None
)
# gvkr.go and scaledobject_types.go.
_SCALED_OBJECT = BoundFields(
    minimum="minReplicaCount",
    maximum="maxReplicaCount",
    default_minimum=0,
    default_maximum=100,
    default_api_version="apps/v1",
    default_kind="Deployment",
)


_POD_AUTOSCALER = BoundFields(minimum="minReplicas", maximum="maxReplicas", default_minimum=1, default_maximum=None)


def _pod_autoscaler(value: paths.Object, growth: Growth, reading: Reading) -> Growth:
    """The growth of a PodAutoscaler of AIBrix (api/autoscaling/v1alpha1/podautoscaler_types.go)."""
    return growth_of_autoscaler(value, growth, reading, _POD_AUTOSCALER)


def _horizontal_pod_autoscaler(value: paths.Object, growth: Growth, reading: Reading) -> Growth:
    """The growth of a HorizontalPodAutoscaler.

    A minimum of 0 counts, though it needs the feature gate HPAScaleToZero.
    """
    return growth_of_autoscaler(value, growth, reading, _HORIZONTAL_POD_AUTOSCALER)


def _scaled_object(value: paths.Object, growth: Growth, reading: Reading) -> Growth:
    """The growth of a ScaledObject. With `idleReplicaCount` the target has that number while no trigger is active."""
    growth = growth_of_autoscaler(value, growth, reading, _SCALED_OBJECT)
    idle = reading_counts.object_in(value, "spec").get("idleReplicaCount")
    if idle is not None:
        least = reading.count(idle, "/spec/idleReplicaCount", default=0)
        growth = replace(growth, minimum=min(least, growth.minimum))
    return _paused(value, growth, reading)


def _paused(value: paths.Object, growth: Growth, reading: Reading) -> Growth:
    """The growth during a pause: the autoscaler is removed, and the target gets the number of the annotation, if any.

    Bounds do not limit that number, and it wins over the other annotation (scaledobject_controller.go).
    """
    annotations = reading.strings(reading_counts.object_in(value, "metadata").get("annotations"), _ANNOTATIONS)
    text = annotations.get(PAUSED_REPLICAS)
    if text is None:
        return replace(growth, held=is_paused(annotations))
    path = paths.join(_ANNOTATIONS, PAUSED_REPLICAS)
    if not _WHOLE_NUMBER.fullmatch(text):
        reading.unknown(path, "expected a whole number")
        return replace(growth, held=True)
    number = reading.count(int(text), path, default=reading_counts.UNUSABLE)
    if number == reading_counts.UNUSABLE:
        return replace(growth, held=True)
    return replace(growth, minimum=number, maximum=number, reason="it is paused there", maximum_path=path)


def is_paused(annotations: Mapping[str, str]) -> bool:
    """Whether the annotations of a ScaledObject or of a ScaledJob ask for a pause."""
    return PAUSED in annotations and annotations[PAUSED] not in _FALSE


def _scale(value: paths.Object, growth: Growth, reading: Reading) -> Growth:
    """The growth of a Scale, which has the name and the namespace of its target."""
    target = values.Reference(group="", kind="", name=growth.source.name, namespace=growth.source.namespace)
    growth = replace(growth, target=target, target_path=reading_counts.nearest_pointer(value, "/metadata/name"))
    return reading_counts.growth_to_number(value, growth, reading)


DEFAULT_MAXIMUM: Final = 100
"""KEDA's default: up to 100 Jobs more than the minimum. Source: apis/keda/v1alpha1/scaledobject_types.go of KEDA."""


def _scaled_job(scaled_job: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    """The templates of as many Jobs as there is work for.

    A paused ScaledJob makes no new Jobs, but running Jobs continue.

    apis/keda/v1alpha1/scaledjob_types.go and pkg/scaling/executor/scale_jobs.go of KEDA at 8b4f083c.
    """
    spec = reading.mapping(scaled_job.get("spec"), "/spec")
    metadata = reading.mapping(scaled_job.get("metadata"), "/metadata")
    annotations = reading.strings(metadata.get("annotations"), "/metadata/annotations")
    path = "/spec/jobTargetRef"
    job = reading.mapping(spec.get("jobTargetRef"), path)
    pods = concurrent_pods(job, path, reading)
    fewest, most = _jobs(spec, reading)
    reason = f"up to {most} Jobs at one time"
    if most is None:
        reason = "its custom scaling strategy makes more Jobs however many are running"
    if is_paused(annotations):
        fewest, reason = 0, f"it is paused; {reason} when it is not"
    maximum = most * pods if most is not None else None if pods else 0
    count = model.Count(minimum=fewest * pods, maximum=maximum, reason=reason)
    yield pod_template(Place(job.get("template"), path + "/template"), reading, count=count)


def _jobs(spec: Mapping[str, paths.Json], reading: Reading) -> tuple[int, int | None]:
    """The minimum and the maximum number of Jobs at one time; the maximum is None if nothing bounds them."""
    bounded = _heeds_the_most(reading.mapping(spec.get("scalingStrategy"), "/spec/scalingStrategy"), reading)
    fewest = reading.count(spec.get("minReplicaCount"), "/spec/minReplicaCount", default=0, of="Jobs")
    most = reading.count(spec.get("maxReplicaCount"), "/spec/maxReplicaCount", default=DEFAULT_MAXIMUM, of="Jobs")
    if spec.get("maxReplicaCount") is None:
        return fewest, fewest + DEFAULT_MAXIMUM if bounded else None
    # KEDA makes the fewest first and then the difference, but all of the most where that is less.
    lowest, highest = (most, 2 * most) if fewest > most else (fewest, most)
    return lowest, highest if bounded else None


def _heeds_the_most(strategy: Mapping[str, paths.Json], reading: Reading) -> bool:
    """Whether the maximum holds. A custom strategy keeps to it only if it subtracts at least the running Jobs.

    KEDA uses its default strategy if the share is not a number. A negative deduction adds Jobs
    (customScalingStrategy and NewScalingStrategy in pkg/scaling/executor/scale_jobs.go).
    """
    path = "/spec/scalingStrategy"
    name = reading.text(strategy.get("strategy"), path + "/strategy")
    text = reading.text(strategy.get("customScalingRunningJobPercentage"), path + "/customScalingRunningJobPercentage")
    deduction = strategy.get("customScalingQueueLengthDeduction")
    if deduction is not None and (isinstance(deduction, bool) or not isinstance(deduction, int)):
        reading.unknown(path + "/customScalingQueueLengthDeduction", "expected a whole number")
        deduction = None
    try:
        share = float(text)
    except ValueError:
        return True
    return name != "custom" or (share >= 1 and (deduction or 0) >= 0)


_UNITS = ("gpus", "slices", "memoryGiB")
_PROFILES = "profiles."


def _units(value: object) -> object:
    if not isinstance(value, dict):
        return value
    return {unit: _with_amount(_unit(unit), amount) for unit, amount in value.items() if isinstance(unit, str)}


def _with_amount(unit: dict[str, Any], amount: object) -> dict[str, Any]:
    try:
        return {**unit, "amount": amount_of(quantities.parse(amount))}
    except errors.QuantityError:
        return unit


def _unit(unit: str) -> dict[str, Any]:
    profile = mig.parse_profile(unit.removeprefix(_PROFILES)) if unit.startswith(_PROFILES) else None
    if profile is not None:
        name = f"{_PROFILES}{profile}"
        if name != unit:
            return {"known": False, "meant": name}
        return {"known": True, "boards": [board.name for board in boards.boards_with(profile)]}
    if unit in _UNITS:
        return {"known": True}
    resource = mig.profile_of_resource(unit)
    if resource is not None:
        return {"known": False, "meant": f"{_PROFILES}{resource.profile}"}
    like = [each for each in _UNITS if each.lower().rstrip("s") == unit.lower().rstrip("s")]
    if unit.rpartition("/")[2] == "gpu":
        like = ["gpus"]
    return {"known": False, "meant": like[0]} if like else {"known": False}


def _with_problems(spec: object) -> object:
    if not isinstance(spec, dict):
        return spec
    found = boards.read_quota_spec(spec)
    problems = [] if isinstance(found, QuotaSpec) else [each._asdict() for each in found]
    return {**spec, "problems": problems}


Object = Mapping[str, paths.Json]

# AW:pkg/utils/utils.go, getValueAtPath.
_PATH: Final = memo.pattern(r"template((?:\.[^.\[\]]+|\[[0-9]{1,9}\])*)", re.ASCII)
_STEP: Final = memo.pattern(r"\.([^.\[\]]+)|\[([0-9]+)\]", re.ASCII)

_NO_PODS: Final = model.Count(minimum=0, maximum=0, reason="a template for others to refer to")


class _PodSet(NamedTuple):
    """A pod set that a component declares: the path of a pod template in its object, and its number of pods."""

    replicas: int
    path: str
    place: str
    """Path of the field that holds `path`."""


def _app_wrapper(app_wrapper: Object, reading: Reading) -> Iterator[Template]:
    """The templates of the objects, with the numbers of pods that the objects themselves set.

    Kueue counts what the components declare. AW:pkg/utils/utils.go keeps that in step with the object for a few kinds
    only. For an object of an unknown kind usher reads the declarations.
    """
    spec = reading.mapping(app_wrapper.get("spec"), "/spec")
    for path, component in reading.items(spec.get("components"), "/spec/components"):
        place = Place(component.get("template"), path + "/template")
        value = reading.mapping(*place)
        declared = list(_declared(component, path, reading))
        if reading.context.is_too_deep:
            reading.unknown(place.path, "it stands too deep in other objects to be judged")
        elif value:
            yield from _of_object(value, place.path, declared, reading)


def _declared(component: Object, path: str, reading: Reading) -> Iterator[_PodSet]:
    for pod_set_path, pod_set in reading.items(component.get("podSets"), path + "/podSets"):
        yield _PodSet(
            replicas=reading.count(pod_set.get("replicas"), pod_set_path + "/replicas", default=1),
            path=reading.text(pod_set.get("path"), pod_set_path + "/path"),
            place=f"{pod_set_path}/path" if "path" in pod_set else pod_set_path,
        )


def _of_object(value: Object, path: str, declared: list[_PodSet], reading: Reading) -> Iterator[Template]:
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    prefix = name if isinstance(name, str) else ""
    inner = pod_templates.read_embedded(value, path, reading)
    if inner is None or inner.templates is None:
        found = _of_unknown_kind(value, path, declared, () if inner is None else inner.versions, reading)
    else:
        found = inner.templates
    for template in found:
        count = _NO_PODS if inner is not None and inner.is_template else template.count
        named = "-".join(filter(None, (prefix, template.name)))
        yield replace(
            template,
            name=named,
            count=count,
            inner_kind=template.inner_kind or _group_and_kind(value),
            inner_path=path + template.inner_path,
        )


def _group_and_kind(value: Object) -> tuple[str, str]:
    api_version, kind = (each if isinstance(each, str) else "" for each in (value.get("apiVersion"), value.get("kind")))
    return api_version.rpartition("/")[0], kind


def _of_unknown_kind(
    value: Object, path: str, declared: list[_PodSet], versions: tuple[str, ...], reading: Reading
) -> tuple[Template, ...]:
    """The templates that the component declares; `versions` are the known versions of its kind."""
    templates: dict[str, Template] = {}
    for pod_set in declared:
        pointer = _pointer(pod_set.path)
        target = None if pointer is None else _resolved(value, pointer)
        if pointer is None or not isinstance(target, dict):
            reading.unknown(pod_set.place, "it leads to no pod template of the object, as in template.spec.template")
        elif pointer in templates:
            reading.unknown(pod_set.place, "another pod set of the component has the same path")
        else:
            count = model.Count(minimum=pod_set.replicas, maximum=pod_set.replicas)
            templates[pointer] = pod_template(Place(target, path + pointer), reading, count=count)
    _tell_of_others(value, path, [template.path for template in templates.values()], versions, reading)
    return tuple(templates.values())


def _pointer(path: str) -> str | None:
    """The JSON Pointer into the object for a path as components write it; None for a malformed path."""
    matched = _PATH.fullmatch(path)
    if matched is None:
        return None
    return paths.join(paths.ROOT, *(step[1] or int(step[2]) for step in _STEP.finditer(matched[1])))


def _resolved(value: Object, pointer: str) -> paths.Json:
    try:
        return paths.resolve(dict(value), pointer)
    except LookupError:
        return None


def _tell_of_others(value: Object, path: str, known: list[str], versions: tuple[str, ...], reading: Reading) -> None:
    """Records the pod specs that no declared pod set leads to."""
    kind, api_version = (each if isinstance(each, str) else "" for each in (value.get("kind"), value.get("apiVersion")))
    full_name = f"{kind or 'object without kind'} ({api_version or 'no apiVersion'})"
    reason = f"unrecognised kind {full_name} holds a pod spec, which is not judged"
    if versions:
        reason = f"{kind} is known in {' and '.join(versions)}, not as {api_version}: its pod spec is not judged"
    found = pod_templates.find_pod_specs(dict(value))
    if found is None:
        reading.unknown(path, f"{full_name} is too large to be searched for pod specs: not judged")
    for pointer in found or ():
        if f"{path}{pointer}".removesuffix("/spec") not in known:
            reading.unknown(path + pointer, reason)
    if found == [] and not known:
        reason = f"unrecognised kind {full_name} asks for accelerators, which is not judged"
        for pointer in pod_templates.find_resource_requests(dict(value), _is_accelerator) or ():
            reading.unknown(path + pointer, reason)


def _is_accelerator(name: str) -> bool:
    return name in ("gpu", "gpus") or meaning_of(name) is not None


_OF_POOLS: Final = "spec.template.spec.requirements[]"
_TYPE_LABEL: Final = "node.kubernetes.io/instance-type"
_CAPACITY_TYPE: Final = "karpenter.sh/capacity-type"
_RESERVED: Final = "reserved"
_WITHOUT_DRIVER: Final = memo.pattern(r"amazon-eks-node-al2023-[\w-]*standard|/amazon-linux-2023/[\w-]*/standard/")
_GPU_TYPES: Final = memo.pattern(r"(g[45679]\w*|p[3-6]\w*)(\.|$)")


def _apart(path: str, text: str, remedy: str) -> model.UnreadKey:
    return model.UnreadKey(path=path, text=text, remedy=remedy, important=False, dangling=True)


def _of_node_class(pool: paths.Object, objects: Objects) -> Iterator[model.UnreadKey]:
    """Needs of a NodePool that its EC2NodeClass does not meet: reserved capacity, and an image with a driver.

    Sources: aws/karpenter-provider-aws website/content/en/docs/tasks/odcrs.md and concepts/nodeclasses.md.
    """
    name = next(iter(value_forms.texts_at(pool, "spec.template.spec.nodeClassRef.name")), "")
    found = objects.known("karpenter.k8s.aws", "EC2NodeClass").get(name)
    if found is None:
        return
    entries = [
        (where, each, value_forms.texts_at(each, "values[]"))
        for where, each in value_forms.at(pool, _OF_POOLS)
        if isinstance(each, dict) and each.get("operator") == "In"
    ]
    reserves = bool(paths.mapping(found.get("spec")).get("capacityReservationSelectorTerms"))
    for where, each, listed in entries:
        if each.get("key") == _CAPACITY_TYPE and reserves != (_RESERVED in listed):
            if reserves:
                text = f"does not allow reserved capacity, but EC2NodeClass {name} in these files selects reservations"
                yield _apart(f"{where}/values", text, f"add reserved to the values of {_CAPACITY_TYPE}")
            elif listed == [_RESERVED]:
                text = f"allows only reserved capacity, but EC2NodeClass {name} in these files selects no reservation"
                yield _apart(f"{where}/values", text, "add capacityReservationSelectorTerms to the EC2NodeClass")
    images = value_forms.texts_at(found, "spec.amiSelectorTerms[].{name,ssmParameter}")
    types = [text for _, each, listed in entries if str(each.get("key")).endswith(_TYPES) for text in listed]
    operator = any(objects.known("nvidia.com", kind) for kind in ("ClusterPolicy", "NVIDIADriver"))
    if types and all(map(_GPU_TYPES.match, types)) and not operator:
        for image in filter(_WITHOUT_DRIVER.search, images[:1]):
            text = (
                f"starts GPU machines with the image {image[:80]} of EC2NodeClass {name}, which has no driver for them"
            )
            remedy = (
                "select the alias al2023, which takes the image for NVIDIA, or let the GPU operator install a driver"
            )
            yield _apart("/spec/template/spec/nodeClassRef/name", text, remedy)


_TYPES: Final = ("instance-type", "instance-family")


_FRACTIONS: Final = memo.pattern(r"gr?6f(\.\w+)?")


def _of_fractions(value: paths.Object, objects: Objects) -> Iterator[model.UnreadKey]:
    """Types with a fraction of a GPU, where EC2 reports 0 GPUs (aws/karpenter-provider-aws#8368)."""
    overlays = objects.known("karpenter.sh", "NodeOverlay").values()
    counted = any("nvidia.com/gpu" in known_keys.part_at(each, "/spec/capacity") for each in overlays)
    for where, each in () if counted else value_forms.at(value, _OF_POOLS):
        types = value_forms.texts_at(each, "values[]")
        if types and all(map(_FRACTIONS.fullmatch, types)):
            text = f"allows only {types[0]}, and EC2 reports no GPU there, so Karpenter adds no node for nvidia.com/gpu"
            remedy = "allow g6, or add a NodeOverlay with the capacity nvidia.com/gpu"
            yield misread(f"{where}/values", text, remedy, "controller")


def _unmet_requirements(value: paths.Object, objects: Objects) -> Iterator[model.UnreadKey]:
    """Requirements of a NodePool that its EC2NodeClass or machine types of AWS do not meet."""
    yield from _of_fractions(value, objects)
    yield from _of_node_class(value, objects)
    yield from _of_machine_types(value)


def _of_machine_types(value: paths.Object) -> Iterator[model.UnreadKey]:
    """Requirements that leave no machine type with accelerators, or fewer than minValues asks for."""
    group = paths.text(known_keys.part_at(value, "/spec/template/spec/nodeClassRef").get("group"))
    found = [(where, each, placement.read_requirement(each)) for where, each in value_forms.at(value, _OF_POOLS)]
    read = [(where, each, it) for where, each, it in found if it is not None and placement.is_for_labels(it)]
    labels = _labels_of_types(group) if group in _AWS else []
    known = {key for each in labels for key in each}
    named = {text for each in labels for key, text in each.items() if key.endswith(_NAMES)}
    chosen = [it for *_, it in read if it.key.endswith(_NAMES) and it.operator == "In"]
    if len(read) < len(found) or not chosen or not all(named.issuperset(each.values) for each in chosen):
        return  # it may allow machines without accelerators, which usher does not know
    wanted = [(where, each, it) for where, each, it in read if it.key in known]
    allowed = [each for each in labels if all(placement.labels_match(it, each) for *_, it in wanted)]
    for where, each, it in wanted:
        least, some = paths.mapping(each).get("minValues"), {one.get(it.key) for one in allowed}
        others = [other for *_, other in wanted if other is not it]
        if not allowed and any(all(placement.labels_match(other, one) for other in others) for one in labels):
            text = f"allows no machine type: {it.key} {it.operator} {', '.join(it.values)[:80]} contradicts the others"
            yield misread(where, text, "correct it, or one of the other requirements", "controller")
            return
        if allowed and isinstance(least, int) and least > len(some) and it.operator != "In":
            text = f"wants {least} values of {it.key}, and its requirements allow {len(some)}, so no node is added"
            remedy = f"lower minValues to {len(some)}, allow more types, or let minValuesPolicy be BestEffort"
            yield misread(f"{where}/minValues", text, remedy, "controller")


_AWS: Final = ("karpenter.k8s.aws", "eks.amazonaws.com")
_NAMES: Final = ("/instance-type", "/instance-family", "/instance-gpu-name")


def _labels_of_types(group: str) -> list[Mapping[str, str]]:
    """The labels of the machine types of AWS with accelerators, as Karpenter compares them."""
    return [
        {
            **{f"{group}/{key}": text for key, text in row["labels"].items() if key != "arch"},
            "kubernetes.io/arch": row["labels"].get("arch", "amd64"),
            _TYPE_LABEL: name,
        }
        for name, row in boards.machine_rows().items()
        if row["of"] == "aws"
    ]


CODE: Final[Mapping[str, Code]] = {
    "AppWrapper.workload.codeflare.dev": {"templates": _app_wrapper},
    "ScaledJob.keda.sh": {"templates": _scaled_job},
    "HorizontalPodAutoscaler.autoscaling": {"autoscaler": _horizontal_pod_autoscaler},
    "ScaledObject.keda.sh": {"autoscaler": _scaled_object},
    "PodAutoscaler.autoscaling.aibrix.ai": {"autoscaler": _pod_autoscaler},
    "Scale.autoscaling": {"autoscaler": _scale},
    "NodePool.karpenter.sh": {"unmet": _unmet_requirements},
}


SHAPE_PARTS: Final[Mapping[str, Any]] = {
    "units": BeforeValidator(_units),
    "with_problems": BeforeValidator(_with_problems),
}
