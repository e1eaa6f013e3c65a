"""Kueue, Volcano and the scheduler write into workloads that wait the words that tests/data/waiting*.json hold.

`USHER_UPDATE_GOLDEN=1` writes them. tests/unit/authorities/test_recorded_words.py compares our reasons with them.
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

pytestmark = pytest.mark.oracle

RECORD: Final = Path(__file__).parents[2] / "data" / "waiting.json"
OF_VOLCANO: Final = RECORD.with_name("waiting-on-volcano.json")
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


@real_controllers.needs("kueue")
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


@pytest.fixture(scope="module")
def volcano(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with control_plane(tmp_path_factory.mktemp("words-of-volcano")) as running, real_controllers.volcano(running):
        running.ensure_namespace(NAMESPACE)
        running.wait_for_service_account(NAMESPACE)
        add_nodes(running, *waiting.NODES)
        yield running


GANG: Final = "tasks in gang unschedulable"
"""An event of every PodGroup that waits, which says no reason."""


def _written_by_volcano(cluster: Cluster, job: str) -> dict[str, list[str]]:
    """The condition of the pods of a Job, and the events of its PodGroup while it may not have pods."""
    conditions = {
        f"{told['type']}={told['status']}, {told['reason']}: {told['message']}"
        for pod in cluster.objects("Pod", namespace=NAMESPACE)
        if pod["metadata"]["ownerReferences"][0]["name"] == job and (told := condition(pod, "PodScheduled"))
    }
    events = {
        f"{each['reason']}: {each['message']}"
        for each in cluster.objects("Event", namespace=NAMESPACE)
        if each["involvedObject"]["kind"] == "PodGroup" and each["involvedObject"]["name"].startswith(f"{job}-")
    }
    return {"conditions": sorted(conditions), "events": sorted(each for each in events if GANG not in each)}


@real_controllers.needs("volcano")
def test_volcano_writes_the_recorded_words(volcano: Cluster) -> None:
    for each in (*waiting.VOLCANO_QUEUES, *(case.job for case in waiting.VOLCANO.values())):
        volcano.create(each)
    found: dict[str, dict[str, list[str]]] = {}

    def all_wait() -> bool:
        for name, case in waiting.VOLCANO.items():
            told = _written_by_volcano(volcano, case.job["metadata"]["name"])
            if any(told.values()):
                found[name] = told
        return found.keys() == waiting.VOLCANO.keys()

    wait_until(all_wait, description=f"all of {', '.join(waiting.VOLCANO)} wait", timeout=120)
    document = {"Volcano": real_controllers.version_of("volcano", "volcano.sh/volcano"), "written": found}
    if os.environ.get("USHER_UPDATE_GOLDEN"):
        OF_VOLCANO.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n")
    assert document == json.loads(OF_VOLCANO.read_text())
