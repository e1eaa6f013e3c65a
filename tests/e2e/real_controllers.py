"""Real controllers beside a control plane of tests: Kueue with its webhooks, Volcano and KAI-Scheduler without.

`scripts/controllers` builds them. Each ends with the context that started it.
"""

import base64
import contextlib
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import pytest
import yaml

from e2e import ports, processes
from e2e.cluster import Cluster, Object, condition, wait_until
from e2e.control_plane import TOOLS

BUILT: Final = TOOLS.parent / "controllers"

KUEUE_CONFIGURATION: Final = "integrations: {frameworks: [batch/job, jobset.x-k8s.io/jobset]}\n"
"""The configuration that both Kueue and usher read."""


def needs(name: str) -> pytest.MarkDecorator:
    """Leaves tests out where a controller is not built."""
    missing = not (BUILT / name / "stamp").is_file()
    return pytest.mark.skipif(missing, reason=f"{name} is not built; build it with: scripts/controllers {name}")


def version_of(name: str, module: str) -> str:
    """The version of a module in the go.mod of a controller, or without a name in that of our tools, without the v."""
    tools = TOOLS.parents[1] / "tools"
    text = ((tools / "controllers" / name if name else tools) / "go.mod").read_text()
    found = re.search(rf"\b{re.escape(module)} v(\S+)", text)
    assert found is not None, f"{module} has no version"
    return found[1]


@contextlib.contextmanager
def kueue(cluster: Cluster) -> Iterator[None]:
    """While the context lasts, Kueue runs, and the API server asks its webhooks."""
    folder = cluster.directory / "kueue"
    (certificates := folder / "certificates").mkdir(parents=True)
    shutil.copy(cluster.directory / "server.crt", certificates / "tls.crt")
    shutil.copy(cluster.directory / "server.key", certificates / "tls.key")
    health, metrics, webhooks = ports.free(3)
    configuration = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": f"{processes.LOOPBACK}:{health}"},
        "metrics": {"bindAddress": f"{processes.LOOPBACK}:{metrics}"},
        "webhook": {"host": processes.LOOPBACK, "port": webhooks, "certDir": str(certificates)},
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "clientConnection": {"qps": 300, "burst": 500},
        **yaml.safe_load(KUEUE_CONFIGURATION),
    }
    (folder / "configuration.yaml").write_text(yaml.safe_dump(configuration))
    define(cluster, BUILT / "kueue" / "definitions")
    version = version_of("kueue", "sigs.k8s.io/kueue")
    cluster.ensure_namespace("kueue-system")
    cluster.create(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": "kueue-manager-config",
                "namespace": "kueue-system",
                "labels": {"app.kubernetes.io/version": f"v{version}"},
            },
            "data": {"controller_manager_config.yaml": KUEUE_CONFIGURATION},
        }
    )
    running = processes.start(
        "kueue",
        [
            BUILT / "kueue" / "kueue",
            f"--config={folder / 'configuration.yaml'}",
            # It would serve an API of its own, for which it needs an APIService.
            "--feature-gates=VisibilityOnDemand=false",
        ],
        health=f"http://{processes.LOOPBACK}:{health}/readyz",
        log=cluster.directory / "kueue.log",
        env={
            "HOME": str(folder),
            "KUBECONFIG": str(cluster.kubeconfig),
            "KUEUE_METRICS_CERTIFICATES": str(certificates),
        },
    )
    try:
        processes.wait_until_ready([running], tls=cluster.tls)
        register(
            cluster,
            BUILT / "kueue" / "webhooks.yaml",
            port=webhooks,
            groups=("batch", "jobset.x-k8s.io", "kueue.x-k8s.io"),
        )
        yield
    finally:
        processes.stop(running.process)


VOLCANO_CONFIGURATION: Final = """\
actions: "enqueue, allocate, backfill"
tiers:
- plugins: [{name: priority}, {name: gang, enablePreemptable: false}, {name: conformance}]
- plugins:
  - {name: overcommit}
  - {name: drf, enablePreemptable: false}
  - {name: predicates}
  - {name: proportion}
  - {name: nodeorder}
  - {name: binpack}
"""
"""VC:installer/helm/chart/volcano/config/volcano-scheduler.conf."""


@contextlib.contextmanager
def volcano(cluster: Cluster, *, hierarchy: bool = False) -> Iterator[None]:
    """While the context lasts, Volcano's scheduler and controllers run; its webhooks do not.

    With `hierarchy`, the plugin capacity judges queues with those above them; otherwise the plugin proportion does.
    """
    (folder := cluster.directory / "volcano").mkdir()
    plugin = "capacity, enableHierarchy: true" if hierarchy else "proportion"
    (folder / "scheduler.conf").write_text(VOLCANO_CONFIGURATION.replace("proportion", plugin))
    define(cluster, BUILT / "volcano" / "definitions")
    cluster.ensure_namespace("volcano-system")
    more: dict[str, tuple[str, ...]] = {
        "controller-manager": (),
        "scheduler": (
            f"--scheduler-conf={folder / 'scheduler.conf'}",
            "--schedule-period=100ms",
            f"--cache-dump-dir={folder}",
        ),
    }
    running = list[processes.Running]()
    try:
        for name, arguments in more.items():
            health, metrics = ports.free(2)
            command: list[str | Path] = [
                BUILT / "volcano" / name,
                f"--kubeconfig={cluster.kubeconfig}",
                "--leader-elect=false",
                "--enable-healthz",
                f"--healthz-address={processes.LOOPBACK}:{health}",
                f"--listen-address={processes.LOOPBACK}:{metrics}",
                *arguments,
            ]
            url = f"http://{processes.LOOPBACK}:{health}/healthz"
            log = cluster.directory / f"volcano-{name}.log"
            running.append(processes.start(name, command, health=url, log=log, env={"HOME": str(folder)}))
        processes.wait_until_ready(running, tls=cluster.tls)
        yield
    finally:
        for each in running:
            processes.stop(each.process)


