"""Findings and mutations lead to what people wrote: for every kind, with mistakes in all pods of its manifest."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
import record_mutations
import yaml
from msgspec import Struct
from record_mutations import NAMESPACES, Subject
from ruamel.yaml import YAML

import broken_objects
import generated_examples
import mutation_properties
from policies.test_places_by_another_reader import places
from usher import paths
from usher.check import findings, judging, runner, sources
from usher.kinds.reading import fields
from usher.kinds.reading.values import Objects
from usher.kinds.registry import WORKLOADS
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator

FOLDER = Path(__file__).parents[2] / "tests/data/mutations"


@cache
def evaluator() -> Evaluator:
    return record_mutations.evaluator_of(FOLDER)


class Broken(Struct, frozen=True):
    """A manifest with mistakes, as its author wrote it."""

    subject: Subject
    mistakes: tuple[str, ...]

    @property
    def name(self) -> str:
        kind = self.subject.kind
        return f"{kind.group or 'core'}/{kind.kind}/{self.subject.name}: {', '.join(self.mistakes)}"

    @property
    def objects(self) -> list[paths.Object]:
        """The broken object first, and those beside it in the file."""
        value = self.subject.value
        rest = [each for each in self.subject.objects if each is not value]
        return [broken_objects.broken(each, *self.mistakes) for each in (value, *rest)]


def cases() -> Iterator[Broken]:
    """One object of every kind with the mistakes together; at night all its objects, and each mistake alone."""
    thorough = generated_examples.are_thorough()
    chosen = [*broken_objects.TOGETHER, *((name,) for name in broken_objects.MISTAKES if thorough)]
    for kind in WORKLOADS.values():
        for subject in record_mutations.subjects(kind, FOLDER)[: None if thorough else 1]:
            yield from (Broken(subject, mistakes) for mistakes in chosen)


class Judged(NamedTuple):
    case: Broken
    objects: list[paths.Object]
    text: str
    results: tuple[findings.Result, ...]


@cache
def judged() -> tuple[Judged, ...]:
    """The cases, each as `usher check` judges its file."""
    settings = judging.Settings(command=findings.Command.CHECK, namespace=NAMESPACES[0])
    found = []
    for case in cases():
        objects = case.objects
        text: str = yaml.dump_all(objects, Dumper=yaml.CSafeDumper, sort_keys=False)
        batch = sources.parse_content(text.encode(), source="a.yaml", explicit=True)
        found.append(Judged(case, objects, text, runner.run([batch], evaluator=evaluator(), settings=settings).results))
    return tuple(found)


@pytest.fixture(scope="module", autouse=True)
def _forgotten_afterwards() -> Iterator[None]:
    yield
    judged.cache_clear()


@pytest.mark.costly
def test_every_finding_has_the_line_and_the_column_of_its_place_in_the_file() -> None:
    wrong, seen = list[tuple[str, str]](), 0
    for case, _, text, results in judged():
        documents = {node.start_mark.line + 1: node for node in YAML().compose_all(text)}
        for result in results:
            for finding in result.findings:
                path = finding.judgement.finding.path
                expected = places(documents[result.line], path)
                if path.count("/") <= 1:
                    expected |= places(documents[result.line], "/kind")
                assert finding.place is not None
                if (finding.place.line, finding.place.column) not in expected:
                    wrong.append((case.name, path))
                seen += 1

    assert wrong == []
    assert seen > 2500


def split_at_missing(value: paths.Json, path: str) -> tuple[paths.Json, list[str]]:
    """The value at the longest existing part of a path, and the keys that are missing below it."""
    keys, at = paths.split(path), value
    for number, key in enumerate(keys):
        if isinstance(at, dict) and key in at:
            at = at[key]
        elif isinstance(at, list) and key.isdigit() and int(key) < len(at):
            at = at[int(key)]
        else:
            return at, keys[number:]
    return at, []


def has_field(value: paths.Object, path: str) -> bool:
    """Whether the definition of the kind of an object has the fields of a path."""
    known = fields.recorded()
    number = known.kinds.get(f"{value.get('apiVersion')} {value.get('kind')}", 0)
    for key in paths.split(path):
        node = known.nodes[abs(number)]
        if not number or key in {"labels", "annotations"}:
            return True
        if number < 0:
            number = -number
        elif fields.TYPE in node or (fields.MAP not in node and key not in node):
            return number in known.leaves and known.leaves[number] is dict
        else:
            number = node.get(fields.MAP, node.get(key, 0))
    return True


def test_what_a_finding_misses_has_a_place_or_its_remedy_says_that_the_kind_lacks_it() -> None:
    """The place is in the definition of the kind, or in the object that the manifest names there."""
    wrong = set[tuple[str, str, str]]()
    for _, objects, _, results in judged():
        for result in results:
            value = next(each for each in objects if each.get("kind", "PipelineSpec") == result.identity.kind)
            for finding in result.findings:
                path = finding.judgement.finding.path
                at, missing = split_at_missing(value, path)
                if isinstance(at, (str, list)) and missing and not missing[0].isdigit():
                    rest = paths.join("", *missing)
                    assert any(split_at_missing(each, rest)[1] != missing for each in objects[1:]), path
                    continue
                says = "has no field for this" in finding.judgement.finding.remedy
                if says != (bool(missing) and not has_field(value, path)):
                    wrong.add((result.identity.kind, finding.judgement.code, path))

    assert wrong == set()


@pytest.mark.costly
def test_patches_of_broken_objects_have_places_in_the_definition_and_are_read_again() -> None:
    wrong = dict[str, list[str]]()
    for case, (value, *rest), _, _ in judged():
        kind = case.subject.kind
        for namespace in ("",) if kind.cluster_scoped else NAMESPACES[:1]:
            request = Request(
                value=value, namespace=namespace, objects=Objects([value, *rest], namespace=namespace), place="check"
            )
            made = mutation_properties.case(case.name, evaluator(), request)
            if made is None:
                continue
            found = [
                f"{operation['path']} is no field"
                for operation in made.merged.operations
                if not has_field(value, operation["path"].removesuffix("/-"))
            ]
            found += mutation_properties.changed_by_a_second_go(made)
            if found:
                wrong[case.name] = found

    assert wrong == {}
