"""RoleBasedGroup and the objects that its operator makes of it; each case names the line that decides it.

R: api/workloads/v1alpha2/ and H: pkg/reconciler/roleinstanceset_reconciler.go of sgl-project/rbg at 993491fb.
"""

import pytest

import builders
from unit.workloads.normalised import counts, readable_workload, totals, unknowns, workload
from usher import model, paths

VERSION = "workloads.x-k8s.io/v1alpha2"
ROLE = "/spec/roles/0"


def template(gpus: int = 8, **spec: paths.Json) -> paths.Object:
    found = builders.template(builders.container("engine", gpus=gpus))
    for name, value in spec.items():
        found = builders.replaced(found, f"/spec/{name}", value)
    return found


def group(*roles: builders.JsonValue, version: str = VERSION, **spec: builders.JsonValue) -> paths.Object:
    return builders.custom(version, "RoleBasedGroup", {"roles": list(roles), **spec})


def role(pattern: str, value: builders.JsonValue, **fields: builders.JsonValue) -> builders.JsonValue:
    return {"name": "engine", pattern: value, **fields}


def unread(value: paths.Object) -> set[str]:
    return {path for path, _ in unknowns(value)}


def component(name: str, size: int, gpus: int = 8) -> builders.JsonValue:
    return {"name": name, "size": size, "template": template(gpus)}


CASES = {
    # R:rolebasedgroup_types.go:225, replicas has the default 1.
    "one pod": (role("standalonePattern", {"template": template()}), [("engine", "standalonePattern/template", 1, 1)]),
    "replicas": (
        role("standalonePattern", {"template": template()}, replicas=3),
        [("engine", "standalonePattern/template", 3, 3)],
    ),
    # H:340-420, one leader and size - 1 workers for each replica.
    "leader and workers": (
        role("leaderWorkerPattern", {"size": 4, "template": template()}, replicas=2),
        [("engine", "leaderWorkerPattern/template", 8, 8)],
    ),
    # R:rolebasedgroup_types.go:383, size has the default 1.
    "leader alone": (
        role("leaderWorkerPattern", {"template": template()}, replicas=2),
        [("engine", "leaderWorkerPattern/template", 2, 2)],
    ),
    # H:351-375, each part has a template of its own once a patch changes its spec.
    "leader with a patch": (
        role(
            "leaderWorkerPattern",
            {"size": 4, "template": template(), "leaderTemplatePatch": {"spec": {"priorityClassName": "high"}}},
            replicas=2,
        ),
        [
            ("engine-leader", "leaderWorkerPattern/leaderTemplatePatch", 2, 2),
            ("engine-worker", "leaderWorkerPattern/template", 6, 6),
        ],
    ),
    # H:262-320, all components of an instance, each as often as its size.
    "components": (
        role("customComponentsPattern", {"components": [component("a", 1), component("b", 2)]}, replicas=3),
        [
            ("engine-a", "customComponentsPattern/components/0/template", 3, 3),
            ("engine-b", "customComponentsPattern/components/1/template", 6, 6),
        ],
    ),
    # H:224-246, maxSurge has the default 0.
    "rollout": (
        role(
            "standalonePattern",
            {"template": template()},
            replicas=4,
            rolloutStrategy={"rollingUpdate": {"maxSurge": "50%"}},
        ),
        [("engine", "standalonePattern/template", 4, 6)],
    ),
    # R:rolebasedgroup_types.go:451, the adapter of a role is what autoscalers scale.
    "autoscaling": (
        role("standalonePattern", {"template": template()}, scalingAdapter={"enable": True}),
        [("engine", "standalonePattern/template", 1, None)],
    ),
}


@pytest.mark.parametrize(("value", "expected"), CASES.values(), ids=CASES)
def test_roles_make_the_pods_that_the_operator_makes(
    value: builders.JsonValue, expected: list[tuple[str, str, int, int | None]]
) -> None:
    assert counts(group(value)) == [(name, f"{ROLE}/{path}", least, most) for name, path, least, most in expected]


