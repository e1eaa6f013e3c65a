"""The registry against the definitions of kinds, published ones or ours, and against itself."""

import re
from pathlib import Path

import pytest

import kind_definitions
from kind_definitions import definitions, versions
from shared_files import needs_shared
from usher.kinds.kind import Pods
from usher.kinds.registry import BY_KEY, FACTS, KINDS, PODS, WORKLOADS, owners_above

OWN = sorted(kind_definitions.OWN.rglob("*.yaml"))

NOT_WORKLOADS = re.compile(
    r"kueue\.x-k8s\.io/.*|cert-manager\.io/.*|monitoring\.coreos\.com/.*|.*[Rr]eports?\.?.*/.*Report|wgpolicyk8s.io/.*"
    r"|bus\.volcano\.sh/Command|topology\.volcano\.sh/HyperNode|kai\.scheduler/Topology"
    r"|scheduling\.(volcano\.sh|run\.ai)/(Queue|PodGroup)|scheduler\.grove\.io/PodGang|grove\.io/ClusterTopologyBinding"
    r"|resource\.nvidia\.com/.*|nvidia\.com/(ClusterPolicy|GPUCluster|NVIDIADriver)"
    r"|nvidia\.com/Dynamo(GraphDeploymentScalingAdapter|Model)|optimization\.nvidia\.com/ResourceInterface"
    r"|ome\.io/(AcceleratorClass|(Cluster)?BaseModel)|inference\.networking\.k8s\.io/InferencePool"
    r"|autoscaling\.aibrix\.ai/PodAutoscaler|workload\.serving\.volcano\.sh/AutoscalingPolicy"
    r"|workloads\.x-k8s\.io/RoleBasedGroupScalingAdapter"
    r"|serving\.kserve\.io/(ClusterStorageContainer|InferenceGraph)|serving\.knative\.dev/Route"
    r"|keda\.sh/ScaledObject|disaggregatedset\.x-k8s\.io/DisaggregatedSetRoleScaler|tekton\.dev/StepAction"
    r"|argoproj\.io/(?!Workflow|ClusterWorkflow|CronWorkflow).*"
)
"""Kinds that make no pods by a template of their own: settings, quotas, reports, growth of others, parts of pods."""

NOT_KNOWN_YET = {
    "kubeflow.org": {"Suggestion", "Trial"},
    "nvidia.com": {"DynamoGraphDeploymentRequest"},
}
"""Published kinds that make pods and that the registry lacks. usher reports where they hold pod specs as not judged."""


@pytest.mark.thorough
@pytest.mark.uses_definitions
def test_every_kind_is_registered_as_its_definition_says() -> None:
    wrong = []
    for found in definitions():
        kind = WORKLOADS.get((found.group, found.kind))
        if kind is not None:
            scope = "Cluster" if kind.cluster_scoped else "Namespaced"
            known = not found.served or found.version in kind.versions
            if not known or (kind.plural, scope) != (found.plural, found.scope):
                wrong.append((found, kind.plural, scope, kind.versions))

    assert wrong == []


@pytest.mark.thorough
@needs_shared("published definitions")
def test_every_kind_that_is_published_is_known_or_makes_no_pods() -> None:
    names = {f"{found.group}/{found.kind}" for found in definitions()}
    known = {f"{kind.group}/{kind.kind}" for kind in WORKLOADS.values()}

    not_known_yet = {f"{group}/{kind}" for group, kinds in NOT_KNOWN_YET.items() for kind in kinds}
    assert {name for name in names - known if not NOT_WORKLOADS.fullmatch(name)} == not_known_yet


@pytest.mark.thorough
@needs_shared("published definitions")
def test_our_own_definitions_say_what_the_published_ones_say() -> None:
    pairs = [(file, kind_definitions.PUBLISHED / file.relative_to(kind_definitions.OWN)) for file in OWN]
    both = [(file, published) for file, published in pairs if published.is_file()]

    assert len(both) > 50
    assert [file for file, published in both if set(versions(file)) != set(versions(published))] == []


def test_every_kind_that_is_not_built_in_has_a_definition_of_our_own() -> None:
    served = {
        Path(kind.group, f"{kind.plural}.yaml") for kind in WORKLOADS.values() if kind.plural and "." in kind.group
    }

    assert served <= {file.relative_to(kind_definitions.OWN) for file in OWN}


def test_every_kind_is_registered_once() -> None:
    assert len(BY_KEY) == len(KINDS)


@pytest.mark.parametrize("pods", PODS.values(), ids=["/".join(key) for key in PODS])
def test_every_kind_says_where_its_templates_stand_and_how_its_pods_are_counted(pods: Pods) -> None:
    assert pods.template_paths
    assert pods.counted
    assert pods.source
    assert pods.changes
    assert "|" not in "".join((*pods.template_paths, pods.counted, pods.source, pods.changes, pods.volcano))


def test_every_kind_serves_some_purpose() -> None:
    assert [
        kind for kind in KINDS if not (kind.pods or kind.key or kind.facts or kind.autoscaler or kind.bounds_nodes)
    ] == []
    assert [kind for kind in KINDS if bool(kind.key) != bool(kind.shape)] == []
    assert all(FACTS[kind.group_and_kind].plural for kind in KINDS if kind.facts is not None)


def test_every_owner_is_a_kind_that_makes_pods() -> None:
    assert {owner for kind in KINDS for owner in kind.owned_by} <= set(WORKLOADS)


def test_owners_stand_before_what_they_own() -> None:
    assert all(owners_above(owner) < owners_above(key) for key in BY_KEY for owner in BY_KEY[key].owned_by)
    assert max(BY_KEY, key=owners_above) == ("", "Pod")
    assert min(BY_KEY, key=owners_above) == ("workload.codeflare.dev", "AppWrapper")
