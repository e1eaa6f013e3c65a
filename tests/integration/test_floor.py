"""The policies of the floor say what the checks say: the API server's own code evaluates them."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import record_findings
import yaml

import builders
import indexed_manifests
import shared_files
from integration import command
from match_conditions import CALLED, Object, answers, creation, needs_go, update
from shared_files import Corpus
from usher import model, paths
from usher.config import models
from usher.install import installed_objects
from usher.install.manifests import conditions
from usher.install.manifests import floor as floor_checks
from usher.kinds.registry import WORKLOADS
from usher.policy.checks import catalogue
from usher.policy.decision import Operation, Request, User
from usher.policy.evaluator import Evaluator

pytestmark = [needs_go, pytest.mark.process]

CHECKS = Path(__file__).parents[2] / "policies" / "usher" / "checks"
TODAY = date(2026, 11, 23)
READABLE = {(kind.group, kind.kind) for kind in conditions.readable_kinds()}
TENANT = User(name="ada", groups=("devs",))

MISSED = {
    "USH601 bad_job_of_kai": "a label of KAI-Scheduler",
}
"""Examples that the floor cannot see, and why."""


@cache
def shipped() -> catalogue.Catalogue:
    return catalogue.load().catalogue


def as_webhooks(config: models.Config, *, only: str = "") -> Object:
    """The policies as webhooks that are called where a policy denies: the command that evaluates reads only those.

    With `only`, the code of a check, its policies alone, which take a tenth of the time to compile.
    """
    webhooks = []
    for each in floor_checks.validating_policies(config, shipped(), today=TODAY):
        if each["kind"] == "ValidatingAdmissionPolicy":
            spec: Any = each["spec"]
            (validation,) = spec["validations"]
            denied = {"name": "denied", "expression": f"!({validation['expression']})"}
            code = validation["message"].split(" ")[0]
            if only not in ("", code):
                continue
            of_pods = {rule["resources"][0].split("/")[0] for rule in spec["matchConstraints"]["resourceRules"]} == {
                "pods"
            }
            name = f"{code} of pods" if of_pods else f"{code} of templates"
            kind = "request.resource.resource == 'pods'"
            denied["expression"] = f"{kind if of_pods else f'!({kind})'} && ({denied['expression']})"
            webhook = {"name": name, "failurePolicy": spec["failurePolicy"]}
            webhooks.append({**webhook, "matchConditions": [*spec["matchConditions"], denied]})
    return {"metadata": {"name": "floor"}, "webhooks": webhooks}


def denied(requests: Sequence[Object], config: models.Config, *, only: str = "") -> Iterator[set[str] | None]:
    """The codes of the policies that deny each request; None for an object that no API server reads."""
    for one in answers(requests, of=as_webhooks(config, only=only)):
        # A template may have null where a list belongs, and is let in then: its Pods are judged.
        of_pods = {name: said for name, said in one.webhooks.items() if name.endswith("of pods")}
        assert set(of_pods.values()) <= {CALLED, "skipped"}, of_pods
        yield None if one.unreadable else {name.split(" ")[0] for name, said in one.webhooks.items() if said == CALLED}


def denied_by_usher(evaluator: Evaluator, value: paths.Object, *, old: paths.Object | None = None) -> set[str]:
    operation = Operation.CREATE if old is None else Operation.UPDATE
    decision = evaluator.decide(
        Request(value=value, old_value=old, operation=operation, namespace="team-a", user=TENANT)
    )
    return {each.code for each in decision.judgements if each.outcome is model.Outcome.DENY} & CODES


CODES = {shipped().checks[key].code for key in floor_checks.CHECKS}


def asked(value: Object) -> Object:
    return creation(value, namespace=value["metadata"].get("namespace", "team-a"))


def readable(values: Iterable[Object]) -> list[Object]:
    return [each for each in values if (each["apiVersion"].rpartition("/")[0], each["kind"]) in READABLE]


def examples(key: str) -> dict[str, Object]:
    """The first documents of all manifests in the folder of a check, by the name of the file."""
    found = {
        file.stem: next(yaml.safe_load_all(file.read_text()))
        for file in record_findings.manifests(CHECKS / key / "examples")
    }
    return {name: value for name, value in found.items() if readable([value])}


@pytest.mark.parametrize("key", floor_checks.CHECKS)
def test_the_examples_of_a_check_get_its_verdict(key: str) -> None:
    evaluator, code = record_findings.evaluator_of(CHECKS / key / "examples"), shipped().checks[key].code
    values = examples(key)
    expected = {
        name: code in denied_by_usher(evaluator, value) and f"{code} {name}" not in MISSED
        for name, value in values.items()
    }
    found = denied([asked(each) for each in values.values()], evaluator.config)

    assert {name: code in codes for name, codes in zip(values, found, strict=True) if codes is not None} == expected
    assert any(expected.values())


@pytest.mark.parametrize("corpus", shared_files.thorough_corpora)
def test_it_denies_nothing_that_usher_lets_in(corpus: Corpus) -> None:
    config = models.Config()
    evaluator = record_findings.evaluator_with(config)
    values = readable(each.value for each in indexed_manifests.documents(corpus))
    found = list(zip(values, denied([asked(each) for each in values], config), strict=True))
    beyond = [
        (value["metadata"].get("name"), codes - denied_by_usher(evaluator, value)) for value, codes in found if codes
    ]

    assert [(name, codes) for name, codes in beyond if codes] == []


def test_each_critical_check_is_part_of_it() -> None:
    """Or says here why it is not."""
    critical = {key for key, each in shipped().checks.items() if each.severity is catalogue.Severity.CRITICAL}

    # CEL cannot count all values of an object.
    assert critical - {"objects/too_large_to_judge"} <= floor_checks.CHECKS.keys()


GREEDY = builders.pod(builders.container(env={"NVIDIA_VISIBLE_DEVICES": "all"}))
VOID = builders.pod(builders.container(env={"NVIDIA_VISIBLE_DEVICES": "void"}))


def verdict(request: Object, **config: Any) -> bool:
    (found,) = denied([request], models.Config.model_validate(config), only="USH201")
    return found == {"USH201"}


def rule(action: str, **where: Any) -> dict[str, Any]:
    return {"rules": [{"check": "USH201", "action": action, **where}]}


@pytest.mark.parametrize(
    ("enforcement", "expected"),
    [
        ({}, True),
        ({"preset": "observe"}, False),
        ({"preset": "baseline"}, True),
        (rule("warn"), False),
        (rule("off", namespaces=["team-a"]), False),
        (rule("off", namespaces=["team-b", "x-*"]), True),
        (rule("warn", roles=["training"]), False),
        (rule("warn", places=["audit"]), True),
        ({"preset": "observe", **rule("deny", namespaces=["team-*"])}, True),
        ({"preset": "observe", **rule("deny", namespaces=["team-b"])}, False),
        ({"preset": "observe", **rule("deny", roles=["training"])}, False),
    ],
)
def test_it_denies_where_usher_yaml_lets_the_check_deny(enforcement: dict[str, Any], expected: bool) -> None:
    assert verdict(creation(GREEDY), enforcement=enforcement) is expected


@pytest.mark.parametrize(("expires", "expected"), [("2026-11-22", True), ("2026-11-23", False)])
def test_an_exception_holds_until_its_end(expires: str, expected: bool) -> None:
    exception = {
        "checks": ["USH201"], "owner": "ml", "reason": "migration", "ticket": "ML-1", "expires": expires,
    }  # fmt: skip
    assert verdict(creation(GREEDY), enforcement={"exceptions": [exception]}) is expected


@pytest.mark.parametrize(
    "changed",
    [
        {"namespace": "kube-system"},
        {"namespace": "calico-system"},
        {"groups": ["system:masters"]},
    ],
    ids=["a system namespace", "a namespace that heals the cluster", "an administrator"],
)
def test_it_never_stands_in_the_way_of_a_rescue(changed: Object) -> None:
    assert not verdict(creation(GREEDY, **changed))


def test_an_object_that_broke_the_rule_before_can_be_changed() -> None:
    labelled = builders.replaced(GREEDY, "/metadata/labels", {"team": "nlp"})
    moved = builders.replaced(GREEDY, "/spec/activeDeadlineSeconds", 60)

    assert not verdict(update(GREEDY, labelled))
    assert not verdict(update(GREEDY, moved))
    assert verdict(update(VOID, GREEDY))


def test_the_last_entry_of_a_variable_counts() -> None:
    twice: list[paths.Json] = [{"name": "NVIDIA_VISIBLE_DEVICES", "value": value} for value in ("all", "void")]
    spared = builders.replaced(VOID, "/spec/containers/0/env", twice)
    caught = builders.replaced(VOID, "/spec/containers/0/env", twice[::-1])

    assert (verdict(creation(spared)), verdict(creation(caught))) == (False, True)


def test_what_a_controller_makes_is_judged_as_a_pod_alone() -> None:
    owner: list[paths.Json] = [
        {"apiVersion": "apps/v1", "kind": "Deployment", "name": "old", "uid": "1", "controller": True}
    ]
    template = builders.template(builders.container(env={"NVIDIA_VISIBLE_DEVICES": "all"}))
    replica_set = builders.custom("apps/v1", "ReplicaSet", {"template": template}, namespace="team-a")

    assert verdict(creation(replica_set))
    assert not verdict(creation(builders.replaced(replica_set, "/metadata/ownerReferences", owner)))
    assert verdict(creation(builders.replaced(GREEDY, "/metadata/ownerReferences", owner)))


OFF = {"mutation": "*", "action": "off"}


@pytest.mark.parametrize(
    ("config", "applies"),
    [
        ({}, True),
        ({"enforcement": {"preset": "observe"}}, False),
        ({"mutations": {"rules": [{"mutation": "USM201", "action": "off"}]}}, False),
        ({"mutations": {"rules": [{"mutation": "*", "action": "warn", "namespaces": ["shop"]}]}}, True),
        (
            {"mutations": {"rules": [{"mutation": "*", "action": "off"}, {"mutation": "USM201", "action": "apply"}]}},
            True,
        ),
    ],
)
def test_the_mutation_is_there_where_usher_yaml_wants_it(config: dict[str, Any], applies: bool) -> None:
    found = floor_checks.mutating_policies(models.Config.model_validate(config), shipped())

    assert [each["kind"] for each in found] == (
        ["MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"] if applies else []
    )
    assert ("'shop'" in str(found)) is ("shop" in str(config))


def test_the_command_prints_the_part_that_is_asked_for() -> None:
    printed = command.usher("manifests", "floor", "--select", "USH601", "--select", "visible-devices-void", "--static")
    names = [each["metadata"]["name"] for each in yaml.safe_load_all(printed.out)]

    assert {name.removesuffix("-templates.static.k8s.io").removesuffix(".static.k8s.io") for name in names} == {
        "gpu-usher-system-class-outside-system-namespaces",
        "gpu-usher-visible-devices-void",
    }
    assert len(names) == 6


def test_an_unknown_check_is_refused_with_the_known_ones() -> None:
    refused = command.usher("manifests", "floor", "--select", "USH301")

    assert refused.code == 2
    assert "--select USH301: the floor has USH101, USH103, USH201" in refused.err


def test_an_uninstallation_removes_every_object_of_it() -> None:
    made: list[Any] = floor_checks.floor_objects(models.Config(), shipped(), today=TODAY)
    printed = {(each["kind"], each["metadata"]["name"]) for each in made}

    assert printed <= set(floor_checks.installed_objects())
    assert len(installed_objects.parts("gpu-usher")) == len(
        {part.path for part in installed_objects.parts("gpu-usher")}
    )


def test_every_policy_names_code_and_remedy_on_one_line() -> None:
    for each in floor_checks.validating_policies(models.Config(), shipped(), today=TODAY):
        if each["kind"] == "ValidatingAdmissionPolicy":
            spec: Any = each["spec"]
            (validation,) = spec["validations"]
            assert "\n" not in validation["message"]
            assert validation["message"].startswith("USH")
            assert len(validation["message"]) < 1000


def test_all_kinds_of_the_policies_are_known() -> None:
    assert WORKLOADS.keys() >= READABLE
