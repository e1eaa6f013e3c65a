"""An API server for a benchmark, in its own process: it lists a large cluster in pages and keeps watches open.

python benchmarks/cluster_server.py PORT NODES

It keeps only one kind of write: the status of GPUQuotas. `POST /churn` sends the events of ten minutes of a busy
cluster as fast as the watchers read them, and answers with the number of events by path.
"""

import queue
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

import orjson

import cluster_objects
import json_server
from cluster_objects import Listed, Object

_HEARTBEATS: Final = 2
"""Heartbeats of a node in ten minutes: a kubelet writes an unchanged status every five minutes."""

_PODS: Final = 1_000
"""Pods that start and end in this time; each has six events."""

_QUEUE_UPDATES: Final = 4_000
_QUOTA_UPDATES: Final = 1_000

_WAITING: Final = 64
"""The most events that wait for a watcher. A slow watcher delays the events; they do not fill the memory."""


class Cluster:
    """The objects and their watchers."""

    def __init__(self, nodes: int) -> None:
        self.nodes = nodes
        self.kinds = cluster_objects.kinds(nodes)
        self.watchers: defaultdict[str, list[queue.Queue[bytes]]] = defaultdict(list)
        self._written: dict[str, Object] = {}
        """GPUQuotas whose status was written, by path."""
        self._version = 7
        self._lock = threading.Lock()

    def page(self, path: str, listed: Listed, query: Mapping[str, str]) -> Object:
        """A page of a list, or the object that the request names."""
        name = query.get("fieldSelector", "").removeprefix("metadata.name=")
        if name:
            return self._list([each for number in _numbers(path, name) for each in self._named(path, number, name)])
        start = int(query.get("continue", "0"))
        end = min(start + int(query["limit"]), listed.count)
        token = {"continue": str(end)} if end < listed.count else {}
        return self._list([self._object(path, number) for number in range(start, end)], **token)

    def one(self, path: str) -> Object | None:
        """A cluster-scoped object by its path."""
        of, _, name = path.rpartition("/")
        if of not in self.kinds:
            return None
        return next((each for number in _numbers(of, name) for each in self._named(of, number, name)), None)

    def write(self, path: str, value: Object) -> Object | None:
        """Stores the status of an object; None if another write came first."""
        of, _, _ = path.rpartition("/")
        with self._lock:
            there, metadata = self.one(path), value["metadata"]
            assert isinstance(metadata, dict)
            if there is None or there["metadata"]["resourceVersion"] != metadata["resourceVersion"]:  # type: ignore[index]  # of JSON
                return None
            self._version += 1
            value = {**value, "metadata": {**metadata, "resourceVersion": str(self._version)}}
            self._written[path] = value
        self.tell(of, "MODIFIED", value)
        return value

    def tell(self, path: str, event: str, value: Object) -> int:
        """Sends an event to all watchers, and returns their number."""
        metadata = value["metadata"]
        assert isinstance(metadata, dict)
        self._version += 1
        value = {**value, "metadata": {**metadata, "resourceVersion": str(self._version)}}
        line = orjson.dumps({"type": event, "object": value}) + b"\n"
        watchers = list(self.watchers[path])
        for each in watchers:
            each.put(line)
        return len(watchers)

    def churn(self) -> Counter[str]:
        """The events of ten minutes, in mixed order."""
        told: Counter[str] = Counter()
        for path, event, value in _mixed(self._heartbeats(), self._pods(), self._queues(), self._quotas()):
            told[path] += self.tell(path, event, value)
        return told

    def _heartbeats(self) -> Iterator[tuple[str, str, Object]]:
        for beat in range(_HEARTBEATS):
            for number in range(self.nodes):
                value = cluster_objects.node(number)
                condition = {"type": "Ready", "status": "True", "lastHeartbeatTime": str(beat)}
                yield "/api/v1/nodes", "MODIFIED", {**value, "status": {**value["status"], "conditions": [condition]}}  # type: ignore[dict-item]  # of JSON

    def _pods(self) -> Iterator[tuple[str, str, Object]]:
        for number in range(_PODS):
            value = cluster_objects.pod(number * 20, nodes=self.nodes)
            metadata = value["metadata"]
            assert isinstance(metadata, dict)
            value = {**value, "metadata": {**metadata, "name": f"new-{number}", "uid": f"uid-new-{number}"}}
            yield "/api/v1/pods", "ADDED", {**value, "status": {"phase": "Pending"}}
            for phase in ("Pending", "Running", "Running", "Succeeded"):
                yield "/api/v1/pods", "MODIFIED", {**value, "status": {**value["status"], "phase": phase}}  # type: ignore[dict-item]  # of JSON
            yield "/api/v1/pods", "DELETED", value

    def _queues(self) -> Iterator[tuple[str, str, Object]]:
        path = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues"
        for number in range(_QUEUE_UPDATES):
            yield path, "MODIFIED", cluster_objects.cluster_queue(number % cluster_objects.QUEUES, reserved=number)

    def _quotas(self) -> Iterator[tuple[str, str, Object]]:
        for number in range(_QUOTA_UPDATES):
            value = cluster_objects.resource_quota(number % cluster_objects.NAMESPACES, used=number)
            yield "/api/v1/resourcequotas", "MODIFIED", value

    def _list(self, items: list[Object], **token: str) -> Object:
        return {"metadata": {"resourceVersion": str(self._version), **token}, "items": items}

    def _named(self, path: str, number: int, name: str) -> Iterator[Object]:
        if number < self.kinds[path].count:
            value = self._object(path, number)
            metadata = value["metadata"]
            assert isinstance(metadata, dict)
            if metadata["name"] == name:
                yield value

    def _object(self, path: str, number: int) -> Object:
        value = self.kinds[path].make(number)
        metadata = value["metadata"]
        assert isinstance(metadata, dict)
        return self._written.get(f"{path}/{metadata['name']}", value)


