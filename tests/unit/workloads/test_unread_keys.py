"""Keys that nothing reads, by the fields that Kubernetes and the definitions of operators publish."""

import copy
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

import builders
from unit.kinds.full import places
from unit.workloads.normalised import VOCABULARY
from usher import paths
from usher.kinds import registry
from usher.kinds.reading.fields import Definitions
from usher.kinds.reading.values import Objects
from usher.model import UnreadKey
from usher.workloads.normalise import normalise
from usher.workloads.unread_keys import with_unread_keys

_MANIFESTS = Path(__file__).parents[2] / "data" / "mutations"

_MISSPELT = {
    "containers": ("conatiners", "container", "Containers"),
    "resources": ("resource", "resoruces"),
    "limits": ("limit", "limts"),
    "requests": ("request",),
    "tolerations": ("toleration", "tolerartions"),
    "nodeSelector": ("nodeselector", "node_selector", "nodeSelectors"),
    "template": ("tempalte", "templates"),
    "replicas": ("replica", "replcias"),
    "parallelism": ("paralelism",),
    "schedulerName": ("scheduler",),
    "priorityClassName": ("priorityClass",),
    "affinity": ("affinities",),
    "spec": ("specs", "Spec"),
}

_TAKES_ANYTHING = (
    *("argoproj.io", "pipelines.kubeflow.org", "sparkoperator.k8s.io", "tekton.dev", "workload.codeflare.dev"),
    *("apps.kruise.io", "apps.nvidia.com", "slinky.slurm.net"),
)
"""Groups whose definitions take any field where the pods are, and those that usher has no definition of."""

_DEFINED_IN_TEMPLATES = ("agents.x-k8s.io", "kaito.sh", "sagemaker.amazonaws.com", "workloads.x-k8s.io")
"""Groups that say nothing about fields outside of their pod templates."""

_OUTSIDE = frozenset({"template", "replicas", "parallelism", "spec"})


def unread(value: paths.Object, *beside: paths.Object) -> tuple[UnreadKey, ...]:
    workload = with_unread_keys(None, value, beside=Objects(beside))
    return () if workload is None else workload.unread_keys


def unread_as_read(value: paths.Object) -> tuple[UnreadKey, ...]:
    workload = with_unread_keys(normalise(value, vocabulary=VOCABULARY), value)
    return () if workload is None else workload.unread_keys


