"""How `usher serve` starts and ends, and what it does where its files change."""

import base64
import contextlib
import http.client
import itertools
import json
import os
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

import orjson
import pytest
from cryptography import x509

import server_process
from builders import mutated_pod
from e2e import processes
from e2e.cluster import wait_until
from integration import command
from integration.served_reviews import BAD_JOB, head, received
from reviews import body
from server_process import BOUND, JSON, ServerProcess
from usher.server.certs import issue
from usher.server.certs.certificates import read_contents

pytestmark = pytest.mark.process


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
        assert ask(open_connection, "POST", "/validate", body=body(mutated_pod()), headers=JSON).status == 200
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
        assert ask(open_connection, "POST", "/validate", body=body(mutated_pod()), headers=JSON).status == 200


def ended(server: ServerProcess) -> int:
    return server.running.process.wait(BOUND)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_a_signal_ends_the_server_in_order(tmp_path: Path, number: signal.Signals) -> None:
    with server_process.running(tmp_path) as server:
        server.review("validate", body(mutated_pod()))
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
            server.review("validate", body(mutated_pod()))
            os.kill(server.pid, signal.SIGTERM)
            wait_until(lambda: server.admin("/readyz").status == 503, description="not ready", timeout=BOUND)
            assert server.admin("/readyz").body == b"the server is stopping\n"
            # As long as a client is here, others are answered, and sent away for the next time.
            late = server.ask("POST", "/validate", body=body(mutated_pod()), headers=JSON)
            assert (late.response["allowed"], late.headers["connection"]) == (True, "close")
            connection.sendall(raw[100:])
            answer = received(connection)
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert b"connection: close" in answer
        assert b'"allowed":false' in answer
        assert ended(server) == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_log_that_cannot_be_written_stops_neither_answers_nor_the_shutdown(tmp_path: Path) -> None:
    (tmp_path / "usher.log").symlink_to("/dev/full")
    with server_process.running(tmp_path) as server:
        assert server.review("validate", body(BAD_JOB))["allowed"] is False
        assert server.review("validate", body(mutated_pod()))["allowed"] is True
        os.kill(server.pid, signal.SIGTERM)

        assert ended(server) in (0, 2), "2 says that the output is incomplete"


def test_a_second_signal_does_not_wait_for_idle_connections(tmp_path: Path) -> None:
    with server_process.running(tmp_path) as server, server.connection() as idle:
        server_process.ask(idle, "POST", "/validate", body=body(mutated_pod()), headers=JSON)
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
def test_serve_names_a_missing_certificate_file(tmp_path: Path, missing: str) -> None:
    arguments = certified(tmp_path)
    (tmp_path / missing).unlink()

    run = serve(tmp_path, *arguments)

    assert run.code == 2
    assert run.err.startswith(f"usher: {tmp_path / missing}: ")
    assert "the file does not exist" in run.err
    assert len(run.err.splitlines()) == 1


def test_a_configuration_that_is_wrong_is_named(tmp_path: Path) -> None:
    (tmp_path / "usher.yaml").write_text("pools: 7\napiVersion: gpu-usher.io/v1alpha1\nkind: Config\n")

    run = serve(tmp_path, *certified(tmp_path), f"--config={tmp_path / 'usher.yaml'}")

    assert run.code == 2
    assert run.err.startswith(f"usher: {tmp_path / 'usher.yaml'}:1: pools: ")


@pytest.mark.parametrize("arguments", [[], ["--certificate=tls.crt"], ["--key=tls.key"]], ids=str)
def test_without_certificate_and_key_the_usage_is_shown(tmp_path: Path, arguments: list[str]) -> None:
    run = serve(tmp_path, *arguments)
    assert run.code == 2
    assert "give --certificate and --key, or --certificates self-managed with a cluster" in run.err


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
            "# a pod without a GPU request is kept away from the GPUs",
        ]
        tolerated, denied, kept = answers.values()
        assert any("tolerations" in each["path"] for each in tolerated)
        assert denied["allowed"] is False
        assert "requests 8 of nvidia.com/gpu, but limits it to 4" in denied["status"]["message"]
        assert {"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"} in kept[0]["value"]
        wait_until(
            lambda: (
                [json.loads(line)["allowed"] for line in printed().splitlines() if '"decision"' in line]
                == [True, False, True]
            ),
            description="each of them is in the log",
            timeout=BOUND,
        )


def run_in_shell(line: str, directory: Path) -> Any:
    """The patch or the response that a printed command prints; without curl, that to the request that it would send."""
    if shutil.which("curl") is None:
        words = dict(itertools.pairwise(shlex.split(line)))
        url = urlsplit(next(word for word in words if word.startswith("https://")))
        context = ssl.create_default_context(cafile=directory / words["--cacert"])
        connection = http.client.HTTPSConnection(url.hostname or "", url.port, timeout=BOUND, context=context)
        with contextlib.closing(connection):
            raw = (directory / words["--data"].removeprefix("@")).read_bytes()
            response = server_process.ask(connection, "POST", url.path, body=raw, headers=JSON).response
            return orjson.loads(base64.b64decode(response["patch"])) if "patch" in response else response
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line], cwd=directory, capture_output=True, check=False, timeout=BOUND
    )
    assert done.returncode == 0, done.stderr
    printed = orjson.loads(done.stdout)
    return printed["response"] if isinstance(printed, dict) else printed
