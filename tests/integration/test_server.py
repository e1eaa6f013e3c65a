"""`usher serve` as it runs in a cluster: a process, TLS, signals, files that change."""

import base64
import contextlib
import http.client
import itertools
import json
import os
import re
import shlex
import shutil
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import jsonpatch
import orjson
import pytest
from cryptography import x509

import server_process
from builders import container, custom, pod, pytorch_job, replaced, template
from e2e import processes
from e2e.cluster import wait_until
from integration import command
from reviews import UID, body
from server_process import BOUND, JSON, ServerProcess
from usher.certs import issue
from usher.certs.contents import read_contents

pytestmark = pytest.mark.process

GPU = "nvidia.com/gpu"
BAD_JOB = pytorch_job(template(container("pytorch", requests={GPU: 8}, limits={GPU: 4})), workers=7)
SECRET = "correct-horse-battery-staple"


def head(path: str, *headers: str) -> bytes:
    """The head of a POST, line by line."""
    return "\r\n".join([f"POST {path} HTTP/1.1", "Host: usher", *headers, "", ""]).encode()


def received(connection: ssl.SSLSocket) -> bytes:
    """All that comes until the server closes the connection, however it does so."""
    parts = []
    with contextlib.suppress(ConnectionError, ssl.SSLEOFError, ssl.SSLZeroReturnError):
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts)


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
            request = body(pod(name=f"pod-{number}"), uid=f"uid-{number}")
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


def test_the_server_header_says_nothing_of_what_runs_here(server: ServerProcess) -> None:
    assert "server" not in server.ask("POST", "/validate", body=body(pod()), headers=JSON).headers


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
    assert server.ask("POST", "/validate", body=body(pod()), headers=headers).status == 415


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

    server.review("validate", body(pod()))
    before = resident_bytes()
    for _ in range(10):
        test_a_body_in_chunks_that_is_too_large_is_not_read_to_its_end(server)
    assert resident_bytes() - before <= 16 * 2**20


def test_a_body_that_is_cut_short_is_no_fault_of_ours(server: ServerProcess) -> None:
    before = server.metrics()
    with server.socket() as connection:
        connection.sendall(head("/mutate", "Content-Type: application/json", "Content-Length: 100") + b"{")
    series = 'usher_reviews_total{endpoint="mutate",result="bad_request"}'
    wait_until(
        lambda: server.metrics().get(series, 0) > before.get(series, 0), description="the server noticed", timeout=BOUND
    )
    assert server.metrics().get('usher_reviews_total{endpoint="mutate",result="error"}') is None


@pytest.mark.parametrize("raw", [b"", b"{}", b"\xff\xfe", b"[" * 100_000, body(pod())[:-1]], ids=len)
def test_what_is_no_review_is_refused(server: ServerProcess, raw: bytes) -> None:
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


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_probes_say_ok(server: ServerProcess, path: str) -> None:
    answer = server.admin(path)
    assert (answer.status, answer.body, answer.headers["content-type"]) == (200, b"ok\n", "text/plain; charset=utf-8")


def test_reviews_are_counted_by_what_became_of_them(server: ServerProcess) -> None:
    before = server.metrics()
    server.review("validate", body(pod()))
    server.review("validate", body(BAD_JOB))
    server.review("mutate", body(pod(container(gpus=1))))
    server.review("mutate", body(custom("v1", "ConfigMap", {})))
    server.ask("POST", "/validate", body=b"{}", headers=JSON)

    after = server.metrics()
    grown = {series for series in after if after[series] > before.get(series, 0)}

    assert grown >= {
        'usher_reviews_total{endpoint="validate",result="allowed"}',
        'usher_reviews_total{endpoint="validate",result="denied"}',
        'usher_reviews_total{endpoint="validate",result="bad_request"}',
        'usher_reviews_total{endpoint="mutate",result="mutated"}',
        'usher_reviews_total{endpoint="mutate",result="allowed"}',
        'usher_findings_total{check="gpu-requests-equal-limits",outcome="deny"}',
        'usher_mutations_total{mutation="gpu-toleration"}',
        'usher_review_duration_seconds_count{endpoint="validate"}',
        "usher_not_evaluated_total{}",
    }
    assert "process_resident_memory_bytes{}" in after
    (build,) = (series for series in after if series.startswith("usher_build_info"))
    assert re.fullmatch(r'usher_build_info{engine="wasm",policies="[0-9a-f]+",version="[0-9.]+"}', build)


