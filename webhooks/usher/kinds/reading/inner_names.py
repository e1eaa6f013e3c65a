"""Names that have to exist: of parts of the same object, which controllers look up, and of other objects of the files.

Sources: AR:workflow/validate/validate.go; TK:pkg/apis/pipeline/v1/pipeline_validation.go and task_validation.go;
JS:pkg/webhooks/jobset_webhook.go; VC:pkg/webhooks/admission/jobs/validate and pkg/controllers/job/plugins;
KR:ray-operator/pkg/webhooks/v1/raycluster_webhook.go; validatePodSpec and ValidateVolumeMounts in
pkg/apis/core/validation/validation.go and ValidateResourceClaim in pkg/apis/resource/validation/validation.go of
kubernetes/kubernetes v1.36; KQ:pkg/cache/scheduler/clusterqueue.go (updateQueueStatus) for what a queue waits for.
"""

import difflib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from usher import model, paths
from usher.kinds.reading import known_keys
from usher.kinds.reading.values import Lookup, Objects
from usher.model import placement

_PLACEHOLDERS: Final = ("{{", "$", "<")
_ANY_TEXT: Final = ""


class _Row(NamedTuple):
    """One sort of names inside an object. Places are paths: `[]` is each element, `*` each value, `^` each key, `**`
    each text below.
    """

    scope: str
    """Where the names count; each place with this path has names of its own."""
    what: str
    names: str
    """Places of the names that exist, below the scope."""
    uses: str = ""
    """Places that name one of them."""
    pattern: str = _ANY_TEXT
    """The name in a text, as the first group of a regular expression; empty where the whole text is the name."""
    elsewhere: str = ""
    """A field of the scope with which names may come from another object."""
    unique: bool = False
    some: bool = False
    """Whether a scope without any name is left out, because its names may come with a run."""


_TASKS: Final = r"([A-Za-z0-9][-\w]*)(?:\.[A-Za-z]+)?"


def _workflow(scope: str, *, runs: bool) -> tuple[_Row, ...]:
    inner = f"{scope}.templates[]"
    calls = " ".join(
        f"templates[].{way}.{field}"
        for way in ("steps[][]", "dag.tasks[]")
        for field in ("template", "onExit", "hooks.*.template")
    )
    containers = " ".join(
        f"templates[].{each}.volumeMounts[].name"
        for each in ("container", "script", "initContainers[]", "sidecars[]", "containerSet.containers[]")
    )
    inputs = " ".join(f"{each}inputs.parameters[].name" for each in ("", "steps[][].inline.", "dag.tasks[].inline."))
    of_workflow = r"\{\{\s*workflow\.parameters\.([-\w]+)\s*\}\}"
    return (
        _Row(
            scope,
            "template",
            "templates[].name",
            f"entrypoint onExit hooks.*.template {calls}",
            elsewhere="workflowTemplateRef",
            unique=True,
        ),
        _Row(f"{inner}.dag", "task", "tasks[].name", "tasks[].dependencies[]", unique=True),
        _Row(f"{inner}.dag", "task", "tasks[].name", "tasks[].depends target", _TASKS),
        _Row(inner, "input parameter", inputs, "**", r"\{\{\s*inputs\.parameters\.([-\w]+)\s*\}\}"),
        _Row(inner, "step or task", "steps[][].name dag.tasks[].name", "**", r"\{\{\s*(?:steps|tasks)\.([-\w]+)\.\w"),
        _Row(
            scope,
            "volume",
            "volumes[].name volumeClaimTemplates[].metadata.name templates[].volumes[].name "
            "templateDefaults.volumes[].name",
            containers,
            elsewhere="workflowTemplateRef",
        ),
        *(
            [
                _Row(
                    scope,
                    "parameter of the workflow",
                    "arguments.parameters[].name",
                    "templates[].**",
                    of_workflow,
                    elsewhere="workflowTemplateRef",
                    some=True,
                )
            ]
            if runs
            else []
        ),
    )


