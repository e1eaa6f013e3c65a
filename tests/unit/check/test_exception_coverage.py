"""A run knows what the exceptions of usher.yaml cover, and judges nothing twice."""

from datetime import date
from typing import Any

import pytest

import builders
from usher import paths
from usher.check import findings, judging, runner
from usher.check.batches import Batch, Item
from usher.check.findings import ExceptionUse
from usher.cluster.facts.store import Store
from usher.config import models
from usher.policy import assembly

TODAY = date(2026, 11, 23)
UNEQUAL = builders.template(builders.container(requests={builders.GPU: 2}, limits={builders.GPU: 1}))
"""A template with a finding of gpu-requests-equal-limits."""


def rule(*checks: str, **fields: Any) -> dict[str, Any]:
    words = {"owner": "nlp", "reason": "r", "ticket": "T", "expires": "2027-01-01"}
    return {"checks": list(checks or ("gpu-requests-equal-limits",)), **words, **fields}


def job(name: str = "train", template: paths.Object = UNEQUAL, **fields: Any) -> paths.Object:
    return builders.pytorch_job(template, workers=1, name=name, **fields)


def uses(
    exceptions: list[dict[str, Any]], *objects: paths.Object, aside: tuple[paths.Object, ...] = (), **enforcement: Any
) -> tuple[ExceptionUse, ...]:
    config = models.Config.model_validate({"enforcement": {"exceptions": exceptions, **enforcement}})
    evaluator = assembly.embedded(config, facts=Store())
    evaluator.today = lambda: TODAY
    batch = Batch(source="jobs", items=tuple(Item(value=value) for value in objects), aside=aside)
    settings = judging.Settings(command=findings.Command.AUDIT)
    return runner.run([batch], evaluator=evaluator, settings=settings).exceptions


CODE = "USH103"


def test_an_exception_covers_what_would_deny_without_it() -> None:
    (use,) = uses([rule()], job(), job("good", builders.template(builders.container(gpus=1))))

    assert (use.state.value, use.objects, use.objects_with_findings, use.codes) == ("used", 2, 1, (CODE,))
    assert (use.findings, use.needed_findings, use.known, use.covered_by) == (1, 1, True, ())


def test_an_exception_matches_by_namespace_kind_and_name() -> None:
    exceptions = [
        rule(namespaces=["ml-*"]),
        rule(kinds=["Job"]),
        rule(names=["tr*"]),
    ]
    found = uses(exceptions, job(namespace="ml-a"), job(namespace="web"), job("other"))

    assert [use.objects for use in found] == [2, 0, 2]


def test_what_usher_yaml_only_notes_needs_no_exception() -> None:
    (use,) = uses([rule()], job(), rules=[{"check": CODE, "action": "audit"}])

    assert (use.findings, use.needed_findings) == (1, 0)


def test_what_the_next_preset_would_deny_needs_its_exception_while_usher_observes() -> None:
    (use,) = uses([rule()], job(), preset="observe")

    assert (use.findings, use.needed_findings) == (1, 1)


def test_an_ended_exception_says_what_it_covered() -> None:
    (use,) = uses([rule(expires="2026-11-22")], job())

    assert (use.state.value, use.findings, use.objects_with_findings, use.codes) == ("expired", 0, 1, (CODE,))
    assert use.examples == ("PyTorchJob ml-research/train",)


def test_of_two_exceptions_the_first_covers_and_the_second_says_so() -> None:
    first, second = uses([rule(), rule(ticket="U")], job())

    assert (first.findings, first.covered_by) == (1, ())
    assert (second.findings, second.covered_by, second.objects_with_findings) == (0, (0,), 1)


@pytest.mark.parametrize(
    ("checks", "enforcement"),
    [
        (["ACME101"], {}),
        (["USH430"], {}),
        ([CODE], {"rules": [{"check": CODE, "action": "deny", "places": ["admission"]}]}),
    ],
    ids=["a check that was not loaded", "facts that are missing", "a rule for admission alone"],
)
def test_usher_does_not_know_the_use_of_what_it_did_not_evaluate(
    checks: list[str], enforcement: dict[str, Any]
) -> None:
    (use,) = uses([rule(*checks)], job(), **enforcement)

    assert not use.known


def test_a_part_of_an_object_that_could_not_be_read_may_need_the_exception() -> None:
    broken = job()
    broken["spec"]["pytorchReplicaSpecs"]["Worker"]["template"] = "no template"  # type: ignore[index,call-overload]  # made by builders

    (use,) = uses([rule()], broken)
    assert not use.known


def test_pods_that_were_judged_as_part_of_their_job_may_need_an_exception_for_pods() -> None:
    pod = builders.pod(name="train-worker-0")
    found = uses([rule(kinds=["Pod"]), rule(names=["*-worker-0"]), rule()], job(), aside=(pod,))

    assert [use.aside for use in found] == [1, 1, 0]
