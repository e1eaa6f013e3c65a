"""usher before the control planes of several versions of Kubernetes: from the oldest that people run to the newest."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
import yaml

import builders
import helm
from e2e import accounts, crds, quota_site
from e2e.cluster import ApiError, Cluster, Object, wait_until
from e2e.control_plane import TOOLS, control_plane, missing_tools
from e2e.gpu_nodes import add_nodes, cpu_node, gpu_node
from e2e.registration import registered, serving

ROOT: Final = Path(__file__).parents[2]
VERSIONS: Final = (ROOT / "tools" / "kubernetes_versions").read_text().split()
BUILT: Final = Path(os.environ.get("USHER_KUBERNETES", TOOLS.parent))
"""The folder of `scripts/tools --kubernetes`."""

MANIFESTS: Final = ("crds", "base", "webhooks", "audit", "network-policy", "portal", "config-maps", "kueue", "floor")

NAMESPACES: Final = (*accounts.NAMESPACES, "kueue-system")


def tools_of(version: str) -> Path:
    pinned = f"\tk8s.io/kubernetes v{version}\n" in (ROOT / "tools" / "go.mod").read_text()
    return TOOLS if pinned else BUILT / f"kubernetes-{version}" / "bin"


@pytest.fixture(scope="module", params=VERSIONS)
def versioned(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A control plane of one version with a node with GPUs."""
    tools = tools_of(request.param)
    if missing_tools(tools):
        pytest.skip(f"Kubernetes {request.param} is not built: scripts/tools --kubernetes {request.param}")
    with control_plane(tmp_path_factory.mktemp(f"kubernetes-{request.param}"), tools=tools) as cluster:
        add_nodes(cluster, gpu_node("gpu-0"), cpu_node("cpu-0"))
        assert cluster.request("GET", "/version").body["gitVersion"] == f"v{request.param}"
        yield cluster


def warnings(cluster: Cluster, objects: str) -> list[str]:
    """The warnings about objects that an API server does not keep; it refuses fields that it does not know."""
    printed = cluster.kubectl(
        "apply", "--dry-run=server", "--validate=strict", "--filename=-", stdin=objects, with_warnings=True
    )
    # Namespaces that the test made itself.
    unrelated = "last-applied-configuration"
    return [line for line in printed.splitlines() if line.startswith("Warning") and unrelated not in line]


def known(text: str) -> str:
    """The objects whose kinds a bare cluster has: not those of the Prometheus operator, nor mutating policies."""
    objects = [each for each in yaml.safe_load_all(text) if each]
    foreign = ("monitoring.coreos.com/",)
    kept = [each for each in objects if not each["apiVersion"].startswith(foreign)]
    return yaml.safe_dump_all([each for each in kept if "MutatingAdmissionPolicy" not in each["kind"]])


def check_manifests(cluster: Cluster, home: Path) -> None:
    """Every manifest and the chart with all its parts fit the schemas of the API server."""
    for name in NAMESPACES:
        cluster.ensure_namespace(name)
    texts = {folder: cluster.kubectl("kustomize", str(ROOT / "manifests" / folder)) for folder in MANIFESTS}
    if helm.HELM.exists():
        parts = ("networkPolicy", "audit", "monitoring", "autoscaling")
        texts["chart"] = helm.run(helm.arguments(*(f"--set={part}.enabled=true" for part in parts)), home=home)
    try:
        found = {name: warnings(cluster, known(text)) for name, text in texts.items()}
    finally:
        for name in NAMESPACES:
            cluster.delete_namespace(name)

    assert {name: lines for name, lines in found.items() if lines} == {}


def test_all_manifests_and_the_chart_fit_the_schemas_of_the_api_server(cluster: Cluster, tmp_path: Path) -> None:
    check_manifests(cluster, tmp_path)


@pytest.mark.slow
def test_all_manifests_and_the_chart_fit_the_schemas_of_each_version(versioned: Cluster, tmp_path: Path) -> None:
    check_manifests(versioned, tmp_path)


@pytest.mark.slow
def test_each_version_has_pods_changed_and_denied(versioned: Cluster, tmp_path: Path) -> None:
    namespace = versioned.create_namespace(prefix="smoke-")
    with serving(tmp_path / "usher") as server, registered(versioned, server, closed=["mutate", "validate"]):
        pod = versioned.create(builders.pod(builders.container(gpus=1), name="train", namespace=namespace))
        keys = {each.get("key") for each in pod["spec"]["tolerations"]}
        greedy = builders.pod(
            builders.container(env={"NVIDIA_VISIBLE_DEVICES": "all"}), name="greedy", namespace=namespace
        )
        with pytest.raises(ApiError, match="USH201"):
            versioned.create(greedy)

    assert "nvidia.com/gpu" in keys


@pytest.mark.slow
def test_each_version_has_its_quotas_charged(versioned: Cluster, tmp_path: Path) -> None:
    namespace = versioned.create_namespace(prefix="smoke-")
    with quota_site.account(versioned) as account:
        crds.wait_until_served(versioned, "gpu-usher.io/gpuquotas")
        with (
            quota_site.quota(versioned, namespace, {"hard": {"gpus": 2}}) as quota,
            quota_site.replica(tmp_path, 0, account) as server,
            quota_site.asked(versioned, [server]),
        ):
            quota_site.wait_until_known([server])
            for number in range(2):
                versioned.create(job(f"job-{number}", namespace))
            with pytest.raises(ApiError, match=quota):
                versioned.create(job("job-2", namespace))
            wait_until(lambda: quota_site.used(versioned, quota) == 2, description="the account has both jobs")


def job(name: str, namespace: str) -> Object:
    template = builders.template(builders.container(gpus=1), restartPolicy="Never")
    return builders.job(template, name=name, namespace=namespace)
