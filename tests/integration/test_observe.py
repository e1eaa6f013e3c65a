"""The preset `observe`: users notice nothing, and operators see what would be denied."""

from collections.abc import Iterator
from typing import Any

import pytest

from builders import container, pod, replaced
from integration.served_reviews import BAD_JOB
from reviews import body
from server_process import ServerProcess, running
from usher import paths

pytestmark = pytest.mark.process

CONFIG: paths.Object = {
    "enforcement": {
        "preset": "observe",
        "rules": [{"check": "isolation", "action": "deny", "namespaces": ["enforced"]}],
    },
    "mutations": {"rules": [{"mutation": "gpu-toleration", "action": "apply", "namespaces": ["enforced"]}]},
}
GREEDY = pod(container(env={"NVIDIA_VISIBLE_DEVICES": "all"}), namespace="research")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with running(tmp_path_factory.mktemp("observing"), config=CONFIG) as server:
        yield server


@pytest.mark.parametrize("value", [GREEDY, BAD_JOB], ids=["greedy", "bad"])
def test_users_notice_nothing(server: ServerProcess, value: paths.Object) -> None:
    judged = server.review("validate", body(value))
    changed = server.review("mutate", body(value))

    assert judged["allowed"]
    assert "warnings" not in judged
    assert not changed.keys() & {"patch", "warnings"}


def test_a_pod_of_300_containers_comes_in(server: ServerProcess) -> None:
    assert server.review("validate", body(pod(*(container(f"c{number}") for number in range(300)))))["allowed"]


def test_operators_see_the_denials_that_enforcement_would_bring(server: ServerProcess) -> None:
    before = observed(server)
    server.review("validate", body(GREEDY, uid="observed"))
    line = server.decision("observed")

    assert line["allowed"]
    assert any(place.startswith("USH201 /spec/containers/0") for place in line["observed"])
    assert "denials" not in line
    assert observed(server) == before + 1


def observed(server: ServerProcess) -> float:
    return server.metrics().get('usher_observed_denials_total{check="visible-devices-set-by-hand"}', 0.0)


def test_one_check_is_enforced_in_one_namespace(server: ServerProcess) -> None:
    elsewhere: Any = replaced(GREEDY, "/metadata/namespace", "enforced")

    assert not server.review("validate", body(elsewhere))["allowed"]
    assert "patch" in server.review("mutate", body(pod(container(gpus=1), namespace="enforced")))


def test_a_tenant_cannot_exempt_a_namespace_before_enforcement_begins(server: ServerProcess) -> None:
    metadata: paths.Object = {"name": "research", "labels": {"gpu-usher.io/exempt": "true"}}
    exempt: paths.Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}

    answer = server.review("validate", body(exempt))
    assert not answer["allowed"]
    assert "USH1201" in answer["status"]["message"]
