"""`usher serve --engine opa`: the engine is a process of its own, which may come late and go away."""

import sys
from pathlib import Path

import pytest

import builders
import opa_server
import reviews
import server_process
from e2e import ports, processes
from e2e.cluster import wait_until
from integration import command
from usher.server.certs import issue

pytestmark = [*opa_server.needs_opa, pytest.mark.process]


def test_the_server_is_unready_and_undecided_until_opa_is_there_with_our_policies(tmp_path: Path) -> None:
    issue.ensure(tmp_path, names=[processes.LOOPBACK])
    port, admin_port, opa_port = ports.free(3)
    process = processes.start(
        "usher",
        [
            *(sys.executable, "-m", "usher", "serve", f"--host={processes.LOOPBACK}", f"--port={port}"),
            *(f"--admin-port={admin_port}", "--engine=opa", f"--opa-url=http://{processes.LOOPBACK}:{opa_port}"),
            *(f"--certificate={tmp_path / 'tls.crt'}", f"--key={tmp_path / 'tls.key'}"),
        ],
        health=f"http://{processes.LOOPBACK}:{admin_port}/healthz",
        log=tmp_path / "usher.log",
        env=command.environment(),
    )
    server = server_process.ServerProcess(directory=tmp_path, port=port, admin_port=admin_port, running=process)
    body = reviews.body(builders.pod(builders.container(gpus=1)))
    try:
        processes.wait_until_ready([process], tls=server.client_context())

        assert server.admin("/readyz").status == 503
        assert server.ask("POST", "/validate", body=body, headers=server_process.JSON).status == 500

        with opa_server.running(tmp_path, opa_server.POLICIES / "usher", port=opa_port):
            wait_until(
                lambda: server.admin("/readyz").status == 200,
                description="the server finds its OPA",
                timeout=server_process.BOUND,
            )
            answer = server.ask("POST", "/validate", body=body, headers=server_process.JSON)
            assert answer.response["allowed"] is True

        assert server.admin("/readyz").status == 503
    finally:
        processes.stop(process.process)
