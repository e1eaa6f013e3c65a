"""The registry against the definitions of kinds, published ones or ours, and against itself."""

import re
from pathlib import Path

import pytest

import kind_definitions
from kind_definitions import definitions, versions
from shared_files import needs_shared
from usher.kinds.kept_fields import BY_KEY
from usher.kinds.kind import Kind
from usher.kinds.registry import BY_GROUP_AND_KIND, KINDS, LISTED
from usher.kinds.view import View

OWN = sorted(kind_definitions.OWN.rglob("*.yaml"))

NOT_WORKLOADS = re.compile(
    r"kueue\.x-k8s\.io/.*|cert-manager\.io/.*|monitoring\.coreos\.com/.*|.*[Rr]eports?\.?.*/.*Report|wgpolicyk8s.io/.*"
    r"|bus\.volcano\.sh/Command|topology\.volcano\.sh/HyperNode|kai\.scheduler/Topology"
    r"|scheduling\.(volcano\.sh|run\.ai)/(Queue|PodGroup)"
    r"|resource\.nvidia\.com/.*|nvidia\.com/.*"
    r"|serving\.kserve\.io/(ClusterStorageContainer|InferenceGraph)|serving\.knative\.dev/Route"
    r"|keda\.sh/ScaledObject|disaggregatedset\.x-k8s\.io/DisaggregatedSetRoleScaler|tekton\.dev/StepAction"
    r"|argoproj\.io/(?!Workflow|ClusterWorkflow|CronWorkflow).*"
)
"""Kinds that make no pods by a template of their own: settings, quotas, reports, growth of others, parts of pods."""


@pytest.mark.thorough
@pytest.mark.uses_definitions
def test_every_kind_is_registered_as_its_definition_says() -> None:
    wrong = []
    for found in definitions():
        kind = BY_GROUP_AND_KIND.get((found.group, found.kind))
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
    known = {f"{kind.group}/{kind.kind}" for kind in KINDS}

    assert {name for name in names - known if not NOT_WORKLOADS.fullmatch(name)} == set()


@needs_shared("published definitions")
def test_our_own_definitions_say_what_the_published_ones_say() -> None:
    pairs = [(file, kind_definitions.PUBLISHED / file.relative_to(kind_definitions.OWN)) for file in OWN]
    both = [(file, published) for file, published in pairs if published.is_file()]

    assert len(both) > 50
    assert [file for file, published in both if set(versions(file)) != set(versions(published))] == []


def test_every_kind_that_is_not_built_in_has_a_definition_of_our_own() -> None:
    served = {Path(kind.group, f"{kind.plural}.yaml") for kind in KINDS if kind.plural and "." in kind.group}

    assert served <= {file.relative_to(kind_definitions.OWN) for file in OWN}


def test_every_kind_is_registered_once() -> None:
    assert len(BY_GROUP_AND_KIND) == len(KINDS)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.group}/{kind.kind}")
def test_every_kind_says_where_its_templates_stand_and_how_its_pods_are_counted(kind: Kind) -> None:
    assert kind.template_paths
    assert kind.counted
    assert kind.source
    assert kind.changes
    assert "|" not in "".join((*kind.template_paths, kind.counted, kind.source, kind.changes, kind.volcano))


@pytest.mark.parametrize(
    "kind", [each for each in LISTED if (each.group, each.kind) in BY_KEY], ids=lambda each: each.kind
)
def test_an_audit_lists_a_kind_in_the_version_in_which_its_facts_are_read(kind: Kind | View) -> None:
    """Where the API server does not convert, an object of the other version has lost what only its own can say."""
    assert kind.versions == BY_KEY[kind.group, kind.kind].versions
