"""Objects of any shape: findings never fail, come in one order, and skip kinds that are not known."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import generated_examples
from builders import gpu_job, queues
from builders.estates import NOW, entry, estate, gpu_node, running, waiting
from builders.standings import found, knowledge, namespaces, report
from shared_files import Corpus, thorough_corpora
from usher import paths
from usher.audit import sections
from usher.audit.document import FindingEntry
from usher.audit.gather.estate import Estate
from usher.audit.gather.needed_inputs import WANTED
from usher.config import models

KEYS = (
    *("metadata", "spec", "status", "name", "namespace", "labels", "ownerReferences", "conditions", "webhooks"),
    *("rules", "template", "containers", "tolerations", "taints", "queueName", "admissionChecks", "type", "uid"),
)
STANDING_KINDS = WANTED
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.just("2026-99-99T00:00:00Z"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=24,
)
OBJECTS = st.dictionaries(st.sampled_from(KEYS), JSON, max_size=6)


def full(objects: Sequence[paths.Object], manifests: dict[str, paths.Object] | None = None) -> Estate:
    """A cluster in which something waits and something runs."""
    pods = [running("a"), waiting("b", hours=9, why="\x1b[31m<script>alert(1)</script>")]
    return estate(
        nodes=[gpu_node(ready=False, taints=()), gpu_node("other", allocatable=0)],
        workloads=[entry("PyTorchJob", pods=pods), entry("Job", "second", suspended=True, queue="research")],
        objects=objects,
        manifests=manifests,
    )


def typed(value: paths.Object, index: int) -> paths.Object:
    each = STANDING_KINDS[index % len(STANDING_KINDS)]
    version = f"{each.group}/{each.versions[0]}" if each.group else each.versions[0]
    return {**value, "apiVersion": version, "kind": each.kind}


@settings(max_examples=generated_examples.up_to(60), deadline=None)
@given(st.lists(OBJECTS, max_size=6))
def test_objects_of_any_shape_do_no_harm(values: list[paths.Object]) -> None:
    objects = [typed(value, index) for index, value in enumerate(values)]
    kept = [next(each for each in STANDING_KINDS if each.kind == value["kind"]).keep(value) for value in objects]
    forwards, backwards = found(full(kept)), found(full(kept[::-1]))

    assert [each.model_dump() for each in forwards] == [each.model_dump() for each in backwards]
    assert all(isinstance(FindingEntry.model_validate_json(each.model_dump_json()), FindingEntry) for each in forwards)


@settings(max_examples=generated_examples.up_to(25), deadline=None)
@given(OBJECTS)
def test_manifests_of_any_shape_do_no_harm(value: paths.Object) -> None:
    manifest = {**gpu_job(8), "spec": value}

    assert found(full([], {"uid-of-second": manifest})) is not None


def manifests(corpus: Corpus) -> list[paths.Object]:
    """The objects of a corpus, without documents that are not objects."""
    values: list[paths.Object] = []
    lines = (corpus.folder / "INDEX.tsv").read_text("utf-8").splitlines()[1:]
    for file in sorted({line.split("\t")[0] for line in lines}):
        values += _documents(corpus.folder / file)
    return values


def _documents(file: Path) -> list[paths.Object]:
    try:
        found: list[Any] = list(yaml.load_all(file.read_text("utf-8"), Loader=LOADER))
    except (OSError, ValueError, yaml.YAMLError):
        return []
    return [each for each in found if isinstance(each, dict)]


@pytest.mark.parametrize("corpus", thorough_corpora)
def test_published_manifests_lead_to_the_same_findings_in_any_order(corpus: Corpus) -> None:
    named = {_identity(each): each for each in manifests(corpus) if isinstance(each.get("metadata"), dict)}
    values = list(named.values())
    wanted = {each.key for each in STANDING_KINDS}
    objects = [each for each in values if _key(each) in wanted]
    waits = {f"uid-{number}": each for number, each in enumerate(values)}
    workloads = tuple(entry("Job", f"job-{number}", uid=uid, suspended=True) for number, uid in enumerate(waits))
    facts = [each for each in values if isinstance(paths.metadata(each).get("name"), str)]

    def judged(reverse: bool) -> list[FindingEntry]:
        seen = full(objects[::-1] if reverse else objects, waits)
        seen = replace(seen, workloads=(*seen.workloads, *workloads))
        known = knowledge(facts)
        config = models.Config()
        return list(sections.standing_findings(seen, known, report=report(), config=config, now=NOW))

    entries = judged(reverse=False)
    assert entries == judged(reverse=True)
    assert len({each.fingerprint for each in entries}) == len(entries)
    assert any(each.never for each in entries) or corpus.name == "own"


def _identity(value: paths.Object) -> str:
    metadata = paths.metadata(value)
    return str((*_key(value), metadata.get("namespace"), metadata.get("name")))


def _key(value: paths.Object) -> tuple[str, str]:
    return paths.text(value.get("apiVersion")).rpartition("/")[0], paths.text(value.get("kind"))


def test_without_any_knowledge_only_the_workloads_themselves_say_something() -> None:
    seen = replace(full([]), nodes=None, objects={})

    assert {each.code for each in found(seen)} == {"USA002", "USA003"}


def test_names_of_a_cluster_stay_as_they_are_in_one_line() -> None:
    (finding,) = found(full([]), codes=("USA002",))

    assert finding.evidence[-1] == "scheduler: \x1b[31m<script>alert(1)</script>"


@pytest.mark.parametrize("number", [1, 7])
def test_a_fingerprint_holds_no_number_of_the_cluster(number: int) -> None:
    facts = [queues.cluster_queue("q", queues.gpu_group(100 + number, flavor="h100")), queues.flavor("h100"),
             *namespaces("ml-research")]  # fmt: skip
    seen = estate(nodes=[gpu_node(str(index)) for index in range(number)])

    assert [each.fingerprint for each in found(seen, facts, codes=("USA021",))] == ["b823fc2a2821b987e8b4fc867e955dfe"]
