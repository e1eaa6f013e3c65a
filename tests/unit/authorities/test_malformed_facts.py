"""Unreadable facts are reported by name, and never make an amount smaller than it may be."""

import pytest

import builders
from unit.workloads.normalised import workload
from usher import paths
from usher.authorities import limit_range
from usher.authorities.kueue import flavors as kueue_configuration
from usher.authorities.kueue import queues
from usher.authorities.kueue.capacity import Capacities
from usher.authorities.resource_quota import judge as resource_quota_judge
from usher.authorities.resource_quota.judge import NamespaceLimits
from usher.authorities.volcano import read as volcano_read
from usher.cluster.facts import store
from usher.cluster.facts.store import Store

GPU = ("a100", "nvidia.com/gpu")


def quota(cohort: paths.Json, gpus: int) -> paths.Object:
    flavors: paths.Json = [{"name": "a100", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": gpus}]}]
    groups: paths.Json = [{"coveredResources": ["nvidia.com/gpu"], "flavors": flavors}]
    return {"spec": {"cohortName": cohort, "resourceGroups": groups}}


def test_a_queue_whose_cohort_cannot_be_read_may_lend_to_any() -> None:
    """Without it less could be borrowed, which would turn away what the cluster admits."""
    mine = queues.cluster_queue("mine", quota("shared", 16))
    stray = queues.cluster_queue("stray", quota({"a": 1}, 64))
    alone = queues.cluster_queue("alone", quota(None, 16))
    capacities = Capacities([mine, stray, alone], [])

    reason = "ClusterQueue stray, spec.cohortName: expected a string, found an object"
    assert capacities.problems(mine) == (reason,)
    assert capacities.bound(mine, GPU) > 80
    assert capacities.problems(alone) == ()
    assert capacities.bound(alone, GPU) == 16


@pytest.mark.parametrize("value", [{"spec": {"parentName": 7}}, {"spec": {"parent": ["root"]}}, {"spec": "none"}])
def test_a_cohort_whose_parent_cannot_be_read_may_be_below_any(value: paths.Object) -> None:
    mine = queues.cluster_queue("mine", quota("shared", 16))
    capacities = Capacities([mine], [queues.cohort("stray", value)])

    assert [problem.split(":")[0].split(",")[0] for problem in capacities.problems(mine)] == ["Cohort stray"]
    assert capacities.bound(mine, GPU) > 16


def test_a_cluster_queue_without_a_readable_spec_does_not_select_nothing() -> None:
    """Null is a selector that takes no namespace; nobody knows what a spec of a wrong type says."""
    assert queues.cluster_queue("q", {"spec": {}}).namespace_selector is None
    assert queues.cluster_queue("q", {"spec": 7}).namespace_selector is not None


@pytest.mark.parametrize(
    ("reason", "told"), [("Stopped", "Stopped"), ("", "Unknown"), (None, "Unknown"), ("Ready", "Unknown"), (7, "")]
)
def test_a_status_that_cannot_be_read_makes_no_queue_inactive(reason: paths.Json, told: str) -> None:
    condition: paths.Json = {"type": "Active", "status": "False", "reason": reason}

    queue = queues.cluster_queue("q", {"spec": {}, "status": {"conditions": [condition]}})

    assert queue.state.inactive == told


@pytest.mark.parametrize("key", ["key", "operator", "value", "effect"])
def test_a_toleration_of_a_flavor_that_cannot_be_read_is_a_problem_of_it(key: str) -> None:
    flavor = kueue_configuration.read_flavor("open", {"spec": {"tolerations": [{"operator": "Exists", key: {"a": 1}}]}})

    assert flavor.problems == (f"ResourceFlavor open, spec.tolerations[0].{key}: expected a string, found an object",)


@pytest.mark.parametrize(
    ("spec", "place"), [(7, "spec"), ({"levels": 7}, "spec.levels"), ({"levels": [{"nodeLabel": 7}]}, "spec.levels[0]")]
)
def test_a_topology_that_cannot_be_read_is_named(spec: paths.Json, place: str) -> None:
    (problem,) = kueue_configuration.read_topology("racks", {"spec": spec}).problems

    assert problem.startswith(f"Topology racks, {place}")


@pytest.mark.parametrize(
    "text",
    ["integrations: 7", "integrations: {frameworks: pod}", "integrations: {externalFrameworks: {a: 1}}"],
)
def test_integrations_that_cannot_be_read_are_not_those_without_a_list(text: str) -> None:
    found = kueue_configuration.read_configuration(text)

    assert found.known
    assert found.frameworks is None
    assert found.problems


def test_a_configuration_that_is_not_an_object_is_unknown() -> None:
    found = kueue_configuration.read_configuration("7")

    assert not found.known
    assert found.frameworks is None
    assert found.problems == ("ConfigMap kueue-manager-config contains no configuration",)


@pytest.mark.parametrize(
    "spec",
    [
        {"scopeSelector": 7},
        {"scopeSelector": {"matchExpressions": 7}},
        {"scopeSelector": {"matchExpressions": ["PriorityClass"]}},
        {"scopeSelector": {"matchExpressions": [{"scopeName": "PriorityClass", "operator": 7}]}},
        {"scopeSelector": {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": "a"}]}},
        {"scopes": "BestEffort"},
        {"scopes": [7]},
    ],
)
def test_a_quota_with_unreadable_scopes_may_count_any_pod(spec: paths.Object) -> None:
    found = resource_quota_judge.read({"compute": {"spec": spec}})

    assert resource_quota_judge.UNREADABLE in found.all[0].scopes
    assert {each.of for each in found.unreadable} == {"ResourceQuota compute"}


def test_of_a_readable_quota_the_scopes_are_as_written() -> None:
    found = resource_quota_judge.read({"compute": {"spec": {"scopes": ["Terminating"]}}})

    assert found.all[0].scopes == (resource_quota_judge.Scope(name="Terminating"),)
    assert found.unreadable == ()


def test_an_invalid_resource_name_bounds_nothing() -> None:
    found = resource_quota_judge.read({"compute": {"spec": {"hard": {"pods\nand more": "1", "pods": "2"}}}})

    assert list(found.all[0].hard) == ["pods"]


def many(count: int) -> paths.Object:
    """A resource list with so many entries."""
    return {f"count/kind-{number}": "1" for number in range(count)}


def expression(*values: str) -> paths.Json:
    return {"scopeName": "PriorityClass", "operator": "In", "values": list(values)}


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"hard": many(257)}, "spec.hard"),
        ({"scopes": ["Terminating"] * 257}, "spec.scopes"),
        ({"scopeSelector": {"matchExpressions": [expression("a")] * 257}}, "spec.scopeSelector.matchExpressions"),
        (
            {"scopeSelector": {"matchExpressions": [expression(*many(257))]}},
            "spec.scopeSelector.matchExpressions[0].values",
        ),
    ],
)
def test_what_of_a_quota_goes_beyond_the_bound_is_said_not_to_be_read(spec: paths.Object, field: str) -> None:
    (unreadable,) = resource_quota_judge.read({"compute": {"spec": spec}}).unreadable

    assert (unreadable.of, unreadable.field) == ("ResourceQuota compute", field)
    assert unreadable.reason == "has 257 entries, and only the first 256 are read"


