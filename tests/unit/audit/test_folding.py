"""Pods are folded into the listed object at the top of their owners, and each pod counts exactly once."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import builders
from builders.existing import existing, owned, running, waiting
from unit.audit.building import built, names, only
from usher import paths

TEMPLATE = builders.template(builders.container(gpus=1))
DEPLOYMENT = existing(builders.deployment(TEMPLATE, replicas=1, name="llm"))
REPLICA_SET = existing(builders.replica_set(TEMPLATE, replicas=1, name="llm-1"), owner=DEPLOYMENT)
POD = running("llm-1-a", owner=REPLICA_SET)


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 2, 0]], ids=str)
def test_a_pod_belongs_to_the_object_at_the_top_in_whatever_order_objects_come(order: list[int]) -> None:
    objects = [DEPLOYMENT, REPLICA_SET, POD]

    assert names(built(objects[place] for place in order)) == {"Deployment ml-research/llm": ["llm-1-a"]}


def test_an_owner_that_was_not_listed_takes_no_pod_out() -> None:
    estate = built([running("alone", owner=DEPLOYMENT)])

    assert names(estate) == {"Pod ml-research/alone": ["alone"]}
    assert [(each.source, each.read) for each in estate.unlisted_owners] == [("Deployment.apps", 1)]


def test_an_owner_in_another_namespace_takes_no_pod_out() -> None:
    elsewhere = builders.replaced(DEPLOYMENT, "/metadata/namespace", "other")

    assert "Pod ml-research/forged" in names(built([elsewhere, running("forged", owner=elsewhere)]))


@pytest.mark.parametrize(
    "owner",
    [
        existing(builders.custom("v1", "PodTemplate", {}, name="tmpl")),
        existing(builders.custom("v1", "Node", {}, name="node-0", namespace=None)),
        existing(builders.custom("v1", "Namespace", {}, name="ml-research", namespace=None)),
    ],
    ids=lambda owner: str(owner["kind"]),
)
def test_an_object_that_makes_no_pods_takes_no_pod_out(owner: paths.Object) -> None:
    assert names(built([owner, running("static", owner=owner)])) == {"Pod ml-research/static": ["static"]}


def test_an_owner_that_does_not_control_the_pod_owns_nothing() -> None:
    pod = owned(running("friend"), DEPLOYMENT, controller=False)

    assert "Pod ml-research/friend" in names(built([DEPLOYMENT, pod]))


def test_objects_that_own_each_other_lose_no_pod() -> None:
    one, other = (existing(builders.job(name=name)) for name in ("one", "other"))
    one, other = owned(one, other), owned(other, one)

    (found,) = names(built([one, other, running("circling", owner=one)])).values()
    assert found == ["circling"]


def test_a_pod_that_owns_itself_is_counted() -> None:
    pod = running("self")

    assert names(built([owned(pod, pod)])) == {"Pod ml-research/self": ["self"]}


def test_executors_belong_to_the_pod_that_made_them() -> None:
    driver = running("driver", None)
    executors = [running(f"exec-{number}", owner=driver) for number in range(2)]

    assert names(built([driver, *executors])) == {"Pod ml-research/driver": ["exec-0", "exec-1"]}


def test_a_finished_job_whose_cluster_still_runs_keeps_its_pods() -> None:
    job = existing(builders.replaced(builders.ray_job(name="done"), "/status", {"jobDeploymentStatus": "Complete"}))
    cluster = existing(builders.ray_cluster(name="done-raycluster"), owner=job)

    assert names(built([job, cluster, running("head", owner=cluster)])) == {"RayJob ml-research/done": ["head"]}


def test_an_owner_of_a_kind_that_usher_does_not_know_counts_if_it_was_listed() -> None:
    owner = existing(builders.custom("example.com/v1", "Trainer", {"size": 2}, name="big"))

    assert names(built([owner, running("big-0", owner=owner)])) == {"Trainer ml-research/big": ["big-0"]}


def test_pods_of_a_group_of_kueue_are_one_workload() -> None:
    group = {"kueue.x-k8s.io/pod-group-name": "sweep", "kueue.x-k8s.io/queue-name": "research"}
    size = {"kueue.x-k8s.io/pod-group-total-count": "3"}
    pods = [running(f"sweep-{number}", labels=group, annotations=size) for number in range(2)]

    found = only(built(pods))

    assert (str(found.identity), found.queue, found.gang) == ("Workload ml-research/sweep", "research", True)
    assert (len(found.pods), found.wanted.maximum) == (2, 3)


def test_pods_without_accelerators_are_counted_and_not_kept() -> None:
    estate = built([DEPLOYMENT, REPLICA_SET, POD, running("proxy", None, owner=REPLICA_SET), running("web", None)])

    assert (estate.pods_read, only(estate).other_pods) == (3, 1)


def test_a_pod_that_has_ended_holds_nothing() -> None:
    ended = builders.replaced(running("done"), "/status/phase", "Succeeded")

    assert built([ended]).workloads == ()


def test_a_pod_that_comes_twice_counts_once() -> None:
    assert names(built([running("twice"), running("twice")])) == {"Pod ml-research/twice": ["twice"]}


def test_a_manifest_neither_runs_nor_waits() -> None:
    found = only(built([builders.pod(builders.container(gpus=1), name="planned")]))

    assert (found.pods, found.wanted.maximum) == ((), 1)


def test_what_the_scheduler_says_of_a_pod_is_kept_but_not_all_of_it() -> None:
    (pod,) = only(built([waiting("stuck", why="0/3 nodes are available" + "." * 5000)])).pods

    assert pod.waiting.startswith("0/3 nodes are available")
    assert (len(pod.waiting), pod.holds) == (1000, False)


_UIDS = st.sampled_from([f"uid-{number}" for number in range(6)])
_NAMESPACES = st.sampled_from(["a", "b"])
_OWNERS = st.lists(
    st.tuples(st.sampled_from(["Job", "ReplicaSet", "PodTemplate", "Trainer"]), _UIDS, _UIDS, _NAMESPACES), max_size=8
)
_PODS = st.lists(st.tuples(_UIDS, _NAMESPACES, st.sampled_from(["", "group"])), max_size=8)
_VERSIONS = {"Job": "batch/v1", "ReplicaSet": "apps/v1", "PodTemplate": "v1", "Trainer": "example.com/v1"}


@given(_OWNERS, _PODS, st.randoms(use_true_random=False))
def test_each_pod_counts_exactly_once_whatever_owners_objects_name(
    owners: list[tuple[str, str, str, str]], pods: list[tuple[str, str, str]], mixer: random.Random
) -> None:
    """Chains, circles, forged owners, owners in other namespaces and of any kind."""
    objects = [
        _referring(builders.custom(_VERSIONS[kind], kind, {}, name=f"o{number}", namespace=namespace), uid, owner)
        for number, (kind, uid, owner, namespace) in enumerate(owners)
    ]
    for number, (owner, namespace, group) in enumerate(pods):
        labels = {"kueue.x-k8s.io/pod-group-name": group} if group else {}
        pod = running(f"p{number}", namespace=namespace, labels=labels)
        objects.append(_referring(pod, f"pod-{number}", owner))
    mixer.shuffle(objects)

    found = Counter(pod.uid for workload in built(objects).workloads for pod in workload.pods)

    assert found == Counter(f"pod-{number}" for number in range(len(pods)))


def _referring(value: paths.Object, uid: str, owner: str) -> paths.Object:
    reference: paths.Object = {"apiVersion": "v1", "kind": "Any", "name": "any", "uid": owner, "controller": True}
    return builders.replaced(builders.replaced(value, "/metadata/uid", uid), "/metadata/ownerReferences", [reference])


def test_a_static_pod_stands_for_itself_and_its_node_is_not_missing() -> None:
    node = existing(builders.node())
    estate = built([node, running("static", owner=node)])

    assert names(estate) == {"Pod ml-research/static": ["static"]}
    assert estate.unlisted_owners == ()
