"""Kinds that change the number of pods: autoscalers, KEDA, provisioning requests.

Sources: k8s.io/api/autoscaling, pkg/apis/autoscaling and pkg/controller/podautoscaler of Kubernetes 1.36;
apis/keda/v1alpha1 and controllers/keda of KEDA at 8b4f083c; api/disaggregatedset/v1 of LWS 0.10.

A VerticalPodAutoscaler is not here: it changes what pods ask of CPU and memory, never their number. KEDA makes a
HorizontalPodAutoscaler for every ScaledObject; of the two the wider one counts, and nothing counts twice. How fast an
autoscaler works, and that it may only shrink (`behavior`, `paused-scale-out`), is not looked at: its bounds stay.

Source: https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/proposals/provisioning-request.md
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NotRequired

from msgspec import Struct
from msgspec.structs import replace
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model, paths
from usher.kinds.kind import Kind, Kueue, KueueUnit, Pods, Starts, api, scheduled
from usher.kinds.reading import counts as reading_counts
from usher.kinds.reading import values
from usher.kinds.reading.counts import UNUSABLE, Growth, concurrent_pods, nearest_pointer, object_in
from usher.kinds.reading.pod_templates import pod_template
from usher.kinds.reading.shapes import Present
from usher.kinds.reading.templates import Place, Template
from usher.kinds.reading.values import Reading

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


class Owned(TypedDict):
    ownerReferences: NotRequired[list[Present]]
    """Operators make autoscalers too: KEDA one for every ScaledObject."""


class Target(TypedDict):
    apiVersion: NotRequired[str]
    kind: NotRequired[str]
    name: NotRequired[str]


class NamedResource(TypedDict):
    name: NotRequired[str]


class MetricTarget(TypedDict):
    type: NotRequired[str]


class MeasuredResource(NamedResource):
    target: NotRequired[MetricTarget]


class Metric(TypedDict):
    """A metric of the pods' own resources; other metrics are not read."""

    resource: NotRequired[MeasuredResource]
    containerResource: NotRequired[NamedResource]


class HorizontalPodAutoscalerSpec(TypedDict):
    scaleTargetRef: NotRequired[Target]
    minReplicas: NotRequired[int]
    maxReplicas: NotRequired[int]
    metrics: NotRequired[list[Metric]]


class HorizontalPodAutoscaler(TypedDict):
    metadata: NotRequired[Owned]
    spec: NotRequired[HorizontalPodAutoscalerSpec]


class TriggerFields(TypedDict):
    """The fields of a trigger's `metadata` that rules read; others may be secrets."""

    query: NotRequired[str]
    start: NotRequired[str]
    end: NotRequired[str]
    timezone: NotRequired[str]
    desiredReplicas: NotRequired[str]


class Trigger(TypedDict):
    type: NotRequired[str]
    metricType: NotRequired[str]
    metadata: NotRequired[TriggerFields]


class ScaledObjectSpec(TypedDict):
    scaleTargetRef: NotRequired[Target]
    idleReplicaCount: NotRequired[int]
    minReplicaCount: NotRequired[int]
    maxReplicaCount: NotRequired[int]
    triggers: NotRequired[list[Trigger]]


class ScaledObject(TypedDict):
    metadata: NotRequired[Owned]
    spec: NotRequired[ScaledObjectSpec]


class ScaledJobSpec(TypedDict):
    maxReplicaCount: NotRequired[int]


class ScaledJob(TypedDict):
    spec: NotRequired[ScaledJobSpec]


class PodAutoscalerSpec(TypedDict):
    scaleTargetRef: NotRequired[Target]
    minReplicas: NotRequired[int]
    maxReplicas: NotRequired[int]


class PodAutoscaler(TypedDict):
    metadata: NotRequired[Owned]
    spec: NotRequired[PodAutoscalerSpec]


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

    def children_of(self, parent: paths.Object) -> Iterator[tuple[str, str, str]]:
        """The group, kind and name of each object whose replicas a parent sets."""
        metadata = paths.metadata(parent)
        name = paths.text(metadata.get("name"))
        named = paths.mapping(paths.mapping(parent.get("spec")).get(self.reference))
        if named:
            group = paths.text(named.get("apiVersion")).rpartition("/")[0]
            yield group, paths.text(named.get("kind")), paths.text(named.get("name"))
        if name and paths.mapping(metadata.get("annotations")).get(self.external) != "external":
            yield from ((group, kind, pattern.format(name)) for group, kind, pattern in self.children)


