"""Many objects, one evaluator: the totals, and what happens when one of them fails."""

from collections.abc import Iterable
from decimal import Decimal

import pytest

import builders
from usher import errors, model, paths
from usher.check import devices as scan_devices
from usher.check import findings, judging, runner
from usher.check.batches import Batch, Item
from usher.config import models
from usher.policy import assembly
from usher.policy.engines.engine import ALL_CHECKS, Entrypoint
from usher.policy.evaluator import Evaluator

MIG = "nvidia.com/mig-1g.10gb"


@pytest.fixture(scope="module")
def evaluator() -> Evaluator:
    return assembly.embedded(models.Config())


def batch(*objects: paths.Object, source: str = "jobs.yaml") -> Batch:
    return Batch(source=source, items=tuple(Item(value=value) for value in objects))


def run(
    evaluator: Evaluator,
    batches: Iterable[Batch],
    *,
    mutated: bool = False,
    diff: bool = False,
    only_namespace: str = "",
) -> findings.Report:
    settings = judging.Settings(
        command=findings.Command.CHECK, mutated=mutated, diff=diff, only_namespace=only_namespace
    )
    return runner.run(batches, evaluator=evaluator, settings=settings)


def codes(found: findings.Report) -> list[str]:
    return [finding.judgement.code for result in found.results for finding in result.findings]


def unread(found: findings.Report) -> list[str]:
    """Paths of what could not be read of the last object, whatever its checks say."""
    *_, result = found.results
    return [each.unknown.path for each in result.not_judged if not each.unknown.check]


def test_gpus_are_counted_over_all_workloads_and_those_with_errors(evaluator: Evaluator) -> None:
    good = builders.pytorch_job(builders.template(builders.container(gpus=8)), workers=4, name="good")
    unequal = builders.container(requests={builders.GPU: 2}, limits={builders.GPU: 1})
    bad = builders.pytorch_job(builders.template(unequal), workers=3, name="bad")

    found = run(
        evaluator, [batch(good), batch(bad, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "any"}})]
    )

    assert found.totals.files == 2
    assert found.totals.objects == 3
    assert found.totals.workloads == 2
    assert found.totals.pods == scan_devices.Amount(number=7)
    assert found.totals.accelerators == {builders.GPU: scan_devices.Amount(number=38)}
    assert found.totals.accelerators_with_errors == {builders.GPU: scan_devices.Amount(number=6)}
    assert found.totals.errors == 1
    assert found.denies


def test_slices_are_counted_by_their_own_name_and_not_as_gpus(evaluator: Evaluator) -> None:
    found = run(evaluator, [batch(builders.pod(builders.container(limits={MIG: 2})))])

    assert found.totals.accelerators == {MIG: scan_devices.Amount(number=2)}
    assert scan_devices.gpus(found.totals.accelerators) == scan_devices.Amount()


def test_shares_of_gpus_are_not_counted_as_gpus_and_fractions_stay_fractions(evaluator: Evaluator) -> None:
    share = builders.pod(builders.container(limits={builders.GPU: 1, "nvidia.com/gpumem": 3000}))
    fraction = builders.pod(annotations={"gpu-fraction": "0.5"})

    found = run(evaluator, [batch(share, fraction)])

    assert found.totals.accelerators == {
        "gpu-fraction": scan_devices.Amount(number=Decimal("0.5")),
        "nvidia.com/gpumem": scan_devices.Amount(number=3000),
        f"shares of {builders.GPU}": scan_devices.Amount(number=1),
    }


def test_what_others_refer_to_makes_no_pods_of_its_own(evaluator: Evaluator) -> None:
    gpu = builders.template(builders.container(gpus=8))
    template = builders.replaced(builders.custom("v1", "PodTemplate", {}), "/template", gpu)

    found = run(evaluator, [batch(template)])

    assert [result.is_template for result in found.results] == [True]
    assert found.results[0].accelerators == {builders.GPU: scan_devices.Amount(number=8)}
    assert found.totals.pods == scan_devices.Amount()
    assert found.totals.accelerators == {}


def test_the_objects_of_a_run_may_refer_to_each_other_in_one_file_and_in_several(evaluator: Evaluator) -> None:
    request: paths.Json = {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}
    spec: paths.Object = {"spec": {"devices": {"requests": [request]}}}
    template = builders.custom("resource.k8s.io/v1", "ResourceClaimTemplate", spec, name="one-gpu")
    pod = builders.pod(resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}])

    together = run(evaluator, [batch(template, pod)])
    apart = run(evaluator, [batch(template), batch(pod)])

    assert together.totals.accelerators == {"gpu.nvidia.com": scan_devices.Amount(number=1)}
    assert unread(together) == []
    assert apart.totals.accelerators == together.totals.accelerators
    assert unread(apart) == []


