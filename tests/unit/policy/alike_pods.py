"""Pods of one job, changes of any of their fields, and changes of the facts about the cluster."""

import contextlib
from collections.abc import Callable, Iterator

from hypothesis import strategies as st

import builders
from builders import GPU
from unit.policy.mutation import generated
from usher import paths
from usher.cluster.facts.store import Store
from usher.policy.mutation.editing import Edit, copied

TOKEN = "kube-api-access-{}"
SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
JOB: paths.Object = {"apiVersion": "batch/v1", "kind": "Job", "name": "bert", "uid": "1", "controller": True}


def worker(number: int = 0) -> paths.Object:
    """One of the pods of a job, as the API server completes it."""
    token = TOKEN.format(f"{number:05}")
    container: paths.Object = {
        **builders.container(gpus=8, env={"RANK": str(number), "NCCL_DEBUG": "INFO"}),
        "volumeMounts": [
            {"name": token, "readOnly": True, "mountPath": SERVICE_ACCOUNT},
            {"name": "data", "mountPath": "/data"},
        ],
    }
    metadata: paths.Object = {
        "name": f"bert-{number}",
        "uid": f"705ab4f5-{number}",
        "creationTimestamp": f"2026-01-01T00:00:0{number % 10}Z",
        "namespace": "research",
        "labels": {"app": "bert", "training.kubeflow.org/replica-index": str(number)},
        "annotations": {"batch.kubernetes.io/job-completion-index": str(number), "team": "nlp"},
        "ownerReferences": [JOB],
    }
    spec: paths.Object = {
        "containers": [container, {"name": "proxy", "image": "proxy:5"}],
        "volumes": [
            {"name": token, "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}},
            {"name": "data", "hostPath": {"path": "/data"}},
        ],
        "tolerations": [{"key": "team", "operator": "Exists"}],
        "priorityClassName": "high",
        "nodeSelector": {generated.PRODUCT: generated.H100},
    }
    return copied({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})


OTHERS: list[paths.Json] = [
    None, "", "other", "8", 0, 7, True, [], {}, ["text"], {"name": "x"}, GPU, "research", "queued", "training", "high",
    "/dev/nvidia0", "nvidia", "kube-api-access-aaaaa", "kube-api-access-bbbbb", "*", "gpu-toleration", "all",
    generated.A100, {GPU: "1"}, {"privileged": True}, {"path": "/dev/nvidia0"}, [{"name": "x", "value": "1"}],
]  # fmt: skip
"""Values that a changed field may hold."""

NEW_FIELDS: dict[str, list[tuple[str, paths.Json]]] = {
    "/metadata/labels": [("kueue.x-k8s.io/queue-name", "gpus"), ("gpu-usher.io/role", "training"), ("a/b", "c")],
    "/metadata/annotations": [
        ("gpu-usher.io/skip-mutations", "*"), ("gpu-fraction", "0.5"), ("gpu-usher.io/model-size", "70Gi"),
        ("k8s.v1.cni.cncf.io/networks", "rail-0"), ("scheduling.k8s.io/group-name", "gang"),
    ],
    "/metadata": [("deletionTimestamp", "2026-01-01T00:00:00Z"), ("generateName", "bert-"), ("finalizers", ["a/b"])],
    "/spec": [
        ("hostPID", True), ("hostNetwork", True), ("schedulerName", "volcano"), ("runtimeClassName", "kata"),
        ("nodeName", "a"), ("resources", {"limits": {GPU: "4"}}), ("overhead", {"cpu": "1"}),
        ("restartPolicy", "Always"), ("affinity", {"nodeAffinity": {}}), ("schedulingGates", [{"name": "wait"}]),
        ("resourceClaims", [{"name": "gpu", "resourceClaimName": "one"}]),
        ("topologySpreadConstraints", [{"topologyKey": "zone"}]),
    ],
    "/spec/containers/0": [
        ("envFrom", [{"secretRef": {"name": "s"}}]), ("command", ["sleep", "infinity"]),
        ("securityContext", {"privileged": True}), ("livenessProbe", {"periodSeconds": 1}),
    ],
    "/spec/containers/0/resources/limits": [("amd.com/gpu", "1"), ("rdma/ib", "1"), ("memory", "1Gi")],
}  # fmt: skip
"""Fields that rules read and that the pods of the job do not have, by what holds them."""


def pointers(value: paths.Json, pointer: str = "") -> Iterator[str]:
    """The places of all fields and elements."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in entries:
        yield paths.join(pointer, key)
        yield from pointers(each, paths.join(pointer, key))


@st.composite
def changed(draw: st.DrawFn, value: paths.Object) -> paths.Object:
    """A pod with one field changed, removed or added."""
    if draw(st.booleans()):
        holder = draw(st.sampled_from(sorted(NEW_FIELDS)))
        name, new = draw(st.sampled_from(NEW_FIELDS[holder]))
        return added(value, paths.join(holder, name), new)
    pointer = draw(st.sampled_from([each for each in pointers(value) if each not in ("/kind", "/metadata", "/spec")]))
    if draw(st.booleans()):
        return builders.replaced(value, pointer, draw(st.sampled_from(OTHERS)))
    return without(value, pointer)


def added(value: paths.Object, pointer: str, new: paths.Json) -> paths.Object:
    """The object with a field; as it is where nothing can hold the field."""
    edit = Edit(value)
    with contextlib.suppress(LookupError):
        edit.add(pointer, new)
    return edit.value


def without(value: paths.Object, pointer: str) -> paths.Object:
    """The object without a field, which it has, or an element of a list."""
    result = copied(value)
    holder = paths.resolve(result, pointer.rpartition("/")[0])
    key = paths.split(pointer)[-1]
    if isinstance(holder, dict):
        del holder[key]
    elif isinstance(holder, list):
        del holder[int(key)]
    return result


def quota(used: int, *, hard: int = 32) -> paths.Object:
    amounts: dict[str, builders.JsonValue] = {f"requests.{GPU}": hard, "requests.cpu": "64"}
    return builders.resource_quota(amounts, used={f"requests.{GPU}": str(used)}, namespace="research")


def limit_range(largest: int) -> paths.Object:
    limits: paths.Json = [{"type": "Container", "default": {"cpu": "1"}, "max": {GPU: largest}}]
    return builders.custom("v1", "LimitRange", {"limits": limits}, name="range", namespace="research")


def priority_class(value: int, name: str = "high") -> paths.Object:
    made: paths.Object = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": value}
    return {**made, "metadata": {"name": name}, "globalDefault": True}


def gpu_quota(gpus: int) -> paths.Object:
    return builders.gpu_quota("all", gpus, namespaces=["research"])


def pod_group(members: int) -> paths.Object:
    spec: paths.Object = {"minMember": members}
    return builders.custom("scheduling.volcano.sh/v1beta1", "PodGroup", spec, name="gang", namespace="research")


def claim(gpus: int) -> paths.Object:
    requests: paths.Json = [{"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": gpus}}]
    spec: paths.Object = {"devices": {"requests": requests}}
    return builders.custom("resource.k8s.io/v1", "ResourceClaim", spec, name="one", namespace="research")


def everything() -> Store:
    """The facts about a cluster in which the job runs."""
    return Store.of(
        [
            quota(0), limit_range(16), priority_class(7), gpu_quota(100), pod_group(1),
            builders.node("a", gpus=8), builders.node("b"),
            builders.custom("v1", "Namespace", {}, name="research", namespace=None),
        ]
    )  # fmt: skip


CHANGES: list[Callable[[Store], None]] = [
    lambda store: store.put(quota(0)),
    lambda store: store.put(quota(31)),
    lambda store: store.put(quota(32)),
    lambda store: store.put(quota(0, hard=1)),
    lambda store: store.remove(quota(0)),
    lambda store: store.put(limit_range(16)),
    lambda store: store.put(limit_range(1)),
    lambda store: store.put(priority_class(1)),
    lambda store: store.put(priority_class(1, "other")),
    lambda store: store.remove(priority_class(7)),
    lambda store: store.put(gpu_quota(100)),
    lambda store: store.put(gpu_quota(1)),
    lambda store: store.put(pod_group(1)),
    lambda store: store.put(pod_group(64)),
    lambda store: store.put(claim(1)),
    lambda store: store.put(claim(64)),
    lambda store: store.remove(claim(1)),
    lambda store: store.put(builders.node("a", gpus=1)),
    lambda store: store.put(builders.node("a", gpus=8)),
    lambda store: store.remove(builders.node("a", gpus=8)),
    lambda store: store.lacks(("scheduling.volcano.sh", "PodGroup")),
    lambda store: store.replace(("kueue.x-k8s.io", "LocalQueue"), []),
    lambda store: store.put_alone(builders.custom("v1", "ConfigMap", {}, name="kueue-manager-config", namespace="k")),
]
"""Changes of the cluster between two pods."""