def test_strangers_make_no_new_series(server: ServerProcess) -> None:
    def send(number: int) -> None:
        values = (
            custom(f"example.com/v{number}", f"Kind{number}", {}, namespace=f"team-{number}", name=f"name-{number}"),
            pytorch_job(
                template(container(f"c{number}", requests={GPU: 1}, limits={GPU: 2})),
                workers=1,
                namespace=f"team-{number}",
                labels={f"label-{number}": "x"},
            ),
        )
        for value in values:
            for endpoint in ("validate", "mutate"):
                answer = server_process.ask(connection, "POST", f"/{endpoint}", body=body(value), headers=JSON)
                assert answer.status == 200
        server_process.ask(connection, "POST", f"/path-{number}", body=b"", headers=JSON)
        server_process.ask(connection, "POST", "/validate", body=b"%d" % number, headers=JSON)

    with server.connection() as connection:
        send(1)
        before = set(server.metrics())
        for number in range(2, 202):
            send(number)
    assert set(server.metrics()) == before


def test_each_review_leaves_one_line_of_json(server: ServerProcess) -> None:
    uid = "one-line"
    server.review("validate", body(BAD_JOB, uid=uid, dryRun=True))

    line = server.decision(uid)

    assert line.pop("milliseconds") > 0
    assert datetime.fromisoformat(line.pop("timestamp")).tzinfo == UTC
    assert line.pop("notEvaluated") > 0
    findings = line.pop("findings")
    assert (findings["gpu-requests-equal-limits"], findings["gpu-toleration-present"]) == ("deny", "warn")
    assert line == {
        "event": "decision",
        "level": "info",
        "uid": uid,
        "endpoint": "validate",
        "operation": "CREATE",
        "kind": "PyTorchJob",
        "namespace": "ml-research",
        "name": "example",
        "allowed": False,
        "dryRun": True,
    }


def test_no_part_of_an_object_is_in_the_log(server: ServerProcess) -> None:
    secretive = container(env={"PASSWORD": SECRET, "NCCL_TOKEN": SECRET}, args=["--token", SECRET], gpus=1)
    value = pod(secretive, annotations={"example.com/token": SECRET}, labels={"token": SECRET})
    requests = [
        body(value),
        body(value, operation="UPDATE", old_value=value),
        body(replaced(BAD_JOB, "/metadata/annotations", {"token": SECRET})),
        body(value)[:-2],
        body(value).replace(b'"uid":', b'"uid":1,"uid":'),
    ]
    for request in requests:
        for endpoint in ("validate", "mutate"):
            server.ask("POST", f"/{endpoint}", body=request, headers=JSON)
    server.review("validate", body(pod(), uid="after-the-secrets"))
    server.decision("after-the-secrets")

    assert SECRET not in server.log_text


def test_hostile_names_cannot_write_lines_of_their_own(server: ServerProcess) -> None:
    hostile = '\n{"event":"forged"}\x1b[2J\u202e' + "x" * 5000
    server.review("validate", body(BAD_JOB, uid=hostile, name=hostile, namespace=hostile, kind={"kind": hostile}))

    line = server.decision('\ufffd{"event":"forged"}\ufffd[2J\ufffd' + "x" * 226 + "...")
    for field in ("uid", "name", "namespace", "kind"):
        assert line[field].isprintable()
        assert len(line[field]) == 253
    assert server.log("forged") == []


def test_noise_on_the_port_is_no_noise_in_the_log(server: ServerProcess) -> None:
    """Whatever strangers send, every line is JSON, and none is long."""
    for noise in (b"GET / HTTP/1.1\r\n\r\n", b"\0" * 1000, b"\x16\x03\x01\x00\x05hello"):
        with socket.create_connection((processes.LOOPBACK, server.port), timeout=BOUND) as plain:
            plain.sendall(noise)
            plain.shutdown(socket.SHUT_WR)
            with contextlib.suppress(ConnectionError):
                plain.recv(1000)
    with server.socket() as connection:
        connection.sendall(b"garbage\r\n\r\n")
        assert received(connection).startswith(b"HTTP/1.1 400 ")
    with server.socket() as connection:
        connection.sendall(head("/validate", "Connection: Upgrade", "Upgrade: websocket", "Content-Length: 0"))
        assert connection.recv(65536).startswith(b"HTTP/1.1 4")

    assert server.review("validate", body(pod()))["allowed"] is True
    assert all(len(line) < 4096 for line in server.log_text.splitlines())
    assert {line["event"] for line in server.log()} <= {
        "started",
        "decision",
        "Invalid HTTP request received.",
        "Unsupported upgrade request.",
        *(line["event"] for line in server.log() if line["event"].startswith("No supported WebSocket library")),
    }


def serial_seen(connection: ssl.SSLSocket) -> int:
    certificate = connection.getpeercert(binary_form=True)
    assert certificate is not None
    return x509.load_der_x509_certificate(certificate).serial_number