def _numbers(path: str, name: str) -> Iterator[int]:
    """The number at the end of a name, which identifies the object."""
    digits = name.rpartition("-")[2]
    if digits.isdecimal():
        yield int(digits)
        if path.startswith("/apis/apps/"):
            yield int(digits) + cluster_objects.INFERENCE
    else:
        yield 0


def _mixed(*sources: Iterator[tuple[str, str, Object]]) -> Iterator[tuple[str, str, Object]]:
    """One of each in turn, until all have ended."""
    left = list(sources)
    while left:
        for each in list(left):
            found = next(each, None)
            if found is None:
                left.remove(each)
            else:
                yield found


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    log_message = json_server.silent
    cluster: Cluster

    def do_GET(self) -> None:
        asked, query = json_server.asked(self)
        path = _of_all_namespaces(asked)
        listed = self.cluster.kinds.get(path)
        if listed is None:
            found = self.cluster.one(path)
            if found is None:
                json_server.answer(self, 404, json_server.NOT_FOUND)
            else:
                json_server.answer(self, 200, orjson.dumps(found))
        elif "watch" in query:
            self._watch(path, seconds=float(query["timeoutSeconds"]))
        else:
            json_server.answer(self, 200, orjson.dumps(self.cluster.page(path, listed, query)))

    def do_PUT(self) -> None:
        value = orjson.loads(self.rfile.read(int(self.headers["Content-Length"])))
        written = self.cluster.write(self.path.removesuffix("/status"), value)
        if written is None:
            json_server.answer(self, 409, b'{"kind": "Status", "message": "the object has been modified"}')
        else:
            json_server.answer(self, 200, orjson.dumps(written))

    def do_POST(self) -> None:
        json_server.answer(self, 200, orjson.dumps(self.cluster.churn()))

    def _watch(self, path: str, *, seconds: float) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        waiting: queue.Queue[bytes] = queue.Queue(maxsize=_WAITING)
        self.cluster.watchers[path].append(waiting)
        until = time.monotonic() + seconds
        try:
            while (left := until - time.monotonic()) > 0:
                try:
                    line = waiting.get(timeout=left)
                except queue.Empty:
                    break
                self.wfile.write(b"%x\r\n%b\r\n" % (len(line), line))
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.close_connection = True
        finally:
            self.cluster.watchers[path].remove(waiting)


def _of_all_namespaces(path: str) -> str:
    before, found, after = path.partition("/namespaces/")
    return f"{before}/{after.partition('/')[2]}" if found and "/" in after else path


def main() -> None:
    _Handler.cluster = Cluster(int(sys.argv[2]))
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), _Handler).serve_forever()


if __name__ == "__main__":
    main()
