"""The HTML report of an audit: one file, the same for the same document, and no number that was not measured."""

import base64
import hashlib
import io
import re
from collections.abc import Callable
from html import escape

import pytest

from builders import audit_documents as documents
from builders import audited_clusters as clusters
from builders import tpu_audits
from builders.audited_sections import cordoned
from unit.audit.reports.shown import page, section, words
from usher.audit.document import Audit, Prevented, PriceEntry, Saving, Target, Usage, WorkloadState
from usher.audit.reports import audit_page, entry_words, findings_tables
from usher.policy.checks import catalogue


def test_the_same_document_makes_the_same_bytes() -> None:
    first, second = io.StringIO(), io.StringIO()
    audit_page.write(clusters.audit(), first)
    audit_page.write(Audit.model_validate_json(clusters.audit().model_dump_json()), second)

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
        "Of the GPU time that pods (running programs) held in the last 7 days, 45 % was idle: 20,996 GPU-h. "
        "The idle time cost USD 39,160, of USD 92,484 for all that pods held." in text
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


def test_each_finding_has_who_makes_the_change() -> None:
    config = documents.subject("GPU-71", kind="Config", namespace="")
    found = (
        cordoned("gpu-017", gpus=8),
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


def test_the_source_of_numbers_stands_where_they_are_explained() -> None:
    measured = clusters.audit().measurement.model_copy(update={"sources": ("Hours are those of the meters",)})
    html = page(clusters.audit(measurement=measured))

    assert "Hours are those of the meters." in section(html, "usage")
    assert "Hours are those of the meters" not in section(html, "not-known")
    assert "Usage of the last 7 days, measured by Prometheus" in words(html)


def test_the_words_of_kubernetes_come_first_in_the_glossary() -> None:
    assert list(entry_words.GLOSSARY)[:4] == ["pod", "workload", "node", "namespace"]


def test_a_table_of_usage_adds_up_to_the_whole_cluster() -> None:
    audit = clusters.audit()
    text = section(page(audit), "usage")

    assert text.count(f"{audit.summary.idle:,.0f} GPU-h") == len([each for each in audit.usage if len(each.rows) > 1])


def test_findings_that_can_never_run_come_first_and_lead_to_their_rows() -> None:
    audit = clusters.audit()
    html = page(audit)
    never = [findings_tables.fragment(found) for found in audit.findings if found.never]

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


def test_every_label_that_links_to_a_meaning_leads_to_one() -> None:
    html = page(clusters.audit())
    targets = set(re.findall(r' id="([^"]*)"', html))

    assert {link.partition("?")[0] for link in re.findall(r'href="#([^"]*)"', html) if link} <= targets
    assert {f"word-{name}" for name in entry_words.GLOSSARY} <= targets


def test_a_first_audit_says_how_to_keep_its_numbers() -> None:
    text = words(page(clusters.not_measured()))

    assert "This is the first audit. Keep its numbers with --history FILE." in text
    assert "A trend needs two audits with --history FILE." in text


def test_a_cluster_without_accelerators_has_a_page_without_faults() -> None:
    text = words(page(clusters.empty()))

    assert "The nodes of this cluster have no GPUs." in text
    assert "No findings." in text


def test_notices_stand_before_the_report() -> None:
    html = audit_page.text(clusters.audit(), notices=("The last refresh failed: <b>no route</b>.",))

    assert "The last refresh failed: &lt;b&gt;no route&lt;/b&gt;." in html.partition('class="story"')[0]


def test_other_accelerators_stand_beside_the_gpus_with_their_numbers() -> None:
    shown = words(page(documents.full()))

    assert re.search(r"Other accelerators now google.com/tpu .* 4 of 12 held, 8 waiting volcano.sh/vgpu-number", shown)
    assert "2 held, capacity not known" in shown


def test_a_cluster_without_gpus_shows_its_accelerators_and_no_use_of_gpus() -> None:
    html = page(tpu_audits.without_gpus())
    shown = words(html)

    assert (
        "The nodes of this cluster have no GPUs. They have 256 google.com/tpu. Now pods hold 128 google.com/tpu."
        in shown
    )
    assert re.search(r" Accelerators now google.com/tpu .* 128 of 256 held, 256 waiting, 256 can never run", shown)
    assert "Waiting 256 google.com/tpu" in shown
    assert 'id="usage"' not in html
    assert "was not measured" not in shown


@pytest.mark.parametrize("base", ["https://git.example.com/docs/checks", 'http://intranet/"><script>{name}'])
def test_each_finding_of_usher_leads_to_its_page_below_the_address_of_the_site(base: str) -> None:
    audit = documents.full().model_copy(update={"check_pages": base})
    html = page(audit)

    ours = [each for each in audit.findings if each.code.startswith("USH")]
    assert ours
    for each in ours:
        words = each.title if each.category == "cluster" else each.name
        assert f'href="{escape(catalogue.page_address(base, each.name, each.code))}">{escape(words)}</a>' in html
    assert "><script>USH" not in html
    assert "git.example.com" not in page(documents.full())


def test_a_policy_of_the_site_leads_to_no_page_of_usher() -> None:
    own = documents.full().findings[0].model_copy(update={"code": "ACME101", "name": "grace-period"})

    assert "grace-period.md" not in page(documents.audit(findings=(own,), check_pages="https://git.example.com"))
