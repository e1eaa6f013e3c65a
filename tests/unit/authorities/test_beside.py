"""Verdicts by other objects of the same files: Services, disks, and pods made by hand for a PodGroup."""

from collections.abc import Mapping

import pytest

import builders
from usher import model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities import beside
from usher.authorities.authority import Case
from usher.authorities.beside import Beside, Link
from usher.authorities.knowledge import Knowledge
from usher.authorities.nodes import present as nodes_present
from usher.authorities.volcano import present as volcano_present
from usher.cluster.facts.store import Store
from usher.config import models
from usher.kinds.reading import counts, values
from usher.workloads import grown_workloads

VOLCANO = "scheduling.volcano.sh/v1beta1"


def knowledge(*facts: paths.Object) -> Knowledge:
    config = models.Config()
    return Knowledge(facts=Store.of(facts), config=config, vocabulary=Vocabulary(config.accelerators))


def found(value: paths.Object, *others: paths.Object, known: Knowledge | None = None) -> tuple[model.Workload, Beside]:
    """The object, and what the others say about it if all are in one file for the namespace `ml-research`."""
    known = known or knowledge()
    objects = values.Objects([value, *others], namespace="ml-research")
    workload = known.workload(value, namespace="ml-research", objects=objects)
    assert workload is not None
    return workload, beside.of(workload, objects, known)


def server(**spec: builders.JsonValue) -> paths.Object:
    pod = builders.template(builders.container(gpus=1), labels={"app": "chat", "tier": "gpu"}, annotations=None, **spec)
    return builders.deployment(pod)


def service(selector: Mapping[str, str] | None, namespace: str | None = None, **spec: paths.Json) -> paths.Object:
    asked: dict[str, paths.Json] = {"selector": None if selector is None else dict(selector), "ports": [{"port": 80}]}
    return builders.custom("v1", "Service", asked | spec, name="front", namespace=namespace)


def claim(*modes: str) -> paths.Object:
    return builders.custom("v1", "PersistentVolumeClaim", {"accessModes": [*modes]}, name="models", namespace=None)


def group(minimum: int = 2, **spec: builders.JsonValue) -> paths.Object:
    return builders.custom(VOLCANO, "PodGroup", {"minMember": minimum, **spec}, name="ring", namespace=None)


def member(name: str, *, of: str = "ring", gpus: int = 8, **more: paths.Json) -> paths.Object:
    annotations = {"scheduling.k8s.io/group-name": of}
    pod = builders.pod(builders.container(gpus=gpus), name=name, annotations=annotations, schedulerName="volcano")
    return {**pod, **more}


@pytest.mark.parametrize("selector", [{"app": "chat"}, {"app": "chat", "tier": "gpu"}])
def test_a_service_sends_requests_to_the_pods_that_it_selects(selector: Mapping[str, str]) -> None:
    assert found(server(), service(selector))[1].has_service


@pytest.mark.parametrize(
    "other",
    [
        service({"app": "chat", "tier": "cpu"}),
        service({}),
        service(None),
        service({"app": "chat"}, namespace="elsewhere"),
        service({"app": "chat"}, clusterIP="None"),
        service({"app": "chat"}, ports=[{"port": 80, "targetPort": 8888}, {"port": 22}]),
        service({"app": "chat"}, ports=[]),
        builders.custom("v1", "Service", {"selector": ["app"]}),
        builders.custom("v1", "Service", {}),
    ],
)
def test_other_services_send_no_requests_to_them(other: paths.Object) -> None:
    assert not found(server(), other)[1].has_service


def test_access_modes_of_the_disks_that_pods_name_are_known() -> None:
    volumes: builders.JsonValue = [{"name": "a", "persistentVolumeClaim": {"claimName": "models"}}]

    assert found(server(volumes=volumes), claim("ReadWriteOnce"))[1].disks == {"models": ("ReadWriteOnce",)}
    assert found(server(volumes=volumes))[1].disks == {}
    assert found(server(), claim("ReadWriteOnce"))[1].disks == {}


def volume(name: str, source: paths.Object, **more: paths.Json) -> paths.Object:
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": source | more}


