"""The bill of a page: what all GPUs cost, in parts that add up."""

import re

import pytest

from builders import audited_clusters as clusters
from unit.audit.reports.shown import page, section, words
from usher.audit.document import Group, GroupTable, Usage

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
        "USD 108,000 (90 %); USD 36,000 of that was idle. No pod held the other USD 12,000 (10 %)." in text
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
        "46,000 GPU-h (92 %); 11,500 GPU-h of that were idle. No pod held the other 4,000 GPU-h (8.0 %)." in text
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
        "An hour of the GPUs of this cluster costs USD 360. This is USD 300 for GPUs held by pods (running "
        "programs), USD 60 for free GPUs." in text
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
