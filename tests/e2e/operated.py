"""The chart as an operator runs it: what a kubelet and the network would do with its objects is done here.

The API server calls the webhooks through the Service, whose address is on loopback. The pods on the nodes of kwok run
nothing, so for each a process of ours runs, with the arguments, the configuration and the rights that the chart gives.
"""

import contextlib
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

import helm
import server_process
from e2e import accounts
from e2e.balancer import Endpoints, balancing
from e2e.cluster import Cluster, Object
from server_process import ServerProcess

_OF_THE_POD = ("serve", "--config=", "--metrics-access=")
"""Arguments that are other ones here: a file of the test, and metrics without TLS for the test."""


@dataclass(kw_only=True)
class Installation:
    cluster: Cluster
    directory: Path
    endpoints: Endpoints = field(default_factory=Endpoints)
    running: list[ServerProcess] = field(default_factory=list)
    _stack: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    _started: int = 0

    def helm(self, *arguments: str, values: Object | None = None) -> str:
        """Runs `helm install` or `helm upgrade` with values in a file."""
        file = self.directory / "values.yaml"
        file.write_text(yaml.safe_dump(values or {}))
        where = [f"--namespace={helm.NAMESPACE}", f"--kubeconfig={self.cluster.kubeconfig}"]
        asked: list[str | Path] = [arguments[0], "gpu-usher", helm.CHART, *arguments[1:], f"--values={file}", *where]
        printed = helm.run(asked, home=self.directory / "helm")
        self.project()
        return printed

    def project(self) -> None:
        """Writes usher.yaml as the kubelet does: all at once."""
        if self.cluster.exists("ConfigMap", "gpu-usher", namespace=helm.NAMESPACE):
            text = self.cluster.get("ConfigMap", "gpu-usher", namespace=helm.NAMESPACE)["data"]["usher.yaml"]
            new = self.directory / "usher.yaml.new"
            new.write_text(text)
            new.rename(self.directory / "usher.yaml")

    @property
    def deployment(self) -> Any:
        return self.cluster.get("Deployment", "gpu-usher", namespace=helm.NAMESPACE, api_version="apps/v1")["spec"]

    def start(self) -> ServerProcess:
        """Starts a server, as a new pod of the Deployment does."""
        self._started += 1
        own = self.directory / f"pod-{self._started}"
        own.mkdir()
        (container,) = self.deployment["template"]["spec"]["containers"]
        given = [each for each in container["args"] if not each.startswith(_OF_THE_POD)]
        arguments = (
            *given,
            *(f"--config={self.directory / 'usher.yaml'}", "--reload-interval=1", "--live"),
            f"--kubeconfig={accounts.kubeconfig(self.cluster, f'pod-{self._started}')}",
        )
        server = self._stack.enter_context(server_process.running(own, arguments=arguments, from_files=False))
        self.running.append(server)
        self.endpoints.add(server.port)
        return server

    def stop(self, server: ServerProcess, *, by: signal.Signals = signal.SIGTERM) -> None:
        """Ends a pod: first it leaves the endpoints, unless it was killed."""
        if by is signal.SIGTERM:
            self.endpoints.remove(server.port)
        server.running.process.send_signal(by)
        server.running.process.wait(timeout=60)
        self.endpoints.remove(server.port)
        self.running.remove(server)

    def close(self) -> None:
        for server in self.running:
            server.running.process.send_signal(signal.SIGINT)
        self._stack.close()


@contextlib.contextmanager
def service(installation: Installation) -> Iterator[None]:
    """While the context lasts, the address of the Service leads to the pods."""
    spec = installation.cluster.get("Service", "gpu-usher", namespace=helm.NAMESPACE)["spec"]
    (port,) = (each["port"] for each in spec["ports"] if each["name"] == "webhook")
    with balancing(installation.endpoints, at=(spec["clusterIP"], port)):
        yield
