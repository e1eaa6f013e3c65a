"""usher follows the version of Kueue; each test names the place in Kueue's sources."""

import pytest

import builders
from builders import container, template
from builders.queues import cluster_queue, configuration, flavor, gpu_group, group, quota, topology
from unit.authorities.kueue.judging import A100, RACK, job, judged, placed
from usher import paths
from usher.authorities.kueue import flavors as kueue_configuration
from usher.authorities.kueue.flavor_fit import LABELS_BY_VERSION
from usher.authorities.kueue.flavors import Version
from usher.authorities.verdict import Answer
from usher.cluster.facts.store import Store

LABEL = "app.kubernetes.io/version"


def kueue(version: str | None, text: str = "integrations: {frameworks: [batch/job]}") -> paths.Object:
    """Kueue's ConfigMap, as the Helm chart of a version writes it; None for plain manifests."""
    found = configuration(text)
    return found if version is None else builders.replaced(found, "/metadata/labels", {LABEL: version})


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("v0.18.2", Version(0, 18, 2)),
        ("0.19.0-rc.0", Version(0, 19, 0)),
        ("v0.18.2 or so", None),
        ("main", None),
        ("v0." + "9" * 40 + ".1", None),
        ("", None),
    ],
)
def test_a_version_is_read_or_unknown(text: str, version: Version | None) -> None:
    assert kueue_configuration.parse_version(text) == version


def test_the_version_comes_from_the_configuration_or_from_the_definition() -> None:
    """KQ:charts/kueue/templates/_helpers.tpl:56."""
    definition: paths.Object = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "workloads.kueue.x-k8s.io", "labels": {LABEL: "v0.17.1"}},
    }

    assert kueue_configuration.version_of_cluster(Store.of([kueue("v0.18.3"), definition])) == Version(0, 18, 3)
    assert kueue_configuration.version_of_cluster(Store.of([kueue(None), definition])) == Version(0, 17, 1)
    assert kueue_configuration.version_of_cluster(Store.of([kueue("devel")])) is None
    assert kueue_configuration.version_of_cluster(Store.of([])) is None


@pytest.mark.parametrize(
    ("version", "answers"),
    [
        ("v0.16.0", {8: Answer.COULD, 9: Answer.NEVER}),
        ("v0.17.6", {8: Answer.COULD, 9: Answer.NEVER}),
        ("v0.18.0", {10: Answer.COULD, 11: Answer.NEVER}),
        ("v0.19.2", {18: Answer.COULD, 19: Answer.NEVER}),
        ("v0.20.0-devel", {18: Answer.COULD, 19: Answer.UNKNOWN}),
        (None, {8: Answer.COULD, 9: Answer.UNKNOWN, 19: Answer.UNKNOWN}),
    ],
)
def test_a_workload_has_a_bounded_number_of_pod_sets(version: str | None, answers: dict[int, Answer]) -> None:
    """MaxItems of spec.podSets: KQ:apis/kueue/v1beta2/workload_types.go:36 at v0.17.0, v0.18.0 and v0.19.0."""
    for pod_sets, answer in answers.items():
        parts = [builders.replicated_job(f"part-{index}", template(container(gpus=1))) for index in range(pod_sets)]

        verdict = judged(builders.job_set(*parts), cluster_queue("research", gpu_group(64)), A100, kueue(version))

        assert (pod_sets, verdict.answer) == (pod_sets, answer)
        assert (verdict.pod_set_limit is not None) == (answer is Answer.NEVER)
        if answer is Answer.UNKNOWN:
            assert verdict.unknowns == (f"it has {pod_sets} pod sets, and {kueue_configuration.POD_SET_LIMITS}",)


def test_pods_of_a_deployment_are_workloads_of_their_own() -> None:
    value = builders.deployment(template(container(gpus=1)), replicas=40)

    assert judged(value, cluster_queue("research", gpu_group(8)), A100, kueue("v0.17.0")).answer is Answer.COULD


@pytest.mark.parametrize(("version", "answer"), [("v0.15.8", Answer.NEVER), ("v0.16.0", Answer.COULD)])
def test_a_request_of_zero_that_no_group_covers(version: str, answer: Answer) -> None:
    """KQ:pkg/scheduler/flavorassigner/flavorassigner.go:615 at v0.16.0."""
    value = builders.job(template(container(gpus=1, requests={"memory": 0})))

    assert judged(value, cluster_queue("research", gpu_group(8)), A100, kueue(version)).answer is answer


class TestLabelsOfOtherFlavors:
    """KQ:pkg/scheduler/flavorassigner/flavorassigner.go:733 at v0.16.0, 936 at v0.17.6, 833 at v0.18.0."""

    FACTS = (flavor("a100", labels={"pool": "a100"}), flavor("h100", labels={"board": "h100"}))
    SELECTING = job(spec={"nodeSelector": {"board": "h100"}})

    @staticmethod
    def queue(a100: int, h100: int) -> paths.Object:
        return cluster_queue("research", group(("a100", [quota(a100)]), ("h100", [quota(h100)])))

    @pytest.mark.parametrize(
        ("version", "answer"),
        [
            ("v0.16.0", Answer.NEVER),
            ("v0.17.5", Answer.NEVER),
            ("v0.17.6", Answer.COULD),
            ("v0.18.1", Answer.NEVER),
            ("v0.18.2", Answer.COULD),
            ("v0.19.0", Answer.COULD),
            (None, Answer.UNKNOWN),
        ],
    )
    def test_a_flavor_without_the_label_takes_the_pods_or_not(self, version: str | None, answer: Answer) -> None:
        verdict = judged(self.SELECTING, self.queue(8, 0), *self.FACTS, kueue(version))

        assert verdict.answer is answer
        assert (LABELS_BY_VERSION in verdict.unknowns) == (answer is Answer.UNKNOWN)

    def test_the_reason_names_the_label_that_the_flavor_does_not_declare(self) -> None:
        only = cluster_queue("research", group(("a100", [quota(8)]), ("h100", [quota(8)])))
        value = job(spec={"nodeSelector": {"board": "h100", "pool": "a100"}})

        verdict = judged(value, only, *self.FACTS, kueue("v0.17.0"))

        assert [each.reason for each in verdict.unmatched[0].refusals] == [
            "it does not declare label board",
            "it does not declare label pool",
        ]

    def test_where_the_flavor_with_the_label_has_room_the_version_does_not_matter(self) -> None:
        assert judged(self.SELECTING, self.queue(0, 8), *self.FACTS, kueue(None)).answer is Answer.COULD
        verdict = judged(self.SELECTING, self.queue(8, 8), *self.FACTS, kueue(None))
        assert (verdict.answer, verdict.takes_all) == (Answer.COULD, False)


@pytest.mark.parametrize(
    ("version", "gates", "answer"),
    [
        ("v0.13.0", "", Answer.COULD),
        ("v0.13.0", "featureGates: {TopologyAwareScheduling: true}", Answer.NEVER),
        ("v0.14.0", "", Answer.NEVER),
        ("v0.19.0", "featureGates: {TopologyAwareScheduling: false}", Answer.COULD),
        (None, "", Answer.NEVER),
    ],
)
def test_levels_count_where_kueue_places_pods_by_topology(version: str | None, gates: str, answer: Answer) -> None:
    """KQ:pkg/features/kube_features.go:645."""
    facts = (cluster_queue("research", gpu_group(8)), flavor("a100", topologyName="racks"), topology("racks", RACK))
    text = f"integrations: {{frameworks: [batch/job]}}\n{gates}"

    assert judged(placed("no-such-level"), *facts, kueue(version, text)).answer is answer
