"""A small API server on loopback: discovery, paginated lists, and whatever trouble a test asks for."""

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import yaml

from usher import paths
from usher.kinds import registry


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    status: int = 200
    value: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


def status(code: int, message: str, *, headers: Mapping[str, str] | None = None, offered: str = "") -> Response:
    """A Status object, as the API server answers when it refuses; `offered` is a token to go on with."""
    metadata = {"continue": offered} if offered else {}
    value = {"kind": "Status", "apiVersion": "v1", "metadata": metadata, "status": "Failure", "message": message}
    return Response(status=code, value={**value, "code": code}, headers=headers or {})


_CLUSTER_SCOPED = {"namespaces", "nodes", *(kind.plural for kind in registry.KINDS if kind.cluster_scoped)}

Trouble = Callable[[str, Mapping[str, str]], Response | None]
"""Looks at path and query of a request and may answer in the server's place."""


class ApiServer:
    """Serves the kinds that it was given objects of, and those named in `served`."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str], list[paths.Object]] = {}
        self.kinds: dict[tuple[str, str], str] = {}
        self.groups: dict[str, str] = {}
        """The API groups, with their versions, of objects of `add_other`."""
        self.page = 2
        """Objects per page at most, whatever the client asks for."""
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.headers: list[dict[str, str]] = []
        self.troubles: list[Trouble] = []
        self.url = ""

    def add(self, *objects: paths.Object) -> None:
        """Objects as manifests; the server stores them under their kind and gives them a uid."""
        for value in objects:
            group, _, version = str(value["apiVersion"]).rpartition("/")
            (kind,) = [each for each in registry.LISTED if (each.group, each.kind) == (group, value["kind"])]
            metadata = value["metadata"]
            assert isinstance(metadata, dict)
            metadata.setdefault("uid", f"uid-{kind.plural}-{metadata['name']}")
            root = f"/apis/{group}/{version}" if group else f"/api/{version}"
            self.objects.setdefault((root, kind.plural), []).append(value)

    def serve_kind(self, api_version: str, plural: str) -> None:
        """Makes a kind known that has no objects."""
        self.objects.setdefault((f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}", plural), [])

    def add_other(self, plural: str, *objects: paths.Object) -> None:
        """Objects of a kind that usher knows nothing of, and their kind in all groups that the server has."""
        for value in objects:
            group, _, version = str(value["apiVersion"]).rpartition("/")
            root = f"/apis/{group}/{version}" if group else f"/api/{version}"
            self.objects.setdefault((root, plural), []).append(value)
            self.kinds[root, plural] = str(value["kind"])
            if group:
                self.groups[group] = version

    def trouble(self, path: str, *responses: Response) -> None:
        """The next requests for a path get these answers instead."""
        waiting = list(responses)
        self.troubles.append(lambda asked, _: waiting.pop(0) if asked == path and waiting else None)

    def answer(self, path: str, query: Mapping[str, str]) -> Response:
        for trouble in self.troubles:
            response = trouble(path, query)
            if response is not None:
                return response
        for (root, plural), objects in self.objects.items():
            if path == f"{root}/{plural}":
                return self._list(objects, query)
            before, _, after = path.partition("/namespaces/")
            if before == root and after.endswith(f"/{plural}"):
                namespace = after.partition("/")[0]
                return self._list([each for each in objects if each["metadata"]["namespace"] == namespace], query)  # type: ignore[call-overload, index]  # made by builders
        if path == "/apis" and self.groups:
            groups = [{"name": name, "preferredVersion": {"version": each}} for name, each in self.groups.items()]
            return Response(value={"kind": "APIGroupList", "groups": groups})
        plurals = [plural for root, plural in self.objects if root == path]
        if plurals:
            resources = [
                {
                    "name": plural,
                    "namespaced": plural not in _CLUSTER_SCOPED,
                    "kind": self.kinds.get((path, plural), ""),
                    "verbs": ["list"],
                }
                for plural in plurals
            ]
            return Response(value={"kind": "APIResourceList", "resources": resources})
        return status(404, "the server could not find the requested resource")

    def _list(self, objects: list[paths.Object], query: Mapping[str, str]) -> Response:
        start = int(query.get("continue", "0"))
        end = start + min(int(query["limit"]), self.page)
        token = {"continue": str(end)} if end < len(objects) else {}
        # The API server leaves kind and apiVersion out of the items of built-in kinds.
        items = [{key: value for key, value in each.items() if key not in ("kind", "apiVersion")} for each in objects]
        return Response(
            value={"kind": "List", "metadata": {"resourceVersion": "7", **token}, "items": items[start:end]}
        )


@contextlib.contextmanager
def running() -> Iterator[ApiServer]:
    server = ApiServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # The body follows the headers in a packet of its own, which would wait 40 ms for the answer to the first.
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            url = urlsplit(self.path)
            query = {key: values[0] for key, values in parse_qs(url.query).items()}
            server.requests.append((url.path, query))
            server.headers.append({key.lower(): value for key, value in self.headers.items()})
            response = server.answer(url.path, query)
            body = response.value if isinstance(response.value, bytes) else json.dumps(response.value).encode()
            self.send_response(response.status)
            for key, value in {"Content-Type": "application/json", **response.headers}.items():
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the standard library's name
            pass

    with served(Handler) as url:
        server.url = url
        yield server


@contextlib.contextmanager
def served(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """The URL on loopback at which a handler answers, each request in a thread of its own, while the context lasts."""
    http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    http.daemon_threads = True
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{http.server_port}"
    finally:
        http.shutdown()
        thread.join()
        http.server_close()


def kubeconfig(file: Path, url: str, *, context: str = "test", token: str = "secret") -> Path:
    """A kubeconfig with one context."""
    file.write_text(
        yaml.safe_dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": context,
                "contexts": [{"name": context, "context": {"cluster": "c", "user": "u"}}],
                "clusters": [{"name": "c", "cluster": {"server": url}}],
                "users": [{"name": "u", "user": {"token": token}}],
            }
        )
    )
    return file
