"""A real Kubernetes control plane on loopback: etcd, API server, scheduler, controllers, and kwok as the kubelet."""

import contextlib
import functools
import http.client
import random
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from e2e import components
from e2e.cluster import Cluster, wait_until
from e2e.components import LOOPBACK, Component
from e2e.credentials import write_credentials

TOOLS = Path(__file__).parents[2] / ".tools" / "bin"
"""Where `scripts/tools` puts what it builds."""

TOOL_NAMES = ("etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager", "kubectl", "kwok")

_READY_SECONDS = 60.0
_STOP_SECONDS = 10.0
# Below the range that Linux gives to outgoing connections, so that none of them takes a port between choice and use.
_PORTS = range(20_000, 32_000)


class ControlPlaneError(Exception):
    """A component ended, or was not ready in time; the message ends with the tail of its log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Running:
    component: Component
    log: Path
    process: subprocess.Popen[bytes]


@contextlib.contextmanager
def control_plane(directory: Path, *, tools: Path = TOOLS) -> Iterator[Cluster]:
    """A control plane without nodes, in which pods can be created in namespace `default`.

    All that it writes is in `directory`: keys, kubeconfigs, `<component>.log`. Whatever happens, every process has
    ended when the context is left; where `setpriv` exists (most Linux systems), also when this process is killed.
    Enter it from a thread that lives as long as the cluster shall: Linux ends the components with that thread.

    Raises:
        ControlPlaneError: a component did not come up.
        FileNotFoundError: a tool is not in `tools`.
    """
    etcd, etcd_peers, api_server, scheduler, controller_manager, kwok = _free_ports(6)
    server = f"https://{LOOPBACK}:{api_server}"
    credentials = write_credentials(directory, server=server)
    cluster = Cluster(
        server=server,
        ca_file=credentials.ca_file,
        kubeconfig=credentials.kubeconfigs["admin"],
        kubectl_file=tools / "kubectl",
        directory=directory,
        token=credentials.admin_token,
        tls=ssl.create_default_context(cafile=credentials.ca_file),
    )
    # The API server waits for etcd. The rest would wait too, but with pauses that are longer than their start.
    first = [
        components.etcd(etcd, peer_port=etcd_peers, data=directory / "etcd"),
        components.api_server(api_server, etcd_port=etcd, credentials=credentials),
    ]
    second = [
        components.controller_manager(controller_manager, credentials=credentials),
        components.scheduler(scheduler, credentials=credentials),
        components.kwok(kwok, credentials=credentials),
    ]
    with contextlib.ExitStack() as stack:
        # What etcd stores takes 128 MiB, and nobody reads it afterwards.
        stack.callback(shutil.rmtree, directory / "etcd", ignore_errors=True)
        running: list[_Running] = []
        for together in (first, second):
            for component in together:
                running.append(_start(component, directory=directory, tools=tools))
                stack.callback(_stop, running[-1].process)
            _wait_until_ready(running, tls=cluster.tls)
        cluster.wait_for_service_account("default")
        yield cluster


def missing_tools(tools: Path = TOOLS) -> list[str]:
    """Those that `control_plane` and `Cluster.kubectl` need and `tools` lacks."""
    return [name for name in TOOL_NAMES if not (tools / name).is_file()]


def _start(component: Component, *, directory: Path, tools: Path) -> _Running:
    tool = tools / component.name
    if not tool.is_file():
        raise FileNotFoundError(f"{tool} is missing: build it with scripts/tools {component.name}")
    setpriv = shutil.which("setpriv")
    with_parent = [setpriv, "--pdeathsig", "KILL"] if setpriv else []
    log = directory / f"{component.name}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*with_parent, tool, *component.arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            # Nothing of the user's: no proxies, no settings from home.
            env={"HOME": str(directory)},
            # Ctrl-C is for the tests; they stop the components in order.
            process_group=0,
        )
    return _Running(component=component, log=log, process=process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _wait_until_ready(running: list[_Running], *, tls: ssl.SSLContext) -> None:
    for each in running:
        try:
            wait_until(
                functools.partial(_is_ready, each, running=running, tls=tls),
                description=f"{each.component.name} is ready",
                timeout=_READY_SECONDS,
            )
        except TimeoutError as error:
            raise ControlPlaneError(f"{error}\n{_tail(each.log)}") from error


def _is_ready(each: _Running, *, running: list[_Running], tls: ssl.SSLContext) -> bool:
    for other in running:
        exit_code = other.process.poll()
        if exit_code is not None:
            raise ControlPlaneError(f"{other.component.name} ended with {exit_code}\n{_tail(other.log)}")
    url = urlsplit(each.component.health)
    address, port = url.hostname or "", url.port
    connection = (
        http.client.HTTPSConnection(address, port, timeout=5, context=tls)
        if url.scheme == "https"
        else http.client.HTTPConnection(address, port, timeout=5)
    )
    try:
        connection.request("GET", url.path)
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _tail(log: Path, *, lines: int = 15) -> str:
    text = log.read_text(errors="replace").splitlines()
    return "\n".join([f"{log}, the last lines:", *text[-lines:]])


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as held:
        # All are held until the last is found, so that no two are the same.
        return [_bind(held.enter_context(socket.socket())) for _ in range(count)]


def _bind(unbound: socket.socket) -> int:
    # Tests may seed the common generator: two runs on one machine would then choose the same ports.
    for port in random.SystemRandom().sample(_PORTS, k=len(_PORTS)):
        with contextlib.suppress(OSError):
            unbound.bind((LOOPBACK, port))
            return port
    raise ControlPlaneError(f"no free port on {LOOPBACK} from {_PORTS.start} to {_PORTS.stop - 1}")
