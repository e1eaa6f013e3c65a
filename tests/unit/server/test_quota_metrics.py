"""Prometheus sees quotas."""

from prometheus_client.parser import text_string_to_metric_families

from builders import gpu_quota
from unit.cluster.scripted import ScriptedApi
from usher import paths
from usher.authorities.gpu_quota.live.account_store import ChargeResult, Correction
from usher.cluster.watching import LiveFacts
from usher.server import metrics as server_metrics
from usher.server.metrics import Metrics


def series(metrics: Metrics) -> dict[tuple[str, ...], float]:
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(metrics.exposition().decode())
        for sample in family.samples
        if sample.name.startswith("usher_quota") and not sample.name.endswith("_created")
    }


def made(*quotas: paths.Object) -> Metrics:
    facts = LiveFacts(ScriptedApi([]), kinds=[])
    facts.store.replace(("gpu-usher.io", "GPUQuota"), quotas)
    metrics = Metrics(engine="test", revision="test")
    metrics.watch_facts(facts)
    return metrics


def test_what_comes_of_charges_is_counted() -> None:
    metrics = made()
    meter = metrics.of_quotas()
    meter.charged(ChargeResult.GRANTED, seconds=0.02)
    meter.charged(ChargeResult.REFUSED, seconds=0.2)
    meter.conflicted()
    meter.reconciled(Correction.ADOPTED)

    found = series(metrics)

    assert found["usher_quota_charges_total", "granted"] == 1
    assert found["usher_quota_charges_total", "forced"] == 0
    assert found["usher_quota_conflicts_total",] == 1
    assert found["usher_quota_reconciled_total", "adopted"] == 1
    assert found["usher_quota_charge_seconds_bucket", "0.025"] == 1
    assert found["usher_quota_charge_seconds_count",] == 2


def test_limits_are_shown_with_their_used_amounts() -> None:
    of_class = {"hard": {"gpus": 4}, "priorityClasses": ["high"]}
    limit = {"hard": {"gpus": 16, "slices": "3500m"}}

    found = series(
        made(
            gpu_quota("a", limits=[limit, of_class], status={"used": [{"gpus": 8, "slices": "1500m"}]}),
            gpu_quota("b", limits=[{}]),
        )
    )

    assert {key: value for key, value in found.items() if len(key) == 4} == {
        ("usher_quota_hard", "", "a", "gpus"): 16,
        ("usher_quota_used", "", "a", "gpus"): 8,
        ("usher_quota_hard", "", "a", "slices"): 3.5,
        ("usher_quota_used", "", "a", "slices"): 1.5,
        ("usher_quota_hard", "high", "a", "gpus"): 4,
        ("usher_quota_used", "high", "a", "gpus"): 0,
    }


def test_a_cluster_with_too_many_quotas_has_no_more_series_for_it() -> None:
    names = [f"q-{number:04}" for number in range(server_metrics.MOST_QUOTAS + 50)]

    found = series(made(*(gpu_quota(name, 1) for name in names)))

    assert len([key for key in found if key[0] == "usher_quota_hard"]) == server_metrics.MOST_QUOTAS
