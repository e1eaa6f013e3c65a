"""Queues and quotas in the files of a run count for what they prove, and never for what the files may lack."""

from dataclasses import dataclass
from typing import Any

import pytest

import builders
from builders import queues, quotas
from usher import model, paths
from usher.check import findings, judging, runner
from usher.check.batches import Batch, Item
from usher.cluster.facts.store import Store
from usher.config import models
from usher.policy import assembly
from usher.policy.evaluator import Evaluator

LABELS = {"kueue.x-k8s.io/queue-name": "team"}
QUEUE = queues.local_queue("team", "research")
CAPACITY = queues.cluster_queue("research", queues.gpu_group(16))


def job(gpus: int = 8, *, pods: int = 4, namespace: str = queues.NAMESPACE) -> paths.Object:
    return builders.gpu_job(gpus, pods=pods, name="train", namespace=namespace, labels=LABELS)


@dataclass(frozen=True)
class Run:
    evaluator: Evaluator

    def report(self, files: dict[str, list[paths.Object]], *, facts: bool = True) -> findings.Report:
        batches = [
            Batch(source=name, items=tuple(Item(value=value) for value in values)) for name, values in files.items()
        ]
        settings = judging.Settings(command=findings.Command.CHECK, mutated=True, facts_of_files=facts)
        return runner.run(batches, evaluator=self.evaluator, settings=settings)

    def codes(self, files: dict[str, list[paths.Object]], *, facts: bool = True) -> set[tuple[str, str]]:
        """The findings about the Job that need facts, with their outcomes."""
        report = self.report(files, facts=facts)
        known = {f"USH{number}" for number in (430, 431, 435, 436, 437, 620, 1220, 1221, 1223, 1224, 1230)}
        return {
            (each.judgement.code, each.judgement.outcome.value)
            for result in report.results
            if result.identity.kind == "Job"
            for each in result.findings
            if each.judgement.code in known
        }


@pytest.fixture(scope="module")
def run() -> Run:
    return Run(assembly.embedded(models.Config()))


def test_a_queue_in_another_file_that_is_too_small_denies_the_workload_and_says_where(run: Run) -> None:
    report = run.report({"queues/all.yaml": [CAPACITY, QUEUE], "jobs/train.yaml": [job()]})

    (result,) = [each for each in report.results if each.identity.kind == "Job"]
    (found,) = [each.judgement for each in result.findings if each.judgement.code == "USH435"]
    assert found.outcome.value == "deny"
    assert found.finding.path == "/metadata/labels/kueue.x-k8s.io~1queue-name"
    assert "can never give more than 16 of flavor a100" in found.finding.message
    assert "ask for at most 16 nvidia.com/gpu" in found.finding.remedy
    assert report.facts_of_files == {"ClusterQueue": 1, "LocalQueue": 1}


def test_a_queue_that_is_large_enough_denies_nothing(run: Run) -> None:
    assert run.codes({"all.yaml": [CAPACITY, QUEUE, job(pods=2)]}) == set()


def test_facts_of_files_can_be_switched_off(run: Run) -> None:
    files = {"all.yaml": [CAPACITY, QUEUE, job()]}

    assert run.codes(files) == {("USH435", "deny")}
    assert run.codes(files, facts=False) == set()


def test_files_never_prove_that_an_object_is_missing(run: Run) -> None:
    other = queues.local_queue("other", "research")

    assert run.codes({"all.yaml": [CAPACITY, other, job()]}) == set()
    assert run.codes({"all.yaml": [QUEUE, queues.cluster_queue("elsewhere"), job()]}) == set()


def test_a_queue_of_a_cohort_may_borrow_from_queues_that_the_files_lack(run: Run) -> None:
    shared = queues.cluster_queue("research", queues.gpu_group(16), cohort="all")

    assert run.codes({"all.yaml": [shared, QUEUE, job()]}) == set()


def test_two_queues_of_one_name_are_alternatives_that_prove_nothing(run: Run) -> None:
    larger = queues.cluster_queue("research", queues.gpu_group(64))

    assert run.codes({"a/q.yaml": [CAPACITY], "b/q.yaml": [larger], "jobs.yaml": [QUEUE, job()]}) == set()


