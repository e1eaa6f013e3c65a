"""trainer.kubeflow.org: TrainJob, which has no pod template, and the two kinds of runtime, which have them for it.

Sources: TR:pkg/runtime/core/trainingruntime.go and TR:pkg/runtime/framework/plugins/, of version 2.3.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Final

from usher import model, paths
from usher.kinds.kept_fields import spec_without_secrets
from usher.kinds.kind import Facts, Kind, Kueue, KueueUnit, Pods, Starts
from usher.kinds.kubeflow import runtime_patches, shapes
from usher.kinds.kubeflow.runtimes import LIFECYCLE, NODE, TRAINER, VARIABLES_OF_ALL, Job, Policy, jobs_of, policy_of
from usher.reading.lookup import Reference
from usher.reading.pod_templates import listed
from usher.reading.templates import LISTS, ContainerPlace, Place, Template, Traits
from usher.reading.values import Reading

GROUP: Final = "trainer.kubeflow.org"

MAX_JOBS: Final = 100
"""Jobs in the runtime of a TrainJob; each may take values from the TrainJob."""

MAX_TRAINING_JOBS: Final = 4
"""Training jobs among them; MPI needs two, and more are a mistake."""

_VARIABLES: Final = "/spec/trainer/env"
_RESOURCES: Final = "/spec/trainer/resourcesPerNode"
"""Resources of the container that trains; each key replaces that of the runtime."""

_RUNTIMES: Final = {"ClusterTrainingRuntime": True, "TrainingRuntime": False}
"""Whether a kind of runtime is cluster-scoped."""

Object = Mapping[str, paths.Json]


def _runtime(runtime: Object, reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(runtime.get("spec"), "/spec")
    for job in jobs_of(spec, "/spec", policy_of(spec, "/spec", reading), reading):
        yield job.counting(job.pods)


def _train_job(train_job: Object, reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(train_job.get("spec"), "/spec")
    trainer = reading.mapping(spec.get("trainer"), "/spec/trainer")
    patches = runtime_patches.of_train_job(spec, reading)
    nodes = None
    if trainer.get("numNodes") is not None:
        nodes = reading.count(trainer.get("numNodes"), "/spec/trainer/numNodes", default=1)
    runtime = _referenced(spec, reading)
    if runtime is None:
        yield _trainer_alone(spec, trainer, patches.get(NODE, []), nodes=nodes, reading=reading)
        return
    path = "/spec/runtimeRef/name/spec"
    runtime_spec = reading.mapping(runtime.get("spec"), path)
    policy = policy_of(runtime_spec, path, reading)
    jobs = list(islice(jobs_of(runtime_spec, path, policy, reading), MAX_JOBS + 1))
    if len(jobs) > MAX_JOBS:
        reading.unknown(
            "/spec/runtimeRef/name", f"its runtime has more than {MAX_JOBS} jobs: the others are not judged"
        )
    counted = _counted(jobs[:MAX_JOBS], nodes, policy)
    training = 0
    for job, template in zip(jobs, counted, strict=False):
        own = replace(_own(template, reading), overrides=runtime_patches.way(spec, job.name))
        template = runtime_patches.applied(own, patches.pop(job.name, []), reading)  # noqa: PLW2901 - the same template, patched
        if job.step == TRAINER or (policy.launcher_is_node and job.name == NODE):
            training += 1
            if training <= MAX_TRAINING_JOBS:
                template = _with_trainer(template, trainer, reading)  # noqa: PLW2901 - the same template
            else:
                reading.unknown("/spec/runtimeRef/name", f"more than {MAX_TRAINING_JOBS} jobs of its runtime train")
        yield template


def _counted(jobs: list[Job], nodes: int | None, policy: Policy) -> Iterator[Template]:
    """The templates of the jobs.

    The number of nodes belongs to the first job that trains, or to the node job of MPI.
    """
    is_mpi = policy.framework == "mpi"
    for job in jobs:
        if nodes is None or not (job.name == NODE if is_mpi else job.step == TRAINER):
            yield job.counting(job.pods)
        else:
            yield job.counting(max(nodes - 1, 1) if is_mpi and policy.launcher_is_node else nodes)
            nodes = None


def _referenced(spec: Object, reading: Reading) -> paths.Object | None:
    """The runtime; its parts have paths below its name in the TrainJob."""
    path = "/spec/runtimeRef"
    ref = reading.mapping(spec.get("runtimeRef"), path)
    group = reading.text(ref.get("apiGroup"), path + "/apiGroup") or GROUP
    kind = reading.text(ref.get("kind"), path + "/kind") or "ClusterTrainingRuntime"
    name = reading.text(ref.get("name"), path + "/name")
    told = [spec.get("runtimeRef") is not None and not isinstance(spec.get("runtimeRef"), dict)]
    told += [ref.get(field) is not None and not isinstance(ref[field], str) for field in ("apiGroup", "kind", "name")]
    if any(told):
        return None
    if not name:
        if spec:
            reading.unknown(_nearest(spec, ref), "it names no runtime: its pods are not known")
        return None
    if group != GROUP or kind not in _RUNTIMES:
        reading.unknown(path, f"usher knows no runtimes of kind {kind} of {group}, so it does not know the pods")
        return None
    reference = Reference(
        group=GROUP, kind=kind, name=name, namespace="" if _RUNTIMES[kind] else reading.context.namespace
    )
    found = reading.look_up(reference, path + "/name", consequence="the pods that it makes are not judged")
    if found is not None:
        reading.record_reference(path + "/name", reference)
    return found


def _nearest(spec: Object, ref: Object) -> str:
    """The path of the runtime's name, or of the nearest field that exists."""
    if "name" in ref:
        return "/spec/runtimeRef/name"
    return "/spec/runtimeRef" if "runtimeRef" in spec else "/spec"


