"""A server that judges by policies of Gatekeeper beside its own checks."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import builders
import opa_server
import server_process
import site_bundles
from builders import policies
from e2e.cluster import wait_until
from reviews import UID, body
from server_process import BOUND, ServerProcess

pytestmark = [*opa_server.needs_opa, pytest.mark.process]

SERVICES: Any = {"kinds": [{"apiGroups": [""], "kinds": ["Service"]}]}
TEAM: Any = {"parameters": {"labels": ["team"]}}
TOLD: Any = {"match": {"kinds": [{"apiGroups": [""], "kinds": ["Endpoints"]}]}}

POLICIES = (
    policies.template(),
    policies.constraint(name="denying", match=SERVICES, **TEAM),
    policies.constraint(name="warning", match=SERVICES, enforcementAction="warn", **TEAM),
    policies.constraint(name="trying", match=SERVICES, enforcementAction="dryrun", **TEAM),
    policies.constraint(
        name="of-the-audit",
        match=SERVICES,
        enforcementAction="scoped",
        scopedEnforcementActions=[
            {"action": "deny", "enforcementPoints": [{"name": "audit.gatekeeper.sh"}, {"name": "gator.gatekeeper.sh"}]}
        ],
        **TEAM,
    ),
    policies.template("Told", site_bundles.ABOUT_THE_REQUEST),
    policies.constraint("Told", name="told", **TOLD),
    policies.template("Calling", site_bundles.CALLING),
    policies.constraint("Calling", name="calling", match={"kinds": [{"apiGroups": [""], "kinds": ["Secret"]}]}),
    policies.template("UniqueName", policies.UNIQUE_NAME, libs=(policies.UNIQUE_NAME_LIBRARY,)),
    policies.constraint("UniqueName", name="unique", match={"kinds": [{"apiGroups": [""], "kinds": ["Secret"]}]}),
    policies.constraint(name="of-pods", match={"kinds": [{"apiGroups": [""], "kinds": ["Pod"]}]}, **TEAM),
    policies.constraint(
        name="of-production",
        match={
            "kinds": [{"apiGroups": [""], "kinds": ["ConfigMap"]}],
            "namespaceSelector": {"matchLabels": {"a": "b"}},
        },
        **TEAM,
    ),
)

DENIED: Any = builders.pod(
    builders.container(requests={builders.GPU: 8}, limits={builders.GPU: 4}), name="train", namespace="shop"
)
"""A pod that a check of usher denies."""


def object_of(kind: str, *, namespace: str = "shop", **labels: str) -> Any:
    metadata: Any = {"name": "web", "namespace": namespace, **({"labels": labels} if labels else {})}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("server")
    bundle = site_bundles.gatekeeper(folder, *POLICIES)
    with server_process.running(
        folder, config={"exemptNamespaces": ["system-*"]}, arguments=(f"--policies={bundle}",)
    ) as started:
        yield started


def test_an_object_that_usher_has_no_check_for_is_judged(server: ServerProcess) -> None:
    answer = server.review("validate", body(object_of("Service")))

    assert answer == {
        "uid": UID,
        "allowed": False,
        "status": {
            "code": 403,
            "reason": "Forbidden",
            "message": 'Service shop/web breaks 1 rule:\n  RequiredLabels denying: web lacks the labels {"team"}',
        },
        "warnings": ['RequiredLabels warning: web lacks the labels {"team"}'],
        "auditAnnotations": {
            "deny": "RequiredLabels/denying",
            "warn": "RequiredLabels/warning",
            "audit": "RequiredLabels/trying",
        },
    }


def test_an_object_without_violations_is_let_in_without_warnings(server: ServerProcess) -> None:
    answer = server.review("validate", body(object_of("Service", team="a")))

    assert answer == {"uid": UID, "allowed": True}


def test_policies_see_the_request_as_the_api_server_sends_it(server: ServerProcess) -> None:
    """An old mistake blocks a change, as in Gatekeeper: only the checks of usher look at the object before."""
    value = object_of("Endpoints")

    created = server.review("validate", body(value))
    updated = server.review("validate", body(value, operation="UPDATE", old_value=value))

    told = [each["status"]["message"].splitlines()[1:] for each in (created, updated)]
    assert told == [
        ["  Told told: CREATE by alice in shop"],
        ["  Told told: before: Endpoints", "  Told told: UPDATE by alice in shop"],
    ]


def test_both_kinds_of_findings_are_in_one_answer(server: ServerProcess) -> None:
    value = DENIED

    answer = server.review("validate", body(value))

    lines = answer["status"]["message"].splitlines()
    assert any("RequiredLabels of-pods: train lacks the labels" in line for line in lines)
    assert any(line.startswith("  USH") for line in lines)
    assert lines[-1].startswith("More: usher explain USH")


def test_what_cannot_be_evaluated_is_a_warning_and_never_a_denial(server: ServerProcess) -> None:
    before = server.metrics()["usher_not_evaluated_total{}"]

    answer = server.review("validate", body(object_of("Secret")))

    assert answer["allowed"]
    why = "this server does not evaluate them, and its log says why at its start"
    assert answer["warnings"] == [f"not judged: object: policy Calling, UniqueName: {why}"]
    assert server.metrics()["usher_not_evaluated_total{}"] == before + 1


def test_labels_of_an_unknown_namespace_are_unknown(server: ServerProcess) -> None:
    answer = server.review("validate", body(object_of("ConfigMap")))

    assert answer["allowed"]
    assert "policy RequiredLabels/of-production: its namespaceSelector asks for labels" in answer["warnings"][0]


def test_the_log_and_a_metric_say_at_the_start_which_policies_are_not_evaluated(server: ServerProcess) -> None:
    lines = {line["kind"]: line["reason"] for line in server.log("policy_not_evaluated")}

    (loaded,) = server.log("policies_loaded")

    assert (loaded["checks"], loaded["templates"], loaded["constraints"]) == (0, 4, len(POLICIES) - 4)
    assert set(lines) == {"Calling", "UniqueName"}
    assert "http.send" in lines["Calling"]
    assert "data.inventory" in lines["UniqueName"]
    series = server.metrics()
    assert series['usher_policy_templates{evaluated="true"}'] == 2
    assert series['usher_policy_templates{evaluated="false"}'] == 2


def test_namespaces_that_usher_yaml_exempts_are_left_out(server: ServerProcess) -> None:
    assert server.review("validate", body(object_of("Service", namespace="system-a")))["allowed"]


def test_an_object_of_many_parts_is_judged_by_the_policies(server: ServerProcess) -> None:
    large = {**object_of("Service"), "steps": [{"a": {"b": 1}}] * 600}

    answer = server.review("validate", body(large))

    assert not answer["allowed"]
    assert "RequiredLabels" in answer["status"]["message"]


def test_findings_are_in_the_log_and_in_metrics_by_constraint(server: ServerProcess) -> None:
    server.review("validate", body(object_of("Service"), uid="told"))

    line = server.decision("told")
    assert line["findings"]["gatekeeper/RequiredLabels/denying"] == "deny"
    assert line["denials"] == ["RequiredLabels/denying /"]
    assert server.metrics()['usher_findings_total{check="gatekeeper/RequiredLabels/denying",outcome="deny"}'] >= 1


def test_a_policy_that_takes_too_long_is_stopped_and_the_checks_of_usher_still_decide(tmp_path: Path) -> None:
    bundle = site_bundles.gatekeeper(
        tmp_path,
        *[policies.template(), policies.constraint(name="team", **TEAM)],
        *[policies.template("Looping", site_bundles.LOOPING), policies.constraint("Looping", name="first")],
        *[policies.constraint("Looping", name=name) for name in ("second", "third", "fourth")],
    )
    with server_process.running(tmp_path, arguments=(f"--policies={bundle}",)) as server:
        value = DENIED

        answer = server.review("validate?timeout=3s", body(value))

    assert "USH" in answer.get("status", {}).get("message", ""), answer
    late = [text for text in answer["warnings"] if "Looping" in text]
    assert len(late) >= 2, answer
    assert any("took longer than" in text for text in late)


def test_a_review_that_no_constraint_is_about_does_not_wait_for_slow_policies(tmp_path: Path) -> None:
    bundle = site_bundles.gatekeeper(
        tmp_path,
        policies.template("Looping", site_bundles.LOOPING),
        *[policies.constraint("Looping", name=name, match=SERVICES) for name in ("first", "second", "third")],
    )
    with (
        server_process.running(tmp_path, arguments=(f"--policies={bundle}",)) as server,
        ThreadPoolExecutor(8) as others,
    ):
        slow = [others.submit(server.review, "validate?timeout=3s", body(object_of("Service"))) for _ in range(8)]
        wait_until(lambda: server.metrics()["usher_review_bytes{}"] > 0, description="they are judged", timeout=BOUND)

        answer = server.review("validate", body(DENIED))

        assert not any(each.done() for each in slow)
        assert not answer["allowed"]
        assert all(each.result()["allowed"] for each in slow)


def test_an_own_check_that_takes_too_long_is_not_judged_and_costs_no_finding_of_usher(tmp_path: Path) -> None:
    bundle = site_bundles.own_checks(tmp_path, condition=site_bundles.NEVER_ENDING)
    with server_process.running(tmp_path, arguments=(f"--policies={bundle}",)) as server:
        answer = server.review("validate?timeout=3s", body(DENIED))

    assert "USH103" in answer["status"]["message"]
    (late,) = [text for text in answer["warnings"] if "own checks of" in text]
    assert "took longer than 0.25 s" in late