def _pipeline(spec: str) -> tuple[_Row, ...]:
    """Rows for a Pipeline below `spec` of its object; a run hands its own parameters and workspaces on."""
    inner = spec.removeprefix("spec").removeprefix(".")
    dot = f"{inner}." if inner else ""
    params = " ".join(
        f"{each}params[].name"
        for each in dict.fromkeys(
            (
                "",
                dot,
                *(
                    f"{dot}{one}[].{two}"
                    for one in ("tasks", "finally")
                    for two in ("taskSpec.", "", "matrix.", "matrix.include[].")
                ),
            )
        )
    )
    spaces = " ".join(f"{each}workspaces[].name" for each in dict.fromkeys(("", dot)))
    both = f"{dot}tasks[].{{0}} {dot}finally[].{{0}}"
    return (
        _Row("spec", "task", f"{dot}tasks[].name", f"{dot}tasks[].runAfter[]"),
        _Row("spec", "task", both.format("name"), f"{dot}**", r"\$\(tasks\.([-\w]+)\.\w"),
        _Row("spec", "parameter", params, f"{dot}**", r"\$\(params\.([-\w]+)[\[.)]"),
        _Row("spec", "workspace", spaces, both.format("workspaces[].workspace")),
    )


def _task(inner: str) -> tuple[_Row, ...]:
    dot = f"{inner}." if inner else ""
    own = f"params[].name {dot}params[].name" if dot else "params[].name"
    mounts = " ".join(f"{dot}{each}.volumeMounts[].name" for each in ("steps[]", "sidecars[]", "stepTemplate"))
    return (
        _Row("spec", "parameter", own, f"{dot}**", r"\$\(params\.([-\w]+)[\[.)]"),
        _Row("spec", "volume", f"{dot}volumes[].name podTemplate.volumes[].name", mounts),
    )


def _replicated(scope: str) -> _Row:
    return _Row(
        scope,
        "replicated job",
        "replicatedJobs[].name",
        "replicatedJobs[].dependsOn[].name successPolicy.targetReplicatedJobs[] coordinator.replicatedJob "
        "failurePolicy.rules[].targetReplicatedJobs[]",
        unique=True,
    )


def _volcano(scope: str) -> tuple[_Row, ...]:
    # mpi, pytorch, tensorflow and ray: the arguments of distributed-framework plugins.
    plugins = " ".join(f"plugins.{each}[]" for each in ("mpi", "pytorch", "tensorflow", "ray"))
    return (
        _Row(scope, "task", "tasks[].name", "tasks[].dependsOn.name[]", unique=True),
        _Row(scope, "task", "tasks[].name", plugins, r"^--(?:master|worker|ps|chief|evaluator|head)=(.+)$"),
    )


def _devices(scope: str) -> _Row:
    uses = "constraints[].requests[] config[].requests[]"
    return _Row(scope, "request", "requests[].name", uses, r"^([^/]+)", unique=True)


def _ray(scope: str) -> _Row:
    return _Row(scope, "worker group", "workerGroupSpecs[].groupName", unique=True)


def _spark(scope: str) -> _Row:
    return _Row(scope, "volume", "volumes[].name", "driver.volumeMounts[].name executor.volumeMounts[].name")


_DAG: Final = "tasks.*.dependentTasks[] tasks.*.inputs.parameters.*.taskOutputParameter.producerTask"
_CONTAINERS: Final = "template.spec.containers[].name template.spec.initContainers[].name"

