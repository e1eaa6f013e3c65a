"""The facts about a whole object: its kind, name, role and owner, and whether it is being deleted."""

import pytest

import builders
from unit.workloads.normalised import VOCABULARY, readable_workload, unknowns, workload
from usher import model, paths
from usher.config.sections import ROLE_LABEL
from usher.workloads.normalise import normalise


@pytest.mark.parametrize(
    ("value", "group", "version", "kind"),
    [
        (builders.pod(), "", "v1", "Pod"),
        (builders.deployment(), "apps", "v1", "Deployment"),
        (builders.stateful_set(), "apps", "v1", "StatefulSet"),
        (builders.replica_set(), "apps", "v1", "ReplicaSet"),
        (builders.daemon_set(), "apps", "v1", "DaemonSet"),
        (builders.job(), "batch", "v1", "Job"),
        (builders.cron_job(), "batch", "v1", "CronJob"),
        (builders.pytorch_job(), "kubeflow.org", "v1", "PyTorchJob"),
        (builders.mpi_job(), "kubeflow.org", "v2beta1", "MPIJob"),
        (builders.job_set(), "jobset.x-k8s.io", "v1alpha2", "JobSet"),
        (builders.ray_cluster(), "ray.io", "v1", "RayCluster"),
        (builders.ray_job(), "ray.io", "v1", "RayJob"),
        (builders.volcano_job(), "batch.volcano.sh", "v1alpha1", "Job"),
    ],
    ids=lambda value: str(value["kind"]) if isinstance(value, dict) else "",
)
def test_a_known_kind_is_recognised_by_group_version_and_kind(
    value: paths.Object, group: str, version: str, kind: str
) -> None:
    found = readable_workload(value)

    assert (found.group, found.version, found.kind) == (group, version, kind)
    assert found.pod_sets


def test_jobs_of_different_groups_are_different_kinds() -> None:
    tasks_in_a_batch_job = builders.replaced(builders.volcano_job(), "/apiVersion", "batch/v1")

    assert [found.path for found in readable_workload(builders.job()).pod_sets] == ["/spec/template"]
    assert [found.path for found in readable_workload(builders.volcano_job()).pod_sets] == ["/spec/tasks/0/template"]
    assert [found.path for found in workload(tasks_in_a_batch_job).pod_sets] == ["/spec/template"]


@pytest.mark.parametrize(
    ("value", "api_version", "path", "reason"),
    [
        (
            builders.mpi_job(),
            "kubeflow.org/v2",
            "/spec/mpiReplicaSpecs/Launcher/template/spec",
            "MPIJob is known in v2beta1 and v1, not in v2: not judged",
        ),
        (
            builders.deployment(),
            "apps/v1beta1",
            "/spec/template/spec",
            "Deployment is known in v1, not in v1beta1: not judged",
        ),
        (
            builders.deployment(),
            "extensions/v1beta1",
            "/spec/template/spec",
            "unrecognised kind Deployment (extensions/v1beta1) holds a pod spec, which is not judged",
        ),
        (
            builders.ray_cluster(),
            "ray.io/v2",
            "/spec/headGroupSpec/template/spec",
            "RayCluster is known in v1 and v1alpha1, not in v2: not judged",
        ),
        (
            builders.pod(),
            "v2",
            "/spec",
            "Pod is known in v1, not in v2: not judged",
        ),
        (
            builders.pod(),
            "",
            "/spec",
            "Pod is known in v1, not without a version: not judged",
        ),
        (
            builders.job(),
            "batch",
            "/spec/template/spec",
            "unrecognised kind Job (batch) holds a pod spec, which is not judged",
        ),
    ],
)
def test_a_version_that_is_not_known_is_named_and_not_judged(
    value: paths.Object, api_version: str, path: str, reason: str
) -> None:
    other = builders.replaced(value, "/apiVersion", api_version)

    assert unknowns(other) == [(path, reason)]
    assert workload(other).pod_sets == ()


def test_a_known_kind_in_an_unknown_version_is_named_even_where_no_pod_spec_is_found() -> None:
    value = builders.custom("kubeflow.org/v2", "MPIJob", {"template": "inline"})

    assert unknowns(value) == [("/apiVersion", "MPIJob is known in v2beta1 and v1, not in v2: not judged")]
    assert unknowns({"kind": "Pod"}) == [("", "Pod is known in v1, not without a version: not judged")]


DESCRIBE = "describe it under workloads: of usher.yaml to have counts"


def test_an_unknown_kind_is_judged_by_its_pod_templates() -> None:
    inline = builders.pod_spec(builders.container(gpus=8))
    value = builders.custom("example.com/v1", "Model", {"predictor": inline, "transformer": inline}, name="llm")
    found = workload(value)

    assert unknowns(value) == [
        (
            "/spec/predictor",
            f"unrecognised kind Model (example.com/v1): judged by its 2 pod templates; {DESCRIBE}",
        )
    ]
    assert (found.kind, found.name, found.namespace) == ("Model", "llm", "ml-research")
    assert [(each.name, each.path, each.count.minimum, each.count.maximum) for each in found.pod_sets] == [
        ("predictor", "/spec/predictor", 1, None),
        ("transformer", "/spec/transformer", 1, None),
    ]
    assert not found.gang.wanted
    assert not any(each.changeable or each.fully_known for each in found.pod_sets)


