"""The objects of the benchmarks: a GPU pod as API servers send it, and a pod template as in manifests."""

import orjson

from usher import paths


def gpu_pod(*, index: int = 0, container: str = "pytorch") -> paths.Object:
    """A pod that breaks no rule and needs no mutation, the usual case.

    Pods of one job differ in `index`. Another name of the container makes another input document.
    """
    variables: list[paths.Json] = [
        {"name": f"TRAINING_OPTION_{number}", "value": f"--option-{number}=some/ordinary/value-{number}"}
        for number in range(24)
    ]
    resources: paths.Json = {
        "requests": {"cpu": "16", "memory": "128Gi", "nvidia.com/gpu": "8"},
        "limits": {"cpu": "16", "memory": "128Gi", "nvidia.com/gpu": "8"},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"bert-worker-{index}",
            "namespace": "ml-research",
            "labels": {"app": "bert", "team": "research", "training.kubeflow.org/replica-index": str(index)},
            "annotations": {"prometheus.io/scrape": "true", "sidecar.istio.io/inject": "false"},
        },
        "spec": {
            "nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"},
            "tolerations": [
                {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
                _default_toleration("not-ready"),
                _default_toleration("unreachable"),
            ],
            "initContainers": [
                {"name": "fetch", "image": "registry.example.com/fetch:2", "command": ["sh", "-c", "fetch && true"]}
            ],
            "containers": [
                {
                    "name": container,
                    "image": "registry.example.com/bert:1.4",
                    "command": ["torchrun", "--nproc-per-node=8", "--nnodes=8", "train.py"],
                    "env": variables,
                    "resources": resources,
                    "volumeMounts": [{"name": "data", "mountPath": "/data"}, {"name": "shm", "mountPath": "/dev/shm"}],
                    "terminationMessagePath": "/dev/termination-log",
                    "terminationMessagePolicy": "File",
                    "imagePullPolicy": "IfNotPresent",
                },
                {
                    "name": "metrics",
                    "image": "registry.example.com/exporter:0.9",
                    "env": variables[:2],
                    "resources": {"requests": {"cpu": "100m"}, "limits": {"memory": "128Mi"}},
                },
            ],
            "volumes": [
                {"name": "data", "persistentVolumeClaim": {"claimName": "bert-data"}},
                {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "64Gi"}},
            ],
            "restartPolicy": "Never",
            "schedulerName": "default-scheduler",
            "serviceAccountName": "default",
        },
    }  # fmt: skip


def service_pod(index: int, *, container: str = "web") -> paths.Object:
    """A pod without accelerators that needs no mutation, as a ReplicaSet makes it and an API server completes it.

    Pods of one ReplicaSet differ in `index`. Another name of the container makes a distinct pod.
    """
    token = f"kube-api-access-{index:05}"
    hidden: paths.Json = [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "generateName": "web-7d9f8c6b5-",
            "name": f"web-7d9f8c6b5-{index:05}",
            "namespace": "web",
            "uid": f"705ab4f5-6393-11e8-b7cc-42010a8{index:05}",
            "labels": {"app": "web", "pod-template-hash": "7d9f8c6b5"},
            "ownerReferences": [
                {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-7d9f8c6b5", "uid": "1", "controller": True}
            ],
        },
        "spec": {
            "tolerations": [_default_toleration("not-ready"), _default_toleration("unreachable")],
            "containers": [
                {
                    "name": container,
                    "image": "registry.example.com/web:3.1",
                    "env": hidden,
                    "resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"memory": "1Gi"}},
                    "volumeMounts": [
                        {"name": token, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "readOnly": True}
                    ],
                },
                {
                    "name": "proxy",
                    "image": "registry.example.com/proxy:1.29",
                    "env": hidden,
                    "args": [f"--route-{number}=/path/{number}:http://127.0.0.1:80{number:02}" for number in range(20)],
                },
            ],
            "volumes": [{"name": token, "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}],
            "serviceAccountName": "default",
            "schedulerName": "default-scheduler",
        },
    }  # fmt: skip


def _default_toleration(condition: str) -> paths.Json:
    """The fields that the API server adds to every pod."""
    return {
        "key": f"node.kubernetes.io/{condition}",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 300,
    }


def review(value: paths.Object, *, namespace: str = "ml-research") -> bytes:
    """An AdmissionReview around an object, byte for byte as Go writes it."""
    body = orjson.dumps(
        {
            "kind": "AdmissionReview",
            "apiVersion": "admission.k8s.io/v1",
            "request": {
                "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
                "kind": {"group": "", "version": "v1", "kind": value["kind"]},
                "resource": {"group": "", "version": "v1", "resource": "pods"},
                "requestKind": {"group": "", "version": "v1", "kind": value["kind"]},
                "requestResource": {"group": "", "version": "v1", "resource": "pods"},
                "name": "bert-worker-0",
                "namespace": namespace,
                "operation": "CREATE",
                "userInfo": {"username": "system:serviceaccount:kubeflow:training-operator", "groups": ["system:all"]},
                "object": value,
                "oldObject": None,
                "dryRun": False,
                "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
            },
        }
    )  # fmt: skip
    return body.replace(b"&", b"\\u0026").replace(b">", b"\\u003e").replace(b"<", b"\\u003c") + b"\n"


def pod_template() -> paths.Object:
    """A pod template of a custom resource, without the defaults of an API server."""
    variables: list[paths.Json] = [{"name": f"OPTION_{number}", "value": str(number)} for number in range(8)]
    limits: paths.Json = {"cpu": "16", "memory": "128Gi", "nvidia.com/gpu": 8}
    return {
        "metadata": {"labels": {"app": "bert", "team": "research"}},
        "spec": {
            "nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"},
            "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
            "initContainers": [{"name": "fetch", "image": "registry.example.com/fetch:2"}],
            "containers": [
                {
                    "name": "train",
                    "image": "registry.example.com/bert:1.4",
                    "command": ["torchrun", "train.py"],
                    "env": variables,
                    "resources": {"requests": limits, "limits": limits},
                    "volumeMounts": [{"name": "data", "mountPath": "/data"}],
                }
            ],
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "bert-data"}}],
        },
    }


