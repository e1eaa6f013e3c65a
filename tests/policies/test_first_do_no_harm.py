"""Law: first, do no harm. It holds at every example site, for manifests of corpora, of all kinds, and generated ones.

A mutated object has no findings that it did not have before, fits every node pool that it fitted, and gets nothing that
its cluster does not serve.
"""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
import record_mutations
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import builders
import generated_examples
import harm_properties as harms
import indexed_manifests
import mutation_properties as properties
import shared_files
from mutation_properties import Case, case
from policies import sites
from policies.sites import SITES, Site
from shared_files import OWN, PUBLISHED, Corpus
from unit.policy.mutation import generated
from usher import paths
from usher.config import pools
from usher.kinds.reading import values as reading_values
from usher.kinds.registry import WORKLOADS
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator

FOLDER = Path(__file__).parents[2] / "tests/data/mutations"

AT_LEAST = {OWN: 60, PUBLISHED: 500}
"""Workloads in a corpus."""

Harm = Callable[[Case], Iterator[str]]

HARMS: list[Harm] = [
    harms.finds_more,
    harms.denies_more,
    harms.keeps_pods_off_a_pool,
    properties.changed_by_a_second_go,
]

thoroughly = settings(
    deadline=None, max_examples=generated_examples.up_to(150), suppress_health_check=[HealthCheck.too_slow]
)


def name_of(value: Site | Harm) -> str:
    return value.name if isinstance(value, Site) else value.__name__


every_site = pytest.mark.parametrize(
    "site", [SITES[0], *(pytest.param(site, marks=pytest.mark.thorough) for site in SITES[1:])], ids=name_of
)
"""A change is tried at the first site, which declares most."""


@pytest.fixture(scope="module", autouse=True)
def _forgotten_afterwards() -> Iterator[None]:
    yield
    for kept in (
        of_corpus,
        of_every_kind,
        sites.evaluator,
        sites.evaluator_of_an_empty_cluster,
        sites.evaluator_of_a_cluster_with_queues,
    ):
        kept.cache_clear()


@cache
def of_corpus(corpus: Corpus, evaluator: Evaluator, namespaces: tuple[str, ...]) -> tuple[Case, ...]:
    return tuple(found for found in _of_corpus(corpus, evaluator, namespaces) if found is not None)


def _of_corpus(corpus: Corpus, evaluator: Evaluator, namespaces: tuple[str, ...]) -> Iterator[Case | None]:
    for file in sorted({document.file for document in indexed_manifests.documents(corpus)}):
        values = [indexed_manifests.without_namespace(value) for value in indexed_manifests.read(corpus.folder / file)]
        for namespace in namespaces:
            objects = reading_values.Objects(values, namespace=namespace)
            for number, value in enumerate(values):
                request = Request(value=value, namespace=namespace, objects=objects, place="check")
                yield case(f"{file}[{number}] in {namespace}", evaluator, request)


@cache
def of_every_kind(evaluator: Evaluator, namespaces: tuple[str, ...]) -> tuple[Case, ...]:
    subjects = [subject for kind in WORKLOADS.values() for subject in record_mutations.subjects(kind, FOLDER)]
    found = [
        case(f"{subject.kind.group}/{subject.kind.kind} in {namespace}", evaluator, subject.request(namespace))
        for subject in subjects
        for namespace in namespaces
    ]
    return tuple(each for each in found if each is not None)


def harmed(cases: tuple[Case, ...], harm: Harm) -> dict[str, list[str]]:
    return {found.name: told for found in cases if found.merged.operations and (told := list(harm(found)))}


def test_there_is_a_list_of_namespaces_for_every_example_site() -> None:
    assert {file.stem for file in sites.FOLDER.iterdir()} == {site.name for site in SITES} - {"defaults"}


@pytest.mark.costly
@every_site
@pytest.mark.parametrize("corpus", shared_files.thorough_corpora)
@pytest.mark.parametrize("harm", HARMS, ids=name_of)
def test_the_manifests_of_a_corpus_are_not_harmed(corpus: Corpus, site: Site, harm: Harm) -> None:
    cases = of_corpus(corpus, sites.evaluator(site), site.namespaces)

    assert len(cases) // len(site.namespaces) >= AT_LEAST[corpus]
    assert harmed(cases, harm) == {}


@pytest.mark.costly
@every_site
@pytest.mark.parametrize("harm", HARMS, ids=name_of)
def test_manifests_of_every_kind_are_not_harmed(site: Site, harm: Harm) -> None:
    assert harmed(of_every_kind(sites.evaluator(site), site.namespaces), harm) == {}


@pytest.mark.costly
@every_site
@pytest.mark.parametrize("corpus", shared_files.thorough_corpora)
def test_a_cluster_without_queues_and_classes_gets_manifests_without_them(corpus: Corpus, site: Site) -> None:
    cases = of_corpus(corpus, sites.evaluator_of_an_empty_cluster(site), site.namespaces)

    for harm in (harms.gives_what_no_controller_serves, harms.finds_more, harms.denies_more):
        assert harmed(cases, harm) == {}


@pytest.mark.costly
@every_site
@pytest.mark.parametrize("corpus", shared_files.thorough_corpora)
def test_a_queue_that_cannot_admit_a_manifest_is_not_given(corpus: Corpus, site: Site) -> None:
    cases = of_corpus(corpus, sites.evaluator_of_a_cluster_with_queues(site), site.namespaces)

    for harm in (harms.finds_more, harms.denies_more, properties.changed_by_a_second_go):
        assert harmed(cases, harm) == {}


@pytest.mark.costly
@every_site
@pytest.mark.parametrize("harm", HARMS, ids=name_of)
@thoroughly
@given(value=generated.manifests_of_many_devices(), data=st.data())
def test_generated_manifests_are_not_harmed(site: Site, harm: Harm, value: paths.Object, data: st.DataObject) -> None:
    namespace = data.draw(st.sampled_from(site.namespaces))
    request = Request(value=indexed_manifests.without_namespace(value), namespace=namespace, place="check")

    found = case("generated", sites.evaluator(site), request)

    assert found is not None
    assert list(harm(found)) == []


@pytest.mark.costly
@every_site
@pytest.mark.parametrize("harm", HARMS, ids=name_of)
def test_training_on_each_pool_with_any_number_of_its_devices_is_not_harmed(site: Site, harm: Harm) -> None:
    evaluator = sites.evaluator(site)
    cases = [
        case(f"{count} {name} on {pool.name} in {namespace}", evaluator, Request(value=job, namespace=namespace))
        for pool in evaluator.config.pools
        for name in pool.resources
        for count in (1, 2, 4, 8, 16)
        for job in [trained_on(pool, name, count)]
        for namespace in site.namespaces
    ]

    assert harmed(tuple(filter(None, cases)), harm) == {}


def trained_on(pool: pools.Pool, resource: str, count: int) -> paths.Object:
    """A PyTorchJob with two workers that select a pool, with as many devices of it."""
    container = builders.container("pytorch", limits={resource: count})
    template = builders.template(container, nodeSelector=dict(pool.node_selector))
    return builders.pytorch_job(template, workers=2, namespace=None)