@pytest.mark.parametrize(
    ("api_version", "kind", "container"),
    [
        ("example.com/v1", "Rule", {"name": "*", "image": "!*:latest"}),
        ("example.com/v1", "Patch", {"name": "main", "image": ""}),
        ("example.com/v1", "Patch", {"image": "a:1"}),
        ("example.com/v1", "Generator", {"name": "main", "image": "{{ image }}"}),
        ("kyverno.io/v1", "ClusterPolicy", {"name": "main", "image": "a:1"}),
        ("constraints.gatekeeper.sh/v1beta1", "K8sImages", {"name": "main", "image": "a:1"}),
        ("v1", "Values", {"name": "main", "image": "a:1"}),
    ],
)
def test_patterns_and_patches_of_pod_specs_are_named_and_not_judged(
    api_version: str, kind: str, container: paths.Object
) -> None:
    found = workload(builders.custom(api_version, kind, {"match": {"spec": {"containers": [container]}}}))

    assert found.pod_sets == ()
    assert [each.reason.rpartition(" ")[0] for each in found.unknowns] == [
        f"unrecognised kind {kind} ({api_version}) holds a pod spec, which is not"
    ]


def test_templates_of_an_unknown_kind_are_named_by_their_entries() -> None:
    held: paths.Object = {"spec": builders.pod_spec(builders.container(gpus=1))}
    roles: paths.Object = {
        "roles": [{"name": "decode", "template": held}],
        "router": {"podTemplate": held},
        "template": held,
    }
    found = workload(builders.custom("example.com/v1", "Graph", roles))

    assert [(each.name, each.path) for each in found.pod_sets] == [
        ("decode", "/spec/roles/0/template"),
        ("router", "/spec/router/podTemplate"),
        ("", "/spec/template"),
    ]


@pytest.mark.parametrize(
    ("api_version", "kind", "name"),
    [
        (None, "Pod", "Pod (no apiVersion)"),
        ("v1", None, "object without kind (v1)"),
        (5, [], "object without kind (no apiVersion)"),
    ],
)
def test_an_object_without_a_proper_kind_is_named_too(api_version: paths.Json, kind: paths.Json, name: str) -> None:
    value = builders.replaced(builders.replaced(builders.pod(), "/apiVersion", api_version), "/kind", kind)

    (found,) = workload(value).unknowns

    assert found.path == "/spec"
    assert "not judged" in found.reason
    assert name in found.reason or "known in" in found.reason


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"apiVersion": "v1", "kind": "Secret", "stringData": {"containers": "none"}},
        {"apiVersion": "v1", "kind": "Service", "spec": {"ports": [{"port": 80}]}},
        {"apiVersion": "example.com/v1", "kind": "Example", "spec": {"containers": []}},
        {"apiVersion": "example.com/v1", "kind": "Example", "spec": {"containers": ["a", 1, None]}},
        {"apiVersion": "metrics.k8s.io/v1beta1", "kind": "PodMetrics", "containers": [{"name": "a", "usage": {}}]},
    ],
)
def test_an_object_that_makes_no_pods_is_not_a_workload(value: paths.Object) -> None:
    assert normalise(value, vocabulary=VOCABULARY) is None


def test_a_name_may_be_only_its_prefix() -> None:
    assert readable_workload(builders.pod(name="bert")).name == "bert"
    assert readable_workload(builders.job(generate_name="bert-")).name == "bert-*"
    assert readable_workload(builders.job(name="bert", generate_name="bert-")).name == "bert"
    assert readable_workload(builders.job(name=None)).name == ""


def test_the_namespace_is_the_objects_own_or_else_the_one_to_assume() -> None:
    assert workload(builders.job(namespace="a"), namespace="b").namespace == "a"
    assert workload(builders.job(namespace=None), namespace="b").namespace == "b"
    assert workload(builders.job(namespace=None)).namespace == ""
    assert workload(builders.custom("x/v1", "X", builders.pod_spec(), namespace=None), namespace="b").namespace == "b"


def test_a_label_says_what_a_workload_is_for() -> None:
    assert readable_workload(builders.job(labels={ROLE_LABEL: "inference"})).role is model.Role.INFERENCE
    assert readable_workload(builders.pod(labels={ROLE_LABEL: "interactive"})).role is model.Role.INTERACTIVE
    assert readable_workload(builders.job(labels={ROLE_LABEL: "unknown"})).role is model.Role.UNKNOWN
    assert readable_workload(builders.job(labels={"role": "inference"})).role is model.Role.BATCH


def test_an_invalid_role_is_reported_and_the_role_of_the_kind_is_used() -> None:
    value = builders.job(labels={ROLE_LABEL: "infernce"})

    assert unknowns(value) == [
        (
            "/metadata/labels/gpu-usher.io~1role",
            "unknown role; usher has training, inference, batch, interactive, service, system, unknown",
        )
    ]
    assert workload(value).role is model.Role.BATCH


