"""What each check and each mutation makes of an object."""

import pytest

import builders
from usher import paths
from usher.config import models
from usher.policy import assembly, explaining
from usher.policy.evaluator import Request
from usher.policy.explaining import State

BAD = builders.pytorch_job(builders.template(builders.container(requests={builders.GPU: 2}, limits={builders.GPU: 1})))
CPU = builders.pod(builders.container())


def states(value: paths.Object, **config: paths.Json) -> dict[str, State]:
    evaluator = assembly.embedded(models.Config.model_validate(config))
    return {each.entry.name: each.state for each in explaining.explain(evaluator, Request(value=value)).entries}


def test_every_check_and_every_mutation_is_accounted_for() -> None:
    entries = assembly.embedded(models.Config()).catalogue

    assert states(BAD).keys() == {entry.name for entry in entries}


def test_what_is_found_is_told_with_its_outcome() -> None:
    explanation = explaining.explain(assembly.embedded(models.Config()), Request(value=BAD))

    (first, *_) = [each for each in explanation.entries if each.entry.code == "USH103"]
    assert first.state is State.FOUND
    assert first.texts[0].startswith("deny: container ")


def test_what_is_not_evaluated_is_neither_found_nor_good() -> None:
    assert states(BAD)["gpu-node-affinity-present"] is State.NOT_EVALUATED


def test_a_check_is_asked_only_about_what_it_is_about() -> None:
    assert states(CPU)["gpu-requests-equal-limits"] is State.NOT_ASKED
    assert states(CPU)["privileged-container"] is State.GOOD
    assert states(BAD)["workload-priority-value-misplaced"] is State.NOT_ASKED


def test_what_usher_yaml_switches_off_is_off() -> None:
    rules: paths.Json = [{"check": "resources", "action": "off"}]

    assert states(BAD, enforcement={"rules": rules})["gpu-requests-equal-limits"] is State.OFF


@pytest.mark.parametrize(
    ("value", "mutation", "state"),
    [
        (BAD, "gpu-toleration", State.APPLIED),
        (CPU, "gpu-toleration", State.LEFT_ALONE),
        (CPU, "visible-devices-void", State.APPLIED),
    ],
)
def test_a_mutation_applies_or_is_not_for_it(value: paths.Object, mutation: str, state: State) -> None:
    assert states(value)[mutation] is state


def test_an_exempt_object_has_its_reason_and_nothing_else() -> None:
    evaluator = assembly.embedded(models.Config())
    exempt = builders.replaced(CPU, "/metadata/namespace", "kube-system")

    explanation = explaining.explain(evaluator, Request(value=exempt))

    assert explanation.entries == ()
    assert explanation.exemption == "usher.yaml exempts namespace kube-system"


def test_what_no_rule_reads_has_no_explanation() -> None:
    evaluator = assembly.embedded(models.Config())

    assert explaining.explain(evaluator, Request(value=builders.custom("v1", "Secret", {}))).workload is None


@pytest.mark.parametrize("value", [BAD, CPU, builders.custom("v1", "Secret", {})])
def test_what_is_said_not_to_be_asked_is_what_the_policies_do_not_ask(value: paths.Object) -> None:
    """dispatch.rego and `why_not_asked` hold the same conditions: whatever speaks was asked."""
    evaluator = assembly.embedded(models.Config())
    decision = evaluator.decide(Request(value=value))
    spoke = {each.finding.check for each in decision.judgements} | {each.check for each in decision.unknowns}

    if decision.workload is not None:
        silent = [
            entry.key
            for entry in evaluator.catalogue.checks.values()
            if explaining.why_not_asked(entry, decision.workload)
        ]
        assert spoke.isdisjoint(silent)
