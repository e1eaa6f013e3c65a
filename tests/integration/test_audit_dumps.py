"""An audit of what other programs saved of a cluster: it counts each object once, and says what is missing."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import builders
from builders.existing import existing, owned, running
from integration import command
from usher import paths

pytestmark = pytest.mark.costly

HASH = "7d4b9c"
NAMESPACE = existing(builders.custom("v1", "Namespace", {}, name="ml-research", namespace=None))


def list_of(*objects: paths.Object, kind: str = "List", **metadata: Any) -> paths.Object:
    """The output of `kubectl get -o json`; a list of one kind leaves out the kinds of its objects."""
    typed = kind != "List"
    items = [
        {key: each for key, each in value.items() if not typed or key not in ("apiVersion", "kind")}
        for value in objects
    ]
    return builders.objects.present(apiVersion="v1", kind=kind, metadata=metadata, items=items)


def node(name: str = "gpu-0", uid: str = "") -> paths.Object:
    return existing(builders.node(name, gpus=8), uid=uid)


def deployment(replicas: int = 2, **template: Any) -> paths.Object:
    container = builders.container(gpus=2)
    return existing(builders.deployment(builders.template(container, **template), replicas=replicas, name="llm"))


def replica_set() -> paths.Object:
    value = existing(builders.replica_set(builders.template(builders.container(gpus=2)), name=f"llm-{HASH}"))
    return owned(value, deployment())


def pods() -> list[paths.Object]:
    """Both pods of the Deployment."""
    labels = {"pod-template-hash": HASH}
    return [running(f"llm-{HASH}-{each}", 2, node="gpu-0", owner=replica_set(), labels=labels) for each in "ab"]


def system_pod() -> paths.Object:
    return running("coredns", None, node="gpu-0", namespace="kube-system")


def cluster() -> list[paths.Object]:
    return [node(), deployment(), replica_set(), *pods(), system_pod()]


def write(file: Path, *documents: paths.Json) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(map(json.dumps, documents)))
    return file


def audit(folder: Path, *options: str) -> Any:
    run = command.usher("audit", "--format=json", *options, folder)
    assert run.out, run.err
    return run.json


def left_out(document: Any) -> dict[str, str]:
    return {each["source"]: each["reason"] for each in document["completeness"]["leftOut"]}


def gaps(document: Any) -> list[str]:
    return [each["reason"] for each in document["completeness"]["gaps"]]


def numbers(document: Any) -> dict[str, Any]:
    names = ("gpus", "gpusAsked", "gpusAllocated", "gpusFree", "workloads", "findings")
    return {name: document["summary"][name] for name in names}


def test_a_dump_in_many_files_is_the_cluster_of_one_list(tmp_path: Path) -> None:
    write(tmp_path / "one" / "dump.json", list_of(*cluster()))
    write(tmp_path / "many" / "nodes.json", list_of(node(), kind="NodeList"))
    write(tmp_path / "many" / "lines.json", deployment(), replica_set())
    write(tmp_path / "many" / "ml-research" / "pods.json", list_of(*pods(), kind="PodList"))
    write(tmp_path / "many" / "kube-system" / "pods.json", list_of(system_pod(), kind="PodList"))

    one, many = audit(tmp_path / "one"), audit(tmp_path / "many")

    assert numbers(one) == numbers(many)
    assert (numbers(one)["gpusAllocated"], numbers(one)["gpusFree"], numbers(one)["workloads"]) == (4, 4, 1)


def test_an_object_that_stands_twice_counts_once(tmp_path: Path) -> None:
    """As in a backup that has each object by two versions of its API."""
    once = audit(write(tmp_path / "once.json", *cluster()))
    write(tmp_path / "twice" / "preferred" / "all.json", *cluster())
    write(tmp_path / "twice" / "all.json", list_of(*cluster()))

    twice = audit(tmp_path / "twice")

    assert numbers(twice) == numbers(once)
    assert twice["completeness"]["objects"] == once["completeness"]["objects"]
    assert left_out(twice)["repeated objects"] == "6 stand in the files before, so each counts once"


def test_a_dump_of_another_time_is_named(tmp_path: Path) -> None:
    write(tmp_path / "monday.json", *cluster())
    write(
        tmp_path / "tuesday.json", node(), builders.replaced(deployment(replicas=1), "/metadata/resourceVersion", "99")
    )

    document = audit(tmp_path)

    assert "1 of them has changed, and the first state counts" in left_out(document)["repeated objects"]
    assert numbers(document) == numbers(audit(tmp_path / "monday.json"))


@pytest.mark.parametrize("value", [node(), NAMESPACE], ids=["a node", "a namespace"])
def test_two_clusters_in_one_folder_are_refused(tmp_path: Path, value: paths.Object) -> None:
    write(tmp_path / "a.json", *cluster(), NAMESPACE)
    write(tmp_path / "b.json", builders.replaced(value, "/metadata/uid", "other"))

    run = command.usher("audit", tmp_path)

    assert (run.code, run.out) == (2, "")
    assert f"{tmp_path}/b.json: {value['kind']} " in run.err
    assert "has another uid than in a file before, so the files hold two clusters" in run.err


def test_an_object_that_was_made_again_between_two_dumps_counts_once_and_is_named(tmp_path: Path) -> None:
    write(tmp_path / "a.json", *cluster())
    write(tmp_path / "b.json", builders.replaced(deployment(), "/metadata/uid", "other"))

    document = audit(tmp_path)

    (reason,) = gaps(document)
    assert reason.startswith("Deployment ml-research/llm has another uid than in a file before")
    assert numbers(document)["workloads"] == 1


def test_a_manifest_with_the_name_of_an_object_is_named(tmp_path: Path) -> None:
    write(tmp_path / "all.json", *cluster(), builders.replaced(deployment(), "/metadata/uid", ""))

    document = audit(tmp_path)

    assert numbers(document)["workloads"] == 2
    assert left_out(document)["manifests"].startswith("1 has the name of an object of the cluster")


def test_pods_belong_to_their_deployment_where_the_files_have_no_replica_sets(tmp_path: Path) -> None:
    """`kubectl get nodes,pods,deployments` leaves them out."""
    without = audit(write(tmp_path / "without.json", *(each for each in cluster() if each["kind"] != "ReplicaSet")))
    whole = audit(write(tmp_path / "whole.json", *cluster()))

    assert numbers(without) == numbers(whole)
    assert without["workloads"] == whole["workloads"]
    assert "ReplicaSet.apps" not in left_out(without)


def test_a_pod_of_another_replica_set_stands_for_itself(tmp_path: Path) -> None:
    """Its label does not end the name of its owner, or no Deployment has the rest of the name."""
    one = builders.replaced(pods()[0], "/metadata/labels", {"pod-template-hash": "other"})
    two = running("b", 2, node="gpu-0", owner=replica_set(), labels={"pod-template-hash": HASH}, namespace="elsewhere")

    document = audit(write(tmp_path / "dump.json", node(), deployment(), one, two))

    assert {each["subject"]["kind"] for each in document["workloads"]} == {"Deployment", "Pod"}
    assert numbers(document)["workloads"] == 3


@pytest.mark.parametrize("lacking", [{"Pod"}, {"Job"}], ids=["pods", "the objects between"])
def test_a_workload_whose_pods_are_not_in_the_files_has_not_too_few(tmp_path: Path, lacking: set[str]) -> None:
    template = builders.template(builders.container(gpus=1), restartPolicy="Never")
    job_set = existing(builders.job_set(builders.replicated_job(pod_template=template), name="train"))
    job = existing(builders.job(template, name="train-0"), owner=job_set)
    old = [builders.replaced(each, "/metadata/creationTimestamp", "2026-01-01T00:00:00Z") for each in (job_set, job)]
    objects = [node(), *old, running("train-0-x", 1, node="gpu-0", owner=job)]

    document = audit(write(tmp_path / "dump.json", *(each for each in objects if each["kind"] not in lacking)))

    assert "USA004" not in {each["code"] for each in document["findings"]}


def test_namespaces_alone_do_not_say_that_every_workload_can_run(tmp_path: Path) -> None:
    pods_alone, with_node = [NAMESPACE, *pods()], [NAMESPACE, node(), *pods()]

    found = audit(write(tmp_path / "pods.json", *pods_alone))["summary"]["workloadsNever"]
    known = audit(write(tmp_path / "node.json", *with_node))["summary"]["workloadsNever"]

    assert (found, known) == (None, 0)


def test_nothing_is_unused_where_no_pod_was_read(tmp_path: Path) -> None:
    mig = builders.replaced(node(), "/status", {"capacity": {"nvidia.com/mig-1g.10gb": "7"}, "allocatable": {}})
    found = audit(write(tmp_path / "all.json", mig, system_pod()))["findings"]
    assert "USA032" in {each["code"] for each in found}, "with all pods it is unused"

    found = audit(write(tmp_path / "nodes.json", mig))["findings"]

    assert "USA032" not in {each["code"] for each in found}


@pytest.mark.parametrize(
    ("metadata", "more"),
    [({"continue": "ey", "remainingItemCount": 998}, "998 more"), ({"continue": "ey"}, "more")],
)
def test_a_page_of_a_list_is_not_all_of_it(tmp_path: Path, metadata: Any, more: str) -> None:
    write(tmp_path / "dump.json", list_of(*cluster(), kind="List", **metadata))

    document = audit(tmp_path)

    assert gaps(document) == [
        f"one page of a list: 6 objects are here, and the cluster has {more}; write the whole list"
    ]
    assert numbers(document)["gpusAllocated"] == 4, "what is there counts"


NOT_OBJECTS: dict[str, paths.Json] = {
    "a Status": {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "pods is forbidden"},
    "a Table": {"kind": "Table", "apiVersion": "meta.k8s.io/v1", "rows": []},
    "metadata": {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "items": [NAMESPACE]},
    "a List that was cut": {"apiVersion": "v1", "items": [NAMESPACE]},
}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("a Status", "an answer of the API server, and no objects: pods is forbidden"),
        ("a Table", "the table that kubectl shows, and no objects; write them with kubectl get -o json or -o yaml"),
        ("metadata", "the metadata of objects, and no objects; write them with kubectl get -o json or -o yaml"),
        ("a List that was cut", "a List without its kind, which kubectl writes at its end: the file was cut off"),
    ],
)
def test_an_answer_without_objects_is_not_a_clean_audit(tmp_path: Path, name: str, reason: str) -> None:
    write(tmp_path / "cluster.json", *cluster())
    write(tmp_path / "more.json", NOT_OBJECTS[name])

    run = command.usher("audit", tmp_path)

    assert run.code == 2
    assert f"{tmp_path}/more.json:1:1: {reason}" in " ".join(run.out.split())


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (gzip.compress(b"kind: List"), "compressed; unpack it with gunzip"),
        (b"PK\x03\x04...", "a ZIP archive; unpack it with unzip"),
        (b"nodes.json".ljust(257, b"\0") + b"ustar\0", "a tar archive; unpack it with tar -xf"),
        (b"NAMESPACE     NAME    READY\nserve   llm-0   1/1\n", "the table that kubectl shows, and no objects"),
        (b"Name:         llm-1\nNamespace:    serve\n", "the text of kubectl describe, and no objects"),
        (b"Error from server (Forbidden): pods is forbidden\n", "an error of kubectl, and no objects"),
        (b"The connection to the server 10.0.0.1 was refused\n", "an error of kubectl, and no objects"),
    ],
    ids=["gzip", "ZIP", "tar", "a table", "describe", "forbidden", "refused"],
)
def test_a_file_that_cannot_hold_objects_says_what_it_is(tmp_path: Path, content: bytes, reason: str) -> None:
    write(tmp_path / "cluster.json", *cluster())
    (tmp_path / "pods.yaml").write_bytes(content)

    run = command.usher("audit", tmp_path)

    assert run.code == 2
    assert f"{tmp_path}/pods.yaml: {reason}" in " ".join(run.out.split())


def test_a_compressed_file_of_a_folder_is_named(tmp_path: Path) -> None:
    write(tmp_path / "cluster.json", *cluster())
    (tmp_path / "more.json.gz").write_bytes(gzip.compress(b"{}"))

    assert left_out(audit(tmp_path))[f"{tmp_path}/more.json.gz"].startswith("compressed, so it was not read")


def test_a_folder_of_other_documents_does_not_ask_for_other_names(tmp_path: Path) -> None:
    write(tmp_path / "values.json", {"replicas": 3})

    said = command.usher("audit", tmp_path).err
    assert "1 document was read, and an object needs the keys apiVersion and kind" in said


def test_pods_of_a_few_namespaces_are_perhaps_not_all(tmp_path: Path) -> None:
    some = audit(write(tmp_path / "some.json", *(each for each in cluster() if each != system_pod())))
    every = audit(write(tmp_path / "all.json", *cluster()))

    assert left_out(some)["pods"].startswith("the files have those of ml-research, and not one of kube-system")
    assert "pods" not in left_out(every)


def test_claims_without_the_devices_of_nodes_are_named(tmp_path: Path) -> None:
    pod = builders.replaced(pods()[0], "/spec/resourceClaims", [{"name": "gpu", "resourceClaimName": "mine"}])

    document = audit(write(tmp_path / "dump.json", node(), pod))

    assert left_out(document)["resourceslices.resource.k8s.io"].startswith("1 pod claims devices")


def test_an_empty_list_of_one_namespace_says_nothing_about_the_cluster(tmp_path: Path) -> None:
    """The checklist would say that the cluster has no exporter."""
    empty: paths.Object = {
        "kind": "DaemonSetList",
        "apiVersion": "apps/v1",
        "metadata": {"resourceVersion": "9"},
        "items": [],
    }
    linked: paths.Object = {**empty, "metadata": {"selfLink": "/apis/apps/v1/daemonsets"}}
    within: paths.Object = {**empty, "metadata": {"selfLink": "/apis/apps/v1/namespaces/default/daemonsets"}}

    def standing(name: str, value: paths.Json) -> str:
        document = audit(write(tmp_path / f"{name}.json", *cluster(), value))
        (found,) = [each["standing"] for each in document["readiness"] if each["id"] == "dcgm-exporter"]
        return str(found)

    assert standing("namespace", empty) == standing("linked-namespace", within) == "not known"
    assert standing("cluster", linked) == "fail"


def test_what_operators_make_is_judged_and_not_their_own_kinds(tmp_path: Path) -> None:
    """As a ClusterServiceVersion of OpenShift, which stands in each namespace."""
    spec = {"install": {"spec": {"deployments": [{"spec": {"template": builders.template(builders.container())}}]}}}
    version = existing(builders.custom("operators.coreos.com/v1alpha1", "ClusterServiceVersion", spec, name="gpus"))
    config = builders.custom(
        "apps.openshift.io/v1", "DeploymentConfig", {"template": builders.template(builders.container(gpus=1))}
    )

    document = audit(write(tmp_path / "dump.json", *cluster(), version, existing(config)))

    assert [each["subject"]["kind"] for each in document["notJudged"]] == ["DeploymentConfig"]
    assert document["summary"]["manifests"] == 0


def test_a_finding_about_what_exists_has_no_line_of_the_dump(tmp_path: Path) -> None:
    bare = builders.replaced(node(), "/status", {"capacity": {builders.GPU: "8"}, "allocatable": {builders.GPU: "8"}})

    found = audit(write(tmp_path / "dump.json", list_of(bare, *pods())))["findings"]

    assert {each["place"] for each in found} == {""}
    assert "USH1430" in {each["code"] for each in found}


def tpu_cluster() -> list[paths.Object]:
    resource = "google.com/tpu"
    pod = existing(builders.pod(builders.container(limits={resource: 4}), name="a"))
    holds = builders.replaced(pod, "/spec/nodeName", "tpu-0")
    running_pod = builders.replaced(holds, "/status", {"phase": "Running"})
    return [existing(builders.node("tpu-0", allocatable={resource: "4"})), running_pod, system_pod()]


def test_a_cluster_without_gpus_shows_its_other_accelerators(tmp_path: Path) -> None:
    file = write(tmp_path / "dump.json", *tpu_cluster())

    shown, page = command.usher("audit", file).out, command.usher("audit", "--format=html", file).out

    assert ["google.com/tpu", "1", "4", "4", "0", "0", "0", "0"] in map(str.split, shown.splitlines())
    assert "have no GPUs.</strong> They have 4 google.com/tpu. Now pods hold 4 google.com/tpu." in page
    assert "1 node with accelerators" in page


def test_a_page_says_that_claims_are_not_known(tmp_path: Path) -> None:
    container = builders.replaced(builders.container(), "/resources", {"claims": [{"name": "gpu"}]})
    claims: list[paths.Json] = [{"name": "gpu", "resourceClaimTemplateName": "one"}]
    claiming = existing(builders.deployment(builders.template(container, resourceClaims=claims)))
    file = write(tmp_path / "dump.json", existing(builders.node("gpu-0")), claiming, system_pod())

    page = command.usher("audit", "--format=html", file).out

    assert "have no GPUs.</strong> The accelerators of 1 workload are not known." in page


def test_missing_pods_are_those_that_a_workload_wants_without_a_rollout(tmp_path: Path) -> None:
    value = builders.replaced(deployment(replicas=3), "/metadata/creationTimestamp", "2026-01-01T00:00:00Z")

    document = audit(write(tmp_path / "dump.json", node(), value, replica_set(), *pods(), system_pod()))

    (found,) = [each for each in document["findings"] if each["code"] == "USA004"]
    assert (found["message"], found["gpus"]) == ("it wants 3 pods and has 2", 2)


def test_an_object_that_has_finished_is_named(tmp_path: Path) -> None:
    done = builders.replaced(running("done"), "/status/phase", "Succeeded")

    shown = command.usher("audit", write(tmp_path / "dump.json", *cluster(), done)).out

    assert "left out: 1 finished object that holds no GPUs any more" in shown


@pytest.mark.parametrize(("added", "outcome"), [(True, "audit"), (False, "warn")])
def test_a_toleration_that_the_cluster_adds_to_pods_is_only_noted_in_their_template(
    tmp_path: Path, added: bool, outcome: str
) -> None:
    """GKE adds it to each pod that asks for a GPU; the template stays as it was written."""
    tainted = builders.node("gpu-0", gpus=8, taints=["nvidia.com/gpu=present:NoSchedule"])
    tolerations = [builders.toleration("nvidia.com/gpu", operator="Exists")] if added else []
    pod = running(f"llm-{HASH}-a", 2, node="gpu-0", owner=replica_set(), tolerations=tolerations)
    file = write(tmp_path / "dump.json", list_of(existing(tainted), deployment(), replica_set(), pod, system_pod()))
    found = [each for each in audit(file)["findings"] if each["name"] == "gpu-toleration-present"]

    assert [(each["subject"]["kind"], each["outcome"]) for each in found] == [("Deployment", outcome)]
    assert found[0]["because"].startswith("its pods have the toleration") is added
