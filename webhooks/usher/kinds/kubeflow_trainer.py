"""trainer.kubeflow.org: TrainJob, which has no pod template, and the two kinds of runtime, which have them for it.

Sources: TR:pkg/runtime/core/trainingruntime.go and TR:pkg/runtime/framework/plugins/, of version 2.3.

The field has had three names: `podSpecOverrides` (2.0), `podTemplateOverrides` (2.1) and `runtimePatches` (since 2.2).
The operator merges each of them as kubectl merges patches, one after the other:
TR:pkg/runtime/core/trainingruntime.go, mergeRuntimePatches.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from usher import model, paths
from usher.kinds.kind import Code
from usher.kinds.reading import known_keys, refused_values, value_forms
from usher.kinds.reading.pod_templates import listed_containers, not_repeated, pod_template
from usher.kinds.reading.templates import LISTS, ContainerPlace, Place, Template, Traits
from usher.kinds.reading.values import Objects, Reading, Reference

Object = Mapping[str, paths.Json]

# TR:pkg/constants/constants.go
_STEP: Final = "trainer.kubeflow.org/trainjob-ancestor-step"
TRAINER: Final = "trainer"
_INITIALISERS: Final = frozenset({"dataset-initializer", "model-initializer"})
NODE: Final = "node"
"""Name of the container that trains, and of the job of MPI's nodes."""

# docs/domain/kinds.md#variables-of-operators; JAX_*: TR:pkg/runtime/framework/plugins/jax/jax.go.
_VARIABLES_OF_FRAMEWORKS: Final[Mapping[str, frozenset[str]]] = {
    "torch": frozenset({"PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT"}),
    "jax": frozenset({"JAX_NUM_PROCESSES", "JAX_PROCESS_ID", "JAX_COORDINATOR_ADDRESS"}),
    "xgboost": frozenset({"DMLC_*"}),
    "mpi": frozenset({"OMPI_MCA_*"}),
}

VARIABLES_OF_ALL: Final = frozenset().union(*_VARIABLES_OF_FRAMEWORKS.values())
"""Variables of an unknown runtime, which may serve any framework."""

_POD_GROUPS: Final = ("volcano", "coscheduling")
"""Schedulers for which a runtime can request a PodGroup: TR:pkg/apis/trainer/v1alpha1/trainingruntime_types.go."""


class Policy(Struct, frozen=True, kw_only=True):
    """The settings of a runtime for machine learning and its gang: `mlPolicy` and `podGroupPolicy`."""

    nodes: int
    framework: str
    """The framework whose policy the runtime sets; empty if it sets no policy."""
    launcher_is_node: bool
    pod_group: str
    """The scheduler for which the Trainer makes a PodGroup of all pods; empty if it makes no PodGroup."""
    processes: model.Processes | None
    """The processes of MPI on each node, unless a TrainJob sets another number; None if the Trainer counts GPUs."""


class Job(Struct, frozen=True, kw_only=True):
    """One replicated job of a runtime."""

    name: str
    step: str
    """`trainer`, one of the initialisers, or empty."""
    replicas: int
    pods: int
    """Pods in each replica, before a TrainJob changes the number."""
    template: Template

    def counting(self, pods: int) -> Template:
        number = self.replicas * pods
        return replace(self.template, count=model.Count(minimum=number, maximum=number))


def policy_of(runtime: Object, path: str, reading: Reading) -> Policy:
    groups = reading.mapping(runtime.get("podGroupPolicy"), path + "/podGroupPolicy")
    path += "/mlPolicy"
    policy = reading.mapping(runtime.get("mlPolicy"), path)
    mpi = reading.mapping(policy.get("mpi"), path + "/mpi")
    number = reading.count(mpi.get("numProcPerNode"), path + "/mpi/numProcPerNode", default=1)
    return Policy(
        # The Trainer takes 1 for the number of GPUs (TR:pkg/runtime/framework/plugins/mpi/mpi.go).
        processes=model.Processes(number=number, path=path + "/mpi/numProcPerNode") if number > 1 else None,
        nodes=reading.count(policy.get("numNodes"), path + "/numNodes", default=1),
        framework=next((name for name in _VARIABLES_OF_FRAMEWORKS if policy.get(name) is not None), ""),
        launcher_is_node=reading.flag(mpi.get("runLauncherAsNode"), path + "/mpi/runLauncherAsNode"),
        pod_group=next((name for name in _POD_GROUPS if groups.get(name) is not None), ""),
    )


