"""The server may read only what decisions look at."""

from pathlib import Path

import yaml

from usher import paths
from usher.install.manifests import roles
from usher.kinds.registry import FACTS

MANIFESTS = Path(__file__).parents[4] / "manifests"


def granted(role: paths.Object) -> set[tuple[str, str, str]]:
    """Group, resource and verb of all rules."""
    rules = role["rules"]
    assert isinstance(rules, list)
    return {
        (str(group), str(resource), str(verb))
        for rule in rules
        if isinstance(rule, dict)
        for group in as_list(rule["apiGroups"])
        for resource in as_list(rule["resources"])
        for verb in as_list(rule["verbs"])
    }


def as_list(value: paths.Json) -> list[paths.Json]:
    assert isinstance(value, list)
    return value


def test_the_server_may_read_every_kind_of_fact_and_nothing_else() -> None:
    role, _ = roles.facts_roles()

    assert granted(role) == {
        (kind.group, kind.plural, verb)
        for kind in FACTS.values()
        if kind.kind not in ("ConfigMap", "PersistentVolume")
        for verb in (("list", "watch") if kind.presence_only else ("get", "list", "watch"))
    }


def test_it_may_list_config_maps_only_where_a_site_says_so() -> None:
    role, _ = roles.config_map_roles()

    assert granted(role) == {("", "configmaps", "list"), ("", "configmaps", "watch")}
    assert not {("", "configmaps"), ("", "persistentvolumes")} & {
        (group, resource) for group, resource, _ in granted(roles.facts_roles()[0])
    }


def test_it_writes_config_maps_only_in_a_namespace_that_holds_nothing_else() -> None:
    role, binding = roles.account_roles(namespace="policies")

    assert paths.resolve(role, "/metadata/namespace") == "policies-quotas"
    assert paths.resolve(binding, "/subjects/0/namespace") == "policies"


def test_no_role_may_read_secrets_or_write() -> None:
    for role, _ in (roles.facts_roles(), roles.config_map_roles(), roles.kueue_role()):
        assert not {resource for _, resource, _ in granted(role)} & {"secrets", "*"}
        assert {verb for _, _, verb in granted(role)} <= {"get", "list", "watch"}


def test_of_kueue_only_its_own_configuration_is_read_by_name() -> None:
    role, binding = roles.kueue_role(namespace="policies")

    assert paths.resolve(role, "/rules/0/resourceNames") == ["kueue-manager-config"]
    assert paths.resolve(role, "/metadata/namespace") == "kueue-system"
    assert paths.resolve(binding, "/subjects/0/namespace") == "policies"


def test_the_manifests_are_those_that_are_printed() -> None:
    for file, printed in (
        (MANIFESTS / "base" / "facts-role.yaml", roles.facts_roles()),
        (MANIFESTS / "kueue" / "facts-role.yaml", roles.kueue_role()),
        (MANIFESTS / "config-maps" / "role.yaml", roles.config_map_roles()),
    ):
        assert list(yaml.safe_load_all(file.read_text())) == list(printed)
