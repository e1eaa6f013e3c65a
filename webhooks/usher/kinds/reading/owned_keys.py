"""The labels, annotations and node labels that controllers read, by their domain, and misspelt ones in objects.

Sources: the constants in the Go files of kubernetes-sigs/kueue ff69552, volcano-sh/volcano ed72c7c, ray-project/kuberay
feeaf72, NVIDIA/KAI-Scheduler 72de64f, kubernetes-sigs/lws 060ab4d, kubernetes-sigs/jobset 08dfbdf and
kubernetes-sigs/karpenter 2266468; docs/domain/nodes.md for labels of nodes.
"""

import difflib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, Final

from msgspec.structs import replace

from usher import model, paths

_ROWS: Final = """
kueue.x-k8s.io queue-name priority-class priority-boost managed manager multikueue multikueue-origin topology
 multikueue-origin-uid pod-group-name pod-group-total-count pod-group-fast-admission pod-group-pod-index podset workload
 pod-group-pod-index-label pod-group-serving pod-index-offset pod-suspending-parent podset-group-name elastic-job
 podset-preferred-topology podset-required-topology podset-unconstrained-topology podset-slice-size role-hash admission
 podset-slice-required-topology podset-slice-required-topology-constraints prebuilt-workload-name retriable-in-group
 job-min-parallelism job-completions-equal-parallelism max-exec-time-seconds cluster-queue-name local-queue-name
 safe-to-forcefully-delete admission-gated-by is-group-workload job-uid job-owner-name job-owner-gvk stopping
 concurrent-admission workload-slice-name workload-allowed-resource-flavors provisioning-request resource-in-use
scheduling.k8s.io group-name
scheduling.volcano.sh group-name group-min-member queue-name group-min-resources
volcano.sh queue-name preemptable revocable-zone task-spec task-priority task-index task-topology job-type job-name
 network-topology-mode network-topology-highest-tier numa-topology-policy qos-level sla-waiting-time resource-group
 task-topology-affinity task-topology-anti-affinity vgpu-mode vgpu-number vgpu-memory vgpu-cores hierarchy gpu-number
 vgpu-memory-percentage hierarchy-weights jdb-min-available jdb-max-unavailable cooldown-time gpu-memory job-namespace
 network-topology-highest-tier-allowed vgpu-use-gpuuuid vgpu-nouse-gpuuuid job-retry-count job-version oversubscription
ray.io cluster group node-type serve gang-scheduling-enabled priority-class-name ft-enabled overwrite-container-cmd
 external-storage-namespace enable-serve-service is-ray-node identifier job-submission-mode user scheduler-name
 disable-provisioned-head-restart num-worker-groups originated-from-cr-name originated-from-crd cronjob-name
kai.scheduler queue node-pool preemptibility subgroup-name task-priority topology topology-preferred-placement type
 topology-required-placement segment-size segment-topology-preferred-placement segment-topology-required-placement
leaderworkerset.sigs.k8s.io exclusive-topology subgroup-exclusive-topology subgroup-size name size replicas group-index
 group-key subgroup-index subgroup-key worker-index leader-name subgroup-policy-type template-revision-hash
 leader-requests-tpus subdomainPolicy experimental-recreate-group-after-start
alpha.jobset.sigs.k8s.io exclusive-topology node-selector no-schedule namespaced-job
jobset.sigs.k8s.io jobset-name replicatedjob-name job-index job-key job-global-index coordinator restart-attempt
 priority replicatedjob-replicas group-name group-replicas job-group-index global-replicas jobset-uid restartedAt
karpenter.sh nodepool capacity-type do-not-disrupt disrupted provisioner-name registered initialized unregistered
 capacity-buffer-name capacity-buffer-namespace do-not-sync-taints nodeclaim
nvidia.com gpu gpus-per-node gpu.product gpu.count gpu.memory gpu.family gpu.machine gpu.present gpu.replicas gpu.clique
 gpu.compute.major gpu.compute.minor gpu.sharing-strategy gpu.shared gpu.workload.config gpu.mode mig.config mig.capable
 mig.strategy mig.config.state vgpu.present cuda.driver.major gpumem gpucores gpumem-percentage pgpu vgpu priority
amd.com gpu gpu.product-name gpu.vram gpu.family gpu.device-id gpu.cu-count gpu.simd-count
cloud.google.com gke-accelerator gke-accelerator-count gke-nodepool gke-spot gke-preemptible gke-provisioning
 gke-tpu-accelerator gke-tpu-topology gke-tpu-slice-topology gke-gpu-partition-size gke-gpu-sharing-strategy
 gke-gpu-driver-version gke-max-shared-clients-per-gpu gke-boot-disk gke-ephemeral-storage-local-ssd compute-class
 gke-local-nvme-ssd gke-tpu gke-placement-group machine-family reservation-name reservation-affinity gke-os-distribution
eks.amazonaws.com nodegroup capacityType compute-type instance-gpu-name instance-gpu-count instance-family
karpenter.k8s.aws instance-gpu-name instance-gpu-count instance-gpu-memory instance-gpu-manufacturer instance-family
 instance-category instance-size instance-generation instance-accelerator-name instance-accelerator-count instance-cpu
 instance-memory instance-network-bandwidth instance-local-nvme ec2nodeclass
kubernetes.azure.com accelerator agentpool scalesetpriority cluster mode nodepool-type sku-gpu-name
node.kubernetes.io instance-type lifecycle unschedulable not-ready unreachable memory-pressure disk-pressure
topology.kubernetes.io zone region
"""