def test_a_quota_of_the_namespace_that_is_too_small_denies_the_workload(run: Run) -> None:
    quota = quotas.resource_quota({f"requests.{builders.GPU}": "16"}, namespace=queues.NAMESPACE)

    assert {code for code, _ in run.codes({"quotas/q.yaml": [quota], "jobs/j.yaml": [job(pods=4)]})} == {"USH1221"}
    assert {code for code, _ in run.codes({"q.yaml": [quota], "j.yaml": [job(32, pods=1)]})} == {"USH1220"}
    assert run.codes({"q.yaml": [quota], "j.yaml": [job(pods=2)]}) == set()


def test_a_quota_that_wants_limits_warns_because_another_limit_range_may_set_them(run: Run) -> None:
    quota = quotas.resource_quota({"limits.cpu": "64"}, namespace=queues.NAMESPACE)
    metadata: paths.Json = {"name": "l", "namespace": queues.NAMESPACE}
    item: paths.Json = {"type": "Container", "default": {"memory": "1Gi"}}
    others: paths.Object = {"apiVersion": "v1", "kind": "LimitRange", "metadata": metadata, "spec": {"limits": [item]}}

    assert run.codes({"q.yaml": [quota], "j.yaml": [job()]}) == {("USH1223", "warn")}
    assert run.codes({"q.yaml": [quota, others], "j.yaml": [job()]}) == {("USH1223", "warn")}
    assert run.codes({"q.yaml": [quota], "j.yaml": [job()]}, facts=False) == set()


def test_a_quota_counts_where_the_files_are_one_whole_and_not_alternatives(run: Run) -> None:
    quota = quotas.resource_quota({f"requests.{builders.GPU}": "4"}, namespace=queues.NAMESPACE)
    small = {"a/quotas/q.yaml": [quota], "a/jobs/j.yaml": [job(pods=1)]}
    other_cluster = {"b/jobs/j.yaml": [job(pods=1)]}

    assert {code for code, _ in run.codes(small)} == {"USH1220"}
    report = run.report({**small, **other_cluster})
    denied = {each.source for each in report.results for one in each.findings if one.judgement.code == "USH1220"}
    assert denied == {"a/jobs/j.yaml"}


def test_given_facts_decide_instead_of_the_files() -> None:
    large = queues.cluster_queue("research", queues.gpu_group(64))
    given = Run(assembly.embedded(models.Config(), facts=Store.of([large, QUEUE])))

    assert given.codes({"queues/all.yaml": [CAPACITY], "jobs/train.yaml": [job()]}) == set()


def test_a_queue_of_another_file_that_the_given_facts_lack_is_there_after_the_run() -> None:
    other = queues.local_queue("other", "research")
    given = Run(assembly.embedded(models.Config(), facts=Store.of([CAPACITY, other])))
    files = {"queues/q.yaml": [QUEUE], "jobs/j.yaml": [job(1, pods=1)]}

    assert given.codes(files) == set()
    assert {code for code, _ in given.codes(files, facts=False)} == {"USH430"}


def test_queues_in_the_files_count_where_the_given_facts_do_not_know_queues() -> None:
    nodes = Store.of([builders.node("a", gpus=8)])
    report = Run(assembly.embedded(models.Config(), facts=nodes)).report({"all.yaml": [CAPACITY, QUEUE, job()]})

    found = {each.judgement.code: each.judgement.outcome for result in report.results for each in result.findings}
    assert found["USH435"] is model.Outcome.DENY
    assert report.facts_of_files == {"ClusterQueue": 1, "LocalQueue": 1}


def _pool(family: str) -> paths.Object:
    wants: list[paths.Json] = [{"key": "karpenter.k8s.aws/instance-family", "operator": "In", "values": [family]}]
    reference: paths.Object = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "gpu"}
    spec: paths.Object = {"template": {"spec": {"nodeClassRef": reference, "requirements": wants}}}
    return builders.custom("karpenter.sh/v1", "NodePool", spec, name="gpu", namespace=None)


@pytest.mark.parametrize(("family", "fits"), [("p5", True), ("m6i", False)])
def test_a_pool_of_the_files_adds_nodes_to_those_of_the_given_facts(family: str, fits: bool) -> None:
    given = Run(assembly.embedded(models.Config(), facts=Store.of([builders.node("a", gpus=1)])))

    def codes(*, facts: bool) -> set[str]:
        report = given.report({"pools/p.yaml": [_pool(family)], "jobs/j.yaml": [builders.gpu_job(8)]}, facts=facts)
        return {each.judgement.code for result in report.results for each in result.findings}

    assert ("USH330" in codes(facts=True)) is not fits
    assert "USH330" in codes(facts=False)


