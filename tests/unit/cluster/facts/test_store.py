"""The objects of a cluster that a store holds, and those that are certainly missing."""

from hypothesis import given
from hypothesis import strategies as st

import builders
from builders import queues
from usher import paths
from usher.cluster.facts.store import Store
from usher.kinds import kind as kinds_kind
from usher.kinds import registry
from usher.kinds.reading.values import Absence, Reference

KUEUE = "kueue.x-k8s.io"
LOCAL_QUEUE = (KUEUE, "LocalQueue")


def queue(name: str, *, namespace: str = "ml", to: str = "big") -> paths.Object:
    return queues.local_queue(name, to, namespace=namespace)


def node(name: str) -> paths.Object:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}


def reference(name: str, *, namespace: str = "ml", kind: str = "LocalQueue") -> Reference:
    return Reference(group=KUEUE, kind=kind, name=name, namespace=namespace)


def test_nothing_is_known_at_first() -> None:
    store = Store()

    assert store.empty
    assert store.find(reference("research")) is Absence.NOT_KNOWN
    assert store.objects(*LOCAL_QUEUE, "ml") is Absence.NOT_KNOWN


def test_objects_are_listed_by_namespace() -> None:
    store = Store.of([queue("a"), queue("b"), queue("a", namespace="web")])

    assert store.objects(*LOCAL_QUEUE, "ml") == {"a": queue("a"), "b": queue("b")}
    assert store.objects(*LOCAL_QUEUE, "web") == {"a": queue("a", namespace="web")}
    assert store.objects(*LOCAL_QUEUE, "other") == {}


def test_objects_of_one_name_in_two_namespaces_are_two() -> None:
    store = Store.of([queue("a"), queue("a", namespace="web")])

    assert sorted(store.everywhere(*LOCAL_QUEUE)) == ["ml/a", "web/a"]


def test_a_kind_that_the_cluster_does_not_have_has_no_objects() -> None:
    store = Store()
    store.lacks(LOCAL_QUEUE)

    assert not store.empty
    assert store.knows(*LOCAL_QUEUE)
    assert store.objects(*LOCAL_QUEUE, "ml") is Absence.MISSING
    assert store.find(reference("research")) is Absence.MISSING


def test_a_kind_that_is_installed_later_is_known_from_then_on() -> None:
    store = Store()
    store.lacks(LOCAL_QUEUE)
    store.replace(LOCAL_QUEUE, [queue("a")])

    assert store.find(reference("a")) == queue("a")


def test_a_cluster_scoped_object_is_found_even_if_its_manifest_names_a_namespace() -> None:
    stray = builders.custom(f"{KUEUE}/v1beta2", "ClusterQueue", {}, name="big", namespace="default")
    store = Store.of([stray])

    assert store.objects(KUEUE, "ClusterQueue").keys() == {"big"}  # type: ignore[union-attr] # it is known
    assert store.find(reference("big", namespace="", kind="ClusterQueue")) is not Absence.MISSING


def test_objects_that_name_no_namespace_are_in_the_one_that_is_given() -> None:
    unnamed = builders.custom(f"{KUEUE}/v1beta2", "LocalQueue", {}, name="research", namespace=None)

    assert isinstance(Store.of([unnamed], namespace="ml").find(reference("research")), dict)


def test_device_claims_come_and_go_without_a_change_for_pods_without_claims() -> None:
    store = Store.of([queue("a")])
    before = store.revision, store.revision_without_claims

    store.put(builders.custom("resource.k8s.io/v1", "ResourceClaim", {}, name="gpu", namespace="ml"))
    after = store.revision, store.revision_without_claims
    assert after == (before[0] + 1, before[1])
    applied = store.with_applied([queue("b")], namespace="ml")
    assert (applied.revision, applied.revision_without_claims) == (after[0] + 1, after[1] + 1)


def test_changes_are_seen_and_heartbeats_are_not() -> None:
    store = Store.of([queue("a")])
    before = store.revision

    store.put(queue("a"))
    assert store.revision == before
    store.put(queue("a", to="small"))
    assert store.find(reference("a")) == queue("a", to="small")
    assert store.revision > before
    store.remove(queue("a"))
    assert store.find(reference("a")) is Absence.MISSING


def test_a_charge_of_a_quota_is_momentary() -> None:
    def written(version: str) -> paths.Object:
        found = builders.gpu_quota(gpus=8, namespaces=["ml"], status={"charges": [version]})
        return {**found, "metadata": {**paths.metadata(found), "resourceVersion": version}}

    store = Store.of([written("1")])
    before = store.revision
    store.put(written("2"))

    assert store.revision == before
    assert store.objects("gpu-usher.io", "GPUQuota") == {"research": written("2")}


def test_nodes_come_and_go_without_a_new_revision_for_workloads() -> None:
    store = Store.of([node("a")])
    before, nodes = store.revision, store.nodes.revision

    store.put(node("b"))
    store.remove(node("a"))
    assert store.revision == before
    assert store.nodes.revision > nodes
    assert store.find(Reference(group="", kind="Node", name="a")) is Absence.MISSING
    assert store.find(Reference(group="", kind="Node", name="b")) == node("b")


