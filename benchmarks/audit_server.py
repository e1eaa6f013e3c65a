"""An API server for the benchmark of audits, in its own process: it lists a cluster of any size in pages.

python benchmarks/audit_server.py PORT NODES FACTOR

The cluster is that of `cluster_objects` with FACTOR times as many workloads and pods. All objects are written as JSON
before the server answers the first request, so that it takes little of the processors that the audit uses.
"""

import sys
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final
from urllib.parse import parse_qs, urlsplit

import orjson

import cluster_objects

_SCALED: Final = ("JOBS", "PYTORCH_JOBS", "INFERENCE", "SERVICES", "PODS")


def scale(factor: float) -> None:
    """Sets how many workloads and pods the cluster has."""
    for name in _SCALED:
        setattr(cluster_objects, name, round(getattr(cluster_objects, name) * factor))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    objects: dict[str, list[bytes]]
    plurals: dict[str, list[str]]

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        query = {key: values[0] for key, values in parse_qs(url.query).items()}
        if url.path in self.plurals:
            resources = [{"name": plural} for plural in self.plurals[url.path]]
            self._answer(200, orjson.dumps({"kind": "APIResourceList", "resources": resources}))
        elif url.path in self.objects and "fieldSelector" not in query:
            self._answer(200, self._page(self.objects[url.path], query))
        else:
            self._answer(404, b'{"kind": "Status", "message": "not found"}')

    def _page(self, objects: list[bytes], query: dict[str, str]) -> bytes:
        start = int(query.get("continue", "0"))
        end = min(start + int(query.get("limit", len(objects))), len(objects))
        token = b',"continue":"%d"' % end if end < len(objects) else b""
        return b'{"metadata":{"resourceVersion":"7"%b},"items":[%b]}' % (token, b",".join(objects[start:end]))

    def _answer(self, status: int, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the standard library's name
        pass


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
