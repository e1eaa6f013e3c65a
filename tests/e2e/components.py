"""The programs of a control plane and their flags; all listen on loopback only."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import generated_examples
from e2e.credentials import Credentials
from e2e.processes import LOOPBACK

_STAGES = Path(__file__).with_name("kwok.yaml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """`name` is the program's too; `health` is a URL that answers 200 once the component is ready."""

    name: str
    health: str
    arguments: tuple[str, ...]


def etcd(port: int, *, peer_port: int, data: Path) -> Component:
    clients, peers = f"http://{LOOPBACK}:{port}", f"http://{LOOPBACK}:{peer_port}"
    return Component(
        name="etcd",
        health=f"{clients}/readyz",
        arguments=(
            f"--data-dir={data}",
            f"--listen-client-urls={clients}",
            f"--advertise-client-urls={clients}",
            f"--listen-peer-urls={peers}",
            f"--initial-advertise-peer-urls={peers}",
            f"--initial-cluster=default={peers}",
            "--unsafe-no-fsync",
        ),
    )


def api_server(port: int, *, etcd_port: int, credentials: Credentials, more: Sequence[str] = ()) -> Component:
    return Component(
        name="kube-apiserver",
        health=f"https://{LOOPBACK}:{port}/readyz",
        arguments=(
            *_serving(port, credentials=credentials),
            f"--etcd-servers=http://{LOOPBACK}:{etcd_port}",
            f"--advertise-address={LOOPBACK}",
            # The endpoints of the service "kubernetes" may not be on loopback.
            "--endpoint-reconciler-type=none",
            # All of 127.0.0.0/8 is this machine, so a test can listen at the address of a Service.
            "--service-cluster-ip-range=127.96.0.0/16",
            f"--token-auth-file={credentials.token_file}",
            "--authorization-mode=Node,RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={credentials.service_account_key_file}",
            f"--service-account-signing-key-file={credentials.service_account_key_file}",
            # As clusters are set up in the field: whether a pod may be privileged is for policies to say.
            "--allow-privileged=true",
            # No test is so many that some have to wait, and to share out the turns takes a seventh of the time.
            "--enable-priority-and-fairness=false",
            *more,
        ),
    )


def scheduler(port: int, *, credentials: Credentials, more: Sequence[str] = ()) -> Component:
    return Component(
        name="kube-scheduler",
        health=f"https://{LOOPBACK}:{port}/readyz",
        arguments=(
            *_serving(port, credentials=credentials),
            f"--kubeconfig={credentials.kubeconfigs['system:kube-scheduler']}",
            "--leader-elect=false",
            *more,
        ),
    )


def controller_manager(port: int, *, credentials: Credentials) -> Component:
    return Component(
        name="kube-controller-manager",
        health=f"https://{LOOPBACK}:{port}/healthz",
        arguments=(
            *_serving(port, credentials=credentials),
            f"--kubeconfig={credentials.kubeconfigs['system:kube-controller-manager']}",
            "--leader-elect=false",
            f"--controllers={_controllers()}",
            # As in the field, the user that creates a ReplicaSet's pods is
            # system:serviceaccount:kube-system:replicaset-controller.
            "--use-service-account-credentials",
            f"--service-account-private-key-file={credentials.service_account_key_file}",
            f"--root-ca-file={credentials.ca_file}",
            # At the default of 20 requests a second the controllers take five seconds to start.
            "--kube-api-qps=500",
            "--kube-api-burst=1000",
        ),
    )


def _controllers() -> str:
    # Tests end namespaces (cluster.py), for a tenth of the processor time of their controller. Another one checks the
    # types in policies of admission each time they are installed, and only a test at night reads its warnings.
    absent = ["namespace-controller"]
    if not generated_examples.are_thorough():
        absent.append("validatingadmissionpolicy-status-controller")
    return ",".join(["*", *(f"-{name}" for name in absent)])


def kwok(port: int, *, credentials: Credentials) -> Component:
    return Component(
        name="kwok",
        health=f"https://{LOOPBACK}:{port}/healthz",
        arguments=(
            f"--server-address={LOOPBACK}:{port}",
            f"--tls-cert-file={credentials.certificate_file}",
            f"--tls-private-key-file={credentials.key_file}",
            f"--kubeconfig={credentials.kubeconfigs['kwok']}",
            f"--config={_STAGES}",
            "--manage-all-nodes",
            # Without renewed leases the controllers take the nodes for dead after 50 seconds.
            "--node-lease-duration-seconds=40",
        ),
    )


def _serving(port: int, *, credentials: Credentials) -> tuple[str, ...]:
    return (
        f"--bind-address={LOOPBACK}",
        f"--secure-port={port}",
        f"--tls-cert-file={credentials.certificate_file}",
        f"--tls-private-key-file={credentials.key_file}",
    )
