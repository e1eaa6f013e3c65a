"""Hypothesis strategies for manifests: sensible ones, and ones whose fields hold what no API server would take."""

from typing import Any

from hypothesis import strategies as st

from unit.policy.mutation.manifests import REQUIRED
from usher import paths

Manifests = st.SearchStrategy[paths.Object]

H100, A100 = "NVIDIA-H100-80GB-HBM3", "NVIDIA-A100-SXM4-80GB"
PRODUCT = "nvidia.com/gpu.product"
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
TOPOLOGY = "kueue.x-k8s.io/podset-required-topology"

GARBAGE: list[Any] = [None, "", "text", 7, True, [], {}, [None], [7], ["text"], {"a/b": {"x~y": 1}}, [[{}]]]
NAMESPACES = st.sampled_from(["research", "queued", "unplaced", "routed"])
NAMES = st.sampled_from(["team", "a/b", "x~y", "~1", ""])


def fields(required: dict[str, Any], optional: dict[str, Any], *, garbage: bool) -> st.SearchStrategy[Any]:
    """Objects with all required fields and some optional ones; with garbage, an optional one may hold anything."""
    if garbage:
        optional = {name: value | st.sampled_from(GARBAGE) for name, value in optional.items()}
    return st.fixed_dictionaries(required, optional=optional)


def tolerations() -> st.SearchStrategy[Any]:
    return st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                "key": st.sampled_from(["nvidia.com/gpu", "team", "sku", "other/key", ""]),
                "operator": st.sampled_from(["Exists", "Equal", "Gt", ""]),
                "value": st.sampled_from(["present", "research", "gpu", "", "5"]),
                "effect": st.sampled_from(["NoSchedule", "NoExecute", "PreferNoSchedule", ""]),
            },
        ),
        max_size=3,
    )


def expressions() -> st.SearchStrategy[Any]:
    """Requirements. Each of them leaves an H100 node possible."""
    return st.lists(
        st.sampled_from(
            [
                {"key": PRODUCT, "operator": "In", "values": [H100]},
                {"key": PRODUCT, "operator": "In", "values": [H100, A100]},
                {"key": PRODUCT, "operator": "In", "values": [H100, "NVIDIA-L4"]},
                {"key": PRODUCT, "operator": "NotIn", "values": [A100]},
                {"key": PRODUCT, "operator": "Exists"},
                {"key": "zone", "operator": "In", "values": ["b"]},
                {"key": "slow", "operator": "DoesNotExist"},
                {"key": "generation", "operator": "Gt", "values": ["3"]},
            ]
        ),
        min_size=1,
        max_size=3,
    )


def terms(*, garbage: bool) -> st.SearchStrategy[Any]:
    by_name = st.just([{"key": "metadata.name", "operator": "In", "values": ["node-1"]}])
    expressive = fields({"matchExpressions": expressions()}, {"matchFields": by_name}, garbage=garbage)
    if not garbage:
        return expressive
    return expressive | fields({}, {"matchExpressions": expressions(), "matchFields": by_name}, garbage=True)


def affinities(*, garbage: bool) -> st.SearchStrategy[Any]:
    lists = st.lists(terms(garbage=garbage), min_size=0 if garbage else 1, max_size=3)
    selector = fields({}, {"nodeSelectorTerms": lists}, garbage=True)
    if not garbage:
        selector = st.fixed_dictionaries({"nodeSelectorTerms": lists})
    preferred = "preferredDuringSchedulingIgnoredDuringExecution"
    node = fields({}, {REQUIRED: selector, preferred: st.just([])}, garbage=garbage)
    return fields({}, {"nodeAffinity": node}, garbage=garbage)


def variables() -> st.SearchStrategy[Any]:
    name = st.sampled_from(["NCCL_DEBUG", "NCCL_IB_HCA", "NVIDIA_VISIBLE_DEVICES", "PYTHONUNBUFFERED", "HOME"])
    literal = st.fixed_dictionaries({"name": name, "value": st.sampled_from(["", "INFO", "all"])})
    from_field = st.fixed_dictionaries(
        {"name": name, "valueFrom": st.just({"fieldRef": {"fieldPath": "metadata.name"}})}
    )
    return st.lists(literal | from_field | st.fixed_dictionaries({"name": name}), max_size=3)


