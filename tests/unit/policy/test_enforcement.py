"""The action that follows from a finding, by preset, severity and rules."""

from datetime import date

import pytest
from msgspec.structs import replace

from usher import model, paths
from usher.config import models
from usher.policy import decision
from usher.policy.checks import catalogue
from usher.policy.checks.catalogue import Severity
from usher.policy.excused_findings import Circumstances

HERE = Circumstances(
    namespace="research",
    role=model.Role.TRAINING,
    place="admission",
    kind="Job",
    name="trainer-*",
    today=date(2026, 6, 1),
)
DENY, WARN, AUDIT = model.Outcome.DENY, model.Outcome.WARN, model.Outcome.AUDIT
OFF = decision.OFF


def check(severity: Severity | None = Severity.CRITICAL, strict_only: str = "") -> catalogue.Entry:
    return catalogue.Entry(
        key="resources/gpu_requests_equal_limits",
        code="USH103",
        title="",
        description="",
        aliases=("requests-are-limits",),
        severity=severity,
        strict_only=strict_only,
    )


def finding(assumption: str = "") -> model.Finding:
    return model.Finding(check=check().key, path="/spec", message="wrong", assumption=assumption)


def rule(action: str, *namespaces: str, check: str = "USH103") -> models.EnforcementRule:
    return models.EnforcementRule.model_validate({"check": check, "namespaces": namespaces or ["*"], "action": action})


def outcome(
    *rules: models.EnforcementRule,
    preset: str = "recommended",
    severity: Severity | None = Severity.CRITICAL,
    where: Circumstances = HERE,
    assumption: str = "",
    strict_only: str = "",
) -> tuple[model.Outcome | None, str]:
    settings = models.Enforcement.model_validate({"preset": preset, "rules": rules})
    return decision.outcome_of_finding(
        finding(assumption), check(severity, strict_only), where=where, enforcement=settings
    )


@pytest.mark.parametrize("severity", Severity)
def test_observe_denies_and_warns_of_nothing_and_says_what_recommended_would_deny(severity: Severity) -> None:
    would_deny = outcome(severity=severity)[0] is DENY

    assert outcome(preset="observe", severity=severity) == (AUDIT, decision.OBSERVED if would_deny else "")


def test_a_rule_enforces_a_check_while_others_are_observed() -> None:
    assert outcome(rule("deny", "research"), preset="observe")[0] is DENY
    assert outcome(rule("warn", "research"), preset="observe")[0] is WARN
    assert outcome(rule("deny", "production"), preset="observe") == (AUDIT, decision.OBSERVED)


def test_a_finding_that_could_only_warn_is_not_observed_as_a_denial() -> None:
    assert outcome(preset="observe", assumption="stale facts") == (AUDIT, "")


def test_a_check_of_the_strict_preset_is_not_observed() -> None:
    assert outcome(preset="observe", strict_only="it depends on the site")[0] is OFF


@pytest.mark.parametrize(("preset", "expected"), [("baseline", OFF), ("recommended", OFF), ("strict", DENY)])
def test_a_check_of_the_strict_preset_is_off_in_other_presets(preset: str, expected: model.Outcome | None) -> None:
    assert outcome(preset=preset, strict_only="It depends on the site.") == (expected, "")


@pytest.mark.parametrize("action", ["deny", "warn", "audit"])
def test_a_rule_switches_a_check_of_the_strict_preset_on(action: str) -> None:
    assert outcome(rule(action), strict_only="It depends on the site.") == (model.Outcome(action), "")