_CLOSE: Final = 0.85
_ALIKE: Final = 0.7
_COMPLETE: Final = frozenset({"kueue.x-k8s.io", "kai.scheduler", "leaderworkerset.sigs.k8s.io", "scheduling.k8s.io"})
"""Domains whose keys are all in the rows; there, a key that is only somewhat like a known one is misspelt too."""
_FAMILIES: Final = ("nvidia.com/gpu.deploy.", "nvidia.com/mig-", "nvidia.com/cuda.")
"""Starts of keys with many ends."""

_SCHEDULERS: Final = (
    "default-scheduler", "kai-scheduler", "volcano", "yunikorn", "koord-scheduler", "hami-scheduler", "runai-scheduler",
    "scheduler-plugins-scheduler",
)  # fmt: skip

QUEUES: Final = frozenset({
    "kueue.x-k8s.io/queue-name", "volcano.sh/queue-name", "scheduling.volcano.sh/queue-name", "kai.scheduler/queue",
    "kueue.x-k8s.io/pod-group-name", "scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name",
})  # fmt: skip
"""Keys on which a queue or a gang hangs."""


@cache
def _keys() -> Mapping[str, Collection[str]]:
    rows = (line.split() for line in _ROWS.replace("\n ", " ").strip().splitlines())
    return {domain: tuple(names) for domain, *names in rows}


@lru_cache(maxsize=4096)
def _meant_scheduler(name: str) -> str:
    """The known scheduler that an unknown name is a slip for; a site may count its own ones."""
    found = difflib.get_close_matches(name[:100], _SCHEDULERS, n=1, cutoff=_CLOSE)
    return "" if name in _SCHEDULERS or any(map(str.isdigit, name)) or not found else found[0]


@lru_cache(maxsize=4096)
def meant_key(key: str) -> str:
    """The known key that an unknown one is like; empty for a known key, and without one that is like it."""
    domain, slash, name = key.partition("/")
    if not slash or len(key) > 120 or key.startswith(_FAMILIES):
        return ""
    known = _keys()
    if domain in known:
        like = _like(name, known[domain], _ALIKE if domain in _COMPLETE else _CLOSE)
        return f"{domain}/{like}" if like else ""
    near = difflib.get_close_matches(domain, known, n=1, cutoff=_CLOSE)
    return f"{near[0]}/{name}" if near and name in known[near[0]] else ""


def _like(name: str, names: Collection[str], least: float) -> str:
    if name in names:
        return ""
    parts = [each for each in names if each.startswith(f"{name}-") or name.startswith(f"{each}-")]
    if least == _ALIKE and len(parts) == 1:
        return parts[0]
    folded = {_folded(each): each for each in names}
    found = difflib.get_close_matches(_folded(name), folded, n=1, cutoff=least)
    return folded[found[0]] if found else ""


def _folded(name: str) -> str:
    return name.lower().replace("_", "-")


MeantResource = Callable[[str], str]
"""The resource that a misspelt one is meant for; empty for one that a site may have."""

_HOLD_KEYS: Final = frozenset({"labels", "annotations", "nodeSelector", "matchLabels", "nodeLabels"})
_SCHEDULER: Final = "schedulerName"
_NAME_KEYS: Final = frozenset({"key", "topologyKey", "nodeLabel", _SCHEDULER})
_CONTAINERS: Final = frozenset({"containers", "initContainers"})
"""Lists below which there is no such key, and most of an object."""


def misspelt_keys(value: paths.Object, meant_resource: MeantResource) -> Iterator[model.UnreadKey]:
    """The keys in an object that are like one that a controller reads, and the misspelt resources of its quotas."""
    return iter(()) if _is_clean(value) else _misspelt_in(value, meant_resource, "")


