"""An API server and its etcd, without scheduler and controllers: one that a test may stop and start again."""

import contextlib
import shutil
import ssl
from collections.abc import Iterator, Sequence
from pathlib import Path

from e2e import components, control_plane, crds, ports, processes
from e2e.cluster import Cluster
from e2e.credentials import write_credentials


class ApiServerAlone:
    """The API server of a cluster; `etcd` goes on while it is stopped."""

    def __init__(self, cluster: Cluster, component: components.Component) -> None:
        self.cluster = cluster
        self._component = component
        self._running: processes.Running | None = None

    @property
    def pid(self) -> int:
        """The id of its process.

        Raises:
            RuntimeError: it is stopped.
        """
        if self._running is None:
            raise RuntimeError("the API server is stopped")
        return self._running.process.pid

    def start(self) -> None:
        """Starts it and waits until it is ready, and serves all kinds that are defined."""
        self._running = control_plane.start(self._component, directory=self.cluster.directory)
        processes.wait_until_ready([self._running], tls=self.cluster.tls)
        crds.wait_until_all_served(self.cluster)

    def stop(self) -> None:
        """Ends it, and with it all connections to it."""
        if self._running is not None:
            processes.stop(self._running.process)
        self._running = None


@contextlib.contextmanager
def prepared(directory: Path, *, more: Sequence[str] = ()) -> Iterator[ApiServerAlone]:
    """An API server that is yet to be started, with more arguments. All has ended when the context is left."""
    etcd_port, peer_port, port = ports.free(3)
    server = f"https://{processes.LOOPBACK}:{port}"
    credentials = write_credentials(directory, server=server)
    cluster = Cluster(
        server=server,
        ca_file=credentials.ca_file,
        kubeconfig=credentials.kubeconfigs["admin"],
        kubectl_file=control_plane.TOOLS / "kubectl",
        directory=directory,
        token=credentials.admin_token,
        tls=ssl.create_default_context(cafile=credentials.ca_file),
    )
    etcd = components.etcd(etcd_port, peer_port=peer_port, data=directory / "etcd")
    alone = ApiServerAlone(
        cluster, components.api_server(port, etcd_port=etcd_port, credentials=credentials, more=more)
    )
    running = control_plane.start(etcd, directory=directory)
    try:
        processes.wait_until_ready([running], tls=cluster.tls)
        yield alone
    finally:
        alone.stop()
        processes.stop(running.process)
        shutil.rmtree(directory / "etcd", ignore_errors=True)