def test_a_claim_of_another_file_is_known_beside_given_facts() -> None:
    given = Run(assembly.embedded(models.Config(), facts=Store.of([builders.node("a", gpus=1)])))
    request: paths.Object = {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}
    claim = builders.custom("resource.k8s.io/v1", "ResourceClaim", {"devices": {"requests": [request]}}, name="shared")
    container: paths.Object = {**builders.container(), "resources": {"claims": [{"name": "gpu"}]}}
    pods = builders.template(container, resourceClaims=[{"name": "gpu", "resourceClaimName": "shared"}])
    values: dict[str, list[paths.Object]] = {"claims/c.yaml": [claim], "jobs/j.yaml": [builders.job(pods, name="j")]}

    def unknown(*, facts: bool) -> bool:
        return any("not known here" in str(each) for each in given.report(values, facts=facts).results)

    assert not unknown(facts=True)
    assert unknown(facts=False)


def test_a_runtime_in_another_file_says_what_a_workload_makes(run: Run) -> None:
    pods = builders.job_spec(builders.template(builders.container(gpus=8)))
    node: paths.Object = {"name": "node", "template": {"spec": pods}}
    spec: paths.Object = {"template": {"spec": {"replicatedJobs": [node]}}}
    api = "trainer.kubeflow.org/v1alpha1"
    runtime = builders.custom(api, "ClusterTrainingRuntime", spec, name="torch", namespace=None)
    train = builders.custom(api, "TrainJob", {"runtimeRef": {"name": "torch"}}, name="train")

    def gpus(*, facts: bool) -> bool:
        report = run.report({"runtimes/r.yaml": [runtime], "jobs/j.yaml": [train]}, facts=facts)
        (result,) = [each for each in report.results if each.identity.kind == "TrainJob"]
        return bool(result.accelerators)

    assert gpus(facts=True)
    assert not gpus(facts=False)


def kueue_configuration(frameworks: str, *, name: str = "kueue-manager-config") -> paths.Object:
    text = (
        "apiVersion: config.kueue.x-k8s.io/v1beta1\nkind: Configuration\n"
        f"integrations:\n  frameworks: [{frameworks}]\nresources:\n  excludeResourcePrefixes: [example.com]\n"
    )
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "kueue-system"},
        "data": {"controller_manager_config.yaml": text},
    }


def test_kueues_configuration_in_the_files_says_which_kinds_it_queues(run: Run) -> None:
    files = {"queues.yaml": [CAPACITY, QUEUE], "kueue.yaml": [kueue_configuration("jobset.x-k8s.io/jobset")]}
    report = run.report({**files, "job.yaml": [job(pods=1)]})

    assert "USH405" in {each.judgement.code for result in report.results for each in result.findings}
    assert report.facts_of_files == {"ClusterQueue": 1, "ConfigMap": 1, "LocalQueue": 1}
    other = run.report({"other.yaml": [kueue_configuration("batch/job", name="other")], "job.yaml": [job(pods=1)]})
    assert other.facts_of_files == {}


def test_a_topology_in_the_files_lacks_the_level_that_pods_ask_for(run: Run) -> None:
    flavor: paths.Object = {
        "apiVersion": "kueue.x-k8s.io/v1beta1",
        "kind": "ResourceFlavor",
        "metadata": {"name": "a100"},
        "spec": {"topologyName": "racks", "nodeLabels": {"gpu": "a100"}},
    }
    topology: paths.Object = {
        "apiVersion": "kueue.x-k8s.io/v1beta1",
        "kind": "Topology",
        "metadata": {"name": "racks"},
        "spec": {"levels": [{"nodeLabel": "example.com/rack"}]},
    }
    value = job(pods=1)
    key = "kueue.x-k8s.io/podset-required-topology"
    value["spec"]["template"]["metadata"] = {"annotations": {key: "example.com/block"}}  # type: ignore[call-overload,index]
    report = run.report({"queues.yaml": [CAPACITY, QUEUE, flavor, topology], "job.yaml": [value]})

    assert "USH438" in {each.judgement.code for result in report.results for each in result.findings}