@pytest.mark.parametrize(
    ("preset", "severity", "expected"),
    [
        ("baseline", Severity.CRITICAL, DENY),
        ("baseline", Severity.HIGH, WARN),
        ("baseline", Severity.MEDIUM, WARN),
        ("baseline", Severity.LOW, AUDIT),
        ("recommended", Severity.CRITICAL, DENY),
        ("recommended", Severity.HIGH, DENY),
        ("recommended", Severity.MEDIUM, WARN),
        ("recommended", Severity.LOW, AUDIT),
        ("strict", Severity.CRITICAL, DENY),
        ("strict", Severity.HIGH, DENY),
        ("strict", Severity.MEDIUM, DENY),
        ("strict", Severity.LOW, WARN),
        ("strict", None, WARN),
    ],
)
def test_without_rules_the_preset_decides_by_severity(
    preset: str, severity: Severity | None, expected: model.Outcome
) -> None:
    assert outcome(preset=preset, severity=severity) == (expected, "")


def test_no_configuration_at_all_means_the_recommended_preset() -> None:
    assert models.Enforcement() == models.Enforcement(preset="recommended", rules=[])


@pytest.mark.parametrize("named", ["USH103", "gpu-requests-equal-limits", "resources", "requests-are-limits", "*"])
def test_a_rule_names_a_check_by_code_name_category_or_alias_or_means_all(named: str) -> None:
    assert outcome(rule("warn", check=named))[0] is WARN


@pytest.mark.parametrize("named", ["USH104", "gpu-requests", "resources/gpu_requests_equal_limits", "USH*", "ush103"])
def test_a_rule_for_another_check_changes_nothing(named: str) -> None:
    assert outcome(rule("off", check=named)) == (DENY, "")


@pytest.mark.parametrize(("action", "expected"), [("deny", DENY), ("warn", WARN), ("audit", AUDIT), ("off", OFF)])
def test_a_rule_decides_whatever_the_severity(action: str, expected: model.Outcome | None) -> None:
    for severity in Severity:
        assert outcome(rule(action), severity=severity)[0] is expected


def test_a_milder_outcome_says_who_decided_so() -> None:
    for action in ("warn", "audit", "off"):
        assert outcome(rule(action))[1] == f"usher.yaml sets gpu-requests-equal-limits to {action} here"


def test_a_denial_needs_no_reason() -> None:
    assert outcome(rule("deny"), severity=Severity.LOW) == (DENY, "")


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ([rule("off"), rule("warn")], WARN),
        ([rule("warn"), rule("off")], OFF),
        ([rule("off", check="*"), rule("deny")], DENY),
        ([rule("deny"), rule("off", check="*")], OFF),
        ([rule("warn"), rule("off", "other")], WARN),
        ([rule("warn"), rule("off", check="USH104")], WARN),
        ([rule("off", "*"), rule("audit", "research"), rule("warn", "other")], AUDIT),
    ],
)
def test_the_last_rule_that_fits_decides(rules: list[models.EnforcementRule], expected: model.Outcome | None) -> None:
    assert outcome(*rules)[0] is expected


@pytest.mark.parametrize(
    ("pattern", "namespace", "fits"),
    [
        ("research", "research", True),
        ("research", "research-a", False),
        ("research-*", "research-a", True),
        ("research-*", "research-", True),
        ("research-*", "research", False),
        ("*-dev", "team-a-dev", True),
        ("team-*-dev", "team-a-b-dev", True),
        ("*", "anything", True),
        ("*", "", True),
        ("research", "", False),
        ("r*x*h", "research", False),
        ("r*a*h", "research", True),
        ("Research", "research", False),
    ],
)
def test_a_rule_fits_the_namespaces_of_its_patterns(pattern: str, namespace: str, *, fits: bool) -> None:
    unchecked = models.EnforcementRule.model_construct(
        check="USH103", namespaces=[pattern], roles=[], places=[], action="warn"
    )
    settings = models.Enforcement.model_construct(preset="recommended", rules=[unchecked], exceptions=[])

    decided, _ = decision.outcome_of_finding(
        finding(), check(), where=Circumstances(namespace=namespace), enforcement=settings
    )

    assert decided is (WARN if fits else DENY)


def test_any_of_several_patterns_is_enough() -> None:
    assert outcome(rule("warn", "production", "research"))[0] is WARN