def jobs_of(runtime: Object, path: str, policy: Policy, reading: Reading) -> Iterator[Job]:
    """The replicated jobs of a TrainingRuntimeSpec; the operator runs one replica of each that is a step."""
    path += "/template"
    template = reading.mapping(runtime.get("template"), path)
    job_set = reading.mapping(template.get("spec"), path + "/spec")
    for job_path, job in reading.items(job_set.get("replicatedJobs"), path + "/spec/replicatedJobs"):
        job_template = reading.mapping(job.get("template"), job_path + "/template")
        metadata_path, spec_path = job_path + "/template/metadata", job_path + "/template/spec"
        metadata = reading.mapping(job_template.get("metadata"), metadata_path)
        labels = reading.strings(metadata.get("labels"), metadata_path + "/labels")
        spec = reading.mapping(job_template.get("spec"), spec_path)
        name = reading.text(job.get("name"), job_path + "/name")
        step = labels.get(_STEP, "")
        pods = reading.count(spec.get("parallelism"), spec_path + "/parallelism", default=1)
        replicas = reading.count(job.get("replicas"), job_path + "/replicas", default=1)
        if step == TRAINER and runtime.get("mlPolicy") is not None:
            pods = policy.nodes
        yield Job(
            name=name,
            step=step,
            replicas=1 if step == TRAINER or step in _INITIALISERS else replicas,
            pods=max(pods, 1),
            template=pod_template(
                Place(spec.get("template"), spec_path + "/template"), reading, name=name, traits=_traits(policy, step)
            ),
        )


def _traits(policy: Policy, step: str) -> Traits:
    """The traits of a job.

    MPI starts its ranks through sshd, except on the launcher (TR:pkg/runtime/framework/plugins/mpi).
    """
    return Traits(
        trains=NODE,
        operator_environment=_VARIABLES_OF_FRAMEWORKS.get(policy.framework, frozenset()),
        ranks_inherit_environment=policy.framework != "mpi" or step == TRAINER,
        pod_group=policy.pod_group,
        processes=policy.processes,
    )


MAX_PATCHES: Final = 64
"""The most patches that usher applies to one pod template; the API server takes 16."""

OURS: Final = "gpu-usher.io/usher"
"""The manager of usher's patch; Kueue and others have their own."""

_MOST_OF_MANAGERS: Final = 16
"""Patches that the API server accepts in one TrainJob."""

_DEPTH_OF_AFFINITY: Final = 3
"""Objects in objects; below them are lists, which a patch replaces as a whole."""


class Patch(Struct, frozen=True, kw_only=True):
    """A patch of one pod template."""

    metadata: Place
    spec: Place


def patches_of_train_job(spec: Object, reading: Reading) -> dict[str, list[Patch]]:
    """The patches in a TrainJobSpec, in the order in which they apply, by the name of the replicated job."""
    found: dict[str, list[Patch]] = {}
    for job, patch in (*_overrides(spec, reading), *_runtime_patches(spec, reading)):
        patches = found.setdefault(job, [])
        if len(patches) < MAX_PATCHES:
            patches.append(patch)
        elif len(patches) == MAX_PATCHES:
            patches.append(patch)
            reading.unknown(patch.spec.path.rpartition("/")[0], f"more than {MAX_PATCHES} patches of one job: not read")
    return {job: patches[:MAX_PATCHES] for job, patches in found.items()}