def test_what_was_worked_out_is_kept_until_one_of_its_kinds_changes() -> None:
    store = Store.of([queue("a")])
    made: list[int] = []

    def names() -> list[str]:
        made.append(1)
        return sorted(store.objects(*LOCAL_QUEUE, "ml"))  # type: ignore[arg-type] # it is known

    assert store.derived("names", [LOCAL_QUEUE], names) == ["a"]
    store.put(node("n"))
    assert store.derived("names", [LOCAL_QUEUE], names) == ["a"]
    assert len(made) == 1
    store.put(queue("b"))
    assert store.derived("names", [LOCAL_QUEUE], names) == ["a", "b"]


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.dictionaries(st.text(), inner) | st.lists(inner)
    )
)
def test_no_object_is_too_odd_to_be_trimmed_and_kept(value: paths.Json) -> None:
    for kind in registry.FACTS.values():
        odd: paths.Object = {
            "apiVersion": f"{kind.group}/v1",
            "kind": kind.kind,
            "metadata": value,
            "spec": value,
            "status": value,
        }

        assert Store.of([kind.keep(odd)]).knows(kind.group, kind.kind)


def test_values_of_environment_variables_are_left_out_but_for_those_that_rules_read() -> None:
    variables: list[paths.Json] = [{"name": "HF_TOKEN", "value": "secret"}, {"name": "NCCL_DEBUG", "value": "WARN"}]
    variables.append({"name": "NVIDIA_API_KEY", "value": "secret"})
    runtime = builders.custom(
        "serving.kserve.io/v1alpha1", "ServingRuntime", {"containers": [{"name": "c", "env": variables}]}, name="vllm"
    )
    kept = registry.FACTS["serving.kserve.io", "ServingRuntime"].keep(runtime)

    assert paths.resolve(kept, "/spec/containers/0/env") == [
        {"name": "HF_TOKEN"},
        {"name": "NCCL_DEBUG", "value": "WARN"},
        {"name": "NVIDIA_API_KEY"},
    ]


def test_of_config_maps_only_the_names_are_kept_and_kueues_own_configuration() -> None:
    keep = registry.FACTS["", "ConfigMap"].keep
    namespace, name = kinds_kind.KUEUE_CONFIGURATION
    data: paths.Object = {kinds_kind.KUEUE_CONFIGURATION_KEY: "integrations: {}", "password": "secret"}
    of_kueue: paths.Object = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
    }

    assert keep({**of_kueue, "data": data})["data"] == {kinds_kind.KUEUE_CONFIGURATION_KEY: "integrations: {}"}
    assert "data" not in keep({**of_kueue, "metadata": {"name": name, "namespace": "ml"}, "data": data})


def test_objects_of_the_same_apply_join_the_stored_objects() -> None:
    store = Store.of([queue("a")])
    joined = store.with_applied([queue("b"), node("n")], namespace="ml")

    assert joined.objects(*LOCAL_QUEUE, "ml") == {"a": queue("a"), "b": queue("b")}
    assert store.objects(*LOCAL_QUEUE, "ml") == {"a": queue("a")}
    assert not joined.nodes.known


def test_one_object_of_an_unknown_kind_does_not_make_the_kind_known() -> None:
    joined = Store.of([node("n")]).with_applied([queue("b")], namespace="ml")

    assert joined.find(reference("b")) is Absence.NOT_KNOWN


def test_new_usage_is_visible_and_keeps_the_revision() -> None:
    def cluster_queue(used: str) -> paths.Object:
        made = builders.custom(f"{KUEUE}/v1beta2", "ClusterQueue", {}, name="big", namespace=None)
        return {**made, "status": {"flavorsReservation": used, "conditions": []}}

    store = Store.of([cluster_queue("1")])
    before = store.revision
    store.put(cluster_queue("2"))

    assert store.find(reference("big", namespace="", kind="ClusterQueue")) == cluster_queue("2")
    assert store.revision == before


def test_objects_are_counted_by_kind_and_nodes_once_somebody_has_looked_for_them() -> None:
    store = Store.of([queue("a"), queue("b", namespace="web")])
    assert store.counts() == {LOCAL_QUEUE: 2}

    store.replace(("", "Node"), [node("gpu-0")])
    assert store.counts() == {LOCAL_QUEUE: 2, ("", "Node"): 1}


def test_of_a_kind_that_is_taken_out_of_the_cluster_nothing_is_left() -> None:
    store = Store.of([queue("a")])
    store.lacks(LOCAL_QUEUE)

    assert store.find(reference("a")) is Absence.MISSING
    assert store.counts() == {}


def test_what_was_worked_out_of_nodes_is_kept_until_one_of_them_changes() -> None:
    store = Store.of([builders.node("gpu-0")])

    def count() -> int:
        return store.derived("count", [("", "Node")], lambda: len(store.nodes))

    assert count() == 1
    store.put(builders.node("gpu-1"))
    assert count() == 2
