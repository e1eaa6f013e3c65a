"""Operators beside a control plane of tests, as they are installed, with their webhooks where they have any.

`scripts/controllers` builds them. Each ends with the context that started it.
"""

import contextlib
import shutil
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from e2e import ports, processes, real_controllers
from e2e.cluster import Cluster, Object, wait_until


class Operator(NamedTuple):
    """An operator by the name of its folder."""

    module: str
    kinds: tuple[tuple[str, str], ...]
    """The group and the kind of the objects that it makes pods for."""
    configuration: str = ""
    """The group of its configuration, where it reads a file."""
    webhooks: tuple[str, ...] = ()
    """The API groups that its webhooks are asked about."""


OPERATORS: Final[Mapping[str, Operator]] = {
    "jobset": Operator(
        "sigs.k8s.io/jobset", (("jobset.x-k8s.io", "JobSet"),), "config.jobset.x-k8s.io", ("jobset.x-k8s.io",)
    ),
    "lws": Operator(
        "sigs.k8s.io/lws",
        (("leaderworkerset.x-k8s.io", "LeaderWorkerSet"),),
        "config.lws.x-k8s.io",
        ("leaderworkerset.x-k8s.io", ""),
    ),
    "mpi": Operator("github.com/kubeflow/mpi-operator", (("kubeflow.org", "MPIJob"),)),
    "ray": Operator(
        "github.com/ray-project/kuberay/ray-operator",
        tuple(("ray.io", kind) for kind in ("RayCluster", "RayJob", "RayService")),
    ),
    "rollouts": Operator("github.com/argoproj/argo-rollouts", (("argoproj.io", "Rollout"),)),
    "trainer": Operator(
        "github.com/kubeflow/trainer/v2",
        (("trainer.kubeflow.org", "TrainJob"),),
        "config.trainer.kubeflow.org",
        ("trainer.kubeflow.org",),
    ),
}

_OF_PODS: Final = {"jobset": "jobset.sigs.k8s.io/jobset-name", "lws": "leaderworkerset.sigs.k8s.io/name"}
"""The label of the pods that webhooks of an operator are asked about, as its manifests patch them."""


@contextlib.contextmanager
def running(cluster: Cluster, name: str, *, gangs: bool = False) -> Iterator[None]:
    """While the context lasts, an operator runs, whose kinds are defined; with `gangs` it makes PodGroups."""
    operator = OPERATORS[name]
    folder = cluster.directory / (f"{name}-gangs" if gangs else name)
    certificates = folder / "k8s-webhook-server" / "serving-certs"
    certificates.mkdir(parents=True)
    shutil.copy(cluster.directory / "server.crt", certificates / "tls.crt")
    shutil.copy(cluster.directory / "server.key", certificates / "tls.key")
    real_controllers.define(cluster, real_controllers.BUILT / name / "definitions")
    health, metrics, webhooks = ports.free(3)
    if name == "mpi":
        cluster.ensure_namespace("mpi-operator")
    arguments = {
        "mpi": ("--kube-api-qps=300", "--kube-api-burst=500", *(("--gang-scheduling=volcano",) if gangs else ())),
        "ray": (
            f"--metrics-addr={processes.LOOPBACK}:{metrics}",
            f"--health-probe-bind-address={processes.LOOPBACK}:{health}",
            "--enable-leader-election=false",
            "--qps=300",
            "--burst=500",
            "--reconcile-concurrency=8",
            *(("--batch-scheduler=volcano",) if gangs else ()),
        ),
        "rollouts": (
            f"--kubeconfig={cluster.kubeconfig}",
            f"--metricsPort={metrics}",
            f"--healthzPort={health}",
            "--leader-elect=false",
            "--qps=300",
            "--burst=500",
        ),
    }.get(name, (f"--config={_configuration(folder, operator, name, health, webhooks, gangs=gangs)}",))
    started = processes.start(
        name,
        [real_controllers.BUILT / name / name, *arguments],
        health=f"http://{processes.LOOPBACK}:{health}/{'healthz' if name in ('mpi', 'rollouts') else 'readyz'}",
        log=cluster.directory / f"{folder.name}.log",
        env={
            "HOME": str(folder),
            "TMPDIR": str(folder),
            "KUBECONFIG": str(cluster.kubeconfig),
            "MPI_HEALTH": f"{processes.LOOPBACK}:{health}",
        },
    )
    asked: list[Object] = []
    try:
        processes.wait_until_ready([started], tls=cluster.tls)
        if operator.webhooks:
            wait_until(lambda: _listens(webhooks), description=f"the webhooks of {name} listen")
            file = real_controllers.BUILT / name / "webhooks.yaml"
            asked = real_controllers.register(
                cluster,
                file,
                port=webhooks,
                groups=operator.webhooks,
                prefix=f"{folder.name}-",
                pods=_OF_PODS.get(name, ""),
            )
        yield
    finally:
        for each in asked:
            cluster.delete(each["kind"], each["metadata"]["name"], api_version=each["apiVersion"])
        processes.stop(started.process)


def _configuration(folder: Path, operator: Operator, name: str, health: int, webhooks: int, *, gangs: bool) -> Path:
    """The file that an operator reads its configuration from."""
    content: dict[str, Any] = {
        "apiVersion": f"{operator.configuration}/v1alpha1",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": f"{processes.LOOPBACK}:{health}"},
        "metrics": {"bindAddress": "0"},
        "webhook": {"host": processes.LOOPBACK, "port": webhooks},
        "leaderElection": {"leaderElect": False},
        "certManagement" if name == "trainer" else "internalCertManagement": {"enable": False},
        "clientConnection": {"qps": 300, "burst": 500},
    }
    if name != "trainer":
        content["webhook"]["certDir"] = str(folder / "k8s-webhook-server" / "serving-certs")
    if gangs:
        content["gangSchedulingManagement"] = {"schedulerProvider": "volcano"}
    (file := folder / "configuration.yaml").write_text(yaml.safe_dump(content))
    return file


def _listens(port: int) -> bool:
    with socket.socket() as trying:
        return trying.connect_ex((processes.LOOPBACK, port)) == 0
