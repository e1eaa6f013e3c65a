"""Every headline number of the demo report, computed again from its objects and series by other code."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Final

import pytest

from integration import command, headline_oracle
from integration.headline_oracle import Object
from usher.audit.demo import synthetic_cluster, synthetic_records
from usher.audit.document import Summary
from usher.audit.usage.series import Grid, Question

pytestmark = pytest.mark.costly

PRICES: Final = {"h100": 2.9, "h100-mig": 2.9, "a100": 1.2, "l40s": 10.5 * 0.95 / 4}
"""The usher.yaml of the demo; 95 % of the price of a node is that of its four GPUs."""

BY_FINDINGS: Final = {
    "findings", "exceptionsEnding", "readiness", "savingsCost", "savingsCostFreed",
    "savingsCostSaved", "savingsGpuHours", "workloadsNever",
}  # fmt: skip
BY_OBJECTS: Final = {
    "accelerators", "costPerHourAllocated", "costPerHourFree", "costPerHourOutOfUse", "gpus", "gpusAllocatable",
    "gpusAllocated", "gpusAsked", "gpusAskedLeast", "gpusFree", "gpusHalfStarted", "gpusNever", "gpusNotPriced",
    "gpusOutOfUse", "gpusUsable", "gpusWaiting", "manifests", "otherAsked", "workloads", "workloadsNotKnown",
}  # fmt: skip
BY_SERIES: Final = {
    "activity", "allocated", "capacity", "costAllocated", "costFree", "costIdle", "costOutOfUse", "currency", "free",
    "idle", "measured", "memoryShare", "notPriced", "outOfUse", "queueWaitP95Seconds", "used",
}  # fmt: skip


@pytest.fixture(scope="module")
def document() -> Any:
    run = command.usher("audit", "--demo", "--format", "json")
    assert run.code == 0, run.err
    return run.json


@pytest.fixture(scope="module")
def objects(document: Any) -> Sequence[Object]:
    """The objects that the audit read."""
    return [dict(each) for each in synthetic_cluster.objects(datetime.fromisoformat(document["taken"]))]


@pytest.fixture(scope="module")
def grid(document: Any) -> Grid:
    measured = document["measurement"]
    start, end = (int(datetime.fromisoformat(measured[name]).timestamp()) for name in ("start", "end"))
    return Grid(start=start, step=measured["stepSeconds"], points=(end - start) // measured["stepSeconds"])


@pytest.fixture(scope="module")
def summary(document: Any) -> Mapping[str, Any]:
    found: Mapping[str, Any] = document["summary"]
    return found


def test_each_headline_is_computed_again() -> None:
    named = {field.alias or name for name, field in Summary.model_fields.items()}

    assert named == BY_OBJECTS | BY_SERIES | BY_FINDINGS


def test_the_gpus_of_now_are_those_of_the_nodes_and_pods(summary: Mapping[str, Any], objects: Sequence[Object]) -> None:
    now = headline_oracle.now(objects)
    never = headline_oracle.never(objects)

    assert summary["gpus"] == pytest.approx(now.capacity)
    assert summary["gpusAllocatable"] == pytest.approx(now.allocatable)
    assert summary["gpusAllocated"] == pytest.approx(now.allocated)
    assert summary["gpusUsable"] == pytest.approx(now.usable)
    assert summary["gpusFree"] == pytest.approx(now.free)
    assert summary["gpusOutOfUse"] == pytest.approx(now.out_of_use)
    assert summary["gpusNotPriced"] == 0
    assert summary["gpusWaiting"] == pytest.approx(now.waiting)
    assert summary["gpusHalfStarted"] == pytest.approx(now.half_started)
    assert summary["accelerators"] == now.accelerators
    assert summary["gpusNever"] == pytest.approx(sum(never.values()))
    assert summary["workloadsNever"] == len(never)
    assert summary["workloads"] == len(headline_oracle.tops(objects))
    least, most = headline_oracle.asked(objects)
    assert (summary["gpusAskedLeast"], summary["gpusAsked"]) == (pytest.approx(least), pytest.approx(most))
    assert (summary["otherAsked"], summary["workloadsNotKnown"], summary["manifests"]) == ({}, 0, 0)


def test_the_money_of_an_hour_is_that_of_all_gpus(
    document: Any, summary: Mapping[str, Any], objects: Sequence[Object]
) -> None:
    free, out = headline_oracle.not_held(objects, prices=PRICES)
    whole = sum(
        PRICES[headline_oracle.pool(each)] * headline_oracle.gpus(each["status"]["capacity"])
        for each in objects
        if each["kind"] == "Node"
    )

    assert summary["costPerHourFree"] == pytest.approx(free)
    assert summary["costPerHourOutOfUse"] == pytest.approx(out)
    assert summary["costPerHourAllocated"] == pytest.approx(whole - free - out)
    assert sum(each["perGpuHour"] * each["gpus"] for each in document["prices"]) == pytest.approx(whole)


def test_the_gpu_hours_and_the_money_are_those_of_the_series(
    document: Any, summary: Mapping[str, Any], objects: Sequence[Object], grid: Grid
) -> None:
    hours = headline_oracle.hours(objects, synthetic_records.SyntheticSource(objects), grid, prices=PRICES)
    targets = {each["name"]: each["actual"] for each in document["targets"]}

    assert summary["allocated"] == summary["measured"] == pytest.approx(hours.allocated)
    assert summary["used"] == pytest.approx(hours.used)
    assert summary["idle"] == pytest.approx(hours.idle)
    assert summary["activity"] == pytest.approx(hours.used / hours.allocated, abs=1e-6)
    assert summary["memoryShare"] == pytest.approx(hours.memory_used / hours.allocated, abs=1e-6)
    assert (summary["costAllocated"], summary["currency"]) == (pytest.approx(hours.cost), "USD")
    assert summary["costIdle"] == pytest.approx(hours.cost_idle)
    assert summary["notPriced"] == 0
    assert summary["capacity"] == pytest.approx(headline_oracle.now(objects).capacity * grid.points / 6)
    assert summary["outOfUse"] == pytest.approx(hours.out_of_use)
    assert summary["free"] == pytest.approx(summary["capacity"] - hours.allocated - hours.out_of_use)
    assert summary["costFree"] == pytest.approx(hours.cost_free)
    assert summary["costOutOfUse"] == pytest.approx(hours.cost_out_of_use)
    priced = [each["perGpuHour"] * each["allocated"] for each in document["prices"]]
    assert sum(priced) == pytest.approx(hours.cost)
    assert targets["activity"] == pytest.approx(hours.all_used / hours.all_boards, abs=1e-6)


@pytest.mark.parametrize(
    ("by", "pools"),
    [
        (
            "product",
            {
                "NVIDIA-H100-80GB-HBM3": ("h100", "h100-mig"),
                "NVIDIA-A100-SXM4-80GB": ("a100",),
                "NVIDIA-L40S": ("l40s",),
            },
        ),
        ("capacityType", {"reserved": ("h100", "h100-mig"), "spot": ("a100",), "on-demand": ("l40s",)}),
    ],
)
def test_what_no_pod_held_is_divided_by_board_and_by_how_it_is_paid_for(
    document: Any, objects: Sequence[Object], grid: Grid, by: str, pools: Mapping[str, Sequence[str]]
) -> None:
    hours = headline_oracle.hours(objects, synthetic_records.SyntheticSource(objects), grid, prices=PRICES).not_held
    (rows,) = [{row["name"]: row for row in table["rows"]} for table in document["usage"] if table["by"] == by]

    assert rows.keys() == pools.keys()
    for name, mine in pools.items():
        assert rows[name]["free"] == pytest.approx(sum(hours[pool][0] for pool in mine))
        assert rows[name]["outOfUse"] == pytest.approx(sum(hours[pool][1] for pool in mine))
        assert rows[name]["costFree"] == pytest.approx(sum(hours[pool][0] * PRICES[pool] for pool in mine))
        assert rows[name]["costOutOfUse"] == pytest.approx(sum(hours[pool][1] * PRICES[pool] for pool in mine))
        free, out = headline_oracle.not_held_now(objects, mine)
        assert rows[name]["gpusFree"] == pytest.approx(free)
        assert rows[name]["gpusOutOfUse"] == pytest.approx(out)


def test_the_bill_is_what_all_gpus_of_the_nodes_cost_in_the_window(
    summary: Mapping[str, Any], objects: Sequence[Object], grid: Grid
) -> None:
    nodes = [each for each in objects if each["kind"] == "Node"]
    hour = sum(PRICES[headline_oracle.pool(each)] * headline_oracle.gpus(each["status"]["capacity"]) for each in nodes)

    bill = summary["costAllocated"] + summary["costFree"] + summary["costOutOfUse"]

    assert bill == pytest.approx(hour * grid.points / 6)


def test_findings_about_nodes_have_the_gpus_that_are_out_of_use_and_their_money(
    document: Any, summary: Mapping[str, Any]
) -> None:
    found = [each for each in document["findings"] if each["subject"]["kind"] == "Node" and each["gpusLost"]]

    assert sum(each["gpusLost"] for each in found) == pytest.approx(summary["gpusOutOfUse"])
    assert sum(each["costPerHour"] for each in found) == pytest.approx(summary["costPerHourOutOfUse"])


def test_half_started_gangs_have_the_gpus_that_they_hold_and_their_money(
    document: Any, summary: Mapping[str, Any], objects: Sequence[Object]
) -> None:
    pools = {each["metadata"]["name"]: headline_oracle.pool(each) for each in objects if each["kind"] == "Node"}
    found = [each for each in document["findings"] if each["code"] == "USA002"]
    names = {each["subject"]["name"] for each in found}
    held = [
        (headline_oracle.gpus(headline_oracle.limits(pod)), PRICES[pools[pod["spec"]["nodeName"]]])
        for top in headline_oracle.tops(objects)
        for pod in top.pods
        if top.key[1] in names and "nodeName" in pod["spec"]
    ]

    assert sum(each["gpusLost"] for each in found) == pytest.approx(summary["gpusHalfStarted"])
    assert sum(each["costPerHour"] for each in found) == pytest.approx(sum(gpus * price for gpus, price in held))


def test_the_wait_in_queues_is_the_quantile_of_the_growth_of_the_buckets(
    summary: Mapping[str, Any], objects: Sequence[Object], grid: Grid
) -> None:
    question = Question(metric="kueue_admission_wait_time_seconds_bucket")
    grown = {
        float(each.labels["le"]): each.values[-1] - each.values[0]
        for each in synthetic_records.SyntheticSource(objects).read(question, grid).series
    }

    assert summary["queueWaitP95Seconds"] == pytest.approx(headline_oracle.wait(grown, 0.95), abs=1e-6)


def test_the_other_headlines_are_sums_of_what_the_report_lists(document: Any, summary: Mapping[str, Any]) -> None:
    best: dict[tuple[str, str], Any] = {}
    for saving in (each for each in document["savings"] if not each["needs"]):
        key = saving["subject"]["namespace"], saving["subject"]["name"]
        best[key] = max(best.get(key, saving), saving, key=lambda each: each["cost"])
    today = date.fromisoformat(document["taken"][:10])
    days = [(date.fromisoformat(each["expires"]) - today).days for each in document["exceptions"]]

    assert summary["findings"] == Counter(each["outcome"] for each in document["findings"])
    assert summary["readiness"] == Counter(each["standing"] for each in document["readiness"])
    assert summary["exceptionsEnding"] == sum(0 <= each <= 14 for each in days)
    assert summary["savingsCost"] == pytest.approx(sum(each["cost"] for each in best.values()))
    capacity = {(each["subject"]["namespace"], each["subject"]["name"]): each["capacityTypes"]
                for each in document["workloads"]}  # fmt: skip
    reserved = sum(each["cost"] for key, each in best.items() if capacity[key] == ["reserved"])
    assert summary["savingsCostFreed"] == pytest.approx(reserved)
    assert summary["savingsCostSaved"] == pytest.approx(summary["savingsCost"] - reserved)
    assert summary["savingsGpuHours"] == pytest.approx(sum(each["gpuHours"] for each in best.values()))