def test_as_much_as_the_bound_is_read_whole() -> None:
    found = resource_quota_judge.read({"compute": {"spec": {"hard": many(256), "scopes": ["Terminating"] * 256}}})

    assert found.unreadable == ()
    assert len(found.all[0].hard) == len(found.all[0].scopes) == 256


@pytest.mark.parametrize("values", [[*many(256), "research"], "research", [7]])
def test_pods_may_be_in_a_scope_that_is_only_partly_readable(values: paths.Json) -> None:
    """The readable rest may not hold for the pods, and then the quota would seem not to count them."""
    selector: paths.Json = {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": values}]}
    found = resource_quota_judge.read({"compute": {"spec": {"hard": {"pods": "1"}, "scopeSelector": selector}}})
    value = workload(builders.pod(builders.container(), priorityClassName="research"))

    verdict = resource_quota_judge.judge(value, NamespaceLimits(quotas=found))

    assert verdict is not None
    assert [each.quota for each in verdict.unclear] == ["compute"]


def test_the_first_unread_quota_of_a_namespace_names_the_limit_on_quotas() -> None:
    quotas: dict[str, paths.Object] = {f"quota-{number:03}": {"spec": {"hard": {"pods": "1"}}} for number in range(258)}
    first = dict(sorted(quotas.items())[:256])
    found = resource_quota_judge.read(quotas)

    assert resource_quota_judge.read(first).unreadable == ()
    assert [quota.name for quota in found.all] == list(first)
    assert [(each.of, each.field, each.reason) for each in found.unreadable] == [
        (
            "ResourceQuota quota-256",
            "spec",
            "is not read: the namespace has 258 ResourceQuotas, and only the first 256 are read",
        )
    ]


def test_the_first_unread_limit_range_of_a_namespace_is_a_problem() -> None:
    ranges: dict[str, paths.Object] = {f"limits-{number:03}": {"spec": {"limits": []}} for number in range(257)}

    assert [each.of for each in limit_range.read_ranges(ranges).unreadable] == ["LimitRange limits-256"]


def test_the_first_limit_range_with_unread_bounds_is_a_problem() -> None:
    ranges: dict[str, paths.Object] = {
        f"limits-{letter}": {"spec": {"limits": [{"type": "Container", "max": many(128)}]}} for letter in "abc"
    }
    two = {name: value for name, value in ranges.items() if name != "limits-c"}
    found = limit_range.read_ranges(ranges)

    assert limit_range.read_ranges(two).unreadable == ()
    assert len(found.bounds) == 256
    assert [(each.of, each.field, each.reason) for each in found.unreadable] == [
        (
            "LimitRange limits-c",
            "spec.limits",
            "sets bounds beyond the first 256 of its namespace; usher reads only these",
        )
    ]


def test_of_a_capability_of_a_volcano_queue_beyond_the_bound_is_said_that_it_is_not_read() -> None:
    (unreadable,) = volcano_read.read_queues({"nlp": {"spec": {"capability": many(300)}}}).by_name["nlp"].unreadable

    assert (unreadable.of, unreadable.field) == ("Queue nlp", "spec.capability")
    assert unreadable.reason == "has 300 entries, and only the first 256 are read"


def test_one_unreadable_limit_range_is_a_problem_with_its_field() -> None:
    found = limit_range.read_ranges(
        {"odd": {"spec": {"limits": [{"type": "Container", "default": {"cpu": "7 apples"}}]}}}
    )

    (unreadable,) = found.unreadable
    assert (unreadable.of, unreadable.field) == ("LimitRange odd", "spec.limits[0].default.cpu")


@pytest.mark.parametrize(
    ("spec", "queue", "minimum", "fields"),
    [
        (None, "", 0, []),
        ({"queue": "a", "minMember": 4}, "a", 4, []),
        ({"queue": "a"}, "a", 0, []),
        (7, None, None, ["spec"]),
        ({"queue": 7, "minMember": 4}, None, 4, ["spec.queue"]),
        ({"queue": "a", "minMember": "4"}, "a", None, ["spec.minMember"]),
        ({"queue": "a", "minMember": True}, "a", None, ["spec.minMember"]),
        ({"queue": "a", "minMember": 2**31 - 1}, "a", 2**31 - 1, []),
        ({"queue": "a", "minMember": 2**31}, "a", None, ["spec.minMember"]),
        ({"queue": "a", "minMember": 10**30}, "a", None, ["spec.minMember"]),
    ],
)
def test_of_a_pod_group_counts_what_can_be_read(
    spec: paths.Json, queue: str | None, minimum: int | None, fields: list[str]
) -> None:
    found = volcano_read.read_pod_group("four", {"spec": spec})

    assert (found.queue, found.minimum) == (queue, minimum)
    assert [each.field for each in found.unreadable] == fields


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (None, {}),
        ({"team": "nlp"}, {"team": "nlp"}),
        ({"team": None}, {"team": ""}),
        ({"team": 7, "tier": "gold"}, None),
        ("team=nlp", None),
    ],
)
def test_the_labels_of_a_namespace_are_either_complete_or_unknown(
    labels: paths.Json, expected: dict[str, str] | None
) -> None:
    value: paths.Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ml", "labels": labels}}

    found = store.namespace_labels("ml", Store.of([value]))

    assert found == (None if expected is None else {"kubernetes.io/metadata.name": "ml"} | expected)
    assert store.namespace_labels("other", Store.of([value])) is None