PARENTS: Final = (
    Parent(
        group="argoproj.io",
        kind="Rollout",
        children=(),
        remedy="target the Rollout",
        source="docs/migrating.md of argoproj/argo-rollouts, on workloadRef",
        reference="workloadRef",
    ),
    Parent(
        group="serving.kserve.io",
        kind="LLMInferenceService",
        children=(
            ("apps", "Deployment", "{}-kserve"),
            ("apps", "Deployment", "{}-kserve-prefill"),
            ("leaderworkerset.x-k8s.io", "LeaderWorkerSet", "{}-kserve-mn"),
            ("leaderworkerset.x-k8s.io", "LeaderWorkerSet", "{}-kserve-mn-prefill"),
        ),
        remedy="use spec.scaling of the LLMInferenceService",
        source="pkg/controller/v1alpha2/llmisvc/workload_single_node.go of KServe; kserve/kserve#5527",
    ),
    Parent(
        group="serving.kserve.io",
        kind="InferenceService",
        children=(
            ("apps", "Deployment", "{}-predictor"),
            ("apps", "Deployment", "{}-transformer"),
            ("apps", "Deployment", "{}-explainer"),
        ),
        remedy="use minReplicas, maxReplicas and scaleMetric of the InferenceService, or set its annotation "
        "serving.kserve.io/autoscalerClass: external",
        source="pkg/constants/constants.go of KServe; kserve/kserve#4679",
        external="serving.kserve.io/autoscalerClass",
    ),
    Parent(
        group="inference.llmkube.dev",
        kind="InferenceService",
        children=(("apps", "Deployment", "{}"),),
        remedy="use spec.autoscaling of the InferenceService",
        source="internal/controller/inferenceservice_controller.go of LLMKube; defilantech/LLMKube#1881",
    ),
    Parent(
        group="production-stack.vllm.ai",
        kind="VLLMRuntime",
        children=(("apps", "Deployment", "{}"),),
        remedy="use spec.autoscalingConfig of the VLLMRuntime",
        source="operator/internal/controller/vllmruntime_controller.go of vllm-project/production-stack",
    ),
    Parent(
        group="apps.nvidia.com",
        kind="NIMService",
        children=(("apps", "Deployment", "{}"),),
        remedy="use spec.scale of the NIMService",
        source="internal/controller/platform/standalone/nimservice.go of NVIDIA/k8s-nim-operator",
    ),
    Parent(
        group="leaderworkerset.x-k8s.io",
        kind="LeaderWorkerSet",
        children=(("apps", "StatefulSet", "{}"),),
        remedy="target the LeaderWorkerSet",
        source="pkg/controllers/leaderworkerset_controller.go of LWS",
    ),
)


PAUSED = "autoscaling.keda.sh/paused"
PAUSED_REPLICAS = "autoscaling.keda.sh/paused-replicas"

_ANNOTATIONS = "/metadata/annotations"

# strconv.ParseBool takes these for false; KEDA takes all that it cannot parse for true.
_FALSE = frozenset({"0", "f", "F", "false", "FALSE", "False"})
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,10}", re.ASCII)

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


AUTOSCALERS = [
    Kind(
        **api("autoscaling", "HorizontalPodAutoscaler", "horizontalpodautoscalers", "v1", "v2", "v2beta1", "v2beta2"),
        key="horizontalPodAutoscaler",
        shape=HorizontalPodAutoscaler,
        autoscaler=_horizontal_pod_autoscaler,
    ),
    Kind(
        **api("keda.sh", "ScaledObject", "scaledobjects", "v1alpha1"),
        key="scaledObject",
        shape=ScaledObject,
        autoscaler=_scaled_object,
    ),
    Kind(
        **api("autoscaling.aibrix.ai", "PodAutoscaler", "podautoscalers", "v1alpha1"),
        key="podAutoscaler",
        shape=PodAutoscaler,
        autoscaler=_pod_autoscaler,
    ),
    Kind(**api("autoscaling", "Scale", "", "v1"), autoscaler=_scale),
]

_GROUP: Final = "autoscaling.keda.sh"
"""Annotations of KEDA begin with it, so people take it for the group of its API."""


class Misspelt(TypedDict):
    """An object of an API that does not exist."""

    apiVersion: NotRequired[str]


MISSPELT_KINDS = [
    Kind(
        **api(_GROUP, "ScaledObject", "", "v1alpha1", "v1"),
        key="misspeltScaledObject",
        shape=Misspelt,
    ),
    Kind(
        **api(_GROUP, "ScaledJob", "", "v1alpha1", "v1"),
        key="misspeltScaledJob",
        shape=Misspelt,
    ),
    Kind(
        **api(_GROUP, "TriggerAuthentication", "", "v1alpha1", "v1"),
        key="misspeltTriggerAuthentication",
        shape=Misspelt,
    ),
]


class ProvisionedPodSet(TypedDict):
    count: NotRequired[int]


class ProvisioningRequestSpec(TypedDict):
    podSets: NotRequired[list[ProvisionedPodSet]]


class ProvisioningRequest(TypedDict):
    spec: NotRequired[ProvisioningRequestSpec]


PROVISIONING_REQUESTS = [
    Kind(
        **api("autoscaling.x-k8s.io", "ProvisioningRequest", "provisioningrequests", "v1", "v1beta1"),
        key="provisioningRequest",
        shape=ProvisioningRequest,
    ),
]

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


SCALED_JOBS: list[Kind] = [
    Kind(
        **api("keda.sh", "ScaledJob", "scaledjobs", "v1alpha1"),
        key="scaledJob",
        shape=ScaledJob,
        pods=Pods(
            templates=_scaled_job,
            template_paths=("spec.jobTargetRef.template",),
            counted="as a Job, times `minReplicaCount` to `maxReplicaCount` (100 more if missing) Jobs; no bound where "
            "the `scalingStrategy` is custom and takes off less than the running Jobs",
            source="apis/keda/v1alpha1/scaledjob_types.go of kedacore/keda",
            **scheduled(KueueUnit.POD, Starts.TOGETHER, shrinks=True, minimum_from=""),
            role=model.Role.BATCH,
            runs_any_program=True,
            suspend_path="/spec/jobTargetRef/suspend",
            kueue=Kueue.CHILDREN,
            # KEDA copies the labels of the ScaledJob to its Jobs.
            queue_label_path="/metadata",
            lifecycle_places=model.LifecyclePlaces(deadline="/spec/jobTargetRef/activeDeadlineSeconds"),
            volcano="annotation `scheduling.volcano.sh/group-min-member`, which its Jobs get from it",
        ),
    ),
]

KINDS = (*SCALED_JOBS, *AUTOSCALERS, *PROVISIONING_REQUESTS, *MISSPELT_KINDS)