def _own(template: Template, reading: Reading) -> Template:
    """A template of the runtime as one of the TrainJob. usher cannot change it: an edit would not reach a pod."""
    spec = reading.mapping(*template.spec)
    lists = {name: Place(spec.get(name), f"{template.spec.path}/{name}") for name, _ in LISTS}
    return replace(
        template,
        containers=tuple(listed(lists, reading)),
        traits=template.traits._replace(changeable=False),
    )


def _with_trainer(template: Template, trainer: Object, reading: Reading) -> Template:
    """The template with the variables of the TrainJob in the container `node`, and its resources one by one."""
    containers = list(template.containers or ())
    for index, container in enumerate(containers):
        if container.type is model.ContainerType.APP and container.value.get("name") == NODE:
            container = runtime_patches.with_variables(container, [Place(trainer.get("env"), _VARIABLES)])  # noqa: PLW2901 - the same container, with more in it
            container = container._replace(environment_path=_VARIABLES)  # noqa: PLW2901 - the same container
            containers[index] = _with_resources(container, trainer, reading)
            break
    return replace(template, containers=tuple(containers))


def _with_resources(
    container: ContainerPlace, trainer: Object, reading: Reading, *, known: bool = True
) -> ContainerPlace:
    """The container with the resources of the TrainJob over those of its runtime, if the runtime is known."""
    path = _RESOURCES
    own = reading.mapping(trainer.get("resourcesPerNode"), path)
    before = container.value.get("resources")
    before = before if isinstance(before, dict) else {}
    claims = list(reading.items(own.get("claims"), path + "/claims"))
    for claim_path, claim in claims:
        reading.text(claim.get("name"), claim_path + "/name")
    value = dict(container.value)
    if claims:
        theirs = before.get("claims")
        added: list[paths.Json] = [dict(claim) for _, claim in claims if isinstance(claim.get("name"), str)]
        value["resources"] = {**before, "claims": [*(theirs if isinstance(theirs, list) else ()), *added]}
    places = {}
    for field in ("requests", "limits"):
        if own.get(field) is not None:
            base, changes = before.get(field), own[field]
            if isinstance(base, dict) and isinstance(changes, dict):
                changes = {**base, **changes}
            places[field] = Place(changes, f"{path}/{field}")
    # Trainer adds the claims of the block to those of the runtime, so a block cannot repeat them.
    repeatable = known and not trainer.get("resourcesPerNode") and not before.get("claims")
    return container._replace(
        value=value,
        requests=places.get("requests"),
        limits=places.get("limits"),
        resources_path=path,
        inherited_resources=before if repeatable else None,
    )


