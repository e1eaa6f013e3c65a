"""Kueue and the scheduler write into workloads that wait the words that tests/data/waiting.json holds.

`USHER_UPDATE_GOLDEN=1` writes it. tests/unit/authorities/test_recorded_words.py compares our reasons with it.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from e2e import real_controllers, waiting
from e2e.cluster import Cluster, Object, condition, wait_until
from e2e.control_plane import control_plane
from e2e.gpu_nodes import add_nodes
from unit.policy.agreeing import NAMESPACE

pytestmark = [pytest.mark.oracle, real_controllers.needs("kueue")]

RECORD: Final = Path(__file__).parents[2] / "data" / "waiting.json"
KUEUE: Final = "kueue.x-k8s.io/v1beta2"


@pytest.fixture(scope="module")
def queueing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with control_plane(tmp_path_factory.mktemp("words")) as running, real_controllers.kueue(running):
        running.ensure_namespace(NAMESPACE)
        running.wait_for_service_account(NAMESPACE)
        add_nodes(running, *waiting.NODES)
        yield running


def _written(cluster: Cluster, case: waiting.Waiting) -> Object | None:
    """The condition that holds the workload back."""
    name = case.job["metadata"]["name"]
    if case.authority == "Kueue":
        found, of = cluster.objects("Workload", namespace=NAMESPACE, api_version=KUEUE), "QuotaReserved"
    else:
        found, of = cluster.objects("Pod", namespace=NAMESPACE), "PodScheduled"
    for each in found:
        if name in [owner["name"] for owner in each["metadata"].get("ownerReferences", ())]:
            told = condition(each, of)
            return {key: told[key] for key in ("type", "status", "reason", "message")} if told.get("message") else None
    return None


def test_controllers_write_the_recorded_words(queueing: Cluster) -> None:
    for each in (one for case in waiting.CASES.values() for one in case.facts):
        queueing.create(each, strict=True)
    queueing_of_full = waiting.CASES["others have the quota"].facts[-1]["metadata"]["name"]

    def admitted() -> bool:
        found = queueing.objects("Workload", namespace=NAMESPACE, api_version=KUEUE)
        own = [each for each in found if each["metadata"]["ownerReferences"][0]["name"] == queueing_of_full]
        return bool(own) and condition(own[0], "Admitted").get("status") == "True"

    wait_until(admitted, description="the workload before has the quota", timeout=120)
    for case in waiting.CASES.values():
        queueing.create(case.job)
    found: dict[str, Object] = {}

    def all_wait() -> bool:
        for name, case in waiting.CASES.items():
            if name not in found and (told := _written(queueing, case)) is not None:
                found[name] = told
        return found.keys() == waiting.CASES.keys()

    wait_until(all_wait, description=f"all of {', '.join(waiting.CASES)} wait", timeout=120)
    document = {
        "versions": {
            "Kueue": real_controllers.version_of("kueue", "sigs.k8s.io/kueue"),
            "Kubernetes": real_controllers.version_of("", "k8s.io/kubernetes"),
        },
        "written": dict(sorted(found.items())),
    }
    if os.environ.get("USHER_UPDATE_GOLDEN"):
        RECORD.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n")
    assert document == json.loads(RECORD.read_text())
