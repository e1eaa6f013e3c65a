"""The HTML report of an audit: one file, the same for the same document, and no number that was not measured."""

import base64
import hashlib
import io
import re
from collections.abc import Callable

import pytest

from builders import audit_documents as documents
from builders import audited_clusters as clusters
from usher.audit.document import Audit, PriceEntry, Target, Usage
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
        "Of the GPU time that pods held in the last 7 days, 45 % was idle: 20,996 GPU-hours, which cost USD 39,160."
        in text
    )
    assert "Now pods hold 285 of 512 GPUs. 3 workloads can never run as written, and ask for 88 GPUs." in text
    assert "900 GPU-h less than on 2026-11-16" in text
    assert "OPS-2217 ends in 4 days" in text


def test_what_can_never_run_has_the_range_of_its_workloads_wherever_it_stands() -> None:
    html = page(documents.growing())
    text = words(html)

    assert "2 workloads can never run as written, and ask for 10 to 11 GPUs." in text
    assert '<span class="value">10 to 11 <small>GPUs</small></span>' in html
    assert "bert no team, 2 to 3 GPUs: " in text
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


def test_what_gives_back_most_comes_first_with_its_owner_and_its_way() -> None:
    audit = clusters.audit()
    cordoned = clusters.cordoned("gpu-017", gpus=8)
    first = words(page(audit.model_copy(update={"findings": (*audit.findings, cordoned)}))).partition("Do first")[2]
    saving = max((each for each in audit.savings if each.adds_up), key=lambda each: each.gpu_hours)

    assert first.index("Node gpu-017") < first.index(saving.subject.name)
    assert f"{saving.team}: {saving.change[:30]}" in first


def test_gpus_that_wait_and_can_never_run_count_once() -> None:
    audit = documents.full()
    summary = audit.summary.model_copy(update={"gpus_waiting": 80})
    text = words(page(audit.model_copy(update={"summary": summary})))

    assert "64 GPUs wait and can never run" in text
    assert "16 GPUs wait and could run" in text


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


def test_rules_that_would_have_prevented_waste_have_its_hours_and_its_cost() -> None:
    text = section(page(clusters.audit()), "prevented")

    assert "USH501 A gang waits for all of its accelerators denies 1 0 not measured 208 GPU-h USD 582" in text
    assert "USH1305 Notebooks ask for one GPU denies 1 0 644 GPU-h 0 GPU-h USD 1,803" in text


def test_a_rule_that_only_warns_stands_after_those_that_deny() -> None:
    first, *others = clusters.audit().prevented
    warns = first.model_copy(update={"denies": False})
    text = section(page(clusters.audit(prevented=(warns, *others))), "prevented")

    assert text.index("USH1305") < text.index("USH501")
    assert "USH501 A gang waits for all of its accelerators only warns 1" in text


def test_money_of_capacity_that_is_paid_for_anyway_is_said_apart() -> None:
    audit = clusters.audit()
    saving = audit.savings[0].model_copy(update={"cost_freed": 500.0, "needs": "divide a node"})
    summary = audit.summary.model_copy(update={"savings_cost_freed": 500.0})
    text = section(page(clusters.audit(savings=(saving,), summary=summary)), "savings")

    assert "USD 500 of the sum is paid for anyway, on reserved capacity" in text
    assert "First: divide a node" in text


def test_prices_have_their_rule() -> None:
    price = PriceEntry(
        product="NVIDIA-L40S", capacity_type="spot", per_gpu_hour=2.494, rule="audit.prices.rules[2]", gpus=16
    )
    text = section(page(clusters.audit(prices=(price,))), "usage")

    assert "NVIDIA-L40S spot USD 2.49 16 audit.prices.rules[2]" in text


def test_gpus_that_no_pod_held_have_their_cost_on_the_first_screen() -> None:
    summary = clusters.audit().summary.model_copy(update={"cost_free": 1_000.0, "cost_out_of_use": 200.0})

    assert "GPUs that no pod held cost USD 1,200 more." in words(page(clusters.audit(summary=summary)))


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
