"""The digest of a Pod: what changes it, and what does not."""

import builders
from usher import paths
from usher.workloads import fingerprints


def pod(name: str, *, token: str = "abcde", uid: str = "1") -> paths.Object:
    made = builders.pod(
        builders.container(gpus=1), name=name, volumes=[{"name": f"kube-api-access-{token}", "projected": {}}]
    )
    return builders.replaced(made, "/metadata/uid", uid)


def test_pods_that_differ_in_name_identity_and_token_are_alike() -> None:
    assert fingerprints.of_pod(pod("a")) == fingerprints.of_pod(pod("b", token="fghij", uid="2"))


def test_pods_that_differ_in_anything_else_are_not() -> None:
    one = pod("a")
    others = [
        builders.replaced(one, "/metadata/namespace", "web"),
        builders.replaced(one, "/metadata/annotations", {"k8s.v1.cni.cncf.io/networks": "kube-api-access-abcde"}),
        builders.replaced(one, "/spec/nodeName", "gpu-0"),
        builders.replaced(one, "/spec/volumes/0/name", "api-access-abcde"),
        builders.replaced(one, "/status", {"conditions": [{}]}),
    ]

    assert len({fingerprints.of_pod(each) for each in (one, *others)}) == len(others) + 1


def test_the_number_of_a_pod_within_its_workload_does_not_change_its_digest() -> None:
    def numbered(number: str) -> paths.Object:
        made = builders.pod(builders.container(env={"RANK": number}), labels={"apps.kubernetes.io/pod-index": number})
        return builders.replaced(made, "/metadata/annotations", {"batch.kubernetes.io/job-completion-index": number})

    assert fingerprints.of_pod(numbered("0")) == fingerprints.of_pod(numbered("1"))
    assert fingerprints.of_pod(numbered("0"), ranks=frozenset()) != fingerprints.of_pod(
        numbered("1"), ranks=frozenset()
    )


def test_of_two_token_volumes_each_keeps_its_name() -> None:
    """A container that mounts one of them differs from one that mounts the other."""

    def mounting(name: str) -> paths.Object:
        volumes: paths.Json = [{"name": f"kube-api-access-{each}", "projected": {}} for each in ("aaaaa", "bbbbb")]
        mount: paths.Object = {"name": name, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}
        made = builders.replaced(pod("a"), "/spec/volumes", volumes)
        return builders.replaced(made, "/spec/containers/0/volumeMounts", [mount])

    assert fingerprints.of_pod(mounting("kube-api-access-aaaaa")) != fingerprints.of_pod(
        mounting("kube-api-access-bbbbb")
    )


def test_a_large_pod_is_not_remembered() -> None:
    assert fingerprints.of_pod(builders.replaced(pod("a"), "/spec/hostname", "x" * fingerprints.LARGEST)) is None


def test_what_has_no_metadata_is_not_remembered() -> None:
    assert fingerprints.of_pod({"kind": "Pod"}) is None


def test_every_rank_is_found_by_a_part_of_its_name() -> None:
    assert all(
        any(part in f'{rank}","value":'.encode() for part in fingerprints._PARTS_OF_RANKS)
        for rank in fingerprints.RANKS
    )
