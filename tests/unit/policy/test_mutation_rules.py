"""Which mutations are wanted: what usher.yaml says, and what authors may refuse where it lets them."""

from typing import Any

import pytest

import builders
from usher import paths
from usher.config import models
from usher.policy import assembly
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator

GPU_POD = builders.pod(builders.container(gpus=1), namespace="ml-nlp")
SKIP = "gpu-usher.io/skip-mutations"


def evaluator(**mutations: Any) -> Evaluator:
    return assembly.embedded(models.Config.model_validate({"mutations": mutations}))


def refusing(words: str) -> paths.Object:
    return builders.pod(builders.container(gpus=1), namespace="ml-nlp", annotations={SKIP: words})


def applied(made: Evaluator, value: paths.Object) -> set[str]:
    return {intent.mutation for intent in made.mutate(Request(value=value)).applied}


TOLERATION = "placement/gpu_toleration"


@pytest.mark.parametrize("word", ["gpu-toleration", "USM301", "*"])
@pytest.mark.parametrize("action", ["off", "warn"])
def test_a_rule_keeps_a_mutation_from_changing_anything(word: str, action: str) -> None:
    made = evaluator(rules=[{"mutation": word, "action": action}])

    assert TOLERATION not in applied(made, GPU_POD)


def test_a_rule_that_only_warns_skips_the_mutation_and_gives_the_reason() -> None:
    made = evaluator(rules=[{"mutation": "gpu-toleration", "action": "warn"}])

    (skipped,) = [each for each in made.mutate(Request(value=GPU_POD)).skipped if each.intent.mutation == TOLERATION]
    assert skipped.warned
    assert skipped.reason == "mutations.rules[0] of usher.yaml says warn"


def test_the_last_rule_that_fits_decides() -> None:
    off: dict[str, Any] = {"mutation": "*", "action": "off"}
    on: dict[str, Any] = {"mutation": "gpu-toleration", "action": "apply", "namespaces": ["ml-*"]}
    for_services: dict[str, Any] = {"mutation": "gpu-toleration", "action": "off", "roles": ["service"]}

    assert TOLERATION in applied(evaluator(rules=[off, on]), GPU_POD)
    assert TOLERATION not in applied(evaluator(rules=[on, off]), GPU_POD)
    assert TOLERATION in applied(evaluator(rules=[off, on, for_services]), GPU_POD)
    assert TOLERATION not in applied(evaluator(rules=[off, {**on, "namespaces": ["web"]}]), GPU_POD)


@pytest.mark.parametrize("words", ["gpu-toleration", "USM301, queue-label", "*"])
def test_the_author_of_an_object_may_refuse_what_usher_yaml_lets_him(words: str) -> None:
    made = evaluator(opt_outs=[{"mutations": ["gpu-toleration"], "namespaces": ["ml-*"]}])
    merged = made.mutate(Request(value=refusing(words)))

    assert TOLERATION not in {intent.mutation for intent in merged.applied}
    assert merged.warnings == ()
    assert {each.reason for each in merged.skipped} == {"the annotation gpu-usher.io/skip-mutations refuses it"}


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("gpu-tolerations", "there is no mutation 'gpu-tolerations'; did you mean gpu-toleration?"),
        ("usm301", "there is no mutation 'usm301'; did you mean USM301?"),
        ("\x1b[31mred", "there is no mutation '\\x1b[31mred'; `usher policies list` shows all mutations"),
        ("a" * 1000, f"there is no mutation '{'a' * 64}'; `usher policies list` shows all mutations"),
    ],
)
def test_a_misspelt_refusal_is_reported(words: str, reason: str) -> None:
    made = evaluator(opt_outs=[{"mutations": ["*"]}])
    merged = made.mutate(Request(value=refusing(words)))

    assert TOLERATION in {intent.mutation for intent in merged.applied}
    assert [(note.mutation, note.reason) for note in merged.warnings] == [("skip-mutations", reason)]


@pytest.mark.parametrize(
    "opt_outs",
    [
        [],
        [{"mutations": ["gpu-toleration"], "namespaces": ["web"]}],
        [{"mutations": ["queue-label"], "namespaces": ["*"]}],
    ],
)
def test_a_refusal_without_permission_has_no_effect_and_causes_a_warning(opt_outs: list[dict[str, Any]]) -> None:
    merged = evaluator(opt_outs=opt_outs).mutate(Request(value=refusing("gpu-toleration")))

    assert TOLERATION in {intent.mutation for intent in merged.applied}
    (note,) = merged.warnings
    assert note.mutation == TOLERATION
    assert note.reason == "usher.yaml does not allow gpu-usher.io/skip-mutations to refuse it in namespace ml-nlp"


def test_a_template_refuses_for_itself_alone() -> None:
    made = evaluator(opt_outs=[{"mutations": ["*"], "namespaces": ["*"]}])
    plain = builders.template(builders.container("pytorch", gpus=8))
    refusing_template = builders.template(builders.container("pytorch", gpus=8), annotations={SKIP: "*"})
    job = builders.pytorch_job(plain, master=refusing_template)

    merged = made.mutate(Request(value=job))

    assert merged.applied
    assert all(intent.at.startswith("/spec/pytorchReplicaSpecs/Worker/template") for intent in merged.applied)


def test_unknown_names_in_a_refusal_have_no_effect() -> None:
    made = evaluator(opt_outs=[{"mutations": ["*"], "namespaces": ["*"]}])

    assert TOLERATION in applied(made, refusing(" , gpu-tolerations,"))