_ROWS: Final[Mapping[str, tuple[_Row, ...]]] = {
    "argoproj.io Workflow": _workflow("spec", runs=True),
    "argoproj.io CronWorkflow": _workflow("spec.workflowSpec", runs=True),
    "argoproj.io WorkflowTemplate": _workflow("spec", runs=False),
    "argoproj.io ClusterWorkflowTemplate": _workflow("spec", runs=False),
    "argoproj.io Rollout": (
        _Row(
            "spec.strategy.canary",
            "managed route",
            "trafficRouting.managedRoutes[].name",
            "steps[].setHeaderRoute.name steps[].setMirrorRoute.name",
        ),
    ),
    "tekton.dev Pipeline": _pipeline("spec"),
    "tekton.dev PipelineRun": _pipeline("spec.pipelineSpec"),
    "tekton.dev Task": _task(""),
    "tekton.dev TaskRun": _task("taskSpec"),
    "pipelines.kubeflow.org PipelineSpec": (
        _Row(
            "",
            "component",
            "components^",
            "root.dag.tasks.*.componentRef.name components.*.dag.tasks.*.componentRef.name",
        ),
        _Row("root.dag", "task", "tasks^", _DAG),
        _Row("components.*.dag", "task", "tasks^", _DAG),
    ),
    "jobset.x-k8s.io JobSet": (_replicated("spec"),),
    "trainer.kubeflow.org TrainingRuntime": (_replicated("spec.template.spec"),),
    "trainer.kubeflow.org ClusterTrainingRuntime": (_replicated("spec.template.spec"),),
    "batch.volcano.sh Job": _volcano("spec"),
    "batch.volcano.sh CronJob": _volcano("spec.jobTemplate.spec"),
    "flow.volcano.sh JobTemplate": _volcano("spec"),
    "flow.volcano.sh JobFlow": (_Row("spec", "flow", "flows[].name", "flows[].dependsOn.targets[]", unique=True),),
    "grove.io PodCliqueSet": (_Row("spec.template", "clique", "cliques[].name", "cliques[].spec.startsAfter[]"),),
    "ray.io RayCluster": (_ray("spec"),),
    "ray.io RayJob": (_ray("spec.rayClusterSpec"),),
    "ray.io RayService": (_ray("spec.rayClusterConfig"),),
    "ray.io RayCronJob": (_ray("spec.jobTemplate.rayClusterSpec"),),
    "sparkoperator.k8s.io SparkApplication": (_spark("spec"),),
    "sparkoperator.k8s.io ScheduledSparkApplication": (_spark("spec.template"),),
    "resource.k8s.io ResourceClaim": (_devices("spec.devices"),),
    "resource.k8s.io ResourceClaimTemplate": (_devices("spec.spec.devices"),),
    "batch Job": (_Row("spec", "container", _CONTAINERS, "podFailurePolicy.rules[].onExitCodes.containerName"),),
    "kueue.x-k8s.io ClusterQueue": (
        _Row(
            "spec",
            "flavor",
            "resourceGroups[].flavors[].name",
            "admissionChecksStrategy.admissionChecks[].onFlavors[]",
        ),
    ),
}

_BOTH: Final = "containers[].{0} initContainers[].{0}"
_PROBES: Final = " ".join(
    f"{probe}.{way}.port"
    for probe in ("livenessProbe", "readinessProbe", "startupProbe", "lifecycle.preStop", "lifecycle.postStart")
    for way in ("httpGet", "tcpSocket")
)
_NAMED_PORT: Final = r"^(.*[A-Za-z].*)$"
_OF_POD_SPECS: Final[tuple[tuple[str, _Row], ...]] = (
    ("several", _Row("", "container", _BOTH.format("name"), unique=True)),
    ("volumeMounts", _Row("", "volume", "volumes[].name", _BOTH.format("volumeMounts[].name"))),
    ("volumeDevices", _Row("", "volume", "volumes[].name", _BOTH.format("volumeDevices[].name"))),
    ("claims", _Row("", "resource claim", "resourceClaims[].name", _BOTH.format("resources.claims[].name"))),
    ("probes", _Row("containers[]", "port", "ports[].name", _PROBES, _NAMED_PORT)),
    ("probes", _Row("initContainers[]", "port", "ports[].name", _PROBES, _NAMED_PORT)),
)
"""The rows of each pod spec that is whole, with the part of its containers that they are about."""

_MERGED: Final = frozenset({
    "ClusterServingRuntime", "ClusterTrainingRuntime", "DynamoComponentDeployment", "DynamoGraphDeployment",
    "InferenceService", "LLMInferenceService", "LLMInferenceServiceConfig", "NodeSet", "ServingRuntime", "TrainJob",
    "TrainingRuntime",
})  # fmt: skip
"""Kinds whose controllers add volumes to the pod specs or merge them with others."""

_ADDED: Final = (
    "mpi-job-config", "ssh-auth", "ray-logs", "ray-token", "log-volume", "shared-mem", "shared-nvidia-driver-toolkit",
)  # fmt: skip
"""Volumes that operators add to pods of their jobs, and that containers may mount."""

Steps = tuple[str, ...]


@cache
def _steps(place: str) -> Steps:
    return tuple(each for each in re.split(r"\.|(\[\]|\^)", place) if each)