def test_a_claim_that_a_pod_names_leads_to_the_path_of_its_volume_with_accelerators_and_without() -> None:
    volumes: builders.JsonValue = [{"name": "a", "persistentVolumeClaim": {"claimName": "models"}}]
    plain = builders.pod(builders.container(), volumes=volumes)
    bound = builders.custom("v1", "PersistentVolumeClaim", {"volumeName": "node"}, name="models", namespace=None)
    kept: paths.Object = {"namespace": "ml-research", "name": "models"}
    wanted = {"models": {"path": "/var/run", "place": "/run"}}

    for value in (server(volumes=volumes), plain):
        assert found(value, bound, volume("node", {"hostPath": {"path": "/var/run"}}))[1].host_paths == wanted
        assert found(value, volume("node", {"local": {"path": "/var/run"}}, claimRef=kept))[1].host_paths == wanted
    assert found(plain, bound, volume("node", {"nfs": {"path": "/var/run"}}))[1] is beside.NOTHING
    assert found(plain, bound, volume("other", {"hostPath": {"path": "/var/run"}}))[1] is beside.NOTHING
    other = volume("node", {"hostPath": {"path": "/"}}, claimRef={**kept, "namespace": "other"})
    assert found(plain, claim("ReadWriteOnce"), other)[1] is beside.NOTHING


def test_a_review_knows_nothing_beside_the_object() -> None:
    known = knowledge(service({"app": "chat"}))
    workload = known.workload(server(), namespace="ml-research")

    assert beside.of(workload, values.NO_OBJECTS, known) is beside.NOTHING
    assert (
        beside.of(workload, values.LookupsInTurn(values.Objects([service({"app": "chat"})])), known) is beside.NOTHING
    )
    assert beside.of(None, values.Objects([]), known) is beside.NOTHING


def test_only_workloads_with_accelerators_count() -> None:
    plain = builders.deployment(builders.template(builders.container(), labels={"app": "chat"}))

    assert found(plain, service({"app": "chat"}))[1] is beside.NOTHING


def test_pods_made_by_hand_are_the_gang_of_their_group() -> None:
    gang = found(group(2), member("a"), member("b"), member("c"), member("d", of="other"))[1].gang

    assert gang is not None
    assert len(gang.pod_sets) == 3
    assert gang.gang == model.Gang(wanted=True, minimum=2)


def test_the_pods_of_a_group_with_a_minimum_of_one_do_not_wait_for_each_other() -> None:
    gang = found(group(1), member("a"), member("b"))[1].gang

    assert gang is not None
    assert not gang.gang.wanted


@pytest.mark.parametrize(
    "others",
    [
        [],
        [member("a", of="other")],
        [member("a", status={"phase": "Succeeded"})],
        [
            member("a"),
            builders.job(
                builders.template(builders.container(gpus=8), annotations={"scheduling.k8s.io/group-name": "ring"})
            ),
        ],
        [
            member("a"),
            builders.replaced(
                member("b"), "/metadata/ownerReferences", [{"kind": "Job", "name": "b", "controller": True}]
            ),
        ],
        [builders.replaced(member("a"), "/metadata/namespace", "elsewhere")],
    ],
)
def test_a_group_without_pods_or_with_pods_of_others_has_no_known_gang(others: list[paths.Object]) -> None:
    assert found(group(2), *others)[1].gang is None


def queue(gpus: int) -> paths.Object:
    return builders.custom(VOLCANO, "Queue", {"capability": {"nvidia.com/gpu": gpus}}, name="research", namespace=None)


def shortages(value: paths.Object, *others: paths.Object, gpus: int) -> list[tuple[str, int]]:
    """The amounts that Volcano's queue lacks, each with the number of the group's pods; 0 for its minResources."""
    known = knowledge(queue(gpus))
    workload, its = found(value, *others, known=known)
    lacking = volcano_present.pod_group_slice(Case(workload=workload, beside=its), known)
    return [] if lacking is None else [(each["needs"]["text"], each.get("ofPods", 0)) for each in lacking["shortages"]]


def test_the_pods_that_start_first_are_compared_with_the_queue() -> None:
    pods = [member("a"), member("b"), member("c", gpus=16)]

    assert shortages(group(2, queue="research"), *pods, gpus=8) == [("16", 3)]
    assert shortages(group(2, queue="research"), *pods, gpus=32) == []
    assert shortages(group(2, queue="research"), gpus=8) == []


def test_what_the_minimum_resources_lack_is_reported_once() -> None:
    least = group(2, queue="research", minResources={"nvidia.com/gpu": 64})

    assert shortages(least, member("a"), member("b"), gpus=8)[0] == ("64", 0)
    assert len(shortages(least, member("a"), member("b"), gpus=8)) == 1


