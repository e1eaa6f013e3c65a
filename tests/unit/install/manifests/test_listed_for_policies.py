"""An audit may list the kinds of a site's policies: kinds become resources, and Secrets are never among them."""

import pytest

from usher.extensions.gatekeeper.library import MatchedKind
from usher.install.manifests import roles


def kind(group: str, name: str) -> MatchedKind:
    return MatchedKind(group=group, kind=name)


@pytest.mark.parametrize(
    ("named", "resource"),
    [
        (kind("", "Service"), ("", "services")),
        (kind("networking.k8s.io", "NetworkPolicy"), ("networking.k8s.io", "networkpolicies")),
        (kind("kubeflow.org", "PyTorchJob"), ("kubeflow.org", "pytorchjobs")),
        (kind("cert-manager.io", "Certificate"), ("cert-manager.io", "*")),
        (kind("apps", "*"), ("apps", "*")),
        (kind("coordination.k8s.io", "Lease"), ("coordination.k8s.io", "leases")),
    ],
)
def test_a_kind_is_listed_by_its_resource_or_with_its_group(named: MatchedKind, resource: tuple[str, str]) -> None:
    found = roles.resources_to_list([named])

    assert (found.resources, found.left_out) == ((resource,), ())


@pytest.mark.parametrize(
    "named", [kind("", "*"), kind("*", "*"), kind("*", "Pod"), kind("", "Secret"), kind("*", "Secret")]
)
def test_no_wildcard_and_no_name_gives_a_right_to_secrets(named: MatchedKind) -> None:
    groups = {group for group, _ in roles.resources_to_list([named]).resources}
    plurals = {plural for group, plural in roles.resources_to_list([named]).resources if not group}

    assert "*" not in groups
    assert plurals.isdisjoint({"*", "secrets"})


def test_a_kind_without_a_rule_is_said_with_a_remedy() -> None:
    found = roles.resources_to_list([kind("", "Secret"), kind("*", "Ingress"), kind("*", "*")])

    assert [each.split(":")[0] for each in found.left_out] == [
        "a policy is about Secrets",
        "a policy is about all kinds of all groups",
        "a policy is about the kind Ingress of all groups",
    ]


def test_a_kind_of_all_groups_is_listed_where_usher_knows_it() -> None:
    assert ("", "pods") in roles.resources_to_list([kind("*", "Pod")]).resources
    assert ("", "configmaps") in roles.resources_to_list([kind("", "*")]).resources
