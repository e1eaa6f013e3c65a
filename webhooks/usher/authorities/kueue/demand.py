"""The amounts by resource that Kueue counts when it admits a workload, with what the cluster adds to its pods.

Kueue counts the pods that the object asks for, and not the largest number to which it may grow. By kind, this is the
part of `PodSet.count` that counts:

- Job, JobSet, TrainJob, MPIJob, jobs of Kubeflow, AppWrapper, StatefulSet, SparkApplication: the minimum, which is the
  number that the object asks for. With `kueue.x-k8s.io/job-min-parallelism` a Job needs fewer pods. Where an operator
  scales below the replicas (elasticPolicy with metrics), the minimum is lower than the number that Kueue counts.
- RayCluster, RayJob, RayService: one cluster with the fewest pods that KubeRay makes. With an autoscaler, Kueue may
  count more (`replicas`).
- LeaderWorkerSet: Kueue admits each group alone, so the pods of one group.
- CronJob: one run.
- Everything else: each pod alone, also the pods of a Deployment. A Pod of a pod group does not state how many other
  pods it waits for.

A pod set without pods counts as well: Kueue takes a flavor for each resource that its template names, also for an
amount of 0 (KQ:pkg/scheduler/flavorassigner/flavorassigner.go:806-817).

So an amount here never exceeds the real need, and a workload that does not fit can never fit. Containers that operators
add are left out, because they only add to the need.

KQ:pkg/workload/resources.go:57-153. A default request comes before the limit of the container. The API server uses the
reverse order: it first sets a missing request of a Pod to its limit.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from usher import model, paths, quantities
from usher.authorities import limit_range, verdict
from usher.authorities.kueue import queues
from usher.authorities.kueue.flavors import Configuration
from usher.authorities.limit_range import LimitRanges
from usher.cluster.facts.store import Store
from usher.kinds import registry
from usher.kinds.kind import KueueUnit
from usher.kinds.reading.values import Absence
from usher.workloads import pod_sets as workloads_pod_sets


class Additions(Struct, frozen=True, kw_only=True):
    """The facts about additions to the pods of one namespace. A field is None where its facts are unknown."""

    ranges: LimitRanges | None = None
    classes: Mapping[str, paths.Object] | None = None
    """The RuntimeClasses by name."""


NO_ADDITIONS_KNOWN: Final = Additions()


class EnlargedPodSet(Struct, frozen=True, kw_only=True):
    """A pod set with its additions."""

    pod_set: model.PodSet
    complete: bool
    """Whether the facts show all additions; else there may be more."""
    unknowns: tuple[str, ...] = ()
    """Additions that usher cannot read."""


def additions_of_namespace(namespace: str, facts: Store) -> Additions:
    """The additions to the pods of a namespace."""
    found = facts.objects("node.k8s.io", "RuntimeClass")
    classes = None if isinstance(found, Absence) else found
    return Additions(ranges=limit_range.ranges_of_namespace(namespace, facts), classes=classes)


def add_to_pod_set(pod_set: model.PodSet, additions: Additions) -> EnlargedPodSet:
    """The pod set as Kueue counts it. Additions that are unknown or unreadable are left out."""
    unknowns: list[str] = []
    complete = additions.ranges is not None
    found = pod_set
    if pod_set.runtime_class_name and not pod_set.overhead:
        complete = complete and additions.classes is not None
        found = _with_overhead(pod_set, additions.classes or {}, unknowns)
    if additions.ranges is not None:
        unknowns += map(str, additions.ranges.unreadable)
        found = _with_defaults(found, additions.ranges, unknowns)
    return EnlargedPodSet(pod_set=found, complete=complete, unknowns=tuple(unknowns))


def _with_overhead(pod_set: model.PodSet, classes: Mapping[str, paths.Object], unknowns: list[str]) -> model.PodSet:
    """The pod set with the overhead of its RuntimeClass; a class that does not exist adds nothing."""
    found = classes.get(pod_set.runtime_class_name)
    if found is None:
        return pod_set
    source = verdict.SourceObject(f"RuntimeClass {pod_set.runtime_class_name}", found)
    overhead = source.amounts("/overhead/podFixed")
    unknowns += map(str, source.unreadable)
    return replace(pod_set, overhead=overhead)


def _with_defaults(pod_set: model.PodSet, ranges: LimitRanges, unknowns: list[str]) -> model.PodSet:
    limits = {name: each for name, each in ranges.default_limits.items() if name not in ranges.ambiguous}
    requests = {name: each for name, each in ranges.default_requests.items() if name not in ranges.ambiguous}
    unknowns += (
        f"several LimitRanges set different defaults for {name}"
        for name in sorted(ranges.ambiguous)
        if not all(name in each.requests for each in pod_set.containers)
    )
    if not limits and not requests:
        return pod_set
    return replace(
        pod_set,
        containers=tuple(
            replace(
                container,
                requests={**limits, **container.limits, **requests, **container.requests},
                limits={**limits, **container.limits},
            )
            for container in pod_set.containers
        ),
    )


PODS: Final = "pods"
"""A resource that queues may cover; each pod counts as 1."""

MIN_PARALLELISM: Final = "kueue.x-k8s.io/job-min-parallelism"
POD_GROUP: Final = "kueue.x-k8s.io/pod-group-name"


class CountedPods(Struct, frozen=True, kw_only=True):
    """The pods of one pod set, and what each pod asks for."""

    pod_set: model.PodSet
    """As in the object."""
    pods: int
    each: Mapping[str, int]
    enlarged: model.PodSet | None = None
    """The pod set with the additions of the cluster; None if it equals `pod_set`."""

    @property
    def as_admitted(self) -> model.PodSet:
        """The pod set with the additions of the cluster."""
        return self.pod_set if self.enlarged is None else self.enlarged

    def total(self, resource: str) -> int:
        """The amount of a resource that all pods ask for together."""
        return self.pods if resource == PODS else self.each.get(resource, 0) * self.pods

    def names(self, resource: str) -> bool:
        """Whether the pods name a resource, even with an amount of 0; each pod counts as one of PODS."""
        return resource == PODS or resource in self.each


class Demand(Struct, frozen=True, kw_only=True):
    """Pods that Kueue admits together."""

    asked: tuple[CountedPods, ...]
    exact: bool
    """Whether Kueue counts exactly this; else it may count more."""
    pod_sets: int = 0
    """The pod sets of the Workload that Kueue makes; 0 where usher does not know whether it has others."""
    complete: bool = True
    """Whether the facts show all additions of the cluster."""
    unknowns: tuple[str, ...] = ()
    """Requests that usher cannot count."""


def demands(
    workload: model.Workload, configuration: Configuration, additions: Additions = NO_ADDITIONS_KNOWN
) -> tuple[Demand, ...]:
    """The demands that Kueue makes of an object; equal demands once."""
    if _admitted_unit(workload) is not KueueUnit.POD:
        counted = [
            (pod_set, _pod_count(workload, pod_set)) for pod_set in workload.pod_sets if _counts(workload, pod_set)
        ]
        found = _demand(counted, workload, configuration, additions)
        return (replace(found, pod_sets=len(counted)) if _keeps_empty(workload) else found,)
    alone = [pod_set for pod_set in workload.pod_sets if pod_set.count.maximum != 0]
    return tuple(_demand([(pod_set, 1)], workload, configuration, additions) for pod_set in alone)


def _keeps_empty(workload: model.Workload) -> bool:
    """Whether Kueue counts pod sets without pods too: KQ:pkg/controller/jobs/job/job_controller.go:355,
    jobset/jobset_controller.go:114, raycluster/common.go:76, mpijob/mpijob_controller.go:118,
    kubeflow/kubeflowjob/kubeflowjob_controller.go:118, leaderworkerset/leaderworkerset_reconciler.go:402.
    """
    kind = registry.PODS.get((workload.group, workload.kind))
    return kind is not None and kind.kueue_keeps_empty


def _counts(workload: model.Workload, pod_set: model.PodSet) -> bool:
    """Whether the Workload that Kueue makes has the pod set."""
    return pod_set.count.maximum != 0 or _keeps_empty(workload)


def admitted_part(workload: model.Workload) -> str:
    """The part of an object that Kueue admits alone: `pod`, `group`, `run`; empty where it admits the whole object."""
    unit = _admitted_unit(workload)
    return "" if workload.is_pod or unit is KueueUnit.WHOLE else unit.value


def _admitted_unit(workload: model.Workload) -> KueueUnit:
    pods = registry.PODS.get((workload.group, workload.kind))
    return KueueUnit.POD if pods is None else pods.kueue_unit


def demand_of_all_pods(
    workload: model.Workload, configuration: Configuration, additions: Additions = NO_ADDITIONS_KNOWN
) -> Demand:
    """All pods of an object as one demand, even if Kueue admits each pod alone."""
    pod_sets = [pod_set for pod_set in workload.pod_sets if pod_set.count.maximum != 0]
    counted = [(pod_set, pod_set.count.minimum) for pod_set in pod_sets]
    return _demand(counted, workload, configuration, additions)


def _demand(
    counted: Iterable[tuple[model.PodSet, int]],
    workload: model.Workload,
    configuration: Configuration,
    additions: Additions,
) -> Demand:
    asked: list[CountedPods] = []
    unknowns: list[str] = list(configuration.problems)
    complete = True
    exact = POD_GROUP not in workload.labels and POD_GROUP not in workload.annotations
    for pod_set, pods in counted:
        enlarged = add_to_pod_set(pod_set, additions)
        complete = complete and enlarged.complete
        unknowns += [*enlarged.unknowns, *_revived(workload, pod_set)]
        each = _transformed(_requests(enlarged.pod_set, configuration), configuration)
        for name, quantity in _claimed(pod_set, configuration, unknowns):
            each[name] = each.get(name, quantities.ZERO) + quantity
        amounts = {name: queues.amount(name, quantity) for name, quantity in each.items()}
        if pods or _keeps_empty(workload):
            asked.append(CountedPods(pod_set=pod_set, pods=pods, each=amounts, enlarged=enlarged.pod_set))
        exact = exact and pod_set.fully_known and _is_counted(workload, pod_set)
    return Demand(asked=tuple(asked), exact=exact, complete=complete, unknowns=tuple(dict.fromkeys(unknowns)))


def _revived(workload: model.Workload, pod_set: model.PodSet) -> Iterator[str]:
    """A replicated job of a JobSet without pods: where its `replicas` are 0, it gets 1 when Kueue starts the JobSet.

    Kueue then writes the whole list of replicated jobs from a type that leaves out 0 (KQ:pkg/controller/jobframework/
    reconciler.go:1513), and the API server sets missing replicas to 1 (JS:api/jobset/v1alpha2/jobset_types.go:334).
    """
    if workload.kind == "JobSet" and pod_set.count.maximum == 0:
        yield (
            f"replicated job {pod_set.name} has no pods, but if its replicas are 0, "
            "it gets 1 replica when Kueue starts the JobSet; leave the replicated job out"
        )


def named_resources(pod_set: model.PodSet) -> frozenset[str]:
    """The resources that a pod itself names, without the transformations of Kueue's configuration."""
    of_containers = (resources for each in pod_set.containers for resources in (each.requests, each.limits))
    return frozenset().union(*of_containers, pod_set.overhead, pod_set.pod_requests, pod_set.pod_limits)


