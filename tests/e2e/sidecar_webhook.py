"""A mutating webhook of another team, which adds a sidecar to every pod of a namespace."""

import base64
import contextlib
import http.server
import json
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from e2e.cluster import Cluster
from e2e.processes import LOOPBACK
from usher.server.certs import issue

SIDECAR: Final = {"name": "proxy", "image": "registry.example.com/proxy:1"}
_API_VERSION: Final = "admissionregistration.k8s.io/v1"
_KIND: Final = "MutatingWebhookConfiguration"


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = json.dumps(_answer(review)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Says nothing: tests print what matters."""


def _answer(review: Any) -> Any:
    request = review["request"]
    response: dict[str, Any] = {"uid": request["uid"], "allowed": True}
    if SIDECAR["name"] not in {each["name"] for each in request["object"]["spec"]["containers"]}:
        patch = [{"op": "add", "path": "/spec/containers/-", "value": SIDECAR}]
        response |= {"patchType": "JSONPatch", "patch": base64.b64encode(json.dumps(patch).encode()).decode()}
    return {"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response}


@contextlib.contextmanager
def adding_sidecars(cluster: Cluster, namespace: str, *, name: str, directory: Path) -> Iterator[None]:
    """While the context lasts, pods of the namespace get the sidecar. Webhooks are called in the order of names."""
    issue.ensure(directory, names=[LOOPBACK], now=datetime.now(UTC))
    server = http.server.ThreadingHTTPServer((LOOPBACK, 0), _Handler)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(directory / "tls.crt", directory / "tls.key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    webhook = {
        "name": "sidecars.example.com",
        "failurePolicy": "Fail",
        "reinvocationPolicy": "IfNeeded",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "clientConfig": {
            "url": f"https://{LOOPBACK}:{server.server_address[1]}/",
            "caBundle": base64.b64encode((directory / "ca.crt").read_bytes()).decode(),
        },
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}],
    }
    cluster.create({"apiVersion": _API_VERSION, "kind": _KIND, "metadata": {"name": name}, "webhooks": [webhook]})
    try:
        yield
    finally:
        cluster.delete(_KIND, name, api_version=_API_VERSION)
        server.shutdown()
        server.server_close()
