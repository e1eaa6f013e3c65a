"""Jobs of Volcano, gangs in queues of YuniKorn, NodeSets of Slurm, and the scalers of the roles of a DisaggregatedSet.

A NodeSet (slinky.slurm.net) is the worker nodes of a Slurm cluster that runs in Kubernetes. Sources for it, at v1beta1
of SlinkyProject/slurm-operator: internal/builder/workerbuilder/worker_app.go for the pods, and
internal/controller/nodeset/nodeset_sync.go for their number.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec.structs import replace
from pydantic import BeforeValidator

from usher import memo, model, paths, quantities
from usher.kinds.kind import Code
from usher.kinds.reading import counts as reading_counts
from usher.kinds.reading import environment, known_keys, queues, values
from usher.kinds.reading.counts import Growth
from usher.kinds.reading.pod_templates import listed_containers, pod_template, template_times
from usher.kinds.reading.templates import LISTS, ContainerPlace, Place, Template, Traits
from usher.kinds.reading.value_forms import pod_specs, values_at
from usher.kinds.reading.values import Reading, Reference

Object = Mapping[str, paths.Json]

SET_LABEL: Final = "disaggregatedset.x-k8s.io/name"
ROLE_LABEL: Final = "disaggregatedset.x-k8s.io/role"
_LABELS: Final = "/metadata/labels"


def _role_scaler(value: paths.Object, growth: Growth, reading: Reading) -> Growth:
    """The growth of the scale object of one role.

    The controller of the DisaggregatedSet makes and labels this object.
    """
    labels = reading.strings(reading_counts.object_in(value, "metadata").get("labels"), _LABELS)
    name, role = labels.get(SET_LABEL, ""), labels.get(ROLE_LABEL, "")
    if not (name and role):
        reading.unknown(
            reading_counts.nearest_pointer(value, _LABELS), f"{SET_LABEL} and {ROLE_LABEL} must tell what it scales"
        )
        name = role = ""
    target = values.Reference(
        group=growth.source.group, kind="DisaggregatedSet", name=name, namespace=growth.source.namespace
    )
    path = reading_counts.nearest_pointer(value, paths.join(_LABELS, SET_LABEL))
    return reading_counts.growth_to_number(value, replace(growth, target=target, target_path=path, role=role), reading)


_TEMPLATE: Final = "/spec/template"
_SLURMD: Final = "slurmd"
_SLURM_TRAITS: Final = Traits(
    trains=_SLURMD, operator_environment=frozenset({"POD_CPUS", "POD_MEMORY", "SLINKY_TOPOLOGY", "SOCKET"})
)
_EVERY_NODE: Final = model.Count(minimum=0, maximum=None, reason="one pod on every node that fits")


def _node_set(node_set: Object, reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(node_set.get("spec"), "/spec")
    template = reading.mapping(spec.get("template"), _TEMPLATE)
    pod = Place(template.get("spec"), _TEMPLATE + "/spec")
    yield Template(
        name="",
        path=_TEMPLATE,
        spec=pod,
        metadata=_metadata(node_set, template, reading),
        count=_count(spec, reading),
        traits=_SLURM_TRAITS,
        containers=tuple(_containers(spec, pod, reading)),
    )


def _count(spec: Object, reading: Reading) -> model.Count:
    if reading.text(spec.get("scalingMode"), "/spec/scalingMode") == "DaemonSet":
        return _EVERY_NODE
    replicas = reading.count(spec.get("replicas"), "/spec/replicas", default=1)
    return model.Count(minimum=replicas, maximum=replicas)


def _metadata(node_set: Object, template: Object, reading: Reading) -> Place:
    """The labels and annotations of the pods: those of the template replace those of the object."""
    path = _TEMPLATE + "/metadata"
    own = reading.mapping(node_set.get("metadata"), "/metadata")
    of_pods = reading.mapping(template.get("metadata"), path)
    merged: dict[str, paths.Json] = {}
    for name in ("labels", "annotations"):
        under = reading.strings(own.get(name), f"/metadata/{name}")
        merged[name] = {**under, **reading.strings(of_pods.get(name), f"{path}/{name}")}
    return Place(merged, path)


def _containers(spec: Object, pod: Place, reading: Reading) -> Iterator[ContainerPlace]:
    """The containers: the operator puts its own two first. One without settings has no requests."""
    of_template = reading.mapping(*pod)
    lists = {name: Place(of_template.get(name), f"{pod.path}/{name}") for name, _ in LISTS}
    yield from _container_of_field(spec, "logfile", model.ContainerType.SIDECAR, reading)
    in_template = [each for each in listed_containers(lists, reading) if not _is_merged(each, reading)]
    yield from (each for each in in_template if each.type is not model.ContainerType.APP)
    yield from _container_of_field(spec, _SLURMD, model.ContainerType.APP, reading)
    yield from (each for each in in_template if each.type is model.ContainerType.APP)


def _container_of_field(
    spec: Object, name: str, kind: model.ContainerType, reading: Reading
) -> Iterator[ContainerPlace]:
    value, path = spec.get(name), f"/spec/{name}"
    if value is not None:
        yield ContainerPlace(value=reading.mapping(value, path), path=path, type=kind, name=name)


def _is_merged(container: ContainerPlace, reading: Reading) -> bool:
    """Whether the operator merges a container of the template into one of its own; usher does not merge them."""
    name = container.value.get("name")
    if name not in (_SLURMD, "logfile"):
        return False
    reading.unknown(container.path, f"the operator merges it into spec.{name}: not judged")
    return True


_GRES: Final = memo.pattern(r"(?:^|\s)Gres=[\"']?([^\s\"']{1,400})", re.IGNORECASE)
_GPUS: Final = memo.pattern(r"gpu(?::[a-z][\w.+-]{0,60})?(?::([0-9]{1,4}))?(?=\(|$)", re.IGNORECASE | re.ASCII)


def _gres(text: object) -> object:
    """The GPUs in the line of a node: entries have a name, perhaps a type, and a number, 1 if it is missing.

    Source: slurm.conf(5), Gres.
    """
    found = _GRES.findall(text) if isinstance(text, str) else []
    matches = [_GPUS.match(entry) for each in found for entry in each.split(",")]
    numbers = [int(match[1] or 1) for match in matches if match is not None]
    return {"gpus": sum(numbers)} if numbers else {}


_MPI_WORKER_OPTION: Final = "--worker="

_BY_HAND: Final = frozenset({"ssh", "svc"})
"""The plugins with which a Job runs MPI without the plugin mpi: keys for sshd, and names for the host file."""

_FRAMEWORKS: Final = frozenset({"mpi", "pytorch", "ray", "tensorflow"})

_LAUNCHERS: Final = memo.pattern(r"\b(?:torchrun|torch\.distributed|accelerate\s+launch)\b")
"""Start ranks in their own container; people often add ssh and svc to these Jobs as well."""

_LONGEST: Final = 4096


def ranks_see_environment(template: Template, plugins: Mapping[str, paths.Json], path: str, reading: Reading) -> bool:
    """Whether the ranks of a task see the variables of their container.

    Args:
        plugins: the plugins of the Job.
    """
    if "mpi" in plugins:
        options = reading.texts(plugins["mpi"], path + "/mpi")
        named = [option.removeprefix(_MPI_WORKER_OPTION) for option in options if option.startswith(_MPI_WORKER_OPTION)]
        return template.name != (named[-1] if named else "worker")
    by_hand = plugins.keys() >= _BY_HAND and plugins.keys().isdisjoint(_FRAMEWORKS)
    return not by_hand or _launches_ranks(template)


def _launches_ranks(template: Template) -> bool:
    spec = template.spec.value
    containers = spec.get("containers") if isinstance(spec, dict) else None
    for container in containers if isinstance(containers, list) else ():
        if isinstance(container, dict):
            parts = [container.get("command"), container.get("args")]
            words = [word for part in parts if isinstance(part, list) for word in part if isinstance(word, str)]
            if _LAUNCHERS.search(" ".join(words)[:_LONGEST]):
                return True
    return False


_FLOW: Final = "flow.volcano.sh"

_DEFAULT_SCHEDULER: Final = model.Scheduler(name="volcano", reason="Volcano's own default for its Jobs")

# Variables of the plugins env and svc, which other plugins bring along
# (VC:pkg/controllers/job/plugins/{env,svc}/const.go).
_VARIABLES: Final = frozenset({"VC_*", "VK_TASK_INDEX"})

# VC:pkg/controllers/job/plugins/distributed-framework/; the plugins ray, ssh and hcclrank set no variables.
_VARIABLES_OF_PLUGINS: Final[Mapping[str, frozenset[str]]] = {
    "pytorch": frozenset({"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK"}),
    "tensorflow": frozenset({"TF_CONFIG"}),
    "mpi": frozenset({"MPI_HOST"}),
}
_MOST_FLOWS: Final = 1_000
"""usher looks up and reads each one; more are a mistake."""

_ONE_RUN: Final = model.Count(minimum=0, maximum=1)
_OVERLAPPING: Final = model.Count(minimum=0, maximum=None, reason="concurrencyPolicy Allow lets runs overlap")


def _tasks(spec: Mapping[str, paths.Json], path: str, reading: Reading) -> Iterator[Template]:
    """One template for every task of a JobSpec.

    Pods take the scheduler and the priority class of the Job if their template does not name one
    (VC:pkg/controllers/job/job_controller_util.go). Volcano makes all replicas at once. `minAvailable` is only the
    number that it must place together.
    """
    named = reading.text(spec.get("schedulerName"), path + "/schedulerName")
    scheduler = model.Scheduler(name=named, reason="schedulerName of the Job") if named else _DEFAULT_SCHEDULER
    priority = Place(spec.get("priorityClassName"), path + "/priorityClassName")
    plugins = reading.mapping(spec.get("plugins"), path + "/plugins")
    variables = _VARIABLES.union(*(_VARIABLES_OF_PLUGINS.get(plugin, ()) for plugin in plugins))
    for task_path, task in reading.items(spec.get("tasks"), path + "/tasks"):
        # A plain number without a default in Volcano's API: a missing value means 0.
        replicas = reading.count(task.get("replicas"), task_path + "/replicas", default=0)
        name = reading.text(task.get("name"), task_path + "/name")
        template = pod_template(
            Place(task.get("template"), task_path + "/template"),
            reading,
            name=name,
            count=model.Count(minimum=replicas, maximum=replicas),
            traits=Traits(operator_environment=variables, scheduler=scheduler),
        )
        if not ranks_see_environment(template, plugins, path + "/plugins", reading):
            template = replace(template, traits=template.traits._replace(ranks_inherit_environment=False))
        counts = priority.value is not None and _has_no_priority(template)
        yield replace(template, fields={"priorityClassName": priority}) if counts else template


def _has_no_priority(template: Template) -> bool:
    spec = template.spec.value
    return not isinstance(spec, dict) or spec.get("priorityClassName") in (None, "")


def _job(job: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    yield from _tasks(reading.mapping(job.get("spec"), "/spec"), "/spec", reading)


def _cron_job(cron_job: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(cron_job.get("spec"), "/spec")
    job_template = reading.mapping(spec.get("jobTemplate"), "/spec/jobTemplate")
    policy = reading.text(spec.get("concurrencyPolicy"), "/spec/concurrencyPolicy")
    runs = _ONE_RUN if policy in ("Forbid", "Replace") else _OVERLAPPING
    path = "/spec/jobTemplate/spec"
    for template in _tasks(reading.mapping(job_template.get("spec"), path), path, reading):
        yield template_times(template, runs)


def _job_flow(job_flow: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    """The tasks of one Job for each flow, made from the JobTemplate of its name.

    A flow waits until its targets have completed. Of two flows of one name only the first makes a Job, and no
    controller reads `patch` (VC:pkg/controllers/jobflow/jobflow_controller_action.go).
    """
    spec = reading.mapping(job_flow.get("spec"), "/spec")
    seen: set[str] = set()
    for path, flow in reading.items(spec.get("flows"), "/spec/flows"):
        name = reading.text(flow.get("name"), path + "/name")
        depends_on = reading.mapping(flow.get("dependsOn"), path + "/dependsOn")
        waits = bool(reading.texts(depends_on.get("targets"), path + "/dependsOn/targets"))
        if name and name not in seen:
            if len(seen) == _MOST_FLOWS:
                reading.unknown("/spec/flows", f"it has more than {_MOST_FLOWS} flows: the others are not judged")
                return
            seen.add(name)
            yield from _of_job_template(name, path + "/name", waits=waits, reading=reading)


def _of_job_template(name: str, path: str, *, waits: bool, reading: Reading) -> Iterator[Template]:
    reference = Reference(group=_FLOW, kind="JobTemplate", name=name, namespace=reading.context.namespace)
    found = reading.look_up(reference, path, consequence="the pods of this flow are not judged")
    if found is None:
        return
    reading.record_reference(path, reference)
    for template in _tasks(reading.mapping(found.get("spec"), path + "/spec"), path + "/spec", reading):
        count = template.count
        if waits:
            count = replace(count, minimum=0, reason="the flow waits for others to complete")
        traits = template.traits._replace(changeable=False)
        yield replace(template, name=f"{name}/{template.name}", count=count, traits=traits)


_RECLAIMING: Final = memo.pattern(r"actions[^\n]{0,200}\breclaim\b")
_CAPACITY: Final = memo.pattern(r"name:\s*[\"']?capacity\b")


def _above_deserved(value: paths.Object, objects: values.Objects) -> Iterator[model.UnreadKey]:
    """A gang that needs more of everything than its queue deserves, so Volcano reclaims nothing for its last pods.

    Source: AddPreemptiveFn in pkg/scheduler/plugins/capacity/capacity.go of volcano-sh/volcano. Since 1.13.1 one
    resource within its bound is enough.
    """
    spec = paths.mapping(value.get("spec"))
    queue = paths.mapping(objects.known("scheduling.volcano.sh", "Queue").get(str(spec.get("queue", "default"))))
    of_queue = paths.mapping(queue.get("spec"))
    deserved = {
        name: amount
        for name, written in paths.mapping(of_queue.get("deserved")).items()
        if (amount := values.amount_in([written])) is not None
    }
    if of_queue.get("parent", "root") != "root" or not any("/" in name for name in deserved):
        return
    pods, asked = 0, defaultdict[str, int](int)
    for task in map(paths.mapping, paths.elements(spec.get("tasks"))):
        replicas = task.get("replicas", 0)
        pods += replicas if isinstance(replicas, int) else 0
        of_pod = queues.requests_of(paths.mapping(paths.mapping(task.get("template")).get("spec")))
        for name, needed in of_pod.items():
            asked[name] += needed.nanos * (replicas if isinstance(replicas, int) else 0)
    minimum = spec.get("minAvailable", pods)
    device = next((name for name in asked if "/" in name and name in deserved), "")
    is_above = all(amount > deserved.get(name, 0) for name, amount in asked.items())
    if device and is_above and minimum == pods and _reclaims(objects):
        needs, has = (quantities.Quantity(each) for each in (asked[device], deserved[device]))
        name = paths.text(paths.metadata(queue).get("name"))[:80]
        text = (
            f"starts with {quantities.named(device[:60], needs)} at once, and its Queue {name} deserves {has}: Volcano "
            "reclaims nothing above that, so the job waits until other queues leave the rest"
        )
        yield environment.misread("/spec/queue", text, "raise deserved of the Queue, or ask for less", "controller")


def _reclaims(objects: values.Objects) -> bool:
    """Whether a configuration of Volcano reclaims by the plugin capacity."""
    texts = (
        str(text)[:9000]
        for each in objects.known("", "ConfigMap").values()
        for text in paths.mapping(each.get("data")).values()
    )
    return any(_RECLAIMING.search(text) and _CAPACITY.search(text) for text in texts)


_YUNIKORN: Final = ("yunikorn-defaults", "yunikorn-configs")
"""The ConfigMaps with the queues of YuniKorn; what the second one says replaces the first."""

_LEVELS: Final = 20
_QUEUE_LABELS: Final = ("yunikorn.apache.org/queue", "queue")


def of_gangs(value: paths.Object, objects: values.Objects) -> Iterator[model.UnreadKey]:
    """Gangs that never start: above their queue of YuniKorn, or with a PodGroup that waits for more than there is."""
    yield from _above_queue(value, objects)
    if value.get("kind") == "PodGroup":
        yield from _beyond_their_pods(value, objects)


def _above_queue(value: paths.Object, objects: values.Objects) -> Iterator[model.UnreadKey]:
    """Pods, or the gangs of their task groups, that need more devices than their queue of YuniKorn ever has.

    Sources: addApplication in pkg/scheduler/partition.go and AddAllocationAsk in pkg/scheduler/objects of
    apache/yunikorn-core; GetQueueNameFromPod in pkg/common/utils of apache/yunikorn-k8shim.
    """
    limits = objects.once("queues of YuniKorn", lambda: dict(_queues_of_yunikorn(objects)))
    for spec, path, _ in pod_specs(value) if limits else ():
        if spec.get("schedulerName", "yunikorn") != "yunikorn":
            continue
        here = path.removesuffix("/spec") + "/metadata"
        labels, annotations = (known_keys.part_at(value, f"{here}/{each}") for each in ("labels", "annotations"))
        written = [
            each[key] for key in _QUEUE_LABELS for each in (labels, annotations) if isinstance(each.get(key), str)
        ]
        name = f"root.{written[0].removeprefix('root.')}" if written else ""
        gang = queues.needs_of_task_groups(annotations)
        for device, needed in (gang or queues.requests_of(spec)).items():
            most = limits.get(name, {}).get(device)
            if most is not None and needed > most:
                all_of = "all its task groups together" if gang else "a pod"
                text = (
                    f"asks for {quantities.named(device[:60], needed)} in {all_of}, and its queue {name[:80]} of "
                    f"YuniKorn has at most {quantities.text(device, most)}, so it never starts"
                )
                yield environment.misread(here, text, "raise max of the queue, or ask for less", "controller")
                break


def _queues_of_yunikorn(objects: values.Objects) -> Iterator[tuple[str, Mapping[str, quantities.Quantity]]]:
    """The most that each queue may have of each device, by its full name; only where pods choose their queue."""
    for each in _YUNIKORN:
        data = paths.mapping(objects.known("", "ConfigMap").get(each, {}).get("data"))
        read = paths.mapping(known_keys.parsed(data.get("queues.yaml")))
        for partition in map(paths.mapping, paths.elements(read.get("partitions"))):
            rules = [paths.mapping(rule).get("name") for rule in paths.elements(partition.get("placementrules"))]
            above: list[tuple[str, Mapping[str, quantities.Quantity], paths.Object]] = [("", {}, partition)]
            for _ in range(_LEVELS) if rules[:1] in ([], ["provided"]) else ():
                above = [below for one in above for below in _below(*one)]
                yield from ((name, most) for name, most, _ in above)


def _below(
    name: str, most: Mapping[str, quantities.Quantity], queue: paths.Object
) -> Iterator[tuple[str, Mapping[str, quantities.Quantity], paths.Object]]:
    for each in map(paths.mapping, paths.elements(queue.get("queues"))):
        own = paths.mapping(paths.mapping(each.get("resources")).get("max"))
        amounts = {key: values.amount_in([text]) for key, text in own.items() if "/" in key}
        known = {key: quantities.Quantity(amount) for key, amount in amounts.items() if amount is not None}
        lower = {key: min(amount, known.get(key, amount)) for key, amount in {**known, **most}.items()}
        yield f"{name}.{paths.text(each.get('name'))}".removeprefix("."), lower, each


_KAI_GROUP: Final = "pod-group-name"
_BY_HAND_GROUPS: Final = {
    "scheduling.run.ai": ("minMember", "annotation pod-group-name"),
    "scheduling.k8s.io": ("schedulingPolicy.gang.minCount", "field schedulingGroup.podGroupName"),
}
"""The minimum of a PodGroup that pods made by hand may name, and where they name it."""


def _beyond_their_pods(value: paths.Object, objects: values.Objects) -> Iterator[model.UnreadKey]:
    """PodGroups that wait for more than there is: for pods, or, of the coscheduling plugin, for room.

    Sources: isOrphanPodWithPodGroup in pkg/podgrouper of KAI-Scheduler; KEP-4671 of Kubernetes; PreFilter and
    CheckClusterResource in pkg/coscheduling/core/core.go of kubernetes-sigs/scheduler-plugins.
    """
    spec, group = known_keys.part_at(value, "/spec"), paths.text(value.get("apiVersion")).partition("/")[0]
    name = paths.text(paths.metadata(value).get("name"))
    if group in _BY_HAND_GROUPS:
        place, by = _BY_HAND_GROUPS[group]
        namespace, minimum = paths.text(paths.metadata(value).get("namespace")), values_at(spec, place)[:1]
        pods = objects.once("pods made by hand by PodGroup", lambda: Counter(_named_groups(objects)))
        number = pods[(group, namespace, name, True)]
        is_known = number > 0 and not pods[(group, namespace, name, False)] and "subGroups" not in spec
        if is_known and minimum and isinstance(minimum[0], int) and number < minimum[0]:
            text = f"waits for {minimum[0]} pods, and {number} of these files name it, so they all wait for others"
            remedy = f"set it to {number}, or add the other pods with the {by}"
            yield environment.misread(f"/spec/{place.replace('.', '/')}", text, remedy, "controller")
    elif group == "scheduling.x-k8s.io":
        nodes = [known_keys.part_at(each, "/status/allocatable") for each in objects.known("", "Node").values()]
        for resource, written in paths.mapping(spec.get("minResources")).items():
            amounts = [values.amount_in([each.get(resource, 0)]) for each in nodes]
            wanted, have = values.amount_in([written]), sum(each for each in amounts if each is not None)
            if nodes and None not in amounts and wanted is not None and wanted > have:
                room = quantities.named(resource[:60], quantities.Quantity(have), up=False)
                text = (
                    f"wants {written} {resource[:60]} in minResources for all its pods, and the known nodes have "
                    f"{room}, so the coscheduling plugin refuses each pod before it looks for nodes, unless nodes are "
                    "added"
                )
                remedy = "write the sum that the pods of the group ask for, or leave minResources out"
                yield environment.misread(paths.join("/spec/minResources", resource), text, remedy, "controller")


def _named_groups(objects: values.Objects) -> Iterator[tuple[str, str, str, bool]]:
    """The PodGroups that pods name: group, namespace, name, and whether it is a pod made by hand."""
    for namespace, value in objects.all():
        is_pod = value.get("kind") == "Pod"
        name = known_keys.part_at(value, "/metadata/annotations").get(_KAI_GROUP)
        if is_pod and isinstance(name, str):
            yield "scheduling.run.ai", namespace, name, True
        for spec, _, _ in pod_specs(value):
            name = paths.mapping(spec.get("schedulingGroup")).get("podGroupName")
            if isinstance(name, str):
                yield "scheduling.k8s.io", namespace, name, is_pod


_MANY = 10**9
"""More processes than any node runs; Python would refuse to write out a number of thousands of digits."""


def _text(value: object) -> object:
    return str(value) if type(value) is int and abs(value) < _MANY else value


CODE: Final[Mapping[str, Code]] = {
    "Job.batch.volcano.sh": {"templates": _job, "unmet": _above_deserved},
    "CronJob.batch.volcano.sh": {"templates": _cron_job},
    "JobTemplate.flow.volcano.sh": {"templates": _job},
    "JobFlow.flow.volcano.sh": {"templates": _job_flow},
    "DisaggregatedSetRoleScaler.disaggregatedset.x-k8s.io": {"autoscaler": _role_scaler},
    "NodeSet.slinky.slurm.net": {"templates": _node_set},
}


SHAPE_PARTS: Final[Mapping[str, Any]] = {
    "text": BeforeValidator(_text),
    "gres": BeforeValidator(_gres),
}
