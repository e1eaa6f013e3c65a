"""The shards of a cluster, merged, say what one audit of the whole says: counts, GPUs, hours, money and findings."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import generated_examples
from integration import command
from integration.api_server import ApiServer, kubeconfig, running
from usher import paths
from usher.audit.demo import synthetic_cluster, synthetic_records
from usher.kinds import registry

pytestmark = pytest.mark.costly

NOW = datetime(2026, 11, 23, 6, tzinfo=UTC)
SHARDS = 3
KUBE_SYSTEM: paths.Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system"}}
EMPTY = ("validatingwebhookconfigurations", "mutatingwebhookconfigurations")


@pytest.fixture(scope="module")
def objects() -> list[paths.Object]:
    return list(synthetic_cluster.objects(NOW))


@pytest.fixture(scope="module")
def api(objects: list[paths.Object]) -> Iterator[ApiServer]:
    """The synthetic cluster of the demo, whose webhooks are not there."""
    listed = {(each.group, each.kind): each for each in registry.LISTED}
    with running() as server:
        server.page = 500
        server.add(KUBE_SYSTEM)
        for plural in EMPTY:
            server.serve_kind("admissionregistration.k8s.io/v1", plural)
        for value in objects:
            group, kind = str(value["apiVersion"]).rpartition("/")[0], str(value["kind"])
            if (group, kind) in listed:
                server.add(value)
            elif (group, kind) in registry.FACTS:
                server.add_other(registry.FACTS[group, kind].plural, value)
        yield server


@pytest.fixture(scope="module")
def options(
    api: ApiServer, objects: list[paths.Object], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str | Path, ...]]:
    """The audit at one moment, with the usage of the demo instead of that of Prometheus."""

    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> "Clock":
            return cls.fromtimestamp(NOW.timestamp(), tz)

    folder = tmp_path_factory.mktemp("options")
    config = folder / "usher.yaml"
    config.write_text(json.dumps(synthetic_cluster.configuration(NOW.date()).model_dump(mode="json", by_alias=True)))
    file = kubeconfig(folder / "kubeconfig", api.url)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("usher.cli.audit.datetime", Clock)
        patched.setattr(
            "usher.cli.audit_usage.PrometheusSource", lambda *_, **__: synthetic_records.SyntheticSource(objects)
        )
        yield "audit", "--kubeconfig", file, "--config", config, "--prometheus", "http://127.0.0.1:9"


@pytest.fixture(scope="module")
def whole(options: tuple[str | Path, ...]) -> Any:
    done = command.usher(*options, "--format", "json")
    assert done.code == 0, done.err
    return done.json


@pytest.fixture
def merged(options: tuple[str | Path, ...], tmp_path: Path) -> Any:
    for index in range(SHARDS):
        done = command.usher(*options, "--shard", f"{index}/{SHARDS}", "--output-dir", tmp_path / "parts")
        assert done.code == 0, done.err
    done = command.usher("report", "merge", tmp_path / "parts", "--format", "json", "--require-complete")
    assert done.code == 0, done.err
    return done.json


def near(value: float) -> Any:
    return pytest.approx(value, abs=1e-3)


def test_shards_and_their_merge_say_what_one_audit_says(whole: Any, merged: Any) -> None:
    found, expected = merged["summary"], whole["summary"]
    for name in (*("gpus", "gpusAllocatable", "gpusAllocated", "gpusFree", "gpusWaiting", "gpusNever"),
                 *("gpusHalfStarted", "workloads", "workloadsNever", "exceptionsEnding")):  # fmt: skip
        assert found[name] == near(expected[name]), name
    assert found["findings"] == expected["findings"]
    assert found["objects"] == whole["completeness"]["objects"]
    assert found["pods"] == whole["completeness"]["pods"]

    for name in ("allocated", "measured", "used", "idle", "notPriced"):
        assert found["usage"][name] == near(expected[name]), name
    (cost,) = found["usage"]["costs"]
    assert (cost["currency"], cost["allocated"]) == (expected["currency"], near(expected["costAllocated"]))
    assert cost["idle"] == near(expected["costIdle"])
    # No shard knows which devices are free, so what takes some waits for the platform team.
    savings = [each for each in whole["savings"] if each["addsUp"] and each["kind"] != "smaller MIG profile"]
    assert len(savings) < sum(each["addsUp"] for each in whole["savings"])
    assert found["savings"]["gpuHours"] == near(sum(each["gpuHours"] for each in savings))
    assert found["savings"]["costs"][expected["currency"]] == near(sum(each["cost"] for each in savings))

    assert_findings(merged, whole)
    assert_groups(merged, whole)
    assert_readiness(merged, whole)


def assert_findings(merged: Any, whole: Any) -> None:
    gpus = defaultdict[str, float](float)
    for each in whole["findings"]:
        gpus[each["code"]] += each["gpus"]
    assert {each["code"]: each["findings"] for each in merged["findings"]} == Counter(
        each["code"] for each in whole["findings"]
    )
    assert {each["code"]: each["gpus"] for each in merged["findings"]} == {code: near(n) for code, n in gpus.items()}


def assert_groups(merged: Any, whole: Any) -> None:
    listed = Counter(each["team"] for each in whole["workloads"])
    (teams,) = [table for table in merged["tables"] if table["by"] == "team"]
    assert {row["name"]: row["workloads"] for row in teams["rows"] if row["workloads"]} == listed
    groups = {table["by"]: {row["name"]: row for row in table["rows"]} for table in whole["usage"]}
    for table in merged["tables"]:
        expected = groups[table["by"]]
        for row in table["rows"]:
            if row["workloads"] or row["usage"]["allocated"]:
                assert row["workloads"] == expected[row["name"]]["workloads"]
                assert row["usage"]["idle"] == near(expected[row["name"]]["usage"]["idle"])


def assert_readiness(merged: Any, whole: Any) -> None:
    """Each item has one standing, because there is one cluster."""
    found = {each["id"]: list(each["standings"]) for each in merged["readiness"]}
    assert found == {each["id"]: [each["standing"]] for each in whole["readiness"]}


NOT_OF_A_PART = (
    *("gpus", "gpusAllocatable", "gpusUsable", "gpusFree", "gpusOutOfUse", "gpusNotPriced"),
    *("costPerHourFree", "costPerHourOutOfUse"),
    *("capacity", "free", "outOfUse", "costFree", "costOutOfUse", "queueWaitP95Seconds"),
)


def test_an_audit_of_a_namespace_says_what_the_row_of_the_namespace_says(
    whole: Any, options: tuple[str | Path, ...]
) -> None:
    rows = {row["name"]: row for table in whole["usage"] if table["by"] == "namespace" for row in table["rows"]}
    teams = {each["subject"]["namespace"]: each["team"] for each in whole["workloads"]}
    assert len(rows) > 2
    for name in [*rows][: 33 if generated_examples.are_thorough() else 2]:
        row = rows[name]
        done = command.usher(*options, "--in-namespace", name, "--format", "json")
        assert done.code == 0, done.err
        assert_is_row(done.json, row)
        assert {each["team"] for each in done.json["workloads"]} == {teams[name]}
        written = json.dumps({key: value for key, value in done.json.items() if key != "exceptions"})
        others = [each for each in rows if each != name and f'"{each}"' in written]
        assert others == [], f"the audit of {name} names {others}"


def assert_is_row(found: Any, row: Any) -> None:
    summary, usage = found["summary"], row["usage"]
    assert {name: summary[name] for name in NOT_OF_A_PART} == dict.fromkeys(NOT_OF_A_PART)
    assert summary["gpusAllocated"] == near(usage["gpusNow"])
    for name in ("allocated", "measured", "used", "idle", "activity", "memoryShare", "notPriced"):
        assert summary[name] == (None if usage[name] is None else near(usage[name])), name
    cost = usage["cost"] or {"allocated": None, "idle": None}
    for name, expected in (("Allocated", cost["allocated"]), ("Idle", cost["idle"]),
                           ("PerHourAllocated", usage["costPerHour"])):  # fmt: skip
        assert summary[f"cost{name}"] == (None if expected is None else near(expected)), name
    for table in found["usage"]:
        assert sum(each["usage"]["idle"] or 0 for each in table["rows"]) == near(usage["idle"] or 0), table["by"]
    assert {each["subject"]["namespace"] for each in (*found["workloads"], *found["findings"])} == {row["name"]}
    assert not any("GPU-hours are of pods whose workload" in each for each in found["measurement"]["problems"])
