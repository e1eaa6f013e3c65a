"""The HTML report of an audit: one file, the same for the same document, and no number that was not measured."""

import base64
import hashlib
import io
import re
from collections.abc import Callable

import pytest

from builders import audit_documents as documents
from builders import audited_clusters as clusters
from usher.audit.document import (
    Audit,
    FindingEntry,
    Group,
    GroupTable,
    Prevented,
    PriceEntry,
    Saving,
    Target,
    Usage,
    WorkloadState,
)
from usher.reports import audit_html
from usher.reports.audit_html import glossary
from usher.reports.audit_html.findings import fragment


def page(audit: Audit) -> str:
    return audit_html.text(audit)


def words(html: str) -> str:
    """The text of the page without its data, style and program."""
    shown = re.sub(r"<(script|style)[^>]*>.*?</\1>", "", html, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", shown))


def section(html: str, name: str) -> str:
    return words(re.findall(rf'<section id="{name}".*?</section>', html, re.DOTALL)[0])


def test_the_same_document_makes_the_same_bytes() -> None:
    first, second = io.StringIO(), io.StringIO()
    audit_html.write(clusters.audit(), first)
    audit_html.write(Audit.model_validate_json(clusters.audit().model_dump_json()), second)

    assert first.getvalue() == second.getvalue()


@pytest.mark.parametrize("make", [clusters.audit, clusters.hostile], ids=["audit", "hostile"])
def test_the_file_loads_nothing(make: Callable[[], Audit]) -> None:
    html = page(make())

    assert not re.findall(r'(?:src|action|poster)="|url\(|@import', html)
    # The icon is a data URL, and links of the checklist lead to pages that a reader may open.
    linked = {href.partition("/")[0] for href in re.findall(r'href="([^"#]+)"', html)}
    assert linked == {"data:,", "https:"}


def test_the_policy_lets_in_this_style_and_this_program_alone() -> None:
    html = page(clusters.audit())
    policy = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)[0].replace("&#x27;", "'")

    for name in ("style", "script"):
        (content,) = re.findall(rf"<{name}>(.*?)</{name}>", html, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy


def test_the_first_screen_says_the_headline_numbers() -> None:
    text = words(page(clusters.audit()))

    assert (
        "Of the GPU time that pods (running programs) held in the last 7 days, 45 % was idle: 20,996 GPU-h, "
        "which cost USD 39,160 of USD 92,484." in text
    )
    assert "Now pods hold 285 of 512 GPUs. 3 workloads can never run as written, and ask for 88 GPUs." in text
    assert "900 GPU-h less than on 2026-11-16" in text
    assert "OPS-2217 ends in 4 days" in text


def test_what_can_never_run_has_the_range_of_its_workloads_wherever_it_stands() -> None:
    html = page(documents.growing())
    text = words(html)

    assert "2 workloads can never run as written, and ask for 10 to 11 GPUs." in text
    assert '<span class="value">10 to 11 <small>GPUs</small></span>' in html
    assert "bert (2 to 3 GPUs) waits for something that does not come no team: " in text
    assert "2 to 3" in section(html, "findings")


def test_a_page_without_measurements_has_no_number_for_them_and_says_how_to_measure() -> None:
    html = page(clusters.not_measured())
    text = words(html)

    assert "Run usher audit with --prometheus URL" in text
    assert "GPU-h" not in text.partition("docs/audit.md of gpu-usher")[0].replace("GPU-hours", "")
    assert "USD" not in text
    assert "Idle GPU time not measured Cost of idle GPUs not measured" in text
    assert "Not measured: savings rest on the use of GPUs." in section(html, "savings")


def test_gpus_without_prices_say_where_prices_go() -> None:
    measured = clusters.audit()
    unpriced = measured.summary.model_copy(update={"cost_allocated": None, "cost_idle": None, "savings_cost": None})
    text = words(page(measured.model_copy(update={"summary": unpriced})))

    assert "Set audit.prices in usher.yaml" in text
    assert "Cost of idle GPUs not priced" in text
    assert "Could be saved 1,652 GPU-h" in text


def test_a_workload_without_a_price_differs_from_one_without_measurements() -> None:
    audit = clusters.audit()
    measured = next(each for each in audit.workloads if each.usage.cost is not None)
    unpriced = measured.model_copy(update={"usage": measured.usage.model_copy(update={"cost": None})})
    waiting = measured.model_copy(update={"usage": Usage()})

    pages = [section(page(clusters.audit(workloads=(each,))), "workloads") for each in (unpriced, waiting)]
    texts = [each.partition("What the columns mean")[0] for each in pages]

    assert ["not priced" in text for text in texts] == [True, False]
    assert ["not measured" in text for text in texts] == [False, True]


def test_an_audit_that_could_not_read_something_says_so_first() -> None:
    text = words(page(clusters.audit()))

    assert "Not complete: 1 source could not be read, so numbers may be too small." in text
    assert "not read volcano.sh/v1beta1 podgroups the API server answers 403 Forbidden" in text
    assert "not judged USH512 pod-group-never-fits podgroups may not be listed 4 workloads" in text


def test_a_finding_has_its_object_place_reason_fix_age_owner_and_exception() -> None:
    text = section(page(clusters.audit()), "findings")

    for words_of_one in (
        "Deployment search-ranking-prod/ranker-v2 search-ranking 12 6 d",
        "spec.template.spec.containers[0].startupProbe",
        "The probe gives 60 s; a model of 140 GB needs about 420 s",
        "Raise failureThreshold to 43",
        "Exception OPS-2217",
    ):
        assert words_of_one in text


def first(audit: Audit, *found: FindingEntry, **summary: object) -> str:
    """The card of what to do first, with more findings."""
    changed = audit.summary.model_copy(update=summary)
    shown = words(page(audit.model_copy(update={"findings": (*audit.findings, *found), "summary": changed})))
    return shown.partition("Do first")[2].partition("GPU time that teams held")[0]


def test_what_gives_back_most_comes_first_with_its_owner_and_its_way() -> None:
    audit = clusters.audit()
    saving = max((each for each in audit.savings if each.adds_up), key=lambda each: each.cost or 0)
    node = clusters.cordoned("gpu-017", gpus=8, cost_per_hour=24.0, since="2026-11-17T06:00:00Z", remedy="Repair it.")
    text = first(audit, node)

    assert text.index("Node gpu-017") < text.index(saving.subject.name)
    assert "Node gpu-017 has been out of service for 6 d: 8 GPUs, 1,152 GPU-h, USD 3,456 platform team: Repair" in text
    assert f"{saving.team}: {saving.change[:30]}" in text


def test_a_repair_counts_since_it_is_due_and_not_longer_than_the_window() -> None:
    old = clusters.cordoned("old", gpus=8, cost_per_hour=24.0, since="2026-09-01T06:00:00Z")
    fresh = clusters.cordoned("fresh", gpus=8, cost_per_hour=24.0, since="2026-11-22T06:00:00Z")
    held = clusters.cordoned("held", gpus=8, gpus_lost=0.0)
    text = first(clusters.audit(), old, fresh, held)

    assert "Node old has been out of service for 83 d: 8 GPUs, 1,344 GPU-h, USD 4,032" in text
    assert "Node fresh has been out of service for 24 h: 8 GPUs, 192 GPU-h, USD 576" in text
    assert "Node held" not in text


def test_one_step_without_a_price_ranks_all_by_gpu_hours() -> None:
    priced = clusters.cordoned("dear", gpus=8, cost_per_hour=240.0)
    text = first(clusters.audit(), priced, clusters.cordoned("large", gpus=40))

    assert text.index("Node large") < text.index("Node dear")


def test_without_measurements_repairs_have_the_money_of_an_hour() -> None:
    node = clusters.cordoned("gpu-017", gpus=8, cost_per_hour=24.0, since="2026-11-17T06:00:00Z")
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


def test_each_finding_has_who_makes_the_change() -> None:
    config = documents.subject("GPU-71", kind="Config", namespace="")
    found = (
        clusters.cordoned("gpu-017", gpus=8),
        documents.finding("f2", team="search", never=True, held_by="the nodes", remedy="Divide it.",
                          fixed_by_platform=True),
        documents.finding("f3", subject=config, category="cluster", team="dana@example.com"),
        documents.finding("f4", subject=documents.subject(namespace="")),
    )  # fmt: skip
    html = page(documents.audit(findings=found))
    text = section(html, "findings")

    assert "Node gpu-017 platform team 8" in text
    assert "Job ml-research/bert platform team, for search" in text
    assert "Config GPU-71 dana@example.com" in text
    assert "Job bert no team" in text
    assert "asks for what no machine of the cluster has search: the request is 8" in words(html)
    assert "Fix (platform team, for search): Divide it." in words(html)
    assert '"values":["platform team","owners of exceptions","-"]' in html


def off(audit: Audit) -> Audit:
    """The cluster without a webhook of usher."""
    about = documents.subject("gpu-usher", kind="ValidatingWebhookConfiguration", namespace="")
    return audit.model_copy(
        update={"findings": (*audit.findings, documents.finding("w", code="USA050", category="cluster", subject=about))}
    )


def test_what_admission_does_is_what_it_would_do() -> None:
    html = page(clusters.audit())

    assert "would be denied" in section(html, "findings")
    assert "would be denied" in section(html, "workloads")
    assert "USH501 A gang waits for all of its accelerators would deny 1" in section(html, "prevented")


def test_where_usher_is_not_switched_on_the_page_says_that_it_denies_nothing() -> None:
    said = "usher is not switched on in this cluster: its webhooks are not registered, so it denies nothing."

    assert all(said in section(page(off(clusters.audit())), name) for name in ("findings", "prevented"))
    assert said not in words(page(clusters.audit()))


def test_a_job_that_has_only_waited_held_no_gpu_and_cost_nothing() -> None:
    waits = documents.workload("llama", state=WorkloadState.PENDING, usage=Usage())
    ran = documents.workload("bert", usage=Usage(gpus_now=8))
    found = documents.finding("f1", code="USH330", subject=documents.subject("llama"))
    row = Prevented(code="USH330", title="Every pod fits", workloads=1, gpus=8)
    audit = documents.full().model_copy(
        update={"workloads": (waits, ran), "findings": (found,), "prevented": (row,), "savings": ()}
    )
    html = page(audit)

    assert "llama nlp queue research pending 0 of 8 held no GPU held no GPU \N{EN DASH}" in section(html, "workloads")
    assert "bert nlp queue research running 8 not measured not measured not measured" in section(html, "workloads")
    assert "USH330 Every pod fits would deny 1 8 held no GPU held no GPU \N{EN DASH}" in section(html, "prevented")
    unmeasured = audit.summary.model_copy(update={"measured": None})
    assert "held no GPU" not in words(page(audit.model_copy(update={"summary": unmeasured})))


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


def test_the_source_of_numbers_stands_where_they_are_explained() -> None:
    measured = clusters.audit().measurement.model_copy(update={"sources": ("Hours are those of the meters",)})
    html = page(clusters.audit(measurement=measured))

    assert "Hours are those of the meters." in section(html, "usage")
    assert "Hours are those of the meters" not in section(html, "not-known")
    assert "Usage of the last 7 days, measured by Prometheus" in words(html)


def test_the_words_of_kubernetes_come_first_in_the_glossary() -> None:
    assert list(glossary.WORDS)[:4] == ["pod", "workload", "node", "namespace"]


def test_gpus_that_wait_and_can_never_run_count_once() -> None:
    audit = documents.full()
    summary = audit.summary.model_copy(update={"gpus_waiting": 80})
    text = words(page(audit.model_copy(update={"summary": summary})))

    assert "64 GPUs wait and can never run" in text
    assert "16 GPUs wait and could run" in text
    assert "Waiting 80 GPUs of these 64 GPUs can never run. 95 %" in text


def test_a_table_of_usage_adds_up_to_the_whole_cluster() -> None:
    audit = clusters.audit()
    text = section(page(audit), "usage")

    assert text.count(f"{audit.summary.idle:,.0f} GPU-h") == len([each for each in audit.usage if len(each.rows) > 1])


def test_findings_that_can_never_run_come_first_and_lead_to_their_rows() -> None:
    audit = clusters.audit()
    html = page(audit)
    never = [fragment(found) for found in audit.findings if found.never]

    assert sorted(never) == sorted(re.findall(r'<tr id="(finding-[^"]*)"', html)[: len(never)])
    assert all(f'<a href="#{each}">' in html for each in never)


def test_the_sum_of_savings_is_that_of_those_that_count() -> None:
    text = section(page(clusters.audit()), "savings")

    assert "Sum the rows with “yes” 1,652 GPU-h USD 4,861" in re.sub(r"\s+", " ", text)


def test_the_savings_of_a_whole_week_have_a_sum_where_all_of_them_are_known() -> None:
    first, second = clusters.audit().savings[:2]
    known = [each.model_copy(update={"cost_per_week": 700.0, "adds_up": True}) for each in (first, second)]
    other = first.model_copy(update={"cost_per_week": 90.0, "adds_up": False})
    unknown = second.model_copy(update={"cost_per_week": None, "adds_up": True})

    def weeks(*savings: Saving) -> str:
        return section(page(clusters.audit(savings=savings)), "savings").partition("Sum the rows with “yes” ")[2]

    assert weeks(*known, other).startswith("1,652 GPU-h USD 4,861 USD 1,400 ")
    assert weeks(known[0], unknown).startswith("1,652 GPU-h USD 4,861 What the columns mean")


def test_rules_that_would_have_prevented_waste_have_its_hours_and_its_cost() -> None:
    text = section(page(clusters.audit()), "prevented")

    assert "USH501 A gang waits for all of its accelerators would deny 1 0 not measured 208 GPU-h USD 582" in text
    assert "USH1305 Notebooks ask for one GPU would deny 1 0 644 GPU-h 0 GPU-h USD 1,803" in text


def test_a_rule_that_only_warns_stands_after_those_that_deny() -> None:
    first, *others = clusters.audit().prevented
    warns = first.model_copy(update={"denies": False})
    text = section(page(clusters.audit(prevented=(warns, *others))), "prevented")

    assert text.index("USH1305") < text.index("USH501")
    assert "USH501 A gang waits for all of its accelerators would only warn 1" in text


def test_money_of_capacity_that_is_paid_for_anyway_is_said_apart() -> None:
    audit = clusters.audit()
    saving = audit.savings[0].model_copy(update={"cost_freed": 500.0, "needs": "divide a node"})
    summary = audit.summary.model_copy(update={"savings_cost_freed": 500.0})
    text = section(page(clusters.audit(savings=(saving,), summary=summary)), "savings")

    assert "Of the sum USD 500 is paid for anyway. On reserved nodes" in text
    assert "First: divide a node" in text


def test_prices_have_their_rule() -> None:
    price = PriceEntry(
        product="NVIDIA-L40S", capacity_type="spot", per_gpu_hour=2.494, rule="audit.prices.rules[2]", gpus=16
    )
    text = section(page(clusters.audit(prices=(price,))), "usage")

    assert "NVIDIA-L40S spot USD 2.49 16 audit.prices.rules[2]" in text


BILL = {"capacity": 50_000.0, "free": 3_000.0, "out_of_use": 1_000.0, "cost_free": 9_000.0, "cost_out_of_use": 3_000.0}
"""Beside the 46,000 GPU-hours that pods held, which cost USD 108,000, with USD 36,000 of idle ones."""


def billed(**changes: float | None) -> str:
    held = {
        "allocated": 46_000.0,
        "measured": 46_000.0,
        "idle": 11_500.0,
        "cost_allocated": 108_000.0,
        "cost_idle": 36_000.0,
    }
    return words(page(clusters.audit(summary=clusters.audit().summary.model_copy(update=held | BILL | changes))))


def test_the_bill_of_the_window_is_a_sentence_that_adds_up() -> None:
    text = billed()

    assert (
        "In the last 7 days the GPUs of this cluster cost USD 120,000. Of this, pods (running programs) held "
        "USD 108,000 (90 %); USD 36,000 of that was idle. No pod held the other USD 12,000 (10 %): USD 9,000 free, "
        "USD 3,000 out of use." in text
    )
    assert "Held by no pod USD 12,000 of USD 120,000 for all GPUs: USD 9,000 free, USD 3,000 out of use" in text
    assert "Cost of idle GPUs USD 36,000 33 % of USD 108,000 for all that pods held" in text


def test_a_bill_without_some_prices_says_that_it_leaves_gpus_out() -> None:
    some = "In the last 7 days the GPUs that have a price cost USD 1"

    assert some in billed(not_priced=10.0)
    assert some in billed(gpus_not_priced=8.0)
    assert some in billed(cost_free=None)
    assert "In the last 7 days the GPUs of this cluster cost" in billed(gpus_not_priced=0.0, not_priced=0.0)


def test_without_prices_the_hours_add_up() -> None:
    text = billed(**dict.fromkeys(("cost_allocated", "cost_idle", "cost_free", "cost_out_of_use")))

    assert (
        "In the last 7 days the GPUs of this cluster had 50,000 GPU-h. Of these, pods (running programs) held "
        "46,000 GPU-h (92 %); 11,500 GPU-h of that were idle. No pod held the other 4,000 GPU-h (8.0 %): "
        "3,000 GPU-h free, 1,000 GPU-h out of use." in text
    )
    assert "Held by no pod 4,000 GPU-h of 50,000 GPU-h: 3,000 GPU-h free, 1,000 GPU-h out of use" in text


def test_a_cluster_whose_gpus_are_all_held_has_no_sentence_about_others() -> None:
    text = billed(free=0.0, out_of_use=0.0, cost_free=0.0, cost_out_of_use=0.0)

    assert "No pod held the other" not in text
    assert "Held by no pod USD 0 of USD 108,000 for all GPUs" in text


def test_without_measurements_the_bill_is_that_of_an_hour_now() -> None:
    now = {
        "cost_per_hour_allocated": 300.0,
        "cost_per_hour_free": 60.0,
        "cost_per_hour_out_of_use": 0.0,
        "currency": "USD",
    }
    audit = clusters.not_measured()
    text = words(page(audit.model_copy(update={"summary": audit.summary.model_copy(update=now)})))

    assert (
        "An hour of the GPUs of this cluster costs USD 360: USD 300 held by pods (running programs), USD 60 free."
        in text
    )


def test_what_comes_off_the_bill_stands_apart_from_freed_gpus() -> None:
    saved = {"savings_gpu_hours": 500.0, "savings_cost": 900.0}

    assert (
        "Could come off the bill USD 600 once emptied nodes are given back. USD 300 more is paid for anyway: there "
        "GPUs become free for others" in billed(**saved, savings_cost_saved=600.0, savings_cost_freed=300.0)
    )
    assert "Could become free USD 900 500 GPU-h for others, on nodes that are paid for anyway" in billed(
        **saved, savings_cost_saved=0.0, savings_cost_freed=900.0
    )


def test_boards_have_what_no_pod_held_beside_what_pods_held() -> None:
    audit = clusters.audit()
    rows = (
        Group(name="H100", workloads=1, usage=Usage(allocated=300.0, measured=300.0), free=80.0, out_of_use=20.0,
              cost_free=160.0, cost_out_of_use=40.0),
        Group(name="L4", workloads=0, usage=Usage(allocated=0.0, measured=0.0), free=50.0, out_of_use=0.0),
    )  # fmt: skip
    table = GroupTable(by="product", rows=rows)
    text = section(page(audit.model_copy(update={"usage": (table,)})), "usage")

    assert re.search("H100 .* 100 GPU-h 25 % of all USD 200", text)
    assert re.search("L4 .* 50 GPU-h 100 % of all not priced", text)


@pytest.mark.parametrize(
    ("points", "shown"),
    [
        ({"not_held": 700.0, "not_held_cost": 1_400.0}, "Held by no pod USD 1,400 highest USD 1,400"),
        ({"not_held": 700.0}, "Held by no pod 700 GPU-h highest 700 GPU-h"),
        ({}, ""),
    ],
)
def test_what_no_pod_held_has_a_trend_in_money_or_else_in_hours(points: dict[str, float], shown: str) -> None:
    audit = clusters.audit()
    trend = audit.trend.model_copy(
        update={"points": tuple(each.model_copy(update=points) for each in audit.trend.points)}
    )
    text = section(page(audit.model_copy(update={"trend": trend})), "trend")

    assert shown in text
    assert bool(shown) is ("Held by no pod" in text)


def test_a_mean_of_all_gpus_says_for_which_part_of_their_hours_it_was_measured() -> None:
    audit = clusters.audit()
    summary = audit.summary.model_copy(update={"capacity": 1_000.0})

    def shown(hours: float | None) -> str:
        target = Target(
            name="activity", title="Activity", low=0.65, high=0.85, unit="share", actual=0.5, formula="", hours=hours
        )
        return words(page(clusters.audit(summary=summary, targets=(target,))))

    assert "All GPUs together, also those that no pod held, were 50 % busy, measured for 83 % of their hours." in shown(
        828
    )
    assert "50 %, measured for 83 % of the GPU-hours, target 65 % to 85 %" in shown(828)
    assert [" busy. " in shown(hours) for hours in (1_000, 999, None)] == [True] * 3


def test_the_scale_of_a_target_has_room_for_a_value_far_beyond_it() -> None:
    late = Target(
        name="queueWaitP95", title="Wait", high=3_600.0, unit="seconds", actual=12_960.0, met=False, formula="p95"
    )
    html = page(clusters.audit(targets=(late,)))

    # 1 h of the 4 h of the bar, and 3.6 h.
    assert 'class="goal" x="0" y="1" width="252.5"' in html
    assert 'class="mark missed" x="905.1"' in html
    assert '<span class="scale"><span>0 s</span><span>4 h</span></span>' in html
    assert '<span class="worse">3.6 h, target at most 1 h, not met</span>' in html


def test_a_finding_about_no_gpus_has_no_number_of_them() -> None:
    node = documents.subject("l40s-3", kind="Node", namespace="")
    html = page(clusters.audit(findings=(documents.finding(subject=node, gpus=0.0),)))

    assert '<td class="number" data-title="GPUs"></td>' in html


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


def test_every_label_that_links_to_a_meaning_leads_to_one() -> None:
    html = page(clusters.audit())
    targets = set(re.findall(r' id="([^"]*)"', html))

    assert {link.partition("?")[0] for link in re.findall(r'href="#([^"]*)"', html) if link} <= targets
    assert {f"word-{name}" for name in glossary.WORDS} <= targets


def test_a_first_audit_says_how_to_keep_its_numbers() -> None:
    text = words(page(clusters.not_measured()))

    assert "This is the first audit. Keep its numbers with --history FILE." in text
    assert "A trend needs two audits with --history FILE." in text


def test_a_cluster_without_accelerators_has_a_page_without_faults() -> None:
    text = words(page(clusters.empty()))

    assert "No node of this cluster has GPUs." in text
    assert "No findings." in text


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


def test_notices_stand_before_the_report() -> None:
    html = audit_html.text(clusters.audit(), notices=("The last refresh failed: <b>no route</b>.",))

    assert "The last refresh failed: &lt;b&gt;no route&lt;/b&gt;." in html.partition('class="story"')[0]


def test_other_accelerators_stand_beside_the_gpus_with_their_numbers() -> None:
    shown = words(page(documents.full()))

    assert re.search(r"Other accelerators now google.com/tpu .* 4 of 12 held, 8 waiting volcano.sh/vgpu-number", shown)
    assert "2 held, capacity not known" in shown


def test_a_cluster_without_gpus_shows_its_accelerators_and_no_use_of_gpus() -> None:
    html = page(documents.without_gpus())
    shown = words(html)

    assert "The nodes of this cluster have 256 google.com/tpu, and no GPUs. Now pods hold 128 google.com/tpu." in shown
    assert re.search(r" Accelerators now google.com/tpu .* 128 of 256 held, 256 waiting, 256 can never run", shown)
    assert "Waiting 256 google.com/tpu" in shown
    assert 'id="usage"' not in html
    assert "was not measured" not in shown
