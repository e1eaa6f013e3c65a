"""A real Kubernetes control plane on loopback: etcd, API server, scheduler, controllers, and kwok as the kubelet."""

import contextlib
import shutil
import ssl
from collections.abc import Iterator
from pathlib import Path

from e2e import components, ports, processes
from e2e.cluster import Cluster
from e2e.components import Component
from e2e.credentials import write_credentials

TOOLS = Path(__file__).parents[2] / ".tools" / "bin"
"""Where `scripts/tools` puts what it builds."""

TOOL_NAMES = ("etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager", "kubectl", "kwok")


GATES = ("GenericWorkload", "GangScheduling", "TopologyAwareWorkloadScheduling")
"""The gates of PodGroups of Kubernetes, in the API server and in the scheduler."""

_POD_GROUPS = "--runtime-config=scheduling.k8s.io/v1alpha2=true"


@contextlib.contextmanager
def control_plane(directory: Path, *, tools: Path = TOOLS, pod_groups: bool = False) -> Iterator[Cluster]:
    """A control plane without nodes, in which pods can be created in namespace `default`.

    With `pod_groups` it has the PodGroups of Kubernetes itself, which are behind gates.

    All that it writes is in `directory`: keys, kubeconfigs, `<component>.log`. Whatever happens, every process has
    ended when the context is left; where `setpriv` exists (most Linux systems), also when this process is killed.
    Enter it from a thread that lives as long as the cluster shall: Linux ends the components with that thread.

    Raises:
        ProcessError: a component did not come up.
        FileNotFoundError: a tool is not in `tools`.
    """
    etcd, etcd_peers, api_server, scheduler, controller_manager, kwok = ports.free(6)
    gates = (f"--feature-gates={','.join(f'{name}=true' for name in GATES)}",) if pod_groups else ()
    server = f"https://{processes.LOOPBACK}:{api_server}"
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
        components.api_server(
            api_server, etcd_port=etcd, credentials=credentials, more=(*gates, _POD_GROUPS) if pod_groups else ()
        ),
    ]
    second = [
        components.controller_manager(controller_manager, credentials=credentials),
        components.scheduler(scheduler, credentials=credentials, more=gates),
        components.kwok(kwok, credentials=credentials),
    ]
    with contextlib.ExitStack() as stack:
        # The store of etcd takes 128 MiB, and no test reads it afterwards.
        stack.callback(shutil.rmtree, directory / "etcd", ignore_errors=True)
        running: list[processes.Running] = []
        for together in (first, second):
            for component in together:
                running.append(start(component, directory=directory, tools=tools))
                stack.callback(processes.stop, running[-1].process)
            processes.wait_until_ready(running, tls=cluster.tls)
        cluster.wait_for_service_account("default")
        yield cluster


def missing_tools(tools: Path = TOOLS) -> list[str]:
    """The programs that `control_plane` and `Cluster.kubectl` need and `tools` lacks."""
    return [name for name in TOOL_NAMES if not (tools / name).is_file()]


def start(component: Component, *, directory: Path, tools: Path = TOOLS) -> processes.Running:
    """A component as a process that appends to `<component>.log`."""
    tool = tools / component.name
    if not tool.is_file():
        raise FileNotFoundError(f"{tool} is missing: build it with scripts/tools {component.name}")
    return processes.start(
        component.name,
        [tool, *component.arguments],
        health=component.health,
        log=directory / f"{component.name}.log",
        # Nothing of the user's: no proxies, no settings from home. More room before garbage is collected saves the API
        # server a quarter of its time while it takes the definitions of forty kinds.
        env={"HOME": str(directory), "GOGC": "500", "GOMEMLIMIT": "2500MiB"},
    )
