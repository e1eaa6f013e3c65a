"""Manifests of every kind that has a definition: the API server asks us about each, and we answer."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

import pytest

from e2e import corpus, crds
from e2e.cluster import ApiError, Cluster, Object
from e2e.registration import decisions, registered
from generated_examples import are_thorough, in_turn
from server_process import ServerProcess
from usher.kinds.kind import Kind
from usher.kinds.registry import WORKLOADS

pytestmark = pytest.mark.uses_definitions

DENIED = re.compile(r'admission webhook "validate\.gpu-usher\.io" denied the request: ')

DEFINED: Final = [kind for kind in WORKLOADS.values() if crds.is_defined(kind)]
EVERY: Final = 3
"""A change is tried with one of so many kinds."""


@pytest.fixture(scope="module")
def home(cluster: Cluster) -> Iterator[str]:
    name = cluster.create_namespace(prefix="kinds-")
    yield name
    cluster.delete_namespace(name, wait=False)


@pytest.fixture(scope="module")
def samples(cluster: Cluster, home: str) -> Mapping[str, list[Object]]:
    """Samples of each kind that the API server takes without our webhooks."""
    kinds = DEFINED if are_thorough() else DEFINED[::EVERY]
    crds.install(cluster, [f"{kind.group}/{kind.plural}" for kind in kinds])
    return {f"{kind.group}/{kind.kind}": list(_taken(cluster, kind, home)) for kind in kinds}


def _taken(cluster: Cluster, kind: Kind, namespace: str) -> Iterator[Object]:
    for value in corpus.manifests().get((kind.group, kind.kind), [])[:5]:
        manifest = corpus.placed(value, kind, namespace)
        if not refused(cluster, manifest):
            yield manifest


@pytest.fixture(scope="module")
def asked(cluster: Cluster, samples: Mapping[str, list[Object]], server: ServerProcess) -> Iterator[ServerProcess]:
    assert samples
    with registered(cluster, server):
        yield server


@pytest.mark.parametrize(
    "kind",
    in_turn(DEFINED, every=EVERY),
    ids=lambda kind: f"{kind.group}/{kind.kind}",
)
def test_the_api_server_asks_about_the_kind_and_takes_what_comes_back(
    cluster: Cluster, samples: Mapping[str, list[Object]], asked: ServerProcess, home: str, kind: Kind
) -> None:
    taken = samples[f"{kind.group}/{kind.kind}"]
    if not taken:
        pytest.skip(f"no manifest of {kind.kind} in the corpus is taken by the API server")
    namespace = "" if kind.cluster_scoped else home
    before = len(decisions(asked, namespace))
    refusals = [refusal for manifest in taken if (refusal := refused(cluster, manifest))]

    assert all(DENIED.match(refusal) for refusal in refusals), refusals
    about = decisions(asked, namespace, count=before + 2 * len(taken))[before:]
    assert {(entry["kind"], entry["endpoint"]) for entry in about} == {(kind.kind, "mutate"), (kind.kind, "validate")}


def refused(cluster: Cluster, manifest: Object) -> str:
    """Why the API server does not take an object; empty where it does."""
    try:
        cluster.create(manifest, dry_run=True)
    except ApiError as error:
        return error.message
    return ""
