"""Manifests of public projects, and ours, as each example site changes them: the API server takes them as before.

The objects are changed as the webhook does it: after the API server gave them their defaults.
"""

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

import pytest

import indexed_manifests
import shared_files
from e2e import corpus, crds
from e2e.cluster import ApiError, Cluster, Object, Response
from indexed_manifests import Document
from policies import sites
from policies.sites import SITES, Site
from shared_files import OWN, PUBLISHED, Corpus
from usher.kinds.kind import Kind
from usher.kinds.registry import WORKLOADS
from usher.policy.decision import Request

pytestmark = [pytest.mark.uses_definitions, pytest.mark.thorough]

CONNECTIONS: Final = 8
TAKEN: Final = {OWN: 50, PUBLISHED: 400}
"""At least so many workloads of a corpus are taken as their authors wrote them, so that the tests say something."""
CHANGED: Final = {OWN: 35, PUBLISHED: 140}
"""At least so many of them are changed by each site."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A workload that the API server takes as its author wrote it."""

    document: Document
    kind: Kind
    defaulted: Object
    """With the defaults of the API server, as webhooks get it."""
    warnings: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRuns:
    """Asks the API server about objects, several at a time, without storing them."""

    cluster: Cluster
    namespace: str
    pool: ThreadPoolExecutor
    taken: dict[Corpus, list[Taken]] = field(default_factory=dict)

    def answers(self, values: Iterable[Object]) -> list[Response | ApiError]:
        return list(self.pool.map(self._answer, values))

    def _answer(self, value: Object) -> Response | ApiError:
        try:
            return self.cluster.answer_to_creation(value, dry_run=True)
        except ApiError as error:
            return error

    def workloads_of(self, source: Corpus) -> list[Taken]:
        """The workloads of a corpus that the API server takes as they are; it is asked once about each."""
        if source not in self.taken:
            found = list(_workloads(source))
            answers = self.answers(corpus.placed(document.value, kind, self.namespace) for document, kind in found)
            self.taken[source] = [
                Taken(
                    document=document,
                    kind=kind,
                    defaulted=corpus.as_written(answer.body),
                    warnings=frozenset(answer.warnings),
                )
                for (document, kind), answer in zip(found, answers, strict=True)
                if isinstance(answer, Response)
            ]
        return self.taken[source]


def _workloads(source: Corpus) -> Iterator[tuple[Document, Kind]]:
    for document in indexed_manifests.documents(source):
        group = str(document.value.get("apiVersion", "")).rpartition("/")[0]
        kind = WORKLOADS.get((group, str(document.value.get("kind"))))
        if kind is not None and crds.is_served(kind):
            yield document, kind


@pytest.fixture(scope="module")
def dry_runs(cluster: Cluster) -> Iterator[DryRuns]:
    """With all kinds of workloads, and with the classes that the sites speak of."""
    kinds = [kind for kind in WORKLOADS.values() if kind.group not in crds.BUILT_IN and crds.is_served(kind)]
    crds.install(cluster, [f"{kind.group}/{kind.plural}" for kind in kinds])
    classes: list[Object] = [
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": 1}
        for name in sorted({name for site in SITES for name in _classes(site)})
    ]
    for each in classes:
        cluster.create(each)
    namespace = cluster.create_namespace(prefix="sites-")
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        yield DryRuns(cluster=cluster, namespace=namespace, pool=pool)
    for each in classes:
        cluster.delete("PriorityClass", each["metadata"]["name"], api_version=each["apiVersion"])
    cluster.delete_namespace(namespace, wait=False)
    sites.evaluator.cache_clear()


def _classes(site: Site) -> Iterator[str]:
    priorities = sites.evaluator(site).config.priorities
    yield from (rule.priority_class for rule in priorities.classes)
    yield from filter(None, [priorities.global_default])


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
@pytest.mark.parametrize("source", shared_files.corpora)
def test_what_the_api_server_takes_it_takes_as_a_site_changes_it(dry_runs: DryRuns, source: Corpus, site: Site) -> None:
    """It refuses nothing more, and warns of no further field that it does not know."""
    workloads = dry_runs.workloads_of(source)
    mutated = [(each, value) for each in workloads for value in changed(each, site, dry_runs.namespace)]
    answers = dry_runs.answers(value for _, value in mutated)

    worse = {
        f"{each.document.place}: {told}"
        for (each, _), answer in zip(mutated, answers, strict=True)
        if (told := said_more(each, answer))
    }
    assert worse == set()
    assert len(workloads) >= TAKEN[source]
    assert len({each.document.place for each, _ in mutated}) >= CHANGED[source]


def changed(each: Taken, site: Site, home: str) -> Iterator[Object]:
    """The different objects that a site makes of a workload in its namespaces, as they can be created in `home`."""
    made: list[Mapping[str, object]] = []
    bare = indexed_manifests.without_namespace(each.defaulted)
    for namespace in ("",) if each.kind.cluster_scoped else site.namespaces:
        request = Request(value=bare, namespace=namespace, objects=each.document.objects)
        merged = sites.evaluator(site).mutate(request)
        if merged.operations and merged.value not in made:
            made.append(merged.value)
            yield corpus.placed(dict(merged.value), each.kind, home)


def said_more(each: Taken, answer: Response | ApiError) -> str:
    """Why the API server refuses a mutated object, or what it warns of only now."""
    if isinstance(answer, ApiError):
        return answer.message
    return ", ".join(sorted(set(answer.warnings) - each.warnings))
