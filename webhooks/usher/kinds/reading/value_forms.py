"""Values at places of an object, its pod specs, and values whose form the API server refuses.

A place is a path with a dot between keys: `[]` is each element, `*` each value, `^` each key, `**` each text below, and
`{a,b}` stands for both. A space separates places.

The form is what a type does not say: of names, amounts, durations. Sources: pkg/apis/core/validation/validation.go of
kubernetes/kubernetes v1.36 and staging/src/k8s.io/apimachinery/pkg/util/validation/validation.go for names, labels and
ports; pkg/apis/crds/karpenter.sh_nodepools.yaml of kubernetes-sigs/karpenter 2266468;
ray-operator/controllers/ray/utils/validation.go of ray-project/kuberay for numbers of workers.

Last come values that only a controller or a program refuses. Sources beside `program_names.json`:
ResourceDiscoveryScriptPlugin.scala of apache/spark; orterun(1) of Open MPI on slots, and the hostfile in
pkg/controller/mpi_job_controller.go of kubeflow/mpi-operator; SetDefaults_Job and validateJobSpec of
kubernetes/kubernetes v1.36 with pkg/webhooks/jobset_webhook.go of kubernetes-sigs/jobset; inference_service_validation.go
of kserve/kserve, and kserve/kserve#6044; the task groups of pkg/cache/placeholder.go of apache/yunikorn-k8shim;
docs/usage/customization-guide.md of kubernetes-sigs/node-feature-discovery; pkg/controllers/job/plugins of
volcano-sh/volcano; pkg/utils/pod of kubernetes-sigs/lws; tools/server/README.md of ggml-org/llama.cpp on metrics.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple

import orjson

from usher import errors, model, paths, quantities
from usher.kinds.reading import environment

Steps = tuple[str, ...]

DOT: Final = "\N{ONE DOT LEADER}"
"""Stands for a dot in a key."""


@cache
def _ways(places: str) -> tuple[Steps, ...]:
    """The steps of each place."""
    return tuple(
        tuple(each.replace(DOT, ".") for each in re.split(r"\.|(\[\]|\^)", place) if each)
        for one in places.split() or ("",)
        for place in _without_braces(one)
    )


def _without_braces(place: str) -> Iterator[str]:
    found = re.search(r"\{([^{}]*)\}", place)
    if found is None:
        yield place
        return
    for each in found[1].split(","):
        yield from _without_braces(f"{place[: found.start()]}{each}{place[found.end() :]}")


def _at(value: Any, way: Steps, path: str) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - any JSON
    """The values at a place, each with its path."""
    if not way:
        yield path, value
        return
    step, rest = way[0], way[1:]
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


def _values(value: Any, way: Steps) -> list[Any]:  # noqa: ANN401 - any JSON
    found = [value]
    for step in way:
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


def at(value: Any, places: str, path: str = "") -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - any JSON
    """The values at places, each with its path; `path` is that of the value."""
    for way in _ways(places):
        yield from _at(value, way, path)


def values_at(value: Any, places: str) -> list[Any]:  # noqa: ANN401 - any JSON
    """As `at` without paths, at a tenth of its cost."""
    return [each for way in _ways(places) for each in _values(value, way)]


def texts_at(value: Any, places: str) -> list[str]:  # noqa: ANN401 - any JSON
    return [each for each in values_at(value, places) if isinstance(each, str)]


def texts_with_paths(value: Any, places: str, path: str = "") -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any JSON
    return ((where, each) for where, each in at(value, places, path) if isinstance(each, str))


ADDED: Final = (
    "mpi-job-config", "ssh-auth", "ray-logs", "ray-token", "log-volume", "shared-mem", "shared-nvidia-driver-toolkit",
)  # fmt: skip
"""Volumes that operators add to pods of their jobs, and that containers may mount."""

PodSpec = tuple[Mapping[str, Any], str, tuple[str, ...]]
"""A pod spec with its path and the names of volumes that the objects around it give."""


def pod_specs(value: paths.Object) -> Iterator[PodSpec]:
    """The pod specs in an object."""
    return _pod_specs(value, "", ADDED)


def _pod_specs(value: Mapping[str, Any], path: str, volumes: tuple[str, ...]) -> Iterator[PodSpec]:
    if isinstance(value.get("containers"), list):
        yield value, path, volumes
        return
    if "volumes" in value or "volumeClaimTemplates" in value:
        volumes = (*volumes, *texts_at(value, "volumes[].name volumeClaimTemplates[].metadata.name"))
    for key, each in value.items():
        if isinstance(each, dict):
            if key not in _NO_PODS:
                yield from _pod_specs(each, paths.join(path, key), volumes)
        elif isinstance(each, list) and each and isinstance(each[0], dict):
            for index, one in enumerate(each):
                if isinstance(one, dict):
                    yield from _pod_specs(one, f"{paths.join(path, key)}/{index}", volumes)


_NO_PODS: Final = frozenset({"metadata", "status", "selector", "data"})


_PLACEHOLDERS: Final = ("{{", "$", "<")


def is_placeholder(text: str) -> bool:
    return any(mark in text for mark in _PLACEHOLDERS)


class _Form(NamedTuple):
    takes: str
    """The form that the API server takes, for the message."""
    fits: Callable[[Any], object]


def _matches(pattern: str) -> Callable[[Any], object]:
    found = re.compile(pattern)
    return lru_cache(maxsize=4096)(lambda value: not isinstance(value, str) or found.fullmatch(value))


def _is_amount(value: object) -> bool:
    try:
        quantities.parse(value)
    except errors.QuantityError:
        return False
    return True


def _matches_if_plain(pattern: str) -> Callable[[Any], object]:
    """As `_matches`, for names: texts in capitals are placeholders, and others than names have other faults."""
    fits, plain = _matches(pattern), re.compile(r"[\w ./@+=-]+", re.ASCII)
    return lambda value: fits(value) or value.isupper() or not plain.fullmatch(value)


_NAME: Final = _Form(
    "small letters, digits, dashes and dots", _matches_if_plain(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
)
_PART: Final = _Form(
    "at most 63 small letters, digits and dashes", _matches_if_plain(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
)
_LABEL: Final = _Form(
    "at most 63 letters, digits, dashes, dots and underscores",
    _matches_if_plain(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?"),
)
_AMOUNT: Final = _Form("an amount, for example 8, 500m or 64Gi", _is_amount)
_PORTS: Final = 65536
_PORT: Final = _Form("a port from 1 to 65535", lambda value: not isinstance(value, int) or 0 < value < _PORTS)
_PORT_OR_0: Final = _Form("a port up to 65535", lambda value: not isinstance(value, int) or 0 <= value < _PORTS)
_MEDIUM: Final = _Form("Memory, HugePages or nothing", _matches(r"|Memory|HugePages(-.+)?"))
_DURATION: Final = _Form("a duration in h, m and s, for example 720h, or Never", _matches(r"(([0-9]+(s|m|h))+|Never)"))
_LIMITED: Final = _Form(
    "Container, Pod or PersistentVolumeClaim", _matches(r"Container|Pod|PersistentVolumeClaim|.*/.*")
)

_SHARE: Final = _Form("a number or a percentage without a space", _matches(r"[0-9]+%?"))
_WEIGHT: Final = _Form("a weight from 1 to 100", lambda value: not isinstance(value, int) or 0 < value <= 100)
_FIELD: Final = _Form(
    "a field of a pod, for example metadata.name",
    _matches(
        r"metadata\.(name|namespace|uid|labels|annotations)(\[.*)?|spec\.(nodeName|serviceAccountName)"
        r"|status\.(hostIPs?|podIPs?)"
    ),
)
_IMAGE: Final = _Form("an image without spaces", _matches(r"\S*|[^a-z]*"))
_RESOURCE: Final = _Form(
    "cpu, memory, ephemeral-storage, or a name with a domain",
    _matches_if_plain(
        r"cpu|memory|ephemeral-storage|hugepages-.+|.*/.*|(?i:.*gpu.*|.*tpu.*)"
    ),  # a check of its own has gpu
)
_RETRIES: Final = _Form(
    "Always, OnFailure, OnError or OnTransientError", _matches("Always|OnFailure|OnError|OnTransientError")
)
_SERVICE: Final = _Form("ClusterIP, NodePort or LoadBalancer", _matches("|ClusterIP|NodePort|LoadBalancer"))

_WEIGHTED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_OF_OBJECTS: Final = (("metadata.name", _NAME), ("metadata.namespace", _PART), ("metadata.labels.*", _LABEL))
_OF_POD_SPECS: Final = (
    ("{containers,initContainers}[].name", _PART),
    ("containers[].ports[].containerPort", _PORT),
    ("containers[].ports[].hostPort", _PORT_OR_0),
    ("{containers,initContainers}[].image", _IMAGE),
    ("{containers,initContainers}[].env[].valueFrom.fieldRef.fieldPath", _FIELD),
    ("{containers,initContainers}[].resources.{limits,requests}^", _RESOURCE),
    ("{runtimeClassName,priorityClassName,serviceAccountName}", _NAME),
    (
        f"affinity.{{nodeAffinity,podAffinity,podAntiAffinity}}.{_WEIGHTED}[].weight",
        _WEIGHT,
    ),
    ("nodeSelector.*", _LABEL),
    ("volumes[].name", _PART),
    ("volumes[].emptyDir.medium", _MEDIUM),
)
_ARGO: Final = [f"argoproj.io {each}" for each in ("Workflow", "CronWorkflow", "WorkflowTemplate")]
_RAY: Final = [f"ray.io {each}" for each in ("RayCluster", "RayJob", "RayService")]
_ROWS: Final[Mapping[str, tuple[tuple[str, _Form], ...]]] = {
    " PersistentVolumeClaim": (("spec.resources.{requests,limits}.*", _AMOUNT),),
    "apps Deployment": (("spec.strategy.rollingUpdate.{maxUnavailable,maxSurge}", _SHARE),),
    "policy PodDisruptionBudget": (("spec.{minAvailable,maxUnavailable}", _SHARE),),
    **dict.fromkeys(_ARGO, (("spec{,.workflowSpec}{,.templates[]}.retryStrategy.retryPolicy", _RETRIES),)),
    **dict.fromkeys(_RAY, (("spec{,.rayClusterSpec,.rayClusterConfig}.headGroupSpec.serviceType", _SERVICE),)),
    "apps StatefulSet": (("spec.volumeClaimTemplates[].spec.resources.{requests,limits}.*", _AMOUNT),),
    " LimitRange": (
        ("spec.limits[].type", _LIMITED),
        ("spec.limits[].{max,min,default,defaultRequest}.*", _AMOUNT),
    ),
    " Service": (("spec.ports[].{port,targetPort}", _PORT),),
    "karpenter.sh NodePool": (
        ("spec.limits.*", _AMOUNT),
        ("spec.template.spec.{expireAfter,terminationGracePeriod}", _DURATION),
        ("spec.disruption.consolidateAfter", _DURATION),
    ),
}
"""Places with the form of their values. Amounts of pods are read, so they are left out."""


_RAY_GROUPS: Final = "spec{,.rayClusterSpec,.rayClusterConfig,.jobTemplate.rayClusterSpec}.workerGroupSpecs[]"


def _least_above_most(value: paths.Object) -> Iterator[model.UnreadKey]:
    """Worker groups of Ray whose minReplicas is above their maxReplicas, which KubeRay refuses."""
    for where, group in at(value, _RAY_GROUPS):
        least, most = (group.get(key) for key in ("minReplicas", "maxReplicas")) if isinstance(group, dict) else (0, 0)
        if isinstance(least, int) and isinstance(most, int) and least > most:
            text = f"has minReplicas {least} above maxReplicas {most} at {paths.readable(where)}, which KubeRay refuses"
            remedy = "set minReplicas to at most maxReplicas"
            yield model.UnreadKey(path=f"{where}/minReplicas", text=text, remedy=remedy, important=True, refused=True)


def refused_forms(value: paths.Object, key: tuple[str, str], *, makes_pods: bool) -> Iterator[model.UnreadKey]:
    """The values of an object whose form the API server refuses.

    Args:
        value: the object.
        key: its group and kind.
        makes_pods: whether the object may hold pod specs.
    """
    of_object = () if _are_names(paths.metadata(value)) else _OF_OBJECTS
    for place, form in (*of_object, *_ROWS.get(" ".join(key), ())):
        yield from _refused(value, place, form, "")
    if key[0] == "ray.io":
        yield from _least_above_most(value)
    for spec, path, _ in pod_specs(value) if makes_pods else ():
        for place, form in () if _is_usual(spec) else _OF_POD_SPECS:
            yield from _refused(spec, place, form, path)


_NAMES: Final = re.compile(r"(?:[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?\n)*")
_LABELS: Final = re.compile(r"(?:(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?\n)*")


def _are_names(metadata: Mapping[str, Any]) -> bool:
    """Whether name and labels are right; nearly all objects end here, at a fraction of the cost of rows."""
    name, labels = metadata.get("name", "x"), metadata.get("labels") or {}
    try:
        written = f"{name}\n{metadata.get('namespace', 'x')}\n"
        return bool(_NAMES.fullmatch(written)) and bool(_LABELS.fullmatch("\n".join([*labels.values(), ""])))
    except (AttributeError, TypeError):
        return False


_NAMED: Final = ("runtimeClassName", "priorityClassName", "serviceAccountName")


def _are_known(resources: Mapping[str, Any]) -> bool:
    """Whether each resource of a container is one of the usual ones, or has a domain."""
    for name in (*(resources.get("limits") or ()), *(resources.get("requests") or ())):
        if name not in {"cpu", "memory"} and "/" not in name:
            return False
    return True


def _is_usual(spec: Mapping[str, Any]) -> bool:
    """As `_are_names`, for a pod spec without weights, ports of its host, and fields of it in variables."""
    try:
        parts = [*spec["containers"], *(spec.get("initContainers") or ()), *(spec.get("volumes") or ())]
        if any(_WEIGHTED in each for each in (spec.get("affinity") or {}).values()):
            return False
        if any((each.get("emptyDir") or {}).get("medium", "Memory") != "Memory" for each in parts):
            return False
        ports = [port for each in parts for port in each.get("ports") or ()]
        if any("hostPort" in each or not 0 < each["containerPort"] < _PORTS for each in ports):
            return False
        if any("fieldRef" in each.get("valueFrom", ()) for part in parts for each in part.get("env") or ()):
            return False
        selected = (spec.get("nodeSelector") or {}).values()
        classes = [spec[each] for each in _NAMED if each in spec]
        if any("resources" in each and not _are_known(each["resources"]) for each in parts):
            return False
        if any(" " in each.get("image", "") for each in parts) or any("." in each for each in classes):
            return False
        names = "\n".join([*(each["name"] for each in parts), *classes, ""])
        return bool(_NAMES.fullmatch(names)) and bool(_LABELS.fullmatch("\n".join([*selected, ""])))
    except (AttributeError, KeyError, TypeError):
        return False


def _refused(value: Mapping[str, Any], place: str, form: _Form, path: str) -> Iterator[model.UnreadKey]:
    if all(form.fits(each) for each in values_at(value, place) if not isinstance(each, (dict, list))):
        return
    for where, each in at(value, place, path):
        written = isinstance(each, (str, int, float)) and not isinstance(each, bool)
        if written and not is_placeholder(str(each)) and not form.fits(each):
            yield model.UnreadKey(
                path=where,
                text=f"has {str(each)[:80]!r} at {paths.readable(where)}, where the API server takes {form.takes}",
                remedy=f"write {form.takes}",
                important=True,
                refused=True,
            )


def _triggers(value: paths.Object) -> Iterator[model.UnreadKey]:
    """Triggers that KEDA does not know, and metadata that they lack or do not read."""
    known = environment.program_names()["triggers"]
    for where, trigger in at(value, "spec.triggers[]"):
        kind, metadata = (trigger.get(each) for each in ("type", "metadata")) if isinstance(trigger, dict) else ("", {})
        if not isinstance(kind, str) or not isinstance(metadata, dict) or is_placeholder(kind):
            continue
        if kind not in known and (like := environment.near(kind, known)):
            text = f"has a trigger of the type {kind[:60]} at {paths.readable(where)}, which KEDA does not know"
            yield environment.misread(f"{where}/type", text, f"did you mean {like}?", "controller")
        row = known.get(kind, {"needs": "", "others": ""})
        needs = row["needs"].split()
        names = {*needs, *row["others"].split(), "metricName", "metricType"}
        strays = [each for each in metadata if each.removesuffix("FromEnv") not in names]
        missing = [each for each in needs if each not in metadata and f"{each}FromEnv" not in metadata]
        for name in missing:
            stray = strays[0] if len(missing) == len(strays) == 1 else environment.near(name, strays, 0.5)
            text = (
                f"has a trigger {kind} at {paths.readable(where)} without {name} in its metadata, so KEDA makes no HPA"
            )
            remedy = f"rename {stray} to {name}" if stray else f"add {name} to {paths.readable(where)}.metadata"
            yield environment.misread(f"{where}/metadata", text, remedy, "controller")
            strays = [each for each in strays if each != stray]
        for stray in strays if needs else ():
            if like := environment.near(stray, names.difference(metadata), 0.85):
                text = f"has {stray} in the metadata of a trigger {kind}, and KEDA does not read it"
                yield environment.misread(
                    paths.join(f"{where}/metadata", stray), text, f"did you mean {like}?", "controller"
                )


_DEVICES_OF_SPARK: Final = re.compile(r"spark\.(driver|executor)\.resource\.gpu\.amount")


def _without_script(value: paths.Object) -> Iterator[model.UnreadKey]:
    for where, spec in at(value, "spec{,.template}"):
        options = spec.get("sparkConf") if isinstance(spec, dict) else None
        if not isinstance(options, dict) or "sparkConfigMap" in spec or "spark.resources.discoveryPlugin" in options:
            continue
        for key, amount in options.items():
            script = key.replace(".amount", ".discoveryScript")
            if _DEVICES_OF_SPARK.fullmatch(key) and str(amount) != "0" and script not in options:
                text = f"sets {key} without {script}: Spark does not start a process that cannot find its GPUs"
                remedy = f"set {script}, for example to /opt/spark/examples/src/main/scripts/getGpusResources.sh"
                yield environment.misread(paths.join(f"{where}/sparkConf", key), text, remedy, "controller")


_PROCESSES: Final = re.compile(r"\bmpi(?:run|exec)\b[^;&|]*?\s--?np?[\s=]+(\d+)\b", re.DOTALL)
_OTHER_SLOTS: Final = re.compile(r"oversubscribe|\s-H\s|--?host|hwthread|\$|ppr:|--?machinefile", re.IGNORECASE)


def _above_slots(value: paths.Object) -> Iterator[model.UnreadKey]:
    """More processes of Open MPI than the hostfile of an MPIJob has slots."""
    spec = paths.mapping(value.get("spec"))
    roles = paths.mapping(spec.get("mpiReplicaSpecs"))
    workers = paths.mapping(roles.get("Worker")).get("replicas", 1)
    slots = spec.get("slotsPerWorker", 1)
    if (
        spec.get("mpiImplementation", "OpenMPI") != "OpenMPI"
        or not isinstance(workers, int)
        or not isinstance(slots, int)
    ):
        return
    pods = workers + (spec.get("runLauncherAsWorker") is True)
    for where, launcher in at(roles, "Launcher.template.spec.containers[]", "/spec/mpiReplicaSpecs"):
        text = " ".join(texts_at(launcher, "command[] args[]"))
        found = _PROCESSES.search(text)
        if found and int(found[1]) > pods * slots and not _OTHER_SLOTS.search(text):
            message = (
                f"starts {found[1]} processes, but its {pods} workers have {pods * slots} slots, so mpirun refuses"
            )
            remedy = f"set slotsPerWorker to {-(-int(found[1]) // pods)}, or start {pods * slots} processes"
            yield environment.misread(
                f"{where}/command" if "command" in launcher else where, message, remedy, "controller"
            )


def _without_completions(value: paths.Object) -> Iterator[model.UnreadKey]:
    """Indexed Jobs without completions, which the API server refuses. Jobs of a JobSet are indexed by default."""
    is_set = value.get("kind") == "JobSet"
    for where, job in at(value, "spec.replicatedJobs[].template.spec" if is_set else "spec"):
        mode = job.get("completionMode", "Indexed" if is_set else "") if isinstance(job, dict) else ""
        if mode == "Indexed" and job.get("completions") is None and job.get("parallelism") is not None:
            text = f"has indexed pods without completions at {paths.readable(where)}, so the API server refuses the Job"
            remedy = f"set completions to {job['parallelism']}, the number of pods"
            yield environment.misread(where, text, remedy, "", refused=True)


_MODES: Final = frozenset({"RawDeployment", "Standard"})
_METRICS_OF_HPA: Final = frozenset({"cpu", "memory"})


def _of_inference_service(value: paths.Object) -> Iterator[model.UnreadKey]:
    annotations = paths.mapping(paths.metadata(value).get("annotations"))
    by_hpa = annotations.get("serving.kserve.io/autoscalerClass") == "hpa"
    if annotations.get("serving.kserve.io/deploymentMode") in _MODES and by_hpa:
        for where, metric in at(value, "spec.{predictor,transformer,explainer}.scaleMetric"):
            if isinstance(metric, str) and metric not in _METRICS_OF_HPA:
                text = f"scales by {metric[:60]} with an HPA, where KServe takes cpu and memory"
                remedy = "set scaleMetric to cpu or memory, or autoscalerClass to keda with a metric of its own"
                yield environment.misread(where, text, remedy, "controller")


def _of_llm_service(value: paths.Object) -> Iterator[model.UnreadKey]:
    for where, part in at(value, "spec{,.prefill}"):
        stages = paths.mapping(part.get("parallelism")).get("pipeline", 1) if isinstance(part, dict) else 1
        if not isinstance(stages, int) or stages <= 1 or "worker" in part:
            continue
        given = " ".join(texts_at(part, "template.containers[].{command[],args[],env[].value}"))
        if "pipeline-parallel-size" not in given and not texts_at(part, "template.containers[].command[]"):
            text = f"sets parallelism.pipeline to {stages} without worker: no preset of KServe hands it to a server of one pod"
            remedy = "use parallelism.tensor, or set --pipeline-parallel-size in VLLM_ADDITIONAL_ARGS"
            yield environment.misread(f"{where}/parallelism/pipeline", text, remedy, "controller")


_TASK_GROUP: Final = "yunikorn.apache.org/task-group-name"
_TASK_GROUPS: Final = "yunikorn.apache.org/task-groups"


def _task_groups(value: paths.Object) -> Iterator[model.UnreadKey]:
    """Task groups of YuniKorn that pods name and that no annotation beside them defines."""
    found = list(_annotations_of_pods(value, ""))
    written = [each[_TASK_GROUPS] for _, each in found if _TASK_GROUPS in each]
    if not any(_TASK_GROUP in each for _, each in found) or len(written) != 1:
        return
    try:
        names = [str(each["name"]) for each in orjson.loads(written[0])]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return
    for where, each in found:
        name = each.get(_TASK_GROUP)
        if isinstance(name, str) and name not in names and not is_placeholder(name):
            text = f"has pods of the task group {name[:60]}, which {_TASK_GROUPS} does not define, so they replace no placeholder"
            like = environment.near(name, names, 0.6)
            remedy = f"did you mean {like}?" if like else f"name one of them ({', '.join(names[:5])})"
            yield environment.misread(paths.join(where, _TASK_GROUP), text, remedy, "controller")


def _annotations_of_pods(value: Any, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:  # noqa: ANN401 - any JSON
    if isinstance(value, dict):
        metadata, spec = value.get("metadata"), value.get("spec")
        if isinstance(metadata, dict) and isinstance(spec, dict) and "containers" in spec:
            yield f"{path}/metadata/annotations", paths.mapping(metadata.get("annotations"))
        for key, each in value.items():
            if isinstance(each, (dict, list)) and key not in _NO_PODS:
                yield from _annotations_of_pods(each, paths.join(path, key))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _annotations_of_pods(each, f"{path}/{index}")


def _features(value: paths.Object) -> Iterator[model.UnreadKey]:
    """Features that node feature discovery does not have; other sources may add features of their own."""
    known = environment.program_names()["features"]
    sources = {*(each.partition(".")[0] for each in known), "kubernetes", "node"}
    for where, name in texts_with_paths(value, "spec.rules[].{,matchAny[].}matchFeatures[].feature"):
        if name not in known and name.partition(".")[0] in sources:
            text = f"matches the feature {name[:60]}, which node feature discovery does not have, so it sets no label"
            like = environment.near(name, known, 0.75)
            remedy = f"did you mean {like}?" if like else f"use one of its features: {', '.join(sorted(known)[:6])} ..."
            yield environment.misread(where, text, remedy, "controller")


_KEDA: Final = ("keda.sh ScaledObject", "keda.sh ScaledJob")
_OF_KINDS: Final[Mapping[str, Callable[[paths.Object], Iterator[model.UnreadKey]]]] = {
    **dict.fromkeys(_KEDA, _triggers),
    "sparkoperator.k8s.io SparkApplication": _without_script,
    "sparkoperator.k8s.io ScheduledSparkApplication": _without_script,
    "kubeflow.org MPIJob": _above_slots,
    "batch Job": _without_completions,
    "jobset.x-k8s.io JobSet": _without_completions,
    "serving.kserve.io InferenceService": _of_inference_service,
    "serving.kserve.io LLMInferenceService": _of_llm_service,
    "nfd.k8s-sigs.io NodeFeatureRule": _features,
}
"""What controllers of kinds refuse, or cannot use."""
_METRICS: Final = {
    **dict.fromkeys(_KEDA, "spec.triggers[].metadata.query"),
    "autoscaling HorizontalPodAutoscaler": "spec.metrics[].{pods,external,object}.metric.name",
}
"""Places with names of metrics."""


def refused_by_programs(value: paths.Object, key: tuple[str, str], *, makes_pods: bool) -> Iterator[model.UnreadKey]:
    """The values of an object that its controller or a program in its pods refuses or does not read.

    Args: as of refused_forms.
    """
    kind = " ".join(key)
    if (rule := _OF_KINDS.get(kind)) is not None:
        yield from rule(value)
    if kind in _METRICS:
        for where, text in texts_with_paths(value, _METRICS[kind]):
            yield from environment.unknown_metrics(text, where, is_query=kind in _KEDA)
    if not makes_pods:
        return
    sets = environment.set_by_controller(kind, value)
    for spec, path, _ in pod_specs(value):
        for where, container in at(spec, "{containers,initContainers}[]", path):
            yield from environment.misread_variables(container, where, sets)
    yield from _task_groups(value)
