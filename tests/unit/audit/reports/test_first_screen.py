"""The first screen of a page: what to do first, where GPUs are now, and what changed."""

from builders import audit_documents as documents
from builders import audited_clusters as clusters
from builders.audited_sections import cordoned
from unit.audit.reports.shown import page, section, words
from usher.audit.document import Audit, FindingEntry, Group, GroupTable, Usage


def first(audit: Audit, *found: FindingEntry, **summary: object) -> str:
    """The card of what to do first, with more findings."""
    changed = audit.summary.model_copy(update=summary)
    shown = words(page(audit.model_copy(update={"findings": (*audit.findings, *found), "summary": changed})))
    return shown.partition("Do first")[2].partition("GPU time that teams held")[0]


def test_what_gives_back_most_comes_first_with_its_owner_and_its_way() -> None:
    audit = clusters.audit()
    saving = max((each for each in audit.savings if each.adds_up), key=lambda each: each.cost or 0)
    node = cordoned("gpu-017", gpus=8, cost_per_hour=24.0, since="2026-11-17T06:00:00Z", remedy="Repair it.")
    text = first(audit, node)

    assert text.index("Node gpu-017") < text.index(saving.subject.name)
    assert "Node gpu-017 has been out of service for 6 d: 8 GPUs, 1,152 GPU-h, USD 3,456 platform team: Repair" in text
    assert f"{saving.team}: {saving.change[:30]}" in text


def test_a_repair_counts_since_it_is_due_and_not_longer_than_the_window() -> None:
    old = cordoned("old", gpus=8, cost_per_hour=24.0, since="2026-09-01T06:00:00Z")
    fresh = cordoned("fresh", gpus=8, cost_per_hour=24.0, since="2026-11-22T06:00:00Z")
    held = cordoned("held", gpus=8, gpus_lost=0.0)
    text = first(clusters.audit(), old, fresh, held)

    assert "Node old has been out of service for 83 d: 8 GPUs, 1,344 GPU-h, USD 4,032" in text
    assert "Node fresh has been out of service for 24 h: 8 GPUs, 192 GPU-h, USD 576" in text
    assert "Node held" not in text


def test_one_step_without_a_price_ranks_all_by_gpu_hours() -> None:
    priced = cordoned("dear", gpus=8, cost_per_hour=240.0)
    text = first(clusters.audit(), priced, cordoned("large", gpus=40))

    assert text.index("Node large") < text.index("Node dear")


def test_without_measurements_repairs_have_the_money_of_an_hour() -> None:
    node = cordoned("gpu-017", gpus=8, cost_per_hour=24.0, since="2026-11-17T06:00:00Z")
    audit = clusters.not_measured()
    changed = audit.summary.model_copy(update={"currency": "USD"})
    text = words(page(audit.model_copy(update={"findings": (*audit.findings, node), "summary": changed})))

    assert "Node gpu-017 has been out of service for 6 d: 8 GPUs, USD 24 an hour" in text


def test_gpus_that_no_pod_held_are_a_step_of_the_platform_team() -> None:
    text = first(clusters.audit(), free=3_000.0, out_of_use=0.0, cost_free=9_000.0)

    assert "Free GPUs are paid for, and no pod held them: 3,000 GPU-h, USD 9,000 platform team: Keep those" in text
    assert "Free GPUs" not in first(clusters.audit(), free=0.0, out_of_use=0.0, cost_free=0.0)


def test_half_a_gang_is_said_to_wait_and_not_to_be_idle() -> None:
    audit = clusters.audit()
    saving = audit.savings[0].model_copy(update={"finding": "f9"})

    assert "holds GPUs and cannot start: stop it until all its pods can start together" in first(
        audit.model_copy(update={"savings": (saving,)})
    )


def test_what_a_workload_wants_is_said_only_where_it_is_more_than_it_holds() -> None:
    shared = documents.workload("shared", gpus=5 / 7, gpus_least=5 / 7, usage=Usage(gpus_now=0.714285))

    assert "running 0.7 not known" in section(page(documents.audit(workloads=(shared,))), "workloads")


def test_free_gpus_have_their_boards_beside_what_waits() -> None:
    rows = [
        Group(name=name, workloads=1, usage=Usage(), gpus_free=free)
        for name, free in (("A100", 2.0), ("H100", 12.29), ("L4", 0.0))
    ]
    audit = clusters.audit(usage=(GroupTable(by="product", rows=tuple(rows)),))
    text = words(page(audit))

    assert "Free are 12.3 H100 and 2 A100. Pods may wait all the same" in text


def test_free_gpus_that_are_not_known_are_not_out_of_use() -> None:
    audit = clusters.audit()
    summary = audit.summary.model_copy(update={"gpus_free": None})
    text = words(page(audit.model_copy(update={"summary": summary})))

    assert "227 GPUs not known to be held or free" in text
    assert "GPUs out of use" not in text


def test_gpus_that_wait_and_can_never_run_count_once() -> None:
    audit = documents.full()
    summary = audit.summary.model_copy(update={"gpus_waiting": 80})
    text = words(page(audit.model_copy(update={"summary": summary})))

    assert "64 GPUs wait and can never run" in text
    assert "16 GPUs wait and could run" in text
    assert "Waiting 80 GPUs of these 64 GPUs can never run. 95 %" in text


def test_the_parts_of_the_capacity_add_up_to_it() -> None:
    text = words(page(clusters.audit()))

    assert "277 GPUs held by pods" in text
    assert "8 GPUs held by gangs that wait for their other pods" in text
    assert "219 GPUs free" in text
    assert "8 GPUs out of use" in text
    assert clusters.CAPACITY == 277 + 8 + 219 + 8


def test_a_cluster_whose_nodes_are_not_known_has_no_capacity() -> None:
    audit = clusters.audit()
    summary = audit.summary.model_copy(update={"gpus": None, "gpus_allocatable": None, "gpus_free": None})

    assert "The nodes are not known" in words(page(audit.model_copy(update={"summary": summary})))


def test_the_changes_name_the_worst_new_findings_one_for_each_object() -> None:
    tts, other = documents.subject("tts"), documents.subject("asr")
    title = {"title": "Every pod fits"}
    found = (
        documents.finding("n1", subject=tts, severity="low", since="2026-11-20T00:00:00Z", title="Small"),
        documents.finding("n2", subject=tts, severity="high", since="2026-11-20T00:00:00Z", **title),
        documents.finding("n3", subject=other, severity="critical", since="2026-11-01T00:00:00Z", **title),
        documents.finding("o1", subject=other, severity="medium"),
    )
    trend = clusters.audit().trend.model_copy(update={"new": ("n1", "n2", "n3")})
    card = words(page(clusters.audit(findings=found, trend=trend))).partition(" Since 2026-11-16 ")[2]

    assert card.startswith(
        "3 new findings : 1 critical, 1 high, 1 low 2 of them about what began since then "
        "critical: Job ml-research/asr , every pod fits high: Job ml-research/tts , every pod fits 1 finding fixed "
    )
    assert "1 finding as before : 1 medium" in card
    assert "About 2 objects: one mistake can break several rules." in card
