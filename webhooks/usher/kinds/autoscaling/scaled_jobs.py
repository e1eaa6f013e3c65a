"""keda.sh: ScaledJob. A ScaledObject makes no pods, but lets others grow: see kinds/autoscaling/autoscalers.py."""

from collections.abc import Iterator, Mapping
from typing import Final

from usher import model, paths
from usher.kinds.autoscaling import autoscalers, shapes
from usher.kinds.kind import Kind, Kueue, KueueUnit, Pods, Starts
from usher.reading.counts import concurrent_pods
from usher.reading.pod_templates import pod_template
from usher.reading.templates import Place, Template
from usher.reading.values import Reading

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
    if autoscalers.is_paused(annotations):
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


KINDS: list[Kind] = [
    Kind(
        group="keda.sh",
        kind="ScaledJob",
        versions=("v1alpha1",),
        plural="scaledjobs",
        key="scaledJob",
        shape=shapes.ScaledJob,
        pods=Pods(
            templates=_scaled_job,
            template_paths=("spec.jobTargetRef.template",),
            counted="as a Job, times `minReplicaCount` to `maxReplicaCount` (100 more if missing) Jobs; no bound where "
            "the `scalingStrategy` is custom and takes off less than the running Jobs",
            source="apis/keda/v1alpha1/scaledjob_types.go of kedacore/keda",
            kueue_unit=KueueUnit.POD,
            starts=Starts.TOGETHER,
            shrinks=True,
            minimum_from="",
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