def test_the_controlling_owner_is_the_owner() -> None:
    def owned_by(*owners: paths.Object) -> str:
        pod = builders.replaced(builders.pod(), "/metadata/ownerReferences", list(owners))
        owner = readable_workload(pod).owner
        return owner.kind if owner else ""

    assert owned_by() == ""
    assert owned_by({"kind": "Job", "controller": True}) == "Job"
    assert owned_by({"kind": "Queue", "controller": False}, {"kind": "Job", "controller": True}) == "Job"
    assert owned_by({"kind": "Queue"}) == ""
    assert readable_workload(builders.job(owner_kind="JobSet")).owner == model.Owner(
        group="example.com", kind="JobSet", name="owner"
    )


def test_an_object_with_a_time_of_deletion_is_being_deleted() -> None:
    assert readable_workload(builders.job(deletion_timestamp="2026-09-29T10:00:00Z")).deleting
    assert not readable_workload(builders.job()).deleting
    assert not workload(builders.replaced(builders.job(), "/metadata/deletionTimestamp", 5)).deleting


def test_labels_and_annotations_of_the_object_are_not_those_of_its_pods() -> None:
    template = builders.template(labels={"app": "pod"}, annotations={"note": "pod"})
    found = readable_workload(builders.job(template, labels={"app": "job"}, annotations={"note": "job"}))

    assert (found.labels, found.annotations) == ({"app": "job"}, {"note": "job"})
    assert (found.pod_sets[0].labels, found.pod_sets[0].annotations) == ({"app": "pod"}, {"note": "pod"})


def test_null_is_the_empty_string_in_labels_as_it_is_to_the_api_server() -> None:
    found = readable_workload(builders.replaced(builders.pod(nodeSelector={"a": "b"}), "/spec/nodeSelector/a", None))

    assert found.pod_sets[0].node_selector == {"a": ""}


@pytest.mark.parametrize("replicas", [-1, 10_000_001, 2**31, 10**5000], ids=["-1", "10M+1", "2**31", "10**5000"])
def test_a_number_of_pods_that_cannot_be_is_unknown(replicas: int) -> None:
    value = builders.replaced(builders.stateful_set(), "/spec/replicas", replicas)

    assert unknowns(value) == [("/spec/replicas", "expected a number of pods from 0 to 10000000")]


def test_a_place_that_is_read_twice_is_unknown_once() -> None:
    assert unknowns(builders.replaced(builders.pytorch_job(), "/spec", "x")) == [
        ("/spec", "expected an object, found a string")
    ]


@pytest.mark.parametrize(
    ("value", "path", "kind"),
    [
        (
            builders.custom("apps/v1", "Deployment", {"podTemplate": builders.template()}),
            "/spec/podTemplate/spec",
            "Deployment",
        ),
        (builders.custom("apps/v1", "Deployment", {"template": builders.pod_spec()}), "/spec/template", "Deployment"),
        (
            builders.custom("kubeflow.org/v1", "PyTorchJob", {"pytorchReplicaSpecs": {"Worker": builders.template()}}),
            "/spec/pytorchReplicaSpecs/Worker/spec",
            "PyTorchJob",
        ),
        (builders.custom("batch/v1", "Job", builders.template()), "/spec/spec", "Job"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_pod_spec_under_a_wrong_key_is_named_and_not_judged(value: paths.Object, path: str, kind: str) -> None:
    assert unknowns(value) == [(path, f"{kind} has no pod spec here, so it is not judged")]


def test_a_pod_spec_inside_a_template_is_not_misplaced() -> None:
    nested = builders.replaced(
        builders.deployment(), "/spec/template/spec", {"containers": [], "other": builders.pod_spec()}
    )

    assert unknowns(nested) == []


def namespace_of(value: paths.Object) -> str:
    found = normalise(value, vocabulary=VOCABULARY, namespace="asked-in")
    assert found is not None
    return found.namespace


def test_a_namespace_is_judged_by_its_own_name() -> None:
    assert namespace_of(builders.custom("v1", "Namespace", {}, name="ml-research", namespace=None)) == "ml-research"


@pytest.mark.parametrize(
    ("api_version", "kind", "namespace"),
    [
        ("v1", "ResourceQuota", "asked-in"),
        ("v1", "Node", ""),
        ("scheduling.k8s.io/v1", "PriorityClass", ""),
        ("kueue.x-k8s.io/v1beta2", "ClusterQueue", ""),
    ],
)
def test_a_cluster_scoped_object_is_judged_without_a_namespace(api_version: str, kind: str, namespace: str) -> None:
    assert namespace_of(builders.custom(api_version, kind, {}, name="one", namespace=None)) == namespace


def test_a_version_that_is_not_known_is_not_judged() -> None:
    found = normalise(builders.custom("kueue.x-k8s.io/v9", "ClusterQueue", {}), vocabulary=VOCABULARY)

    assert found is not None
    assert found.view == {}
    assert [unknown.path for unknown in found.unknowns] == ["/apiVersion"]
