"""usher counts as Kueue does, where it once counted differently; each test names the place in Kueue's sources."""

import pytest

import builders
from builders import GPU, container, template
from builders.queues import cluster_queue, configuration, flavor, gpu_group, group, quota, topology
from unit.authorities.kueue.judging import A100, RACK, REQUIRED, TAINTED, judged
from usher import paths
from usher.authorities.verdict import Answer

CPU = group(("small", [quota(64, resource="cpu")]))


def of(requests: dict[str, builders.JsonValue], **spec: builders.JsonValue) -> paths.Object:
    return builders.job(template(container(requests=requests), **spec), namespace="research")  # type: ignore[arg-type]  # fields of pods


class TestARequestOfZero:
    """KQ:pkg/scheduler/flavorassigner/flavorassigner.go:806-817: only resources that no group covers are skipped."""

    def test_it_still_needs_a_flavor_where_the_queue_covers_the_resource(self) -> None:
        queue = cluster_queue("research", gpu_group(8), CPU)
        value = of({"cpu": 1, GPU: 0})

        verdict = judged(value, queue, flavor("a100", nodeTaints=TAINTED), flavor("small"))

        assert verdict.answer is Answer.NEVER
        assert [(each.pods.pods, each.resources) for each in verdict.unmatched] == [(1, (GPU,))]

    def test_it_needs_no_flavor_where_no_group_covers_the_resource(self) -> None:
        assert judged(of({"cpu": 1, GPU: 0}), cluster_queue("research", CPU), flavor("small")).answer is Answer.COULD

    def test_a_pod_set_without_pods_needs_a_flavor_as_well(self) -> None:
        """KQ:pkg/workload/workload.go:717 multiplies the requests of one pod by 0, and keeps their names."""
        queue = cluster_queue("research", gpu_group(8), CPU)
        facts = (queue, flavor("a100", nodeTaints=TAINTED), flavor("small"))
        head = template(container(requests={"cpu": 1}))
        value = builders.pytorch_job(template(container(gpus=8)), workers=0, master=head)

        assert judged(value, *facts).answer is Answer.NEVER
        alone = builders.replaced(value, "/spec/pytorchReplicaSpecs", {"Master": {"template": head}})
        assert judged(alone, *facts).answer is Answer.COULD


def test_pod_sets_without_pods_count_only_for_kinds_where_kueue_keeps_them() -> None:
    queue = cluster_queue("research", gpu_group(8), CPU)
    spec: paths.Object = {
        "driver": {"cores": 1},
        "executor": {"gpu": {"name": GPU, "quantity": 1}},
        "dynamicAllocation": {"enabled": True, "minExecutors": 0, "maxExecutors": 4},
    }
    spark = builders.custom("sparkoperator.k8s.io/v1beta2", "SparkApplication", spec)
    lenient = configuration("resources: {quotaCheckStrategy: IgnoreUndeclared}")

    verdict = judged(spark, queue, flavor("a100", nodeTaints=TAINTED), flavor("small"), lenient)

    assert verdict.answer is not Answer.NEVER


def test_a_replicated_job_without_replicas_gets_one_when_kueue_starts_the_job_set() -> None:
    """KQ:pkg/controller/jobframework/reconciler.go:1513 writes the list back without zeros, and
    JS:api/jobset/v1alpha2/jobset_types.go:334 sets missing replicas to 1.
    """
    parts = [
        builders.replicated_job("driver", template(container(gpus=8))),
        builders.replicated_job("extra", template(container(gpus=8)), replicas=0),
    ]
    facts = (cluster_queue("research", gpu_group(8)), A100)

    verdict = judged(builders.job_set(*parts), *facts)

    assert verdict.answer is Answer.UNKNOWN
    (reason,) = verdict.unknowns
    assert reason.startswith("replicated job extra has no pods, but if its replicas are 0, it gets 1 replica")
    assert judged(builders.job_set(parts[0]), *facts).answer is Answer.COULD
    too_large = builders.replicated_job("driver", template(container(gpus=9)))
    assert judged(builders.job_set(too_large, parts[1]), *facts).answer is Answer.NEVER


def runtime_class(name: str, *, cpu: str | int) -> paths.Object:
    return {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": name},
        "handler": name,
        "overhead": {"podFixed": {"cpu": cpu}},
    }


