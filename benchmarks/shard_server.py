"""An API server for the benchmark of shards, in its own process: it lists a cluster of any size, also by namespace.

python benchmarks/shard_server.py PORT NODES FACTOR

The cluster is that of `cluster_objects` with FACTOR times as many workloads and pods. Each object is made when it is
listed, so that a million of them take no room. `audit_server` makes all of them before, which is faster afterwards.
"""

import sys
from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import orjson

import cluster_objects
import json_server
from audit_server import scale
from cluster_objects import Listed


class _Cluster:
    """The kinds by the path of their list, and the numbers of their objects by namespace."""

    def __init__(self, nodes: int) -> None:
        self.kinds = cluster_objects.kinds(nodes)
        self._numbers = {path: _by_namespace(listed) for path, listed in self.kinds.items()}

    def discovery(self, root: str) -> bytes:
        """The kinds of a group; empty where it is not served."""
        found = [
            {"name": path.rpartition("/")[2], "namespaced": listed.namespace is not None}
            for path, listed in self.kinds.items()
            if path.rpartition("/")[0] == root
        ]
        return orjson.dumps({"kind": "APIResourceList", "resources": found}) if found else b""

    def page(self, path: str, query: Mapping[str, str]) -> bytes:
        """A page of a list, over all namespaces or of one; empty where the kind is not served."""
        before, found, after = path.partition("/namespaces/")
        namespace, _, plural = after.partition("/")
        of = f"{before}/{plural}" if found else path
        if of not in self.kinds or "fieldSelector" in query:
            return b""
        listed = self.kinds[of]
        numbers: Sequence[int] = self._numbers[of][namespace] if found else range(listed.count)
        return json_server.page(len(numbers), lambda place: orjson.dumps(listed.make(numbers[place])), query)


def _by_namespace(listed: Listed) -> "Mapping[str, array[int]]":
    found: defaultdict[str, array[int]] = defaultdict(lambda: array("I"))
    if listed.namespace is not None:
        for number in range(listed.count):
            found[listed.namespace(number)].append(number)
    return found


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    log_message = json_server.silent
    cluster: _Cluster

    def do_GET(self) -> None:
        path, query = json_server.asked(self)
        found = self.cluster.discovery(path) or self.cluster.page(path, query)
        json_server.answer(self, 200 if found else 404, found or json_server.NOT_FOUND)


def main() -> None:
    port, nodes, factor = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    scale(factor)
    _Handler.cluster = _Cluster(nodes)
    server = ThreadingHTTPServer(("127.0.0.1", port), _Handler)
    print("ready", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
