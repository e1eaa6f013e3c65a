"""The webhook for kinds that only constraints are about: what it names, and what others name already."""

from typing import Any

import pytest

from usher.extensions.gatekeeper.library import ANY_KIND, MatchedKind
from usher.install.manifests import webhooks
from usher.install.manifests.webhooks import Client


def of(*kinds: tuple[str, str]) -> Any:
    """The webhook about these groups and kinds; None without one."""
    found = webhooks.configurations(
        client=Client(), kinds=[MatchedKind(group=group, kind=kind) for group, kind in kinds]
    )
    all_of_them: Any = found[1]["webhooks"]
    last = all_of_them[-1]
    return last if last["name"] == "policies.gpu-usher.io" else None


def resources(webhook: Any) -> dict[str, list[str]]:
    return {group: rule["resources"] for rule in webhook["rules"] for group in rule["apiGroups"]}


def conditions(webhook: Any) -> dict[str, str]:
    return {each["name"]: each["expression"] for each in webhook.get("matchConditions", [])}


def test_kinds_of_kubernetes_are_named_by_their_resources() -> None:
    made = of(
        *(("", kind) for kind in ("Service", "Endpoints", "ConfigMap")),
        *(("networking.k8s.io", kind) for kind in ("Ingress", "IngressClass", "NetworkPolicy")),
        ("storage.k8s.io", "CSIStorageCapacity"),
    )

    assert resources(made) == {
        "": ["configmaps", "endpoints", "services"],
        "networking.k8s.io": ["ingressclasses", "ingresses", "networkpolicies"],
        "storage.k8s.io": ["csistoragecapacities"],
    }


def test_kinds_that_another_webhook_of_usher_asks_about_are_left_out() -> None:
    """Each question would be a denial twice, and a charge twice."""
    assert of(("", "Pod"), ("apps", "Deployment"), ("", "Namespace"), ("ray.io", "RayCluster")) is None
    assert resources(of(("", "Pod"), ("", "Service"))) == {"": ["services"]}


def test_of_other_groups_all_resources_are_named_and_a_condition_chooses_the_kinds() -> None:
    made = of(("example.com", "Gateway"), ("", "Service"))

    assert resources(made) == {"": ["services"], "example.com": [ANY_KIND]}
    assert conditions(made)["kinds-of-constraints"] == (
        "request.kind.group == '' && request.kind.kind in ['Service'] || "
        "request.kind.group == 'example.com' && request.kind.kind in ['Gateway']"
    )


def test_constraints_about_everything_ask_about_all_other_resources_but_secrets_and_heartbeats() -> None:
    made = of((ANY_KIND, ANY_KIND))

    assert resources(made) == {ANY_KIND: [ANY_KIND]}
    assert set(conditions(made)) == {"not-judged-already", "not-for-all-kinds"}
    assert (
        "request.resource.group == '' "
        "&& request.resource.resource in ['namespaces', 'nodes', 'persistentvolumes', 'pods'"
        in (conditions(made)["not-judged-already"])
    )
    left_out = conditions(made)["not-for-all-kinds"]
    assert all(f"'{name}'" in left_out for name in ("secrets", "events", "leases"))
    named = of((ANY_KIND, ANY_KIND), ("coordination.k8s.io", "Lease"), ("", "Secret"))
    assert "'leases'" not in conditions(named)["not-for-all-kinds"]
    assert "'secrets'" not in conditions(named)["not-for-all-kinds"]


@pytest.mark.parametrize("kinds", [[("", "Service")], [(ANY_KIND, ANY_KIND)]])
def test_it_fails_open_and_leaves_out_the_namespaces_that_all_others_leave_out(kinds: list[tuple[str, str]]) -> None:
    made = of(*kinds)
    others: Any = webhooks.configurations(client=Client())[1]["webhooks"]

    assert (made["failurePolicy"], made["sideEffects"]) == ("Ignore", "None")
    assert made["namespaceSelector"] == others[0]["namespaceSelector"]
    assert made["clientConfig"]["service"]["path"] == "/validate"


def test_without_constraints_nothing_changes() -> None:
    assert of() is None
