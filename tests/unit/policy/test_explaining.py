"""The effect of each check and each mutation on an object."""

import pytest

import builders
from usher import paths
from usher.config import models
from usher.policy import assembly, explaining
from usher.policy.decision import Request
from usher.policy.explaining import State

BAD = builders.pytorch_job(builders.template(builders.container(requests={builders.GPU: 2}, limits={builders.GPU: 1})))
CPU = builders.pod(builders.container())


def explained(value: paths.Object, **config: paths.Json) -> tuple[explaining.Explained, ...]:
    evaluator = assembly.embedded(models.Config.model_validate(config))
    return explaining.explain(evaluator, Request(value=value)).entries


def states(value: paths.Object, **config: paths.Json) -> dict[str, State]:
    """By name; of a mutation that has several, the one that is told first."""
    return {each.entry.name: each.state for each in reversed(explained(value, **config))}


def test_every_check_and_every_mutation_is_accounted_for() -> None:
    entries = assembly.embedded(models.Config()).catalogue

    assert states(BAD).keys() == {entry.name for entry in entries}


def test_a_finding_is_explained_with_its_outcome() -> None:
    explanation = explaining.explain(assembly.embedded(models.Config()), Request(value=BAD))

    (first, *_) = [each for each in explanation.entries if each.entry.code == "USH103"]
    assert first.state is State.FOUND
    assert first.texts[0].startswith("deny: container ")


def test_an_unevaluated_check_has_its_own_state() -> None:
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
        (CPU, "gpu-toleration", State.NOT_ASKED),
        (BAD, "queue-label", State.LEFT_ALONE),
        (CPU, "visible-devices-void", State.APPLIED),
    ],
)
def test_a_mutation_applies_or_is_not_for_it(value: paths.Object, mutation: str, state: State) -> None:
    assert states(value)[mutation] is state


def test_a_mutation_is_off_until_usher_yaml_switches_it_on() -> None:
    rules: paths.Json = [{"mutation": "disruption-protection", "action": "apply"}]

    assert states(BAD)["disruption-protection"] is State.OFF
    assert states(BAD, mutations={"rules": rules})["disruption-protection"] is State.APPLIED


def test_a_mutation_that_leaves_it_alone_says_why() -> None:
    (queue_label,) = [each for each in explained(BAD) if each.entry.name == "queue-label"]

    assert queue_label.texts == ("usher.yaml names no queue for this workload",)


def test_a_mutation_may_apply_to_one_part_and_leave_another_alone() -> None:
    tolerating = builders.template(
        builders.container("pytorch", gpus=1), tolerations=[builders.toleration(builders.GPU, operator="Exists")]
    )
    job = builders.pytorch_job(builders.template(builders.container("pytorch", gpus=1)), master=tolerating)

    found = {each.state: each.texts for each in explained(job) if each.entry.name == "gpu-toleration"}

    assert found == {
        State.APPLIED: ("Worker: toleration: nodes with this accelerator usually have the taint nvidia.com/gpu",),
        State.LEFT_ALONE: (
            "Master: the pod already tolerates the usual taint, or usher knows no usual taint for these nodes",
        ),
    }


def test_an_exempt_object_has_its_reason_and_nothing_else() -> None:
    evaluator = assembly.embedded(models.Config())
    exempt = builders.replaced(CPU, "/metadata/namespace", "kube-system")

    explanation = explaining.explain(evaluator, Request(value=exempt))

    assert explanation.entries == ()
    assert explanation.exemption == "usher exempts namespace kube-system by default"


def test_what_no_rule_reads_has_no_explanation() -> None:
    evaluator = assembly.embedded(models.Config())

    assert explaining.explain(evaluator, Request(value=builders.custom("v1", "Secret", {}))).workload is None


def test_a_check_about_objects_and_the_cluster_is_asked_about_them_alone_and_not_without_facts() -> None:
    quota = builders.gpu_quota(gpus=8, namespaces=["research-*"])
    evaluator = assembly.embedded(models.Config())
    check = evaluator.catalogue.checks["tenancy/gpu_quotas_overlap"]
    of_quota, of_pod = (evaluator.workload(Request(value=value)) for value in (quota, CPU))
    assert of_quota is not None
    assert of_pod is not None

    assert explaining.why_not_asked(check, of_pod, facts=True) == "it is about GPUQuota"
    assert explaining.why_not_asked(check, of_quota) == "nothing is known of the cluster"
    assert explaining.why_not_asked(check, of_quota, facts=True) == ""


def test_a_check_about_accelerator_pods_may_be_about_objects_too() -> None:
    group = builders.custom("scheduling.volcano.sh/v1beta1", "PodGroup", {"queue": "research"})
    evaluator = assembly.embedded(models.Config())
    check = evaluator.catalogue.checks["gang/volcano_queue_not_allowed"]
    of_group, of_gpus, of_cpus = (evaluator.workload(Request(value=value)) for value in (group, BAD, CPU))
    assert of_group is not None
    assert of_gpus is not None
    assert of_cpus is not None

    assert explaining.why_not_asked(check, of_group) == ""
    assert explaining.why_not_asked(check, of_gpus) == ""
    assert explaining.why_not_asked(check, of_cpus) == "it is about pods that ask for accelerators"


@pytest.mark.parametrize("value", [BAD, CPU, builders.custom("v1", "Secret", {})])
def test_checks_that_explain_reports_as_not_asked_never_find_anything(value: paths.Object) -> None:
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
