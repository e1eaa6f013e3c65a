"""An API server for the benchmark of audits, in its own process: it lists a cluster of any size in pages.

python benchmarks/audit_server.py PORT NODES FACTOR

The cluster is that of `cluster_objects` with FACTOR times as many workloads and pods. All objects are written as JSON
before the server answers the first request, so that it takes little of the processors that the audit uses.
"""

import sys
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

import orjson

import cluster_objects
import json_server

_SCALED: Final = ("JOBS", "PYTORCH_JOBS", "INFERENCE", "SERVICES", "PODS")


def scale(factor: float) -> None:
    """Sets how many workloads and pods the cluster has."""
    for name in _SCALED:
        setattr(cluster_objects, name, round(getattr(cluster_objects, name) * factor))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    log_message = json_server.silent
    objects: dict[str, list[bytes]]
    plurals: dict[str, list[str]]

    def do_GET(self) -> None:
        path, query = json_server.asked(self)
        if path in self.plurals:
            resources = [{"name": plural} for plural in self.plurals[path]]
            json_server.answer(self, 200, orjson.dumps({"kind": "APIResourceList", "resources": resources}))
        elif path in self.objects and "fieldSelector" not in query:
            objects = self.objects[path]
            json_server.answer(self, 200, json_server.page(len(objects), objects.__getitem__, query))
        else:
            json_server.answer(self, 404, json_server.NOT_FOUND)


def main() -> None:
    port, nodes, factor = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    scale(factor)
    kinds = cluster_objects.kinds(nodes)
    _Handler.objects = {
        path: [orjson.dumps(listed.make(number)) for number in range(listed.count)] for path, listed in kinds.items()
    }
    _Handler.plurals = defaultdict(list)
    for path in kinds:
        root, _, plural = path.rpartition("/")
        _Handler.plurals[root].append(plural)
    _Handler.plurals = dict(_Handler.plurals)
    server = ThreadingHTTPServer(("127.0.0.1", port), _Handler)
    print(sum(map(len, _Handler.objects.values())), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