@pytest.mark.parametrize("rules", [[], [rule("deny")]], ids=["preset", "rule"])
def test_an_assumption_warns_at_most_and_is_the_reason(rules: list[models.EnforcementRule]) -> None:
    assert outcome(*rules, preset="strict", assumption="no node pools are declared") == (
        WARN,
        "no node pools are declared",
    )


@pytest.mark.parametrize(("action", "expected"), [("warn", WARN), ("audit", AUDIT), ("off", OFF)])
def test_an_assumption_makes_nothing_stricter(action: str, expected: model.Outcome | None) -> None:
    assert outcome(rule(action), assumption="no node pools are declared")[0] is expected


def test_a_stricter_outcome_needs_no_reason() -> None:
    assert outcome(rule("warn"), severity=Severity.LOW) == (WARN, "")


# Rules for some workloads and some askers


@pytest.mark.parametrize(
    ("only", "expected"),
    [
        ({"roles": ["training"]}, WARN),
        ({"roles": ["inference", "training"]}, WARN),
        ({"roles": ["inference"]}, DENY),
        ({"places": ["admission"]}, WARN),
        ({"places": ["check", "audit"]}, DENY),
        ({"roles": ["training"], "places": ["audit"]}, DENY),
        ({"roles": ["inference"], "places": ["admission"]}, DENY),
        ({"roles": [], "places": []}, WARN),
    ],
)
def test_a_rule_may_be_for_some_roles_and_places(only: paths.Object, expected: model.Outcome) -> None:
    fitting = models.EnforcementRule.model_validate({"check": "*", "action": "warn", **only})

    assert outcome(fitting)[0] is expected


# Exceptions

EXCEPTION: paths.Object = {
    "checks": ["USH103"],
    "namespaces": ["research"],
    "owner": "team-nlp",
    "reason": "the operator is replaced in autumn",
    "ticket": "OPS-7",
    "expires": "2026-06-01",
}


def excepted(
    fields: paths.Object | None = None, *, where: Circumstances = HERE, preset: str = "recommended"
) -> model.Outcome | None:
    settings = models.Enforcement.model_validate({"preset": preset, "exceptions": [{**EXCEPTION, **(fields or {})}]})
    return decision.outcome_of_finding(finding(), check(), where=where, enforcement=settings)[0]


def test_what_an_exception_covers_is_noted_with_who_answers_for_it() -> None:
    settings = models.Enforcement.model_validate({"exceptions": [EXCEPTION]})

    assert decision.outcome_of_finding(finding(), check(), where=HERE, enforcement=settings) == (
        AUDIT,
        "exception OPS-7 of team-nlp until 2026-06-01: the operator is replaced in autumn",
    )


def test_an_exception_holds_on_its_last_day_and_not_on_the_next() -> None:
    assert excepted() is AUDIT
    assert excepted(where=replace(HERE, today=date(2026, 6, 2))) is DENY


@pytest.mark.parametrize(
    ("fields", "covered"),
    [
        ({"checks": ["gpu-requests-equal-limits"]}, True),
        ({"checks": ["requests-are-limits"]}, True),
        ({"checks": ["USH104"]}, False),
        ({"namespaces": ["rese*"]}, True),
        ({"namespaces": ["production"]}, False),
        ({"kinds": ["Job", "CronJob"]}, True),
        ({"kinds": ["CronJob"]}, False),
        ({"names": ["trainer-*"]}, True),
        ({"names": ["trainer"]}, False),
        ({"kinds": ["Job"], "names": ["other"]}, False),
    ],
)
def test_an_exception_covers_what_it_names(fields: paths.Object, *, covered: bool) -> None:
    assert excepted(fields) is (AUDIT if covered else DENY)


def test_an_exception_covers_warnings_as_well_and_brings_nothing_back() -> None:
    off = models.EnforcementRule.model_validate({"check": "*", "action": "off"})
    settings = models.Enforcement.model_validate({"rules": [off], "exceptions": [EXCEPTION]})

    assert excepted(preset="baseline") is AUDIT
    assert decision.outcome_of_finding(finding(), check(), where=HERE, enforcement=settings)[0] is OFF
