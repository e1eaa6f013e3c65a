"""Servers that watch a cluster and charge its GPUQuotas, with the rights of manifests/base and no others."""

import contextlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import yaml

import builders
import server_process
from e2e import accounts, crds
from e2e.balancer import Endpoints, balancing
from e2e.cluster import Cluster, Object, wait_until
from e2e.processes import LOOPBACK
from e2e.registration import remove
from integration import command
from server_process import ServerProcess

CONFIG = Path(__file__).with_name("quota.yaml")
API_VERSION = "gpu-usher.io/v1alpha1"

_PAUSES = {"usher.authorities.gpu_quota.live.service.LONGEST_PAUSE": 2.0}
"""Tests wait until a server looks at the end of reservations, which it does every 15 seconds by default."""


@contextlib.contextmanager
def account(cluster: Cluster) -> Iterator[Path]:
    """The kubeconfig of the server's account, while its roles and the definition of GPUQuota are there."""
    for name in accounts.NAMESPACES:
        cluster.ensure_namespace(name)
    applied = accounts.granted(
        cluster, *("base/rbac.yaml", "base/facts-role.yaml", "base/quota-role.yaml", "crds/gpu-quota-crd.yaml")
    )
    crds.wait_until_served(cluster, "gpu-usher.io/gpuquotas")
    try:
        yield accounts.kubeconfig(cluster, "quota")
    finally:
        for each in reversed(applied):
            # Objects in the namespace are deleted with it.
            if "namespace" not in each["metadata"]:
                cluster.delete(each["kind"], each["metadata"]["name"], api_version=each["apiVersion"])
        for name in accounts.NAMESPACES:
            cluster.delete_namespace(name)


@contextlib.contextmanager
def replica(
    directory: Path, number: int, account: Path, *, config: Path = CONFIG, env: Mapping[str, str] | None = None
) -> Iterator[ServerProcess]:
    """One of several servers, whose files are below a directory; all are known by one certificate. `env` are further
    variables of its environment.
    """
    own, first = directory / str(number), directory / "0"
    own.mkdir()
    for name in ("ca.crt", "ca.key", "tls.crt", "tls.key") if number else ():
        shutil.copy(first / name, own / name)
    arguments = (f"--config={config}", "--live", f"--kubeconfig={account}")
    with server_process.running(own, arguments=arguments, env=env, constants=_PAUSES) as server:
        yield server


@contextlib.contextmanager
def asked(cluster: Cluster, replicas: Sequence[ServerProcess]) -> Iterator[None]:
    """While the context lasts, the API server sends every review to one of the servers and needs its answer."""
    with balancing(Endpoints(*(replica.port for replica in replicas))) as port:
        printed = command.usher(
            *("manifests", "webhooks", "--url", f"https://{LOOPBACK}:{port}"),
            *("--ca-bundle", replicas[0].ca_file, "--validate-failure-policy", "Fail"),
        )
        assert printed.code == 0, printed.err
        validating = [each for each in yaml.safe_load_all(printed.out) if each["kind"].startswith("Validating")]
        for each in validating:
            cluster.apply(each)
        try:
            yield
        finally:
            remove(cluster, kinds=["ValidatingWebhookConfiguration"])


@contextlib.contextmanager
def quota(cluster: Cluster, namespace: str, *limits: Object) -> Iterator[str]:
    """The name of a GPUQuota for a namespace, which is the namespace's."""
    cluster.create(builders.gpu_quota(namespace, namespaces=[namespace], limits=list(limits)))
    try:
        yield namespace
    finally:
        cluster.delete("GPUQuota", namespace, api_version=API_VERSION)


def wait_until_known(replicas: Sequence[ServerProcess]) -> None:
    """Until every server knows a GPUQuota; objects that were admitted before are charged when a server finds them."""
    known = 'usher_facts_objects{kind="gpuquotas.gpu-usher.io"}'
    wait_until(
        lambda: all(replica.metrics().get(known) for replica in replicas), description="all servers know of the quota"
    )


def wait_until_counted(cluster: Cluster, quota: str) -> None:
    """Until a quota is enforced. A review before that has no verdict, and webhooks that may fail let its object in."""
    wait_until(lambda: counted(cluster, quota), description="the quota is counted")


def status(cluster: Cluster, quota: str) -> Object:
    found: Object = cluster.get("GPUQuota", quota, api_version=API_VERSION).get("status", {})
    return found


def counted(cluster: Cluster, quota: str) -> bool:
    """Whether everything that existed before the quota is charged; before that, a review has to try again."""
    found = status(cluster, quota)
    return "version" in found and "counting" not in found


def used(cluster: Cluster, quota: str, unit: str = "gpus") -> int:
    """The used amounts of the first limit."""
    return int(status(cluster, quota).get("used", [{}])[0].get(unit, 0))


def settled(cluster: Cluster, quota: str) -> bool:
    """Whether nothing is reserved any more."""
    return all("until" not in charge for charge in status(cluster, quota).get("charges", []))
