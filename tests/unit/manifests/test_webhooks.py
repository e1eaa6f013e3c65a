"""The webhook configurations name the kinds of the registry."""

from collections.abc import Iterator

from usher import paths
from usher.manifests import webhooks
from usher.workloads.registry import KINDS


def rules(value: paths.Object) -> Iterator[paths.Object]:
    found = paths.resolve(value, "/webhooks/0/rules")
    assert isinstance(found, list)
    for rule in found:
        assert isinstance(rule, dict)
        yield rule


def asked_about(value: paths.Object) -> set[tuple[str, str]]:
    """Group and resource of all rules."""
    return {
        (str(group), str(resource))
        for rule in rules(value)
        for group in as_list(rule["apiGroups"])
        for resource in as_list(rule["resources"])
    }


def as_list(value: paths.Json) -> list[paths.Json]:
    assert isinstance(value, list)
    return value


def test_both_webhooks_are_asked_about_every_kind_that_an_api_server_serves() -> None:
    served = {(kind.group, kind.plural) for kind in KINDS if kind.plural}
    mutating, validating = webhooks.configurations(client=webhooks.Client())

    assert asked_about(mutating) == served
    assert asked_about(validating) == served | {("", "pods/ephemeralcontainers")}


def test_a_kind_that_no_api_server_serves_is_not_asked_about() -> None:
    assert not all(kind.plural for kind in KINDS)
    for configuration in webhooks.configurations(client=webhooks.Client()):
        assert all(rule["resources"] and all(as_list(rule["resources"])) for rule in rules(configuration))
        assert "2" not in {version for rule in rules(configuration) for version in as_list(rule["apiVersions"])}
