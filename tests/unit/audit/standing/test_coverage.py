"""Findings about what usher's webhooks leave out, and what other webhooks block."""

from typing import Any

import pytest

from builders.estates import entry, estate, gpu_node
from builders.standings import found, namespaces
from usher import model, paths
from usher.audit.gather.estate import Estate, Workload
from usher.audit.gather.needed_inputs import MUTATING, VALIDATING
from usher.config import models
from usher.install.manifests import webhooks as made
from usher.install.manifests.webhooks import Client

COVERAGE = ("USA050", "USA051", "USA052", "USA053")
OTHERS = ("USA054", "USA055")
SPACE = "ml-research"


def ours(**fields: Any) -> list[paths.Object]:
    """The configurations that usher prints; each webhook with other fields where they are given."""
    found = made.configurations(client=Client(namespace="gpu-usher"))
    for configuration in found:
        hooks = configuration["webhooks"]
        assert isinstance(hooks, list)
        configuration["webhooks"] = [{**hook, **fields} for hook in hooks if isinstance(hook, dict)]
    return found


def covered(*workloads: Workload, **fields: Any) -> Estate:
    return estate(workloads=workloads, objects=ours(**fields))


def test_with_all_webhooks_every_kind_is_covered() -> None:
    seen = covered(entry("Job"), entry("PyTorchJob"), entry("Notebook", role=model.Role.INTERACTIVE))

    assert found(seen, namespaces(SPACE), codes=COVERAGE) == []


def test_without_webhooks_nothing_is_judged() -> None:
    seen = estate(workloads=[entry()], without=[VALIDATING.key, MUTATING.key])

    (finding,) = found(seen, namespaces(SPACE), codes=COVERAGE)
    assert (finding.code, finding.message) == (
        "USA050",
        "no ValidatingWebhookConfiguration of usher is registered, and the cluster has 1 workload with accelerators",
    )


def test_a_cluster_without_accelerators_needs_no_webhooks() -> None:
    assert found(estate(without=[VALIDATING.key, MUTATING.key]), namespaces(SPACE), codes=COVERAGE) == []
    assert len(found(estate(nodes=[gpu_node()], without=[VALIDATING.key, MUTATING.key]), codes=COVERAGE)) == 1


@pytest.mark.parametrize(("resource", "codes"), [("pods", []), ("jobs", ["USA051"])])
def test_of_a_kind_that_usher_does_not_know_it_judges_the_pods(resource: str, codes: list[str]) -> None:
    rule: paths.Object = {
        "apiGroups": ["", "batch"],
        "apiVersions": ["v1"],
        "resources": [resource],
        "operations": ["CREATE"],
    }
    rules: list[paths.Json] = [rule]
    unknown = entry("Playground", api_version="inference.llmaz.io/v1alpha1")
    pod_group = entry("Workload", api_version="kueue.x-k8s.io/v1beta2")

    for workload in (unknown, pod_group):
        seen = covered(workload, rules=rules)
        assert [each.code for each in found(seen, namespaces(SPACE), codes=COVERAGE)] == codes


def test_where_webhooks_may_not_be_listed_it_has_no_findings() -> None:
    assert found(estate(workloads=[entry()], unknown=[VALIDATING.key]), codes=(*COVERAGE, *OTHERS)) == []


def test_a_kind_without_a_rule_is_reported_with_its_workloads() -> None:
    rule: paths.Object = {
        "apiGroups": ["batch"],
        "apiVersions": ["v1"],
        "resources": ["jobs"],
        "operations": ["CREATE"],
    }
    rules: list[paths.Json] = [rule]
    seen = covered(entry("Job", "a"), entry("PyTorchJob", "b"), entry("PyTorchJob", "c"), rules=rules)

    (finding,) = found(seen, namespaces(SPACE), codes=COVERAGE)
    assert finding.message == (
        "no webhook rule of usher asks about PyTorchJob, and the cluster has 2 workloads of it with accelerators"
    )
    assert (finding.subject.name, finding.evidence) == ("pytorchjobs.kubeflow.org", (f"{SPACE}/b, {SPACE}/c",))