def _pod_count(workload: model.Workload, pod_set: model.PodSet) -> int:
    count = pod_set.count
    match _admitted_unit(workload):
        case KueueUnit.RUN:
            return 1 if count.maximum is None else count.maximum
        case KueueUnit.GROUP:
            groups = workload.pods.minimum // (workload.gang.minimum or 1)
            return count.minimum // groups if groups else 0
        case _:
            return min(count.minimum, _least_pods(workload, count.minimum)) if workload.kind == "Job" else count.minimum


def _is_counted(workload: model.Workload, pod_set: model.PodSet) -> bool:
    """Whether Kueue counts exactly the pods of the pod set; else it may count more."""
    unit = _admitted_unit(workload)
    if unit in (KueueUnit.POD, KueueUnit.GROUP):
        return True
    if unit is KueueUnit.RUN:
        return pod_set.count.maximum is not None
    return pod_set.count.minimum == pod_set.count.maximum


def _least_pods(workload: model.Workload, parallelism: int) -> int:
    """How many pods a Job needs. Like Kueue, usher ignores an annotation that is not a number."""
    text = workload.annotations.get(MIN_PARALLELISM, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 9 else parallelism


def _requests(pod_set: model.PodSet, configuration: Configuration) -> dict[str, quantities.Quantity]:
    """The requests of one pod, without the resources that Kueue excludes."""
    found = workloads_pod_sets.requests_of_pod(
        pod_set.containers,
        overhead=pod_set.overhead,
        pod_requests=pod_set.pod_requests,
        pod_limits=pod_set.pod_limits,
    )
    return {name: value for name, value in found.items() if not name.startswith(configuration.excluded_prefixes)}


def _transformed(asked: dict[str, quantities.Quantity], configuration: Configuration) -> dict[str, quantities.Quantity]:
    """Applies `resources.transformations`: each input adds its outputs, and stays unless its outputs replace it.

    The sum of all outputs of one name is never below 0, so it never reduces a request of the pod.
    """
    kept: dict[str, quantities.Quantity] = {}
    made: dict[str, int] = {}
    for name, quantity in asked.items():
        transformation = configuration.transformations.get(name)
        if transformation is None or transformation.keeps_input:
            kept[name] = quantity
        if transformation is None:
            continue
        units = quantity.nanos
        factor = asked.get(transformation.multiplied_by)
        if factor is not None:
            units = -(-units * factor.nanos // quantities.NANO)
        for output, nanos in transformation.outputs.items():
            made[output] = made.get(output, 0) - (-units * nanos // quantities.NANO)
    for name, nanos in made.items():
        kept[name] = kept.get(name, quantities.ZERO) + quantities.Quantity(max(nanos, 0))
    return kept


def _claimed(
    pod_set: model.PodSet, configuration: Configuration, unknowns: list[str]
) -> Iterator[tuple[str, quantities.Quantity]]:
    """Claimed devices, by the resource that counts them in Kueue; records claims that Kueue cannot count."""
    for request in pod_set.requests:
        if request.route is not model.Route.CLAIM:
            continue
        name = configuration.device_classes.get(request.name)
        if request.claim:
            unknowns.append(f"the pods name {request.claim} directly, and Kueue does not count it")
        elif name is None and configuration.known:
            unknowns.append(f"deviceClassMappings of Kueue's configuration counts no whole devices of {request.name}")
        elif name is None:
            unknowns.append(f"usher does not know which resource counts devices of class {request.name} in Kueue")
        else:
            yield name, request.minimum
    if pod_set.device_claims and all(request.route is not model.Route.CLAIM for request in pod_set.requests):
        unknowns.append(f"usher does not know the devices in the claims of {pod_set.name or 'the pod'}")