def test_where_nothing_bounds_the_pods_the_least_is_counted_and_marked(evaluator: Evaluator) -> None:
    found = run(evaluator, [batch(builders.daemon_set(builders.template(builders.container(gpus=1))))])

    assert found.totals.pods.unbounded
    assert found.totals.accelerators[builders.GPU].unbounded


def test_a_finding_says_in_which_pod_set_it_is(evaluator: Evaluator) -> None:
    unequal = builders.container(requests={builders.GPU: 2}, limits={builders.GPU: 1})
    job = builders.pytorch_job(builders.template(unequal), workers=3, master=builders.template())

    ((finding, *_),) = [result.findings for result in run(evaluator, [batch(job)]).results]

    assert finding.pod_set == findings.PodSet(name="Worker", pods=model.Count(minimum=3, maximum=3))


def test_objects_without_a_namespace_are_in_the_one_that_is_said(evaluator: Evaluator) -> None:
    (result,) = run(evaluator, [batch(builders.pod(namespace=None))]).results

    assert str(result.identity) == "Pod default/example"


def test_workloads_of_other_namespaces_are_left_out_when_one_is_asked_for(evaluator: Evaluator) -> None:
    pods = [builders.pod(name=name, namespace=name) for name in ("ours", "theirs")]

    found = run(evaluator, [batch(*pods)], only_namespace="ours")

    assert [result.identity.name for result in found.results] == ["ours"]


def test_an_exempt_workload_is_counted_with_its_reason(evaluator: Evaluator) -> None:
    found = run(evaluator, [batch(builders.pod(namespace="kube-system"))])

    assert found.totals.exempt == 1
    assert found.results[0].exemption == "usher exempts namespace kube-system by default"
    assert found.totals.exemptions == {"usher exempts namespace kube-system by default": 1}


def test_a_configuration_of_the_device_plugin_is_judged_in_an_exempt_namespace(evaluator: Evaluator) -> None:
    text = "version: v1\nsharing: {timeSlicing: {resources: [{name: nvidia.com/gpu}]}}\n"
    broken: paths.Object = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "device-plugin", "namespace": "gpu-operator"},
        "data": {"any": text},
    }

    (result,) = run(evaluator, [batch(broken)]).results

    assert not result.exemption
    assert [each.judgement.code for each in result.findings]


def test_an_unknown_kind_with_a_pod_spec_is_reported_as_not_judged(evaluator: Evaluator) -> None:
    strange = builders.custom("example.com/v1", "Trainer", {"template": {"spec": builders.pod_spec()}})

    (result,) = run(evaluator, [batch(strange)]).results

    assert [entry.unknown.path for entry in result.not_judged] == ["/spec/template/spec"]


def test_checks_that_could_not_be_evaluated_are_summed_up_by_reason(evaluator: Evaluator) -> None:
    pods = [builders.pod(builders.container(gpus=1), name=name) for name in ("a", "b")]

    found = run(evaluator, [batch(*pods)])

    (entry,) = [entry for entry in found.not_evaluated if entry.code == "USH302"]
    assert entry.name == "gpu-node-affinity-present"
    assert entry.workloads == 2


def test_the_result_holds_the_changes_of_the_webhook_on_request(evaluator: Evaluator) -> None:
    pod = builders.pod(builders.container(gpus=1))

    (asked,) = run(evaluator, [batch(pod)], diff=True).results
    (not_asked,) = run(evaluator, [batch(pod)]).results

    assert asked.change is not None
    assert asked.change.before == pod
    assert "gpu-toleration" in asked.change.names.values()
    assert asked.change.places[""] == "the pod"
    assert not_asked.change is None


def test_an_object_is_judged_as_the_webhook_leaves_it(evaluator: Evaluator) -> None:
    pods = [batch(builders.pod(builders.container(gpus=1)))]

    assert "USH301" in codes(run(evaluator, pods))
    assert "USH301" not in codes(run(evaluator, pods, mutated=True))


def test_an_object_that_the_webhook_skips_has_no_change(evaluator: Evaluator) -> None:
    deployment = builders.deployment(builders.template())

    (result,) = run(evaluator, [batch(deployment)], mutated=True).results

    assert result.change is None


class Complaining:
    """An engine that finds something at one place of every object, and else does what another does."""

    name = "complaining"
    waits = False

    def __init__(self, evaluator: Evaluator, path: str) -> None:
        self._engine = evaluator.engine
        self._finding: paths.Object = {"path": path, "message": "it is wrong"}

    def evaluate(self, entrypoint: Entrypoint, document: bytes, left_out: bytes = ALL_CHECKS) -> paths.Object:
        if entrypoint is not Entrypoint.FINDINGS:
            return self._engine.evaluate(entrypoint, document, left_out)
        entry: paths.Object = {"check": "resources/whole_gpus_only", "finding": self._finding}
        return {"version": 1, "findings": [entry], "unknown": []}

    def close(self) -> None:
        pass

    def ready(self) -> None:
        pass