WRONG_IN = 10
"""Every tenth pod of `review_pods` breaks rules."""


def review_pods(kind: str, number: int, *, namespace: str, queue: str = "") -> list[paths.Object]:
    """GPU pods of 2.7 kB, a tenth of them wrong.

    Args:
        kind: "read": they differ in what rules read; "names": in names, images and variables; "job": only in the name
            of the pod and its index.
        number: of pods.
        namespace: theirs.
        queue: the label of Kueue; without a label if empty.
    """
    return [_review_pod(kind, index, namespace, queue) for index in range(number)]


def _options(number: int) -> list[paths.Json]:
    return [{"name": f"OPTION_{each}_{number}", "value": f"value-{number}-{each}"} for each in range(12)]


def is_wrong(index: int) -> bool:
    """Whether a pod of `review_pods` breaks rules."""
    return index % WRONG_IN == WRONG_IN - 1


def _review_pod(kind: str, index: int, namespace: str, queue: str) -> paths.Object:
    read, named = (index if kind == "read" else 0), (0 if kind == "job" else index)
    gpus = str((1, 2, 4, 8)[read % 4])
    container = f"train-{named}"
    amounts: dict[str, paths.Json] = {
        "cpu": str(8 + read % 40), "memory": f"{64 * 1024 + read}Mi", "nvidia.com/gpu": gpus,
    }  # fmt: skip
    variables: list[paths.Json] = [
        {"name": "NCCL_DEBUG", "value": "WARN"},
        {"name": "NCCL_IB_TIMEOUT", "value": str(18 + read % 5)},
        {"name": "OMP_NUM_THREADS", "value": str(1 + read % 8)},
        *_options(named),
    ]
    training: dict[str, paths.Json] = {
        "name": container,
        "image": f"registry.example.com/research/train:{named}",
        "command": ["torchrun", f"--nproc-per-node={gpus}", "train.py", f"--run={named}"],
        "env": variables,
        "resources": {"requests": dict(amounts), "limits": dict(amounts)},
        "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}, {"name": "data", "mountPath": "/data"}],
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
    }
    spec: dict[str, paths.Json] = {
        "tolerations": [
            {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
            _default_toleration("not-ready"), _default_toleration("unreachable"),
        ],
        "nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"},
        "initContainers": [
            {
                "name": "fetch", "image": f"registry.example.com/fetch:{named}", "command": ["fetch", f"/data/{named}"],
                "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}],
                "resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"memory": "1Gi"}},
            }
        ],
        "containers": [training],
        "volumes": [
            {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": f"{16 * 1024 + read}Mi"}},
            {"name": "data", "persistentVolumeClaim": {"claimName": f"data-{named}"}},
        ],
        "restartPolicy": "Never",
        "schedulerName": "default-scheduler",
        "serviceAccountName": "default",
        "terminationGracePeriodSeconds": 30 + read,
    }  # fmt: skip
    if is_wrong(index):
        _break(index // WRONG_IN, spec, training)
    labels: dict[str, paths.Json] = {"app": "train", "training.kubeflow.org/replica-index": str(index)}
    if queue:
        labels["kueue.x-k8s.io/queue-name"] = queue
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"train-worker-{index}",
            "namespace": namespace,
            "labels": labels,
            "annotations": {"prometheus.io/scrape": "true"},
        },
        "spec": spec,
    }


def _break(number: int, spec: dict[str, paths.Json], container: dict[str, paths.Json]) -> None:
    """Makes one of four mistakes; the webhook would mend the first two."""
    match number % 4:
        case 0:
            spec["tolerations"] = []
        case 1:
            container["resources"] = {"limits": {"nvidia.com/gpu": "8"}}
        case 2:
            container["securityContext"] = {"privileged": True}
        case _:
            spec["volumes"] = [{"name": "shm", "hostPath": {"path": "/dev/shm"}}]
            container["volumeMounts"] = [{"name": "shm", "mountPath": "/dev/shm"}]