def test_the_pods_are_compared_with_all_nodes_together() -> None:
    known = knowledge(builders.node("gpu-0", gpus=8))

    def shortage(*others: paths.Object, minimum: int = 2) -> object:
        workload, its = found(group(minimum), *others, known=known)
        return nodes_present.pod_group_slice(Case(workload=workload, beside=its), known)

    assert shortage(member("a"), member("b")) == {"wanted": 2, "most": 1, "sure": False}
    assert shortage(member("a", gpus=4), member("b", gpus=4)) is None
    assert shortage(member("a"), member("b"), minimum=1) is None
    assert shortage() is None


def model_server(**fields: paths.Json) -> paths.Object:
    container: paths.Object = {
        **builders.container("server", gpus=1),
        "image": "vllm/vllm-openai:v0.11.0",
        "args": ["--model", "m"],
        **fields,
    }
    return builders.pod(container, name="chat", namespace="ml-research")


def named_service(name: str = "vllm", **spec: paths.Json) -> paths.Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": "ml-research"},
        "spec": {"ports": [{"port": 8000}], **spec},
    }


def scaled_object(target: str, name: str = "scaler") -> paths.Object:
    spec: paths.Object = {"scaleTargetRef": {"name": target}, "maxReplicaCount": 2}
    metadata: paths.Object = {"name": name, "namespace": "ml-research"}
    return {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": metadata, "spec": spec}


def test_a_service_gives_a_program_a_variable_that_it_reads_as_a_port() -> None:
    link = Link(service="vllm", variable="VLLM_PORT", program="vLLM", path="/spec/containers/0")

    assert found(model_server(), named_service())[1].links == (link,)
    assert found(model_server(), named_service("vllm-dp-master"))[1].links[0]["variable"] == "VLLM_DP_MASTER_PORT"


@pytest.mark.parametrize(
    ("value", "other"),
    [
        (model_server(), named_service(clusterIP="None")),
        (model_server(), named_service(type="ExternalName")),
        (model_server(), named_service(ports=[])),
        (model_server(), named_service("chat")),
        (model_server(), {**named_service(), "metadata": {"name": "vllm", "namespace": "other"}}),
        (model_server(env=[{"name": "VLLM_PORT", "value": "8100"}]), named_service()),
        (model_server(image="registry.example.com/train:1", args=["train.py"]), named_service()),
    ],
)
def test_without_the_variable_or_the_program_there_is_no_link(value: paths.Object, other: paths.Object) -> None:
    assert found(value, other)[1].links == ()


def test_other_autoscalers_of_one_target_are_named() -> None:
    others = (scaled_object("chat", "second"), scaled_object("coder", "third"))

    assert found(scaled_object("chat"), *others)[1].scalers == ("ScaledObject second",)


def test_the_object_whose_operator_makes_the_target_is_named() -> None:
    metadata: paths.Object = {"name": "chat", "namespace": "ml-research"}
    service_of_models: paths.Object = {
        "apiVersion": "serving.kserve.io/v1alpha1",
        "kind": "LLMInferenceService",
        "metadata": metadata,
        "spec": {},
    }
    parent = found(scaled_object("chat-kserve"), service_of_models)[1].parent

    of_deployment: paths.Object = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "chat"}
    rollout = builders.custom("argoproj.io/v1alpha1", "Rollout", {"workloadRef": of_deployment}, name="moving")

    assert found(scaled_object("chat"), rollout)[1].parent == ("Rollout moving", "target the Rollout")
    assert parent == ("LLMInferenceService chat", "use spec.scaling of the LLMInferenceService")
    assert found(scaled_object("chat"), service_of_models)[1].parent is None


def test_the_autoscalers_of_a_namespace_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read = list[str]()

    def counted(value: paths.Object, *, namespace: str = "") -> counts.Growth | None:
        read.append(paths.text(paths.metadata(value).get("name")))
        return growth_of(value, namespace=namespace)

    growth_of = grown_workloads.growth_of
    monkeypatch.setattr(grown_workloads, "growth_of", counted)
    known = knowledge()
    scalers = [scaled_object(f"server-{number // 2}", f"scaler-{number}") for number in range(20)]
    objects = values.Objects(scalers, namespace="ml-research")
    workloads = [known.workload(each, namespace="ml-research", objects=objects) for each in scalers]
    read.clear()

    facts = [beside.of(each, objects, known) for each in workloads]

    assert facts[4].scalers == ("ScaledObject scaler-5",)
    # Each by itself, and all of them a single time.
    assert len(read) == 2 * len(scalers)


