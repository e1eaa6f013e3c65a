"""An audit has one page of a cluster in memory, however many pages a kind has."""

import weakref
from collections.abc import Mapping

import engines
from usher import paths
from usher.audit.building.builder import EstateBuilder
from usher.check import cluster_objects, findings, judging, runner
from usher.cli.audit_run import Inputs
from usher.cluster.api import JSON, Answer

PAGES = 3


class Metadata(dict[str, paths.Json]):
    """Can be watched, as a plain `dict` cannot."""


class Pods:
    """A cluster of pods, two in a page, that looks whether the page before is still there."""

    name = "of the test"

    def __init__(self) -> None:
        self._given: list[weakref.ref[Metadata]] = []
        self.kept: list[int] = []
        """At each request for pods, the pages of before that are still in memory."""

    def get(self, path: str, *, query: Mapping[str, str] | None = None, accept: str = JSON) -> Answer:  # noqa: ARG002 - the protocol's
        if path == "/api/v1":
            return Answer(status=200, value={"resources": [{"name": "pods"}]})
        if path != "/api/v1/pods":
            return Answer(status=404, value={})
        self.kept.append(sum(each() is not None for each in self._given))
        number = len(self._given)
        pods = [_pod(f"{number}-{place}") for place in range(2)]
        first = pods[0]["metadata"]
        assert isinstance(first, Metadata)
        self._given.append(weakref.ref(first))
        following: paths.Object = {"continue": "more"} if number + 1 < PAGES else {}
        return Answer(status=200, value={"metadata": following, "items": [*pods]})


def _pod(name: str) -> paths.Object:
    metadata = Metadata(name=name, namespace="team", uid=f"uid-{name}")
    return {"metadata": metadata, "spec": {"containers": [{"name": "main", "image": "image"}]}}


def test_a_page_goes_before_the_next_one_is_asked_for() -> None:
    api = Pods()
    evaluator = engines.evaluator(engines.ScriptedEngine(lambda _: engines.result()))
    builder = EstateBuilder(evaluator.knowledge)
    batches = Inputs(name="test", batches=cluster_objects.read(api)).batches_beside(builder, evaluator.facts)

    settings = judging.Settings(command=findings.Command.AUDIT, origin=api.name, drift=True)
    found = runner.run(batches, evaluator=evaluator, settings=settings)

    assert found.totals.objects == 2 * PAGES
    assert api.kept == [0] * PAGES
