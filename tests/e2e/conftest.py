from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e import pools
from e2e.cluster import Cluster
from e2e.control_plane import control_plane, missing_tools
from e2e.gpu_nodes import add_nodes, cpu_node, gpu_node
from e2e.registration import registered, serving
from server_process import ServerProcess


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder needs a real API server."""
    missing = missing_tools()
    folder = f"{Path(__file__).parent}/"
    for item in items:
        if str(item.path).startswith(folder):
            item.add_marker("e2e")
            if missing:
                reason = f"not in .tools/bin: {', '.join(missing)}; build with: scripts/tools {' '.join(missing)}"
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A control plane with the nodes gpu-0 and gpu-1 (8 H100 each, tainted) and cpu-0; all tests share it."""
    with control_plane(tmp_path_factory.mktemp("control-plane")) as running:
        add_nodes(running, gpu_node("gpu-0"), gpu_node("gpu-1"), cpu_node("cpu-0"))
        yield running


@pytest.fixture
def namespace(cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[str]:
    """A namespace of the test's own. What its name begins with may be given as a parameter."""
    name = cluster.create_namespace(prefix=getattr(request, "param", "e2e-"))
    yield name
    cluster.delete_namespace(name, wait=False)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A webhook server, about which the API server knows nothing; all tests share it."""
    with serving(tmp_path_factory.mktemp("usher")) as running:
        yield running


@pytest.fixture(scope="module")
def webhooks(cluster: Cluster, server: ServerProcess) -> Iterator[ServerProcess]:
    """That server, asked by the API server about every workload for as long as the tests of one module last."""
    with registered(cluster, server):
        yield server


@pytest.fixture(scope="session")
def mutating_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A webhook server for the site of mutations.yaml, about which the API server knows nothing."""
    with serving(tmp_path_factory.mktemp("mutating-usher"), config=pools.CONFIG) as running:
        yield running


@pytest.fixture(scope="module")
def mutating_webhooks(cluster: Cluster, mutating_server: ServerProcess) -> Iterator[ServerProcess]:
    """That server, asked by the API server about every workload for as long as the tests of one module last."""
    with registered(cluster, mutating_server):
        yield mutating_server