def test_a_new_certificate_is_served_while_open_connections_live_on(tmp_path: Path) -> None:
    with (
        server_process.running(tmp_path, arguments=("--reload-interval=0.05",)) as server,
        server.connection() as open_connection,
    ):
        ask = server_process.ask
        assert ask(open_connection, "POST", "/validate", body=body(pod()), headers=JSON).status == 200
        before = read_contents(tmp_path)
        assert before.authority is not None
        renewed = issue.issue(names=[processes.LOOPBACK], certificate_authority=before.authority, now=datetime.now(UTC))
        # First only one of the two, as a hand would do it: the old pair goes on being served.
        (tmp_path / "tls.crt").write_bytes(renewed.files["tls.crt"])
        wait_until(lambda: server.log("certificate_problem"), description="the half pair is reported", timeout=BOUND)
        with server.socket() as connection:
            assert before.leaf is not None
            assert serial_seen(connection) == before.leaf.serial_number
        assert server.admin("/readyz").status == 200

        (tmp_path / "tls.key").write_bytes(renewed.files["tls.key"])
        wait_until(lambda: server.log("certificate_reloaded"), description="the pair is loaded", timeout=BOUND)
        with server.socket() as connection:
            assert serial_seen(connection) == renewed.leaf.serial_number
        assert ask(open_connection, "POST", "/validate", body=body(pod()), headers=JSON).status == 200


def ended(server: ServerProcess) -> int:
    return server.running.process.wait(BOUND)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_a_signal_ends_the_server_in_order(tmp_path: Path, number: signal.Signals) -> None:
    with server_process.running(tmp_path) as server:
        server.review("validate", body(pod()))
        os.kill(server.pid, number)

        assert ended(server) == 0
        assert [line["event"] for line in server.log()] == ["started", "decision", "stopping"]
        assert server.log("stopping")[0]["signal"] == number.name


def test_a_request_that_is_on_its_way_is_answered_after_sigterm(tmp_path: Path) -> None:
    raw = body(BAD_JOB)
    with server_process.running(tmp_path) as server:
        with server.socket() as connection:
            connection.sendall(
                head("/validate", "Content-Type: application/json", f"Content-Length: {len(raw)}") + raw[:100]
            )
            server.review("validate", body(pod()))
            os.kill(server.pid, signal.SIGTERM)
            wait_until(lambda: server.admin("/readyz").status == 503, description="not ready", timeout=BOUND)
            assert server.admin("/readyz").body == b"the server is stopping\n"
            # As long as a client is here, others are answered, and sent away for the next time.
            late = server.ask("POST", "/validate", body=body(pod()), headers=JSON)
            assert (late.response["allowed"], late.headers["connection"]) == (True, "close")
            connection.sendall(raw[100:])
            answer = received(connection)
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert b"connection: close" in answer
        assert b'"allowed":false' in answer
        assert ended(server) == 0


def test_a_second_signal_waits_for_nobody_idle(tmp_path: Path) -> None:
    with server_process.running(tmp_path) as server, server.connection() as idle:
        server_process.ask(idle, "POST", "/validate", body=body(pod()), headers=JSON)
        os.kill(server.pid, signal.SIGTERM)
        wait_until(lambda: server.log("stopping"), description="the first was seen", timeout=BOUND)
        os.kill(server.pid, signal.SIGINT)

        assert ended(server) == 0


def serve(tmp_path: Path, *arguments: str) -> command.Run:
    """A server that is expected not to start."""
    return command.usher("serve", f"--host={processes.LOOPBACK}", *arguments, cwd=tmp_path)


def certified(directory: Path) -> tuple[str, str]:
    issue.ensure(directory, names=[processes.LOOPBACK])
    return f"--certificate={directory / 'tls.crt'}", f"--key={directory / 'tls.key'}"


@pytest.mark.parametrize("taken", ["port", "admin-port"])
def test_a_port_in_use_is_named(tmp_path: Path, taken: str) -> None:
    free = "admin-port" if taken == "port" else "port"
    with socket.create_server((processes.LOOPBACK, 0)) as listener:
        port = listener.getsockname()[1]
        run = serve(tmp_path, *certified(tmp_path), f"--{taken}={port}", f"--{free}=0")

    assert run.code == 2
    assert run.err == (f"usher: port {port} on 127.0.0.1 cannot be opened: Address already in use; choose another\n")


def test_an_address_that_is_not_ours_is_named(tmp_path: Path) -> None:
    run = serve(tmp_path, *certified(tmp_path), "--host=192.0.2.1", "--port=0", "--admin-port=0")
    assert run.code == 2
    assert run.err.startswith("usher: port 0 on 192.0.2.1 cannot be opened: ")