def test_the_older_version_makes_the_same_pods() -> None:
    """api/workloads/v1alpha1/rolebasedgroup_types.go: the template stands beside the settings of leader and workers."""
    older = "workloads.x-k8s.io/v1alpha1"
    of_workers: builders.JsonValue = {
        "name": "engine",
        "template": template(),
        "leaderWorkerSet": {"size": 4},
        "replicas": 2,
    }
    of_components = role("components", [component("a", 1), component("b", 2)], replicas=3)

    assert counts(group({"name": "engine", "template": template()}, version=older)) == [
        ("engine", f"{ROLE}/template", 1, 1)
    ]
    assert counts(group(of_workers, version=older)) == [("engine", f"{ROLE}/template", 8, 8)]
    assert totals(group(of_components, version=older)) == {builders.GPU: ("72", "72")}


def test_a_template_that_several_roles_name_is_patched_for_each() -> None:
    """R:helper.go:392-447, GetResolvedTemplate and applyStrategicMergePatch."""
    container: builders.JsonValue = {"name": "engine", "resources": {"limits": {builders.GPU: 4}}}
    patch: builders.JsonValue = {"spec": {"containers": [container, {"name": "proxy"}], "nodeSelector": None}}
    named: list[builders.JsonValue] = [
        {"name": "prefill", "standalonePattern": {"templateRef": {"name": "base"}}},
        {"name": "decode", "standalonePattern": {"templateRef": {"name": "base", "patch": patch}}},
    ]
    base: builders.JsonValue = {"name": "base", "template": template(8, nodeSelector={"pool": "h100"})}
    found = readable_workload(group(*named, roleTemplates=[base]))

    assert [str(each.accelerators[builders.GPU]) for each in found.pod_sets] == ["8", "4"]
    assert [len(each.containers) for each in found.pod_sets] == [1, 2]
    assert [dict(each.node_selector) for each in found.pod_sets] == [{"pool": "h100"}, {}]


def test_a_template_that_is_missing_and_a_directive_of_a_patch_are_unknown() -> None:
    missing: builders.JsonValue = {"name": "engine", "standalonePattern": {"templateRef": {"name": "base"}}}
    patch: builders.JsonValue = {"spec": {"$patch": "replace", "containers": []}}
    directive = role("leaderWorkerPattern", {"size": 2, "template": template(), "workerTemplatePatch": patch})

    assert unread(group(missing)) == {f"{ROLE}/standalonePattern/templateRef/name"}
    assert unread(group(directive)) == {f"{ROLE}/leaderWorkerPattern/workerTemplatePatch/spec/$patch"}


def test_roles_that_share_a_large_template_cost_no_more_than_the_object() -> None:
    large = builders.container("engine", env={f"A{number}": "b" for number in range(400)})
    base: builders.JsonValue = {"name": "base", "template": builders.template(large)}
    roles: list[builders.JsonValue] = [
        {"name": f"r{each}", "standalonePattern": {"templateRef": {"name": "base"}}} for each in range(400)
    ]
    found = unread(group(*roles, roleTemplates=[base]))

    assert any(path.endswith("/templateRef") for path in found)


@pytest.mark.parametrize(
    ("scheduler", "formed_by"),
    [("volcano", "a PodGroup of Volcano that its operator makes"), (None, model.GANG_IF_CONFIGURED)],
)
def test_the_annotation_makes_a_gang_for_the_scheduler_of_the_operator(scheduler: str | None, formed_by: str) -> None:
    """pkg/scheduler/volcano/manager.go isGangSchedulingEnabled; the option --scheduler-name names the scheduler."""
    value = group(role("standalonePattern", {"template": template(schedulerName=scheduler)}, replicas=2))
    value["metadata"] = {"name": "g", "annotations": {"rbg.workloads.x-k8s.io/group-gang-scheduling": "true"}}

    assert workload(value).gang.formed_by == formed_by


def test_sets_and_instances_multiply_what_they_hold() -> None:
    roles = [role("leaderWorkerPattern", {"size": 2, "template": template()}, replicas=3)]
    groups = builders.custom(VERSION, "RoleBasedGroupSet", {"replicas": 2, "groupTemplate": {"spec": {"roles": roles}}})
    components = [component("leader", 1), component("worker", 3)]
    instances = builders.custom(
        VERSION, "RoleInstanceSet", {"replicas": 2, "roleInstanceTemplate": {"components": components}}
    )

    assert totals(groups) == {builders.GPU: ("96", "96")}
    assert totals(instances) == {builders.GPU: ("64", "64")}
    assert totals(builders.custom(VERSION, "RoleInstance", {"components": components})) == {builders.GPU: ("32", "32")}
