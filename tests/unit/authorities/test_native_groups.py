"""PodGroups of Kubernetes: the slice for Rego, and the gang of an object (API:scheduling/v1beta1/types.go)."""

import pytest

import builders
from unit.authorities.knowing import case, knowing
from unit.workloads.normalised import workload
from usher import model, paths
from usher.authorities import pod_groups
from usher.cluster.facts.store import Store
from usher.config import models

GROUP = ("scheduling.k8s.io", "PodGroup")


def group(policy: paths.Json, **spec: paths.Json) -> paths.Object:
    return {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "train", "namespace": "ml"},
        "spec": {"schedulingPolicy": policy, **spec},
    }


def member(name: str = "train") -> paths.Object:
    template = builders.template(builders.container(gpus=8), schedulingGroup={"podGroupName": name})
    return builders.job(template, namespace="ml", parallelism=4, completions=4)


def own_gang(policy: paths.Json) -> paths.Object:
    """A Job with `spec.scheduling`."""
    job = builders.job(builders.template(builders.container(gpus=8)), namespace="ml", parallelism=4, completions=4)
    return builders.replaced(job, "/spec/scheduling", {"schedulingPolicy": policy})


def known_group(value: paths.Object) -> pod_groups.PodGroupInput:
    found = pod_groups.input_slice(case(member()), knowing(Store.of([value])))
    assert found is not None
    assert found["served"]
    return found["named"][0]


def test_a_group_says_its_policy_its_minimum_and_its_class() -> None:
    assert known_group(group({"gang": {"minCount": 4}}, priorityClassName="high")) == {
        "of": "the scheduler of Kubernetes",
        "name": "train",
        "path": "/spec/template/spec/schedulingGroup/podGroupName",
        "field": "minCount",
        "least": 4,
        "most": 4,
        "exists": True,
        "minimum": 4,
        "policy": "gang",
        "priorityClass": "high",
    }


def test_a_basic_group_has_no_minimum() -> None:
    found = known_group(group({"basic": {}}))

    assert (found["policy"], found["priorityClass"], "minimum" in found) == ("basic", "", False)


@pytest.mark.parametrize("policy", [{}, {"gang": {"minCount": 4}, "basic": {}}, "gang", None])
def test_a_policy_that_the_api_server_refuses_is_unknown(policy: paths.Json) -> None:
    assert "policy" not in known_group(group(policy))


def test_a_cluster_that_serves_no_groups_is_known_not_to() -> None:
    facts = Store()
    facts.lacks(GROUP)
    found = pod_groups.input_slice(case(member()), knowing(facts))

    assert found is not None
    assert not found["served"]
    assert list(pod_groups.outlook_sections(case(member()), knowing(facts))) == []


def test_without_facts_it_is_unknown_whether_groups_are_served() -> None:
    found = pod_groups.input_slice(case(member()), knowing(Store()))

    assert found is not None
    assert "served" not in found
    assert "exists" not in found["named"][0]


def test_a_queue_says_that_no_pod_starts_with_another_class() -> None:
    known = knowing(Store.of([group({"gang": {"minCount": 4}}, priorityClassName="high")]))
    (section,) = pod_groups.outlook_sections(case(member()), known)

    assert section.reasons == ("PodGroup train has high, its pods have no class, and both must have one priority",)


@pytest.mark.parametrize(("policy", "minimum"), [({"gang": {}}, None), ({"gang": {"minCount": 3}}, 3)])
def test_a_job_asks_for_a_gang_itself(policy: paths.Json, minimum: int | None) -> None:
    gang = workload(own_gang(policy)).gang

    assert (gang.wanted, gang.formed_by, gang.minimum) == (True, model.GANG_OF_JOBS, minimum)
    assert pod_groups.input_slice(case(own_gang(policy)), knowing(Store())) == {"named": []}


@pytest.mark.parametrize("policy", [{"basic": {}}, {}, None])
def test_a_job_with_another_policy_makes_no_gang(policy: paths.Json) -> None:
    assert not workload(own_gang(policy)).gang.wanted
    assert pod_groups.input_slice(case(own_gang(policy)), knowing(Store())) is None


def test_the_runs_of_a_cron_job_ask_for_gangs_too() -> None:
    spec: paths.Object = {"schedule": "@daily", "jobTemplate": {"spec": own_gang({"gang": {}})["spec"]}}

    assert workload(builders.custom("batch/v1", "CronJob", spec)).gang.formed_by == model.GANG_OF_JOBS