def test_a_host_that_does_not_exist_is_named(tmp_path: Path) -> None:
    run = serve(tmp_path, *certified(tmp_path), "--host=no such host", "--port=0", "--admin-port=0")
    assert run.code == 2
    assert run.err.startswith("usher: port 0 on no such host cannot be opened: ")


@pytest.mark.parametrize("missing", ["tls.crt", "tls.key"])
def test_a_certificate_that_is_not_there_is_named(tmp_path: Path, missing: str) -> None:
    arguments = certified(tmp_path)
    (tmp_path / missing).unlink()

    run = serve(tmp_path, *arguments)

    assert run.code == 2
    assert run.err.startswith(f"usher: {tmp_path / missing}: ")
    assert "the file does not exist" in run.err
    assert len(run.err.splitlines()) == 1


def test_a_configuration_that_is_wrong_is_named(tmp_path: Path) -> None:
    (tmp_path / "usher.yaml").write_text("pools: 7\n")

    run = serve(tmp_path, *certified(tmp_path), f"--config={tmp_path / 'usher.yaml'}")

    assert run.code == 2
    assert run.err.startswith(f"usher: {tmp_path / 'usher.yaml'}:1: pools: ")


@pytest.mark.parametrize("arguments", [[], ["--certificate=tls.crt"], ["--key=tls.key"]], ids=str)
def test_without_certificate_and_key_the_usage_is_shown(tmp_path: Path, arguments: list[str]) -> None:
    run = serve(tmp_path, *arguments)
    assert run.code == 2
    assert "give --certificate and --key, or --dev to try it on this machine" in run.err


def test_a_certificate_of_ones_own_and_that_of_dev_exclude_each_other(tmp_path: Path) -> None:
    run = serve(tmp_path, "--dev", "--certificate=tls.crt")
    assert run.code == 2
    assert "leave out --certificate and --key" in run.err
    assert list(tmp_path.iterdir()) == []


@contextlib.contextmanager
def developing(directory: Path) -> Iterator[Callable[[], str]]:
    """`usher serve --dev` once it has printed what to try; gives what it has printed so far."""
    output = directory / "output.txt"
    process = processes.start(
        "usher",
        [
            "sh",
            "-c",
            'cd "$1" && exec "$2" -m usher serve --dev --port=0 --admin-port=0',
            "sh",
            directory,
            sys.executable,
        ],
        health="",
        log=output,
        env=command.environment(),
    )
    try:
        wait_until(lambda: "Ctrl-C" in output.read_text(), description="requests to try are printed", timeout=BOUND)
        yield output.read_text
    finally:
        processes.stop(process.process)


def test_what_dev_prints_works_when_it_is_copied_to_a_terminal(tmp_path: Path) -> None:
    with developing(tmp_path) as printed:
        lines = printed().splitlines()
        examples = {lines[index - 1]: line for index, line in enumerate(lines) if line.startswith("curl ")}
        answers = {what: run_in_shell(line, tmp_path) for what, line in examples.items()}

        assert list(answers) == [
            "# a PyTorchJob gets the missing toleration",
            "# a PyTorchJob whose requests and limits differ is denied",
            "# a pod without a GPU request is kept from the GPUs",
        ]
        tolerated, denied, kept = answers.values()
        assert "tolerations" in base64.b64decode(tolerated["patch"]).decode()
        assert denied["allowed"] is False
        assert "requests 8 of nvidia.com/gpu, but limits it to 4" in denied["status"]["message"]
        assert '"value":"void"' in base64.b64decode(kept["patch"]).decode()
        wait_until(
            lambda: (
                [json.loads(line)["allowed"] for line in printed().splitlines() if '"decision"' in line]
                == [True, False, True]
            ),
            description="each of them is in the log",
            timeout=BOUND,
        )


def run_in_shell(line: str, directory: Path) -> Any:
    """The response that a printed command prints; where there is no curl, the one to the request that it would send."""
    if shutil.which("curl") is None:
        words = dict(itertools.pairwise(shlex.split(line)))
        url = urlsplit(next(word for word in words if word.startswith("https://")))
        context = ssl.create_default_context(cafile=directory / words["--cacert"])
        connection = http.client.HTTPSConnection(url.hostname or "", url.port, timeout=BOUND, context=context)
        with contextlib.closing(connection):
            raw = (directory / words["--data"].removeprefix("@")).read_bytes()
            return server_process.ask(connection, "POST", url.path, body=raw, headers=JSON).response
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line], cwd=directory, capture_output=True, check=False, timeout=BOUND
    )
    assert done.returncode == 0, done.stderr
    return orjson.loads(done.stdout)["response"]