def test_a_finding_says_that_the_webhook_adds_its_field(evaluator: Evaluator) -> None:
    engine = Complaining(evaluator, "/spec/tolerations/0")
    complaining = Evaluator(engine=engine, entries=evaluator.catalogue, config=evaluator.config)
    tolerating = builders.pod(builders.container(gpus=1), tolerations=[{"operator": "Exists"}])

    found = run(complaining, [batch(builders.pod(builders.container(gpus=1)), tolerating)], mutated=True)
    as_written = run(complaining, [batch(tolerating)])

    assert [[finding.added for finding in result.findings] for result in found.results] == [[True], [False]]
    assert [finding.added for result in as_written.results for finding in result.findings] == [False]


class FailingFor:
    """An engine that fails for namespaces of a name, and else does what another does."""

    name = "failing"
    waits = False

    def __init__(self, evaluator: Evaluator, marker: bytes) -> None:
        self._engine = evaluator.engine
        self._marker = marker

    def evaluate(self, entrypoint: Entrypoint, document: bytes, left_out: bytes = ALL_CHECKS) -> paths.Object:
        if self._marker in document:
            raise errors.DeadlineError("it took too long")
        return self._engine.evaluate(entrypoint, document, left_out)

    def close(self) -> None:
        pass

    def ready(self) -> None:
        pass


def test_a_failure_of_the_engine_costs_one_object_and_marks_the_run(evaluator: Evaluator) -> None:
    engine = FailingFor(evaluator, b'"kueue.x-k8s.io/queue-name":"doomed"')
    failing = Evaluator(engine=engine, entries=evaluator.catalogue, config=evaluator.config)
    doomed = builders.pod(builders.container(gpus=1), name="doomed", labels={"kueue.x-k8s.io/queue-name": "doomed"})

    found = run(failing, [batch(doomed, builders.pod(name="fine"))])

    assert [result.identity.name for result in found.results] == ["fine"]
    assert [(str(failure.identity), failure.reason) for failure in found.failures] == [
        ("Pod ml-research/doomed", "it took too long")
    ]
    assert found.failed
    assert not found.denies


def test_a_failure_is_reported_even_if_the_object_has_invalid_metadata(evaluator: Evaluator) -> None:
    engine = FailingFor(evaluator, b"")
    failing = Evaluator(engine=engine, entries=evaluator.catalogue, config=evaluator.config)
    odd = builders.replaced(builders.pod(builders.container(gpus=1)), "/metadata", ["no", "mapping"])

    (failure,) = run(failing, [batch(odd)]).failures

    assert failure.identity == findings.Identity(api_version="v1", kind="Pod", namespace="", name="")


def test_absurdly_large_numbers_are_counted(evaluator: Evaluator) -> None:
    job = builders.job(builders.template(builders.container(gpus=10**18)), parallelism=10**18)

    found = run(evaluator, [batch(job)])

    assert not found.failed
    assert found.totals.accelerators[builders.GPU].number > 0


def test_the_progress_counts_the_objects_within_a_batch_whatever_number_of_evaluators_judge(
    evaluator: Evaluator,
) -> None:
    jobs = [builders.pytorch_job(builders.template(builders.container(gpus=1)), name=f"job-{n}") for n in range(3)]
    settings = judging.Settings(command=findings.Command.CHECK, mutated=False)
    seen = list[tuple[str, int, int]]()

    runner.run_each(
        [batch(*jobs), batch(jobs[0], source="other.yaml")],
        evaluators=[evaluator, evaluator],
        settings=settings,
        watch=lambda *progress: seen.append(progress),
    )

    judged = [done for things, done, _ in seen if things == "objects judged"]
    assert judged == [1, 1, 2, 2, 3, 3, 3, 4, 4, 4]
    assert {total for things, _, total in seen if things == "objects judged"} == {4}


def test_equal_findings_of_objects_of_a_cluster_share_memory(evaluator: Evaluator) -> None:
    jobs = [builders.job(builders.template(builders.container(gpus=1)), name=f"job-{n}") for n in range(2)]
    jobs = [{**job, "metadata": {**paths.metadata(job), "uid": f"uid-{n}"}} for n, job in enumerate(jobs)]

    first, second = run(evaluator, [batch(*jobs)]).results

    assert first.identity != second.identity
    assert first.findings
    assert all(one is other for one, other in zip(first.findings, second.findings, strict=True))
