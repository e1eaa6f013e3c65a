"""Shared parts of the API servers of the benchmarks: JSON answers, pages of lists, and a kubeconfig for them."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlsplit

import processes

NOT_FOUND: Final = b'{"kind": "Status", "message": "not found"}'


def asked(handler: BaseHTTPRequestHandler) -> tuple[str, dict[str, str]]:
    """The path and the query."""
    url = urlsplit(handler.path)
    return url.path, {key: values[0] for key, values in parse_qs(url.query).items()}


def answer(handler: BaseHTTPRequestHandler, status: int, data: bytes) -> None:
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)


def silent(self: BaseHTTPRequestHandler, format: str, *args: object) -> None:  # noqa: A002 - names of the library
    """For `log_message`: a line for each request would cost time that is measured."""


def page(count: int, item: Callable[[int], bytes], query: Mapping[str, str]) -> bytes:
    """A page of a list with `count` items; `item` writes only those of the page."""
    start = int(query.get("continue", "0"))
    end = min(start + int(query.get("limit", count)), count)
    token = b',"continue":"%d"' % end if end < count else b""
    return b'{"metadata":{"resourceVersion":"7"%b},"items":[%b]}' % (token, b",".join(map(item, range(start, end))))


@contextmanager
def serving(script: str, nodes: int, factor: float) -> Iterator[Path]:
    """The kubeconfig of a script of this folder, once it has printed a line: it has its objects, and listens."""
    port = processes.free_port()
    command = [sys.executable, str(Path(__file__).parent / script), str(port), str(nodes), str(factor)]
    with tempfile.TemporaryDirectory() as folder, subprocess.Popen(command, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        server.stdout.readline()
        kubeconfig = Path(folder) / "kubeconfig"
        write_kubeconfig(kubeconfig, port)
        try:
            yield kubeconfig
        finally:
            server.terminate()


def write_kubeconfig(file: Path, port: int) -> None:
    value = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "bench",
        "contexts": [{"name": "bench", "context": {"cluster": "bench", "user": "bench"}}],
        "clusters": [{"name": "bench", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "users": [{"name": "bench", "user": {"token": "x"}}],
    }
    file.write_text(json.dumps(value))