def _overrides(spec: Object, reading: Reading) -> Iterator[tuple[str, Patch]]:
    for path, override in reading.items(spec.get("podSpecOverrides"), "/spec/podSpecOverrides"):
        patch = Patch(metadata=Place(None, path + "/metadata"), spec=Place(override, path))
        yield from ((job, patch) for job in _target_jobs(override, path, reading))
    for path, override in reading.items(spec.get("podTemplateOverrides"), "/spec/podTemplateOverrides"):
        patch = Patch(
            metadata=Place(override.get("metadata"), path + "/metadata"),
            spec=Place(override.get("spec"), path + "/spec"),
        )
        yield from ((job, patch) for job in _target_jobs(override, path, reading))


def _target_jobs(override: Object, path: str, reading: Reading) -> Iterator[str]:
    targets = reading.items(override.get("targetJobs"), path + "/targetJobs")
    yield from dict.fromkeys(reading.text(target.get("name"), target_path + "/name") for target_path, target in targets)


def _runtime_patches(spec: Object, reading: Reading) -> Iterator[tuple[str, Patch]]:
    for patch_path, patch in reading.items(spec.get("runtimePatches"), "/spec/runtimePatches"):
        job_set, path = _descend(patch, patch_path, reading, "trainingRuntimeSpec", "template", "spec")
        for job_path, job in reading.items(job_set.get("replicatedJobs"), path + "/replicatedJobs"):
            template, path_of_template = _descend(job, job_path, reading, "template", "spec", "template")
            yield (
                reading.text(job.get("name"), job_path + "/name"),
                Patch(
                    metadata=Place(template.get("metadata"), path_of_template + "/metadata"),
                    spec=Place(template.get("spec"), path_of_template + "/spec"),
                ),
            )


def _descend(value: Object, path: str, reading: Reading, *keys: str) -> tuple[Object, str]:
    for key in keys:
        path = f"{path}/{key}"
        value = reading.mapping(value.get(key), path)
    return value, path


def way_to_patch(spec: Object, job: str) -> model.Way | None:
    """The way to the pod spec in usher's patch of a job; None if the TrainJob has no room for the patch.

    A TrainJob with fields of an earlier version runs on that version, which drops this patch without an error.
    """
    patches = spec.get("runtimePatches")
    if not job or spec.get("podSpecOverrides") is not None or spec.get("podTemplateOverrides") is not None:
        return None
    if isinstance(patches, list) and len(patches) >= _MOST_OF_MANAGERS:
        managers = [patch.get("manager") for patch in patches if isinstance(patch, dict)]
        if OURS not in managers:
            return None
    job_sets = ("spec", "runtimePatches", model.Keyed("manager", OURS), "trainingRuntimeSpec", "template", "spec")
    return (*job_sets, "replicatedJobs", model.Keyed("name", job), "template", "spec", "template", "spec")


def apply_patches(template: Template, patches: list[Patch], reading: Reading) -> Template:
    """The template with the patches applied. Each field has the path of the last patch that sets it."""
    if not patches:
        return template
    spec = reading.mapping(*template.spec)
    metadata = template.metadata
    fields = dict(template.fields)

    for patch in patches:
        own, path = reading.mapping(*patch.spec), patch.spec.path
        metadata = _metadata(metadata, patch.metadata, reading)
        for field in ("nodeSelector", "affinity", "tolerations", "schedulingGates", "terminationGracePeriodSeconds"):
            if own.get(field) is not None:
                before = fields[field].value if field in fields else spec.get(field)
                merged = (
                    _merge_gates(before, own[field])
                    if field == "schedulingGates"
                    else _merge_values(before, own[field])
                )
                fields[field] = Place(merged, f"{path}/{field}")
    return replace(
        template,
        metadata=metadata,
        fields={**fields, **_volumes(Place(spec.get("volumes"), f"{template.spec.path}/volumes"), patches, reading)},
        containers=tuple(_containers(template.containers or (), patches, reading)),
    )


