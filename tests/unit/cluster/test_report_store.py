"""Report objects in a cluster: ours are replaced and removed, those of others stay, and two audits at once agree."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest

from usher import errors, paths
from usher.audit.store import earlier_audits
from usher.audit.store.earlier_audits import Outcome, Reports, Run
from usher.cluster.api import JSON, Answer

OURS: Final = {"managed-by": "gpu-usher"}
REPORTS: Final = Reports(
    group="openreports.io",
    version="v1alpha1",
    plurals={"Report": "reports", "ClusterReport": "clusterreports"},
    labels=OURS,
    taken="taken",
)
MONDAY, TUESDAY = "2026-11-16T06:00:00Z", "2026-11-17T06:00:00Z"


class Cluster:
    """Objects by path, with resource versions; `before` is called ahead of each write."""

    name = "test"

    def __init__(self, *objects: paths.Object) -> None:
        self.objects: dict[str, Any] = {}
        self.version = 0
        self.refused: dict[str, Answer] = {}
        self.before: Callable[[str], None] = lambda _: None
        for each in objects:
            self.store(self._path(each), each)

    @staticmethod
    def _path(value: Any) -> str:
        metadata = value["metadata"]
        return f"{REPORTS.path(value['kind'], metadata.get('namespace', ''))}/{metadata['name']}"

    def store(self, path: str, value: Any) -> Answer:
        self.version += 1
        uid = self.objects.get(path, {"metadata": {"uid": f"{self.version}"}})["metadata"]["uid"]
        metadata = {**value["metadata"], "resourceVersion": f"{self.version}", "uid": uid}
        self.objects[path] = {**value, "metadata": metadata}
        return Answer(status=201, value=self.objects[path])

    def get(self, path: str, *, query: Mapping[str, str] | None = None, accept: str = JSON) -> Answer:
        if path in self.objects:
            return Answer(status=200, value=self.objects[path])
        if query is None or "GET" in self.refused:
            return self.refused.get("GET", Answer(status=404, value={"message": "not found"}))
        assert "PartialObjectMetadataList" in accept
        assert query["labelSelector"] == "managed-by=gpu-usher"
        within = path.removesuffix(f"/{path.rpartition('/')[2]}")
        plural = path.rpartition("/")[2]
        items: list[paths.Json] = [
            {"metadata": each["metadata"]}
            for place, each in self.objects.items()
            if place.startswith(f"{within}/") and place.split("/")[-2] == plural and each["metadata"]["labels"] == OURS
        ]
        return Answer(status=200, value={"metadata": {}, "items": items})

    def _changed(self, verb: str, path: str, version: object = None) -> Answer | None:
        self.before(path)
        if verb in self.refused:
            return self.refused[verb]
        there = self.objects.get(path)
        if verb == "POST":
            return Answer(status=409, value={"message": "exists"}) if there else None
        if there is None:
            return Answer(status=404, value={"message": "not found"})
        same = there["metadata"]["resourceVersion"] == version
        return None if same else Answer(status=409, value={"message": "the object has been modified"})

    def post(self, path: str, value: paths.Object) -> Answer:
        place = f"{path}/{paths.metadata(value)['name']}"
        return self._changed("POST", place) or self.store(place, value)

    def put(self, path: str, value: paths.Object) -> Answer:
        version = paths.metadata(value)["resourceVersion"]
        return self._changed("PUT", path, version) or Answer(status=200, value=self.store(path, value).value)

    def delete(self, path: str, value: paths.Object) -> Answer:
        version = value["preconditions"]["resourceVersion"]  # type: ignore[call-overload, index]  # made by ourselves
        refused = self._changed("DELETE", path, version)
        if refused is None:
            del self.objects[path]
        return refused or Answer(status=200, value={})

    def taken(self) -> dict[str, str]:
        """When the audit of each object was taken, by namespace and name."""
        found = (each["metadata"] for each in self.objects.values())
        return {f"{each.get('namespace', '')}/{each['name']}": each["annotations"].get("taken", "") for each in found}


def report(
    namespace: str = "a", *, name: str = "audit", taken: str = TUESDAY, labels: paths.Object | None = None
) -> paths.Object:
    metadata: paths.Object = {
        "name": name,
        "labels": {**(OURS if labels is None else labels)},
        "annotations": {"taken": taken},
    }
    kind = "Report" if namespace else "ClusterReport"
    return {"kind": kind, "metadata": {**metadata, **({"namespace": namespace} if namespace else {})}}


def keep(cluster: Cluster, *wanted: paths.Object, run: Run | None = None) -> Outcome:
    return earlier_audits.keep(cluster, REPORTS, wanted, run=run or Run(taken=TUESDAY))


def once(cluster: Cluster, value: paths.Object) -> Callable[[str], None]:
    """Another client writes the object ahead of our first write."""
    waiting = [value]

    def write(path: str) -> None:
        if waiting:
            cluster.store(path, waiting.pop())

    return write


def refusal(status: int, message: str = "no") -> Answer:
    return Answer(status=status, value={"message": message})


def test_reports_are_created_replaced_and_those_that_are_stale_deleted() -> None:
    cluster = Cluster(report("a", taken=MONDAY), report("gone", taken=MONDAY), report("", taken=MONDAY))

    outcome = keep(cluster, report("a"), report("new"))

    assert cluster.taken() == {"a/audit": TUESDAY, "new/audit": TUESDAY}
    assert (outcome.written, outcome.deleted, outcome.problems) == (2, 2, {})


def test_objects_of_others_are_neither_replaced_nor_deleted() -> None:
    others: paths.Object = {"managed-by": "kyverno"}
    cluster = Cluster(report("a", labels=others, taken=""), report("b", name="other", labels=others, taken=""))

    outcome = keep(cluster, report("a"))

    assert cluster.taken() == {"a/audit": "", "b/other": ""}
    assert outcome.problems == {"an object audit is there that usher did not write, and stays as it is": 1}


def test_the_report_of_a_later_audit_stays() -> None:
    cluster = Cluster(report("a"), report("b"))

    outcome = keep(cluster, report("a", taken=MONDAY), run=Run(taken=MONDAY))

    assert cluster.taken() == {"a/audit": TUESDAY, "b/audit": TUESDAY}
    assert outcome.problems == {"a later audit has written its report, which stays": 1}


def test_a_report_that_another_audit_writes_meanwhile_is_read_again() -> None:
    cluster = Cluster(report("a", taken=MONDAY))
    cluster.before = once(cluster, report("a", taken="2026-11-16T07:00:00Z"))

    outcome = keep(cluster, report("a"))

    assert (cluster.taken(), outcome.written) == ({"a/audit": TUESDAY}, 1)


def test_a_report_that_another_audit_creates_meanwhile_is_replaced() -> None:
    cluster = Cluster()
    cluster.before = once(cluster, report("a", taken=MONDAY))

    assert keep(cluster, report("a")).written == 1
    assert cluster.taken() == {"a/audit": TUESDAY}


def test_a_stale_report_that_another_audit_writes_meanwhile_is_not_deleted() -> None:
    cluster = Cluster(report("a", taken=MONDAY))
    cluster.before = once(cluster, report("a", taken=TUESDAY))

    outcome = keep(cluster)

    assert (cluster.taken(), outcome.deleted, outcome.problems) == ({"a/audit": TUESDAY}, 0, {})


def test_a_report_that_is_written_all_the_time_is_given_up_in_the_end() -> None:
    cluster = Cluster(report("a", taken=MONDAY))

    def always(path: str) -> None:
        cluster.store(path, report("a", taken=MONDAY))

    cluster.before = always

    assert keep(cluster, report("a")).problems == {"other clients write the same report all the time": 1}


def test_an_incomplete_audit_deletes_nothing() -> None:
    cluster = Cluster(report("a", taken=MONDAY))

    outcome = keep(cluster, run=Run(taken=TUESDAY, complete=False))

    assert (cluster.taken(), outcome.stale) == ({"a/audit": MONDAY}, 1)


def test_an_audit_of_one_namespace_leaves_all_others_alone() -> None:
    cluster = Cluster(report("a", taken=MONDAY), report("b", taken=MONDAY), report("", taken=MONDAY))

    keep(cluster, report("b"), report(""), run=Run(taken=TUESDAY, only=frozenset({"a"})))

    assert cluster.taken() == {"b/audit": MONDAY, "/audit": MONDAY}


def test_a_shard_leaves_the_namespaces_of_others_and_the_cluster_alone() -> None:
    cluster = Cluster(*(report(each, taken=MONDAY) for each in ("a", "b", "c", "")))

    keep(cluster, report("a"), report("c"), report(""), run=Run(taken=TUESDAY, only=frozenset({"a", "b"})))

    assert cluster.taken() == {"a/audit": TUESDAY, "c/audit": MONDAY, "/audit": MONDAY}


def test_the_first_shard_writes_what_has_no_namespace_too_and_deletes_it_when_it_is_stale() -> None:
    first = Run(taken=TUESDAY, only=frozenset({"", "a"}))
    cluster = Cluster(*(report(each, taken=MONDAY) for each in ("a", "b", "")))

    keep(cluster, report(""), run=first)
    assert cluster.taken() == {"b/audit": MONDAY, "/audit": TUESDAY}

    keep(cluster, run=first)
    assert cluster.taken() == {"b/audit": MONDAY}


@pytest.mark.parametrize(("verb", "word"), [("POST", "create"), ("PUT", "update"), ("DELETE", "delete")])
def test_a_missing_right_is_named_and_counted(verb: str, word: str) -> None:
    cluster = Cluster(report("old", taken=MONDAY), report("stale", taken=MONDAY))
    cluster.refused[verb] = refusal(403)

    problems = keep(cluster, report("old"), report("new")).problems

    assert problems == {f"usher may not {word} reports.openreports.io; grant it, or leave out --report-objects": 1}


@pytest.mark.parametrize("answer", [refusal(404), refusal(403, "unable to create: because it is being terminated")])
def test_a_namespace_that_is_gone_meanwhile_is_counted_and_no_problem(answer: Answer) -> None:
    cluster = Cluster()
    cluster.refused["POST"] = answer

    outcome = keep(cluster, report("a"))

    assert (outcome.gone, outcome.problems) == (1, {})


def test_a_cluster_without_the_definitions_is_said_before_anything_is_written() -> None:
    cluster = Cluster()
    cluster.refused["GET"] = refusal(404)

    with pytest.raises(errors.ClusterError, match=r"does not serve reports\.openreports\.io in v1alpha1; install the"):
        keep(cluster, report("a"))


def test_reports_that_may_not_be_listed_are_an_error() -> None:
    cluster = Cluster()
    cluster.refused["GET"] = refusal(403, "forbidden")

    with pytest.raises(errors.ClusterError, match=r"reports\.openreports\.io cannot be listed: forbidden"):
        keep(cluster, report("a"))


def test_a_namespace_with_a_name_that_is_not_valid_is_not_asked_for() -> None:
    cluster = Cluster()

    assert keep(cluster, report("../x")).problems == {"the name of a namespace is not valid": 1}
    assert cluster.objects == {}