def test_a_namespace_that_a_selector_leaves_out() -> None:
    only = {"matchLabels": {"gpu": "yes"}}
    seen = covered(entry(), namespaceSelector=only)

    (finding,) = found(seen, namespaces(SPACE, team="nlp"), codes=COVERAGE)
    assert (finding.code, finding.subject.name, finding.team) == ("USA052", SPACE, "nlp")
    assert found(seen, namespaces(SPACE, gpu="yes"), codes=COVERAGE) == []
    assert found(seen, codes=COVERAGE) == [], "the labels of the namespace are not known"


def test_an_exempt_namespace_is_one_finding_and_not_a_gap() -> None:
    config = models.Config.model_validate({"exemptNamespaces": ["ml-*"]})

    (finding,) = found(covered(entry()), namespaces(SPACE), config=config, codes=COVERAGE)
    assert finding.message == (
        "usher does not judge its 1 workload with accelerators: exemptNamespaces of usher.yaml exempts it"
    )


def test_the_label_of_a_namespace_exempts_it_too() -> None:
    (finding,) = found(covered(entry()), namespaces(SPACE, **{"gpu-usher.io/exempt": "true"}), codes=COVERAGE)

    assert finding.code == "USA053"


def test_namespaces_of_the_operators_have_to_be_exempt() -> None:
    assert found(covered(entry(namespace="gpu-operator")), namespaces("gpu-operator"), codes=COVERAGE) == []


def other(*, name: str = "validate.kyverno.svc", timeout: int = 10, resource: str = "pods") -> paths.Object:
    rule: paths.Object = {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": [resource]}
    return {
        "name": name,
        "failurePolicy": "Fail",
        "timeoutSeconds": timeout,
        "clientConfig": {"service": {"namespace": "kyverno", "name": "kyverno-svc"}},
        "rules": [rule],
    }


def configured(kind: str, *webhooks: paths.Object) -> paths.Object:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": "kyverno"},
        "webhooks": list(webhooks),
    }


def test_timeouts_that_add_up_are_reported_with_the_longest() -> None:
    slow = configured(MUTATING.kind, *(other(name=f"slow-{number}", timeout=30) for number in range(2)))
    seen = estate(objects=[slow], without=[VALIDATING.key])

    (finding,) = found(seen, namespaces(SPACE), codes=("USA054",))
    assert finding.message == (
        "2 mutating webhooks are asked about a Pod, 60 s one after the other; with the slowest of the others, 60 s of "
        "the 60 s of a request"
    )
    assert finding.evidence[0] == "slow-0 (MutatingWebhookConfiguration kyverno): 30 s"
    assert finding.remedy == "Shorten their timeoutSeconds, the longest first, or narrow their rules."


@pytest.mark.parametrize("resource", ["nodes", "pods"])
def test_a_webhook_that_blocks_recovery_is_named(resource: str) -> None:
    seen = estate(objects=[configured(VALIDATING.kind, other(resource=resource))], without=[MUTATING.key])

    (finding,) = found(seen, namespaces("kyverno"), codes=OTHERS)
    assert (finding.code, finding.subject.kind, finding.subject.name) == ("USA055", VALIDATING.kind, "kyverno")
    assert finding.path == 'webhooks["validate.kyverno.svc"]'


def test_webhooks_that_fail_open_or_spare_their_own_namespace_are_fine() -> None:
    spared: paths.Object = {**other(), "namespaceSelector": {"matchLabels": {"webhooks": "yes"}}}
    seen = estate(
        objects=[configured(VALIDATING.kind, {**other(), "failurePolicy": "Ignore"}, spared)], without=[MUTATING.key]
    )

    assert found(seen, namespaces("kyverno"), codes=OTHERS) == []


def test_our_own_webhooks_are_not_those_of_others() -> None:
    assert found(covered(failurePolicy="Fail", matchConditions=[]), namespaces("gpu-usher"), codes=("USA055",)) == []
