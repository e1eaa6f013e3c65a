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


def review(value: paths.Object) -> bytes:
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
                "namespace": "ml-research",
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