def _at(value: Any, steps: Steps, path: str) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - any JSON
    """The values at a place, each with its path."""
    if not steps:
        yield path, value
        return
    step, rest = steps[0], steps[1:]
    if step == "**":
        yield from _texts(value, path)
    elif isinstance(value, list) and step == "[]":
        for index, each in enumerate(value):
            yield from _at(each, rest, f"{path}/{index}")
    elif isinstance(value, dict) and step == "^":
        yield from ((paths.join(path, key), key) for key in value)
    elif isinstance(value, dict):
        for key in value if step == "*" else (step,):
            if (each := value.get(key)) is not None:
                yield from _at(each, rest, paths.join(path, key))


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any JSON
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, (dict, list)):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _texts(each, paths.join(path, str(key)))


def _all_at(value: Any, places: str, path: str) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any JSON
    """The texts at places that a space separates."""
    for place in places.split():
        yield from ((where, each) for where, each in _at(value, _steps(place), path) if isinstance(each, str))


def _texts_at(value: Any, places: str) -> list[str]:  # noqa: ANN401 - any JSON
    """As `_all_at` without paths, at a tenth of its cost."""
    return [each for steps in _parted(places) for each in _values(value, steps) if isinstance(each, str)]


@cache
def _parted(places: str) -> tuple[Steps, ...]:
    return tuple(map(_steps, places.split()))


def _values(value: Any, steps: Steps) -> list[Any]:  # noqa: ANN401 - any JSON
    found = [value]
    for step in steps:
        if step == "[]":
            found = [each for level in found if isinstance(level, list) for each in level]
        elif step == "*":
            found = [each for level in found if isinstance(level, dict) for each in level.values()]
        elif step == "^":
            found = [each for level in found if isinstance(level, dict) for each in level]
        elif step == "**":
            found = [text for level in found for _, text in _texts(level, "")]
        else:
            found = [each for level in found if isinstance(level, dict) and (each := level.get(step)) is not None]
        if not found:
            break
    return found


def _dangling(value: paths.Object, group: str, kind: str) -> Iterator[model.UnreadKey]:
    """Names in an object that no part of it has, and names that two of its parts have."""
    for row in _ROWS.get(f"{group} {kind}", ()):
        for path, scope in _at(value, _steps(row.scope), ""):
            yield from _of_scope(row, scope, path, ())
    if kind == "Workflow" or kind.endswith("WorkflowTemplate"):
        yield from _inputs_not_given(paths.mapping(value.get("spec")), "/spec")
    elif kind == "CronWorkflow":
        yield from _inputs_not_given(known_keys.part_at(value, "/spec/workflowSpec"), "/spec/workflowSpec")
    for spec, path, volumes in _pod_specs(value, "", _ADDED) if kind not in _MERGED else ():
        parts = _parts_of_containers(spec)
        for row in (row for part, row in _OF_POD_SPECS if part in parts):
            for place, scope in _at(spec, _steps(row.scope), path):
                yield from _of_scope(row, scope, place, volumes if row.what == "volume" else ())


_PodSpec = tuple[Mapping[str, Any], str, tuple[str, ...]]
"""A pod spec with its path and the names of volumes that the objects around it give."""


def _pod_specs(value: Mapping[str, Any], path: str, volumes: tuple[str, ...]) -> Iterator[_PodSpec]:
    if isinstance(value.get("containers"), list):
        yield value, path, volumes
        return
    if "volumes" in value or "volumeClaimTemplates" in value:
        volumes = (*volumes, *_texts_at(value, "volumes[].name volumeClaimTemplates[].metadata.name"))
    for key, each in value.items():
        if isinstance(each, dict):
            if key not in _NO_PODS:
                yield from _pod_specs(each, paths.join(path, key), volumes)
        elif isinstance(each, list) and each and isinstance(each[0], dict):
            for index, one in enumerate(each):
                if isinstance(one, dict):
                    yield from _pod_specs(one, f"{paths.join(path, key)}/{index}", volumes)


_NO_PODS: Final = frozenset({"metadata", "status", "selector", "data"})