def containers(*, gpus: st.SearchStrategy[Any], garbage: bool) -> st.SearchStrategy[Any]:
    resources = gpus.map(lambda count: {"limits": {"nvidia.com/gpu": count}})
    return fields(
        {
            "name": st.sampled_from(["main", "side"]),
            "image": st.just("registry.example.com/train:1"),
            "resources": resources,
        },
        {"env": variables()},
        garbage=garbage,
    )


def pod_specs(*, gpus: st.SearchStrategy[Any], garbage: bool) -> st.SearchStrategy[Any]:
    one = containers(gpus=gpus, garbage=garbage)
    sidecar = st.fixed_dictionaries(
        {"name": st.just("proxy"), "image": st.just("proxy:5")}, optional={"restartPolicy": st.just("Always")}
    )
    return fields(
        {"containers": st.lists(one, min_size=1, max_size=2)},
        {
            "initContainers": st.lists(sidecar, max_size=2),
            "tolerations": tolerations(),
            "affinity": affinities(garbage=garbage),
            "nodeSelector": st.dictionaries(st.sampled_from(["disk", "x~y/z"]), st.just("fast"), max_size=2),
            "schedulerName": st.sampled_from(["", "volcano", "kai-scheduler", "default-scheduler"]),
        },
        garbage=garbage,
    )


def metadata(*, garbage: bool) -> st.SearchStrategy[Any]:
    labels = st.dictionaries(NAMES | st.just(QUEUE_LABEL), st.sampled_from(["", "urgent"]), max_size=2)
    annotations = st.dictionaries(
        NAMES | st.sampled_from([TOPOLOGY, "gpu-usher.io/mutations"]), st.sampled_from(["", "rack"]), max_size=2
    )
    return fields({"namespace": NAMESPACES}, {"labels": labels, "annotations": annotations}, garbage=garbage)


def pods(*, gpus: st.SearchStrategy[Any], garbage: bool) -> Manifests:
    return st.fixed_dictionaries(
        {
            "apiVersion": st.just("v1"),
            "kind": st.just("Pod"),
            "metadata": metadata(garbage=garbage),
            "spec": pod_specs(gpus=gpus, garbage=garbage),
        }
    )


def pytorch_jobs(*, gpus: st.SearchStrategy[Any], garbage: bool) -> Manifests:
    template = fields(
        {"spec": pod_specs(gpus=gpus, garbage=garbage)}, {"metadata": metadata(garbage=garbage)}, garbage=garbage
    )
    replica = fields({"template": template}, {"replicas": st.integers(0, 4)}, garbage=garbage)
    policy = st.fixed_dictionaries(
        {}, optional={"queue": st.sampled_from(["", "urgent"]), "minAvailable": st.integers(0, 4)}
    )
    spec = fields(
        {"pytorchReplicaSpecs": st.dictionaries(st.sampled_from(["Master", "Worker", "a/b~c"]), replica, min_size=1)},
        {
            "runPolicy": fields({}, {"schedulingPolicy": policy}, garbage=garbage),
            "elasticPolicy": st.just({"minReplicas": 1, "maxReplicas": 8}),
        },
        garbage=garbage,
    )
    return st.fixed_dictionaries(
        {
            "apiVersion": st.just("kubeflow.org/v1"),
            "kind": st.just("PyTorchJob"),
            "metadata": metadata(garbage=garbage),
            "spec": spec,
        }
    )


