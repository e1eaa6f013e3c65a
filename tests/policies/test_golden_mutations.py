"""Every mutation changes a manifest of every kind as recorded, for the webhook and for the commands.

`scripts/generate` records it again (tests/data/mutations/expected) and writes docs/mutations.md from it; a change of a
mutation, of a strategy or of an adapter shows there.
"""

import base64
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson
import pytest
import record_mutations
from record_mutations import NAMESPACES, Subject, Verdict

import reviews
from usher.check import findings, judging, runner
from usher.check.batches import Batch, Item
from usher.kinds.kind import Kind
from usher.kinds.registry import WORKLOADS
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator
from usher.review import webhooks

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests/data/mutations"
EXPECTED = FOLDER / "expected"

SUBJECTS = [subject for kind in WORKLOADS.values() for subject in record_mutations.subjects(kind, FOLDER)]


@lru_cache(maxsize=1)
def evaluator() -> Evaluator:
    return record_mutations.evaluator_of(FOLDER)


def identify(about: Kind | Subject) -> str:
    if isinstance(about, Subject):
        return f"{about.kind.group or 'core'}/{about.kind.kind}/{about.name}"
    return f"{about.group or 'core'}/{about.kind}"


some_subjects = pytest.mark.parametrize(
    "subject",
    # A change is tried with every fifth: all have the recorded patches.
    [
        each if number % 5 == 0 else pytest.param(each, marks=pytest.mark.thorough)
        for number, each in enumerate(SUBJECTS)
    ],
    ids=identify,
)


def recorded(kind: Kind) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = orjson.loads(
        (EXPECTED / record_mutations.file_of(kind, ".json")).read_bytes()
    )
    return found


def namespaces(subject: Subject) -> tuple[str, ...]:
    return ("",) if subject.kind.cluster_scoped else NAMESPACES


def test_every_kind_has_a_manifest_and_a_record_and_there_are_no_others() -> None:
    manifests = {file.relative_to(FOLDER) for file in FOLDER.glob("*/*.yaml")}
    records = {file.relative_to(EXPECTED) for file in EXPECTED.glob("*/*")}

    assert manifests == {record_mutations.file_of(kind) for kind in WORKLOADS.values()}
    assert records == {record_mutations.file_of(kind, ".json") for kind in WORKLOADS.values()}


def test_the_site_routes_every_kind() -> None:
    routed = [set(route.kinds) for route in evaluator().config.routing if route.scheduler != "native"]

    assert routed == [{kind.kind for kind in WORKLOADS.values()}] * 2


@pytest.mark.costly
def test_every_manifest_is_read_in_full() -> None:
    for subject in SUBJECTS:
        for namespace in namespaces(subject):
            workload = evaluator().decide(subject.request(namespace)).workload

            assert workload is not None, identify(subject)
            assert workload.pod_sets, identify(subject)
            assert workload.unknowns == (), identify(subject)


@pytest.mark.parametrize("kind", WORKLOADS.values(), ids=identify)
def test_the_mutations_make_the_recorded_changes(kind: Kind) -> None:
    assert record_mutations.recorded(kind, FOLDER, evaluator()) == recorded(kind)


def test_every_mutation_has_a_verdict_about_each_kind_and_no_two_conflict() -> None:
    for kind in WORKLOADS.values():
        verdicts = {(key, entry["verdict"]) for key, entries in recorded(kind).items() for entry in entries}

        assert not [each for each in verdicts if each[1] in {Verdict.SILENT, Verdict.CONFLICT}], identify(kind)
        assert {key for key, _ in verdicts} == set(evaluator().catalogue.mutations), identify(kind)


@pytest.mark.costly
@some_subjects
def test_all_mutations_together_apply_what_each_applies_alone(subject: Subject) -> None:
    for namespace in namespaces(subject):
        request = subject.request(namespace)
        together = evaluator().mutate(request)
        alone = [evaluator().mutate(request, only=key).applied for key in evaluator().catalogue.mutations]

        assert together.conflicts == ()
        assert sorted(map(repr, together.applied)) == sorted(repr(each) for applied in alone for each in applied)


@pytest.mark.costly
@some_subjects
def test_the_webhook_sends_the_patch(subject: Subject) -> None:
    """A webhook knows no other objects, so it is compared with what is made of the object alone."""
    for namespace in namespaces(subject):
        expected = evaluator().mutate(Request(value=subject.value, namespace=namespace))

        answer = webhooks.mutate(reviews.body(subject.value, namespace=namespace, name=subject.name), evaluator())

        response = orjson.loads(answer.body)["response"]
        patch = orjson.loads(base64.b64decode(response["patch"])) if "patch" in response else []
        assert response["allowed"] is True
        assert patch == list(expected.operations)


@pytest.mark.costly
@some_subjects
def test_check_shows_the_patch_that_is_sent(subject: Subject) -> None:
    batch = Batch(source=subject.file.name, items=tuple(Item(value=value) for value in subject.objects))
    for namespace in namespaces(subject):
        settings = judging.Settings(command=findings.Command.CHECK, namespace=namespace, mutated=True, diff=True)

        found = runner.run([batch], evaluator=evaluator(), settings=settings)

        (change,) = [
            result.change
            for result in found.results
            if (result.identity.kind, result.identity.name) == (subject.kind.kind, subject.name)
        ]
        assert change is not None
        assert change.before == subject.value
        assert change.merged.operations == evaluator().mutate(subject.request(namespace)).operations


def rows() -> list[list[str]]:
    """The rows of the matrix: a kind and a cell for each mutation."""
    text = (ROOT / "docs/mutations.md").read_text(encoding="utf-8").partition("\n## Kinds\n")[2]
    lines = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith(("| kind ", "| --- "))]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_matrix_has_a_row_for_every_kind_and_no_empty_cell() -> None:
    assert len(rows()) == len(WORKLOADS)
    for row in rows():
        assert len(row) == 1 + len(evaluator().catalogue.mutations), row[0]
        assert all(row), row[0]


def test_every_mutation_is_applied_to_some_kind() -> None:
    applied = {
        key
        for kind in WORKLOADS.values()
        for key, entries in recorded(kind).items()
        if any(entry["verdict"] == Verdict.APPLIED for entry in entries)
    }

    # A job that names the queue already is handed over by this one; queue-label does both for all others.
    assert applied == set(evaluator().catalogue.mutations) - {"queueing/multikueue_handover"}