def _parts_of_containers(spec: Mapping[str, Any]) -> Collection[str]:
    """What the containers of a pod spec have that names something; empty where one has no image, as in a patch."""
    containers = [*spec["containers"], *(spec.get("initContainers") or ())]
    if not all(isinstance(each, dict) and "image" in each and "name" in each for each in containers):
        return ()
    found = set[str]().union(*containers)
    if len(containers) > 1:
        found.add("several")
    if any("claims" in paths.mapping(each.get("resources")) for each in containers):
        found.add("claims")
    return found if found.isdisjoint(_WITH_PORTS) else {*found, "probes"}


_WITH_PORTS: Final = {"livenessProbe", "readinessProbe", "startupProbe", "lifecycle"}


def _of_scope(row: _Row, scope: Any, path: str, others: Sequence[str]) -> Iterator[model.UnreadKey]:  # noqa: ANN401 - any JSON
    if not isinstance(scope, dict) or (row.elsewhere and row.elsewhere in scope):
        return
    used = _texts_at(scope, row.uses)
    names = _texts_at(scope, row.names) if used or row.unique else []
    known = {*names, *others}
    if any(map(_is_placeholder, names)) or (row.some and not known):
        return
    twice = row.unique and len(set(names)) < len(names)
    if not twice and all(name in known for text in used for name in _named_in(text, row.pattern)):
        return
    where = paths.readable(path) if path else "this object"
    seen = set[str]()
    for place, name in _all_at(scope, row.names, path) if twice else ():
        if name in seen:
            text = f"gives two parts of {where} the {row.what} name {name[:100]}"
            yield _nothing_there(place, text, "rename one of them")
        seen.add(name)
    for place, use in _all_at(scope, row.uses, path):
        for name in dict.fromkeys(_named_in(use, row.pattern)):
            if name not in known:
                text = f"names the {row.what} {name[:100]}, and {where} has none of that name"
                yield _nothing_there(place, text, _meant(name, known, row.what))


def _named_in(text: str, pattern: str) -> Iterable[str]:
    if pattern and "{{" not in pattern.replace("\\", "") and "$(" not in pattern.replace("\\", ""):
        return [] if _is_placeholder(text) else (found[1] for found in re.finditer(pattern, text))
    if pattern:
        return (found[1] for found in re.finditer(pattern, text))
    return [] if not text or _is_placeholder(text) else [text]


def _is_placeholder(text: str) -> bool:
    return any(mark in text for mark in _PLACEHOLDERS)


def _meant(name: str, known: Collection[str], what: str) -> str:
    like = difflib.get_close_matches(name[:100], sorted(known)[:200], n=1, cutoff=0.7)
    if like:
        return f"did you mean {like[0]}?"
    listed = ", ".join(sorted(known)[:5])
    return f"name one of them ({listed}), or add the {what}" if listed else f"add the {what}, or correct its name"


def _nothing_there(path: str, text: str, remedy: str, *, certain: bool = True) -> model.UnreadKey:
    return model.UnreadKey(path=path, text=text, remedy=remedy, important=certain, dangling=True)


def _inputs_not_given(spec: Mapping[str, Any], path: str) -> Iterator[model.UnreadKey]:
    """Steps and tasks of Argo that leave out an input parameter that has no value of its own."""
    needed: dict[str, list[str]] = {}
    for _, template in _at(spec, _steps("templates[]"), path):
        if isinstance(template, dict) and isinstance(name := template.get("name"), str):
            needed[name] = [
                each["name"]
                for _, each in _at(template, _steps("inputs.parameters[]"), "")
                if isinstance(each, dict)
                and isinstance(each.get("name"), str)
                and each.keys() <= {"name", "description", "enum"}
            ]
    for place in ("templates[].steps[][]", "templates[].dag.tasks[]"):
        for where, call in _at(spec, _steps(place), path):
            wanted = needed.get(paths.text(call.get("template")), ()) if isinstance(call, dict) else ()
            given = {name for _, name in _all_at(call, "arguments.parameters[].name", "")} if wanted else set[str]()
            for name in wanted:
                if name not in given and not any(map(_is_placeholder, given)):
                    yield _nothing_there(
                        f"{where}/template",
                        f"runs the template {call['template']} without its input parameter {name}, which has no value",
                        _meant(name, given, "argument") if given else f"add {name} to arguments.parameters",
                    )


class _Target(NamedTuple):
    """Names of other objects at places of an object."""

    places: str
    group: str
    kind: str
    consequence: str = ""
    """What follows where files with such objects lack this one; empty where only a slip is reported."""
    namespaced: bool = True