def _trainer_alone(
    spec: Object,
    trainer: Object,
    patches: list[runtime_patches.Patch],
    *,
    nodes: int | None,
    reading: Reading,
) -> Template:
    """The template for the pods of a TrainJob with an unknown runtime: its nodes, and possibly more pods."""
    has_trainer = isinstance(spec.get("trainer"), dict)
    path = "/spec/trainer" if has_trainer else "/spec/runtimeRef"
    containers: tuple[ContainerPlace, ...] = ()
    if has_trainer:
        alone = ContainerPlace(
            value={"env": trainer.get("env")},
            path=path,
            name=NODE,
            environment_path=_VARIABLES,
            reserved_environment=VARIABLES_OF_ALL,
        )
        containers = (_with_resources(alone, trainer, reading, known=False),)
    template = Template(
        name=NODE,
        path=path,
        spec=Place(None, "/spec/runtimeRef"),
        metadata=Place(None, "/spec/runtimeRef/metadata"),
        count=model.Count(
            minimum=1 if nodes is None else nodes,
            maximum=None,
            reason="the runtime is not known, which may make more pods",
        ),
        traits=Traits(trains=NODE, changeable=False, whole=False),
        containers=containers,
    )
    return runtime_patches.applied(template, patches, reading)


def _runtime_kind(kind: str, plural: str, *, key: str, cluster_scoped: bool) -> Kind:
    return Kind(
        group=GROUP,
        kind=kind,
        versions=("v1alpha1",),
        plural=plural,
        cluster_scoped=cluster_scoped,
        key=key,
        shape=shapes.Runtime,
        facts=Facts(keep=spec_without_secrets),
        pods=Pods(
            templates=_runtime,
            template_paths=("spec.template.spec.replicatedJobs[].template.spec.template",),
            counted="of one TrainJob that changes nothing: `mlPolicy.numNodes` (1 if missing) for the step `trainer`, "
            "`parallelism` (1 if missing) for every other job",
            source="TR:pkg/runtime/core/trainingruntime.go",
            role=model.Role.TRAINING,
            is_template=True,
            volcano="`spec.podGroupPolicy.volcano`, with `schedulerName: volcano` in its templates",
            needs_gang=True,
            kueue_unit=KueueUnit.POD,
            starts=Starts.TOGETHER,
            shrinks=True,
            minimum_from="",
        ),
    )


KINDS: list[Kind] = [
    Kind(
        group=GROUP,
        kind="TrainJob",
        versions=("v1alpha1",),
        plural="trainjobs",
        key="trainJob",
        shape=shapes.TrainJob,
        pods=Pods(
            templates=_train_job,
            template_paths=("those of the runtime that `spec.runtimeRef` names", "spec.trainer"),
            counted="as its runtime, with `trainer.numNodes` for the nodes; "
            "without bound, and no fewer than these, where the runtime is not known",
            source="TR:pkg/runtime/core/trainingruntime.go, TR:pkg/runtime/framework/plugins/",
            kueue_unit=KueueUnit.WHOLE,
            starts=Starts.MAY_WAIT,
            shrinks=True,
            minimum_from="",
            role=model.Role.TRAINING,
            suspend_path="/spec/suspend",
            kueue=Kueue.DEFAULT,
            queue_label_path="/metadata",
            volcano="`spec.podGroupPolicy.volcano` of its runtime, whose templates name `schedulerName: volcano`",
            # Only a runtime can name the priority class and the scheduler of a TrainJob.
            gang_places=model.GangPlaces(queue="/metadata/annotations/scheduling.volcano.sh~1queue-name"),
            lifecycle_places=LIFECYCLE,
            needs_gang=True,
            changes="labels of the object, variables and resources of `spec.trainer`, and where the runtime is known "
            "tolerations, node affinity and annotations of its pods, in a patch of `spec.runtimePatches`",
        ),
    ),
    _runtime_kind(
        "ClusterTrainingRuntime", "clustertrainingruntimes", key="clusterTrainingRuntime", cluster_scoped=True
    ),
    _runtime_kind("TrainingRuntime", "trainingruntimes", key="trainingRuntime", cluster_scoped=False),
]
