"""Every shard finds objects without a namespace: the merge counts them once, and knows what only all shards prove."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from builders import fleets
from generated_examples import in_turn
from unit.audit.store import written
from usher.audit import document_entries
from usher.audit.document import Audit, FindingEntry, Gap, Group, GroupTable, ReadinessItem, Standing, Subject, Usage
from usher.audit.document.fleet_document import CodeRow, Fleet
from usher.audit.readiness.checklist import ITEMS
from usher.audit.standing.situation import BY_CODE
from usher.audit.store import audit_parts, fleet_merge
from usher.audit.store.shards import Shard

pytestmark = pytest.mark.costly

SHARDS = 3
QUEUE = Subject(api_version="kueue.x-k8s.io/v1beta2", kind="ClusterQueue", name="research")


def merged(folder: Path, findings: Mapping[int, tuple[FindingEntry, ...]], **fields: Any) -> Fleet:
    """The merge of three shards with these findings alone, by index; a shard without an entry has no part."""
    for index, found in findings.items():
        audit = fleets.cluster(1, workloads=0).model_copy(update={"findings": found, **fields})
        written.part(folder, audit, Shard(index=index, of=SHARDS))
    return written.merged(folder)


def codes(fleet: Fleet) -> dict[str, CodeRow]:
    return {each.code: each for each in fleet.findings}


def unused(code: str) -> FindingEntry:
    return fleets.finding(code, QUEUE)


@pytest.mark.parametrize("code", in_turn(sorted(document_entries.ABOUT_ABSENCE), every=3))
def test_something_is_unused_if_every_shard_says_so(tmp_path: Path, code: str) -> None:
    found = merged(tmp_path, {index: (unused(code),) for index in range(SHARDS)})

    assert codes(found)[code].findings == 1


@pytest.mark.parametrize("code", in_turn(sorted(document_entries.ABOUT_ABSENCE), every=3))
def test_what_one_shard_uses_is_not_unused(tmp_path: Path, code: str) -> None:
    assert codes(merged(tmp_path, {0: (unused(code),), 1: (), 2: (unused(code),)})) == {}


def test_one_shard_that_says_it_often_does_not_speak_for_the_others(tmp_path: Path) -> None:
    assert codes(merged(tmp_path, {0: (unused("USA020"),) * SHARDS, 1: (), 2: ()})) == {}


def test_a_shard_that_is_missing_makes_the_fleet_incomplete_and_does_not_vote(tmp_path: Path) -> None:
    found = merged(tmp_path, {0: (unused("USA020"),), 2: (unused("USA020"),)})

    assert codes(found)["USA020"].findings == 1
    assert not found.complete


def test_a_queue_of_a_namespace_is_unused_if_its_own_shard_says_so(tmp_path: Path) -> None:
    local = QUEUE.model_copy(update={"kind": "LocalQueue", "namespace": "speech"})

    assert codes(merged(tmp_path, {0: (), 1: (fleets.finding("USA020", local),), 2: ()}))["USA020"].findings == 1


def test_every_finding_of_one_object_counts_and_each_once(tmp_path: Path) -> None:
    """Two fields of one object may have one fingerprint, because it has no numbers."""
    twice = (fleets.finding("USH1403", QUEUE),) * 2

    assert codes(merged(tmp_path, dict.fromkeys(range(SHARDS), twice)))["USH1403"].findings == 2


@pytest.mark.parametrize("code", in_turn(sorted(document_entries.ABOUT_WORKLOADS), every=3))
def test_a_finding_about_workloads_has_the_gpus_of_all_shards(tmp_path: Path, code: str) -> None:
    kind = Subject(api_version="batch/v1", kind="Job", name="jobs.batch")
    found = merged(tmp_path, {index: (fleets.finding(code, kind, gpus=index + 1),) for index in (1, 2)} | {0: ()})

    assert (codes(found)[code].findings, codes(found)[code].gpus) == (1, 5)


def test_a_finding_about_nodes_has_their_gpus_once(tmp_path: Path) -> None:
    node = Subject(api_version="v1", kind="Node", name="gpu-1")

    assert codes(merged(tmp_path, dict.fromkeys(range(SHARDS), (fleets.finding("USA034", node, gpus=8),))))[
        "USA034"
    ].gpus == 8  # fmt: skip


FAIL, PASS, UNKNOWN, NEITHER = Standing.FAIL, Standing.PASS, Standing.NOT_KNOWN, Standing.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("item", "of_shards", "standing"),
    [
        ("quotas", (PASS, FAIL, NEITHER), FAIL),
        ("quotas", (PASS, UNKNOWN, PASS), UNKNOWN),
        ("quotas", (NEITHER, PASS, NEITHER), PASS),
        ("quotas", (NEITHER, NEITHER, NEITHER), NEITHER),
        ("ai-operator", (UNKNOWN, PASS, UNKNOWN), PASS),
        ("ai-operator", (UNKNOWN, UNKNOWN, NEITHER), UNKNOWN),
    ],
)
def test_an_item_of_the_checklist_is_as_good_as_in_the_worst_shard(
    tmp_path: Path, item: str, of_shards: tuple[Standing, ...], standing: Standing
) -> None:
    for index, each in enumerate(of_shards):
        entry = ReadinessItem(id=item, area="scheduling", title="Title", standing=each, evidence=())
        audit = fleets.cluster(1, workloads=0).model_copy(update={"readiness": (entry,)})
        written.part(tmp_path, audit, Shard(index=index, of=SHARDS))

    assert written.merged(tmp_path).readiness[0].standings == {standing.value: 1}


def test_the_names_in_these_rules_exist() -> None:
    assert set(BY_CODE) >= document_entries.ABOUT_ABSENCE | document_entries.ABOUT_WORKLOADS
    assert {each.id for each in ITEMS} >= set(fleet_merge.PROVEN_ONCE)


def of_a_shard(index: int) -> Audit:
    node = Subject(api_version="v1", kind="Node", name="gpu-1")
    found: tuple[FindingEntry, ...] = (
        unused("USA020"),
        fleets.finding("USA050", QUEUE),
        fleets.finding("USA034", node),
    )
    found += tuple(
        fleets.finding("USH201", Subject(api_version="v1", kind="Pod", namespace=f"ns-{number}", name="a"))
        for number in range(12)
    )
    audit = fleets.cluster(1, workloads=0).model_copy(update={"findings": found})
    return audit_parts.reduced_to_shard(audit, Shard(index=index, of=SHARDS))


def test_a_shard_knows_of_no_board_what_no_pod_held() -> None:
    usage = Usage(gpus_now=8, allocated=100.0)
    held = Group(name="h100", workloads=1, usage=usage, gpus_free=1, free=20.0, out_of_use=0.0, cost_free=40.0)
    untouched = Group(name="l40s", workloads=0, usage=Usage(allocated=0.0), gpus_free=4, free=80.0, out_of_use=0.0)
    table = GroupTable(by="product", rows=(held, untouched))

    reduced = audit_parts.reduced_to_shard(
        fleets.cluster(1).model_copy(update={"usage": (table,)}), Shard(index=0, of=2)
    )

    assert reduced.usage == (GroupTable(by="product", rows=(Group(name="h100", workloads=1, usage=usage),)),)


def test_reports_beside_the_parts_together_have_each_finding_once() -> None:
    """Without those that one shard cannot know."""
    found = [
        (each.code, each.subject.namespace)
        for index in range(SHARDS)
        for each in document_entries.document_of_part(of_a_shard(index), Shard(index=index, of=SHARDS)).findings
    ]

    assert sorted(found) == sorted([("USA034", ""), *(("USH201", f"ns-{number}") for number in range(12))])


def test_a_report_of_one_shard_does_not_say_which_gpus_are_free() -> None:
    """Pods of other shards may hold them; the merge knows."""
    shard = Shard(index=0, of=2)
    reduced = audit_parts.reduced_to_shard(fleets.cluster(1), shard)

    assert reduced.summary.gpus_free is not None
    assert document_entries.document_of_part(reduced, shard).summary.gpus_free is None


def test_objects_that_every_shard_reads_count_in_the_first() -> None:
    audit = fleets.cluster(1, gaps=(Gap(source="pods", reason="expired"),))
    objects = [
        audit_parts.reduced_to_shard(audit, Shard(index=index, of=2), shared=30).completeness.objects
        for index in range(2)
    ]

    assert objects == [audit.completeness.objects, audit.completeness.objects - 30]