_KUEUE: Final = "kueue.x-k8s.io"
_INACTIVE: Final = "the queue stays inactive"

_TARGETS: Final[Mapping[str, tuple[_Target, ...]]] = {
    f"{_KUEUE} ClusterQueue": (
        _Target("spec.resourceGroups[].flavors[].name", _KUEUE, "ResourceFlavor", _INACTIVE, namespaced=False),
        _Target(
            "spec.admissionChecks[] spec.admissionChecksStrategy.admissionChecks[].name",
            _KUEUE,
            "AdmissionCheck",
            _INACTIVE,
            namespaced=False,
        ),
        _Target("spec.cohort spec.cohortName", _KUEUE, "Cohort", namespaced=False),
    ),
    f"{_KUEUE} Cohort": (
        _Target("spec.parent spec.parentName", _KUEUE, "Cohort", "its parent has no quota to lend", namespaced=False),
    ),
    f"{_KUEUE} ResourceFlavor": (
        _Target("spec.topologyName", _KUEUE, "Topology", "queues with this flavor stay inactive", namespaced=False),
    ),
    f"{_KUEUE} LocalQueue": (_Target("spec.clusterQueue", _KUEUE, "ClusterQueue", _INACTIVE, namespaced=False),),
    "apps StatefulSet": (_Target("spec.serviceName", "", "Service"),),
    "argoproj.io Workflow": (
        _Target("spec.workflowTemplateRef.name", "argoproj.io", "WorkflowTemplate"),
        _Target(
            "spec.templates[].steps[][].templateRef.name spec.templates[].dag.tasks[].templateRef.name",
            "argoproj.io",
            "WorkflowTemplate",
        ),
    ),
    "tekton.dev PipelineRun": (_Target("spec.pipelineRef.name", "tekton.dev", "Pipeline"),),
    "tekton.dev Pipeline": (_Target("spec.tasks[].taskRef.name spec.finally[].taskRef.name", "tekton.dev", "Task"),),
    "tekton.dev TaskRun": (_Target("spec.taskRef.name", "tekton.dev", "Task"),),
}
_OF_PODS: Final = (
    _Target(
        f"{_BOTH.format('envFrom[].configMapRef.name')} {_BOTH.format('env[].valueFrom.configMapKeyRef.name')} "
        "volumes[].configMap.name volumes[].projected.sources[].configMap.name",
        "",
        "ConfigMap",
    ),
    _Target(
        f"{_BOTH.format('envFrom[].secretRef.name')} {_BOTH.format('env[].valueFrom.secretKeyRef.name')} "
        "volumes[].secret.secretName imagePullSecrets[].name",
        "",
        "Secret",
    ),
    _Target("volumes[].persistentVolumeClaim.claimName", "", "PersistentVolumeClaim"),
    _Target("serviceAccountName", "", "ServiceAccount"),
    _Target("resourceClaims[].resourceClaimName", "resource.k8s.io", "ResourceClaim"),
    _Target("resourceClaims[].resourceClaimTemplateName", "resource.k8s.io", "ResourceClaimTemplate"),
)
"""The names of other objects in each pod spec."""

_MOST_COMPARED: Final = 200
"""With more objects of a kind than these, no slip is looked for."""

NAMES_OF_RUN: Final = "names of the run"
"""The key of `Objects.once` for the group, kind and name of each object of the run that counts as a fact."""

NamesOfFacts = Callable[[str, str], Collection[str] | None]
"""The names of the objects of a kind that the cluster has; None for a kind that the facts lack."""


class Files(NamedTuple):
    """The objects around one object."""

    namespace: str
    """The namespace of objects without one."""
    around: Lookup
    """The objects of the same file, or of the same directory if they are applied together."""
    beside: Lookup
    """Those of the same file; its `others` are those of the run, if files count as facts."""
    of_facts: NamesOfFacts | None
    """The names that a cluster has; None without facts about one."""