def _is_clean(value: Mapping[str, Any]) -> bool:
    """Whether there is nothing to look at more closely; nearly all objects end here, at a fraction of the cost."""
    for key, each in value.items():
        if isinstance(each, dict):
            if key == "hard" or (any(map(meant_key, each)) if key in _HOLD_KEYS else not _is_clean(each)):
                return False
        elif isinstance(each, list) and key not in _CONTAINERS:
            if key == "resourceGroups" or not all(_is_clean(one) for one in each if isinstance(one, dict)):
                return False
            if any(isinstance(one, list) for one in each):
                return False
        elif key in _NAME_KEYS and isinstance(each, str) and _meant_text(key, each):
            return False
    return True


def _misspelt_in(value: Any, meant_resource: MeantResource, path: str) -> Iterator[model.UnreadKey]:  # noqa: ANN401 - any JSON
    if isinstance(value, list):
        for index, each in enumerate(value):
            if isinstance(each, (dict, list)):
                yield from _misspelt_in(each, meant_resource, f"{path}/{index}")
        return
    for key, each in ((key, each) for key, each in value.items() if key not in _CONTAINERS):
        if isinstance(each, dict) and key in _HOLD_KEYS:
            yield from _misspelt_of_map(each, paths.join(path, key), decides=key == "nodeSelector")
        elif isinstance(each, dict) and key == "hard":
            yield from _misspelt_of_quota(each, paths.join(path, key), meant_resource)
        elif key == "resourceGroups":
            yield from _misspelt_of_groups(each, paths.join(path, key), meant_resource)
        elif isinstance(each, (dict, list)):
            yield from _misspelt_in(each, meant_resource, paths.join(path, key))
        elif key in _NAME_KEYS and isinstance(each, str) and (meant := _meant_text(key, each)):
            misspelt = _misspelt_scheduler if key == _SCHEDULER else _misspelt_text
            yield misspelt(each, meant, paths.join(path, key), decides="matchExpressions" in path)


def _misspelt_of_map(value: Mapping[str, Any], path: str, *, decides: bool) -> Iterator[model.UnreadKey]:
    for name in value:
        if meant := meant_key(name):
            yield _misspelt(name, meant, path, decides=meant not in value and (decides or meant in QUEUES))


def _misspelt_of_quota(value: Mapping[str, Any], path: str, meant_resource: MeantResource) -> Iterator[model.UnreadKey]:
    for name in value:
        prefix, dot, resource = name.partition(".")
        if dot and prefix in {"request", "limit"} and "/" in resource:
            yield _misspelt(name, f"{prefix}s.{meant_resource(resource) or resource}", path, decides=True)
        elif prefix in {"requests", "limits"} and "/" in resource and (right := meant_resource(resource)):
            yield _misspelt(name, f"{prefix}.{right}", path, decides=True)


def _misspelt_of_groups(value: Any, path: str, meant_resource: MeantResource) -> Iterator[model.UnreadKey]:  # noqa: ANN401 - any JSON
    """The misspelt resources of the resource groups of a queue, which are texts of lists and names."""
    for key, each in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if isinstance(each, (dict, list)):
            yield from _misspelt_of_groups(each, paths.join(path, key), meant_resource)
        elif isinstance(each, str) and "/" in each and (right := meant_resource(each)):
            yield _misspelt_text(each, right, paths.join(path, key), decides=True)


def _misspelt(name: str, meant: str, path: str, *, decides: bool) -> model.UnreadKey:
    return model.UnreadKey(
        path=paths.join(path, name),
        text=f"has the key {name} at {paths.readable(path)}, and nothing reads it",
        remedy=f"did you mean {meant}?",
        important=decides,
    )


def _meant_text(key: str, text: str) -> str:
    return _meant_scheduler(text) if key == _SCHEDULER else meant_key(text)


def _misspelt_scheduler(name: str, meant: str, path: str, *, decides: bool) -> model.UnreadKey:  # noqa: ARG001 - as _misspelt_text
    text = f"names the scheduler {name} at {paths.readable(path)}, which is like {meant}; no other one places the pods"
    return model.UnreadKey(path=path, text=text, remedy=f"did you mean {meant}?", important=True)


def _misspelt_text(name: str, meant: str, path: str, *, decides: bool) -> model.UnreadKey:
    """As of a key, for one that is the text at a place."""
    return replace(_misspelt(name, meant, path, decides=decides), path=path, remedy=f"write {meant}")


_SELECTING: Final = frozenset({"DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"})
_RUN_TO_COMPLETION: Final = ("OnFailure", "Never")


