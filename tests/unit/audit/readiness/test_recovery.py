"""The checklist: usher's webhooks, certificates, versions, backups."""

from typing import Any

import pytest

from builders.checklists import ca_certificate, checklist, definitions
from builders.estates import estate, gpu_node
from usher.audit.document import Standing
from usher.audit.estate import Estate
from usher.audit.standing.wanted import MUTATING, VALIDATING
from usher.install.manifests import webhooks as made
from usher.install.manifests.webhooks import Client


def installed(*, days: int = 300, **fields: Any) -> Estate:
    client = Client(ca_bundle=ca_certificate(days=days))
    found = made.configurations(client=client)
    for configuration in found:
        hooks = configuration["webhooks"]
        assert isinstance(hooks, list)
        configuration["webhooks"] = [{**hook, **fields} for hook in hooks if isinstance(hook, dict)]
    return estate(objects=found)


def test_webhooks_as_this_version_prints_them_pass() -> None:
    found = checklist(installed())["usher-webhooks"]

    assert found.standing is Standing.PASS
    assert "these fail closed:" in found.evidence[0]


def test_webhooks_without_all_kinds_fail() -> None:
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}]

    assert checklist(installed(rules=rules))["usher-webhooks"].standing is Standing.FAIL
    nothing = checklist(estate(without=[MUTATING, VALIDATING]))
    assert nothing["usher-webhooks"].standing is Standing.FAIL
    assert nothing["usher-certificate"].standing is Standing.NOT_APPLICABLE
    assert checklist(estate(without=[MUTATING]))["usher-webhooks"].standing is Standing.NOT_KNOWN


@pytest.mark.parametrize(("days", "standing"), [(300, Standing.PASS), (5, Standing.FAIL), (-1, Standing.FAIL)])
def test_a_certificate_has_to_be_valid_for_a_while(days: int, standing: Standing) -> None:
    assert checklist(installed(days=days))["usher-certificate"].standing is standing


def test_a_bundle_that_cannot_be_read_fails() -> None:
    assert checklist(installed(clientConfig={"caBundle": "no base64"}))["usher-certificate"].standing is Standing.FAIL


@pytest.mark.parametrize(
    ("server", "standing", "evidence"),
    [
        ("v1.36.2", Standing.PASS, "Kubernetes 1.36 gets patches until 2027-06-28"),
        ("v1.34.9+rke2r1", Standing.FAIL, "patches of Kubernetes 1.34 ended on 2026-10-27"),
        (
            "v1.34.9-gke.100",
            Standing.NOT_KNOWN,
            "patches of Kubernetes 1.34 ended on 2026-10-27 for the project; see the calendar of GKE",
        ),
        ("v1.29.0", Standing.FAIL, "Kubernetes 1.29; usher needs 1.30 or newer"),
        ("1.36+", Standing.PASS, "Kubernetes 1.36 gets patches until 2027-06-28"),
        ("v1.99.0", Standing.NOT_KNOWN, "usher does not know when Kubernetes 1.99 ends"),
        ("", Standing.NOT_KNOWN, "the API server does not tell its version"),
        ("v1." + "9" * 99, Standing.NOT_KNOWN, "the API server does not tell its version"),
    ],
)
def test_a_release_of_kubernetes_has_an_end(server: str, standing: Standing, evidence: str) -> None:
    found = checklist(estate(), server=server)["kubernetes-version"]

    assert (found.standing, found.evidence) == (standing, (evidence,))


@pytest.mark.parametrize(
    ("kubelet", "standing"),
    [
        ("v1.36.2", Standing.PASS),
        ("v1.33.0", Standing.PASS),
        ("v1.32.0", Standing.FAIL),
        ("v1.37.0", Standing.FAIL),
        ("unknown", Standing.NOT_KNOWN),
    ],
)
def test_kubelets_may_be_three_versions_older(kubelet: str, standing: Standing) -> None:
    seen = estate(nodes=[gpu_node(system={"kubeletVersion": kubelet})])

    assert checklist(seen, server="v1.36.2")["kubelet-versions"].standing is standing


def test_labels_of_nodes_say_whose_release_it_is_too() -> None:
    nodes = [gpu_node(labels={"kubernetes.azure.com/cluster": "MC_research"})]

    found = checklist(estate(nodes=nodes), server="v1.34.9")["kubernetes-version"]
    assert (found.standing, found.evidence[0].rpartition("; ")[2]) == (
        Standing.NOT_KNOWN,
        "see the calendar of AKS",
    )


def test_a_virtual_kubelet_has_versions_of_its_own() -> None:
    other = gpu_node("virtual", labels={"type": "virtual-kubelet"}, system={"kubeletVersion": "v1.15.2-vk"})
    real = gpu_node("real", system={"kubeletVersion": "v1.36.2"})

    assert checklist(estate(nodes=[other, real]), server="v1.36.2")["kubelet-versions"].standing is Standing.PASS
    assert checklist(estate(nodes=[other]), server="v1.36.2")["kubelet-versions"].standing is Standing.NOT_APPLICABLE


def test_backups_are_never_known() -> None:
    assert checklist(estate())["backups"].standing is Standing.NOT_KNOWN
    assert checklist(estate(), definitions("backups.velero.io"))["backups"].evidence[0] == "Velero is installed"