def names_of_nothing(value: paths.Object, key: tuple[str, str], files: Files) -> Iterator[model.UnreadKey]:
    """Names in an object that lead to nothing, inside it or in the files.

    An object that the files lack may be one of the cluster. So only a slip is reported, and what a queue needs, both
    where the files have some objects of that kind.

    Args:
        value: the object.
        key: its group and kind.
    """
    yield from _dangling(value, *key)
    if isinstance(files.around, Objects):
        within = paths.text(paths.metadata(value).get("namespace")) or files.namespace
        yield from _missing_objects(value, key, within, files.around, files)


def _missing_objects(
    value: paths.Object, key: tuple[str, str], namespace: str, objects: Objects, files: Files
) -> Iterator[model.UnreadKey]:
    others = files.beside.others if isinstance(files.beside, Objects) else None
    of_run = others.once(NAMES_OF_RUN, frozenset) if others else frozenset()
    known = _KnownNames(namespace, objects, of_run, files.of_facts)
    own = paths.text(paths.metadata(value).get("name"))
    for target in _TARGETS.get(" ".join(key), ()):
        names = known.of(target) - ({own} if key == (target.group, target.kind) else set())
        yield from known.missing(target, names, value, "") if names else ()
    found = objects.once(
        f"objects that pods of {namespace} name",
        lambda: [(target, names) for target in _OF_PODS if (names := known.of(target))],
    )
    for spec, path, _ in _pod_specs(value, "", ()) if found else ():
        for target, names in found:
            yield from known.missing(target, names, spec, path)
    if key == (_KUEUE, "LocalQueue"):
        yield from _namespace_not_selected(value, namespace, objects)


class _KnownNames(NamedTuple):
    """The names of objects that the files, the run and the facts have."""

    namespace: str
    objects: Objects
    of_run: frozenset[tuple[str, str, str]]
    of_facts: NamesOfFacts | None

    def of(self, target: _Target) -> frozenset[str]:
        if not target.namespaced:
            return self.objects.names(target.group, target.kind)
        found = self.objects.of_kind(target.group, target.kind, self.namespace)
        return frozenset(paths.text(paths.metadata(each).get("name")) for each in found)

    def missing(
        self, target: _Target, names: frozenset[str], value: Mapping[str, Any], path: str
    ) -> Iterator[model.UnreadKey]:
        if names.issuperset(_texts_at(value, target.places)):
            return
        of_cluster = self.of_facts(target.group, target.kind) if self.of_facts is not None else ()
        for place, name in _all_at(value, target.places, path):
            elsewhere = (target.group, target.kind, name) in self.of_run or name in (of_cluster or ())
            if name in names or elsewhere or not name or _is_placeholder(name):
                continue
            slips = (
                [each for each in sorted(names) if known_keys.is_slip(name[:100], each)]
                if len(names) <= _MOST_COMPARED
                else []
            )
            text = f"names the {target.kind} {name[:100]}, which these files do not have"
            if len(slips) == 1:
                yield _nothing_there(place, text, f"did you mean {slips[0]}?", certain=False)
            elif target.consequence and of_cluster is not None:
                remedy = f"name one that they have ({', '.join(sorted(names)[:5])}), or add it"
                yield _nothing_there(place, f"{text}; without it, {target.consequence}", remedy, certain=False)


def _namespace_not_selected(value: paths.Object, namespace: str, objects: Objects) -> Iterator[model.UnreadKey]:
    """A LocalQueue whose ClusterQueue does not select the labels that its Namespace has in the files."""
    name = paths.text(paths.mapping(value.get("spec")).get("clusterQueue"))
    queue = objects.cluster_scoped(_KUEUE, "ClusterQueue").get(name)
    home = objects.cluster_scoped("", "Namespace").get(namespace)
    if queue is None or home is None:
        return
    selector = paths.mapping(queue.get("spec")).get("namespaceSelector")
    written = paths.mapping(paths.metadata(home).get("labels"))
    labels = {
        paths.NAMESPACE_NAME_LABEL: namespace,
        **{key: text for key, text in written.items() if isinstance(text, str)},
    }
    if selector and placement.selector_matches(selector, labels) is False:
        yield _nothing_there(
            "/spec/clusterQueue",
            f"leads to the ClusterQueue {name}, whose namespaceSelector does not match the labels of the namespace "
            f"{namespace} in these files, so it admits nothing from there",
            "change the labels of the Namespace, or the namespaceSelector of the ClusterQueue",
            certain=False,
        )