def _metadata(before: Place, patch: Place, reading: Reading) -> Place:
    """The merged labels and annotations, key by key."""
    own = reading.mapping(*patch)
    changes = {field: own[field] for field in ("labels", "annotations") if own.get(field) is not None}
    return Place(_merge_values(before.value, changes), patch.path) if changes else before


def _merge_values(before: object, own: object, depth: int = _DEPTH_OF_AFFINITY) -> object:
    """The merged value: objects merge by key, and a list replaces another."""
    if not isinstance(before, dict) or not depth:
        return own
    if isinstance(own, dict):
        return {**before, **{key: _merge_values(before.get(key), value, depth - 1) for key, value in own.items()}}
    return before if own is None else own


def _merge_gates(before: object, own: object) -> object:
    """The merged scheduling gates: they merge by name and have no other field."""
    return [*own, *before] if isinstance(own, list) and isinstance(before, list) else own


def _volumes(before: Place, patches: list[Patch], reading: Reading) -> dict[str, Place]:
    """The volumes, and the place of each by its number; empty if no patch has volumes. They merge by name."""
    lists = [(reading.mapping(*patch.spec).get("volumes"), f"{patch.spec.path}/volumes") for patch in patches]
    merged: dict[str, Place] = {}
    if all(value is None for value, _ in lists):
        return merged
    for value, path in ((before.value, before.path), *lists):
        for index, volume in enumerate(reading.sequence(value, path)):
            name = volume.get("name") if isinstance(volume, dict) else None
            key = name if isinstance(name, str) else f"{path}/{index}"
            merged[key] = Place(volume, f"{path}/{index}")
    volumes = list(merged.values())
    listed = Place([volume.value for volume in volumes], lists[-1][1])
    return {"volumes": listed, **{f"volumes/{number}": volume for number, volume in enumerate(volumes)}}


def _containers(
    containers: tuple[ContainerPlace, ...], patches: list[Patch], reading: Reading
) -> Iterator[ContainerPlace]:
    own: dict[str, list[Place]] = {}
    for patch in patches:
        spec = reading.mapping(*patch.spec)
        for field in ("initContainers", "containers"):
            for path, value in reading.items(spec.get(field), f"{patch.spec.path}/{field}"):
                own.setdefault(reading.text(value.get("name"), path + "/name"), []).append(Place(value, path))
    for container in containers:
        name = container.name or container.value.get("name")
        # No two containers of a pod have the same name.
        added = own.pop(name, []) if isinstance(name, str) else []
        patched = container
        for place in added:
            patched = _patched(patched, place, reading)
        yield patched


def _patched(container: ContainerPlace, patch: Place, reading: Reading) -> ContainerPlace:
    """The patched container: variables merge by name, mounts by path, and entries of the patch come later."""
    own, path = reading.mapping(*patch), patch.path
    if own.get("env") is not None:
        container = with_variables(container, [Place(own["env"], path + "/env")])
    value: dict[str, Any] = dict(container.value)
    places = dict(container.field_places)
    if own.get("securityContext") is not None:
        value["securityContext"] = _merge_values(value.get("securityContext"), own["securityContext"])
        changed = reading.mapping(own["securityContext"], path + "/securityContext")
        places |= {f"securityContext/{field}": f"{path}/securityContext/{field}" for field in changed}
    added = reading.sequence(own.get("volumeMounts"), path + "/volumeMounts")
    if added:
        mounts = value.get("volumeMounts")
        before = mounts if isinstance(mounts, list) else []
        value["volumeMounts"] = [*before, *added]
        places |= {
            f"volumeMounts/{len(before) + number}": f"{path}/volumeMounts/{number}" for number in range(len(added))
        }
    return container._replace(value=value, field_places=places)


def with_variables(container: ContainerPlace, added: list[Place]) -> ContainerPlace:
    """The container with more lists of variables."""
    before = container.environment
    if before is None:
        before = (Place(container.value.get("env"), container.path + "/env"),)
    return container._replace(environment=(*before, *added))


