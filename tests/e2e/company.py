"""Webhooks of others beside ours, as a small HTTPS server in a thread: a sidecar injector, and Kueue's own webhooks."""

import base64
import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import jsonpatch
import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import builders
from e2e.cluster import Cluster, Object, wait_until
from e2e.processes import LOOPBACK
from usher.server.certs import issue

QUEUE_LABEL: Final = "kueue.x-k8s.io/queue-name"
MANAGED_LABEL: Final = "kueue.x-k8s.io/managed"
GATE: Final[Object] = {"name": "kueue.x-k8s.io/admission"}
SIDECAR: Final = "proxy"

_API_VERSION: Final = "admissionregistration.k8s.io/v1"
_KIND: Final = "MutatingWebhookConfiguration"
_RULES: Final = [
    {"apiGroups": [group], "apiVersions": [version], "resources": [resource], "operations": ["CREATE"]}
    for group, version, resource in (("", "v1", "pods"), ("batch", "v1", "jobs"), ("kubeflow.org", "v1", "pytorchjobs"))
]
_SUSPEND: Final = {"Job": ("spec", "suspend"), "PyTorchJob": ("spec", "runPolicy", "suspend")}

Change = Callable[[Object], None]
"""Changes an object in place, in the same way however often it is asked."""


def inject_sidecar(value: Object) -> None:
    """Puts a container before all others of every pod template, with a volume and with variables."""
    for template in templates(value):
        spec = template["spec"]
        if any(container["name"] == SIDECAR for container in spec["containers"]):
            continue
        spec["containers"].insert(
            0,
            {
                "name": SIDECAR,
                "image": "registry.example.com/proxy:5",
                "env": [{"name": "PROXY_LEVEL", "value": "info"}],
                "volumeMounts": [{"name": "proxy-certificates", "mountPath": "/certificates"}],
            },
        )
        spec.setdefault("volumes", []).insert(0, {"name": "proxy-certificates", "emptyDir": {}})


def queue(value: Object) -> None:
    """Suspends a job that is in a queue, and gates a pod (KQ:pkg/controller/jobs/{job,pod}/*_webhook.go)."""
    if QUEUE_LABEL not in value["metadata"].get("labels", {}):
        return
    if value["kind"] == "Pod":
        value["metadata"]["labels"][MANAGED_LABEL] = "true"
        gates = value["spec"].setdefault("schedulingGates", [])
        if GATE not in gates:
            gates.append(GATE)
        return
    *parents, field = _SUSPEND[value["kind"]]
    holder = value
    for parent in parents:
        holder = holder.setdefault(parent, {})
    holder[field] = True


CHANGES: Final[dict[str, Change]] = {"sidecar": inject_sidecar, "kueue": queue}
"""By the path at which the server makes them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Company:
    """A running server of webhooks."""

    url: str
    authority: bytes

    @contextlib.contextmanager
    def registered(self, cluster: Cluster, change: str, *, name: str, reinvocation: str) -> Iterator[None]:
        """While the context lasts, the API server asks one of the webhooks, under a name that says when.

        It calls mutating webhooks in the order of the names of their configurations.
        """
        cluster.create(self._configuration(change, name=name, reinvocation=reinvocation))
        try:
            wait_until(lambda: _asks(cluster, change), description=f"the API server asks {change}")
            yield
        finally:
            cluster.delete(_KIND, name, api_version=_API_VERSION)
            wait_until(lambda: not _asks(cluster, change), description=f"the API server does not ask {change}")

    def _configuration(self, change: str, *, name: str, reinvocation: str) -> Object:
        webhook = {
            "name": f"{change}.example.com",
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "failurePolicy": "Fail",
            "reinvocationPolicy": reinvocation,
            "clientConfig": {
                "url": f"{self.url}/{change}",
                "caBundle": base64.b64encode(self.authority).decode(),
            },
            "rules": _RULES,
        }
        return {"apiVersion": _API_VERSION, "kind": _KIND, "metadata": {"name": name}, "webhooks": [webhook]}


@contextlib.contextmanager
def keeping(directory: Path) -> Iterator[Company]:
    """The server, on loopback with a certificate in `directory`; it has ended when the context is left."""
    issue.ensure(directory, names=[LOOPBACK], now=datetime.now(UTC))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(directory / "tls.crt", directory / "tls.key")
    routes = [Route(f"/{path}", _endpoint(change), methods=["POST"]) for path, change in CHANGES.items()]
    server = uvicorn.Server(
        uvicorn.Config(
            Starlette(routes=routes),
            log_config=None,
            lifespan="off",
            ssl_context_factory=lambda _config, _default: context,
        )
    )
    with socket.socket() as listener:
        listener.bind((LOOPBACK, 0))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="company")
        thread.start()
        try:
            wait_until(lambda: server.started, description="the other webhooks are served")
            yield Company(
                url=f"https://{LOOPBACK}:{listener.getsockname()[1]}", authority=(directory / "ca.crt").read_bytes()
            )
        finally:
            server.should_exit = True
            thread.join()


def _endpoint(change: Change) -> Callable[[Request], Any]:
    async def answer(request: Request) -> Response:
        review = orjson.loads(await request.body())["request"]
        before = review["object"]
        after = orjson.loads(orjson.dumps(before))
        change(after)
        patch = jsonpatch.make_patch(before, after).patch
        response: Object = {"uid": review["uid"], "allowed": True}
        if patch:
            response |= {"patchType": "JSONPatch", "patch": base64.b64encode(orjson.dumps(patch)).decode()}
        body = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}
        return Response(orjson.dumps(body), media_type="application/json")

    return answer


def templates(value: Object) -> list[Object]:
    if value["kind"] == "Pod":
        return [value]
    if value["kind"] == "Job":
        return [value["spec"]["template"]]
    return [replica["template"] for replica in value["spec"]["pytorchReplicaSpecs"].values()]


def _asks(cluster: Cluster, change: str) -> bool:
    """Whether a pod is changed on its way in."""
    labels = {QUEUE_LABEL: "research"}
    probe = cluster.create(builders.pod(name="probe", namespace="default", labels=labels), dry_run=True)
    changed: dict[str, bool] = {
        "sidecar": probe["spec"]["containers"][0]["name"] == SIDECAR,
        "kueue": GATE in probe["spec"].get("schedulingGates", []),
    }
    return changed[change]