def test_a_cohort_with_several_queues_in_the_files_gives_no_more_than_their_sum(run: Run) -> None:
    cohort = [queues.cluster_queue(name, queues.gpu_group(16), cohort="all") for name in ("research", "other")]
    assert run.codes({"all.yaml": [*cohort, QUEUE, job(pods=8)]}) == {("USH435", "deny")}
    assert run.codes({"all.yaml": [*cohort, QUEUE, job(pods=4)]}) == set()


def test_a_queue_in_the_files_that_the_named_one_is_a_slip_for_is_a_warning(run: Run) -> None:
    report = run.report({"all.yaml": [CAPACITY, queues.local_queue("taem", "research"), job(pods=2)]})
    (found,) = [each for result in report.results for each in result.findings if each.judgement.code == "USH430"]
    assert found.judgement.outcome.value == "warn"
    assert found.judgement.finding.message == "LocalQueue team is not in these files, which have taem"
    assert found.judgement.finding.remedy == "did you mean taem?"


def test_a_queue_of_another_namespace_is_a_warning_if_the_object_names_its_own(run: Run) -> None:
    elsewhere = queues.local_queue("team", "research", namespace="other")
    own, open_ = job(pods=2), job(pods=2)
    open_["metadata"] = {key: each for key, each in paths.metadata(open_).items() if key != "namespace"}
    report = run.report({"all.yaml": [CAPACITY, elsewhere, own, open_]})

    (found,) = [each for result in report.results for each in result.findings if each.judgement.code == "USH430"]
    text = "LocalQueue team is in namespace other, and not in that of the workload"
    assert (found.judgement.outcome.value, found.judgement.finding.message) == ("warn", text)


def test_a_queue_of_volcano_that_the_named_one_is_a_slip_for_is_a_warning(run: Run) -> None:
    queue: paths.Object = {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": "research"},
        "spec": {},
    }
    task: paths.Object = {"name": "w", "replicas": 1, "template": builders.template(builders.container(gpus=1))}
    spec: paths.Object = {"queue": "reserach", "tasks": [task]}
    report = run.report({"all.yaml": [queue, builders.custom("batch.volcano.sh/v1alpha1", "Job", spec)]})

    remedies = {each.judgement.finding.remedy for result in report.results for each in result.findings}
    assert "did you mean research?" in remedies


@pytest.mark.parametrize("name", ["other", "team-2", "train", "teams-b"])
def test_a_queue_with_another_name_may_be_one_of_the_cluster(run: Run, name: str) -> None:
    assert run.codes({"all.yaml": [CAPACITY, queues.local_queue(name, "research"), job(pods=2)]}) == set()


_NODE_POOL: Any = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodePool",
    "metadata": {"name": "gpu"},
    "spec": {
        "template": {
            "spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "gpu"},
                "requirements": [
                    {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["g5.2xlarge"]},
                ],
            }
        }
    },
}
_AGENT = builders.daemon_set(
    builders.template(builders.container(requests={"cpu": "1"})), name="agent", namespace="logging"
)


def _too_small(run: Run, files: dict[str, list[paths.Object]]) -> list[str]:
    report = run.report(files)
    return [
        each.judgement.finding.message
        for result in report.results
        for each in result.findings
        if each.judgement.code == "USH340"
    ]


def test_daemon_sets_of_the_files_count_on_the_nodes_of_their_pools(run: Run) -> None:
    pod = builders.pod(
        builders.container(gpus=1, requests={"cpu": "7500m"}), nodeSelector={"karpenter.sh/nodepool": "gpu"}
    )

    assert _too_small(run, {"pools.yaml": [_NODE_POOL], "pod.yaml": [pod]}) == []
    (found,) = _too_small(run, {"pools.yaml": [_NODE_POOL], "agent.yaml": [_AGENT], "pod.yaml": [pod]})
    assert "one node has at most 6910m beside its DaemonSets, which take 1 (logging/agent)" in found


def test_daemon_sets_of_alternatives_do_not_count(run: Run) -> None:
    pod = builders.pod(
        builders.container(gpus=1, requests={"cpu": "7500m"}), nodeSelector={"karpenter.sh/nodepool": "gpu"}
    )
    files = {"a/pools.yaml": [_NODE_POOL], "a/pod.yaml": [pod], "b/one/agent.yaml": [_AGENT]}

    assert _too_small(run, {**files, "b/two/agent.yaml": [_AGENT]}) == []
