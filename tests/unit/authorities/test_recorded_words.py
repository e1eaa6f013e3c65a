"""Our reasons are named by the words that Kueue, Volcano and the scheduler wrote into the same workloads.

tests/e2e/own_server/test_words_of_real_controllers.py records them.
"""

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

from builders import queues
from e2e import waiting
from e2e.waiting import Waiting
from unit.policy import agreeing
from unit.policy.agreeing import NAMESPACE
from usher import paths
from usher.authorities.authority import Section
from usher.authorities.verdict import Answer

DATA: Final = Path(__file__).parents[2] / "data"
WRITTEN: Final[dict[str, dict[str, str]]] = json.loads((DATA / "waiting.json").read_text())["written"]
ON_VOLCANO: Final[dict[str, dict[str, list[str]]]] = json.loads((DATA / "waiting-on-volcano.json").read_text())[
    "written"
]
POOLS: Final[paths.Json] = [
    {"name": "a", "nodeSelector": {"pool": "a"}, "scalesFromZero": False},
    {"name": "b", "nodeSelector": {"pool": "b"}, "taints": [dict(waiting.TAINT)], "scalesFromZero": False},
]


def facts_of(case: Waiting) -> list[paths.Object]:
    """The facts as they are when the workload comes: another one may use the queue already."""
    namespace: paths.Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    found: list[paths.Object] = [namespace, *waiting.NODES]
    # Facts of a kind are all of the kind, so that a missing one is known to be missing.
    found += [queues.flavor("other"), queues.cluster_queue("other"), queues.local_queue("other")]
    used = 6 if any(each["kind"] == "Job" for each in case.facts) else 0
    return [*found, *(_in_use(each, used) for each in case.facts if each["kind"] != "Job")]


def _in_use(value: paths.Object, gpus: int) -> paths.Object:
    """A ClusterQueue with the amounts that Kueue has given away; other objects stay."""
    if value["kind"] != "ClusterQueue":
        return value
    groups = paths.elements(paths.mapping(value["spec"])["resourceGroups"])
    flavors: list[paths.Json] = [
        {"name": paths.mapping(flavor)["name"], "resources": [{"name": "nvidia.com/gpu", "total": str(gpus)}]}
        for group in groups
        for flavor in paths.elements(paths.mapping(group)["flavors"])
    ]
    # Kueue has looked at the queue, and found that a flavor is missing.
    active: paths.Json = {"type": "Active", "status": "False", "reason": "FlavorNotFound"}
    missing = paths.metadata(value)["name"] == "unmade"
    return {**value, "status": {"flavorsReservation": flavors, **({"conditions": [active]} if missing else {})}}


def section_of(case: Waiting, *more: paths.Object) -> Section:
    """The section about the workload of a case, for the authority that wrote about it."""
    (outlook,), _ = agreeing.looked_at([case.job], [*facts_of(case), *more], pools=POOLS)
    return next(each for each in outlook.sections if each.authority == case.authority)


def pattern_of(words: str) -> str:
    """`QuotaReserved=False, ExceedsMaxQuota or Pending: insufficient quota for ... in flavor`"""
    head, _, message = words.partition(": ")
    of, _, reasons = head.partition(", ")
    alternatives = "|".join(re.escape(each) for each in reasons.split(" or "))
    return f"{re.escape(of)}, ({alternatives}): .*" + ".*".join(map(re.escape, message.split("...")))


def text_of(told: dict[str, str]) -> str:
    return f"{told['type']}={told['status']}, {told['reason']}: {told['message']}"


@pytest.mark.parametrize("name", waiting.CASES)
def test_a_reason_is_named_by_the_words_that_the_controller_wrote(name: str) -> None:
    section = section_of(waiting.CASES[name])

    # usher cannot tell what a queue with a missing flavor would do later; its reason says that the queue is not active.
    assert section.called or (section.answer is Answer.UNKNOWN and "is not active" in section.reasons[0])
    assert all(re.search(pattern_of(words), text_of(WRITTEN[name])) for words in section.called), section.called


@pytest.mark.parametrize("name", waiting.CASES)
def test_the_written_words_stand_beside_our_reason(name: str) -> None:
    case, told = waiting.CASES[name], WRITTEN[name]
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": case.job["metadata"]["name"], "uid": "a"}
    api_version, kind = ("kueue.x-k8s.io/v1beta2", "Workload") if case.authority == "Kueue" else ("v1", "Pod")
    metadata: dict[str, Any] = {"name": "made", "namespace": NAMESPACE, "ownerReferences": [owner]}
    made: paths.Object = {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": metadata,
        "status": {"conditions": [dict(told)]},
    }

    assert section_of(case, made).says == (text_of(told),)


@pytest.mark.parametrize("name", waiting.VOLCANO)
def test_a_reason_on_volcano_is_named_by_the_words_that_it_wrote(name: str) -> None:
    case, told = waiting.VOLCANO[name], ON_VOLCANO[name]
    facts = [*waiting.NODES, *waiting.VOLCANO_QUEUES]
    (outlook,), _ = agreeing.looked_at([case.job], facts, pools=POOLS)
    section = next(each for each in outlook.sections if each.authority == case.authority)

    assert section.answer is Answer.NEVER
    if told["conditions"]:
        assert all(re.search(pattern_of(words), told["conditions"][0]) for words in section.called), section.called
    elif section.authority == "Volcano":
        words = section.called[0].removeprefix("PodGroup Pending, with the event ")
        assert told["events"] == [f"{words}: insufficient nvidia.com/gpu"]
    else:
        # The plugin overcommit keeps the gang from pods, so no pod has a condition.
        assert told["events"] == ["Unschedulable: resource in cluster is overused: overused nvidia.com/gpu"]