def patches(*, garbage: bool) -> st.SearchStrategy[Any]:
    """Patches of a TrainJob: ours of an earlier pass, Kueue's, others', each with any of the fields that we write."""
    template = fields(
        {},
        {
            "metadata": fields({}, {"annotations": st.just({"team": "vision"})}, garbage=garbage),
            "spec": fields(
                {}, {"tolerations": tolerations(), "affinity": affinities(garbage=garbage)}, garbage=garbage
            ),
        },
        garbage=garbage,
    )
    inner = fields({}, {"template": template}, garbage=garbage)
    job = fields(
        {"name": st.sampled_from(["node", "other"])},
        {"template": fields({}, {"spec": inner}, garbage=garbage)},
        garbage=garbage,
    )
    job_set = fields(
        {}, {"replicatedJobs": st.lists(job, max_size=2, unique_by=lambda each: each["name"])}, garbage=garbage
    )
    outer = fields({}, {"template": fields({}, {"spec": job_set}, garbage=garbage)}, garbage=garbage)
    managers = st.sampled_from(["gpu-usher.io/usher", "kueue.x-k8s.io/manager", "team"])
    patch = fields({"manager": managers}, {"trainingRuntimeSpec": outer}, garbage=garbage)
    return st.lists(patch, max_size=3, unique_by=lambda each: each["manager"])


def train_jobs(*, gpus: st.SearchStrategy[Any], garbage: bool) -> Manifests:
    trainer = fields(
        {},
        {
            "numNodes": st.integers(0, 4),
            "env": variables(),
            "resourcesPerNode": gpus.map(lambda count: {"limits": {"nvidia.com/gpu": count}}),
        },
        garbage=garbage,
    )
    spec = fields(
        {"runtimeRef": st.sampled_from([{"name": "torch"}, {"name": "unheard-of"}])},
        {"trainer": trainer, "runtimePatches": patches(garbage=garbage)},
        garbage=garbage,
    )
    return st.fixed_dictionaries(
        {
            "apiVersion": st.just("trainer.kubeflow.org/v1alpha1"),
            "kind": st.just("TrainJob"),
            "metadata": metadata(garbage=garbage),
            "spec": spec,
        }
    )


GPU_COUNTS: st.SearchStrategy[Any] = st.sampled_from([0, 1, 8, "8", "0"])


def any_manifests() -> Manifests:
    """Pods, PyTorchJobs and TrainJobs. An API server would refuse some of them."""
    return st.one_of(
        pods(gpus=GPU_COUNTS, garbage=False),
        pods(gpus=GPU_COUNTS, garbage=True),
        pytorch_jobs(gpus=GPU_COUNTS, garbage=False),
        pytorch_jobs(gpus=GPU_COUNTS, garbage=True),
        train_jobs(gpus=GPU_COUNTS, garbage=False),
        train_jobs(gpus=GPU_COUNTS, garbage=True),
    )


def gpu_manifests() -> Manifests:
    """Pods and PyTorchJobs that are well formed, ask for GPUs in every pod and leave H100 nodes possible."""
    gpus: st.SearchStrategy[Any] = st.sampled_from([1, 8])
    return pods(gpus=gpus, garbage=False) | pytorch_jobs(gpus=gpus, garbage=False)


DEVICES: tuple[dict[str, Any], ...] = (
    {"nvidia.com/gpu": 1},
    {"nvidia.com/gpu": 4},
    {"nvidia.com/gpu": 8},
    {"nvidia.com/gpu": "500m"},
    {"nvidia.com/gpu": 8, "rdma/ib": 1},
    {"nvidia.com/mig-1g.10gb": 1},
    {"nvidia.com/gpu.shared": 1},
    {"amd.com/gpu": 8},
    {"google.com/tpu": 4},
    {"aws.amazon.com/neuron": 16},
    {"huawei.com/Ascend910": 8},
    {"gpu.intel.com/i915": 1},
    {"example.com/gpu": 1},
    {},
)
"""Limits of one container."""

LABELS: tuple[dict[str, str], ...] = (
    {"kai.scheduler/queue": "team"},
    {"gpu-usher.io/role": "training"},
    {"gpu-usher.io/role": "inference"},
    {"gpu-usher.io/role": "interactive"},
    {QUEUE_LABEL: "urgent"},
    {},
)

ANNOTATIONS: tuple[dict[str, str], ...] = (
    {"gpu-fraction": "0.5"},
    {"kueue.x-k8s.io/job-min-parallelism": "1"},
    {"scheduling.volcano.sh/queue-name": "team"},
    {TOPOLOGY: "rack"},
    {"karpenter.sh/do-not-disrupt": "false"},
    {},
)