def pod(**spec: Any) -> dict[str, Any]:
    containers = [{"name": "train", "image": "train:1", "resources": {"limits": {"nvidia.com/gpu": 1}}}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one"}, "spec": {"containers": containers, **spec}}


def manifests() -> Iterator[dict[str, Any]]:
    for file in sorted(_MANIFESTS.rglob("*.yaml")):
        for value in yaml.load_all(file.read_bytes(), yaml.CSafeLoader):
            if isinstance(value, dict) and isinstance(value.get("apiVersion"), str):
                yield value


def misspelt() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each manifest of a kind with one field misspelt, once for each misspelling that it has a place for."""
    seen = set()
    for value in manifests():
        group = value["apiVersion"].rpartition("/")[0]
        is_workload = (group, value["kind"]) in registry.WORKLOADS
        if not is_workload or group in _TAKES_ANYTHING:
            continue
        for right, wrongs in _MISSPELT.items():
            kinds = ("DynamoCheckpoint", "Experiment", "RayClusterReplicaSet")  # their spec may be anything
            open_there = group in _DEFINED_IN_TEMPLATES or value["kind"] in kinds
            for wrong in () if open_there and right in _OUTSIDE else wrongs:
                changed = copy.deepcopy(value)
                if (value["kind"], wrong) not in seen and _rename_first(changed, right, wrong):
                    seen.add((value["kind"], wrong))
                    yield f"{value['kind']}-{wrong}", changed


def _rename_first(value: Any, right: str, wrong: str) -> bool:
    if isinstance(value, list):
        return any(_rename_first(each, right, wrong) for each in value)
    if not isinstance(value, dict):
        return False
    if right in value:
        value[wrong] = value.pop(right)
        return True
    return any(_rename_first(each, right, wrong) for each in value.values())


@cache
def all_misspelt() -> dict[str, dict[str, Any]]:
    return dict(misspelt())


@pytest.mark.costly
def test_there_are_misspelt_manifests_of_many_kinds() -> None:
    assert len(all_misspelt()) >= 60
    assert len({name.partition("-")[0] for name in all_misspelt()}) >= 20


@pytest.mark.costly
def test_a_misspelt_field_on_which_gpus_hang_is_found_in_each_of_them() -> None:
    found = {name: unread_as_read(value) for name, value in all_misspelt().items()}
    green = [name for name, unread in found.items() if not any(each.important for each in unread)]
    assert green == []


def test_our_manifests_of_every_kind_have_no_key_that_nothing_reads() -> None:
    assert [(value["kind"], found.path) for value in manifests() for found in unread_as_read(value)] == []


def test_templates_of_an_undescribed_kind_are_compared_but_not_its_own_fields() -> None:
    spec: dict[str, Any] = {"toleration": [], "gang": 2, "containers": [{"name": "a", "image": "a", "resource": {}}]}
    held = {"worker": {"template": {"spec": spec}, "replica": 3}, "inline": {**spec, "replicas": 2}}
    found = unread_as_read(builders.custom("example.com/v1", "Graph", held))

    assert {(each.path, each.kept, each.important) for each in found} == {
        ("/spec/worker/template/spec/containers/0/resource", True, True),
        ("/spec/worker/template/spec/toleration", True, True),
        ("/spec/worker/template/spec/gang", True, False),
    }


@pytest.mark.parametrize(
    ("value", "path", "remedy"),
    [
        (pod(resource={}), "/spec/resource", "did you mean resources?"),
        (pod(nodeselector={}), "/spec/nodeselector", "did you mean nodeSelector?"),
        (pod(limits={}), "/spec/limits", "did you mean resources.limits?"),
        (pod(gpu=1), "/spec/gpu", "remove the field, or correct its name"),
    ],
    ids=["resource", "nodeselector", "limits", "gpu"],
)
def test_the_remedy_names_the_field_that_was_meant(value: paths.Object, path: str, remedy: str) -> None:
    (found,) = unread(value)
    assert (found.path, found.remedy, found.important) == (path, remedy, True)


def test_a_field_beside_containers_that_belongs_above_names_its_place() -> None:
    value = pod()
    value["spec"]["containers"][0]["nodeSelector"] = {"gpu": "h100"}
    (found,) = unread(value)
    assert found.remedy == "did you mean spec.nodeSelector?"


def test_other_unknown_fields_are_not_important() -> None:
    (found,) = unread({**pod(), "owner": "alice"})
    assert not found.important


def test_an_object_of_a_cluster_is_not_compared() -> None:
    value = pod(resource={})
    value["metadata"]["uid"] = "7b0f4c3e"
    assert unread(value) == ()


def test_a_value_of_another_type_is_found_and_has_no_keys_to_compare() -> None:
    value = pod(tolerations={"conatiners": {}}, securityContext=[{"resource": {}}])
    assert [(each.path, each.remedy, each.refused) for each in unread(value)] == [
        ("/spec/tolerations", "write a list", True),
        ("/spec/securityContext", "write an object", True),
    ]


@pytest.mark.parametrize(
    ("spec", "remedy"),
    [
        ({"terminationGracePeriodSeconds": "30"}, "write 30"),
        ({"hostNetwork": "true"}, "write true"),
        ({"schedulerName": 8}, 'write "8"'),
        ({"nodeSelector": {"gpu": True}}, 'write "true", or quote the word that YAML takes for it (y, yes, on)'),
        ({"restartPolicy": "never"}, "did you mean Never?"),
        ({"restartPolicy": "ON_FAILURE"}, "did you mean OnFailure?"),
        ({"dnsPolicy": "Elsewhere"}, "write one of ClusterFirst, ClusterFirstWithHostNet, Default, None"),
        ({"hostNetwork": "perhaps"}, "write true or false"),
    ],
)
def test_a_value_that_its_field_does_not_take_names_one_that_it_takes(spec: dict[str, Any], remedy: str) -> None:
    (found,) = unread(pod(**spec))
    assert (found.remedy, found.important, found.refused) == (remedy, True, True)


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        ("dev-NAMESPACE", 0),
        ("ENV-rb-TEAM", 0),
        ("train-CLUSTER_NAME", 0),
        ("train-GPT", 1),
        ("Train", 1),
        ("myNAME", 1),
    ],
)
def test_a_name_with_a_word_that_is_to_be_replaced_is_not_wrong(name: str, refused: int) -> None:
    assert len(unread(builders.pod(builders.container(), name=name))) == refused


@pytest.mark.parametrize("value", [None, 30, 30.0, "{{ grace }}", "${GRACE}", "$GRACE", "<seconds>", "NUM_SECONDS", ""])
def test_missing_values_placeholders_and_whole_numbers_with_a_point_pass(value: object) -> None:
    assert unread(pod(terminationGracePeriodSeconds=value)) == ()


def test_a_pod_spec_in_a_definition_takes_the_texts_that_kubernetes_takes() -> None:
    template: dict[str, Any] = {"spec": pod(restartPolicy="no")["spec"]}
    template["spec"]["containers"][0]["name"] = "pytorch"
    replicas: dict[str, Any] = {"Worker": {"restartPolicy": "ExitCode", "template": template}}
    job: paths.Object = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "spec": {"pytorchReplicaSpecs": replicas},
    }
    assert [each.path for each in unread(job)] == ["/spec/pytorchReplicaSpecs/Worker/template/spec/restartPolicy"]


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("kueue.x-k8s.io/queue_name", "kueue.x-k8s.io/queue-name"),
        ("kueue.x-k8s.io/queue", "kueue.x-k8s.io/queue-name"),
        ("kueue.k8s.io/queue-name", "kueue.x-k8s.io/queue-name"),
        ("scheduling.k8s.io/groupname", "scheduling.k8s.io/group-name"),
    ],
)
def test_a_misspelt_label_of_a_queue_or_gang_is_important(key: str, meant: str) -> None:
    value = pod()
    value["metadata"]["labels"] = {key: "research"}
    (found,) = unread(value)
    assert (found.path, found.remedy, found.important) == (
        paths.join("/metadata/labels", key),
        f"did you mean {meant}?",
        True,
    )
    value["metadata"]["labels"][meant] = "research"
    assert [each.important for each in unread(value)] == [False]


def test_keys_of_others_and_known_keys_are_not_compared() -> None:
    value = pod(
        nodeSelector={
            "example.com/gpu.product": "h100",
            "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
            "pool": "gpu",
        }
    )
    value["metadata"]["annotations"] = {
        "nvidia.com/gpu.deploy.anything": "true",
        "kueue.x-k8s.io/podset-slice-size": "2",
    }
    assert unread(value) == ()


@pytest.mark.parametrize("key", ["!", "*", "", "a/b", "~"])
def test_odd_keys_are_found_like_others(key: str) -> None:
    value = pod(**{key: {"a": 1}})
    value["spec"]["containers"][0][key] = []
    assert [each.path for each in unread(value)] == [
        paths.join("/spec/containers/0", key),
        paths.join("/spec", key),
    ]


def test_maps_take_any_key() -> None:
    value = pod(nodeSelector={"resource": "gpu"})
    value["metadata"]["labels"] = {"conatiners": "yes"}
    assert unread(value) == ()


@pytest.mark.parametrize("template", [{}, {"metadata": {}}, {"spec": {}}, {"spec": {"restartPolicy": "Never"}}])
def test_a_template_without_containers_is_found(template: paths.Object) -> None:
    job: paths.Object = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {}, "spec": {"template": template}}
    (found,) = unread(job)
    assert found.important
    assert found.path in {"/spec", "/spec/template", "/spec/template/spec"}


@pytest.mark.parametrize(
    ("api_version", "kind", "remedy"),
    [
        ("apps/v1", "Deploymnet", "did you mean kind: Deployment?"),
        ("kubeflow.org/v1", "PyTorchjob", "did you mean kind: PyTorchJob?"),
        ("v1", "Deployment", "did you mean apiVersion: apps/v1?"),
        ("apps/v1", "Job", "did you mean apiVersion: batch/v1?"),
        ("kubeflow.io/v1", "PyTorchJob", "did you mean apiVersion: kubeflow.org/v1?"),
        ("v1", "Pods", "did you mean kind: Pod?"),
    ],
)
def test_an_unknown_kind_gets_the_known_one_that_is_like_it(api_version: str, kind: str, remedy: str) -> None:
    (found,) = unread({"apiVersion": api_version, "kind": kind, "metadata": {"name": "one"}, "spec": {}})
    assert (found.remedy, found.important) == (remedy, True)


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [
        ("scheduling.x-k8s.io/v1", "PodCluster"),
        ("example.com/v1", "Job"),
        ("kubeflow.org/v1", "Profile"),
        ("v1", "List"),
        ("v1", "Config"),
        ("azmonitoring.coreos.com/v1", "ServiceMonitor"),
        ("inference.networking.x-k8s.io/v1alpha2", "InferencePool"),
    ],
)
def test_other_unknown_kinds_have_no_finding(api_version: str, kind: str) -> None:
    assert unread({"apiVersion": api_version, "kind": kind, "spec": {"conatiners": []}}) == ()


def test_a_definition_beside_the_object_wins() -> None:
    definition: dict[str, Any] = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "pytorchjobs.kubeflow.org"},
        "spec": {
            "group": "kubeflow.org",
            "names": {"kind": "PyTorchJob", "plural": "pytorchjobs"},
            "versions": [
                {
                    "name": "v1",
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "properties": {"spec": {"type": "object", "properties": {"gpus": {"type": "integer"}}}},
                        }
                    },
                }
            ],
        },
    }
    job: paths.Object = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "spec": {"gpus": 8, "gpu": 1}}
    assert [each.path for each in unread(job, definition)] == ["/spec/gpu"]
    assert [each.path for each in unread(job)] == ["/spec/gpus", "/spec/gpu"]


@pytest.mark.parametrize("broken", [{}, {"spec": None}, {"spec": {"names": {"kind": "PyTorchJob"}, "versions": 3}}])
def test_a_broken_definition_does_no_harm(broken: paths.Object) -> None:
    definition: paths.Object = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "x"},
        **broken,
    }
    assert unread({"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "spec": {}}, definition) == ()


SCHEMA: paths.Object = {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"properties": {"gpus": {}}}}}}


@pytest.mark.parametrize(("shared", "expected"), [({"validation": SCHEMA}, ["/spec/gpu"]), ({}, [])])
def test_versions_of_an_old_definition_share_one_schema_or_take_all_keys(
    shared: paths.Object, expected: list[str]
) -> None:
    definition: paths.Object = {
        "apiVersion": "apiextensions.k8s.io/v1beta1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "trains.example.com"},
        "spec": {"group": "example.com", "names": {"kind": "Train"}, "versions": [{"name": "v1"}], **shared},
    }
    found = unread({"apiVersion": "example.com/v1", "kind": "Train", "spec": {"gpu": 8}}, definition)
    assert [each.path for each in found] == expected


def test_a_version_that_kubernetes_served_once_is_named_with_its_successor() -> None:
    (found,) = unread({"apiVersion": "rbac.authorization.k8s.io/v1beta1", "kind": "Role", "metadata": {"name": "x"}})
    assert (found.text[-28:], found.remedy) == ("Kubernetes serves up to 1.21", "write rbac.authorization.k8s.io/v1")


def wrapped(**spec: Any) -> paths.Object:
    return {
        "apiVersion": "workload.codeflare.dev/v1beta2",
        "kind": "AppWrapper",
        "metadata": {"name": "one", "uid": "7b0f4c3e"},
        "spec": {"components": [{"template": pod(**spec)}]},
    }


def test_an_object_inside_a_field_that_takes_anything_is_compared_also_in_a_cluster() -> None:
    (found,) = unread(wrapped(resource={}))
    assert (found.path, found.kept) == ("/spec/components/0/template/spec/resource", True)
    assert unread(wrapped()) == ()


def test_a_definition_of_the_run_or_of_facts_wins() -> None:
    definition: dict[str, Any] = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "trains.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"kind": "Train"},
            "versions": [
                {"name": "v1", "schema": {"openAPIV3Schema": {"properties": {"spec": {"properties": {"gpus": {}}}}}}}
            ],
        },
    }
    value: paths.Object = {"apiVersion": "example.com/v1", "kind": "Train", "spec": {"gpu": 8}}
    of_run = Objects([], others=Objects([definition]))
    for beside, facts in ((of_run, None), (Objects([]), Definitions([definition]))):
        workload = with_unread_keys(None, value, beside=beside, facts=facts)
        assert workload is not None
        assert [each.remedy for each in workload.unread_keys] == ["did you mean gpus?"]
    assert with_unread_keys(None, value) is None


def test_a_text_of_a_config_map_that_only_mentions_a_configuration_is_not_compared() -> None:
    texts: dict[str, Any] = {"values.yaml": "devicePlugin:\n  migStrategy: none\n", "x": "- mig-devices"}
    assert unread({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": texts}) == ()


def test_a_mistake_in_a_configuration_names_the_text_and_its_reader() -> None:
    text = "version: v1\nsharing:\n  mps:\n    resources: [{name: nvidia.com/gpu, replicas: four}]\n"
    value: paths.Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}, "data": {"h100": text}}
    (found,) = unread(value)
    text = "has the string four at sharing.mps.resources[0].replicas, where the device plugin takes a whole number"
    assert (found.path, found.text) == ("/data/h100", f"{text} (configuration h100)")


def test_only_resources_of_a_queue_are_compared_and_no_names_of_flavors() -> None:
    def queue(resource: str) -> paths.Object:
        flavor: dict[str, Any] = {"name": "gpu", "resources": [{"name": resource, "nominalQuota": 8}]}
        group: dict[str, Any] = {"coveredResources": [resource], "flavors": [flavor]}
        kind: dict[str, Any] = {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "ClusterQueue"}
        return {**kind, "metadata": {"name": "one"}, "spec": {"resourceGroups": [group]}}

    assert unread(queue("nvidia.com/gpu")) == ()
    assert unread(queue("gpu")) == ()
    assert [each.remedy for each in unread(queue("nvidia.com/gpus"))] == ["write nvidia.com/gpu"] * 2


def test_a_field_that_kubernetes_has_moved_leads_to_its_new_place() -> None:
    claims: list[Any] = [{"name": "gpu", "source": {"resourceClaimName": "one"}}]
    [found] = unread(builders.pod(builders.container(), resourceClaims=claims))

    assert (found.path, found.important) == ("/spec/resourceClaims/0/source", True)
    assert found.remedy.startswith("write its resourceClaimName or resourceClaimTemplateName one level higher")


def job(**spec: Any) -> dict[str, Any]:
    template = {"spec": {"restartPolicy": "Never", **pod()["spec"], **spec}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "one"}, "spec": {"template": template}}


def deployment(labels: dict[str, str], selected: dict[str, str]) -> dict[str, Any]:
    template = {"metadata": {"labels": labels}, "spec": pod()["spec"]}
    spec = {"selector": {"matchLabels": selected}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "one"}, "spec": spec}


def service(**selector: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "one"}, "spec": {"selector": selector}}


def test_pods_of_a_job_that_would_restart_for_ever_are_refused() -> None:
    (found,) = unread(job(restartPolicy="Always"))
    assert (found.path, found.refused) == ("/spec/template/spec/restartPolicy", True)
    without = job()
    del without["spec"]["template"]["spec"]["restartPolicy"]
    assert [each.path for each in unread(without)] == ["/spec/template/spec"]
    assert unread(job()) == ()


def test_a_patch_of_a_job_may_leave_its_restart_policy_out() -> None:
    patch = job(containers=[{"name": "train"}])
    del patch["spec"]["template"]["spec"]["restartPolicy"]
    assert unread(patch) == ()


def test_a_selector_that_does_not_fit_its_own_template_is_refused() -> None:
    (found,) = unread(deployment({"apps": "llm"}, {"app": "llm"}))
    assert (found.path, found.refused) == ("/spec/selector/matchLabels/app", True)
    assert unread(deployment({"app": "llm", "more": "yes"}, {"app": "llm"})) == ()


@pytest.mark.parametrize(("schedule", "refused"), [("0 0 * *", 1), ("0 0 * * *", 0), ("@daily", 0), ("{{ .at }}", 0)])
def test_a_schedule_has_five_fields(schedule: str, refused: int) -> None:
    spec = {"schedule": schedule, "jobTemplate": {"spec": job()["spec"]}}
    value: dict[str, Any] = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "one"}, "spec": spec}
    assert len(unread(value)) == refused


@pytest.mark.parametrize(("app", "meant"), [("lm", "llm"), ("llm", ""), ("database", "llm")])
def test_a_selector_names_the_label_of_the_pods_that_it_is_meant_for(app: str, meant: str) -> None:
    found = unread(service(app=app), deployment({"app": "llm"}, {"app": "llm"}), service(app=app))
    assert [each.remedy for each in found] == ([f"did you mean {meant}?"] if meant else [])
    assert not any(each.important for each in found)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("vulcano", "volcano"),
        ("kai-sheduler", "kai-scheduler"),
        ("volcano", ""),
        ("my-scheduler", ""),
        ("volcano-2", ""),
    ],
)
def test_a_scheduler_with_a_slip_is_important(name: str, meant: str) -> None:
    found = [(each.path, each.remedy, each.important) for each in unread(pod(schedulerName=name))]
    assert found == ([("/spec/schedulerName", f"did you mean {meant}?", True)] if meant else [])


def test_a_volume_of_a_template_above_and_a_volume_that_an_operator_adds_may_be_mounted() -> None:
    value = deployment({"app": "llm"}, {"app": "llm"})
    containers = value["spec"]["template"]["spec"]["containers"]
    containers[0]["volumeMounts"] = [{"name": "data"}, {"name": "ssh-auth"}]
    assert [each.dangling for each in unread(value)] == [True]
    value["spec"]["volumeClaimTemplates"] = [{"metadata": {"name": "data"}}]
    assert not any(each.dangling for each in unread(value))


@pytest.mark.parametrize("wrong", [None, 1, "", [], [None], {"name": []}])
def test_names_of_a_wrong_type_do_no_harm(wrong: Any) -> None:
    templates: list[Any] = [
        {"name": wrong, "steps": [[{"template": wrong}]], "inputs": {"parameters": [{"name": wrong}]}}
    ]
    spec = {"entrypoint": wrong, "templates": templates, "volumes": wrong}
    unread({"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": {"labels": wrong}, "spec": spec})


def test_parameters_of_argo_may_be_numbers() -> None:
    given: dict[str, Any] = {"parameters": [{"name": "n", "value": 8, "enum": [4], "default": True}, {"name": 8}]}
    found = unread({"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "spec": {"arguments": given}})
    assert [each.path for each in found] == ["/spec/arguments/parameters/1/name"]


def test_tolerations_and_pull_policies_of_operators_take_the_texts_of_pods() -> None:
    spec: dict[str, Any] = {"tolerations": [{"key": "gpu", "operator": "Exist"}]}
    value: dict[str, Any] = {"apiVersion": "apps.nvidia.com/v1alpha1", "kind": "NemoDatastore", "spec": spec}
    assert [each.path for each in unread(value)] == ["/spec/tolerations/0/operator"]
    spec |= {"tolerations": [{"key": "gpu", "operator": "Exists"}], "image": {"pullPolicy": "always"}}
    assert [each.path for each in unread(value)] == ["/spec/image/pullPolicy"]


REPORTED = [
    value
    for file in sorted((Path(__file__).parents[2] / "reports").rglob("*.yaml"))[::4]
    for value in yaml.load_all(file.read_text(encoding="utf-8"), yaml.CSafeLoader)
    if isinstance(value, dict) and "apiVersion" in value
]
"""Objects with values that rules of controllers find."""


@pytest.mark.costly
def test_junk_anywhere_in_a_reported_object_is_survived() -> None:
    junk: list[paths.Json] = ["junk", 7, None, ["junk"], {"junk": "junk"}, [7], [{}]]
    for value in REPORTED:
        for number, (pointer, _) in enumerate(places(value)):
            if pointer:
                unread(builders.replaced(value, pointer, junk[number % len(junk)]))


@pytest.mark.costly
@pytest.mark.parametrize(
    "container",
    [
        {"command": ["mpirun", "-np", "9" * 5000]},
        {"command": ["torchrun", f"--nnodes={'9' * 5000}"]},
        {"command": ["torchrun " * 30_000]},
        {"command": ["mpirun " * 30_000]},
        {"command": ["vllm", "serve", "--port", "9" * 5000]},
        {"image": f"vllm/vllm-openai:v0.{'9' * 5000}.1", "env": [{"name": "VLLM_USE_V1", "value": "0"}]},
        {"command": ["vllm", "serve"], "readinessProbe": {"httpGet": {"port": "9" * 5000}}},
    ],
    ids=["processes", "nodes", "many starts", "many starts of MPI", "port", "image", "probe"],
)
def test_long_texts_and_numbers_are_survived(container: paths.Object) -> None:
    spec: paths.Json = {"containers": [{"name": "main", "image": "registry.example.com/main:1", **container}]}
    of_job: paths.Json = {"mpiReplicaSpecs": {"Launcher": {"template": {"spec": spec}}, "Worker": {"replicas": 2}}}
    mpi_job: paths.Object = {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "spec": of_job}
    assert all(len(each.text) < 1000 for each in (*unread(builders.job({"spec": spec})), *unread(mpi_job)))


ADDRESSING: paths.Object = {
    "containers": [{"name": "pytorch", "image": "a:1", "command": ["torchrun", "--master_addr=bert-worker-9"]}]
}
REPLICATED: paths.Object = {
    "apiVersion": "kubeflow.org/v1",
    "kind": "PyTorchJob",
    "metadata": {"name": "bert"},
    "spec": {"pytorchReplicaSpecs": {}},
}


def test_a_role_whose_name_would_be_a_broken_pattern_is_survived() -> None:
    value = builders.replaced(REPLICATED, "/spec/pytorchReplicaSpecs", {"W(": {"template": {"spec": ADDRESSING}}})
    assert "addresses the pod bert-worker-9" in " ".join(each.text for each in unread(value))
