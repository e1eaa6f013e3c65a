"""Points about workloads: the denied ones, and the kinds that were not read."""

from unit.check.formats.made import made
from usher.check import findings
from usher.cli import preflight
from usher.install.preflight import Point, PointState


def points(report: findings.Report) -> list[Point]:
    return list(preflight.points_of_denials(report, ()))


def test_kinds_that_are_not_read_for_one_reason_are_one_point_with_their_number() -> None:
    names = [f"kind{number}.example.com" for number in range(130)]
    alike = [
        findings.Problem(source=name, reason=f"the list ended: /apis/example.com/v1/{name[:7]}: no answer")
        for name in names
    ]
    other = findings.Problem(source="pods", reason="the list ended after 250 objects: etcd is away")

    kinds, pods, workloads = points(made(problems=[*alike, other]))

    assert kinds.state is pods.state is PointState.NOT_KNOWN
    assert kinds.text.startswith("130 kinds and groups, kind0.example.com, kind1.example.com, ")
    assert " and 125 others: the list ended: /apis/example.com/v1/" in kinds.text
    assert pods.text == "pods: the list ended after 250 objects: etcd is away"
    assert workloads.text == "none of 0 workloads would be denied"


def test_kinds_that_usher_may_not_list_are_not_known() -> None:
    """Without them the effect of enforcement is unknown."""
    reason = "not read: user alice may not list them; bind the ClusterRole of `usher manifests audit-role`"
    hidden = [findings.Note(source=name, reason=reason, hides_objects=True) for name in ("nodes", "pods")]
    other = findings.Note(source="namespace a", reason="its label exempts it")

    first, *rest = points(made(notes=[*hidden, other]))

    assert (first.state, first.text) == (PointState.NOT_KNOWN, f"2 kinds and groups, nodes, pods: {reason}")
    assert [each.state for each in rest] == [PointState.GOOD]
