"""Each number says what it needs: a number that is added to the document cannot forget what a part does not know."""

from typing import Any

import pytest
from msgspec.structs import replace

from builders import audit_documents as audits
from builders import estates
from builders.estates import estate
from unit.check.formats import made
from usher.audit import document_entries
from usher.audit.document import AcceleratorEntry, FindingEntry, Subject, Summary
from usher.audit.document.audit_entries import Part
from usher.audit.gather import needed_inputs
from usher.audit.gather.estate import WHOLE, OneNamespace, Scope
from usher.audit.gather.needed_inputs import Need
from usher.audit.store.shards import Shard
from usher.check import findings

OURS = OneNamespace(name="ml-research")
NODES_ARE_OURS = Shard(index=0, of=2)


@pytest.mark.parametrize("kind", list(needed_inputs.NEEDS), ids=lambda kind: kind.__name__)
def test_each_field_has_its_needs(kind: type[Part]) -> None:
    assert needed_inputs.NEEDS[kind].keys() == kind.model_fields.keys()


@pytest.mark.parametrize("kind", [Summary, AcceleratorEntry], ids=lambda kind: kind.__name__)
def test_each_number_with_a_need_may_be_unknown(kind: type[Part]) -> None:
    full: Any = kind.model_validate({"resource": "google.com/tpu"})

    lacking = needed_inputs.without_unknown(full, set(Need))

    assert kind.model_validate_json(lacking.model_dump_json()) == lacking


@pytest.mark.parametrize(
    ("scope", "lacks"),
    [
        (WHOLE, set()),
        (Shard(), set()),
        (OURS, {Need.NODES, Need.ALL_NAMESPACES}),
        (Shard(index=1, of=2), {Need.NODES, Need.ALL_NAMESPACES}),
        (NODES_ARE_OURS, {Need.ALL_NAMESPACES}),
    ],
    ids=["whole", "only shard", "namespace", "shard", "shard with the nodes"],
)
def test_a_part_of_a_cluster_lacks_what_others_hold(scope: Scope, lacks: set[Need]) -> None:
    assert needed_inputs.beyond_scope(scope) == lacks


def test_the_whole_of_a_cluster_is_as_it_was_found() -> None:
    assert document_entries.document_of_part(audits.full(), WHOLE) == audits.full()


def of_cluster(code: str, name: str = "Node") -> FindingEntry:
    return audits.finding(code, code=code, subject=Subject(api_version="v1", kind=name, name="a"))


@pytest.mark.parametrize(("scope", "kept"), [(OURS, ["own"]), (NODES_ARE_OURS, ["USA034"])], ids=str)
def test_what_has_no_namespace_is_said_by_the_part_with_the_nodes(scope: Scope, kept: list[str]) -> None:
    """Not what only all parts together prove."""
    own = audits.finding("own", subject=audits.subject("a", namespace="ml-research"))
    other = audits.finding("other", subject=audits.subject("b", namespace="elsewhere"))
    given = audits.audit(findings=(own, other, *map(of_cluster, ("USA034", "USA020", "USA050"))))

    found = [each.fingerprint for each in document_entries.document_of_part(given, scope).findings]

    assert [each for each in found if each not in ("own", "other")] == [each for each in kept if each != "own"]
    assert ("own" in found) == scope.has("ml-research")
    assert ("other" in found) == scope.has("elsewhere")


def test_an_exception_that_covers_nothing_in_a_part_is_not_unused() -> None:
    full = audits.full()
    unused = full.exceptions[0].model_copy(update={"state": "unused"})

    assert document_entries.document_of_part(
        full.model_copy(update={"exceptions": (*full.exceptions, unused)}), OURS
    ).exceptions == (full.exceptions)


def lacking(found: Any, *, origin: str = "prod", problems: tuple[str, ...] = (), never: bool = False) -> set[Need]:
    said = tuple(findings.Problem(source=each, reason="HTTP status 500") for each in problems)
    report = replace(made.made(command=findings.Command.AUDIT), origin=origin, problems=said)
    return set(needed_inputs.unread_inputs(found, report, finds_never=never))


RUNS = estates.entry("Job", pods=[estates.running()])
MANIFEST = replace(RUNS, exists=False, pods=())


def test_what_was_read_in_full_lacks_nothing() -> None:
    assert lacking(estate(workloads=[RUNS])) == set()


def test_without_pods_it_is_not_known_who_waits() -> None:
    assert lacking(replace(estate(workloads=[RUNS]), pods_known=False)) == {Need.PODS, Need.OUTLOOK}


def test_manifests_have_no_pods_that_could_wait() -> None:
    assert lacking(replace(estate(workloads=[MANIFEST]), pods_known=False)) == {Need.PODS}


def test_without_facts_only_usher_yaml_may_say_never() -> None:
    found = replace(estate(workloads=[MANIFEST]), facts_known=False)

    assert lacking(found) == {Need.OUTLOOK}
    assert lacking(found, never=True) == set()


@pytest.mark.parametrize(
    ("origin", "problem", "lacks"),
    [
        ("prod", "pods", {Need.ALL_PODS}),
        ("prod", "jobs.batch", set()),
        ("", "dump.json", {Need.ALL_PODS}),
    ],
)
def test_a_list_of_pods_that_ended_early_hides_who_holds_gpus(origin: str, problem: str, lacks: set[Need]) -> None:
    assert lacking(estate(workloads=[RUNS]), origin=origin, problems=(problem,)) == lacks