SELECTORS: tuple[dict[str, str], ...] = (
    {"node.example.com/pool": "h100"},
    {"node.example.com/pool": "h100-mig"},
    {"cloud.google.com/gke-nodepool": "a3-mega"},
    {"cloud.google.com/gke-accelerator": "nvidia-h100-mega-80gb"},
    {"karpenter.sh/nodepool": "p5-reserved"},
    {"karpenter.sh/nodepool": "g6"},
    {PRODUCT: "NVIDIA-A100-SXM4-80GB"},
    {"disk": "fast"},
)
"""Selectors of the pools of the example sites, and others."""

CLAIMS: tuple[list[dict[str, str]], ...] = (
    [{"name": "gpu", "resourceClaimName": "shared"}],
    [{"name": "gpu", "resourceClaimTemplateName": "one"}],
    [],
)


def _templates() -> st.SearchStrategy[Any]:
    """Well-formed pod templates that ask for devices of many vendors, by every route."""
    one = fields(
        {
            "name": st.sampled_from(["main", "pytorch"]),
            "image": st.sampled_from(["pytorch/pytorch:2", "vllm/vllm-openai:1", "busybox:1"]),
            "resources": st.sampled_from(DEVICES).map(lambda limits: {"limits": limits}),
        },
        {"env": variables()},
        garbage=False,
    )
    spec = fields(
        {"containers": one.map(lambda container: [container])},
        {
            "tolerations": tolerations(),
            "affinity": affinities(garbage=False),
            "nodeSelector": st.sampled_from(SELECTORS),
            "priorityClassName": st.sampled_from(["inference", "system-node-critical", "low"]),
            "schedulerName": st.sampled_from(["volcano", "kai-scheduler", "default-scheduler"]),
            "resourceClaims": st.sampled_from(CLAIMS),
            "hostNetwork": st.just(True),
        },
        garbage=False,
    )
    return fields(
        {"spec": spec},
        {"metadata": fields({"annotations": st.sampled_from(ANNOTATIONS)}, {}, garbage=False)},
        garbage=False,
    )


def manifests_of_many_devices() -> Manifests:
    """Workloads of several kinds that run, ask for devices of many vendors and may name a queue or a scheduler."""

    def kind(api: str, name: str, spec: st.SearchStrategy[Any]) -> Manifests:
        metadata = {"labels": st.sampled_from(LABELS), "annotations": st.sampled_from(ANNOTATIONS)}
        head = {"apiVersion": st.just(api), "kind": st.just(name), "metadata": st.fixed_dictionaries(metadata)}
        return st.fixed_dictionaries({**head, "spec": spec})

    template, number = _templates(), st.integers(1, 4)
    replica = st.fixed_dictionaries({"replicas": number, "template": template})
    groups = replica.map(lambda group: [{"groupName": "gpu", **group}])
    cluster = fields({"workerGroupSpecs": groups}, {"enableInTreeAutoscaling": st.booleans()}, garbage=False)
    parallel = fields(
        {"template": template},
        {"parallelism": number, "completions": number, "completionMode": st.just("Indexed")},
        garbage=False,
    )
    return st.one_of(
        kind("v1", "Pod", template.map(lambda each: each["spec"])),
        kind("apps/v1", "Deployment", replica),
        kind("batch/v1", "Job", parallel),
        kind(
            "kubeflow.org/v1",
            "PyTorchJob",
            st.fixed_dictionaries(
                {"pytorchReplicaSpecs": st.dictionaries(st.sampled_from(["Master", "Worker"]), replica, min_size=1)}
            ),
        ),
        kind("ray.io/v1", "RayCluster", cluster),
        kind(
            "ray.io/v1",
            "RayJob",
            fields({"rayClusterSpec": cluster}, {"shutdownAfterJobFinishes": st.booleans()}, garbage=False),
        ),
        kind(
            "leaderworkerset.x-k8s.io/v1",
            "LeaderWorkerSet",
            st.fixed_dictionaries(
                {"leaderWorkerTemplate": template.map(lambda each: {"workerTemplate": each, "size": 2})}
            ),
        ),
    )
