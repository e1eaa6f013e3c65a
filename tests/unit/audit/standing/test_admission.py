"""An audit says what admission would decide today about existing workloads."""

import pytest
from msgspec.structs import replace

from builders import custom
from builders.estates import ago, entry, estate, running, waiting
from builders.standings import change, found, judged, judgement, report, result
from usher import model, paths
from usher.audit.gather.estate import Estate
from usher.audit.gather.needed_inputs import VALIDATING

CODES = ("USA040", "USA041", "USA042")
TRACE = frozenset({"gpu-usher.io/mutated"})


def installed(hours: float) -> paths.Object:
    """Webhooks of usher that are registered since some hours."""
    value = custom(
        "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", {}, name="gpu-usher", namespace=None
    )
    metadata: paths.Object = {"name": "gpu-usher", "creationTimestamp": ago(hours).isoformat()}
    return {**value, "metadata": metadata}


def job(*, trace: bool = False, hours: float = 6, since: float = 100) -> Estate:
    workload = entry(pods=[running()], created=ago(hours), annotations=TRACE if trace else frozenset())
    return estate(workloads=[workload], objects=[installed(since)])


def test_a_workload_older_than_the_webhooks_is_from_before_the_policy() -> None:
    seen, of = judged(job(hours=6, since=3), result(entry(), judgement("USH301"), judgement("USH101")))

    (finding,) = found(seen, of=of, codes=CODES)
    assert (finding.code, finding.prevented_by, finding.gpus) == ("USA040", "USH301", 8)
    assert finding.message == "it came before usher, and admission would deny it today: USH301, USH101"
    assert finding.evidence == ("USH301: it is wrong", "USH101: it is wrong")


def test_a_workload_that_came_later_runs_although_it_would_be_denied() -> None:
    seen, of = judged(job(hours=6, since=100), result(entry(), judgement()))

    (finding,) = found(seen, of=of, codes=CODES)
    assert (finding.code, finding.message) == (
        "USA041",
        "1 pod runs, and admission would deny it today: USH301",
    )


@pytest.mark.parametrize(("trace", "code"), [(False, "USA040"), (True, "USA041")])
def test_a_trace_of_usher_decides_where_the_age_of_the_webhooks_is_not_known(*, trace: bool, code: str) -> None:
    workload = entry(pods=[running()], annotations=TRACE if trace else frozenset())
    other = entry(name="other", annotations=TRACE)
    seen, of = judged(estate(workloads=[workload, other]), result(workload, judgement()), result(other))

    assert [each.code for each in found(seen, of=of, codes=CODES)] == [code]


def test_where_nothing_shows_that_usher_is_there_nothing_came_before_it() -> None:
    workload = entry(pods=[running()])
    seen, of = judged(estate(workloads=[workload]), result(workload, judgement()))

    assert found(seen, of=of, codes=CODES) == []


def test_admission_does_not_deny_a_mistake_that_it_mends() -> None:
    mends = replace(change("toleration"), mends={"placement/gpu_toleration_present": "gpu-toleration"})
    seen, of = judged(job(), result(entry(), judgement(), change=mends))

    assert [each.code for each in found(seen, of=of, codes=CODES)] == ["USA042"]


def test_the_gpus_of_a_change_are_those_that_the_workload_holds() -> None:
    half = estate(workloads=[entry(pods=[running(), waiting("other")])])
    seen, of = judged(half, result(entry(), change=change("toleration")))

    (finding,) = found(seen, of=of, codes=CODES)
    assert finding.gpus == 8


@pytest.mark.parametrize("outcome", [model.Outcome.WARN, model.Outcome.AUDIT])
def test_milder_outcomes_make_no_finding_about_the_cluster(outcome: model.Outcome) -> None:
    seen, of = judged(job(), result(entry(), judgement(outcome=outcome)))

    assert found(seen, of=of, codes=CODES) == []


def test_a_workload_that_waits_and_came_later_is_left_to_other_findings() -> None:
    workload = entry(wanted=1, created=ago(1))
    seen, of = judged(estate(workloads=[workload], objects=[installed(100)]), result(workload, judgement()))

    assert found(seen, of=of, codes=CODES) == []


def test_what_the_mutating_webhook_would_add_is_drift() -> None:
    seen, of = judged(job(trace=True), result(entry(), change=change("toleration", "nodeRequirement", "toleration")))

    (finding,) = found(seen, of=of, codes=CODES)
    assert (finding.code, finding.message) == (
        "USA042",
        "it lacks what admission would add: toleration, required node affinity",
    )
    assert finding.evidence == ("tolerations: its pool has a taint",)


def test_a_change_without_values_does_not_count() -> None:
    seen, of = judged(job(), result(entry(), change=change()))

    assert found(seen, of=of, codes=CODES) == []


def test_without_webhooks_no_workload_came_before_them() -> None:
    workload = entry(pods=[running()])
    seen, of = judged(estate(workloads=[workload], without=[VALIDATING.key]), result(workload, judgement()))

    assert found(seen, of=of, codes=CODES) == []


def test_a_workload_that_was_not_judged_has_no_finding() -> None:
    assert found(job(), of=report(), codes=CODES) == []