@contextlib.contextmanager
def kai(cluster: Cluster, shards: Sequence[str]) -> Iterator[None]:
    """While the context lasts, the pod grouper of KAI runs, and a scheduler for each shard; its binder does not.

    A shard is the value of the label of its nodes; empty for nodes without the label.
    """
    (folder := cluster.directory / "kai").mkdir()
    define(cluster, BUILT / "kai" / "definitions")
    cluster.ensure_namespace("kai-scheduler")
    health, *ports_of_shards = ports.free(2 + 2 * len(shards))
    metrics, *ports_of_shards = ports_of_shards
    commands: list[tuple[str, int, list[str | Path]]] = [
        (
            "podgrouper",
            health,
            [
                BUILT / "kai" / "podgrouper",
                f"--health-probe-bind-address={processes.LOOPBACK}:{health}",
                f"--metrics-bind-address={processes.LOOPBACK}:{metrics}",
            ],
        )
    ]
    for index, shard in enumerate(shards):
        listens, plugins = ports_of_shards[2 * index : 2 * index + 2]
        arguments: list[str | Path] = [
            BUILT / "kai" / "scheduler",
            "--schedule-period=200ms",
            f"--partition-label-value={shard}",
            f"--listen-address={processes.LOOPBACK}:{listens}",
            f"--plugin-server-port={plugins}",
        ]
        commands.append((f"scheduler-{shard or 'default'}", listens, arguments))
    running = list[processes.Running]()
    try:
        for name, port, command in commands:
            path = "healthz" if name == "podgrouper" else "metrics"
            url = f"http://{processes.LOOPBACK}:{port}/{path}"
            log = cluster.directory / f"kai-{name}.log"
            env = {"HOME": str(folder), "KUBECONFIG": str(cluster.kubeconfig)}
            running.append(processes.start(name, command, health=url, log=log, env=env))
        processes.wait_until_ready(running, tls=cluster.tls)
        yield
    finally:
        for each in running:
            processes.stop(each.process)


def define(cluster: Cluster, folder: Path) -> None:
    """Creates the missing definitions of a folder, and waits until their kinds are served."""
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    there = {each["metadata"]["name"] for each in cluster.request("GET", path).body["items"]}
    files = {yaml.safe_load(text)["metadata"]["name"]: text for text in map(Path.read_text, folder.glob("*.yaml"))}
    names = sorted(files.keys() - there)
    for name in names:
        cluster.request("POST", path, body=files[name], content="yaml")

    def established() -> bool:
        found = {each["metadata"]["name"]: each for each in cluster.request("GET", path).body["items"]}
        return all(condition(found[name], "Established").get("status") == "True" for name in names)

    wait_until(established, description=f"{', '.join(names)} are established")


def register(
    cluster: Cluster, file: Path, *, port: int, groups: Sequence[str], prefix: str = "", pods: str = ""
) -> list[Object]:
    """The configurations that register the webhooks of a manifest about some API groups, at a port of this machine.

    Their configurations get names with a prefix. Webhooks about pods are asked only about those with the label `pods`.
    """
    authority = cluster.ca_file.read_bytes()
    made: list[Object] = []
    for configuration in yaml.safe_load_all(file.read_text()):
        kept = [each for each in configuration["webhooks"] if {*each["rules"][0]["apiGroups"]} & {*groups}]
        for each in kept:
            path = each["clientConfig"]["service"]["path"]
            each["clientConfig"] = {
                "url": f"https://{processes.LOOPBACK}:{port}{path}",
                "caBundle": _base64(authority),
            }
            if pods and each["rules"][0]["resources"] == ["pods"]:
                each["objectSelector"] = {"matchExpressions": [{"key": pods, "operator": "Exists"}]}
        metadata = {**configuration["metadata"], "name": f"{prefix}{configuration['metadata']['name']}"}
        made.append(cluster.create({**configuration, "metadata": metadata, "webhooks": kept}))
    return made


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode()


def facts(cluster: Cluster, kinds: Sequence[tuple[str, str]], keep: Callable[[Object], bool]) -> list[Object]:
    """The objects of some kinds (apiVersion, kind) as usher reads them, and those of a kind that `keep` takes."""
    return [
        {"apiVersion": api_version, "kind": kind, **each}
        for api_version, kind in kinds
        for each in cluster.objects(kind, api_version=api_version)
        if keep(each)
    ]