def test_the_services_of_a_namespace_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read = list[object]()

    def counted(service: Mapping[str, paths.Json]) -> bool:
        read.append(service)
        return True

    monkeypatch.setattr(beside, "_sends_requests", counted)
    known = knowledge()
    services = [
        builders.custom("v1", "Service", {"selector": {"app": app}}, name=app, namespace=None)
        for app in ("chat", "other", "third")
    ]
    servers = [server(hostname=f"server-{number}") for number in range(20)]
    objects = values.Objects([*services, *servers], namespace="ml-research")
    workloads = [known.workload(each, namespace="ml-research", objects=objects) for each in servers]

    assert all(beside.of(each, objects, known).has_service for each in workloads)
    assert len(read) == len(services)


@pytest.mark.parametrize(
    ("name", "image", "program"),
    [
        ("gpustack-worker", "gpustack/gpustack:v2.0.0", "GPUStack"),
        ("gradio-server", "registry.example.com/gradio:5", "Gradio"),
        ("invokeai", "ghcr.io/invoke-ai/invokeai:5", "InvokeAI"),
        ("label-studio", "heartexlabs/label-studio:1", "Label Studio"),
        ("streamlit-server", "registry.example.com/streamlit:1", "Streamlit"),
    ],
)
def test_programs_read_the_port_of_a_service_with_their_name(name: str, image: str, program: str) -> None:
    (link,) = found(model_server(image=image, args=[]), named_service(name))[1].links

    assert (link["service"], link["program"]) == (name, program)


def budget(**selector: paths.Json) -> paths.Object:
    return builders.custom("policy/v1", "PodDisruptionBudget", {"minAvailable": 1, "selector": selector}, name="chat")


def test_a_budget_knows_the_pods_that_it_selects() -> None:
    guarded = found(budget(matchLabels={"app": "chat"}), server())[1].guarded

    assert guarded is not None
    assert (guarded["pods"], len(guarded["names"])) == (1, 1)
    assert found(budget(matchLabels={"app": "other"}), server())[1].guarded is None
    assert found(budget(matchLabels={"app": "chat"}))[1].guarded is None


def with_disk(name: str, node: str = "") -> paths.Object:
    volumes: builders.JsonValue = [{"name": "models", "persistentVolumeClaim": {"claimName": "models"}}]
    selector: builders.JsonValue = {"kubernetes.io/hostname": node} if node else {}
    value = server(volumes=volumes, nodeSelector=selector)
    return {**value, "metadata": {"name": name, "namespace": "ml-research"}}


def test_other_servers_that_keep_a_disk_are_named() -> None:
    chat = with_disk("chat")

    assert found(chat, with_disk("embed"), with_disk("rerank"))[1].holders == {
        "models": ("Deployment embed", "Deployment rerank")
    }
    assert found(chat)[1].holders == {}
    assert found(with_disk("chat", "node-1"), with_disk("embed", "node-1"))[1].holders == {}
    assert found(with_disk("chat", "node-1"), with_disk("embed", "node-2"))[1].holders != {}


def test_a_pod_that_ends_gives_its_disk_back() -> None:
    volumes: builders.JsonValue = [{"name": "models", "persistentVolumeClaim": {"claimName": "models"}}]
    download = builders.pod(builders.container(), name="load", namespace="ml-research", volumes=volumes)
    ending = builders.pod(
        builders.container(), name="load", namespace="ml-research", volumes=volumes, restartPolicy="Never"
    )

    assert found(with_disk("chat"), download)[1].holders == {"models": ("Pod load",)}
    assert found(with_disk("chat"), ending)[1].holders == {}


@pytest.mark.parametrize(
    ("labels", "mesh"),
    [
        ({"istio-injection": "enabled"}, "istio-injection=enabled"),
        ({"istio.io/rev": "stable"}, "istio.io/rev=stable"),
        ({"istio-injection": "disabled"}, ""),
        ({}, ""),
    ],
)
def test_labels_of_a_namespace_show_its_mesh(labels: dict[str, str], mesh: str) -> None:
    namespace: paths.Object = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "ml-research", "labels": {**labels}},
    }

    assert found(server(), namespace)[1].mesh == mesh
    assert found(server(), known=knowledge(namespace))[1].mesh == mesh
