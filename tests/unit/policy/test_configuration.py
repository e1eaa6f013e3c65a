"""The settings of checks in usher.yaml, compared with the existing checks."""

from pathlib import Path

import pytest
import yaml

from usher import errors, model
from usher.config import load, models
from usher.policy import assembly, config_problems, decision
from usher.policy.checks import catalogue
from usher.policy.checks.catalogue import Parameter, Severity
from usher.policy.excused_findings import Circumstances

ENTRY = catalogue.Entry(
    key="cost/gpus_per_workload",
    code="USH1301",
    title="",
    description="",
    aliases=("max-gpus",),
    severity=Severity.HIGH,
    parameters={
        "maximum": Parameter(default=512, description=""),
        "strict": Parameter(default=False, description=""),
        "names": Parameter(default=["a"], description=""),
    },
)
ENTRIES = catalogue.Catalogue(checks={ENTRY.key: ENTRY}, mutations={})

HEAD = "apiVersion: gpu-usher.io/v1alpha1\nkind: Config\n"
EXCEPTION = "{checks: [%s], namespaces: [a], owner: o, reason: r, ticket: t, expires: 2030-01-01}"


def problems(text: str) -> list[tuple[str, str]]:
    return config_problems.problems(models.Config.model_validate(yaml.safe_load(text)), ENTRIES)


@pytest.mark.parametrize("word", ["USH1301", "gpus-per-workload", "max-gpus"])
def test_a_check_is_known_by_code_name_and_alias(word: str) -> None:
    assert problems(f"enforcement: {{exceptions: [{EXCEPTION % word}]}}") == []
    assert problems(f"parameters: [{{check: {word}, values: {{maximum: 8}}}}]") == []


@pytest.mark.parametrize("word", ["USH1301", "cost", "*"])
def test_a_rule_may_name_a_category_or_all(word: str) -> None:
    assert problems(f"enforcement: {{rules: [{{check: '{word}', action: warn}}]}}") == []


def test_an_unknown_check_is_a_problem_wherever_it_stands() -> None:
    text = f"""
enforcement:
  rules: [{{check: gpus-per-workloads, action: warn}}]
  exceptions: [{EXCEPTION % "gpu-count"}]
parameters: [{{check: '*', values: {{maximum: 8}}}}]
"""
    assert problems(text) == [
        (
            "/enforcement/rules/0/check",
            "there is no check 'gpus-per-workloads'; did you mean gpus-per-workload? `usher policies list` shows all",
        ),
        (
            "/enforcement/exceptions/0/checks/0",
            "there is no check 'gpu-count'; `usher policies list` shows all",
        ),
        ("/parameters/0/check", "there is no check '*'; `usher policies list` shows all"),
    ]


def test_an_unknown_parameter_is_a_problem() -> None:
    assert problems("parameters: [{check: USH1301, values: {max: 8}}]") == [
        ("/parameters/0/values/max", "gpus-per-workload has no parameter 'max'; it has maximum, names, strict")
    ]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ("{maximum: '8'}", "expected a whole number, as in the default 512"),
        ("{maximum: true}", "expected a whole number, as in the default 512"),
        ("{strict: 1}", "expected true or false, as in the default False"),
        ("{names: a}", "expected a list of texts, as in the default ['a']"),
    ],
)
def test_a_parameter_of_another_type_is_a_problem(values: str, reason: str) -> None:
    assert [found for _, found in problems(f"parameters: [{{check: USH1301, values: {values}}}]")] == [reason]


def test_an_evaluator_is_refused_with_the_line_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "usher.yaml"
    file.write_text(f"enforcement:\n  rules:\n    - action: warn\n      check: nope\n{HEAD}")

    with pytest.raises(errors.ConfigError, match=r"usher.yaml:4: enforcement.rules\[0\].check: there is no"):
        assembly.embedded(load.load(file), file=file)


@pytest.mark.parametrize("missing", ["owner", "reason", "ticket", "expires", "checks"])
def test_an_exception_without_an_owner_or_an_end_is_refused(missing: str, tmp_path: Path) -> None:
    value = yaml.safe_load(EXCEPTION % "USH103")
    del value[missing]
    file = tmp_path / "usher.yaml"
    file.write_text(HEAD + yaml.safe_dump({"enforcement": {"exceptions": [value]}}))

    with pytest.raises(
        errors.ConfigError, match=rf"yaml:\d+: enforcement.exceptions\[0\].{missing}: this key is required"
    ):
        load.load(file)


JOINED = {
    "queueing/topology_annotations_refused": (
        *("USH421", "USH422", "USH423", "USH424", "USH425", "topology-annotations-conflict", "topology-value-invalid"),
        *("topology-slice-half-described", "topology-slice-size-invalid"),
        *("pod-set-group-of-wrong-members", "pod-set-group-without-topology"),
    ),
    "gang/volcano_queue_not_allowed": ("USH1425", "pod-group-queue-not-allowed"),
}


@pytest.mark.parametrize(("key", "word"), [(key, word) for key, words in JOINED.items() for word in words])
def test_former_codes_and_names_of_joined_checks_still_decide(key: str, word: str) -> None:
    entries = catalogue.load().catalogue
    config = models.Config.model_validate(
        yaml.safe_load(f"enforcement: {{rules: [{{check: {word}, action: 'off'}}], exceptions: [{EXCEPTION % word}]}}")
    )

    assert config_problems.problems(config, entries) == []
    assert entries.keys_of_checks[word] == key
    assert entries.find(word.lower()) is entries.checks[key]
    decided, because = decision.outcome_of_finding(
        model.Finding(check=key, path="", message="wrong"),
        entries.checks[key],
        where=Circumstances(namespace="a"),
        enforcement=config.enforcement,
    )
    assert decided is decision.OFF
    assert because == f"usher.yaml sets {entries.checks[key].name} to off here"