GROUP: Final = "trainer.kubeflow.org"

MAX_JOBS: Final = 100
"""Jobs in the runtime of a TrainJob; each may take values from the TrainJob."""

MAX_TRAINING_JOBS: Final = 4
"""Training jobs among them; MPI needs two, and more are a mistake."""

_TRAINER: Final = "/spec/trainer"
_VARIABLES: Final = "/spec/trainer/env"
_RESOURCES: Final = "/spec/trainer/resourcesPerNode"
"""Resources of the container that trains; each key replaces that of the runtime."""

_RUNTIMES: Final = {"ClusterTrainingRuntime": True, "TrainingRuntime": False}
"""Whether a kind of runtime is cluster-scoped."""


def _runtime(runtime: Object, reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(runtime.get("spec"), "/spec")
    for job in jobs_of(spec, "/spec", policy_of(spec, "/spec", reading), reading):
        yield job.counting(job.pods)


def _train_job(train_job: Object, reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(train_job.get("spec"), "/spec")
    trainer = reading.mapping(spec.get("trainer"), "/spec/trainer")
    patches = patches_of_train_job(spec, reading)
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
    counted = _templates_with_node_counts(jobs[:MAX_JOBS], nodes, policy)
    training = 0
    for job, template in zip(jobs, counted, strict=False):
        own = replace(_template_of_train_job(template, reading), overrides=way_to_patch(spec, job.name))
        if trainer.get("numProcPerNode") is not None:
            own = replace(own, traits=own.traits._replace(processes=None))
        template = apply_patches(own, patches.pop(job.name, []), reading)  # noqa: PLW2901 - the same template, patched
        if job.step == TRAINER or (policy.launcher_is_node and job.name == NODE):
            training += 1
            if training <= MAX_TRAINING_JOBS:
                template = _with_trainer(template, trainer, reading, starts=job.step == TRAINER)  # noqa: PLW2901 - the same template
            else:
                reading.unknown("/spec/runtimeRef/name", f"more than {MAX_TRAINING_JOBS} jobs of its runtime train")
        yield template


def _templates_with_node_counts(jobs: list[Job], nodes: int | None, policy: Policy) -> Iterator[Template]:
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
    wrong = [spec.get("runtimeRef") is not None and not isinstance(spec.get("runtimeRef"), dict)]
    wrong += [ref.get(field) is not None and not isinstance(ref[field], str) for field in ("apiGroup", "kind", "name")]
    if any(wrong):
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


def _template_of_train_job(template: Template, reading: Reading) -> Template:
    """A template of the runtime as one of the TrainJob. usher cannot change it: an edit would not reach a pod."""
    spec = reading.mapping(*template.spec)
    lists = {name: Place(spec.get(name), f"{template.spec.path}/{name}") for name, _ in LISTS}
    return replace(
        template,
        containers=tuple(listed_containers(lists, reading)),
        traits=template.traits._replace(changeable=False),
    )


_PROGRAM: Final = ("image", "command", "args")
"""Fields of a TrainJob that replace those of the container that trains (plugins/jobset/builder.go)."""


def _program(trainer: Object) -> dict[str, paths.Json]:
    return {field: trainer[field] for field in _PROGRAM if trainer.get(field) is not None}


def _with_trainer(template: Template, trainer: Object, reading: Reading, *, starts: bool) -> Template:
    """The template with the variables of the TrainJob in the container `node`, and its resources one by one.

    Args:
        starts: whether the container also starts the program of the TrainJob; the other nodes of MPI do not.
    """
    containers = list(template.containers or ())
    for index, container in enumerate(containers):
        if container.type is model.ContainerType.APP and container.value.get("name") == NODE:
            container = with_variables(container, [Place(trainer.get("env"), _VARIABLES)])  # noqa: PLW2901 - the same container, with more in it
            container = container._replace(environment_path=_VARIABLES)  # noqa: PLW2901 - the same container
            if starts and (program := _program(trainer)):
                value, path = {**container.value, **program}, "" if program.keys() == {"image"} else _TRAINER
                container = container._replace(value=value, program_path=path)  # noqa: PLW2901 - the same container
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
        not_repeated=tuple(not_repeated(before, own)) if own else (),
    )


def _trainer_alone(
    spec: Object,
    trainer: Object,
    patches: list[Patch],
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
            value={"env": trainer.get("env"), **_program(trainer)},
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
        traits=Traits(trains=NODE, changeable=False, fully_known=False),
        containers=containers,
    )
    return apply_patches(template, patches, reading)


def _unmet_by_program(value: paths.Object, objects: Objects) -> Iterator[model.UnreadKey]:
    """Findings about the program of a TrainJob in the container of its runtime, if that is known."""
    trainer = known_keys.part_at(value, _TRAINER)
    pod, is_known, has_ssh = _pod_of_runtime(value, objects) if trainer else ({}, False, False)
    containers = [dict(each) for each in paths.elements(pod.get("containers")) if isinstance(each, dict)]
    own = next((each for each in containers if each.get("name") == NODE), None)
    if own is None:
        return
    variables = [each for each in paths.elements(trainer.get("env")) if isinstance(each, dict)]
    names = {paths.text(each.get("name")) for each in variables}
    theirs = [each for each in paths.elements(own.get("env")) if isinstance(each, dict)]
    # The first ones are those of the TrainJob, so that their numbers are those of its own list.
    own |= _program(trainer) | {"env": [*variables, *(each for each in theirs if each.get("name") not in names)]}
    if isinstance(trainer.get("resourcesPerNode"), dict):
        own["resources"] = trainer["resourcesPerNode"]
    key = (GROUP, "" if has_ssh else "TrainJob")
    whole = {**value, "spec": {**pod, "containers": containers}}
    for each in refused_values.wrong_in_container(whole, key, containers.index(own), is_known=is_known):
        _, field, *rest = each.path.split("/") if each.path else ("", "")
        is_own = _program(trainer) if not field else field in _PROGRAM and field in trainer
        if field == "env":
            is_own = bool(rest) and rest[0].isdecimal() and int(rest[0]) < len(variables)
        if field == "resources" and "resourcesPerNode" in trainer:
            yield replace(each, path="/".join((_RESOURCES, *rest)))
        elif is_own:
            yield replace(each, path=_TRAINER + each.path)


def _pod_of_runtime(value: paths.Object, objects: Objects) -> tuple[Mapping[str, Any], bool, bool]:
    """The pod spec of the job that trains, whether all of it is known, and whether its nodes may serve ssh."""
    ref = known_keys.part_at(value, "/spec/runtimeRef")
    runtimes = objects.known(GROUP, paths.text(ref.get("kind")) or "ClusterTrainingRuntime")
    runtime = runtimes.get(paths.text(ref.get("name")))
    if runtime is None:
        return {"containers": [{"name": NODE, "envFrom": []}]}, False, True
    patches = ("podSpecOverrides", "podTemplateOverrides", "runtimePatches")
    is_patched = not known_keys.part_at(value, "/spec").keys().isdisjoint(patches)
    for _, job in value_forms.at(runtime, "spec.template.spec.replicatedJobs[].template"):
        if known_keys.part_at(job, "/metadata/labels").get(_STEP) == TRAINER:
            pod = known_keys.part_at(job, "/spec/template/spec")
            return pod, not is_patched, bool(known_keys.part_at(runtime, "/spec/mlPolicy").get("mpi"))
    return {}, False, True


CODE: Final[Mapping[str, Code]] = {
    "TrainJob.trainer.kubeflow.org": {"templates": _train_job, "unmet": _unmet_by_program},
    "ClusterTrainingRuntime.trainer.kubeflow.org": {"templates": _runtime},
    "TrainingRuntime.trainer.kubeflow.org": {"templates": _runtime},
}
