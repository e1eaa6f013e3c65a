"""Values that only the controller of an object refuses or cannot use, though its definition takes them.

Sources beside `program_names.json`: ResourceDiscoveryScriptPlugin.scala of apache/spark; orterun(1) of Open MPI on
slots, and the hostfile in pkg/controller/mpi_job_controller.go of kubeflow/mpi-operator; SetDefaults_Job and
validateJobSpec of kubernetes/kubernetes v1.36 with pkg/webhooks/jobset_webhook.go of kubernetes-sigs/jobset;
ValidateHorizontalPodAutoscaler of kubernetes/kubernetes; pkg/apis/serving/v1beta1/inference_service_validation.go of
kserve/kserve, and kserve/kserve#6044; pkg/webhooks/clusterqueue_webhook.go of kubernetes-sigs/kueue;
pkg/webhooks/*_webhook.go and DefaultContainerName in pkg/apis/kubeflow.org/v1 of kubeflow/training-operator; names of
pods: pkg/jobs of kubernetes-sigs/jobset, pkg/controllers/job/helpers of volcano-sh/volcano, pkg/controller.v1/common of
kubeflow/training-operator.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from usher import memo, model, paths
from usher.kinds.reading import counts, environment, queues, refused_values
from usher.kinds.reading.value_forms import (
    PodSpec,
    at,
    is_placeholder,
    texts_at,
    texts_with_paths,
    values_at,
)


def _refused(path: str, text: str, remedy: str) -> model.UnreadKey:
    """A value that the controller of its object does not take or does not use."""
    return environment.misread(path, text, remedy, "controller")


def _triggers(value: paths.Object) -> Iterator[model.UnreadKey]:
    """Triggers that KEDA does not know, and metadata that they lack or do not read."""
    known = environment.program_names()["triggers"]
    for where, trigger in at(value, "spec.triggers[]"):
        if not isinstance(trigger, dict):
            continue
        kind, metadata = trigger.get("type"), trigger.get("metadata")
        if not isinstance(kind, str) or not isinstance(metadata, dict) or is_placeholder(kind):
            continue
        if kind not in known and (like := environment.near(kind, known)):
            text = f"has a trigger of the type {kind[:60]} at {paths.readable(where)}, which KEDA does not know"
            yield _refused(f"{where}/type", text, f"did you mean {like}?")
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
            yield _refused(f"{where}/metadata", text, remedy)
            strays = [each for each in strays if each != stray]
        for stray in strays if needs else ():
            if like := environment.near(stray, names.difference(metadata), 0.85):
                text = f"has {stray} in the metadata of a trigger {kind}, and KEDA does not read it"
                yield _refused(paths.join(f"{where}/metadata", stray), text, f"did you mean {like}?")


_DEVICES_OF_SPARK: Final = memo.pattern(r"spark\.(driver|executor)\.resource\.gpu\.amount")


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
                yield _refused(paths.join(f"{where}/sparkConf", key), text, remedy)


_MPIRUN: Final = memo.pattern(r"\bmpi(?:run|exec)\b")
_PROCESSES: Final = memo.pattern(r"\s--?np?[\s=]+(\d{1,18})\b")
_OTHER_SLOTS: Final = memo.pattern(r"oversubscribe|\s-H\s|--?host|hwthread|\$|ppr:|--?machinefile", re.IGNORECASE)


def _words(container: Any) -> str:  # noqa: ANN401 - any JSON
    return " ".join(texts_at(container, "command[] args[]"))


def _number_after(text: str, program: re.Pattern[str], option: re.Pattern[str]) -> int | None:
    """The number of an option after the first start of a program, in time that grows with the text alone."""
    start = program.search(text)
    found = option.search(text, start.end()) if start else None
    return int(found[1]) if found else None


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
        or min(workers, slots) < 1
    ):
        return
    pods = workers + (spec.get("runLauncherAsWorker") is True)
    for where, launcher in at(roles, "Launcher.template.spec.containers[]", "/spec/mpiReplicaSpecs"):
        text = _words(launcher)
        started = (_number_after(part, _MPIRUN, _PROCESSES) for part in re.split(r"[;&|]", text))
        processes = next((each for each in started if each is not None), 0)
        if processes > pods * slots and not _OTHER_SLOTS.search(text):
            message = (
                f"starts {processes} processes, but its {pods} workers have {pods * slots} slots, so mpirun refuses"
            )
            remedy = f"set slotsPerWorker to {-(-processes // pods)}, or start {pods * slots} processes"
            yield _refused(f"{where}/command" if "command" in launcher else where, message, remedy)


_RAY_IMAGE: Final = memo.pattern(r"\brayproject/ray(?:-ml|-llm)?:(\d{1,3}\.\d{1,3}\.\d{1,3})")


def _versions_of_ray(value: paths.Object) -> Iterator[model.UnreadKey]:
    """Images of another version than that of the head; a worker joins no other one (check_version_info of Ray)."""
    yield from counts.refused_counts_of_ray(value)
    spec = paths.mapping(value.get("spec"))
    inner = next((key for key in ("rayClusterSpec", "rayClusterConfig") if key in spec), "")
    cluster, above = (paths.mapping(spec[inner]), f"/spec/{inner}") if inner else (spec, "/spec")
    places = "headGroupSpec.template.spec.containers[].image workerGroupSpecs[].template.spec.containers[].image"
    images = [
        (where, found[1])
        for where, text in texts_with_paths(cluster, places, above)
        if (found := _RAY_IMAGE.search(text))
    ]
    written = cluster.get("rayVersion")
    for where, version in images:
        if version != images[0][1]:
            text = f"has workers with Ray {version}, which do not join a head with Ray {images[0][1]}"
            yield _refused(where, text, "use images of one version")
            return
    if images and isinstance(written, str) and re.fullmatch(r"[\d.]{5,12}", written) and written != images[0][1]:
        text = f"says Ray {written}, but its images have Ray {images[0][1]}, and KubeRay configures them for {written}"
        yield _refused(f"{above}/rayVersion", text, f"write {images[0][1]}")


_CONTAINERS: Final = {
    "JAXJob": ("jaxReplicaSpecs", "jax"),
    "PaddleJob": ("paddleReplicaSpecs", "paddle"),
    "PyTorchJob": ("pytorchReplicaSpecs", "pytorch"),
    "TFJob": ("tfReplicaSpecs", "tensorflow"),
    "XGBoostJob": ("xgbReplicaSpecs", "xgboost"),
}
"""The container that the training operator looks for in each role, by kind."""


def _without_named_container(value: paths.Object) -> Iterator[model.UnreadKey]:
    field, name = _CONTAINERS[str(value.get("kind"))]
    for where, spec in at(value, f"spec.{field}.*.template.spec"):
        names = texts_at(spec, "containers[].name")
        if names and name not in names and not any(map(is_placeholder, names)):
            text = f"has no container {name} at {paths.readable(where)}, so the training operator refuses it"
            remedy = f"name the container {name}" if len(names) == 1 else f"name one of the containers {name}"
            yield _refused(f"{where}/containers/0/name", text, remedy)


def _to_zero(value: paths.Object) -> Iterator[model.UnreadKey]:
    """An HPA to zero, which the API server refuses without a metric that exists then, and without a feature gate."""
    spec = paths.mapping(value.get("spec"))
    refused = {"Object", "External"}.isdisjoint(texts_at(spec, "metrics[].type"))
    if spec.get("minReplicas") == 0:
        text = "without a metric of the type Object or External, so the API server refuses it"
        text = text if refused else "which an API server without the feature gate HPAScaleToZero refuses"
        text, remedy = f"has minReplicas 0, {text}", "set minReplicas to 1, or scale to zero with KEDA"
        yield environment.misread("/spec/minReplicas", text, remedy, "" if refused else "controller", refused=refused)


def _of_cluster_queue(value: paths.Object) -> Iterator[model.UnreadKey]:
    for where, preemption in at(value, "spec.preemption"):
        borrows = texts_at(preemption, "borrowWithinCohort.policy")
        if borrows and borrows[0] != "Never" and preemption.get("reclaimWithinCohort", "Never") == "Never":
            text = "borrows by preemption, but reclaimWithinCohort is Never, so Kueue refuses it"
            remedy = "set reclaimWithinCohort to LowerPriority or Any, or borrowWithinCohort.policy to Never"
            yield _refused(f"{where}/borrowWithinCohort/policy", text, remedy)


_HOSTS: Final = memo.pattern(
    r"(?:--(?:master[-_]addr|rdzv[-_]endpoint|dist-init-addr|coordinator[-_]address|head[-_]node[-_]addr|(?:ray[-_])?address)[=\s]+"
    r"|\bMASTER_ADDR=)[\"']?([a-z0-9][-a-z0-9.]*)(?=[:\s\"']|$)"
)
_DOTS: Final = memo.pattern(r"[.:]")
_ADDRESSES: Final = frozenset(
    {"MASTER_ADDR", "PET_MASTER_ADDR", "PET_RDZV_ENDPOINT", "COORDINATOR_ADDRESS", "JAX_COORDINATOR_ADDRESS"}
)


_NUMBER_PODS: Final = frozenset({"JobSet", "Job", "MPIJob", *_CONTAINERS})


def _pods_of(value: paths.Object) -> tuple[str, list[str]]:
    """The name of an object, and patterns of the names of its pods as hosts; no pattern for other kinds."""
    kind = str(value.get("kind"))
    if kind not in _NUMBER_PODS:
        return "", []
    name = re.escape(paths.text(paths.metadata(value).get("name")))
    number = r"\d+"
    if kind == "JobSet":
        jobs = texts_at(value, "spec.replicatedJobs[].name")
        return name, [rf"{name}-{re.escape(each)}-{number}-{number}" for each in jobs]
    if kind == "Job" and str(value.get("apiVersion")).startswith("batch.volcano"):
        return name, [rf"{name}-{re.escape(each)}-{number}" for each in texts_at(value, "spec.tasks[].name")]
    field = "mpiReplicaSpecs" if kind == "MPIJob" else _CONTAINERS.get(kind, ("", ""))[0]
    roles = paths.mapping(paths.mapping(value.get("spec")).get(field)) if field else {}
    return name, [rf"{name}-{re.escape(each.lower())}-{number}" for each in roles]


def _first_ranks(value: paths.Object, kind: str, specs: Sequence[PodSpec]) -> Iterator[model.UnreadKey]:
    """Addresses of the first rank that begin as names of own pods do and that no pod has, or in another namespace."""
    name, pods = _pods_of(value)
    network = paths.mapping(paths.mapping(value.get("spec")).get("network"))
    service = (paths.text(network.get("subdomain")) or name.replace("\\", "")) if "JobSet" in kind else ""
    namespace = paths.text(paths.metadata(value).get("namespace"))
    for spec, path, _ in specs if pods or kind in _RANKED else ():
        texts = list(texts_with_paths(spec, "containers[].{command[],args[],env[].value}", path))
        for (where, text), (_, after) in zip(texts, [*texts, ("", "")][1:], strict=True):
            variable = _variable(spec, where.removeprefix(path)) if where.endswith("/value") else ""
            if variable and variable not in _ADDRESSES:
                continue
            given = (each for each in _HOSTS.finditer(f"{text} {after}") if each.start() < len(text))
            for host, *domain in map(_DOTS.split, [text] if variable else (each[1] for each in given)):
                own = name and re.match(rf"{name}-\D", host) and re.search(r"-\d+$", host)
                if pods and own and not any(re.fullmatch(each, host) for each in pods):
                    listed = ", ".join(each.replace("\\d+", "0").replace("\\", "") for each in pods[:3])
                    message = f"addresses the pod {host[:100]}, which it does not make"
                    yield _refused(where, message, f"write the name of one of its pods ({listed})")
                if domain and service and domain[0] != service and any(re.fullmatch(each, host) for each in pods):
                    message = f"addresses its pods in the Service {domain[0][:60]}, but they are in {service[:60]}"
                    yield _refused(where, message, f"write {host[:100]}.{service[:60]}")
                named = domain[domain.index("svc") - 1] if "svc" in domain[1:] and variable != "MASTER_ADDR" else ""
                if named and namespace not in {"", "default", named} and not is_placeholder(named):
                    message = f"addresses the first rank in the namespace {named[:63]}, but its pods run in {namespace}"
                    remedy = "use the namespace of the pods, or a name without a namespace"
                    yield _refused(where, message, remedy)


_ENDINGS: Final = r"(?:bin|csv|err|gz|json|log|npy|out|parquet|pth?|safetensors|tar|txt|ya?ml)\b"
"""Ends of names of files, which are not Services."""


def _names_without_dns(value: paths.Object, kind: str, specs: Sequence[PodSpec]) -> Iterator[model.UnreadKey]:
    """Addresses of own pods by a Service, where the pods of a Job or a StatefulSet lack it or are in another one.

    Sources: kubernetes.io, DNS for Services and Pods, on subdomain; StatefulSets on serviceName.
    """
    name = paths.text(paths.metadata(value).get("name"))
    for spec, path, _ in specs if name and kind in ("batch Job", "apps StatefulSet") else ():
        own = re.compile(
            rf"(?:(?<![\w./-])|(?<=//)){re.escape(name)}-0\.(?!{_ENDINGS})([a-z][a-z0-9-]{{0,62}})(?![\w-])"
        )
        of_set = kind == "apps StatefulSet"
        given = paths.mapping(value.get("spec")).get("serviceName") if of_set else spec.get("subdomain")
        for where, text in texts_with_paths(spec, "containers[].{command[],args[],env[].value}", path):
            found = own.search(text)
            if found and given != found[1] and not is_placeholder(paths.text(given)):
                field = "serviceName" if of_set else "subdomain of the pods"
                message = f"addresses its first pod as {found[0]}, but has {given or 'no name'} as {field}"
                remedy = f"set {field} to {found[1]}, and add a headless Service of this name"
                yield _refused(where, message, remedy)
                break


def _names_without_service(value: paths.Object, kind: str, specs: Sequence[PodSpec]) -> Iterator[model.UnreadKey]:
    """Addresses of pods of a Job of Volcano by their host name alone (VC:pkg/controllers/job/plugins/svc)."""
    name = paths.text(paths.metadata(value).get("name"))
    tasks = texts_at(value, "spec.tasks[].name") if name and kind == "batch.volcano.sh Job" else ()
    own = re.compile(rf"(?<![\w./-]){re.escape(name)}-(?:{'|'.join(map(re.escape, tasks))})-\d+(?![\w.-])")
    for spec, path, _ in specs if tasks else ():
        for where, text in texts_with_paths(spec, "containers[].{args[],command[],env[].value}", path):
            if (found := own.search(text)) and _ADDRESS.search(f"{where} {text}"):
                message = f"addresses a pod as {found[0][:120]} without its Service, and DNS has no name like that"
                yield _refused(where, message, f"write {found[0][:120]}.{name[:60]}")
                break


_ADDRESS: Final = memo.pattern(r"/env/|addr|endpoint|://|tcp|--head|rdzv|-H\b|--host\b", re.IGNORECASE)
_EXECUTE: Final = 0o111


def _not_executable(spec: Mapping[str, Any], path: str) -> Iterator[model.UnreadKey]:
    """Commands that are files of a ConfigMap or a Secret, mounted without the right to execute them."""
    volumes = {paths.text(each.get("name")): each for _, each in at(spec, "volumes[]") if isinstance(each, dict)}
    for where, container in at(spec, "{containers,initContainers}[]", path):
        first = (texts_at(container, "command[]") or [""])[0]
        for _, each in at(container, "volumeMounts[]") if first.startswith("/") else ():
            mount = paths.mapping(each)
            folder = paths.text(mount.get("mountPath")).rstrip("/")
            volume = volumes.get(paths.text(mount.get("name")), {})
            source = paths.mapping(volume.get("configMap") or volume.get("secret"))
            modes = (source.get("defaultMode", 0o644), *values_at(source, "items[].mode"))
            if (
                folder
                and source
                and f"{first}/".startswith(f"{folder}/")
                and not any(isinstance(mode, int) and mode & _EXECUTE for mode in modes)
            ):
                message = f"starts {first[:100]}, a file of a volume without the right to execute its files"
                yield _refused(f"{where}/command/0", message, "set defaultMode of the volume to 0755, or start a shell")


def _variable(spec: Mapping[str, Any], place: str) -> str:
    """The name of the variable with the value at a place."""
    _, _, container, _, variable, _ = place.split("/")
    return paths.text(spec["containers"][int(container)]["env"][int(variable)].get("name"))


_MODES: Final = frozenset({"RawDeployment", "Standard"})
_METRICS_OF_HPA: Final = frozenset({"cpu", "memory"})
_AUTOSCALERS: Final = ("hpa", "keda", "external", "none")


def _of_inference_service(value: paths.Object) -> Iterator[model.UnreadKey]:
    annotations = paths.mapping(paths.metadata(value).get("annotations"))
    chosen = annotations.get("serving.kserve.io/autoscalerClass")
    if isinstance(chosen, str) and chosen not in _AUTOSCALERS and not is_placeholder(chosen):
        where = "/metadata/annotations/serving.kserve.io~1autoscalerClass"
        text = f"names the autoscalerClass {chosen[:60]}, which KServe refuses"
        yield _refused(where, text, f"write one of {', '.join(_AUTOSCALERS)}")
    by_hpa = chosen == "hpa"
    if paths.text(annotations.get("serving.kserve.io/deploymentMode")) in _MODES and by_hpa:
        for where, metric in at(value, "spec.{predictor,transformer,explainer}.scaleMetric"):
            if isinstance(metric, str) and metric not in _METRICS_OF_HPA:
                text = f"scales by {metric[:60]} with an HPA, where KServe takes cpu and memory"
                remedy = "set scaleMetric to cpu or memory, or autoscalerClass to keda with a metric of its own"
                yield _refused(where, text, remedy)


def _of_llm_service(value: paths.Object) -> Iterator[model.UnreadKey]:
    for where, part in at(value, "spec{,.prefill}"):
        stages = paths.mapping(part.get("parallelism")).get("pipeline", 1) if isinstance(part, dict) else 1
        if not isinstance(stages, int) or stages <= 1 or "worker" in part:
            continue
        given = " ".join(texts_at(part, "template.containers[].{command[],args[],env[].value}"))
        if "pipeline-parallel-size" not in given and not texts_at(part, "template.containers[].command[]"):
            text = f"sets parallelism.pipeline to {stages} without worker, and KServe drops it for a server of one pod"
            remedy = "use parallelism.tensor, or set --pipeline-parallel-size in VLLM_ADDITIONAL_ARGS"
            yield _refused(f"{where}/parallelism/pipeline", text, remedy)


_RANK: Final = memo.pattern(r"--(node|machine)[-_]rank[=\s]+[\"']?(\d{1,18})\b")
_OWN_HOST: Final = memo.pattern(
    r"--(?:rdzv[-_]endpoint|master[-_]addr)[=\s]+[\"']?(localhost|127\.0\.0\.1|\$\(hostname[^)]{0,9}\)|\$\{?HOSTNAME\b)"
)
_SERVER_OF_RANK: Final = memo.pattern(
    r"(?s)(?:\bsglang\.launch_server\b|\bvllm\s+serve\b|\bvllm\.entrypoints).{0,2000}?--nnodes[=\s]+[\"']?([2-9]|\d\d)\b"
)
_RANKS: Final = memo.pattern(r"node[-_]rank|rdzv|standalone|PET_|\bsrun\b")
_RANKED: Final = {
    "apps StatefulSet": ("spec replicas", "${HOSTNAME##*-}"),
    "batch Job": ("spec parallelism", "$JOB_COMPLETION_INDEX"),
    "batch.volcano.sh Job": ("spec.tasks[] replicas", "$VC_TASK_INDEX"),
    "jobset.x-k8s.io JobSet": ("spec.replicatedJobs[] replicas template.spec.parallelism", "$JOB_COMPLETION_INDEX"),
    "kubeflow.org PyTorchJob": ("spec.pytorchReplicaSpecs.* replicas", "$RANK"),
    "leaderworkerset.x-k8s.io LeaderWorkerSet": ("spec.leaderWorkerTemplate size", "$LWS_WORKER_INDEX"),
}
"""Kinds that give torchrun no rank: templates, fields whose product is their pods, where a shell reads the rank."""


def _pods_of_templates(value: paths.Object, kind: str) -> dict[str, int]:
    """The pods that templates make at one time, by the beginning of their paths; empty where a number is unknown."""
    places, *fields = _RANKED[kind][0].split()
    found = dict[str, int]()
    for where, part in at(value, places):
        found[f"{where}/"] = 1
        for field in fields:
            for _, number in at(part, field):
                if not isinstance(number, int):
                    return {}
                found[f"{where}/"] *= number
    return found


def _starts_of_torchrun(value: paths.Object, kind: str, specs: Sequence[PodSpec]) -> Iterator[model.UnreadKey]:
    """Starts of torchrun on several nodes that wait for nodes that do not come (pytorch.org, torchrun).

    The training operator gives ranks only with a Master or an elasticPolicy (pkg/controller.v1/pytorch/envvar.go).
    """
    spec = paths.mapping(value.get("spec"))
    if kind not in _RANKED or "elasticPolicy" in spec:
        return
    pods, has_ranks = _pods_of_templates(value, kind), "Master" in paths.mapping(spec.get("pytorchReplicaSpecs"))
    for pod, path, _ in specs:
        own = next((number for beginning, number in pods.items() if path.startswith(beginning)), 1)
        if "leaderTemplate" in paths.mapping(spec.get("leaderWorkerTemplate")):
            own = 1 if "/leaderTemplate/" in path else own - 1
        for where, container in at(pod, "containers[]", path):
            yield from _rank_of_all_pods(container, where, kind, own)
            text = _words(container)
            nodes = _number_after(text, counts.TORCHRUN, counts.NODES) or 0
            if own > 1 and (server := _SERVER_OF_RANK.search(text)) and (rank := _RANK.search(text)):
                message = f"starts the node rank {rank[2]} of {server[1]} in {own} pods, so they wait for the others"
                yield _refused(where, message, f"write --node-rank={_RANKED[kind][1]} in the script of a shell")
            if nodes <= 1:
                continue
            names, rank = " ".join(texts_at(container, "env[].name")), _RANK.search(text)
            program = "Accelerate" if "accelerate" in text else "torchrun"
            if own > 1 and (host := _OWN_HOST.search(text)):
                message = (
                    f"starts {program} on {nodes} nodes that meet at {host[1]}, so each pod waits for itself alone"
                )
                yield _refused(where, message, "name the first pod, for example by a headless Service")
            elif rank and own > 1 and "rdzv" not in text:
                message = (
                    f"starts {program} with the {rank[1]} rank {rank[2]} in {own} pods, so they wait for the others"
                )
                remedy = f"write --{rank[1]}_rank={_RANKED[kind][1]} in the script of a shell"
                yield _refused(where, message, remedy)
            elif program == "torchrun" and not (
                has_ranks or _RANKS.search(f"{text} {names}") or "envFrom" in container
            ):
                message = (
                    f"starts torchrun on {nodes} nodes without rank or rendezvous, so each waits as the first node"
                )
                remedy = "add --rdzv_backend=c10d --rdzv_endpoint=HOST:29500, or --node_rank and --master_addr"
                yield _refused(where, message, remedy)


_RANK_VARIABLES: Final = {"RANK": "WORLD_SIZE", "PET_NODE_RANK": "PET_NNODES"}


def _rank_of_all_pods(container: Any, path: str, kind: str, pods: int) -> Iterator[model.UnreadKey]:  # noqa: ANN401 - any JSON
    """A rank that a template gives all its pods. The training operator sets its own."""
    given = {
        paths.text(each.get("name")): paths.text(each.get("value"))
        for each in (paths.mapping(each) for _, each in at(container, "env[]"))
    }
    for rank, size in _RANK_VARIABLES.items():
        if (
            pods > 1
            and kind != "kubeflow.org PyTorchJob"
            and given.get(rank, "").isdecimal()
            and given.get(size, "1") != "1"
        ):
            text = f"sets {rank} to {given[rank][:9]} in {pods} pods, so they wait for the other ranks"
            remedy = f"set it in the script of a shell: export {rank}={_RANKED[kind][1]}"
            yield _refused(path, text, remedy)


_Pods = Sequence[tuple[str, Mapping[str, Any]]]
"""The metadata of pods and templates of pods, or a part of them, each with its place."""

_OLD_LABELS: Final = {"runai/queue": "kai.scheduler/queue", "runai/node-pool": "kai.scheduler/node-pool"}


def _former_labels(value: paths.Object, of_pods: _Pods) -> Iterator[model.UnreadKey]:
    """Labels of KAI-Scheduler before 0.5 on pods that name it, and on their object."""
    own = [("/metadata/labels", paths.mapping(paths.metadata(value).get("labels")))]
    for where, labels in dict((*own, *of_pods)).items():
        for old, new in _OLD_LABELS.items():
            if old in labels and new not in labels and "'kai-scheduler'" in str(value.get("spec")):
                text = f"carries the label {old} at {paths.readable(where)}, which KAI-Scheduler no longer reads"
                yield _refused(paths.join(where, old), text, f"write {new}")


def _metadata_of_pods(value: paths.Object, specs: Sequence[PodSpec]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for path in (path.removesuffix("/spec") for _, path, _ in specs if path.endswith("/spec")):
        found = paths.mapping(paths.resolve(value, path)).get("metadata")
        if isinstance(found, dict):
            yield f"{path}/metadata", found


def _parts(pods: _Pods, part: str) -> _Pods:
    """The labels or annotations of pods, each with its place."""
    return [(f"{where}/{part}", found) for where, metadata in pods if (found := paths.mapping(metadata.get(part)))]


def _features(value: paths.Object) -> Iterator[model.UnreadKey]:
    """Slips in features of node feature discovery; its later versions and other sources may have more of them."""
    known = environment.program_names()["features"]
    sources = {*(each.partition(".")[0] for each in known), "kubernetes", "node"}
    for where, name in texts_with_paths(value, "spec.rules[].{,matchAny[].}matchFeatures[].feature"):
        like = environment.near(name, known, 0.75) if name.partition(".")[0] in sources else ""
        if like and name not in known:
            text = f"matches the feature {name[:60]}, which node feature discovery does not have, so it sets no label"
            yield _refused(where, text, f"did you mean {like}?")


_MOST_OF_NAME: Final = 63


def _of_job_set(value: paths.Object) -> Iterator[model.UnreadKey]:
    """Counts that the API server refuses, and names of Jobs and pods that are too long (pkg/webhooks of JobSet)."""
    yield from counts.refused_counts_of_jobs(value)
    name = paths.text(paths.metadata(value).get("name"))
    for where, job in at(value, "spec.replicatedJobs[]") if name and not is_placeholder(name) else ():
        of_job = "".join(texts_at(job, "name"))
        replicas, pods = (values_at(job, place) for place in ("replicas", "template.spec.completions"))
        longest = f"{name}-{of_job}-{_last(replicas)}"
        if pods and "NonIndexed" not in texts_at(job, "template.spec.completionMode"):
            longest += f"-{_last(pods)}-12345"
        if (length := len(longest)) > _MOST_OF_NAME:
            text = f"makes names of {length} letters for {of_job[:63]}, where JobSet takes {_MOST_OF_NAME}"
            yield _refused(f"{where}/name", text, f"shorten the name of the JobSet by {length - _MOST_OF_NAME} letters")


def _last(numbers: Sequence[Any]) -> int:
    """The index of the last of so many objects; 0 where the number is unknown."""
    return max((each for each in numbers if isinstance(each, int)), default=1) - 1


_KEDA: Final = ("keda.sh ScaledObject", "keda.sh ScaledJob")
_OF_KINDS: Final[Mapping[str, Callable[[paths.Object], Iterator[model.UnreadKey]]]] = {
    **dict.fromkeys(_KEDA, _triggers),
    "sparkoperator.k8s.io SparkApplication": _without_script,
    "sparkoperator.k8s.io ScheduledSparkApplication": _without_script,
    "kubeflow.org MPIJob": _above_slots,
    "batch Job": counts.refused_counts_of_job,
    "jobset.x-k8s.io JobSet": _of_job_set,
    "serving.kserve.io InferenceService": _of_inference_service,
    "serving.kserve.io LLMInferenceService": _of_llm_service,
    "nfd.k8s-sigs.io NodeFeatureRule": _features,
    **dict.fromkeys(("ray.io RayCluster", "ray.io RayJob", "ray.io RayService"), _versions_of_ray),
    "ray.io RayCronJob": counts.refused_counts_of_ray,
    "autoscaling HorizontalPodAutoscaler": _to_zero,
    "kueue.x-k8s.io ClusterQueue": _of_cluster_queue,
    **{f"kubeflow.org {kind}": _without_named_container for kind in _CONTAINERS},
}
"""The rules of each kind."""
_METRICS: Final = {
    **dict.fromkeys(_KEDA, "spec.triggers[].metadata.query"),
    "autoscaling HorizontalPodAutoscaler": "spec.metrics[].{pods,external,object}.metric.name",
}
"""Places with names of metrics."""


_AMOUNTS: Final = memo.pattern(
    r"nvidia\.com/(gpu|gpumem|gpumem-percentage|gpucores|mig-.+)|amd\.com/gpu|habana\.ai/gaudi|google\.com/tpu"
    r"|volcano\.sh/vgpu-(number|memory|cores)|aws\.amazon\.com/neuron(core)?"
)
"""Resources of containers."""


_EVICT, _DISRUPT = "karpenter.sh/do-not-evict", "karpenter.sh/do-not-disrupt"


def _amounts_as_annotations(annotations: _Pods) -> Iterator[model.UnreadKey]:
    for where, found in annotations:
        if _EVICT in found and _DISRUPT not in found:
            text = f"carries the annotation {_EVICT}, which Karpenter has not read since 1.0"
            yield _refused(paths.join(where, _EVICT), text, f"write {_DISRUPT}")
        for key in filter(_AMOUNTS.fullmatch, map(str, found)):
            text = f"sets {key} as an annotation of its pods, where nothing reads it"
            yield _refused(paths.join(where, key), text, f"write {key} in limits of the container")


def _of_rules(value: paths.Object) -> Iterator[model.UnreadKey]:
    """Queries of rules that Prometheus cannot read, and metrics in them that no server has."""
    for where, text in texts_with_paths(value, "spec.groups[].rules[].expr"):
        if environment.unbalanced(text) and "{{" not in text:
            message = "has a rule whose brackets do not match, so Prometheus refuses its group"
            yield _refused(where, message, "close each bracket of the query")
        yield from environment.unknown_metrics(text, where, is_query=True, use="has a rule about")


def refused(value: paths.Object, key: tuple[str, str], specs: Sequence[PodSpec]) -> Iterator[model.UnreadKey]:
    """The values of an object that its controller or a program in its pods refuses or does not read.

    Args: as of refused_forms.
    """
    kind = " ".join(key)
    if (rule := _OF_KINDS.get(kind)) is not None:
        yield from rule(value)
    yield from refused_values.wrong_values(value, key)
    if kind in _METRICS:
        for where, text in texts_with_paths(value, _METRICS[kind]):
            yield from environment.unknown_metrics(text, where, is_query=kind in _KEDA)
    if kind == "monitoring.coreos.com PrometheusRule":
        yield from _of_rules(value)
    if not specs:
        return
    yield from refused_values.wrong_pods(value, specs)
    sets = environment.set_by_controller(kind, value)
    for spec, path, _ in specs:
        yield from counts.unanswered(spec, path, kind)
        yield from counts.ports_twice(spec, path)
        yield from _not_executable(spec, path)
        for field in ("containers", "initContainers"):
            for index, container in enumerate(paths.elements(spec.get(field))):
                yield from environment.misread_variables(container, f"{path}/{field}/{index}", sets)
    pods = list(_metadata_of_pods(value, specs))
    if annotations := _parts(pods, "annotations"):
        yield from _amounts_as_annotations(annotations)
        yield from queues.task_groups(value, annotations)
    yield from _first_ranks(value, kind, specs)
    yield from _names_without_dns(value, kind, specs)
    yield from _names_without_service(value, kind, specs)
    yield from _starts_of_torchrun(value, kind, specs)
    yield from _former_labels(value, _parts(pods, "labels"))
