"""Templates, constraints and suites as they are written, and the errors where they are not right."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import policies
from usher import errors, model, paths
from usher.extensions.gatekeeper import constraint_templates, constraints, suites
from usher.extensions.gatekeeper.constraint_templates import Written


def written(value: paths.Object) -> Written:
    return Written(value=value, source="policy.yaml", line=3)


def template(**options: Any) -> constraint_templates.Template:
    return constraint_templates.read_template(written(policies.template(**options)))


def constraint(**spec: Any) -> constraints.Constraint:
    return constraints.read_constraint(written(policies.constraint(**spec)))


# Templates


def test_a_template_has_a_kind_and_rego() -> None:
    found = template(libs=("package lib.a",), schema={"type": "object"})

    assert found.kind == "RequiredLabels"
    assert found.rego == constraint_templates.Rego(text=policies.REQUIRED_LABELS, libraries=("package lib.a",))
    assert found.schema == {"type": "object"}
    assert found.place == "policy.yaml:3"


def test_the_form_with_engines_says_the_version_of_rego() -> None:
    found = template(targets=[policies.code("Rego", rego="package a", libs=["package lib.b"], version="v1")])

    assert found.rego == constraint_templates.Rego(text="package a", libraries=("package lib.b",), version="v1")


def test_a_template_with_rego_and_cel_is_evaluated_in_rego() -> None:
    target = policies.code("K8sNativeValidation", validations=[])
    target["code"] += policies.code("Rego", rego="package a")["code"]

    found = template(targets=[target])

    assert found.rego is not None
    assert not found.not_evaluated


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        (policies.code("K8sNativeValidation", validations=[]), "written in CEL"),
        (policies.code("Lua", text=""), "its engines are 'Lua'"),
        ({"target": "other.example.com", "rego": "package a"}, "its target is 'other.example.com'"),
    ],
)
def test_what_usher_cannot_evaluate_is_said_with_the_reason(target: dict[str, Any], reason: str) -> None:
    found = template(targets=[target])

    assert found.rego is None
    assert reason in found.not_evaluated


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (policies.template(crd={"spec": {}}), "spec.crd.spec.names.kind: is missing"),
        (policies.template(crd={"spec": {"names": {"kind": "a b"}}}), "spec.crd.spec.names.kind: 'a b' is not a kind"),
        (policies.template(targets=[]), "spec.targets: must have one target, and has 0"),
        (policies.template(targets=[{"target": policies.TARGET}]), "spec.targets[0].rego: is missing"),
        (
            policies.template(rego="x" * (constraint_templates.MOST_TEXT + 1)),
            "spec.targets[0].rego: is longer than 1048576",
        ),
        (policies.template(libs=(1,)), "spec.targets[0].libs[0]: must be a text, and is a number"),  # type: ignore[arg-type]  # a wrong type
        ({**policies.template(), "spec": "text"}, "spec: must be a mapping, and is a text"),
        ({**policies.template(), "metadata": {"name": "x"}}, "metadata.name: must be the kind in small letters"),
    ],
)
def test_a_wrong_template_is_an_error_with_file_line_and_field(value: paths.Object, message: str) -> None:
    with pytest.raises(errors.InputError, match=re.escape(f"policy.yaml:3: {message}")):
        constraint_templates.read_template(written(value))


# Constraints


@pytest.mark.parametrize(
    ("spec", "outcome"),
    [
        ({}, model.Outcome.DENY),
        ({"enforcementAction": "deny"}, model.Outcome.DENY),
        ({"enforcementAction": "warn"}, model.Outcome.WARN),
        ({"enforcementAction": "dryrun"}, model.Outcome.AUDIT),
    ],
)
def test_the_enforcement_action_says_what_a_violation_means(spec: dict[str, Any], outcome: model.Outcome) -> None:
    assert constraint(**spec).outcome([constraints.WEBHOOK]) is outcome


def test_a_scoped_action_counts_at_its_enforcement_points_alone() -> None:
    def scoped(action: str, *points: str) -> dict[str, Any]:
        return {"action": action, "enforcementPoints": [{"name": point} for point in points]}

    found = constraint(
        enforcementAction="scoped",
        scopedEnforcementActions=[scoped("warn", constraints.WEBHOOK), scoped("deny", constraints.COMMAND)],
    )

    assert found.outcome([constraints.WEBHOOK]) is model.Outcome.WARN
    assert found.outcome([constraints.COMMAND]) is model.Outcome.DENY
    assert found.outcome([constraints.WEBHOOK, constraints.COMMAND]) is model.Outcome.DENY
    assert found.outcome([constraints.AUDIT]) is None
    assert (
        constraint(enforcementAction="scoped", scopedEnforcementActions=[scoped("dryrun", "*")]).outcome(
            [constraints.AUDIT]
        )
        is model.Outcome.AUDIT
    )


def test_a_constraint_without_parameters_has_empty_ones() -> None:
    assert constraint().parameters == {}
    assert constraint(parameters={"labels": ["a"]}).parameters == {"labels": ["a"]}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"enforcementAction": "block"}, "spec.enforcementAction: 'block' is no action of Gatekeeper"),
        ({"enforcementAction": "scoped"}, "spec.scopedEnforcementActions: is missing"),
        (
            {
                "enforcementAction": "scoped",
                "scopedEnforcementActions": [{"action": "deny", "enforcementPoints": [{"name": "x"}]}],
            },
            "spec.scopedEnforcementActions[0].enforcementPoints[0].name: must be one of",
        ),
        ({"parameters": ["a"]}, "spec.parameters: must be a mapping, and is a list"),
        ({"match": {"kinds": 1}}, "spec.match.kinds: must be a list, and is a number"),
    ],
)
def test_a_wrong_constraint_is_an_error_with_file_line_and_field(spec: dict[str, Any], message: str) -> None:
    with pytest.raises(errors.InputError, match=re.escape(f"policy.yaml:3: {message}")):
        constraint(**spec)


# Suites


def assertion(**fields: Any) -> suites.Assertion:
    test = {"template": "t", "constraint": "c", "cases": [policies.case("a", "a.yaml", fields)]}
    found = suites.read_suite(written(policies.suite(test)))
    return found.tests[0].cases[0].assertions[0]


@pytest.mark.parametrize(
    ("violations", "passing"),
    [("yes", {1, 2, 3}), (True, {1, 2, 3}), (None, {1, 2, 3}), ("no", {0}), (False, {0}), (0, {0}), (2, {2})],
)
def test_an_assertion_counts_violations(violations: object, passing: set[int]) -> None:
    found = assertion(violations=violations)

    assert {number for number in range(4) if not found.unmet(["message"] * number)} == passing


def test_with_a_message_an_assertion_counts_those_that_have_it() -> None:
    found = assertion(violations=1, message="^no (label|owner)")

    assert not found.unmet(["no label here", "something else"])
    assert found.unmet(["no label", "no owner"]) == (
        "expected 1 violations with /^no (label|owner)/ in the message, found 2; the messages are: no label; no owner"
    )


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"violations": "maybe"}, "assertions[0].violations: must be yes, no, or the number"),
        ({"violations": -1}, "assertions[0].violations: must be yes, no, or the number"),
        ({"message": "("}, "assertions[0].message: is not a regular expression"),
        ({"message": "a" * 2000}, "assertions[0].message: is longer than 1000 characters"),
    ],
)
def test_an_assertion_that_cannot_be_read_is_an_error(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(errors.InputError, match=re.escape(f"policy.yaml:3: tests[0].cases[0].{message}")):
        assertion(**fields)


def test_a_case_without_assertions_is_an_error() -> None:
    test = {"template": "t", "constraint": "c", "cases": [policies.case("a", "a.yaml")]}

    with pytest.raises(errors.InputError, match="says what it expects"):
        suites.read_suite(written(policies.suite(test)))


# Anything


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["spec", "crd", "names", "kind", "targets", "target", "rego", "match", "tests", "cases"]),
            inner,
        )
    ),
    max_leaves=20,
)


@given(value=st.dictionaries(st.sampled_from(["apiVersion", "kind", "metadata", "spec", "tests"]), JSON))
def test_any_object_is_read_or_refused(value: paths.Object) -> None:
    for read in (constraint_templates.read_template, constraints.read_constraint, suites.read_suite):
        try:
            read(written(value))
        except errors.InputError as error:
            assert str(error).startswith("policy.yaml:3: ")  # noqa: PT017 - both ways are right
