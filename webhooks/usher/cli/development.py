"""The additions of `usher serve --dev`: a local CA, and requests to try."""

from dataclasses import replace
from pathlib import Path
from typing import Final

import click
import orjson

from usher import paths
from usher.certs import issue
from usher.cli import certificates
from usher.server.ports import Address

DIRECTORY: Final = Path(".usher/certs")
_NAMES: Final = ("localhost", "127.0.0.1", "::1", "gpu-usher.gpu-usher.svc")

_PATCH: Final = (
    'python3 -c \'import base64, json, sys; patch = base64.b64decode(json.load(sys.stdin)["response"]["patch"]); '
    "print(json.dumps(json.loads(patch), indent=2))'"
)
_SHOWN: Final = {"mutate": _PATCH, "validate": "python3 -m json.tool"}
"""Commands that show the answer of each endpoint; a patch comes in base64."""


def certificate(chosen: certificates.Options) -> certificates.Options:
    """The options with a certificate and its key, made or renewed as needed.

    Raises:
        CertificateError: the directory cannot be written.
        UsageError: the options name a certificate.
    """
    if chosen.certificate or chosen.key:
        raise click.UsageError("--dev makes its own certificate; leave out --certificate and --key")
    issue.ensure(DIRECTORY, names=_NAMES)
    return replace(chosen, certificates_mode="files", certificate=DIRECTORY / "tls.crt", key=DIRECTORY / "tls.key")


def hints(webhook: Address, admin: Address) -> None:
    """Writes sample reviews and prints how to send them."""
    reviews = DIRECTORY / "reviews"
    reviews.mkdir(exist_ok=True)
    base = f"https://{webhook}"
    lines = [f"usher answers at {base}, probes and metrics at http://{admin}", ""]
    for name, (endpoint, what, value) in _SAMPLES.items():
        file = reviews / f"{name}.json"
        file.write_bytes(orjson.dumps(_review(value), option=orjson.OPT_INDENT_2))
        curl = f"curl -s --cacert {DIRECTORY / 'ca.crt'} -H 'Content-Type: application/json' --data @{file}"
        lines += [f"# {what}", f"{curl} {base}/{endpoint} | {_SHOWN[endpoint]}", ""]
    click.echo("\n".join([*lines, "Stop with Ctrl-C. The log below has one line for each review."]))


def _review(value: paths.Object) -> paths.Object:
    group, _, version = str(value["apiVersion"]).rpartition("/")
    metadata = paths.metadata(value)
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "8f1c2e3a-0000-4000-8000-000000000001",
            "kind": {"group": group, "version": version, "kind": value["kind"]},
            "resource": {"group": group, "version": version, "resource": f"{value['kind']}s".lower()},
            "operation": "CREATE",
            "namespace": metadata["namespace"],
            "name": metadata["name"],
            "object": value,
            "oldObject": None,
        },
    }


def _gpu_container(**more: paths.Json) -> paths.Json:
    return {
        "name": "pytorch",
        "image": "registry.example.com/bert:1.4",
        "resources": {"limits": {"nvidia.com/gpu": 8, "cpu": "32", "memory": "512Gi"}},
        **more,
    }


def _pytorch_job(name: str, container: paths.Json) -> paths.Object:
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": name, "namespace": "ml-research"},
        "spec": {
            "pytorchReplicaSpecs": {
                "Master": {"replicas": 1, "template": {"spec": {"containers": [container]}}},
                "Worker": {"replicas": 7, "template": {"spec": {"containers": [container]}}},
            }
        },
    }


_UNEQUAL: Final[paths.Json] = {"requests": {"nvidia.com/gpu": 8}, "limits": {"nvidia.com/gpu": 4}}
_CPU_POD: Final[paths.Object] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "namespace": "ml-research"},
    "spec": {"containers": [{"name": "nginx", "image": "nginx:1.29"}]},
}

_SAMPLES: Final[dict[str, tuple[str, str, paths.Object]]] = {
    "good-job": ("mutate", "a PyTorchJob gets the missing toleration", _pytorch_job("bert", _gpu_container())),
    "bad-job": (
        "validate",
        "a PyTorchJob whose requests and limits differ is denied",
        _pytorch_job("bert", _gpu_container(resources=_UNEQUAL)),
    ),
    "cpu-pod": ("mutate", "a pod without a GPU request is kept away from the GPUs", _CPU_POD),
}