def test_a_route_to_kubernetes_needs_to_know_whether_it_serves_groups() -> None:
    config = models.Config.model_validate({"routing": [{"scheduler": "native", "kinds": ["batch/Job"]}]})
    facts = Store()
    facts.lacks(GROUP)
    plain = builders.job(builders.template(builders.container(gpus=8)))

    assert pod_groups.input_slice(case(plain), knowing(facts, config)) == {"named": [], "served": False}
    assert config.routing[0].name == "default-scheduler"


def composite(name: str, groups: int, parent: str = "") -> paths.Object:
    spec: paths.Object = {"schedulingPolicy": {"gang": {"minGroupCount": groups}}}
    return {
        "apiVersion": "scheduling.k8s.io/v1alpha3",
        "kind": "CompositePodGroup",
        "metadata": {"name": name, "namespace": "ml"},
        "spec": spec | ({"parentCompositePodGroupName": parent} if parent else {}),
    }


def below(name: str, parent: str, minimum: int) -> paths.Object:
    found = group({"gang": {"minCount": minimum}}, parentCompositePodGroupName=parent)
    return builders.replaced(found, "/metadata/name", name)


def test_a_group_says_which_groups_stand_above_it() -> None:
    facts = Store.of([below("train", "step", 4), composite("step", 1, "root"), composite("root", 2)])
    found = pod_groups.input_slice(case(member()), knowing(facts))

    assert found is not None
    assert found["named"][0]["above"] == [
        {"name": "step", "exists": True, "minimum": 1, "groups": 1, "priorityClass": ""},
        {"name": "root", "exists": True, "minimum": 2, "groups": 1, "priorityClass": ""},
    ]
    (section,) = pod_groups.outlook_sections(case(member()), knowing(facts))
    assert section.reasons == (
        "CompositePodGroup root above PodGroup train waits for 2 groups, so no pod of the hierarchy starts",
    )


def test_a_cycle_of_groups_ends() -> None:
    facts = Store.of([below("train", "one", 4), composite("one", 1, "two"), composite("two", 1, "one")])
    found = pod_groups.input_slice(case(member()), knowing(facts))

    assert found is not None
    assert len(found["named"][0]["above"]) == 5
    assert found["named"][0]["above"][-1]["invalid"] == "they have a cycle or more than 4 levels"


@pytest.mark.parametrize(("groups", "minimum"), [(2, 5), (1, 4)])
def test_groups_that_a_composite_group_waits_for_start_together(groups: int, minimum: int) -> None:
    facts = Store.of([below("train", "root", 4), below("drive", "root", 1), composite("root", groups)])
    jobs = [
        builders.template(builders.container(gpus=8), schedulingGroup={"podGroupName": name})
        for name in ("train", "drive")
    ]
    replicated: paths.Json = [
        {"name": f"r{number}", "template": {"spec": {"parallelism": 4, "completions": 4, "template": each}}}
        for number, each in enumerate(jobs)
    ]
    job_set = builders.custom("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": replicated}, namespace="ml")

    assert pod_groups.with_minimum_of_groups(case(job_set), knowing(facts)).gang.minimum == minimum


def by_workload() -> paths.Object:
    reference: paths.Json = {"name": "train", "podGroup": "workers", "podGroupReplicaKey": "a"}
    template = builders.template(builders.container(gpus=8), workloadRef=reference)
    return builders.job(template, namespace="ml", parallelism=4, completions=4)


def test_pods_of_kubernetes_1_35_name_a_group_of_a_workload() -> None:
    policy: paths.Json = {"gang": {"minCount": 3}}
    known_workload: paths.Object = {
        "apiVersion": "scheduling.k8s.io/v1alpha1",
        "kind": "Workload",
        "metadata": {"name": "train", "namespace": "ml"},
        "spec": {"podGroups": [{"name": "workers", "policy": policy}]},
    }
    facts = Store.of([known_workload])
    facts.lacks(GROUP)
    found = pod_groups.input_slice(case(by_workload()), knowing(facts))

    assert workload(by_workload()).gang.formed_by == model.GANG_OF_KUBERNETES
    assert found == {
        "named": [
            {
                "of": "the scheduler of Kubernetes",
                "name": "train/workers/a",
                "path": "/spec/template/spec/workloadRef/podGroup",
                "field": "minCount",
                "least": 4,
                "most": 4,
                "exists": True,
                "minimum": 3,
                "policy": "gang",
            }
        ],
        "served": True,
    }
    facts.lacks(("scheduling.k8s.io", "Workload"))
    without = pod_groups.input_slice(case(by_workload()), knowing(facts))
    assert without is not None
    assert not without["served"]