class TestTheOverheadOfARuntimeClass:
    """KQ:pkg/workload/resources.go:57-73."""

    QUEUE = cluster_queue("research", group(("small", [quota(2, resource="cpu")])))

    @pytest.mark.parametrize(("overhead", "answer"), [(1, Answer.COULD), ("1001m", Answer.NEVER)])
    def test_it_counts_for_every_pod(self, overhead: str | int, answer: Answer) -> None:
        value = of({"cpu": 1}, runtimeClassName="kata")

        assert judged(value, self.QUEUE, flavor("small"), runtime_class("kata", cpu=overhead)).answer is answer

    def test_a_pod_that_states_its_overhead_keeps_it(self) -> None:
        value = of({"cpu": 1}, runtimeClassName="kata", overhead={"cpu": 1})

        assert judged(value, self.QUEUE, flavor("small"), runtime_class("kata", cpu=2)).answer is Answer.COULD

    def test_a_class_that_does_not_exist_adds_nothing(self) -> None:
        value = of({"cpu": 2}, runtimeClassName="runc")

        assert judged(value, self.QUEUE, flavor("small"), runtime_class("kata", cpu=2)).answer is Answer.COULD

    def test_an_overhead_that_cannot_be_read_is_unknown(self) -> None:
        value = of({"cpu": 1}, runtimeClassName="kata")

        verdict = judged(value, self.QUEUE, flavor("small"), runtime_class("kata", cpu="some"))

        assert verdict.answer is Answer.UNKNOWN
        assert verdict.unknowns[0].startswith("RuntimeClass kata: overhead.podFixed")


def limit_range(name: str = "defaults", **item: paths.Object | str) -> paths.Object:
    container: paths.Object = {"type": "Container", **item}
    return {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": name, "namespace": "research"},
        "spec": {"limits": [container]},
    }


class TestDefaultsOfLimitRanges:
    """KQ:pkg/workload/resources.go:75-153."""

    FACTS = (
        cluster_queue("research", gpu_group(8), group(("small", [quota(4, resource="cpu")]))),
        A100,
        flavor("small"),
    )

    @pytest.mark.parametrize(
        ("field", "cpu", "answer"),
        [
            ("defaultRequest", 4, Answer.COULD),
            ("defaultRequest", 5, Answer.NEVER),
            ("default", 4, Answer.COULD),
            ("default", 5, Answer.NEVER),
        ],
    )
    def test_they_count_where_a_container_has_no_request(self, field: str, cpu: int, answer: Answer) -> None:
        ranges = builders.replaced(limit_range(), f"/spec/limits/0/{field}", {"cpu": cpu})

        assert judged(of({GPU: 1}), *self.FACTS, ranges).answer is answer

    def test_the_request_of_a_container_counts_alone(self) -> None:
        assert judged(of({GPU: 1, "cpu": 4}), *self.FACTS, limit_range(default={"cpu": 5})).answer is Answer.COULD

    def test_a_default_request_comes_before_the_limit_of_the_container(self) -> None:
        value = builders.job(template(container(limits={"cpu": 5, GPU: 1})), namespace="research")

        assert judged(value, *self.FACTS).answer is Answer.NEVER
        assert judged(value, *self.FACTS, limit_range(defaultRequest={"cpu": 4})).answer is Answer.COULD

    def test_a_default_of_a_resource_that_the_queue_does_not_cover_is_never_given(self) -> None:
        verdict = judged(of({GPU: 1}), *self.FACTS, limit_range(defaultRequest={"memory": "1Gi"}))

        assert (verdict.answer, verdict.uncovered) == (Answer.NEVER, ("memory",))

    def test_defaults_that_differ_are_unknown(self) -> None:
        """Kueue takes the first in an order that nobody sees (KQ:pkg/util/limitrange/limitrange.go:38)."""
        ranges = [limit_range(name, defaultRequest={"cpu": cpu}) for name, cpu in (("a", 1), ("b", 5))]

        verdict = judged(of({GPU: 1}), *self.FACTS, *ranges)

        assert (verdict.answer, verdict.unknowns) == (
            Answer.UNKNOWN,
            ("several LimitRanges set different defaults for cpu",),
        )
        assert judged(of({GPU: 1, "cpu": 1}), *self.FACTS, *ranges).answer is Answer.COULD

    def test_ranges_that_cannot_be_read_leave_it_open(self) -> None:
        broken = limit_range(default={"cpu": "many"})

        assert judged(of({GPU: 1}), *self.FACTS, broken).answer is Answer.UNKNOWN
        assert judged(of({GPU: 9}), *self.FACTS, broken).answer is Answer.NEVER


def test_a_flavor_without_a_topology_may_give_what_a_transformation_makes() -> None:
    """KQ:pkg/scheduler/flavorassigner/tas_flavorassigner.go:208 compares with the requests of the pod itself."""
    mig = "nvidia.com/mig-1g.10gb"
    counted = configuration(f"""
      integrations: {{frameworks: [batch/job]}}
      resources:
        transformations:
        - {{input: {mig}, strategy: Retain, outputs: {{example.com/memory: 10}}}}
    """)
    queue = cluster_queue(
        "research",
        group(("a100", [quota(8, resource=mig)])),
        group(("credits", [quota(80, resource="example.com/memory")])),
    )
    value = builders.job(template(container(limits={mig: 1}), annotations={REQUIRED: RACK}))

    facts = (queue, flavor("a100", topologyName="racks"), flavor("credits"), topology("racks", RACK), counted)
    assert judged(value, *facts).answer is Answer.COULD