def refused_parts(value: paths.Object, others: Iterable[paths.Object]) -> Iterator[model.UnreadKey]:
    """What the API server refuses in Kubernetes' own workloads though each field fits, and selectors with a slip.

    Sources: ValidateDeploymentSpec and its like in pkg/apis/apps/validation/validation.go, validateJobSpec and
    validateCronJobSpec in pkg/apis/batch/validation/validation.go of kubernetes/kubernetes v1.36.

    Args:
        value: the object.
        others: the objects of the same file; read only for a Service or a PodDisruptionBudget.
    """
    kind, group = value.get("kind"), paths.text(value.get("apiVersion")).rpartition("/")[0]
    if group == "apps" and kind in _SELECTING:
        yield from _labels_not_selected(value)
    elif group == "batch" and kind == "CronJob":
        yield from _schedule_refused(value)
        yield from _restarts_for_ever(value, "/spec/jobTemplate/spec/template/spec")
    elif group == "batch" and kind == "Job":
        yield from _restarts_for_ever(value, "/spec/template/spec")
    elif (group, kind) == ("", "Service"):
        yield from _selects_no_pods(value, "/spec/selector", others)
    elif (group, kind) == ("policy", "PodDisruptionBudget"):
        yield from _selects_no_pods(value, "/spec/selector/matchLabels", others)


def _part(value: paths.Json, path: str) -> Mapping[str, Any]:
    """The object at a place; an empty one where there is none."""
    for step in path[1:].split("/"):
        value = value.get(step) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _is_whole(spec: Mapping[str, Any]) -> bool:
    """Whether a pod spec is no patch: each of its containers has an image."""
    containers = spec.get("containers")
    return isinstance(containers, list) and all(isinstance(each, dict) and "image" in each for each in containers)


def _labels_not_selected(value: paths.Object) -> Iterator[model.UnreadKey]:
    labels, wanted = _part(value, "/spec/template/metadata/labels"), _part(value, "/spec/selector/matchLabels")
    for key, each in wanted.items() if labels or _is_whole(_part(value, "/spec/template/spec")) else ():
        if isinstance(each, str) and "{{" not in each and labels.get(key) != each:
            yield model.UnreadKey(
                path=paths.join("/spec/selector/matchLabels", key),
                text=f"selects pods with the label {key}: {each}, which its own template does not have, so the API "
                "server refuses it",
                remedy="give the selector and the labels of the template the same value",
                important=True,
                refused=True,
            )


def _schedule_refused(value: paths.Object) -> Iterator[model.UnreadKey]:
    schedule = _part(value, "/spec").get("schedule")
    if isinstance(schedule, str) and not schedule.startswith(("@", "{{", "$")) and len(schedule.split()) != 5:
        yield model.UnreadKey(
            path="/spec/schedule",
            text=f"has {len(schedule.split())} fields in schedule {schedule[:60]!r}, where the API server takes 5",
            remedy="write minute, hour, day of the month, month and day of the week",
            important=True,
            refused=True,
        )


def _restarts_for_ever(value: paths.Object, path: str) -> Iterator[model.UnreadKey]:
    spec = _part(value, path)
    if spec.get("restartPolicy", "Always") == "Always" and _is_whole(spec):
        written = "restartPolicy" in spec
        yield model.UnreadKey(
            path=f"{path}/restartPolicy" if written else path,
            text="has pods with the restartPolicy Always"
            f"{'' if written else ', the default'}, where the API server takes OnFailure and Never for Jobs",
            remedy="set restartPolicy to Never or OnFailure",
            important=True,
            refused=True,
        )


def _selects_no_pods(value: paths.Object, path: str, others: Iterable[paths.Object]) -> Iterator[model.UnreadKey]:
    """A label of a selector that fits no pods beside it, and that is a slip for one that they have."""
    wanted = _part(value, path)
    of_pods = [labels for each in others if (labels := _labels_of_pods(each))] if wanted else []
    if any(wanted.items() <= labels.items() for labels in of_pods):
        return
    for key, each in wanted.items():
        texts = {other for labels in of_pods if isinstance(other := labels.get(key), str)}
        if isinstance(each, str) and each not in texts and (meant := difflib.get_close_matches(each, texts, 1, 0.75)):
            yield model.UnreadKey(
                path=paths.join(path, key),
                text=f"selects pods with the label {key}: {each}, which no pods of the same file have",
                remedy=f"did you mean {meant[0]}?",
                important=False,
            )


def _labels_of_pods(value: paths.Object) -> Mapping[str, Any]:
    if value.get("kind") == "Pod":
        return _part(value, "/metadata/labels")
    return _part(value, "/spec/template/metadata/labels")
