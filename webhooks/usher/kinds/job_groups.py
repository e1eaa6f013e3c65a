"""Jobs and groups of pods that start together: LeaderWorkerSet, DisaggregatedSet, Volcano, MPIJob, NodeSets of Slurm.

A DisaggregatedSet is made of several LeaderWorkerSets. A NodeSet (slinky.slurm.net) is the worker nodes of a Slurm
cluster that runs in Kubernetes. Sources for it, at v1beta1 of SlinkyProject/slurm-operator:
internal/builder/workerbuilder/worker_app.go for the pods, internal/controller/nodeset/nodeset_sync.go for their number.

Of Kubeflow, MPIJob (v2beta1) and Notebook are here; kubeflow_trainer.py has Trainer v2. HyperPodPyTorchJob
(sagemaker.amazonaws.com) is like a PyTorchJob. Its operator is closed, and its CRD is not published. Source: the models
that the CLI of AWS makes of it, hyperpod_pytorch_job_unified_config.py in src/sagemaker/hyperpod/training/config of
aws/sagemaker-hyperpod-cli at 011ca92.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec.structs import replace
from pydantic import BeforeValidator

from usher import memo, model, paths
from usher.kinds.kind import Code
from usher.kinds.reading import counts as reading_counts
from usher.kinds.reading import values
from usher.kinds.reading.counts import Growth, share_of_replicas
from usher.kinds.reading.pod_templates import listed_containers, pod_template, template_times
from usher.kinds.reading.templates import LISTS, ONE, ContainerPlace, Place, Template, Traits
from usher.kinds.reading.values import Reading, Reference

Object = Mapping[str, paths.Json]

SET_LABEL: Final = "disaggregatedset.x-k8s.io/name"
ROLE_LABEL: Final = "disaggregatedset.x-k8s.io/role"
_LABELS: Final = "/metadata/labels"

# LW:pkg/utils/pod/pod_utils.go; TPU variables only in pods that ask for TPUs: LW:pkg/utils/accelerators/tpu.go.
_TRAITS: Final = Traits(operator_environment=frozenset({"LWS_*", "TPU_*"}))


def _one_group(spec: Object, path: str, reading: Reading) -> Iterator[Template]:
    """The templates of one group of a LeaderWorkerSetSpec: a leader and `size` - 1 workers.

    If the leader has no template, the controller makes it from that of the workers: one template serves all
    (LW:pkg/controllers/leaderworkerset_controller.go, constructLeaderStatefulSetApplyConfiguration).
    """
    path += "/leaderWorkerTemplate"
    template = reading.mapping(spec.get("leaderWorkerTemplate"), path)
    workers = max(reading.count(template.get("size"), path + "/size", default=1), 1)
    if template.get("leaderTemplate") is not None:
        place = Place(template["leaderTemplate"], path + "/leaderTemplate")
        yield pod_template(place, reading, name="leader", count=ONE, traits=_TRAITS)
        workers -= 1
    count = model.Count(minimum=workers, maximum=workers)
    place = Place(template.get("workerTemplate"), path + "/workerTemplate")
    yield pod_template(place, reading, name="worker", count=count, traits=_TRAITS)


def _replicas(spec: Object, path: str, reading: Reading) -> int:
    return reading.count(spec.get("replicas"), path + "/replicas", default=1)


def _rolling(spec: Object, path: str, reading: Reading) -> tuple[Object | None, str]:
    """The settings of a rolling update, or None, and their path."""
    path += "/rolloutStrategy"
    strategy = reading.mapping(spec.get("rolloutStrategy"), path)
    path += "/rollingUpdateConfiguration"
    given = strategy.get("rollingUpdateConfiguration")
    rolling = reading.mapping(given, path)
    return (None if given is None else rolling), path


def _groups(replicas: int, surge: int) -> model.Count:
    noun = "group" if surge == 1 else "groups"
    reason = f"{surge} more {noun} during a rollout" if surge else ""
    return model.Count(minimum=replicas, maximum=replicas + surge, reason=reason)


def _leader_worker_set(leader_worker_set: Object, reading: Reading) -> Iterator[Template]:
    """The templates of a LeaderWorkerSet. A rollout makes up to `maxSurge` more groups, at most one for each group.

    LW:pkg/controllers/leaderworkerset_controller.go, rollingUpdateParameters.
    """
    spec = reading.mapping(leader_worker_set.get("spec"), "/spec")
    replicas = _replicas(spec, "/spec", reading)
    rolling, path = _rolling(spec, "/spec", reading)
    surge = share_of_replicas(replicas, (rolling or {}).get("maxSurge"), path + "/maxSurge", reading, default=0)
    groups = _groups(replicas, min(surge, replicas))
    for template in _one_group(spec, "/spec", reading):
        found = template_times(template, groups) if template.count.maximum else template
        yield replace(found, groups=replicas)


def _disaggregated_set(disaggregated_set: Object, reading: Reading) -> Iterator[Template]:
    """The templates of a DisaggregatedSet: every slice has the groups of all roles.

    Sources: LW:pkg/controllers/disaggregatedset/executor.go and planner.go.
    """
    spec = reading.mapping(disaggregated_set.get("spec"), "/spec")
    slices = reading.count(spec.get("slices"), "/spec/slices", default=1)
    for path, role in reading.items(spec.get("roles"), "/spec/roles"):
        name = reading.text(role.get("name"), path + "/name")
        template = reading.mapping(role.get("spec"), path + "/spec")
        groups = _groups_of_role(role, template, path, reading)
        for each in _one_group(template, path + "/spec", reading):
            named = replace(each, name=f"{name}-{each.name}" if name else each.name)
            if named.count.maximum:
                named = template_times(template_times(named, groups), model.Count(minimum=slices, maximum=slices))
            yield named


def _groups_of_role(role: Object, spec: Object, path: str, reading: Reading) -> model.Count:
    """How many groups a role has; where an autoscaler sets the number, the role's own number does not count.

    Without any settings a rollout makes one more group. With settings the defaults of the CRD apply: the rollout may
    run one group less, and makes no extra group.
    """
    scaling = reading.mapping(role.get("scaling"), path + "/scaling")
    external = reading.text(scaling.get("mode"), path + "/scaling/mode") == "External"
    replicas = _replicas(spec, path + "/spec", reading)
    rolling, rolling_path = _rolling(spec, path + "/spec", reading)
    surge = 1
    if rolling is not None:
        surge = share_of_replicas(replicas, rolling.get("maxSurge"), rolling_path + "/maxSurge", reading, default=0)
        unavailable = rolling.get("maxUnavailable")
        path_of_unavailable = rolling_path + "/maxUnavailable"
        if not share_of_replicas(replicas, unavailable, path_of_unavailable, reading, default=1, rounded_up=False):
            surge = max(surge, 1)
    if external:
        return model.Count(minimum=0, maximum=None, reason="an autoscaler sets the replicas of the role")
    return _groups(replicas, surge if replicas else 0)


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

_LAUNCHERS: Final = re.compile(r"\b(?:torchrun|torch\.distributed|accelerate\s+launch)\b")
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


STOPPED: Final = "kubeflow-resource-stopped"
"""The annotation of a stopped Notebook. The culler and the user interface set it; its value does not matter."""

_NOTEBOOK_TRAITS: Final = Traits(operator_environment=frozenset({"NB_PREFIX"}))
_STOPPED: Final = model.Count(minimum=0, maximum=1, reason="it is stopped, and may be started again")


def _notebook(notebook: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    """One pod, which gets the labels and annotations of the Notebook itself: its template has no metadata.

    components/notebook-controller/controllers/notebook_controller.go of kubeflow/kubeflow, generateStatefulSet.
    """
    spec = reading.mapping(notebook.get("spec"), "/spec")
    template = reading.mapping(spec.get("template"), "/spec/template")
    metadata = reading.mapping(notebook.get("metadata"), "/metadata")
    annotations = reading.strings(metadata.get("annotations"), "/metadata/annotations")
    yield Template(
        name="",
        path="/spec/template",
        spec=Place(template.get("spec"), "/spec/template/spec"),
        metadata=Place(metadata, "/metadata"),
        count=_STOPPED if STOPPED in annotations else ONE,
        traits=_NOTEBOOK_TRAITS,
    )


_MANY = 10**9
"""More processes than any node runs; Python would refuse to write out a number of thousands of digits."""


def _text(value: object) -> object:
    return str(value) if type(value) is int and abs(value) < _MANY else value


# Container names: TR19:pkg/apis/kubeflow.org/v1/*_types.go. Variables: TR19:pkg/controller.v1/*/envvar.go, *.go.
_MPI: Final = Traits(operator_environment=frozenset({"OMPI_MCA_*", "I_MPI_*", "HYDRA_*"}))
_MPI_WORKER: Final = _MPI._replace(ranks_inherit_environment=False)
_MPI_V1: Final = _MPI._replace(trains="mpi")


def _replicas_of_mpi(replica: Mapping[str, paths.Json], path: str, reading: Reading) -> model.Count:
    count = reading.count(replica.get("replicas"), path + "/replicas", default=1)
    return model.Count(minimum=count, maximum=count)


def _mpi_job(job: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    """The templates of an MPIJob. v2beta1 starts its ranks through sshd, which does not pass on the environment.

    Version v1 starts them with `kubectl exec`, which passes it on (MO:pkg/controller/, TR19:pkg/controller.v1/mpi).
    The launcher may be made when the workers are ready (MO:pkg/controller/mpi_job_controller.go syncHandler).
    """
    spec = reading.mapping(job.get("spec"), "/spec")
    created = reading.text(spec.get("launcherCreationPolicy"), "/spec/launcherCreationPolicy")
    through_ssh = job.get("apiVersion") != "kubeflow.org/v1"
    for path, name, replica in reading.entries(spec.get("mpiReplicaSpecs"), "/spec/mpiReplicaSpecs"):
        found = pod_template(
            Place(replica.get("template"), path + "/template"),
            reading,
            name=name,
            count=_replicas_of_mpi(replica, path, reading),
            traits=_MPI_V1 if not through_ssh else _MPI if name == "Launcher" else _MPI_WORKER,
        )
        yield replace(found, later=name == "Launcher" and created == "WaitForWorkersReady")


def _hyper_pod_job(job: Object, reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(job.get("spec"), "/spec")
    elastic = reading.mapping(spec.get("elasticPolicy"), "/spec/elasticPolicy")
    for path, replica in reading.items(spec.get("replicaSpecs"), "/spec/replicaSpecs"):
        yield pod_template(
            Place(replica.get("template"), path + "/template"),
            reading,
            name=reading.text(replica.get("name"), path + "/name"),
            count=_count_of_hyper_pod(replica, path, elastic, reading),
        )


def _count_of_hyper_pod(replica: Object, path: str, elastic: Object, reading: Reading) -> model.Count:
    """How many pods a replica group runs: elastic training runs between two bounds, and spares replace broken pods."""
    replicas = reading.count(replica.get("replicas"), path + "/replicas", default=0)
    spares = reading.count(replica.get("spares"), path + "/spares", default=0)
    lowest = reading.count(elastic.get("minReplicas"), "/spec/elasticPolicy/minReplicas", default=replicas)
    most = reading.count(elastic.get("maxReplicas"), "/spec/elasticPolicy/maxReplicas", default=replicas)
    most = reading.count(replica.get("maxReplicas"), path + "/maxReplicas", default=most)
    most = max(most, *_numbers(elastic, reading))
    lowest, most = min(lowest, replicas), max(most, replicas)
    reasons = ["elastic training"] if lowest != most else []
    reasons += [f"{spares} spares"] if spares else []
    return model.Count(minimum=lowest, maximum=most + spares, reason=", ".join(reasons))


def _numbers(elastic: Object, reading: Reading) -> Iterator[int]:
    """All numbers of replicas that elastic training may choose between, instead of steps; 0 is among them."""
    yield 0
    path = "/spec/elasticPolicy/replicaDiscreteValues"
    for index, number in enumerate(reading.sequence(elastic.get("replicaDiscreteValues"), path)):
        if number is None:
            reading.unknown(f"{path}/{index}", "expected a whole number, found null")
        yield reading.count(number, f"{path}/{index}", default=0)


CODE: Final[Mapping[str, Code]] = {
    "MPIJob.kubeflow.org": {"templates": _mpi_job},
    "Notebook.kubeflow.org": {"templates": _notebook},
    "HyperPodPyTorchJob.sagemaker.amazonaws.com": {"templates": _hyper_pod_job},
    "Job.batch.volcano.sh": {"templates": _job},
    "CronJob.batch.volcano.sh": {"templates": _cron_job},
    "JobTemplate.flow.volcano.sh": {"templates": _job},
    "JobFlow.flow.volcano.sh": {"templates": _job_flow},
    "LeaderWorkerSet.leaderworkerset.x-k8s.io": {"templates": _leader_worker_set},
    "DisaggregatedSet.disaggregatedset.x-k8s.io": {"templates": _disaggregated_set},
    "DisaggregatedSetRoleScaler.disaggregatedset.x-k8s.io": {"autoscaler": _role_scaler},
    "NodeSet.slinky.slurm.net": {"templates": _node_set},
}


SHAPE_PARTS: Final[Mapping[str, Any]] = {
    "text": BeforeValidator(_text),
    "gres": BeforeValidator(_gres),
}
