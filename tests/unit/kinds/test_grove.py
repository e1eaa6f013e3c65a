"""PodCliqueSet, PodClique and PodCliqueScalingGroup (ai-dynamo/grove)."""

import builders
from unit.workloads.normalised import counts, readable_workload, totals, unknowns, workload
from usher import model, paths
from usher.kinds.reading.values import Objects


def clique(
    name: str, *, gpus: int = 8, scheduler: str = "", **spec: builders.JsonValue
) -> dict[str, builders.JsonValue]:
    pods = builders.pod_spec(builders.container("engine", gpus=gpus))
    if scheduler:
        pods["schedulerName"] = scheduler
    return {"name": name, "spec": {"roleName": name, "podSpec": pods, **spec}}


def clique_set(
    *cliques: dict[str, builders.JsonValue], groups: builders.JsonValue = None, **spec: builders.JsonValue
) -> paths.Object:
    template = {"cliques": list(cliques), "podCliqueScalingGroups": groups}
    return builders.custom("grove.io/v1alpha1", "PodCliqueSet", {"replicas": 1, "template": template, **spec})


def group(name: str, *names: str, **fields: builders.JsonValue) -> dict[str, builders.JsonValue]:
    return {"name": name, "cliqueNames": list(names), **fields}


def test_pods_are_those_of_the_set_the_scaling_group_and_the_clique() -> None:
    found = clique_set(
        clique("leader"), clique("worker", replicas=3), clique("router", gpus=0),
        groups=[group("prefill", "leader", "worker", replicas=2)], replicas=2,
    )  # fmt: skip

    assert counts(found) == [
        ("leader", "/spec/template/cliques/0", 4, 4),
        ("worker", "/spec/template/cliques/1", 12, 12),
        ("router", "/spec/template/cliques/2", 2, 2),
    ]
    assert totals(found) == {builders.GPU: ("128", "128")}
    assert [(each.unit, each.groups) for each in workload(found).pod_sets] == [
        (model.Unit("prefill", 1), 4),
        (model.Unit("prefill", 3), 4),
        (model.Unit("router", 1), 2),
    ]


def test_a_set_without_replicas_makes_no_pods_and_a_clique_with_0_makes_one() -> None:
    assert counts(clique_set(clique("engine"), replicas=None)) == [("engine", "/spec/template/cliques/0", 0, 0)]
    assert counts(clique_set(clique("engine", replicas=0))) == [("engine", "/spec/template/cliques/0", 1, 1)]


def test_autoscaling_of_cliques_and_of_groups_has_bounds() -> None:
    alone = clique("a", replicas=2, autoScalingConfig={"maxReplicas": 5})
    scaled = group("g", "b", replicas=2, scaleConfig={"minReplicas": 1, "maxReplicas": 3})
    found = workload(clique_set(alone, clique("b", replicas=4), groups=[scaled]))

    assert [(each.count.minimum, each.count.maximum) for each in found.pod_sets] == [(2, 5), (4, 12)]
    assert found.pods.reason == "autoScalingConfig of Grove; scaleConfig of Grove"


def test_labels_and_annotations_stand_beside_the_spec_of_a_clique() -> None:
    found = workload(clique_set({**clique("a"), "labels": {"kai.scheduler/queue": "q"}, "annotations": {"b": "c"}}))

    assert found.pod_sets[0].labels == {"kai.scheduler/queue": "q"}
    assert found.pod_sets[0].metadata_path == "/spec/template/cliques/0"


def test_grove_makes_a_gang_for_kai_and_volcano_but_not_for_the_default_scheduler() -> None:
    gangs = {
        scheduler: workload(clique_set(clique("a", replicas=2, scheduler=scheduler))).gang.formed_by
        for scheduler in ("", "default-scheduler", "kai-scheduler", "volcano")
    }

    assert gangs == {
        "": "",
        "default-scheduler": "",
        "kai-scheduler": "a PodGroup of KAI-Scheduler that its operator makes",
        "volcano": "a PodGroup of Volcano that its operator makes",
    }


def test_a_set_serves_unless_its_programs_say_otherwise() -> None:
    assert readable_workload(clique_set(clique("a"))).role is model.Role.INFERENCE


def test_a_clique_has_the_pods_that_its_set_gives_it() -> None:
    spec = clique("a", replicas=2)["spec"]
    assert isinstance(spec, dict)
    found = builders.custom("grove.io/v1alpha1", "PodClique", spec, labels={"team": "a"})

    assert counts(found) == [("", "/spec", 2, 2)]
    assert workload(found).pod_sets[0].labels == {"team": "a"}


def test_a_scaling_group_counts_the_cliques_of_its_set() -> None:
    known = Objects([builders.replaced(clique_set(clique("a", replicas=2), clique("b")), "/metadata/name", "set")])
    found = builders.custom(
        "grove.io/v1alpha1",
        "PodCliqueScalingGroup",
        {"replicas": 3, "cliqueNames": ["a"]},
        labels={"app.kubernetes.io/part-of": "set"},
    )

    assert totals(found, objects=known) == {builders.GPU: ("48", "48")}
    assert unknowns(found) == [
        ("/spec/cliqueNames", "PodCliqueSet ml-research/set is not known here: its pods are not counted")
    ]


def test_a_gang_waits_for_the_least_pods_of_one_set() -> None:
    """Further replicas of the set and of the scaling group are gangs of their own."""
    engine = clique("engine", scheduler="volcano", replicas=3, minAvailable=2)
    router = clique("router", scheduler="volcano", replicas=2, gpus=0)
    several = clique_set(engine, router, groups=[group("g", "engine", replicas=4, minAvailable=2)], replicas=5)

    assert readable_workload(several).gang.minimum == 2 * 2 + 2
    assert workload(clique_set(engine, replicas=0)).gang.minimum is None
