"""The ports of `usher serve` take good requests over TLS, and refuse the rest."""

import base64
import contextlib
import os
import socket
import ssl
import sys
from pathlib import Path

import jsonpatch
import orjson
import pytest

import server_process
from builders import container, mutated_pod, pod
from e2e import processes
from e2e.cluster import wait_until
from integration.served_reviews import BAD_JOB, GPU, head, received
from reviews import UID, body
from server_process import BOUND, JSON, ServerProcess

pytestmark = pytest.mark.process


def test_a_bad_job_is_denied(server: ServerProcess) -> None:
    answer = server.ask("POST", "/validate?timeout=3s", body=body(BAD_JOB), headers=JSON)

    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.response["uid"] == UID
    assert answer.response["allowed"] is False
    assert answer.response["status"]["message"].startswith("PyTorchJob ml-research/example breaks 1 rule:")


def test_a_gpu_pod_gets_its_toleration(server: ServerProcess) -> None:
    value = pod(container(gpus=1))

    response = server.review("mutate", body(value))

    assert response["patchType"] == "JSONPatch"
    patched = jsonpatch.JsonPatch(orjson.loads(base64.b64decode(response["patch"]))).apply(value)
    assert patched["spec"]["tolerations"] == [{"key": GPU, "operator": "Exists", "effect": "NoSchedule"}]


def test_many_reviews_go_over_one_connection(server: ServerProcess) -> None:
    with server.connection() as connection:
        for number in range(50):
            request = body(mutated_pod(name=f"pod-{number}"), uid=f"uid-{number}")
            answer = server_process.ask(connection, "POST", "/validate", body=request, headers=JSON)
            assert answer.response == {"uid": f"uid-{number}", "allowed": True}
            assert "connection" not in answer.headers


def test_only_tls_1_3_and_http_1_1_are_spoken(server: ServerProcess) -> None:
    with server.socket() as connection:
        assert (connection.version(), connection.selected_alpn_protocol()) == ("TLSv1.3", "http/1.1")
    old = server.client_context()
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    with (
        socket.create_connection((processes.LOOPBACK, server.port), timeout=BOUND) as plain,
        pytest.raises((ssl.SSLError, ConnectionError)),
    ):
        old.wrap_socket(plain, server_hostname=processes.LOOPBACK)


def test_no_server_header_reveals_the_software(server: ServerProcess) -> None:
    assert "server" not in server.ask("POST", "/validate", body=body(mutated_pod()), headers=JSON).headers


@pytest.mark.parametrize("path", ["/validate", "/mutate"])
def test_get_is_not_allowed(server: ServerProcess, path: str) -> None:
    answer = server.ask("GET", path)
    assert (answer.status, answer.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {**JSON, "Content-Encoding": "gzip"},
        {**JSON, "CONTENT-ENCODING": "br"},
    ],
    ids=str,
)
def test_other_kinds_of_content_are_not_taken(server: ServerProcess, headers: dict[str, str]) -> None:
    assert server.ask("POST", "/validate", body=body(mutated_pod()), headers=headers).status == 415


def test_a_body_that_says_that_it_is_too_large_is_not_read(server: ServerProcess) -> None:
    with server.socket() as connection:
        connection.sendall(head("/validate", "Content-Type: application/json", f"Content-Length: {9 * 2**20}"))
        # Nothing of the body was sent, and yet there is an answer.
        assert received(connection).startswith(b"HTTP/1.1 413 ")


def test_a_body_in_chunks_that_is_too_large_is_not_read_to_its_end(server: ServerProcess) -> None:
    chunk = f"{2**20:x}\r\n".encode() + b" " * 2**20 + b"\r\n"
    with server.socket() as connection:
        connection.sendall(head("/validate", "Content-Type: application/json", "Transfer-Encoding: chunked"))
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            for _ in range(9):
                connection.sendall(chunk)
        assert received(connection).startswith(b"HTTP/1.1 413 ")


def test_bodies_that_are_too_large_leave_no_memory_behind(server: ServerProcess) -> None:
    def resident_bytes() -> int:
        pages = int(Path(f"/proc/{server.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    server.review("validate", body(mutated_pod()))
    before = resident_bytes()
    for _ in range(10):
        test_a_body_in_chunks_that_is_too_large_is_not_read_to_its_end(server)
    assert resident_bytes() - before <= 16 * 2**20


def test_a_truncated_body_does_not_count_as_an_error_of_the_server(server: ServerProcess) -> None:
    before = server.metrics()
    with server.socket() as connection:
        connection.sendall(head("/mutate", "Content-Type: application/json", "Content-Length: 100") + b"{")
    series = 'usher_reviews_total{endpoint="mutate",result="bad_request"}'
    wait_until(
        lambda: server.metrics().get(series, 0) > before.get(series, 0), description="the server noticed", timeout=BOUND
    )
    assert server.metrics().get('usher_reviews_total{endpoint="mutate",result="error"}') is None


@pytest.mark.parametrize("raw", [b"", b"{}", b"\xff\xfe", b"[" * 100_000, body(mutated_pod())[:-1]], ids=len)
def test_a_body_that_is_not_a_review_is_refused(server: ServerProcess, raw: bytes) -> None:
    answer = server.ask("POST", "/validate", body=raw, headers=JSON)
    assert (answer.status, answer.headers["content-type"]) == (400, "text/plain; charset=utf-8")


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("path", ["/", "/docs", "/redoc", "/openapi.json", "/metrics", "/healthz", "/validate/x"])
def test_nothing_else_is_on_the_webhook_port(server: ServerProcess, method: str, path: str) -> None:
    assert server.ask(method, path, headers=JSON).status == 404


@pytest.mark.parametrize("path", ["/", "/docs", "/redoc", "/openapi.json", "/validate", "/mutate"])
def test_nothing_else_is_on_the_admin_port(server: ServerProcess, path: str) -> None:
    assert server.admin(path).status == 404


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_nothing_listens_but_the_two_ports(server: ServerProcess) -> None:
    sockets = set()
    for link in Path(f"/proc/{server.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # A connection that has just ended.
            sockets.add(str(link.readlink()))
    lines = [line.split() for line in Path(f"/proc/{server.pid}/net/tcp").read_text().splitlines()[1:]]
    listening = [line[1] for line in lines if line[3] == "0A" and f"socket:[{line[9]}]" in sockets]

    # Addresses are in the byte order of the machine, ports are not.
    assert sorted(int(address.partition(":")[2], 16) for address in listening) == sorted(
        [server.port, server.admin_port]
    )
